//! Crates that are changed, to see what comes of it: the fixes of bugs (`fixes.toml`), with which tests must pass, and bugs that
//! are put into crates (`seeds.toml`), which tests must find. The copies are in the target directory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::{Audits, Surprise, Verdict, job};
use crate::checker::Checker;
use crate::packages::{Package, copy_directory, write_changed};

/// Changes that are made at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    Fixes,
    Seeds,
}

impl Round {
    fn name(self) -> &'static str {
        match self {
            Round::Fixes => "fixes",
            Round::Seeds => "seeds",
        }
    }
}

/// A change of a crate's source.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    #[serde(rename = "crate")]
    pub package: String,
    /// What it changes, in words.
    pub what: String,
    /// What is expected of tests then.
    verdicts: BTreeMap<String, Verdict>,
    edit: Vec<Edit>,
}

/// A piece of text that is replaced wherever it is in a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    file: String,
    replace: String,
    with: String,
}

#[derive(Deserialize)]
struct File {
    change: Vec<Change>,
}

/// A change, and what came of its tests.
pub struct Changed {
    pub change: Change,
    pub version: String,
    /// Each test with what was expected, and what was found.
    pub tests: Vec<(String, Verdict, Option<Verdict>)>,
}

impl Changed {
    /// Tests whose verdict is not the expected one.
    pub fn surprises(&self) -> impl Iterator<Item = Surprise> + '_ {
        let differs = self.tests.iter().filter(|(_, expected, found)| found.as_ref() != Some(expected));
        differs.map(|(test, expected, found)| Surprise {
            test: format!("{test} with a change of {}", self.change.package),
            expected: Some(expected.clone()),
            found: found.clone(),
        })
    }
}

/// Makes all changes of a round in copies of the crates, and runs their tests.
pub fn run(audits: &Audits, checker: &Checker, round: Round) -> Result<Vec<Changed>> {
    let changes = read(audits, round)?;
    let tests: BTreeSet<&String> = changes.iter().flat_map(|change| change.verdicts.keys()).collect();
    if tests.is_empty() {
        return Ok(Vec::new());
    }
    let directory = audits.copies.join(round.name());
    let packages = copy(audits, &changes, &directory)?;
    let checker =
        Checker { program: checker.program.clone(), target: directory.join("target"), directory, jobs: checker.jobs };
    let results = checker.run(&job(tests.into_iter().cloned().collect()))?;
    let found: BTreeMap<&str, Verdict> =
        results.iter().map(|result| (result.name.as_str(), Verdict::of(result))).collect();
    let changed = |change: Change| {
        let version = packages[&change.package].version.clone();
        let verdict =
            |(test, expected): (&String, &Verdict)| (test.clone(), expected.clone(), found.get(test.as_str()).cloned());
        let tests = change.verdicts.iter().map(verdict).collect();
        Changed { change, version, tests }
    };
    Ok(changes.into_iter().map(changed).collect())
}

/// The changes of crates whose tests are run.
fn read(audits: &Audits, round: Round) -> Result<Vec<Change>> {
    let path = audits.directory.join(round.name()).with_extension("toml");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let file: File = toml::from_str(&text).with_context(|| format!("cannot read {}", path.display()))?;
    let is_audited = |change: &Change| audits.audited.iter().any(|test| test.package.name == change.package);
    Ok(file.change.into_iter().filter(is_audited).collect())
}

/// Copies the tests, and the crates that are changed.
fn copy<'a>(audits: &'a Audits, changes: &[Change], to: &Path) -> Result<BTreeMap<String, &'a Package>> {
    let mut packages = BTreeMap::new();
    for change in changes {
        let package = audits.audited.iter().map(|test| &test.package).find(|package| package.name == change.package);
        packages.insert(change.package.clone(), package.with_context(|| format!("no audit of {}", change.package))?);
    }
    for (name, package) in &packages {
        let changes = changes.iter().filter(|change| change.package == *name);
        copy_changed(package, changes.flat_map(|change| &change.edit), &to.join(name))?;
    }
    copy_directory(&audits.directory.join("src"), &to.join("src"))?;
    let manifest = manifest(&fs::read_to_string(audits.directory.join("Cargo.toml"))?, audits, packages.keys())?;
    write_changed(&to.join("Cargo.toml"), manifest.as_bytes())?;
    fs::copy(audits.directory.join("Cargo.lock"), to.join("Cargo.lock"))?;
    Ok(packages)
}

/// Copies a crate, with changes in its files.
fn copy_changed<'a>(package: &Package, edits: impl Iterator<Item = &'a Edit>, to: &Path) -> Result<()> {
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    for edit in edits {
        let path = package.directory.join(&edit.file);
        let text = match files.get(edit.file.as_str()) {
            Some(text) => text.clone(),
            None => fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?,
        };
        ensure!(text.contains(&edit.replace), "{} does not contain\n{}", path.display(), edit.replace);
        files.insert(&edit.file, text.replace(&edit.replace, &edit.with));
    }
    let trouble = || format!("cannot copy {} to {}", package.directory.display(), to.display());
    copy_directory(&package.directory, to).with_context(trouble)?;
    files.iter().try_for_each(|(file, text)| fs::write(to.join(file), text)).with_context(trouble)
}

/// The manifest of the tests with the crates that are changed.
fn manifest<'a>(text: &str, audits: &Audits, packages: impl Iterator<Item = &'a String>) -> Result<String> {
    const DPOR: &str = "path = \"../../dpor\"";
    ensure!(text.contains(DPOR), "the tests do not depend on dpor by its path");
    let dpor = audits.directory.join("../../dpor");
    let mut text = text.replace(DPOR, &format!("path = {dpor:?}"));
    text += "\n[patch.crates-io]\n";
    for name in packages {
        text += &format!("{name} = {{ path = {name:?} }}\n");
    }
    Ok(text)
}
