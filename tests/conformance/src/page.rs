//! The page with the results.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use dpor_engine::verdict::Outcome;

use crate::checker::TestResult;
use crate::explained::{self, Explained};
use crate::suites::Suite;

const INTRODUCTION: &str = include_str!("introduction.md");

/// What came of a suite.
pub struct SuiteResult {
    pub suite: Suite,
    /// As the package has it.
    pub version: String,
    pub tests: Vec<TestResult>,
    pub time: Duration,
}

impl SuiteResult {
    pub fn count(&self, outcome: Outcome) -> usize {
        self.with(outcome).count()
    }

    fn with(&self, outcome: Outcome) -> impl Iterator<Item = &TestResult> {
        self.tests.iter().filter(move |test| test.outcome == outcome)
    }

    /// Failures that nothing explains.
    pub fn unexplained<'a>(&'a self, explained: &'a [Explained]) -> impl Iterator<Item = &'a TestResult> {
        let suite = self.suite.name;
        self.with(Outcome::Failed).filter(move |test| explained::find(explained, suite, test).is_none())
    }

    /// The share of tests that passed, of those that were run.
    fn share(&self) -> f64 {
        let run = self.tests.len() - self.count(Outcome::Ignored);
        100.0 * self.count(Outcome::Passed) as f64 / run.max(1) as f64
    }
}

/// The whole page.
pub fn page(results: &[SuiteResult], explained: &[Explained]) -> String {
    let mut page = INTRODUCTION.trim_end().to_owned();
    page += "\n\n";
    page += &table(results);
    for result in results {
        page += &details(result, explained);
    }
    page
}

/// One line for each suite.
pub fn table(results: &[SuiteResult]) -> String {
    let mut table = String::from(
        "| suite | version | tests | passed | incomplete | unsupported | failed | ignored | passed of those run | time |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for result in results {
        let [passed, incomplete, unsupported, failed, ignored] =
            [Outcome::Passed, Outcome::Incomplete, Outcome::Unsupported, Outcome::Failed, Outcome::Ignored]
                .map(|outcome| result.count(outcome));
        writeln!(
            table,
            "| {} | {} | {} | {passed} | {incomplete} | {unsupported} | {failed} | {ignored} | {:.1}% | {} s |",
            result.suite.name,
            result.version,
            result.tests.len(),
            result.share(),
            result.time.as_secs()
        )
        .expect("text can be written to");
    }
    table
}

/// What did not pass, and why.
fn details(result: &SuiteResult, explained: &[Explained]) -> String {
    let bad = [Outcome::Failed, Outcome::Unsupported, Outcome::Incomplete];
    if bad.iter().all(|outcome| result.count(*outcome) == 0) {
        return String::new();
    }
    let mut text = format!("\n## {}\n\n", result.suite.name);
    for test in result.with(Outcome::Failed) {
        let why = explained::find(explained, result.suite.name, test);
        let why = why.map_or("**Not explained.**", |explained| &explained.why);
        writeln!(text, "- failed: `{}`, {}. {why}", test.name, one_line(&test.message))
            .expect("text can be written to");
    }
    for outcome in [Outcome::Unsupported, Outcome::Incomplete] {
        for (reason, names) in by_reason(result.with(outcome)) {
            writeln!(text, "- {}, {}: {reason}: {}", outcome.name(), names.len(), names.join(", "))
                .expect("text can be written to");
        }
    }
    text
}

fn by_reason<'a>(tests: impl Iterator<Item = &'a TestResult>) -> BTreeMap<String, Vec<String>> {
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for test in tests {
        reasons.entry(one_line(&test.message)).or_default().push(format!("`{}`", test.name));
    }
    reasons
}

/// The first line of a message, not too long.
fn one_line(message: &str) -> String {
    const LENGTH: usize = 100;
    let line = message.lines().next().unwrap_or_default();
    match line.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites::SUITES;

    fn result(name: &str, outcome: Outcome, message: &str) -> TestResult {
        TestResult {
            target: "--lib".into(),
            name: name.into(),
            outcome,
            kind: None,
            message: message.into(),
            executions: 1,
            allowed: 0,
            seconds: 0.0,
        }
    }

    #[test]
    fn a_suite_is_a_line_and_what_did_not_pass_has_its_reason() {
        let tests = vec![
            result("a", Outcome::Passed, ""),
            result("b", Outcome::Unsupported, "unsupported operation: foreign function `mmap`"),
            result("c", Outcome::Failed, "panic: no\nmore"),
            result("d", Outcome::Ignored, ""),
        ];
        let result = SuiteResult { suite: SUITES[0], version: "1".into(), tests, time: Duration::from_secs(3) };
        assert_eq!(result.unexplained(&[]).map(|test| test.name.as_str()).collect::<Vec<_>>(), ["c"]);
        let page = page(&[result], &[]);
        assert!(page.contains("| coretests | 1 | 4 | 1 | 0 | 1 | 1 | 1 | 33.3% | 3 s |"), "{page}");
        assert!(page.contains("- failed: `c`, panic: no. **Not explained.**\n"), "{page}");
        assert!(page.contains("- unsupported, 1: unsupported operation: foreign function `mmap`: `b`\n"), "{page}");
    }
}
