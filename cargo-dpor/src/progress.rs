//! How far a check is: a line on the terminal, as long as it takes.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use dpor_engine::explore::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What is over sooner has no line.
const PATIENCE: Duration = Duration::from_millis(400);
/// How often the line is written anew.
const INTERVAL: Duration = Duration::from_millis(200);

/// Whether a terminal shows the line.
pub fn is_visible() -> bool {
    stderr().is_terminal()
}

/// Does something that keeps a progress up to date, with a line about it where that is visible.
pub fn watched<T>(title: &str, visible: bool, work: impl FnOnce(Option<&Progress>) -> T) -> T {
    if !visible {
        return work(None);
    }
    let progress = Progress::default();
    let (done, is_done) = channel::<()>();
    thread::scope(|scope| {
        let progress = &progress;
        scope.spawn(move || {
            let start = Instant::now();
            let mut wait = PATIENCE;
            let mut bar = None;
            while is_done.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = INTERVAL;
                bar.get_or_insert_with(line).set_message(describe(title, &Known::of(progress), start.elapsed()));
            }
            bar.inspect(ProgressBar::finish_and_clear);
        });
        let result = work(Some(progress));
        drop(done);
        result
    })
}

fn line() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::with_template("{wide_msg}").expect("the template is fine"));
    bar
}

/// What is known of a check that goes on.
struct Known {
    executions: u64,
    blocked: u64,
    /// About how many there are in all, where that can be told.
    in_all: Option<f64>,
}

impl Known {
    fn of(progress: &Progress) -> Known {
        let estimate = progress.estimate();
        let (executions, blocked) = (progress.executions(), progress.blocked());
        let in_all = progress.earlier() as f64 + estimate.mean();
        // A guess that may be wrong by as much as it says is none.
        let is_sure = estimate.samples > 4 && estimate.standard_error() < estimate.mean();
        let is_good = is_sure && in_all > (executions + blocked) as f64;
        Known { executions, blocked, in_all: is_good.then_some(in_all) }
    }
}

/// `    Checking stack tests::two_pushes: 12,000 executions, 40,000/s, about 100,000 in all, 2 s left`
fn describe(title: &str, known: &Known, elapsed: Duration) -> String {
    let done = known.executions + known.blocked;
    let rate = done as f64 / elapsed.as_secs_f64().max(0.001);
    let mut text = format!("{:>12} {title}: {} executions", "Checking", grouped(known.executions));
    if known.blocked > 0 {
        text += &format!(", {} blocked", grouped(known.blocked));
    }
    text += &format!(", {}/s", grouped(rate as u64));
    if let Some(in_all) = known.in_all {
        let left = (in_all - done as f64) / rate.max(0.001);
        text += &format!(", about {} in all, {} left", rounded(in_all), duration(left));
    } else {
        text += &format!(", {}", duration(elapsed.as_secs_f64()));
    }
    text
}

/// `12,345`
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group).into_owned());
    groups.collect::<Vec<_>>().join(",")
}

/// A number of which two digits are known.
pub fn rounded(number: f64) -> String {
    let unit = 10f64.powf((number.max(1.0).log10().floor() - 1.0).max(0.0));
    grouped(((number / unit).round() * unit) as u64)
}

/// `42 s`, `3 min`, `5 h`
fn duration(seconds: f64) -> String {
    match seconds {
        ..100.0 => format!("{seconds:.0} s"),
        ..6000.0 => format!("{:.0} min", seconds / 60.0),
        ..360_000.0 => format!("{:.0} h", seconds / 3600.0),
        _ => format!("{} days", grouped((seconds / 86_400.0).min(1e15) as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_it_is() {
        let known = Known { executions: 12_000, blocked: 0, in_all: Some(103_456.0) };
        assert_eq!(
            describe("stack pops", &known, Duration::from_secs(4)),
            "    Checking stack pops: 12,000 executions, 3,000/s, about 100,000 in all, 30 s left"
        );
        let known = Known { executions: 1_234_567, blocked: 3, in_all: None };
        assert_eq!(
            describe("pops", &known, Duration::from_secs(100)),
            "    Checking pops: 1,234,567 executions, 3 blocked, 12,345/s, 2 min"
        );
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!((grouped(7), grouped(1000), rounded(98_765.0)), ("7".into(), "1,000".into(), "99,000".into()));
        assert_eq!((duration(59.6), duration(600.0), duration(7300.0)), ("60 s".into(), "10 min".into(), "2 h".into()));
        assert_eq!(duration(1e9), "11,574 days");
    }

    #[test]
    fn what_is_not_seen_is_not_counted() {
        assert!(watched("", false, |progress| progress.is_none()));
        assert!(watched("", true, |progress| progress.is_some()));
    }
}
