//! Shows where the steps of a test go: `cargo run --release -p dpor-engine --example sample -- FILE.dpor TEST [EVERY]`
//!
//! Runs the test again and again, each time stopped a few steps later, and counts the functions that were active.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use dpor_engine::program::Program;
use dpor_engine::verdict::Outcome;
use dpor_engine::vm::{Image, RunOptions, run_image};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: sample FILE.dpor TEST [EVERY]";
    let (file, name) = (args.next().ok_or(usage)?, args.next().ok_or(usage)?);
    let every: u64 = args.next().map_or(Ok(7), |every| every.parse())?;
    let program = Arc::new(Program::load(Path::new(&file))?);
    let image = Image::of(&program);
    let test = program.tests.iter().find(|test| test.name == name).ok_or("no such test")?;
    let (mut own, mut total): (HashMap<String, u64>, HashMap<String, u64>) = Default::default();
    let mut samples = 0;
    for stop in (1..).map(|n| n * every) {
        let options = RunOptions { max_steps: stop, ..RunOptions::default() };
        let run = run_image(&image, test.entry, &options);
        let Some(failure) = run.failure.filter(|_| run.outcome == Outcome::Incomplete) else { break };
        samples += 1;
        let mut names: Vec<String> = failure.stack.iter().map(|frame| frame.function.clone()).collect();
        if let Some(innermost) = names.first() {
            *own.entry(innermost.clone()).or_default() += 1;
        }
        names.sort();
        names.dedup();
        for name in names {
            *total.entry(name).or_default() += 1;
        }
    }
    println!("{} steps", samples * every);
    for (title, counts) in [("itself", own), ("with callees", total)] {
        println!("{title}:");
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (name, count) in counts.into_iter().take(40) {
            println!("{:5.1}% {name}", 100.0 * count as f64 / samples as f64);
        }
    }
    Ok(())
}
