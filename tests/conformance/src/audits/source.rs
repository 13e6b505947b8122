//! The tests as they are written: a module for each crate, and above each test what it does.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::packages::{Package, Packages};

/// A test of a crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audited {
    pub package: Package,
    /// The module is named after the crate.
    pub module: String,
    pub function: String,
    /// What it does, as its documentation says.
    pub what: String,
}

impl Audited {
    /// The name that the checker has for it.
    pub fn name(&self) -> String {
        format!("{}::{}", self.module, self.function)
    }
}

/// All tests, ordered by crate.
pub fn read(directory: &Path, packages: &Packages) -> Result<Vec<Audited>> {
    let mut tests = Vec::new();
    for module in modules(directory)? {
        let path = directory.join("src").join(&module).with_extension("rs");
        let source = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let package = packages.find(&module).or_else(|_| packages.find(&module.replace('_', "-")))?;
        let functions = functions(&source);
        ensure!(!functions.is_empty(), "{} has no tests", path.display());
        for (function, what) in functions {
            ensure!(!what.is_empty(), "{module}::{function} does not say what it does");
            tests.push(Audited { package: package.clone(), module: module.clone(), function, what });
        }
    }
    Ok(tests)
}

/// The modules of the package, in order.
fn modules(directory: &Path) -> Result<Vec<String>> {
    let path = directory.join("src/lib.rs");
    let source = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let module = |line: &str| Some(line.strip_prefix("mod ")?.strip_suffix(';')?.to_owned());
    Ok(source.lines().filter_map(module).collect())
}

/// The tests in a source file, with their documentation.
fn functions(source: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let (mut what, mut is_test) = (Vec::new(), false);
    for line in source.lines() {
        if let Some(text) = line.strip_prefix("/// ") {
            what.push(text);
        } else if line.starts_with("#[") {
            is_test |= line.starts_with("#[dpor::test");
        } else if let Some(name) = line.strip_prefix("fn ").and_then(|rest| rest.split('(').next()) {
            if is_test {
                found.push((name.to_owned(), what.join(" ")));
            }
            (what, is_test) = (Vec::new(), false);
        } else {
            (what, is_test) = (Vec::new(), false);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_has_its_documentation() {
        let source = "/// Adds:\n/// twice.\n#[dpor::test(model = \"tso\")]\n#[expect(deprecated)]\nfn adds() {\n    add();\n}\n\n\
                      /// Not a test.\nfn add() {}\n";
        assert_eq!(functions(source), [("adds".to_owned(), "Adds: twice.".to_owned())]);
    }
}
