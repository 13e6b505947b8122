//! Holds what a run found against what the test says it expects.

use dpor_engine::program::{Origin, TestConfig};
use dpor_engine::verdict::{ErrorKind, Location, Outcome};

/// How a run ended, before anything is expected of it.
pub enum Ending {
    /// Nothing was found.
    Clean,
    /// The program has an error.
    Error(ErrorKind, Problem),
    /// A limit was reached.
    Limit(Problem),
    /// The program needs something that the checker cannot model.
    Unsupported(Problem),
}

/// What is wrong, and where.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Problem {
    pub message: String,
    pub location: Option<Location>,
    /// The active functions, the innermost first.
    pub stack: Vec<Frame>,
    pub notes: Vec<Note>,
}

/// An active function.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub function: String,
    pub origin: Origin,
    pub location: Location,
}

/// Something that explains a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    pub message: String,
    pub location: Option<Location>,
}

/// The verdict on a test.
pub struct Verdict {
    pub outcome: Outcome,
    /// What users are told of a test that did not pass: a kind and the problem.
    pub problem: Option<(&'static str, Problem)>,
}

impl Verdict {
    fn passed() -> Verdict {
        Verdict { outcome: Outcome::Passed, problem: None }
    }

    fn failed(kind: ErrorKind, problem: Problem) -> Verdict {
        Verdict { outcome: Outcome::Failed, problem: Some((kind.name(), problem)) }
    }
}

/// The verdict on a test that is defined at `place` and ended so.
pub fn judge(ending: Ending, config: &TestConfig, place: Location) -> Verdict {
    match ending {
        Ending::Clean => match expected_kind(config) {
            None => Verdict::passed(),
            Some(expected) => missing(expected, config, place),
        },
        Ending::Error(kind, problem) if Some(kind) == expected_kind(config) => {
            match unexpected_message(&problem, config) {
                None => Verdict::passed(),
                Some(note) => {
                    let notes = problem.notes.iter().cloned().chain([note]).collect();
                    Verdict::failed(kind, Problem { notes, ..problem })
                }
            }
        }
        Ending::Error(kind, problem) => Verdict::failed(kind, problem),
        Ending::Limit(problem) => Verdict { outcome: Outcome::Incomplete, problem: Some(("incomplete", problem)) },
        Ending::Unsupported(problem) => {
            Verdict { outcome: Outcome::Unsupported, problem: Some(("unsupported", problem)) }
        }
    }
}

fn expected_kind(config: &TestConfig) -> Option<ErrorKind> {
    config.expect.or_else(|| config.should_panic.as_ref().map(|_| ErrorKind::Panic))
}

/// An expectation that is not met is a failed assertion of the test.
fn missing(expected: ErrorKind, config: &TestConfig, place: Location) -> Verdict {
    let message = match config.expect {
        Some(_) => format!("the test did not have the expected error: {}", expected.name()),
        None => "test did not panic as expected".to_owned(),
    };
    Verdict::failed(ErrorKind::Panic, Problem { message, location: Some(place), ..Problem::default() })
}

/// What is said of a panic whose message lacks the text that `#[should_panic]` names.
fn unexpected_message(problem: &Problem, config: &TestConfig) -> Option<Note> {
    let expected = &config.should_panic.as_ref()?.expected;
    let message = format!("panic did not contain expected string: {expected:?}");
    (!problem.message.contains(expected.as_str())).then_some(Note { message, location: None })
}

#[cfg(test)]
mod tests {
    use dpor_engine::program::ShouldPanic;

    use super::*;

    fn place() -> Location {
        Location { file: "src/lib.rs".into(), line: 3, column: 1 }
    }

    fn outcome(ending: Ending, config: &TestConfig) -> Outcome {
        judge(ending, config, place()).outcome
    }

    fn error(kind: ErrorKind, message: &str) -> Ending {
        Ending::Error(kind, Problem { message: message.into(), ..Problem::default() })
    }

    fn should_panic(expected: &str) -> TestConfig {
        TestConfig { should_panic: Some(ShouldPanic { expected: expected.into() }), ..TestConfig::default() }
    }

    #[test]
    fn without_expectations_only_a_clean_run_passes() {
        let config = TestConfig::default();
        assert_eq!(outcome(Ending::Clean, &config), Outcome::Passed);
        assert_eq!(outcome(error(ErrorKind::Panic, ""), &config), Outcome::Failed);
        assert_eq!(outcome(Ending::Limit(Problem::default()), &config), Outcome::Incomplete);
        assert_eq!(outcome(Ending::Unsupported(Problem::default()), &config), Outcome::Unsupported);
    }

    #[test]
    fn should_panic_wants_a_panic_with_its_text() {
        assert_eq!(outcome(error(ErrorKind::Panic, "index out of range"), &should_panic("")), Outcome::Passed);
        assert_eq!(outcome(error(ErrorKind::Panic, "index out of range"), &should_panic("range")), Outcome::Passed);
        assert_eq!(outcome(error(ErrorKind::Panic, "index out of range"), &should_panic("key")), Outcome::Failed);
        assert_eq!(outcome(error(ErrorKind::DataRace, "index"), &should_panic("")), Outcome::Failed);
        assert_eq!(outcome(Ending::Limit(Problem::default()), &should_panic("")), Outcome::Incomplete);
        let verdict = judge(Ending::Clean, &should_panic(""), place());
        let (kind, problem) = verdict.problem.unwrap();
        assert_eq!((kind, problem.location), ("panic", Some(place())));
    }

    #[test]
    fn expect_wants_an_error_of_its_kind() {
        let config = TestConfig { expect: Some(ErrorKind::DoubleFree), ..TestConfig::default() };
        assert_eq!(outcome(error(ErrorKind::DoubleFree, ""), &config), Outcome::Passed);
        assert_eq!(outcome(error(ErrorKind::Panic, ""), &config), Outcome::Failed);
        assert_eq!(outcome(Ending::Clean, &config), Outcome::Failed);
    }
}
