//! Closures and function pointers: what they capture, how they are called, and who owns them.

use std::collections::BTreeMap;

struct Noisy(&'static str);

impl Drop for Noisy {
    fn drop(&mut self) {
        println!("drop {}", self.0);
    }
}

#[dpor::test]
fn captures() {
    let mut log = Vec::new();
    let prefix = String::from("> ");
    let mut add = |line: &str| log.push(format!("{prefix}{line}"));
    add("first");
    add("second");
    println!("{log:?} {prefix}");

    let pair = (Noisy("left"), Noisy("right"));
    let takes_left = move || {
        let left = &pair.0;
        println!("holds {}", left.0);
    };
    println!("left moved, right {}", pair.1.0);
    takes_left();
    drop(takes_left);
    println!("closure gone");
}

fn apply_n(f: &mut dyn FnMut() -> u32, n: usize) -> Vec<u32> {
    (0..n).map(|_| f()).collect()
}

fn counter(start: u32, step: u32) -> impl FnMut() -> u32 {
    let mut next = start;
    move || {
        let current = next;
        next += step;
        current
    }
}

#[dpor::test]
fn mutable_state() {
    let mut by_two = counter(10, 2);
    let mut by_five = counter(0, 5);
    println!("{:?} {:?}", apply_n(&mut by_two, 3), apply_n(&mut by_five, 4));
    println!("{} {}", by_two(), by_five());
}

fn compose<A, B, C>(f: impl Fn(A) -> B, g: impl Fn(B) -> C) -> impl Fn(A) -> C {
    move |x| g(f(x))
}

fn curry(a: i32) -> impl Fn(i32) -> Box<dyn Fn(i32) -> i32> {
    move |b| Box::new(move |c| a * 100 + b * 10 + c)
}

#[dpor::test]
fn higher_order() {
    let f = compose(|x: i32| x + 1, |y: i32| format!("<{y}>"));
    let g = compose(&f, |s: String| s.repeat(2));
    println!("{} {}", f(1), g(9));
    println!("{}", curry(1)(2)(3));
    let table: [(&str, fn(f64) -> f64); 4] =
        [("sqrt", f64::sqrt), ("abs", f64::abs), ("double", |x| x * 2.0), ("floor", f64::floor)];
    for (name, function) in table {
        println!("{name}: {}", function(6.25));
    }
}

fn recurse(f: &dyn Fn(&dyn Fn(u64) -> u64, u64) -> u64, n: u64) -> u64 {
    f(&|m| recurse(f, m), n)
}

type Step = fn(&mut Vec<char>, u32) -> Next;

/// The next step of a state machine; a function cannot return its own type directly.
struct Next(Option<Step>);

fn ping(log: &mut Vec<char>, n: u32) -> Next {
    log.push('i');
    Next((n > 0).then_some(pong))
}

fn pong(log: &mut Vec<char>, n: u32) -> Next {
    log.push('o');
    Next(if n % 3 == 1 { Some(pong) } else { Some(ping) })
}

#[dpor::test]
fn recursion_through_pointers() {
    println!("{}", recurse(&|this, n| if n < 2 { n } else { this(n - 1) + this(n - 2) }, 15));
    let mut log = Vec::new();
    let mut state: Step = ping;
    let mut left = 10;
    while let Next(Some(next)) = state(&mut log, left) {
        state = next;
        left = left.saturating_sub(1);
    }
    println!("{}", log.iter().collect::<String>());
}

#[dpor::test]
fn boxed_fn_once() {
    let name = Noisy("captured");
    let mut tasks: Vec<Box<dyn FnOnce(u32) -> String>> = Vec::new();
    tasks.push(Box::new(|n| format!("plain {n}")));
    tasks.push(Box::new(move |n| format!("owns {} {n}", { name }.0)));
    let big = [7u64; 20];
    tasks.push(Box::new(move |n| format!("sum {}", big.iter().sum::<u64>() + u64::from(n))));
    let never = Noisy("never called");
    tasks.push(Box::new(move |_| never.0.to_owned()));
    for (i, task) in tasks.into_iter().enumerate().take(3) {
        println!("{}", task(i as u32));
    }
    println!("end");
}

fn call_by_value<R>(f: impl FnOnce() -> R) -> R {
    f()
}

#[dpor::test]
fn by_value_fn_once() {
    let f: Box<dyn FnOnce() -> Noisy> = Box::new(|| Noisy("result"));
    let result = call_by_value(f);
    println!("got {}", result.0);
    let reference: &dyn Fn(i32) -> i32 = &|x| x - 1;
    println!("{}", call_by_value(|| reference(5)));
    let mut calls = 0;
    let mutable: &mut dyn FnMut() = &mut || calls += 1;
    call_by_value(&mut *mutable);
    call_by_value(mutable);
    println!("{calls} calls");
    println!("{:?}", call_by_value(|| ("unit", call_by_value(|| ()))));
}

#[dpor::test]
fn registry_of_handlers() {
    type Handler<'a> = Box<dyn FnMut(&[&str]) -> Result<(), String> + 'a>;
    let mut total = 0;
    let mut names = Vec::new();
    {
        let mut handlers: BTreeMap<&str, Handler> = BTreeMap::new();
        handlers.insert(
            "add",
            Box::new(|args| {
                for arg in args {
                    total += arg.parse::<i32>().map_err(|e| format!("{arg}: {e}"))?;
                }
                Ok(())
            }),
        );
        handlers.insert(
            "name",
            Box::new(|args| {
                names.extend(args.iter().map(|arg| arg.to_uppercase()));
                if args.is_empty() { Err("no names".into()) } else { Ok(()) }
            }),
        );
        for line in ["add 1 2 3", "name ann bob", "add 5 x", "name", "fly"] {
            let mut words = line.split_whitespace();
            let command = words.next().unwrap();
            let args: Vec<&str> = words.collect();
            match handlers.get_mut(command) {
                Some(handler) => println!("{line}: {:?}", handler(&args)),
                None => println!("{line}: unknown"),
            }
        }
    }
    println!("{total} {names:?}");
}
