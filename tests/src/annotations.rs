//! What the comments in programs say must be found: `// ERROR: kind` and `// OUTCOME: name`.
//!
//! A comment belongs to the test above it. After code it means its own line, alone it means the next one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What a test must come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    Passed,
    /// An error of this kind in this line.
    Error {
        kind: String,
        line: u32,
    },
    /// Another outcome.
    Outcome(String),
}

/// The expectations of all tests in the modules of a library, by the test's name, with the file.
pub fn read(directory: &Path) -> BTreeMap<String, (String, Expected)> {
    let mut tests = BTreeMap::new();
    for entry in fs::read_dir(directory.join("src")).expect("a directory of sources") {
        let path = entry.expect("an entry").path();
        let module = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        let source = fs::read_to_string(&path).expect("a source file");
        for (test, expected) in parse(&source) {
            tests.insert(format!("{module}::{test}"), (format!("src/{module}.rs"), expected));
        }
    }
    tests
}

fn parse(source: &str) -> Vec<(String, Expected)> {
    let mut tests: Vec<(String, Expected)> = Vec::new();
    let mut named = true;
    for (line, number) in source.lines().zip(1..) {
        if line.starts_with("#[dpor::test") {
            tests.push((String::new(), Expected::Passed));
            named = false;
            continue;
        }
        let Some((name, expected)) = tests.last_mut() else { continue };
        if let Some((code, kind)) = line.split_once("// ERROR: ") {
            assert_eq!(*expected, Expected::Passed, "a test has one error: line {number}");
            let line = if code.trim().is_empty() { number + 1 } else { number };
            *expected = Expected::Error { kind: kind.to_owned(), line };
        } else if let Some((_, outcome)) = line.split_once("// OUTCOME: ") {
            *expected = Expected::Outcome(outcome.to_owned());
        }
        if let Some(signature) = line.strip_prefix("fn ")
            && !named
        {
            *name = signature.split('(').next().unwrap_or_default().to_owned();
            named = true;
        }
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_belong_to_the_test_above() {
        let source = "#[dpor::test]\nfn first() {\n    helper();\n}\n\nfn helper() {\n    bad(); // ERROR: abort\n}\n\n\
                      #[dpor::test(expect = \"panic\")]\n#[allow(x)]\nfn second() {}\n\n\
                      #[dpor::test]\nfn third() {\n    // ERROR: panic\n    if bad() {}\n}\n";
        let error = |kind: &str, line| Expected::Error { kind: kind.into(), line };
        let expected = [("first", error("abort", 7)), ("second", Expected::Passed), ("third", error("panic", 17))];
        assert_eq!(parse(source), expected.map(|(name, expected)| (name.to_owned(), expected)));
    }
}
