//! The tests for loom of published crates, run with the crate in `dpor/loom` in place of loom.
//!
//! Each crate is copied into a workspace of its own below the target directory, because each needs flags of its own. Nothing but its manifest is
//! changed: it says where loom is, and crates that ask for an older loom ask for 0.7.

mod page;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use dpor_engine::verdict::Outcome;
use serde::{Deserialize, Serialize};

use crate::checker::{Checker, Job, TestResult};
use crate::explained::{self, Explained};
use crate::packages::{Package, Packages, copy_directory};

/// How many seconds a test has.
const SECONDS: u32 = 10;

/// The tests for loom of a crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoomSuite {
    /// The name of its package.
    pub name: &'static str,
    /// What its tests are compiled with.
    pub flags: &'static str,
    /// Arguments that choose targets.
    targets: &'static [&'static str],
    /// Arguments that choose features.
    options: &'static [&'static str],
    /// Parts of the names of its tests for loom; all tests where there are none.
    filters: &'static [&'static str],
}

const LOOM: &str = "--cfg loom";

/// All of them, in the order in which they are run.
pub const LOOM_SUITES: [LoomSuite; 16] = [
    LoomSuite { targets: &["--lib"], filters: &["loom"], ..suite("arcstr", LOOM) },
    LoomSuite { targets: TESTS, options: LOOM_FEATURE, ..suite("async-lock", LOOM) },
    LoomSuite {
        targets: &["--test", "loom", "--test", "loom_buckets"],
        options: LOOM_FEATURE,
        ..suite("boxcar", LOOM)
    },
    LoomSuite { targets: &["--lib"], filters: &["fuzz"], ..suite("bytes", LOOM) },
    LoomSuite { targets: TESTS, options: LOOM_FEATURE, ..suite("concurrent-queue", LOOM) },
    LoomSuite { targets: TESTS, options: LOOM_FEATURE, ..suite("crossbeam-epoch", "--cfg crossbeam_loom") },
    LoomSuite { targets: &["--lib"], ..suite("diatomic-waker", "--cfg diatomic_waker_loom") },
    LoomSuite { targets: TESTS, options: LOOM_FEATURE, ..suite("event-listener", LOOM) },
    LoomSuite { targets: TESTS, ..suite("haphazard", LOOM) },
    LoomSuite { targets: TESTS, ..suite("left-right", LOOM) },
    LoomSuite { targets: &["--lib"], filters: &["loom"], ..suite("maitake-sync", LOOM) },
    LoomSuite {
        targets: TESTS,
        options: &["--all-tests", "--features", "async,std,loom"],
        ..suite("oneshot", "--cfg oneshot_loom")
    },
    LoomSuite { targets: TESTS, options: LOOM_FEATURE, ..suite("parking", LOOM) },
    LoomSuite { targets: &["--lib"], filters: &["loom_"], ..suite("sharded-slab", LOOM) },
    LoomSuite { targets: &["--lib"], ..suite("thingbuf", LOOM) },
    LoomSuite {
        targets: &["--lib"],
        options: &["--all-tests", "--features", "full,test-util"],
        filters: &["sync::tests::loom", "runtime::tests::loom"],
        ..suite("tokio", "--cfg loom --cfg tokio_unstable")
    },
];

const TESTS: &[&str] = &["--test", "loom"];
const LOOM_FEATURE: &[&str] = &["--all-tests", "--features", "loom"];

const fn suite(name: &'static str, flags: &'static str) -> LoomSuite {
    LoomSuite { name, flags, targets: &[], options: &["--all-tests"], filters: &[] }
}

/// What came of the tests of a crate.
pub struct LoomResult {
    pub suite: LoomSuite,
    pub version: String,
    pub tests: Vec<TestResult>,
    pub time: Duration,
}

impl LoomResult {
    /// Failures that nothing explains.
    pub fn unexplained<'a>(&'a self, explained: &'a [Explained]) -> impl Iterator<Item = &'a TestResult> {
        let failed = self.tests.iter().filter(|test| test.outcome == Outcome::Failed);
        failed.filter(|test| explained::find(explained, &self.suite.explained_as(), test).is_none())
    }
}

/// The suites with these names, or all.
pub fn chosen(names: &[String]) -> Result<Vec<LoomSuite>> {
    if names.is_empty() {
        return Ok(LOOM_SUITES.to_vec());
    }
    let find = |name: &String| match LOOM_SUITES.iter().find(|suite| suite.name == name) {
        Some(suite) => Ok(*suite),
        None => {
            let known: Vec<&str> = LOOM_SUITES.iter().map(|suite| suite.name).collect();
            bail!("there are no tests for loom of `{name}`; there are those of {}", known.join(", "))
        }
    };
    names.iter().map(find).collect()
}

/// The whole page.
pub fn page(results: &[LoomResult], explained: &[Explained]) -> String {
    page::page(results, explained)
}

/// One line for each suite.
pub fn table(results: &[LoomResult]) -> String {
    page::table(results)
}

/// Results as they are kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    version: String,
    tests: Vec<TestResult>,
    time: Duration,
}

/// Where the crates are copied to, and from.
pub struct LoomSuites<'a> {
    repository: &'a Path,
    packages: Packages,
    update: bool,
}

impl<'a> LoomSuites<'a> {
    /// `update` where the dependencies may be newer ones than those that are locked.
    pub fn new(repository: &'a Path, update: bool) -> Result<LoomSuites<'a>> {
        let packages = Packages::of(&repository.join("tests/conformance/registry/Cargo.toml"))?;
        Ok(LoomSuites { repository, packages, update })
    }

    /// What came of a crate's tests when they were last run here, if it was this version.
    pub fn kept(&self, suite: LoomSuite) -> Result<Option<LoomResult>> {
        let version = self.packages.find(suite.name)?.version;
        let Ok(text) = fs::read(self.results(suite.name)) else { return Ok(None) };
        let kept: Kept = serde_json::from_slice(&text).context("cannot read results that were kept")?;
        let Kept { tests, time, .. } = kept;
        Ok((kept.version == version).then_some(LoomResult { suite, version, tests, time }))
    }

    /// Copies a crate, and runs its tests.
    pub fn run(&self, suite: LoomSuite, program: &Path, jobs: usize) -> Result<LoomResult> {
        let package = self.packages.find(suite.name)?;
        let directory = self.copy(&package)?;
        let start = Instant::now();
        let target = directory.join("target");
        let checker = Checker { program: program.to_owned(), target, directory: directory.clone(), jobs };
        let tests = checker.run(&suite.job()).with_context(|| format!("{} could not be run", suite.name))?;
        let lock = fs::read_to_string(directory.join("Cargo.lock"))?;
        ensure!(!lock.contains("name = \"generator\""), "{} was run with loom itself", suite.name);
        if self.update {
            fs::create_dir_all(self.lock(suite.name).parent().context("locks are in a directory")?)?;
            fs::copy(directory.join("Cargo.lock"), self.lock(suite.name))?;
        }
        let kept = Kept { version: package.version, tests, time: start.elapsed() };
        fs::write(self.results(suite.name), serde_json::to_vec(&kept)?)?;
        let Kept { version, tests, time } = kept;
        Ok(LoomResult { suite, version, tests, time })
    }

    fn copy(&self, package: &Package) -> Result<PathBuf> {
        let directory = self.repository.join("target/loom").join(&package.name);
        copy_directory(&package.directory, &directory)
            .with_context(|| format!("cannot copy {}", package.directory.display()))?;
        let text = fs::read_to_string(package.directory.join("Cargo.toml"))?;
        let manifest = manifest(&text, &self.repository.join("dpor/loom"))?;
        fs::write(directory.join("Cargo.toml"), manifest)?;
        let (lock, own) = (self.lock(&package.name), directory.join("Cargo.lock"));
        if !self.update {
            fs::copy(&lock, &own).with_context(|| format!("cannot copy {}", lock.display()))?;
        } else if own.exists() {
            // It may have come with the crate, and name a loom.
            fs::remove_file(&own).with_context(|| format!("cannot remove {}", own.display()))?;
        }
        Ok(directory)
    }

    /// Where results are kept.
    fn results(&self, name: &str) -> PathBuf {
        self.repository.join("target/loom").join(name).with_extension("json")
    }

    /// What a crate depends on, in the versions that were last tried.
    fn lock(&self, name: &str) -> PathBuf {
        self.repository.join("tests/conformance/loom").join(name).with_extension("lock")
    }
}

impl LoomSuite {
    /// Its name in `explained.toml`.
    pub fn explained_as(&self) -> String {
        format!("loom/{}", self.name)
    }

    fn job(&self) -> Job<'_> {
        Job {
            package: None,
            targets: self.targets,
            options: self.options,
            filters: self.filters.iter().map(|filter| filter.to_string()).collect(),
            seconds: SECONDS,
            flags: self.flags,
        }
    }
}

/// The manifest of a crate, with the other loom.
fn manifest(text: &str, loom: &Path) -> Result<String> {
    let mut lines = Vec::new();
    let (mut is_loom, mut found) = (false, false);
    for line in text.lines() {
        if line.starts_with('[') {
            is_loom = line.ends_with("dependencies.loom]") || line.ends_with("dependencies.loom-crate]");
            found |= is_loom;
        }
        let is_version = is_loom && line.starts_with("version = ");
        lines.push(if is_version { "version = \"0.7\"" } else { line });
    }
    ensure!(found, "the crate does not depend on loom");
    Ok(format!("{}\n\n[patch.crates-io]\nloom = {{ path = {loom:?} }}\n\n[workspace]\n", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_asks_for_the_other_loom() {
        let text = "[package]\nversion = \"1.0.0\"\n\n[target.\"cfg(loom)\".dependencies.loom]\nversion = \"0.5.6\"\noptional = true\n";
        let changed = manifest(text, Path::new("there")).unwrap();
        assert!(changed.starts_with("[package]\nversion = \"1.0.0\"\n"), "{changed}");
        assert!(changed.contains("dependencies.loom]\nversion = \"0.7\"\noptional = true\n"), "{changed}");
        assert!(changed.ends_with("[patch.crates-io]\nloom = { path = \"there\" }\n\n[workspace]\n"), "{changed}");
        assert!(manifest("[package]\n", Path::new("there")).is_err());
    }
}
