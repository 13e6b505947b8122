//! Tests that fail under the checker although they pass natively, and why that is right.

use anyhow::{Context, Result};
use dpor_engine::verdict::Outcome;
use serde::Deserialize;

use crate::checker::TestResult;

const TEXT: &str = include_str!("../explained.toml");

/// A known failure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explained {
    pub suite: String,
    pub test: String,
    /// What its message contains.
    pub message: String,
    /// Why the checker is right.
    pub why: String,
}

#[derive(Deserialize)]
struct File {
    explained: Vec<Explained>,
}

/// All known failures.
pub fn all() -> Result<Vec<Explained>> {
    let file: File = toml::from_str(TEXT).context("cannot read explained.toml")?;
    Ok(file.explained)
}

/// What explains a failure, if something does.
pub fn find<'a>(all: &'a [Explained], suite: &str, result: &TestResult) -> Option<&'a Explained> {
    let explains = |explained: &&Explained| {
        explained.suite == suite && explained.test == result.name && result.message.contains(&explained.message)
    };
    all.iter().find(explains).filter(|_| result.outcome == Outcome::Failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loom::LOOM_SUITES;
    use crate::suites::SUITES;

    #[test]
    fn explanations_are_of_tests_in_suites() {
        for explained in all().unwrap() {
            let is_known = SUITES.iter().any(|suite| suite.name == explained.suite)
                || LOOM_SUITES.iter().any(|suite| suite.explained_as() == explained.suite);
            assert!(is_known, "{explained:?}");
            assert!(!explained.why.is_empty() && !explained.message.is_empty(), "{explained:?}");
        }
    }

    #[test]
    fn another_failure_of_the_same_test_is_not_explained() {
        let explained = Explained {
            suite: "spin".into(),
            test: "a".into(),
            message: "timed out".into(),
            why: "time is not modelled".into(),
        };
        let result = |message: &str, outcome| TestResult {
            target: "--lib".into(),
            name: "a".into(),
            outcome,
            kind: None,
            message: message.into(),
            executions: 1,
            allowed: 0,
            seconds: 0.0,
        };
        let all = [explained];
        assert!(find(&all, "spin", &result("panic: it timed out", Outcome::Failed)).is_some());
        assert!(find(&all, "spin", &result("data-race: a read", Outcome::Failed)).is_none());
        assert!(find(&all, "other", &result("panic: it timed out", Outcome::Failed)).is_none());
        assert!(find(&all, "spin", &result("timed out", Outcome::Incomplete)).is_none());
    }
}
