//! Runs the tests of a program file, each once, and says how they ended. With `--compare` each runs a second time without
//! optimization, and it is said where that makes a difference.
//!
//! `cargo run -p dpor-engine --example run --release -- FILE.dpor [FILTER] [--compare]`

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use dpor_engine::program::Program;
use dpor_engine::vm::{Effort, Failure, Image, RunOptions, run_image};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(file) = args.next() else {
        eprintln!("usage: run FILE.dpor [FILTER]");
        return ExitCode::from(2);
    };
    let filter = args.next().unwrap_or_default();
    let compare = args.next().is_some_and(|arg| arg == "--compare");
    let start = Instant::now();
    let program = match Program::load(Path::new(&file)) {
        Ok(program) => Arc::new(program),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    println!("{} functions, loaded in {:?}", program.functions.len(), start.elapsed());
    let image = Image::new(&program);
    let plain = compare.then(|| Image::with_effort(&program, Effort::Plain));
    let mut passed = true;
    for test in program.tests.iter().filter(|test| test.name.contains(&filter)) {
        let start = Instant::now();
        let run = run_image(&image, test.entry, &options());
        if let Some(plain) = &plain {
            let other = run_image(plain, test.entry, &options());
            let same = other.outcome == run.outcome && other.failure == run.failure && other.output == run.output;
            if !same {
                println!("{}: DIFFERENT without optimization: {:?}", test.name, other.failure);
            }
        }
        println!("{}: {} ({} steps, {:?})", test.name, run.outcome.name(), run.steps, start.elapsed());
        print!("{}", String::from_utf8_lossy(&run.output.all()));
        if let Some(failure) = &run.failure {
            passed = false;
            show(failure);
        }
    }
    ExitCode::from(u8::from(!passed))
}

fn show(failure: &Failure) {
    println!("{:?}: {} ({})", failure.kind, failure.message, failure.thread);
    if let Some(at) = &failure.location {
        println!("  at {}:{}:{}", at.file, at.line, at.column);
    }
    for note in &failure.notes {
        let at = note.location.as_ref().map(|at| format!(" at {}:{}:{}", at.file, at.line, at.column));
        println!("  note: {}{}", note.message(true), at.unwrap_or_default());
    }
    for frame in failure.stack.iter().take(30) {
        let at = &frame.location;
        println!("    {} ({}:{}:{})", frame.function, at.file, at.line, at.column);
    }
}

/// The program sees the environment of this process.
fn options() -> RunOptions {
    RunOptions { env: std::env::vars().collect(), ..RunOptions::default() }
}
