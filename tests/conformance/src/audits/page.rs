//! The page with the results: docs/audits.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use dpor_engine::verdict::Outcome;

use super::{Changed, Row, Verdict};

const INTRODUCTION: &str = include_str!("introduction.md");

/// The whole page.
pub fn page(rows: &[Row], findings: &str, fixes: &[Changed], seeds: &[Changed]) -> String {
    let mut page = INTRODUCTION.trim_end().replace("{summary}", &summary(rows));
    for part in [findings.trim().to_owned(), changes_of(FIXES, fixes), changes_of(SEEDS, seeds)] {
        page += "\n\n";
        page += part.trim_end();
    }
    page += "\n\n## Tests\n\n";
    page += &table(rows);
    page
}

/// How many tests of how many crates, and what came of them.
fn summary(rows: &[Row]) -> String {
    let crates: BTreeSet<&str> = rows.iter().map(|row| row.audited.package.name.as_str()).collect();
    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        *outcomes.entry(row.result.outcome.name()).or_default() += 1;
    }
    let order = [Outcome::Passed, Outcome::Failed, Outcome::Incomplete, Outcome::Unsupported];
    let counts =
        order.iter().filter_map(|outcome| Some(format!("{} {}", outcomes.get(outcome.name())?, outcome.name())));
    format!("{} tests of {} crates: {}.", rows.len(), crates.len(), counts.collect::<Vec<_>>().join(", "))
}

/// One line for each test.
pub fn table(rows: &[Row]) -> String {
    let mut table = String::from(
        "| crate | version | test | what it does | verdict | executions | seconds |\n|---|---|---|---|---|---:|---:|\n",
    );
    for Row { audited, result } in rows {
        let verdict = match result.allowed {
            0 => Verdict::of(result).to_string(),
            1 => format!("{}, 1 error allowed", Verdict::of(result)),
            allowed => format!("{}, {allowed} errors allowed", Verdict::of(result)),
        };
        let verdict = match result.outcome {
            Outcome::Incomplete | Outcome::Unsupported => format!("{verdict}: {}", reason(&result.message)),
            _ => verdict,
        };
        writeln!(
            table,
            "| {} | {} | `{}` | {} | {verdict} | {} | {:.2} |",
            audited.package.name,
            audited.package.version,
            audited.function,
            audited.what,
            result.executions,
            result.seconds
        )
        .expect("text can be written to");
    }
    table
}

/// Why a test was not decided, in a few words: the first sentence, without where it is.
fn reason(message: &str) -> &str {
    let line = message.lines().next().unwrap_or_default();
    let sentence = line.split(';').next().unwrap_or(line);
    sentence.strip_prefix("unsupported operation: ").unwrap_or(sentence)
}

const FIXES: &str = "## Fixes\n\nWhat comes of the tests with the changes that mend the crates. The runner makes them in copies \
                     (`tests/audits/fixes.toml`).";
const SEEDS: &str = "## Seeded bugs\n\nA test that passes must be able to fail. These changes put bugs into copies of crates\n\
                     (`tests/audits/seeds.toml`), and the tests find them.";

fn changes_of(introduction: &str, changes: &[Changed]) -> String {
    let mut text = format!("{introduction}\n\n| crate | change | test | verdict |\n|---|---|---|---|\n");
    for Changed { change, version, tests } in changes {
        let tests: Vec<(String, String)> =
            tests.iter().map(|(test, _, found)| (format!("`{test}`"), shown(found.as_ref()))).collect();
        let (names, verdicts): (Vec<String>, Vec<String>) = tests.into_iter().unzip();
        let (names, verdicts) = (names.join("<br>"), verdicts.join("<br>"));
        writeln!(text, "| {} {version} | {} | {names} | {verdicts} |", change.package, change.what)
            .expect("text can be written to");
    }
    text
}

/// A verdict, or that there is none.
fn shown(verdict: Option<&Verdict>) -> String {
    verdict.map_or_else(|| "not run".to_owned(), Verdict::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audits::Audited;
    use crate::checker::TestResult;
    use crate::packages::Package;

    #[test]
    fn a_test_is_a_line_with_its_verdict() {
        let package = Package { name: "queue".into(), version: "1.2.3".into(), directory: "queue".into() };
        let audited = Audited { package, module: "queue".into(), function: "pop".into(), what: "Pops.".into() };
        let result = TestResult {
            target: "--lib".into(),
            name: "queue::pop".into(),
            outcome: Outcome::Failed,
            kind: Some("data-race".into()),
            message: "data-race: this read".into(),
            executions: 3,
            allowed: 0,
            seconds: 0.126,
        };
        let rows = [Row { audited: &audited, result }];
        assert!(table(&rows).ends_with("| queue | 1.2.3 | `pop` | Pops. | failed: data-race | 3 | 0.13 |\n"));
        assert_eq!(summary(&rows), "1 tests of 1 crates: 1 failed.");
    }
}
