//! Programs as Rust.

use std::fmt::Write;

use dpor_engine::graph::MemOrder;

use super::program::{Home, LOCATIONS, LOCKS, Program, REGISTERS, Stmt, Update, Value};

const HEAD: &str = "//! Random programs.
#![cfg(test)]
#![allow(unused, reason = \"programs are generated\")]

use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::sync::atomic::*;
use std::thread;
";

/// A library with a test for each program: test `program_n` for number n.
pub fn library(programs: &[Program]) -> String {
    let mut text = HEAD.to_owned();
    variables(&mut text).expect("strings take all");
    for (number, program) in programs.iter().enumerate() {
        test(&mut text, number, program).expect("strings take all");
    }
    text
}

/// The type of a program's variables.
fn variables(text: &mut String) -> std::fmt::Result {
    let atomics =
        LOCATIONS.iter().enumerate().map(|(index, bits)| (format!("x{index}"), format!("AtomicU{bits}"), "0"));
    let mutexes = (0..LOCKS).map(|index| (format!("m{index}"), "Mutex<()>".to_owned(), "()"));
    let plain = ("p".to_owned(), "UnsafeCell<u64>".to_owned(), "0");
    let fields: Vec<_> = atomics.chain(mutexes).chain([plain]).collect();
    writeln!(text, "\nstruct Variables {{")?;
    fields.iter().try_for_each(|(name, ty, _)| writeln!(text, "    {name}: {ty},"))?;
    writeln!(text, "}}\n\nunsafe impl Sync for Variables {{}}\n")?;
    writeln!(text, "impl Variables {{\n    const fn new() -> Variables {{\n        Variables {{")?;
    for (name, ty, value) in &fields {
        let ty = ty.split('<').next().unwrap_or(ty);
        writeln!(text, "            {name}: {ty}::new({value}),")?;
    }
    writeln!(text, "        }}\n    }}\n}}")
}

fn test(text: &mut String, number: usize, program: &Program) -> std::fmt::Result {
    writeln!(text, "\n/// Seed {}.\n#[dpor::test]\nfn program_{number}() {{", program.seed)?;
    for (index, thread) in program.threads.iter().enumerate() {
        writeln!(text, "    fn thread_{index}(v: &Variables) {{")?;
        body(text, thread, 2)?;
        writeln!(text, "    }}")?;
    }
    let variables = match program.home {
        Home::Static | Home::ScopedStatic => "static V: Variables = Variables::new();\n    let v = &V;",
        Home::Stack => "let v = &Variables::new();",
        Home::Heap => "let v = &*Box::new(Variables::new());",
    };
    writeln!(text, "    {variables}")?;
    match program.home {
        Home::Static => spawned(text, program)?,
        Home::ScopedStatic | Home::Stack | Home::Heap => scoped(text, program)?,
    }
    writeln!(text, "}}")
}

fn scoped(text: &mut String, program: &Program) -> std::fmt::Result {
    writeln!(text, "    thread::scope(|scope| {{")?;
    for index in 0..program.threads.len() {
        writeln!(text, "        scope.spawn(|| thread_{index}(v));")?;
    }
    body(text, &program.main, 2)?;
    writeln!(text, "    }});")
}

fn spawned(text: &mut String, program: &Program) -> std::fmt::Result {
    for index in 0..program.threads.len() {
        writeln!(text, "    let handle_{index} = thread::spawn(move || thread_{index}(v));")?;
    }
    body(text, &program.main, 1)?;
    for index in 0..program.threads.len() {
        writeln!(text, "    handle_{index}.join().unwrap();")?;
    }
    Ok(())
}

fn body(text: &mut String, stmts: &[Stmt], depth: usize) -> std::fmt::Result {
    writeln!(text, "{}let mut r = [0_u64; {REGISTERS}];", "    ".repeat(depth))?;
    block(text, stmts, depth)
}

fn block(text: &mut String, stmts: &[Stmt], depth: usize) -> std::fmt::Result {
    stmts.iter().try_for_each(|stmt| write_stmt(text, stmt, depth))
}

fn write_stmt(text: &mut String, stmt: &Stmt, depth: usize) -> std::fmt::Result {
    let indent = "    ".repeat(depth);
    write!(text, "{indent}")?;
    match stmt {
        Stmt::Read { to } => writeln!(text, "r[{to}] = unsafe {{ *v.p.get() }};"),
        Stmt::Write { value } => writeln!(text, "unsafe {{ *v.p.get() = {} }};", wide(*value)),
        Stmt::Load { to, location, order } => writeln!(text, "r[{to}] = v.x{location}.load({}).into();", name(*order)),
        Stmt::Store { location, value, order } => {
            writeln!(text, "v.x{location}.store({}, {});", cast(*value, *location), name(*order))
        }
        Stmt::Update { to, location, update, value, order } => {
            let method = match update {
                Update::Add => "fetch_add",
                Update::Swap => "swap",
                Update::Or => "fetch_or",
                Update::Max => "fetch_max",
            };
            let (value, order) = (cast(*value, *location), name(*order));
            writeln!(text, "r[{to}] = v.x{location}.{method}({value}, {order}).into();")
        }
        Stmt::CompareExchange { to, location, expected, new, order, failure } => {
            let (new, order, failure) = (cast(*new, *location), name(*order), name(*failure));
            let call = format!("v.x{location}.compare_exchange({expected}, {new}, {order}, {failure})");
            writeln!(text, "r[{to}] = {call}.unwrap_or_else(|seen| seen).into();")
        }
        Stmt::Fence { order } => writeln!(text, "fence({});", name(*order)),
        Stmt::If { register, equals, then, otherwise } => {
            writeln!(text, "if r[{register}] == {equals} {{")?;
            block(text, then, depth + 1)?;
            writeln!(text, "{indent}}} else {{")?;
            block(text, otherwise, depth + 1)?;
            writeln!(text, "{indent}}}")
        }
        Stmt::Choose { to, count } => writeln!(text, "r[{to}] = dpor::choose({count}) as u64;"),
        Stmt::Assume { register, equals } => writeln!(text, "dpor::assume(r[{register}] == {equals});"),
        Stmt::Critical { lock, body } => {
            writeln!(text, "{{\n{indent}    let guard = v.m{lock}.lock().unwrap();")?;
            block(text, body, depth + 1)?;
            writeln!(text, "{indent}}}")
        }
        Stmt::TryCritical { lock, body } => {
            writeln!(text, "if let Ok(guard) = v.m{lock}.try_lock() {{")?;
            block(text, body, depth + 1)?;
            writeln!(text, "{indent}}}")
        }
    }
}

/// A value of the location's type: all values are small.
fn cast(value: Value, location: usize) -> String {
    format!("({}) as u{}", wide(value), LOCATIONS[location])
}

/// A value of 64 bits.
fn wide(value: Value) -> String {
    match value {
        Value::Constant(constant) => constant.to_string(),
        Value::Sum(register, constant) => format!("r[{register}] + {constant}"),
    }
}

fn name(order: MemOrder) -> String {
    format!("Ordering::{order:?}")
}
