//! Explores the tests of a lowered program whose names contain a text:
//! `cargo run --release -p dpor-engine --example explore -- FILE.dpor [TEXT] [WORKERS]`

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
    let file = args.next().ok_or("usage: explore FILE.dpor [TEXT] [WORKERS]")?;
    let text = args.next().unwrap_or_default();
    let workers = args.next().map_or(Ok(1), |workers| workers.parse())?;
    let program = Arc::new(Program::load(Path::new(&file))?);
    let image = Image::of(&program);
    for test in program.tests.iter().filter(|test| test.name.contains(&text)) {
        let config = Config { workers, ..Config::new(MemoryModel::Rc11) };
        let checked = check(&image, test.entry, &RunOptions::default(), &config);
        let stats = &checked.stats;
        let rate = stats.executions as f64 / checked.time.as_secs_f64();
        let outcome = checked.outcome.name();
        println!(
            "{}: {outcome}, {} executions, {} blocked, {:?}, {rate:.0}/s",
            test.name, stats.executions, stats.blocked, checked.time
        );
        if let Some(failure) = checked.failure() {
            println!("  {:?}: {}", failure.kind, failure.message);
            for frame in failure.stack.iter().take(8) {
                println!("    {} {}:{}", frame.function, frame.location.file, frame.location.line);
            }
            for note in &failure.notes {
                println!("  note: {} {:?}", note.message, note.location);
            }
        }
    }
    Ok(())
}
