//! `#[track_caller]` and other ways to know where one is.

use std::panic::Location;

#[track_caller]
fn here() -> &'static Location<'static> {
    Location::caller()
}

#[track_caller]
fn through() -> (u32, u32) {
    let location = here();
    (location.line(), location.column())
}

fn not_through() -> u32 {
    here().line()
}

struct Tracked {
    made_at: &'static Location<'static>,
}

impl Default for Tracked {
    #[track_caller]
    fn default() -> Self {
        Tracked { made_at: Location::caller() }
    }
}

trait Report {
    #[track_caller]
    fn report(&self) -> String;
}

impl Report for i32 {
    #[track_caller]
    fn report(&self) -> String {
        format!("{self} from line {}", Location::caller().line())
    }
}

macro_rules! place {
    () => {
        (line!(), column!(), here().line())
    };
}

#[dpor::test]
fn callers() {
    println!("{} {}:{}", here().file(), here().line(), here().column());
    println!("{:?} {}", through(), not_through());
    let tracked = Tracked::default();
    println!("{}", tracked.made_at);
    println!("{}", 5.report());
    let object: &dyn Report = &6;
    println!("{}", object.report().starts_with("6 from line"));
    println!("{:?}", place!());
    let pointer: fn() -> (u32, u32) = through;
    println!("{}", pointer().0 > 0);
    let lines: Vec<u32> = (0..2).map(|_| here().line()).collect();
    println!("{lines:?} {}", module_path!());
}

#[track_caller]
fn checked_div(a: i32, b: i32) -> i32 {
    assert!(b != 0, "dividing {a} by zero");
    a / b
}

#[dpor::test]
fn panics_point_at_the_caller() {
    std::panic::set_hook(Box::new(|info| println!("{}", info.location().unwrap())));
    let attempts: [fn() -> i32; 4] = [
        || checked_div(6, 0),
        || None.unwrap(),
        || Vec::new()[3],
        || std::cell::RefCell::new(1).try_borrow_mut().map(|cell| *cell / 0i32.abs()).unwrap(),
    ];
    for attempt in attempts {
        println!("{}", std::panic::catch_unwind(attempt).is_err());
    }
    let _ = std::panic::take_hook();
}
