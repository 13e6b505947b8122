//! Unwinding: what is dropped, in which order, and what arrives where the panic is caught.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::rc::Rc;

struct Loud(&'static str);

impl Drop for Loud {
    fn drop(&mut self) {
        println!("drop {}{}", self.0, if std::thread::panicking() { " while panicking" } else { "" });
    }
}

fn text(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        format!("&str {text:?}")
    } else if let Some(text) = payload.downcast_ref::<String>() {
        format!("String {text:?}")
    } else {
        "other".into()
    }
}

fn outer() {
    let _a = Loud("outer a");
    let _b = Loud("outer b");
    middle(3);
    unreachable!();
}

fn middle(depth: u32) {
    let _guard = Loud(["m0", "m1", "m2", "m3"][depth as usize]);
    if depth > 0 {
        middle(depth - 1);
    } else {
        let moved = Loud("moved");
        inner(moved, Loud("argument"));
    }
}

fn inner(first: Loud, _second: Loud) {
    let boxed: Box<dyn Any> = Box::new(first);
    let _array = [Loud("array 0"), Loud("array 1")];
    let _pair = (Loud("pair 0"), Loud("pair 1"));
    if boxed.is::<Loud>() {
        panic!("deep down");
    }
}

#[dpor::test]
fn drops_across_frames() {
    let result = catch_unwind(outer);
    println!("{}", text(&*result.unwrap_err()));
}

#[dpor::test]
fn payloads() {
    let payload = catch_unwind(|| panic!("static text")).unwrap_err();
    println!("{}", text(&*payload));
    let payload = catch_unwind(|| panic!("formatted {}", 1 + 1)).unwrap_err();
    println!("{}", text(&*payload));
    let payload = catch_unwind(|| panic_any(vec![1u8, 2])).unwrap_err();
    println!("{} {:?}", text(&*payload), payload.downcast_ref::<Vec<u8>>());
    let payload = catch_unwind(|| panic_any(Loud("payload"))).unwrap_err();
    println!("caught");
    drop(payload);
    println!("{:?}", catch_unwind(|| 5).ok());
    for f in [|| [1, 2, 3][..].iter().sum::<i32>(), || None::<i32>.expect("nothing here"), || "x".parse().unwrap()] {
        match catch_unwind(f) {
            Ok(value) => println!("value {value}"),
            Err(payload) => println!("{}", text(&*payload)),
        }
    }
}

#[dpor::test]
fn resuming() {
    let result = catch_unwind(|| {
        let _outer = Loud("outer");
        let payload = catch_unwind(|| {
            let _inner = Loud("inner");
            panic!("original");
        })
        .unwrap_err();
        println!("passing on");
        resume_unwind(payload);
    });
    println!("{}", text(&*result.unwrap_err()));
    let silent = catch_unwind(|| resume_unwind(Box::new(77u64)));
    println!("{:?}", silent.unwrap_err().downcast_ref::<u64>());
}

struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        println!("about to panic in drop");
        panic!("from drop");
    }
}

struct CatchesInDrop;

impl Drop for CatchesInDrop {
    fn drop(&mut self) {
        let inner = catch_unwind(|| panic!("inside a drop"));
        println!("in drop: {}, panicking {}", text(&*inner.unwrap_err()), std::thread::panicking());
    }
}

#[dpor::test]
fn panics_in_drops() {
    let result = catch_unwind(|| {
        let _first = Loud("first");
        let _panics = PanicsInDrop;
        let _last = Loud("last");
    });
    println!("{}", text(&*result.unwrap_err()));
    let result = catch_unwind(|| {
        let _before = Loud("before");
        let _catches = CatchesInDrop;
        panic!("the outer one");
    });
    println!("{}", text(&*result.unwrap_err()));
    let result = catch_unwind(|| drop(vec![Some(Loud("v0")), None, Some(Loud("v2"))]));
    println!("{}", result.is_ok());
    let result = catch_unwind(|| {
        let items: Vec<Box<dyn Any>> = vec![Box::new(Loud("i0")), Box::new(PanicsInDrop), Box::new(Loud("i2"))];
        drop(items);
    });
    println!("{}", text(&*result.unwrap_err()));
}

#[dpor::test]
fn half_built_values() {
    let made = RefCell::new(Vec::new());
    let result = catch_unwind(AssertUnwindSafe(|| {
        let array: [Rc<u32>; 5] = std::array::from_fn(|i| {
            assert!(i < 3, "cannot make number {i}");
            let item = Rc::new(i as u32);
            made.borrow_mut().push(Rc::downgrade(&item));
            item
        });
        array.len()
    }));
    println!("{}", text(&*result.unwrap_err()));
    println!("{:?}", made.borrow().iter().map(|weak| weak.upgrade()).collect::<Vec<_>>());

    let result = catch_unwind(|| {
        let items = ["a", "b", "boom", "c"].map(Loud);
        items.into_iter().map(|item| if item.0 == "boom" { panic!("at {}", item.0) } else { item }).collect::<Vec<_>>()
    });
    println!("{}", text(&*result.err().unwrap()));

    let mut list = vec![3, 1, 2, 9, 4];
    let result = catch_unwind(AssertUnwindSafe(|| {
        list.sort_by(|a, b| if a + b > 10 { panic!("no order") } else { a.cmp(b) });
    }));
    list.sort();
    println!("{} {list:?}", result.is_err());
    let mut list = vec![1, 2, 3, 4, 5, 6];
    let result = catch_unwind(AssertUnwindSafe(|| {
        list.retain(|n| if *n == 4 { panic!("at four") } else { n % 2 == 0 });
    }));
    println!("{} {list:?}", result.is_err());
}

#[dpor::test]
fn drop_flags_and_temporaries() {
    for n in 0..3 {
        let maybe;
        let _always = Loud("always");
        if n != 1 {
            maybe = Loud("maybe");
            if n == 2 {
                drop(maybe);
                println!("dropped early");
            }
        }
        println!("end of {n}");
    }
    let _ = Loud("ignored at once");
    let _named = Loud("named");
    match Loud("scrutinee").0.len() {
        9 => println!("in the match"),
        _ => println!("elsewhere"),
    }
    let mut slot = Loud("old");
    slot = Loud(if slot.0 == "old" { "new" } else { "?" });
    println!("assigned {}", slot.0);
    let length = { Loud("block").0.len() };
    println!("{length}");
    let value = 'label: {
        let _in_block = Loud("in labelled block");
        if length == 5 {
            break 'label 1;
        }
        2
    };
    println!("{value}");
}

#[dpor::test]
fn hooks() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().unwrap();
        println!("hook: {:?} in {} line {}", info.payload_as_str(), place.file(), place.line());
    }));
    let result = catch_unwind(|| panic!("seen by the hook"));
    println!("{}", text(&*result.unwrap_err()));
    let _ = panic::take_hook();
    println!("{}", catch_unwind(|| panic!("by the default one")).is_err());
}

#[dpor::test]
#[should_panic(expected = "must be even")]
fn should_panic() {
    let n = 7;
    assert!(n % 2 == 0, "{n} must be even");
}

/// Tests that a macro makes, with attributes that it is given.
macro_rules! tests_with_attributes {
    ($($(#[$attribute:meta])* $name:ident: $body:block)*) => {
        $(#[dpor::test]
        $(#[$attribute])*
        fn $name() $body)*
    };
}

tests_with_attributes! {
    #[should_panic(expected = "as it should")]
    made_by_a_macro: { panic!("panics as it should") }

    #[allow(clippy::unnecessary_literal_unwrap)]
    #[should_panic]
    made_by_a_macro_too: { None::<u8>.unwrap(); }

    made_without_attributes: { println!("no panic") }
}
