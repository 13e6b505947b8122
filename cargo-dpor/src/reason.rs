//! Why a test was not explored entirely, and what can be done about it.

use std::time::Duration;

use dpor_engine::check::{Checked, Limit};
use dpor_engine::explore::{Estimate, Spot, Survey};
use dpor_engine::verdict::Location;

use crate::finding::{Finding, FindingKind};
use crate::memory;
use crate::progress::{grouped, rounded};
use crate::report::short_file;
use crate::settings::Settings;

/// A place is named where it has at least this part of all alternatives.
const SHARE: f64 = 0.1;
/// So many places are named.
const PLACES: usize = 3;
/// A loop that iterates so often is worth making shorter.
const LONG: u32 = 10;
/// From so many descents on, an estimate means something.
const DESCENTS: u64 = 8;

/// What is said of a test that has reached a limit.
pub fn finding(limit: Limit, checked: &Checked, settings: &Settings) -> Finding {
    let finding = Finding::new(FindingKind::Limit, message(limit, checked, settings), None);
    let finding = notes(limit, checked).into_iter().fold(finding, Finding::note);
    remedies(limit, checked).into_iter().fold(finding, Finding::note)
}

fn message(limit: Limit, checked: &Checked, settings: &Settings) -> String {
    match limit {
        Limit::Executions => {
            let max = settings.max_executions.unwrap_or_default();
            format!("execution limit reached: there are more than {max} executions")
        }
        Limit::Time => {
            let seconds = settings.timeout.unwrap_or_default().as_secs_f64();
            let how = if settings.sampling.is_some() { "sampled" } else { "explored" };
            format!("time limit reached: not all executions were {how} in {seconds} s")
        }
        Limit::Memory => {
            let size = memory::format(settings.max_memory.unwrap_or_default());
            format!("memory limit reached: not all executions were explored in {size}")
        }
        Limit::Samples => {
            let samples = checked.stats.executions + checked.stats.blocked;
            format!("{} random executions have no error; not all executions were explored", grouped(samples))
        }
        Limit::Model => "a model has more executions than its own bounds allow".to_owned(),
        Limit::Interrupt => "interrupted: not all executions were explored".to_owned(),
    }
}

/// What was seen: how many there are, and where they come from.
fn notes(limit: Limit, checked: &Checked) -> Vec<String> {
    let mut notes = Vec::new();
    let explored = checked.stats.executions + checked.stats.blocked;
    if matches!(limit, Limit::Time | Limit::Memory) && explored > 0 {
        notes.push(rate(explored, checked.time));
    }
    if let Some(survey) = &checked.survey {
        notes.extend(estimate(&survey.estimate, explored));
        notes.extend(hot(survey));
        notes.extend(survey.loops.iter().take(PLACES).map(|(location, times)| {
            format!("a thread passes {} up to {times} times in one execution", place(location))
        }));
    }
    notes
}

fn rate(explored: u64, time: Duration) -> String {
    let rate = explored as f64 / time.as_secs_f64().max(0.001);
    format!("{} executions were explored, {} a second", grouped(explored), grouped(rate as u64))
}

/// How many executions there are, where that is known to be more than were explored.
fn estimate(estimate: &Estimate, explored: u64) -> Option<String> {
    let (mean, error) = (estimate.mean(), estimate.standard_error());
    if estimate.samples < DESCENTS || mean <= explored as f64 {
        return None;
    }
    Some(match error < mean {
        true if error < 0.5 => format!("there are about {}", number(mean)),
        true => format!("there are about {}, give or take {}", number(mean), number(error)),
        false => format!("there may be {} or more", number(mean)),
    })
}

/// A number of which two digits are known; as a power of ten where it is too long to read.
fn number(value: f64) -> String {
    if value < 1e12 { rounded(value) } else { format!("10^{:.0}", value.log10()) }
}

/// The places with the most alternatives.
fn hot(survey: &Survey) -> Vec<String> {
    let all = survey.alternatives.max(1) as f64;
    let shares = survey.hot.iter().map(|(spot, count)| (spot, *count as f64 / all));
    let of_note = shares.filter(|(_, share)| *share >= SHARE).take(PLACES);
    of_note.map(|(spot, share)| format!("{:.0}% of the alternatives come from {}", 100.0 * share, at(spot))).collect()
}

fn at(spot: &Spot) -> String {
    match &spot.variable {
        Some(variable) => format!("`{variable}` at {}", place(&spot.location)),
        None => place(&spot.location),
    }
}

fn place(location: &Location) -> String {
    format!("{}:{}", within_crate(short_file(&location.file)), location.line)
}

/// The path of a file of a dependency, from the directory of the crate on.
fn within_crate(file: &str) -> &str {
    let after = file.split_once("/registry/src/").or_else(|| file.split_once("/git/checkouts/"));
    after.and_then(|(_, path)| path.split_once('/')).map_or(file, |(_, path)| path)
}

/// Whether a place is in the user's own code, not in a dependency.
fn is_own(location: &Location) -> bool {
    !location.file.starts_with('/')
}

/// What can be done.
fn remedies(limit: Limit, checked: &Checked) -> Vec<String> {
    let option = match limit {
        Limit::Executions => Some("--max-executions"),
        Limit::Time => Some("--timeout"),
        Limit::Memory => Some("--max-memory"),
        Limit::Samples | Limit::Model | Limit::Interrupt => None,
    };
    let mut remedies: Vec<String> = option.iter().map(|option| format!("`{option}` sets the limit")).collect();
    let survey = checked.survey.as_ref();
    let longest = survey.and_then(|survey| survey.loops.first()).filter(|(_, times)| *times >= LONG);
    if let Some((location, _)) = longest {
        let place = place(location);
        remedies.push(match is_own(location) {
            true => format!("reduce the iterations at {place}: two find most bugs"),
            false => format!("`--unroll 2` bounds loops such as that at {place}"),
        });
    }
    if let Some(executions) = survey.and_then(fewer_by_reads) {
        remedies.push(format!("with `--equivalence reads-from` there are about {}", number(executions)));
    }
    match limit {
        Limit::Model => remedies.push("`max_permutations` and `max_duration` of its builder set the bounds".to_owned()),
        Limit::Samples => remedies.push("a larger `--sample`, or another `--seed`, runs other executions".to_owned()),
        Limit::Time | Limit::Memory if survey.is_some_and(|survey| !survey.hot.is_empty()) => {
            remedies.push("`--sample 1000` runs random executions of tests of any size".to_owned());
        }
        _ => {}
    }
    remedies
}

/// How many executions there are under reads-from equivalence, where both estimates are good enough to say that it helps.
fn fewer_by_reads(survey: &Survey) -> Option<f64> {
    let is_good = |estimate: &&Estimate| {
        estimate.samples >= DESCENTS && estimate.mean() >= 1.0 && estimate.standard_error() < estimate.mean() / 2.0
    };
    let explored = Some(&survey.estimate).filter(is_good)?;
    let by_reads = survey.reads_from.as_ref().filter(is_good)?;
    (by_reads.mean() < explored.mean() / 2.0).then(|| by_reads.mean())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(line: u32, variable: &str) -> Spot {
        Spot { location: Location { file: "src/lib.rs".into(), line, column: 5 }, variable: Some(variable.into()) }
    }

    #[test]
    fn places_with_many_alternatives_are_named() {
        let hot = vec![(spot(7, "state"), 60), (spot(9, "queue.head"), 35), (spot(11, "x"), 5)];
        let survey = Survey { hot, alternatives: 100, ..Survey::default() };
        let lines = super::hot(&survey);
        assert_eq!(
            lines,
            [
                "60% of the alternatives come from `state` at src/lib.rs:7",
                "35% of the alternatives come from `queue.head` at src/lib.rs:9"
            ]
        );
    }

    #[test]
    fn numbers_that_are_long_are_powers_of_ten() {
        assert_eq!((number(123_456.0), number(3e20)), ("120,000".into(), "10^20".into()));
    }

    #[test]
    fn files_of_dependencies_begin_with_the_crate() {
        let file = "/home/a/.cargo/registry/src/index-1949cf8c6b5b557f/kanal-0.1.1/src/mutex.rs";
        let location = Location { file: file.into(), line: 32, column: 1 };
        assert_eq!((place(&location).as_str(), is_own(&location)), ("kanal-0.1.1/src/mutex.rs:32", false));
        assert!(is_own(&spot(7, "x").location));
    }

    #[test]
    fn an_estimate_needs_descents() {
        assert_eq!(estimate(&Estimate::default(), 3), None);
    }
}
