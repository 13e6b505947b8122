//! Compares what a check found with what the test expects.

use dpor_engine::program::TestConfig;
use dpor_engine::verdict::{ErrorKind, Location, Outcome};

use crate::finding::{Finding, FindingKind};

/// The verdict on a test.
pub struct Verdict {
    pub outcome: Outcome,
    /// What users are told of a test that did not pass.
    pub findings: Vec<Finding>,
}

/// The verdict on a test that is defined at `place`, given all that was found.
pub fn verdict_on(findings: Vec<Finding>, config: &TestConfig, place: Location) -> Verdict {
    let expected = expected_kind(config).map(FindingKind::Error);
    let (met, mut rest): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|finding| Some(finding.kind) == expected && has_text(finding, config));
    if met.is_empty()
        && rest.is_empty()
        && let Some(kind) = expected_kind(config)
    {
        rest.push(missing(kind, config, place));
    }
    // What is expected may come before everything is explored.
    if !met.is_empty() {
        rest.retain(|finding| finding.kind != FindingKind::Limit);
    }
    let findings = rest.into_iter().map(|finding| with_expected_text(finding, config)).collect::<Vec<_>>();
    Verdict { outcome: outcome(&findings), findings }
}

impl Verdict {
    /// The verdict on a test that passes but for labels that no execution comes to.
    pub fn with_missing(self, missing: Vec<Finding>) -> Verdict {
        match self.outcome {
            Outcome::Passed => Verdict { outcome: outcome(&missing), findings: missing },
            _ => self,
        }
    }
}

/// An error outweighs everything else.
fn outcome(findings: &[Finding]) -> Outcome {
    let found = |is: fn(FindingKind) -> bool| findings.iter().any(|finding| is(finding.kind));
    match () {
        () if found(|kind| matches!(kind, FindingKind::Error(_))) => Outcome::Failed,
        () if found(|kind| kind == FindingKind::Unsupported) => Outcome::Unsupported,
        () if found(|kind| matches!(kind, FindingKind::Limit | FindingKind::Covered)) => Outcome::Incomplete,
        () => Outcome::Passed,
    }
}

fn expected_kind(config: &TestConfig) -> Option<ErrorKind> {
    config.expect.or_else(|| config.should_panic.as_ref().map(|_| ErrorKind::Panic))
}

/// An expectation that is not met is a failed assertion of the test.
fn missing(expected: ErrorKind, config: &TestConfig, place: Location) -> Finding {
    let message = match config.expect {
        Some(_) => format!("expected error `{}` did not occur", expected.name()),
        None => "test did not panic as expected".to_owned(),
    };
    Finding::new(FindingKind::Error(ErrorKind::Panic), message, Some(place))
}

/// Whether the message of a panic has the text that `#[should_panic]` names.
fn has_text(finding: &Finding, config: &TestConfig) -> bool {
    let message = finding.problem.panics_with.as_ref().unwrap_or(&finding.problem.message);
    config.should_panic.as_ref().is_none_or(|should| message.contains(should.expected.as_str()))
}

/// Says of a panic which text it lacks.
fn with_expected_text(finding: Finding, config: &TestConfig) -> Finding {
    let is_panic = finding.kind == FindingKind::Error(ErrorKind::Panic) && finding.execution.is_some();
    match &config.should_panic {
        Some(should) if is_panic && expected_kind(config) == Some(ErrorKind::Panic) => {
            finding.note(format!("panic did not contain expected string: {:?}", should.expected))
        }
        _ => finding,
    }
}

#[cfg(test)]
mod tests {
    use dpor_engine::check::Recording;
    use dpor_engine::program::ShouldPanic;
    use dpor_engine::trace::Trace;

    use super::*;
    use crate::finding::{Execution, Printed};

    fn place() -> Location {
        Location { file: "src/lib.rs".into(), line: 3, column: 1 }
    }

    fn outcome(findings: Vec<Finding>, config: &TestConfig) -> Outcome {
        verdict_on(findings, config, place()).outcome
    }

    fn error(kind: ErrorKind, message: &str) -> Finding {
        let (trace, output, recording) = (Trace::default(), Printed::default(), Recording::default());
        let execution = Some(Execution { trace, output, recording, replay: None, picture: None });
        Finding { execution, ..Finding::new(FindingKind::Error(kind), message, None) }
    }

    fn limit() -> Finding {
        Finding::new(FindingKind::Limit, "", None)
    }

    fn unsupported() -> Finding {
        Finding::new(FindingKind::Unsupported, "", None)
    }

    fn should_panic(expected: &str) -> TestConfig {
        TestConfig { should_panic: Some(ShouldPanic { expected: expected.into() }), ..TestConfig::default() }
    }

    #[test]
    fn without_expectations_only_what_is_clean_passes() {
        let config = TestConfig::default();
        assert_eq!(outcome(vec![], &config), Outcome::Passed);
        assert_eq!(outcome(vec![error(ErrorKind::Panic, "")], &config), Outcome::Failed);
        assert_eq!(outcome(vec![limit()], &config), Outcome::Incomplete);
        assert_eq!(outcome(vec![limit(), unsupported()], &config), Outcome::Unsupported);
        assert_eq!(outcome(vec![unsupported(), error(ErrorKind::Panic, "")], &config), Outcome::Failed);
    }

    #[test]
    fn should_panic_wants_a_panic_with_its_text() {
        let panic = || error(ErrorKind::Panic, "index out of range");
        assert_eq!(outcome(vec![panic()], &should_panic("")), Outcome::Passed);
        assert_eq!(outcome(vec![panic()], &should_panic("range")), Outcome::Passed);
        assert_eq!(outcome(vec![panic()], &should_panic("key")), Outcome::Failed);
        assert_eq!(outcome(vec![error(ErrorKind::DataRace, "index")], &should_panic("")), Outcome::Failed);
        assert_eq!(outcome(vec![limit()], &should_panic("")), Outcome::Incomplete);
        let finding = verdict_on(vec![], &should_panic(""), place()).findings.pop().unwrap();
        assert_eq!((finding.kind.name(), finding.problem.location), ("panic", Some(place())));
        let finding = verdict_on(vec![panic()], &should_panic("key"), place()).findings.pop().unwrap();
        assert_eq!(finding.problem.notes[0].message, "panic did not contain expected string: \"key\"");
    }

    #[test]
    fn expect_wants_errors_of_its_kind_and_no_others() {
        let config = TestConfig { expect: Some(ErrorKind::DoubleFree), ..TestConfig::default() };
        let expected = || error(ErrorKind::DoubleFree, "");
        assert_eq!(outcome(vec![expected()], &config), Outcome::Passed);
        assert_eq!(outcome(vec![expected(), expected(), limit()], &config), Outcome::Passed);
        assert_eq!(outcome(vec![expected(), error(ErrorKind::Panic, "")], &config), Outcome::Failed);
        assert_eq!(outcome(vec![error(ErrorKind::Panic, "")], &config), Outcome::Failed);
        assert_eq!(outcome(vec![limit()], &config), Outcome::Incomplete);
        assert_eq!(outcome(vec![], &config), Outcome::Failed);
    }
}
