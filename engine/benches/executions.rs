//! How fast executions are explored, on programs whose number of executions is known; a wrong number ends the run.
//!
//! `cargo bench -p dpor-engine --bench executions [-- TABLE…]` prints these tables, all or those named:
//! - `speed`: executions per second of CPU time on one thread, against what GenMC 0.11 does on a machine like this one;
//! - `growth`: how the cost of an execution grows with the number of events of the program;
//! - `models`: the same programs under the other models;
//! - `reads-from`: reads-from equivalence against trace equivalence, under SC and RC11;
//! - `workers`: two workers against one; "reads" means reads-from equivalence.

#[path = "../tests/programs/mod.rs"]
mod programs;

use dpor_engine::explore::{Config, Ending, Equivalence, Observer, Report, explore, explore_with};
use dpor_engine::graph::{Graph, MemOrder::SeqCst};
use dpor_engine::litmus::{Litmus, LitmusError, LitmusState};
use dpor_engine::model::MemoryModel;
use programs::*;
use std::time::Instant;

use Equivalence::{ReadsFrom, Trace};

/// A program with its number of executions, and how many of them GenMC explores in a second, where that is known.
struct Case {
    name: &'static str,
    program: Litmus,
    executions: u64,
    genmc: Option<f64>,
}

fn case(name: &'static str, program: Litmus, executions: u64, genmc: Option<f64>) -> Case {
    Case { name, program, executions, genmc }
}

fn factorial(n: u64) -> u64 {
    (1..=n).product()
}

/// Where the counts come from is said in tests/counts.rs.
fn cases() -> Vec<Case> {
    vec![
        case("ainc(9)", ainc(9), factorial(9), Some(17_000.0)),
        case("binc(6)", binc(6), factorial(6).pow(2), Some(18_700.0)),
        case("inc(6)", inc(6), factorial(6).pow(2), Some(126_000.0)),
        case("casw(6)", casw(6), 1_270_080, None),
        case("casrot(11)", casrot(11), 182_905, None),
        case("casrot(12)", casrot(12), 919_146, Some(94_000.0)),
        case("fib_bench(5)", fib_bench(5), 525_630, Some(107_000.0)),
        case("lastzero(15)", lastzero(15), 147_456, Some(9_400.0)),
        case("lastzero(20)", lastzero(20), 6_029_312, None),
        case("readers(16)", readers(16), 1 << 16, Some(15_800.0)),
        case("sb_ring(15)", sb_ring(15), 1 << 15, Some(18_900.0)),
        case("sb_ring(15), SeqCst", sb_ring_sc(15), (1 << 15) - 1, None),
        case("n_writers(9)", n_writers(9), factorial(9), None),
        case("lastwrite(9)", lastwrite(9), factorial(9), None),
        case("exp_mem(9)", exp_mem(9), 2 * factorial(9), None),
        case("mutex(8)", mutex(8), factorial(8), Some(11_000.0)),
        case("sigma(8), SeqCst", sigma(8), 2_027_025, Some(130_000.0)),
    ]
}

/// Seconds of CPU time that this thread has used; of wall-clock time where the system does not say.
fn cpu_seconds(begin: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|n| n.parse::<f64>().ok());
    nanoseconds.map_or_else(|| begin.elapsed().as_secs_f64(), |n| n / 1e9)
}

fn run(name: &str, program: &Litmus, config: &Config, executions: Option<u64>) -> Report<LitmusError> {
    let report = explore(program, config);
    if let Some(executions) = executions {
        assert_eq!((report.stats.executions, report.stats.blocked), (executions, 0), "{name}");
    }
    report
}

/// Explores on one thread, repeatedly if that is quick; returns the report and the CPU time of a run: the best of three
/// averages, each over at least 0.3 seconds, since the system's clock is coarse.
fn time(name: &str, program: &Litmus, model: MemoryModel, executions: Option<u64>) -> (Report<LitmusError>, f64) {
    time_with(name, program, &Config::new(model), executions)
}

fn time_with(name: &str, program: &Litmus, config: &Config, executions: Option<u64>) -> (Report<LitmusError>, f64) {
    let average = || {
        let begin = Instant::now();
        let before = cpu_seconds(begin);
        for runs in 1.. {
            let report = run(name, program, config, executions);
            let seconds = cpu_seconds(begin) - before;
            if seconds > 0.3 {
                return (report, seconds / f64::from(runs));
            }
        }
        unreachable!("the clock goes on")
    };
    let (report, first) = average();
    let others = if first > 2.0 { 0 } else { 2 };
    (report, (0..others).map(|_| average().1).fold(first, f64::min))
}

fn speed() {
    println!("\nexecutions per second of CPU time, RC11, one thread");
    println!(
        "{:20} {:>10} {:>12} {:>10} {:>7} {:>8} {:>8} {:>8}",
        "program", "executions", "per second", "GenMC", "times", "events", "revisits", "KiB"
    );
    for Case { name, program, executions, genmc } in cases() {
        let (report, seconds) = time(name, &program, MemoryModel::Rc11, Some(executions));
        let per_second = executions as f64 / seconds;
        let (genmc, times) = match genmc {
            Some(rate) => (format!("{rate:.0}"), format!("{:.1}", per_second / rate)),
            None => ("-".to_owned(), "-".to_owned()),
        };
        let per_execution = |n: u64| n as f64 / executions as f64;
        println!(
            "{name:20} {executions:>10} {per_second:>12.0} {genmc:>10} {times:>7} {:>8.2} {:>8.2} {:>8}",
            per_execution(report.stats.events),
            per_execution(report.stats.revisits_done),
            report.stats.peak_bytes / 1024,
        );
    }
    println!("events and revisits are per execution; KiB is what the explorer held at most");
}

fn models() {
    println!("\nexecutions per second of CPU time, one thread, by model");
    println!("{:20} {:>12} {:>12} {:>12} {:>12}", "program", "rc11", "sc", "tso", "pso");
    for Case { name, program, executions, .. } in cases().into_iter().filter(|case| case.executions < 2_000_000) {
        let rate = |model| {
            let expected = (model == MemoryModel::Rc11).then_some(executions);
            let (report, seconds) = time(name, &program, model, expected);
            report.stats.executions as f64 / seconds
        };
        let [rc11, sc, tso, pso] = MemoryModel::ALL.map(rate);
        println!("{name:20} {rc11:>12.0} {sc:>12.0} {tso:>12.0} {pso:>12.0}");
    }
}

/// Programs with their numbers of executions under reads-from equivalence: see tests/reads_from_counts.rs. None for those
/// that are not known; but they are the same under both models.
fn reads_from_cases() -> Vec<(&'static str, Litmus, Option<u64>)> {
    vec![
        ("fib_bench(5), SeqCst", fib_bench_with(5, SeqCst, SeqCst), Some(218_243)),
        ("lastzero(15)", lastzero(15), Some(147_456)),
        ("readers(16)", readers(16), Some(1 << 16)),
        ("casrot(11)", casrot(11), Some(182_905)),
        ("sigma(7), SeqCst", sigma(7), Some(factorial(7))),
        ("lastwrite(9)", lastwrite(9), Some(9)),
        ("floating_read(9)", floating_read(9), Some(10)),
        ("n_writers(9)", n_writers(9), Some(1)),
        ("inc(6)", inc(6), Some(7_u64.pow(5))),
        ("casw(5)", casw(5), None),
        ("ainc(8)", ainc(8), Some(factorial(8))),
        ("mutex(8)", mutex(8), Some(factorial(8))),
        ("sb_ring(13), SeqCst", sb_ring_sc(13), Some((1 << 13) - 1)),
        ("exp_mem(8)", exp_mem(8), Some(2 * factorial(8))),
    ]
}

fn reads_from() {
    println!("\nreads-from equivalence, executions per second of CPU time, one thread");
    println!(
        "seconds are of a whole run, under either equivalence; tests and searches for witnesses are per execution"
    );
    println!(
        "{:21} {:6} {:>10} {:>12} {:>10} {:>10} {:>10} {:>6} {:>8} {:>8}",
        "program", "model", "executions", "per second", "trace", "seconds", "trace, s", "times", "tests", "searches"
    );
    for (name, program, executions) in reads_from_cases() {
        for model in [MemoryModel::Sc, MemoryModel::Rc11] {
            let config = Config { equivalence: ReadsFrom, ..Config::new(model) };
            let (report, seconds) = time_with(name, &program, &config, executions);
            let (trace, trace_seconds) = time(name, &program, model, None);
            let found = report.stats.executions;
            println!(
                "{name:21} {model:6} {found:>10} {:>12.0} {:>10} {seconds:>10.4} {trace_seconds:>10.4} {:>6.2} {:>8.2} {:>8.2}",
                found as f64 / seconds,
                trace.stats.executions,
                seconds / trace_seconds,
                report.stats.witness_tests as f64 / found as f64,
                report.stats.witness_searches as f64 / found as f64,
            );
        }
    }
}

/// A family of programs by size: its name, the sizes, the program, its executions and events of a given size.
struct Family {
    name: &'static str,
    sizes: std::ops::RangeInclusive<usize>,
    program: fn(usize) -> Litmus,
    executions: fn(u64) -> u64,
    events: fn(usize) -> usize,
}

fn growth() {
    println!("\ncost of an execution by size of the program, RC11, one thread");
    println!("{:14} {:>8} {:>12} {:>16} {:>20}", "program", "events", "executions", "ns per execution", "ns per event");
    let families = [
        Family { name: "readers", sizes: 8..=18, program: readers, executions: |n| 1 << n, events: |n| n + 1 },
        Family { name: "ainc", sizes: 5..=10, program: ainc, executions: factorial, events: |n| n },
        Family {
            name: "lastzero",
            sizes: 8..=16,
            program: lastzero,
            executions: |n| (n + 3) << (n - 2),
            events: |n| 3 * n + 1,
        },
    ];
    for Family { name, sizes, program, executions, events } in families {
        for n in sizes {
            let expected = executions(n as u64);
            let (_, seconds) = time(name, &program(n), MemoryModel::Rc11, Some(expected));
            let cost = 1e9 * seconds / expected as f64;
            let label = format!("{name}({n})");
            println!("{label:14} {:>8} {expected:>12} {cost:>16.0} {:>20.1}", events(n), cost / events(n) as f64);
        }
    }
}

/// Notes how much CPU time its worker has used.
#[derive(Clone, Copy)]
struct Busy {
    begin: Instant,
    from: f64,
    to: f64,
    executions: u64,
}

impl Observer<Litmus> for Busy {
    fn full(&mut self, _: &Graph, _: &LitmusState, _: Ending) {
        if self.executions == 0 {
            self.from = cpu_seconds(self.begin);
        }
        if self.executions.is_multiple_of(4096) {
            self.to = cpu_seconds(self.begin);
        }
        self.executions += 1;
    }
}

fn workers() {
    println!("\ntwo workers against one, RC11 (best of seven, taken in turns)");
    println!("seconds are of wall-clock time, and of CPU time of the busiest worker, for when the machine is not idle");
    println!(
        "{:20} {:>10} {:>8} {:>8} {:>7} {:>9} {:>9} {:>7}",
        "program", "executions", "one", "two", "times", "one, CPU", "two, CPU", "times"
    );
    let programs = [
        ("ainc(10)", ainc(10), Trace),
        ("casrot(13)", casrot(13), Trace),
        ("fib_bench(6)", fib_bench(6), Trace),
        ("lastzero(20)", lastzero(20), Trace),
        ("sigma(8), SeqCst", sigma(8), Trace),
        ("exp_mem(9)", exp_mem(9), Trace),
        ("mutex(9)", mutex(9), Trace),
        ("inc(7), reads", inc(7), ReadsFrom),
        ("sigma(8), reads", sigma(8), ReadsFrom),
        ("casrot(12), reads", casrot(12), ReadsFrom),
        ("fib_bench(5), reads", fib_bench(5), ReadsFrom),
    ];
    for (name, program, equivalence) in programs {
        let run = |workers| {
            let config = Config { workers, equivalence, ..Config::new(MemoryModel::Rc11) };
            let begin = Instant::now();
            let busy = Busy { begin, from: 0.0, to: 0.0, executions: 0 };
            let (report, all) = explore_with(&program, &config, None, || busy);
            let cpu = all.iter().map(|busy| busy.to - busy.from).fold(0.0, f64::max);
            (begin.elapsed().as_secs_f64(), cpu, report.stats.executions)
        };
        let better = |a: (f64, f64, u64), b: (f64, f64, u64)| (a.0.min(b.0), a.1.min(b.1), b.2);
        let worst = (f64::INFINITY, f64::INFINITY, 0);
        let turns = (0..7).map(|_| (run(1), run(2)));
        let best = turns.fold((worst, worst), |best, turn| (better(best.0, turn.0), better(best.1, turn.1)));
        let ((one, one_cpu, found), (two, two_cpu, same)) = best;
        assert_eq!(found, same, "{name}");
        println!(
            "{name:20} {found:>10} {one:>8.2} {two:>8.2} {:>7.2} {one_cpu:>9.2} {two_cpu:>9.2} {:>7.2}",
            one / two,
            one_cpu / two_cpu
        );
    }
}

fn main() {
    let tables: [(&str, fn()); 5] =
        [("speed", speed), ("growth", growth), ("models", models), ("reads-from", reads_from), ("workers", workers)];
    let named: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    for (name, table) in tables {
        if named.is_empty() || named.iter().any(|n| n == name) {
            table();
        }
    }
}
