//! Prints the code of the functions of a program file whose names contain a text, as lowered and as it runs.
//!
//! `cargo run -p dpor-engine --example dump --release -- FILE.dpor TEXT`

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use dpor_engine::program::{FuncId, Program};
use dpor_engine::vm::Image;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, text] = &args[..] else {
        eprintln!("usage: dump FILE.dpor TEXT");
        return ExitCode::from(2);
    };
    let program = match Program::load(Path::new(file)) {
        Ok(program) => Arc::new(program),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let image = Image::new(&program);
    for (index, function) in program.functions.iter().enumerate().filter(|(_, f)| f.name.contains(text)) {
        println!("{index}: {}", function.name);
        println!(
            "  {:?}, {} registers, {} params, {} results, {} bytes",
            function.origin, function.registers, function.params, function.results, function.frame_size
        );
        for slot in &function.slots {
            println!("  {slot:?}");
        }
        for (pc, (op, place)) in function.code.iter().zip(&function.code_places).enumerate() {
            println!("  {pc:4} {op:?}  // {}", program.location(*place).line);
        }
        println!("as it runs:\n{}", image.listing(FuncId(index as u32)));
    }
    ExitCode::SUCCESS
}
