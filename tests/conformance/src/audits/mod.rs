//! The audits: small tests of published crates (`tests/audits`), what is expected of each, and what comes of it when a crate is
//! changed.
//!
//! A verdict that differs from the expected one is an error, whichever of the two is better: the page must be true.

mod changes;
mod expected;
mod page;
mod source;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::checker::{Checker, Job, TestResult};
use crate::packages::Packages;

pub use changes::{Changed, Round};
pub use expected::{Expected, Verdict};
pub use source::Audited;

/// The package with the tests.
const PACKAGE: &str = "dpor-audits";
/// How many seconds a test has.
const SECONDS: u32 = 30;

/// The audits of this repository.
pub struct Audits {
    /// The package with the tests.
    directory: PathBuf,
    /// Where copies are made.
    copies: PathBuf,
    audited: Vec<Audited>,
    expected: Expected,
}

/// What came of a test.
pub struct Row<'a> {
    pub audited: &'a Audited,
    pub result: TestResult,
}

/// A verdict that is not the expected one.
#[derive(Debug, PartialEq, Eq)]
pub struct Surprise {
    pub test: String,
    /// `None` if nothing is known of the test.
    pub expected: Option<Verdict>,
    /// `None` if there is no such test.
    pub found: Option<Verdict>,
}

impl Audits {
    /// Reads the tests, of the crates with these names or of all.
    pub fn read(repository: &Path, names: &[String]) -> Result<Audits> {
        let directory = repository.join("tests/audits");
        let packages = Packages::of(&directory.join("Cargo.toml"))?;
        let mut audited = source::read(&directory, &packages)?;
        if let Some(name) = names.iter().find(|name| audited.iter().all(|test| test.package.name != **name)) {
            bail!("there is no audit of `{name}`");
        }
        if !names.is_empty() {
            audited.retain(|test| names.contains(&test.package.name));
        }
        let expected = Expected::read(&directory.join("expected.toml"))?;
        Ok(Audits { directory, copies: repository.join("target/audits"), audited, expected })
    }

    /// Runs the tests.
    pub fn run(&self, checker: &Checker) -> Result<Vec<Row<'_>>> {
        let modules: BTreeMap<&str, ()> = self.audited.iter().map(|test| (test.module.as_str(), ())).collect();
        let filters = modules.keys().map(|module| format!("{module}::")).collect();
        let results = checker.run(&job(filters))?;
        let find = |result: TestResult| {
            let audited = self.audited.iter().find(|test| test.name() == result.name);
            Some(Row { audited: audited?, result })
        };
        Ok(results.into_iter().filter_map(find).collect())
    }

    /// Runs the tests of crates that are changed, all changes of a round at once.
    pub fn run_round(&self, checker: &Checker, round: Round) -> Result<Vec<Changed>> {
        changes::run(self, checker, round)
    }

    /// What was not expected of these results.
    pub fn surprises(&self, rows: &[Row]) -> Vec<Surprise> {
        let found = rows.iter().map(|row| (row.audited.name(), Verdict::of(&row.result))).collect();
        self.expected.compare(&found, |test| self.audited.iter().any(|audited| audited.module == test))
    }

    /// Writes down these results as what is expected from now on.
    pub fn accept(&self, rows: &[Row]) -> Result<()> {
        let path = self.directory.join("expected.toml");
        let found = rows.iter().map(|row| (row.audited.name(), Verdict::of(&row.result)));
        fs::write(&path, Expected::text(found)).with_context(|| format!("cannot write {}", path.display()))
    }

    /// The page with all that was found.
    pub fn page(&self, rows: &[Row], fixes: &[Changed], seeds: &[Changed]) -> Result<String> {
        let path = self.directory.join("findings.md");
        let findings = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(page::page(rows, &findings, fixes, seeds))
    }

    /// The checker for the tests themselves.
    pub fn checker(&self, program: PathBuf, jobs: usize) -> Checker {
        Checker { program, target: self.copies.join("target"), directory: self.directory.clone(), jobs }
    }
}

/// One line for each test.
pub fn table(rows: &[Row]) -> String {
    page::table(rows)
}

fn job(filters: Vec<String>) -> Job<'static> {
    Job { package: Some(PACKAGE), seconds: SECONDS, filters, ..Job::default() }
}
