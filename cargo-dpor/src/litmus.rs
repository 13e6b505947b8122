//! `cargo dpor litmus`: runs litmus tests, which need no compiler, on the explorer.
//!
//! A file has one test a line; docs/litmus.md describes the format. Each test is explored under each of the models, and
//! what is found is held against what the test says about the model.

use std::fs;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread::available_parallelism;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use dpor_engine::explore::Equivalence;
use dpor_engine::litmus::{FormatError, LitmusResult, LitmusTest, Verdict, check, parse_line};
use dpor_engine::model::MemoryModel;
use serde_json::json;

/// Every test gave what it says.
const MATCHED: u8 = 0;
/// Some test gave something else.
const MISMATCHED: u8 = 1;
/// Some line is no test.
const MALFORMED: u8 = 2;

/// What `cargo dpor litmus` is told.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code: 0 every test gave what it says; 1 some test did not; 2 the file, or a line of it, could not \
                  be read."
)]
pub struct LitmusArgs {
    /// A file of litmus tests in JSON, one a line
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The memory models to run each test under: rc11, sc, tso, pso
    #[arg(long, value_name = "MODEL", value_delimiter = ',', default_value = "rc11")]
    pub model: Vec<MemoryModel>,
    /// Which executions count as the same: trace (reads-from and coherence), reads-from (reads-from alone)
    #[arg(long, value_name = "KIND", default_value = "trace")]
    pub equivalence: Equivalence,
    /// How many threads explore [default: all cores]
    #[arg(long, value_name = "N")]
    pub workers: Option<NonZeroUsize>,
    /// What is printed
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: LitmusFormat,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LitmusFormat {
    /// A line of text for each test and model
    Human,
    /// A JSON object for each test and model, one a line
    Json,
}

/// Runs the tests, prints the results, and returns the exit code.
pub fn run(args: &LitmusArgs) -> Result<u8> {
    let file = args.file.display();
    let text = fs::read_to_string(&args.file).with_context(|| format!("cannot read {file}"))?;
    let mut tally = Tally::default();
    let mut out = io::stdout().lock();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let results = parse_line(line).and_then(|test| Ok((run_test(&test, args)?, test)));
        match results {
            Ok((results, test)) => {
                for result in &results {
                    tally.count(result);
                    print(&mut out, &test, result, args.format)?;
                }
            }
            Err(error) => {
                tally.malformed += 1;
                eprintln!("error: {file}, line {}: {error}", number + 1);
            }
        }
    }
    if args.format == LitmusFormat::Human {
        writeln!(out, "{tally}")?;
    }
    Ok(tally.exit_code())
}

fn run_test(test: &LitmusTest, args: &LitmusArgs) -> Result<Vec<LitmusResult>, FormatError> {
    let workers = args.workers.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    args.model.iter().map(|&model| check(test, model, args.equivalence, workers)).collect()
}

fn print(out: &mut impl Write, test: &LitmusTest, result: &LitmusResult, format: LitmusFormat) -> io::Result<()> {
    match format {
        LitmusFormat::Json => {
            let object = json!({
                "event": "litmus",
                "name": test.name,
                "id": test.id,
                "model": result.model,
                "executions": result.executions,
                "blocked": result.blocked,
                "races": result.races,
                "observed": test.observed,
                "states": result.states,
                "expected": result.expected,
            });
            writeln!(out, "{object}")
        }
        LitmusFormat::Human => {
            let found = match &result.states {
                Some(states) => format!("{} executions, {} states", result.executions, states.len()),
                None => "data race".to_owned(),
            };
            let verdict = match result.expected {
                Some(Verdict::Match) => "ok",
                Some(Verdict::Mismatch) => "MISMATCH",
                None => "no expectation",
            };
            writeln!(out, "{} under {}: {found}: {verdict}", test.name, result.model)
        }
    }
}

/// How the tests went.
#[derive(Debug, Default)]
struct Tally {
    matched: usize,
    mismatched: usize,
    unknown: usize,
    malformed: usize,
}

impl Tally {
    fn count(&mut self, result: &LitmusResult) {
        match result.expected {
            Some(Verdict::Match) => self.matched += 1,
            Some(Verdict::Mismatch) => self.mismatched += 1,
            None => self.unknown += 1,
        }
    }

    fn exit_code(&self) -> u8 {
        match self {
            Tally { malformed: 1.., .. } => MALFORMED,
            Tally { mismatched: 1.., .. } => MISMATCHED,
            _ => MATCHED,
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Tally { matched, mismatched, unknown, malformed } = self;
        write!(f, "{matched} matched, {mismatched} mismatched, {unknown} without expectation, {malformed} malformed")
    }
}
