//! Pattern matching and control flow.

use std::ops::ControlFlow;

#[derive(Debug, Clone, PartialEq)]
enum Expr {
    Number(i64),
    Negate(Box<Expr>),
    Binary { op: char, left: Box<Expr>, right: Box<Expr> },
    Call(String, Vec<Expr>),
}

use Expr::{Binary, Call, Negate, Number};

fn binary(op: char, left: Expr, right: Expr) -> Expr {
    Binary { op, left: Box::new(left), right: Box::new(right) }
}

fn simplify(expr: Expr) -> Expr {
    match expr {
        Negate(inner) => match simplify(*inner) {
            Number(n) => Number(-n),
            Negate(inner) => *inner,
            other => Negate(Box::new(other)),
        },
        Binary { op, left, right } => match (op, simplify(*left), simplify(*right)) {
            ('+', Number(a), Number(b)) => Number(a + b),
            ('*', Number(a), Number(b)) => Number(a * b),
            ('+', Number(0), other) | ('+', other, Number(0)) | ('*', Number(1), other) | ('*', other, Number(1)) => {
                other
            }
            ('*', zero @ Number(0), _) | ('*', _, zero @ Number(0)) => zero,
            (op, left, right) => binary(op, left, right),
        },
        Call(name, args) => Call(name, args.into_iter().map(simplify).collect()),
        number @ Number(_) => number,
    }
}

#[dpor::test]
fn moves_out_of_boxes() {
    let x = Call("x".into(), vec![]);
    let expr = binary('+', binary('*', Number(1), x.clone()), Negate(Box::new(Negate(Box::new(Number(0))))));
    println!("{:?}", simplify(expr));
    println!("{:?}", simplify(binary('*', x.clone(), binary('+', Number(2), Number(-2)))));
    println!("{:?}", simplify(Call("f".into(), vec![Negate(Box::new(Number(4))), binary('-', x.clone(), x)])));
}

fn classify(n: i32) -> &'static str {
    match n {
        i32::MIN..=-1 => "negative",
        0 => "zero",
        1 | 2 | 3 | 5 | 7 => "small prime or one",
        n if n % 2 == 0 => "even",
        100.. => "large odd",
        _ => "odd",
    }
}

fn point(p: (i8, i8)) -> String {
    match p {
        (0, 0) => "origin".into(),
        (x, 0) | (0, x) if x > 0 => format!("positive axis {x}"),
        (x @ -5..=5, y @ -5..=5) => format!("near {x},{y}"),
        (x, _) if x == i8::MAX => "edge".into(),
        _ => "far".into(),
    }
}

#[dpor::test]
fn ranges_and_guards() {
    for n in [i32::MIN, -1, 0, 3, 8, 9, 100, 101] {
        print!("{} ", classify(n));
    }
    println!();
    println!("{:?}", [(0, 0), (4, 0), (0, -4), (3, -3), (127, 9), (50, 50)].map(point));
    for text in ["yes", "no", "", "yesterday"] {
        let answer = match text {
            "yes" => 1,
            "no" => 2,
            t if t.starts_with("yes") => 3,
            _ => 4,
        };
        print!("{answer} ");
    }
    println!();
    let c = 'ß';
    println!("{}", matches!(c, 'a'..='z' | 'ß'));
}

#[dpor::test]
fn references_and_slices() {
    let mut list = vec![(1, "one".to_string()), (2, "two".to_string()), (3, "three".to_string())];
    if let [(first, name), .., (last, _)] = &mut list[..] {
        *first += *last;
        name.push('!');
    }
    for (n, name) in &list {
        print!("{n}{name} ");
    }
    println!();
    let [(n, _), ref second, ..] = list[..] else { unreachable!() };
    println!("{n} {}", second.1);
    let nested = Some(Some(Err::<u8, _>("deep")));
    if let Some(Some(Err(text @ ("deep" | "deeper")))) = nested {
        println!("{text}");
    }
    let text = "key: value";
    let Some((key, value)) = text.split_once(": ") else { panic!("no colon") };
    println!("{key} {value}");
    let tuple = (1, (2.5, [3, 4, 5]), "six");
    let (one, (_, [.., five]), six) = tuple;
    println!("{one} {five} {six}");
}

#[dpor::test]
fn loops_and_labels() {
    let mut found = None;
    'outer: for a in 1..20 {
        for b in a..20 {
            for c in b..20 {
                if a * a + b * b != c * c {
                    continue;
                }
                if a + b + c > 30 {
                    found = Some((a, b, c));
                    break 'outer;
                }
                println!("{a} {b} {c}");
                continue 'outer;
            }
        }
    }
    println!("{found:?}");
    let mut n = 27u32;
    let steps = loop {
        match n {
            1 => break 'x',
            n if n > 9_000 => break 'y',
            _ => n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 },
        }
    };
    println!("{steps} {n}");
    let flow = (1..10).try_for_each(|n| if n * n > 30 { ControlFlow::Break(n) } else { ControlFlow::Continue(()) });
    println!("{flow:?}");
    let mut countdown = 3;
    while let Some(left) = Some(countdown).filter(|n| *n > 0) {
        print!("{left} ");
        countdown -= 1;
    }
    println!("{}", if let 0 = countdown { "done" } else { "?" });
    for (i, c) in ('w'..='z').rev().enumerate().skip(1) {
        print!("{i}{c} ");
    }
    println!("{:?} {}", (250u8..=255).last(), (0..0).len());
}

struct Guard<'a>(&'a str, &'a std::cell::RefCell<Vec<String>>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.1.borrow_mut().push(format!("-{}", self.0));
    }
}

fn early(kind: u8, log: &std::cell::RefCell<Vec<String>>) -> Option<u8> {
    let _outer = Guard("outer", log);
    for i in 0..3 {
        let inner = Guard("inner", log);
        if kind == i {
            return Some(i);
        }
        if kind == 10 + i {
            drop(inner);
            log.borrow_mut().push("dropped".into());
            break;
        }
        let _moved = if kind == 20 { Some(inner) } else { None };
    }
    None
}

#[dpor::test]
fn drops_on_every_way_out() {
    for kind in [0, 1, 11, 20, 99] {
        let log = std::cell::RefCell::new(Vec::new());
        let result = early(kind, &log);
        println!("{kind}: {result:?} {}", log.borrow().join(" "));
    }
}
