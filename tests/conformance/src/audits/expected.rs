//! What is expected of each test: `expected.toml`, a table for each module with a verdict for each test.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use dpor_engine::verdict::Outcome;
use serde::Deserialize;

use super::Surprise;
use crate::checker::TestResult;

/// The outcome of a test; of one that failed, with the kind of error: `passed`, `failed: data-race`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub struct Verdict(String);

impl Verdict {
    pub fn of(result: &TestResult) -> Verdict {
        match (&result.kind, result.outcome) {
            (Some(kind), Outcome::Failed) => Verdict(format!("failed: {kind}")),
            (_, outcome) => Verdict(outcome.name().to_owned()),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The verdicts that are expected, by module and function.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct Expected(BTreeMap<String, BTreeMap<String, Verdict>>);

impl Expected {
    pub fn read(path: &Path) -> Result<Expected> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Where what was found differs; in the modules that were run.
    pub fn compare(&self, found: &BTreeMap<String, Verdict>, was_run: impl Fn(&str) -> bool) -> Vec<Surprise> {
        let expected = self.0.iter().filter(|(module, _)| was_run(module));
        let expected = expected.flat_map(|(module, tests)| {
            tests.iter().map(move |(function, verdict)| (format!("{module}::{function}"), verdict.clone()))
        });
        let expected: BTreeMap<String, Verdict> = expected.collect();
        let mut names: Vec<&String> = expected.keys().chain(found.keys()).collect();
        names.sort();
        names.dedup();
        let surprise = |name: &String| {
            let (expected, found) = (expected.get(name).cloned(), found.get(name).cloned());
            (expected != found).then(|| Surprise { test: name.clone(), expected, found })
        };
        names.into_iter().filter_map(surprise).collect()
    }

    /// A file with these verdicts.
    pub fn text(verdicts: impl Iterator<Item = (String, Verdict)>) -> String {
        let mut modules: BTreeMap<String, BTreeMap<String, Verdict>> = BTreeMap::new();
        for (name, verdict) in verdicts {
            let (module, function) = name.split_once("::").unwrap_or((&name, ""));
            modules.entry(module.to_owned()).or_default().insert(function.to_owned(), verdict);
        }
        let mut text = String::from("# What is expected of each test; `--accept` writes down what was found.\n");
        for (module, tests) in modules {
            text += &format!("\n[{module}]\n");
            for (function, verdict) in tests {
                text += &format!("{function} = \"{verdict}\"\n");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str) -> Verdict {
        Verdict(text.to_owned())
    }

    #[test]
    fn what_differs_is_found_and_what_is_written_is_read() {
        let found: BTreeMap<String, Verdict> =
            [("queue::pop".to_owned(), verdict("failed: panic")), ("queue::push".to_owned(), verdict("passed"))].into();
        let expected: Expected = toml::from_str(&Expected::text(found.clone().into_iter())).unwrap();
        assert_eq!(expected.compare(&found, |_| true), []);
        let better = [("queue::pop".to_owned(), verdict("passed"))].into();
        let surprises = expected.compare(&better, |module| module == "queue");
        let names: Vec<&str> = surprises.iter().map(|surprise| surprise.test.as_str()).collect();
        assert_eq!(names, ["queue::pop", "queue::push"]);
        assert_eq!(surprises[1].found, None);
        assert_eq!(expected.compare(&better, |_| false).len(), 1);
    }
}
