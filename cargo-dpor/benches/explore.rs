//! How fast the executions of Rust programs are explored: `cargo bench -p cargo-dpor --bench explore [-- TABLE…]`
//!
//! The programs of `tests/programs/benchmarks` are lowered once. Tables, all or those named:
//! - `speed`: executions per second of CPU time on one thread, beside what GenMC 0.11 does on a machine like this one;
//! - `reads-from`: reads-from equivalence against trace equivalence;
//! - `workers`: two workers against one, taken in turns.
//!
//! A wrong number of executions ends the run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use dpor_engine::check::check;
use dpor_engine::explore::Config;
use dpor_engine::explore::Equivalence::{self, ReadsFrom, Trace};
use dpor_engine::model::MemoryModel;
use dpor_engine::program::Program;
use dpor_engine::verdict::Outcome;
use dpor_engine::vm::{Image, RunOptions};

/// A program: its name, its number of executions, how many there are under reads-from equivalence (where nothing is said
/// about that, the writes of each location are ordered by what is read), and how many GenMC explores in a second.
struct Case {
    name: &'static str,
    executions: u64,
    reads: u64,
    genmc: f64,
}

const CASES: [Case; 10] = [
    // The read-modify-writes come in any order: n!
    Case { name: "ainc_9", executions: factorial(9), reads: factorial(9), genmc: 17_000.0 },
    // Any order for either counter: (n!)²
    Case { name: "binc_6", executions: factorial(6).pow(2), reads: factorial(6).pow(2), genmc: 18_700.0 },
    // (n!)², as GenMC counts. What is read is a forest: (n + 1)^(n - 1), by Cayley's formula.
    Case { name: "inc_6", executions: factorial(6).pow(2), reads: 7_u64.pow(5), genmc: 126_000.0 },
    // As GenMC counts.
    Case { name: "casrot_12", executions: 919_146, reads: 919_146, genmc: 94_000.0 },
    // As GenMC and Nidhugg count.
    Case { name: "fib_bench_5", executions: 525_630, reads: 525_630, genmc: 107_000.0 },
    // (n + 3) · 2^(n - 2)
    Case { name: "lastzero_15", executions: 18 << 13, reads: 18 << 13, genmc: 9_400.0 },
    // Each reader sees the write or not: 2^n
    Case { name: "readers_16", executions: 1 << 16, reads: 1 << 16, genmc: 15_800.0 },
    // Each load sees the store or not: 2^n
    Case { name: "sb_ring_15", executions: 1 << 15, reads: 1 << 15, genmc: 18_900.0 },
    // The critical sections come in any order: n!
    Case { name: "mutex_8", executions: factorial(8), reads: factorial(8), genmc: 11_000.0 },
    // 1 · 3 · 5 · … · (2n - 1), as GenMC counts. Thread i reads one of n - i stores: n!
    Case { name: "sigma_8", executions: 2_027_025, reads: factorial(8), genmc: 130_000.0 },
];

const fn factorial(n: u64) -> u64 {
    if n == 0 { 1 } else { n * factorial(n - 1) }
}

fn main() -> Result<()> {
    let named: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let wanted = |name: &str| named.is_empty() || named.iter().any(|other| other == name);
    let programs = Programs::lower()?;
    if wanted("speed") {
        speed(&programs)?;
    }
    if wanted("reads-from") {
        reads_from(&programs)?;
    }
    if wanted("workers") {
        workers(&programs)?;
    }
    Ok(())
}

fn speed(programs: &Programs) -> Result<()> {
    println!("executions per second of CPU time, RC11, one worker, the best of three");
    println!(
        "{:<14} {:>10} {:>10} {:>10} {:>7} {:>10} {:>7}",
        "program", "executions", "GenMC", "spawned", "times", "scoped", "times"
    );
    for case in &CASES {
        let mut rates = [0.0f64; 2];
        for _ in 0..3 {
            for (rate, variant) in rates.iter_mut().zip(["spawned", "scoped"]) {
                let run = programs.run(case, variant, 1, Trace)?;
                *rate = rate.max(case.executions as f64 / run.cpu);
            }
        }
        let times = rates.map(|rate| rate / case.genmc);
        println!(
            "{:<14} {:>10} {:>10.0} {:>10.0} {:>7.1} {:>10.0} {:>7.1}",
            case.name, case.executions, case.genmc, rates[0], times[0], rates[1], times[1]
        );
    }
    Ok(())
}

fn reads_from(programs: &Programs) -> Result<()> {
    println!("reads-from equivalence against trace equivalence, RC11, one worker, spawned threads, the best of three");
    println!(
        "{:<14} {:>10} {:>10} {:>10} {:>10} {:>10} {:>7}",
        "program", "executions", "a second", "traces", "seconds", "traces, s", "times"
    );
    for case in &CASES {
        let (mut reads, mut traces) = (Run::WORST, Run::WORST);
        for _ in 0..3 {
            reads = reads.better(programs.run(case, "spawned", 1, ReadsFrom)?);
            traces = traces.better(programs.run(case, "spawned", 1, Trace)?);
        }
        println!(
            "{:<14} {:>10} {:>10.0} {:>10} {:>10.2} {:>10.2} {:>7.2}",
            case.name,
            case.reads,
            case.reads as f64 / reads.cpu,
            case.executions,
            reads.cpu,
            traces.cpu,
            reads.cpu / traces.cpu
        );
    }
    Ok(())
}

fn workers(programs: &Programs) -> Result<()> {
    println!("two workers against one, RC11, spawned threads, the best of five runs each, taken in turns");
    println!("seconds are of wall-clock time; and of CPU time of all workers, for when the machine is not idle");
    println!(
        "{:<14} {:>10} {:>8} {:>8} {:>7} {:>9} {:>9} {:>7}",
        "program", "executions", "one", "two", "times", "one, CPU", "two, CPU", "times"
    );
    for case in CASES.iter().filter(|case| case.executions > 300_000) {
        let (mut one, mut two) = (Run::WORST, Run::WORST);
        for _ in 0..5 {
            one = one.better(programs.run(case, "spawned", 1, Trace)?);
            two = two.better(programs.run(case, "spawned", 2, Trace)?);
        }
        println!(
            "{:<14} {:>10} {:>8.2} {:>8.2} {:>7.2} {:>9.2} {:>9.2} {:>7.2}",
            case.name,
            case.executions,
            one.wall,
            two.wall,
            one.wall / two.wall,
            one.cpu,
            two.cpu,
            2.0 * one.cpu / two.cpu
        );
    }
    Ok(())
}

/// How long an exploration took, in seconds.
#[derive(Clone, Copy)]
struct Run {
    wall: f64,
    /// Of all threads together.
    cpu: f64,
}

impl Run {
    const WORST: Run = Run { wall: f64::INFINITY, cpu: f64::INFINITY };

    fn better(self, other: Run) -> Run {
        Run { wall: self.wall.min(other.wall), cpu: self.cpu.min(other.cpu) }
    }
}

struct Programs {
    program: Arc<Program>,
    image: Arc<Image>,
}

impl Programs {
    fn lower() -> Result<Programs> {
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/benchmarks");
        let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("benchmarks");
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dpor"));
        command.args(["dpor", "test", "--list", "--target-dir"]).arg(&target).current_dir(package);
        let output = command.output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut files = Vec::new();
        collect(&target, &mut files)?;
        files.sort_by_key(|file| fs::metadata(file).and_then(|metadata| metadata.modified()).ok());
        let file = files.pop().context("the programs were not lowered")?;
        let program = Arc::new(Program::load(&file)?);
        let image = Image::of(&program);
        Ok(Programs { program, image })
    }

    fn run(&self, case: &Case, variant: &str, workers: usize, equivalence: Equivalence) -> Result<Run> {
        let name = format!("{variant}::{}", case.name);
        let test = self.program.tests.iter().find(|test| test.name == name).context(name.clone())?;
        let config = Config { workers, equivalence, ..Config::new(MemoryModel::Rc11) };
        let (begin, before) = (Instant::now(), cpu_seconds()?);
        let checked = check(&self.image, test.entry, &RunOptions::default(), &config);
        let run = Run { wall: begin.elapsed().as_secs_f64(), cpu: cpu_seconds()? - before };
        let found = (checked.outcome, checked.stats.executions, checked.stats.blocked);
        let executions = if equivalence == Trace { case.executions } else { case.reads };
        ensure!(found == (Outcome::Passed, executions, 0), "{name}: {found:?}");
        Ok(run)
    }
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "dpor") {
            files.push(path);
        }
    }
    Ok(())
}

/// Seconds of CPU time that this process has used: user and system, in hundredths.
fn cpu_seconds() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').context("/proc/self/stat")?;
    let ticks: Vec<f64> = fields.split_whitespace().skip(11).take(2).map(str::parse).collect::<Result<_, _>>()?;
    Ok(ticks.iter().sum::<f64>() / 100.0)
}
