//! Memory errors are found, each with its kind and line, and correct programs pass.

use std::fmt::Write;

use dpor_tests::annotations::{self, Annotation, Expected};
use dpor_tests::{Package, checker};

#[test]
fn errors_have_their_kind_and_line() {
    let package = Package::new("memory-errors");
    let expectations = annotations::read(package.directory());
    // Enough for every test but the one that does not end.
    let verdicts = checker::check(&package, &["--lib", "--max-steps", "20000000"]);
    let mut wrong = String::new();
    for (test, Annotation { file, expected, .. }) in &expectations {
        let Some(verdict) = verdicts.get(test) else {
            writeln!(wrong, "{test}: the checker did not run it").unwrap();
            continue;
        };
        let found = match &verdict.error {
            Some(error) if verdict.outcome == "failed" => {
                if error.file.as_ref() != Some(file) {
                    writeln!(wrong, "{test}: found in {:?}", error.file).unwrap();
                }
                Expected::Error { kind: error.kind.clone(), lines: vec![error.line.unwrap_or(0)] }
            }
            _ if verdict.outcome == "passed" => Expected::Passed,
            _ => Expected::Outcome(verdict.outcome.clone()),
        };
        if found != *expected {
            let message = verdict.error.as_ref().map_or("no error", |error| &error.message);
            writeln!(wrong, "{test}: expected {expected:?}, found {found:?}: {message}").unwrap();
        }
    }
    assert_eq!(verdicts.len(), expectations.len());
    assert!(wrong.is_empty(), "{wrong}");
}
