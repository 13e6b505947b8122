//! Explores the tests of a lowered program whose names contain a text:
//! `cargo run --release -p dpor-engine --example explore -- FILE.dpor [TEXT] [WORKERS] [MAX_EXECUTIONS]`

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use dpor_engine::check::check;
use dpor_engine::explore::Config;
use dpor_engine::model::MemoryModel;
use dpor_engine::program::Program;
use dpor_engine::vm::{Image, RunOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("usage: explore FILE.dpor [TEXT] [WORKERS] [MAX_EXECUTIONS]")?;
    let text = args.next().unwrap_or_default();
    let workers = args.next().map_or(Ok(1), |workers| workers.parse())?;
    let max_executions = args.next().map(|max| max.parse()).transpose()?;
    let program = Arc::new(Program::load(Path::new(&file))?);
    let image = Image::of(&program);
    for test in program.tests.iter().filter(|test| test.name.contains(&text)) {
        let config = Config { workers, max_executions, ..Config::new(MemoryModel::Rc11) };
        let before = cpu_seconds();
        let checked = check(&image, test.entry, &RunOptions::default(), &config);
        let stats = &checked.stats;
        let seconds = cpu_seconds() - before;
        let rate = stats.executions as f64 / seconds;
        println!(
            "{}: {}, {} executions, {} blocked, {:.2} s, {seconds:.2} s of CPU time, {rate:.0}/s",
            test.name,
            checked.outcome.name(),
            stats.executions,
            stats.blocked,
            checked.time.as_secs_f64()
        );
        if let Some(failure) = checked.failure() {
            println!("  {:?}: {}", failure.kind, failure.message);
            for frame in failure.stack.iter().take(8) {
                println!("    {} {}:{}", frame.function, frame.location.file, frame.location.line);
            }
            for note in &failure.notes {
                println!("  note: {} {:?}", note.message(true), note.location);
            }
        }
    }
    Ok(())
}

/// Seconds of CPU time that this process has used, in hundredths.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}
