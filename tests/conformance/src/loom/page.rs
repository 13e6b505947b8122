//! The page with the results: docs/loom-suites.md.

use std::fmt::Write;

use dpor_engine::verdict::Outcome;

use super::LoomResult;
use crate::checker::TestResult;
use crate::explained::{self, Explained};

const INTRODUCTION: &str = include_str!("introduction.md");

/// The whole page.
pub fn page(results: &[LoomResult], explained: &[Explained]) -> String {
    let mut page = INTRODUCTION.trim_end().to_owned();
    page += "\n\n";
    page += &table(results);
    for result in results {
        page += &details(result, explained);
    }
    page
}

/// One line for each suite.
pub fn table(results: &[LoomResult]) -> String {
    let mut table = String::from(
        "| crate | version | tests | passed | incomplete | unsupported | failed | time |\n\
         |---|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for result in results {
        let count = |outcome| result.tests.iter().filter(|test| test.outcome == outcome).count();
        let [passed, incomplete, unsupported, failed] =
            [Outcome::Passed, Outcome::Incomplete, Outcome::Unsupported, Outcome::Failed].map(count);
        writeln!(
            table,
            "| {} | {} | {} | {passed} | {incomplete} | {unsupported} | {failed} | {} s |",
            result.suite.name,
            result.version,
            result.tests.len(),
            result.time.as_secs()
        )
        .expect("text can be written to");
    }
    table
}

/// Every test of a suite, and what explains its failures.
fn details(result: &LoomResult, explained: &[Explained]) -> String {
    let mut text = format!("\n## {}\n\n`RUSTFLAGS=\"{}\"`\n\n", result.suite.name, result.suite.flags);
    text += "| test | verdict | executions | seconds |\n|---|---|---:|---:|\n";
    for test in &result.tests {
        let (name, verdict) = (&test.name, verdict(test));
        writeln!(text, "| `{name}` | {verdict} | {} | {:.2} |", test.executions, test.seconds)
            .expect("text can be written to");
    }
    let failed: Vec<&TestResult> = result.tests.iter().filter(|test| test.outcome == Outcome::Failed).collect();
    if !failed.is_empty() {
        text += "\n";
    }
    for test in failed {
        let why = explained::find(explained, &result.suite.explained_as(), test);
        let why = why.map_or("**Not explained.**", |explained| &explained.why);
        writeln!(text, "- `{}`: {why}", test.name).expect("text can be written to");
    }
    text
}

/// The outcome, and its reason in a few words.
fn verdict(test: &TestResult) -> String {
    let line = test.message.lines().next().unwrap_or_default();
    let line = line.split(';').next().unwrap_or(line);
    match test.outcome {
        Outcome::Passed | Outcome::Ignored => test.outcome.name().to_owned(),
        outcome => format!("{}: {line}", outcome.name()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::loom::LOOM_SUITES;

    #[test]
    fn every_test_is_a_line_and_failures_are_explained() {
        let test = |name: &str, outcome, message: &str| TestResult {
            target: "--lib".into(),
            name: name.into(),
            outcome,
            kind: None,
            message: message.into(),
            executions: 4,
            allowed: 0,
            seconds: 0.5,
        };
        let tests =
            vec![test("a", Outcome::Passed, ""), test("b", Outcome::Failed, "memory-leak: a heap block\nof 4 bytes")];
        let result = LoomResult { suite: LOOM_SUITES[0], version: "1".into(), tests, time: Duration::from_secs(2) };
        let page = page(&[result], &[]);
        assert!(page.contains("| arcstr | 1 | 2 | 1 | 0 | 0 | 1 | 2 s |\n"), "{page}");
        assert!(page.contains("| `a` | passed | 4 | 0.50 |\n"), "{page}");
        assert!(page.contains("| `b` | failed: memory-leak: a heap block | 4 | 0.50 |\n"), "{page}");
        assert!(page.contains("- `b`: **Not explained.**\n"), "{page}");
    }
}
