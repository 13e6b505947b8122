//! Text for people: a line for each test, and all there is to say of those that did not pass.

use std::io::{self, Write};
use std::time::Duration;

use dpor_engine::explore::{AwaitLevel, Equivalence, Stats};
use dpor_engine::model::MemoryModel;
use dpor_engine::verdict::Outcome;

use super::explanation;
use super::printable;
use super::source::Sources;
use super::{Details, Report, Summary, TestResult, help, list_names};
use crate::finding::{Finding, FindingKind};
use crate::select::Selection;
use crate::style::Style;

/// So many tests are listed as the slowest.
const SLOWEST: usize = 10;

pub struct Human<W> {
    out: W,
    style: Style,
    sources: Sources,
    details: Details,
    /// The lines of the tests that did not pass, repeated at the end.
    not_passed: Vec<String>,
    /// The names of the tests that were run, with the time each took.
    times: Vec<(Duration, String)>,
    /// The kinds of failures that occurred, each once.
    kinds: Vec<&'static str>,
}

impl<W: Write> Human<W> {
    pub fn new(out: W, style: Style, sources: Sources, details: Details) -> Human<W> {
        let (not_passed, times, kinds) = (Vec::new(), Vec::new(), Vec::new());
        Human { out, style, sources, details, not_passed, times, kinds }
    }

    /// Where the text goes.
    pub fn out(&mut self) -> &mut W {
        &mut self.out
    }

    fn status(&self, outcome: Outcome) -> String {
        match outcome {
            Outcome::Passed => self.style.status("PASS"),
            Outcome::Failed => self.style.bad_status("FAIL"),
            Outcome::Incomplete => self.style.bad_status("INCOMPLETE"),
            Outcome::Unsupported => self.style.bad_status("UNSUPPORTED"),
            Outcome::Ignored => self.style.dull_status("IGNORED"),
        }
    }

    /// All there is to say of a finding, and what its execution printed.
    fn finding(&mut self, finding: &Finding, result: &TestResult) -> io::Result<()> {
        let text = explanation::render(finding, &mut self.sources, self.details.trace, self.style);
        writeln!(self.out, "\n{text}")?;
        let output = finding.execution.as_ref().map_or(&result.output, |execution| &execution.output);
        self.output(&output.all, &result.test.name)
    }

    /// The tests that took longest, the slowest first.
    fn slowest(&mut self) -> io::Result<()> {
        if !self.details.slow || self.times.is_empty() {
            return Ok(());
        }
        self.times.sort_by(|(a, _), (b, _)| b.cmp(a));
        writeln!(self.out, "\nThe slowest tests:")?;
        for (time, name) in self.times.iter().take(SLOWEST) {
            writeln!(self.out, "{:>12} [{}] {name}", "", seconds(*time))?;
        }
        Ok(())
    }

    fn output(&mut self, output: &str, test: &str) -> io::Result<()> {
        if output.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "--- output of {test} ---")?;
        write!(self.out, "{}", printable::for_terminal(output))?;
        if !output.ends_with('\n') {
            writeln!(self.out)?;
        }
        writeln!(self.out)
    }
}

impl<W: Write> Report for Human<W> {
    fn list(&mut self, selection: &Selection) -> io::Result<()> {
        list_names(&mut self.out, selection)
    }

    fn begin(&mut self, selection: &Selection) -> io::Result<()> {
        let (tests, targets) =
            (count(selection.tests() as u64, "test"), count(selection.targets.len() as u64, "target"));
        writeln!(self.out, "{} {tests} in {targets}", self.style.status("Running"))?;
        if selection.tests() + selection.filtered_out == 0 {
            writeln!(self.out, "{:>12} no `#[dpor::test]` in the selected targets", "")?;
            writeln!(self.out, "{:>12} (`--all-tests` also checks every `#[test]`)", "")?;
        }
        Ok(())
    }

    fn test(&mut self, result: &TestResult) -> io::Result<()> {
        let outcome = result.verdict.outcome;
        let name = format!("{} {}", result.binary.id(), self.style.bold(&result.test.name));
        let reason = match (outcome, &result.test.config.ignore) {
            (Outcome::Ignored, Some(reason)) if !reason.is_empty() => {
                format!(": {}", printable::for_terminal(reason).replace('\n', " "))
            }
            _ => String::new(),
        };
        let status = self.status(outcome);
        match outcome {
            Outcome::Ignored => writeln!(self.out, "{status} [         ] {name}{reason}")?,
            _ if result.cached => writeln!(self.out, "{status} (cached)    {name} {}", explored(result))?,
            _ => writeln!(self.out, "{status} [{}] {name} {}", seconds(result.duration), explored(result))?,
        }
        if outcome == Outcome::Passed && is_vacuous(result) {
            let note = self.style.warning("warning");
            writeln!(
                self.out,
                "{note}: no execution runs to completion: in each one an assumption fails or a thread is blocked"
            )?;
        }
        if self.details.verbose {
            for (lesson, times, given_up) in result.lessons() {
                let times = count(times, "time");
                writeln!(self.out, "{:>12} began again {times}, {given_up} given up: {lesson}", "")?;
            }
        }
        if matches!(outcome, Outcome::Passed | Outcome::Incomplete) {
            for cover in result.covers.iter().filter(|cover| cover.executions > 0) {
                let label = printable::for_terminal(&cover.label).replace('\n', " ");
                writeln!(self.out, "{:>12} `{label}`: reached in {}", "", count(cover.executions, "execution"))?;
            }
        }
        if outcome != Outcome::Ignored {
            self.times.push((result.duration, format!("{name}{}", in_parentheses(&under(result)))));
        }
        for finding in &result.verdict.findings {
            if finding.kind != FindingKind::Covered && !self.kinds.contains(&finding.kind.name()) {
                self.kinds.push(finding.kind.name());
            }
            self.finding(finding, result)?;
        }
        if let Some(advice) = &result.advice {
            let text = help::render(advice, &mut self.sources, self.style);
            writeln!(self.out, "{text}")?;
        }
        match result.verdict.findings.is_empty() {
            true if self.details.nocapture => self.output(&result.output.all, &result.test.name)?,
            true => {}
            false => self.not_passed.push(format!("{status} {name}{}", in_parentheses(&under(result)))),
        }
        self.out.flush()
    }

    fn replayed(&mut self, result: &TestResult) -> io::Result<()> {
        writeln!(self.out, "{} one execution", self.style.status("Replaying"))?;
        self.test(result)
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        let style = self.style;
        let cached = if summary.cached > 0 { format!(" ({} cached)", summary.cached) } else { String::new() };
        let mut parts = vec![style.good(format_args!("{} passed{cached}", summary.passed))];
        for (number, word) in
            [(summary.failed, "failed"), (summary.incomplete, "incomplete"), (summary.unsupported, "unsupported")]
        {
            if number > 0 {
                parts.push(style.error(format_args!("{number} {word}")));
            }
        }
        for (number, word) in [(summary.ignored, "ignored"), (summary.not_run, "not run")] {
            if number > 0 {
                parts.push(style.warning(format_args!("{number} {word}")));
            }
        }
        let word = if summary.all_passed() { style.status("Summary") } else { style.bad_status("Summary") };
        let run = count(summary.run() as u64, "test");
        writeln!(self.out, "------------")?;
        writeln!(self.out, "{word} [{}] {run} run: {}", seconds(summary.duration), parts.join(", "))?;
        for line in &self.not_passed {
            writeln!(self.out, "{line}")?;
        }
        self.slowest()?;
        match summary.interrupted {
            true => writeln!(self.out, "\nInterrupted: tests that were not fully explored have not passed.")?,
            false if summary.not_run > 0 => {
                writeln!(self.out, "\nNot all targets were run: `--no-fail-fast` runs the others after a failure.")?;
            }
            false => {}
        }
        match &self.kinds[..] {
            [] => {}
            [kind] => writeln!(self.out, "\nFor more about this error: cargo dpor explain {kind}")?,
            [first, ..] => {
                writeln!(self.out, "\nKinds of failures: {}", self.kinds.join(", "))?;
                writeln!(self.out, "For more about one of them: cargo dpor explain {first}")?;
            }
        }
        self.out.flush()
    }
}

/// `1 test`, `2 tests`
pub fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Whether nothing was checked in the end.
fn is_vacuous(result: &TestResult) -> bool {
    result.stats.executions == 0 && result.stats.blocked > 0
}

/// What was explored, and under what: `(tso, 12 executions, 3 blocked, 1 error allowed)`
fn explored(result: &TestResult) -> String {
    let Stats { executions, blocked, allowed, witness_searches, .. } = result.stats;
    let mut parts = under(result);
    match (result.sampled(), result.settings.sampling) {
        (Some(samples), Some(sampling)) => {
            parts.push(format!("{samples} sampled, seed {}", sampling.seed));
        }
        _ => {
            parts.push(count(executions, "execution"));
            parts.extend((blocked > 0).then(|| format!("{blocked} blocked")));
        }
    }
    parts.extend(given_up(result));
    parts.extend((allowed > 0).then(|| format!("{} allowed", count(allowed, "error"))));
    parts.extend((witness_searches > 0).then(|| format!("witness searches: {witness_searches}")));
    in_parentheses(&parts).trim_start().to_owned()
}

/// Of a test that did not end: what was begun and is not counted, and why. It says where the time went.
fn given_up(result: &TestResult) -> Option<String> {
    let (given_up, restarts) = (result.given_up(), result.restarts.len() as u64);
    let is_told = result.verdict.outcome == Outcome::Incomplete && given_up > 0;
    let why = if restarts > 0 { format!(", {}", count(restarts, "restart")) } else { String::new() };
    is_told.then(|| format!("{given_up} given up{why}"))
}

/// What is not as by default.
fn under(result: &TestResult) -> Vec<String> {
    let settings = &result.settings;
    let names_model = result.several_models || settings.model != MemoryModel::default();
    let model = names_model.then(|| settings.model.to_string());
    let bound = settings.buffer_bound.map(|bound| format!("buffer bound {bound}"));
    let spurious = settings.spurious.then(|| "spurious failures".to_owned());
    let level = settings.awaiting.name();
    let awaiting = (settings.awaiting != AwaitLevel::Full).then(|| format!("await {level}"));
    let equivalence = settings.equivalence;
    let equivalence = (equivalence != Equivalence::Trace).then(|| equivalence.name().to_owned());
    let unroll = settings.unroll.map(|bound| format!("unroll {bound}"));
    [model, bound, equivalence, awaiting, unroll, spurious].into_iter().flatten().collect()
}

fn in_parentheses(parts: &[String]) -> String {
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

fn seconds(duration: Duration) -> String {
    format!("{:>8.3}s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture;

    fn report(nocapture: bool, act: impl FnOnce(&mut Human<&mut Vec<u8>>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        let details = Details { nocapture, workers: 1, ..Details::default() };
        act(&mut Human::new(&mut out, Style::plain(), Sources::new("/nowhere".into()), details)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_passing_test_is_a_line() {
        let (binary, test) = (fixture::binary(), fixture::test(""));
        let result = fixture::result(&binary, &test, Outcome::Passed, vec![]);
        let line = "        PASS [   0.250s] stack tests::pops (3 executions)\n";
        assert_eq!(report(false, |human| human.test(&result)), line);
        let output = "--- output of tests::pops ---\nprinted\n\n";
        assert_eq!(report(true, |human| human.test(&result)), format!("{line}{output}"));
    }

    #[test]
    fn a_verdict_that_was_known_is_told_from_others() {
        let (binary, test) = (fixture::binary(), fixture::test(""));
        let result = TestResult { cached: true, ..fixture::result(&binary, &test, Outcome::Passed, vec![]) };
        let line = "        PASS (cached)    stack tests::pops (3 executions)\n";
        assert_eq!(report(false, |human| human.test(&result)), line);
        let summary = Summary { passed: 3, cached: 2, ..Summary::default() };
        let text = report(false, |human| human.end(&summary));
        assert!(text.contains("3 tests run: 3 passed (2 cached)\n"), "{text}");
    }

    #[test]
    fn what_is_not_as_by_default_is_said() {
        let (binary, test) = (fixture::binary(), fixture::test("model=tso\nbuffer_bound=2\nspurious=true"));
        let mut result = fixture::result(&binary, &test, Outcome::Passed, vec![]);
        result.stats.executions = 1;
        result.stats.blocked = 2;
        let line = "        PASS [   0.250s] stack tests::pops (tso, buffer bound 2, spurious failures, 1 execution, 2 blocked)\n";
        assert_eq!(report(false, |human| human.test(&result)), line);
    }

    #[test]
    fn the_slowest_tests_come_first() {
        let (binary, test) = (fixture::binary(), fixture::test(""));
        let mut out = Vec::new();
        let details = Details { slow: true, ..Details::default() };
        let mut human = Human::new(&mut out, Style::plain(), Sources::new("/nowhere".into()), details);
        for milliseconds in [5, 2000, 30] {
            let mut result = fixture::result(&binary, &test, Outcome::Passed, vec![]);
            result.duration = Duration::from_millis(milliseconds);
            human.test(&result).unwrap();
        }
        human.end(&Summary { passed: 3, ..Summary::default() }).unwrap();
        let text = String::from_utf8(out).unwrap();
        let slowest = text.split("The slowest tests:\n").nth(1).unwrap();
        let times: Vec<&str> = slowest.lines().map(|line| line.trim()).collect();
        let expected = ["[   2.000s]", "[   0.030s]", "[   0.005s]"].map(|time| format!("{time} stack tests::pops"));
        assert_eq!(times, expected);
    }

    #[test]
    fn an_ignored_test_has_its_reason() {
        let (binary, test) = (fixture::binary(), fixture::test("ignore=slow"));
        let result = fixture::result(&binary, &test, Outcome::Ignored, vec![]);
        assert_eq!(report(false, |human| human.test(&result)), "     IGNORED [         ] stack tests::pops: slow\n");
    }

    #[test]
    fn nothing_that_a_test_says_acts_on_the_terminal() {
        let (binary, test) = (fixture::binary(), fixture::test("ignore=\u{1b}[2J"));
        let mut result = fixture::result(&binary, &test, Outcome::Ignored, vec![fixture::finding()]);
        result.verdict.findings[0].problem.message = "\u{1b}[2J".into();
        result.verdict.findings[0].problem.notes[0].message = "\u{1b}[2J".into();
        result.verdict.findings[0].execution.as_mut().unwrap().output.all = "\u{1b}[2J".into();
        assert!(!report(false, |human| human.test(&result)).contains('\u{1b}'));
    }

    #[test]
    fn a_failing_test_is_explained_and_repeated_at_the_end() {
        let (binary, test) = (fixture::binary(), fixture::test(""));
        let result = fixture::result(&binary, &test, Outcome::Failed, vec![fixture::finding()]);
        let summary = Summary { failed: 1, not_run: 2, ..Summary::default() };
        let text = report(false, |human| {
            human.test(&result)?;
            human.end(&summary)
        });
        let expected = "
        FAIL [   0.250s] stack tests::pops (3 executions)

error[use-after-free]: gone
 --> src/lib.rs:41:13
  = note: freed here: src/lib.rs:40:13

--- output of tests::pops ---
printed

------------
     Summary [   0.000s] 1 test run: 0 passed, 1 failed, 2 not run
        FAIL stack tests::pops

Not all targets were run: `--no-fail-fast` runs the others after a failure.

For more about this error: cargo dpor explain use-after-free
";
        assert_eq!(format!("\n{text}"), expected);
    }
}
