//! Prints the functions of a lowered program whose names contain a text, or without one a summary:
//! `cargo run -p dpor-engine --example disassemble -- FILE.dpor [TEXT]`

use std::error::Error;
use std::path::Path;

use dpor_engine::program::{Function, Op, Program};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("usage: disassemble FILE.dpor [TEXT]")?;
    let program = Program::load(Path::new(&file))?;
    match args.next() {
        Some(text) => {
            for (index, function) in program.functions.iter().enumerate() {
                if function.name.contains(&text) {
                    print_function(&program, index, function);
                }
            }
        }
        None => print_summary(&program),
    }
    Ok(())
}

fn print_function(program: &Program, index: usize, function: &Function) {
    println!("fn {index} {} ({:?})", function.name, function.origin);
    println!("  registers {}, params {}, results {}", function.registers, function.params, function.results);
    for slot in &function.slots {
        println!("  slot {}..{} {}", slot.offset, slot.offset + slot.size, slot.name);
    }
    for (pc, op) in function.code.iter().enumerate() {
        let place = program.location(function.code_places[pc]);
        let callee = match op {
            Op::Call { func, .. } => format!("  // {}", program.function(*func).name),
            Op::Unsupported { message } | Op::Unreachable { message, .. } => {
                format!("  // {}", program.messages[*message as usize])
            }
            _ => String::new(),
        };
        println!("  {pc:4} {op:?}{callee}  @{}:{}", place.file, place.line);
    }
    for (index, table) in function.switches.iter().enumerate() {
        println!("  switch {index}: {:?} else {}", table.cases, table.otherwise);
    }
}

fn print_summary(program: &Program) {
    let ops: usize = program.functions.iter().map(|function| function.code.len()).sum();
    let bytes: usize = program.globals.iter().map(|global| global.bytes.len()).sum();
    println!("{} tests, {} functions, {ops} ops", program.tests.len(), program.functions.len());
    println!("{} globals with {bytes} bytes, {} thread-locals", program.globals.len(), program.thread_locals.len());
    for function in &program.functions {
        for op in &function.code {
            if let Op::Unsupported { message } = op {
                println!("unsupported in {}: {}", function.name, program.messages[*message as usize]);
            }
        }
    }
}
