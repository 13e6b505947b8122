//! Compares how a program runs natively with how it runs under the checker.

use crate::Package;
use crate::checker::{self, Verdict};
use crate::native::{self, Binary};

/// How both are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    Debug,
    Release,
}

impl Profile {
    /// The options of cargo.
    pub fn arguments(self) -> &'static [&'static str] {
        match self {
            Profile::Debug => &[],
            Profile::Release => &["--release"],
        }
    }
}

/// Runs all tests of a package both ways, and panics with all differences where there are any.
pub fn assert_same(package: &Package) {
    let differences = differences(package, Profile::Debug);
    assert!(differences.is_empty(), "native and checked runs differ:\n{}", differences.join("\n"));
}

/// Runs all tests of a package both ways, and says what differs.
pub fn differences(package: &Package, profile: Profile) -> Vec<String> {
    let binary = Binary::build(package, profile);
    // Some programs have very many executions: what is printed is the same in each.
    let arguments = [&["--lib", "--all-tests", "--timeout", "5"], profile.arguments()].concat();
    let verdicts = checker::check(package, &arguments);
    let tests = binary.tests();
    let mut differences = Vec::new();
    for test in &tests {
        let difference = match verdicts.get(test) {
            Some(verdict) => difference(&binary.run(test), verdict),
            None => Some("the checker did not run it\n".to_owned()),
        };
        differences.extend(difference.map(|difference| format!("--- {test}\n{difference}")));
    }
    let strange = verdicts.keys().filter(|name| !tests.contains(name));
    differences.extend(strange.map(|test| format!("--- {test}\nthere is no such test natively\n")));
    differences
}

/// How the two runs of a test differ.
fn difference(native: &native::Run, checked: &Verdict) -> Option<String> {
    let mut text = String::new();
    let outcome = if native.passed { "passed" } else { "failed" };
    let passed_so_far = native.passed && checked.outcome == "incomplete";
    if checked.outcome != outcome && !passed_so_far {
        let error = checked.error.as_ref();
        let why = error.map(|e| format!(": {}: {} at {:?}:{:?}", e.kind, e.message, e.file, e.line));
        text += &format!("outcome: native {outcome}, checked {}{}\n", checked.outcome, why.unwrap_or_default());
    }
    if checked.output != native.stdout {
        text += &first_difference(&native.stdout, &checked.output);
    }
    let mut panics = native::panics(&checked.stderr);
    // For the checker, an error that a test returns is a panic.
    panics.retain(|panic| !panic.message.starts_with("the test returned an error: "));
    if panics != native.panics {
        text += &format!("panics:\n  native  {:?}\n  checked {panics:?}\n", native.panics);
    }
    // A test that fails without a panic, by the value it returns or the panic it lacks, has no place to compare.
    // Where a test panics because a thread that it joins has panicked, the checker reports the panic of that thread.
    if let (false, Some(last), Some(error)) = (native.passed, native.panics.last(), &checked.error) {
        let parts = |panic: &native::Panic| {
            (panic.message.clone(), Some(panic.file.clone()), Some(panic.line), Some(panic.column))
        };
        let checked = (error.message.clone(), error.file.clone(), error.line, error.column);
        if native.panics.iter().all(|panic| parts(panic) != checked) || error.kind != "panic" {
            text += &format!("panic:\n  native  {:?}\n  checked {checked:?} ({})\n", parts(last), error.kind);
        }
    }
    (!text.is_empty()).then_some(text)
}

fn first_difference(native: &str, checked: &str) -> String {
    let (mut left, mut right) = (native.split('\n'), checked.split('\n'));
    let mut number = 0;
    loop {
        number += 1;
        match (left.next(), right.next()) {
            (None, None) => return String::new(),
            (a, b) if a == b => {}
            (a, b) => return format!("output, line {number}:\n  native  {a:?}\n  checked {b:?}\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_shown() {
        let text = first_difference("a\nb\nc\n", "a\nx\n");
        assert_eq!(text, "output, line 2:\n  native  Some(\"b\")\n  checked Some(\"x\")\n");
        assert_eq!(first_difference("a", "a\n"), "output, line 2:\n  native  None\n  checked Some(\"\")\n");
    }
}
