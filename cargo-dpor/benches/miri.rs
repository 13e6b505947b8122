//! The speed of the machine against Miri's, on the same loops: `cargo bench -p cargo-dpor --bench miri`.
//!
//! Each loop runs twice in each interpreter, with few and with many rounds; the difference of the times is what the
//! rounds in between cost, without compiling and starting up. The table shows the time of one round in both and the ratio.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// The loops, with rounds for Miri and for the machine, and the ratio that is wanted.
const LOOPS: [(&str, u64, u64, f64); 4] = [
    ("arithmetic", 60, 6_000, 50.0),
    ("calls", 150, 15_000, 50.0),
    ("memory", 40, 4_000, 30.0),
    ("collections", 12, 1_200, 30.0),
];

fn main() -> Result<()> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/loops");
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("loops");
    let miri = Miri { package: package.clone(), target: target.join("miri") };
    let ours = Ours { package, target };
    miri.run("arithmetic", 1).context("Miri cannot run the loops")?;
    ours.run("arithmetic", 1).context("cargo dpor cannot run the loops")?;
    println!("{:<12} {:>14} {:>14} {:>8} {:>8}", "loop", "Miri µs/round", "ours µs/round", "ratio", "wanted");
    for (name, few, many, wanted) in LOOPS {
        let slow = per_round(few, |rounds| miri.run(name, rounds))?;
        let fast = per_round(many, |rounds| ours.run(name, rounds))?;
        println!("{name:<12} {slow:>14.2} {fast:>14.3} {:>8.0} {wanted:>8.0}", slow / fast);
    }
    Ok(())
}

/// What one round costs, in microseconds: the best of three measurements.
fn per_round(rounds: u64, run: impl Fn(u64) -> Result<Duration>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let base = run(rounds / 10)?;
        let full = run(rounds + rounds / 10)?;
        best = best.min(full.saturating_sub(base).as_secs_f64() * 1e6 / rounds as f64);
    }
    Ok(best.max(1e-6))
}

struct Miri {
    package: PathBuf,
    target: PathBuf,
}

impl Miri {
    fn run(&self, name: &str, rounds: u64) -> Result<Duration> {
        let mut command = Command::new("cargo");
        command
            .args(["miri", "test", "--quiet", "--", "--exact", name])
            .env("MIRIFLAGS", "-Zmiri-env-forward=ROUNDS")
            .env("CARGO_TARGET_DIR", &self.target);
        timed(command, &self.package, rounds)
    }
}

struct Ours {
    package: PathBuf,
    target: PathBuf,
}

impl Ours {
    fn run(&self, name: &str, rounds: u64) -> Result<Duration> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dpor"));
        command.args(["dpor", "test", "--exact", name, "--target-dir"]).arg(&self.target);
        timed(command, &self.package, rounds)
    }
}

fn timed(mut command: Command, package: &Path, rounds: u64) -> Result<Duration> {
    command.current_dir(package).env("ROUNDS", rounds.to_string());
    let start = Instant::now();
    let output = command.output()?;
    let time = start.elapsed();
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(time)
}
