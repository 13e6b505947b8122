//! Runs the selected tests, one after the other.

use std::time::{Duration, Instant};

use anyhow::Result;
use dpor_engine::verdict::Outcome;

use crate::args::TestArgs;
use crate::compile::Binary;
use crate::judge::{Verdict, judge};
use crate::machine::{self, Output};
use crate::report::{Report, Summary, TestResult};
use crate::select::{SelectedTest, Selection};

/// The model where the test names none.
const DEFAULT_MODEL: &str = "rc11";

/// Runs the tests, and reports them as they end.
pub fn run(selection: &Selection, args: &TestArgs, report: &mut dyn Report) -> Result<Summary> {
    let start = Instant::now();
    let mut summary = Summary::default();
    report.begin(selection)?;
    for target in &selection.targets {
        // As in `cargo test`, all tests of a target are run, whether or not one fails.
        if !summary.all_passed() && !args.no_fail_fast {
            summary.not_run += target.tests.len();
            continue;
        }
        for selected in &target.tests {
            for model in models(selected) {
                let result = run_test(target.binary, selected, model, args);
                summary.count(result.verdict.outcome);
                report.test(&result)?;
            }
        }
    }
    summary.duration = start.elapsed();
    report.end(&summary)?;
    Ok(summary)
}

/// The models that a test is to be checked under. A test that is not run is reported once.
fn models<'a>(selected: &SelectedTest<'a>) -> impl Iterator<Item = &'a str> {
    let models = selected.test.config.model.as_deref().unwrap_or(DEFAULT_MODEL).split(',');
    models.take(if selected.ignored { 1 } else { usize::MAX })
}

fn run_test<'a>(binary: &'a Binary, selected: &SelectedTest<'a>, model: &'a str, args: &TestArgs) -> TestResult<'a> {
    let test = selected.test;
    let mut result = TestResult {
        binary,
        test,
        model,
        verdict: Verdict { outcome: Outcome::Ignored, problem: None },
        output: Output::default(),
        executions: 0,
        blocked: 0,
        duration: Duration::ZERO,
    };
    if selected.ignored {
        return result;
    }
    let start = Instant::now();
    let run = machine::run(binary, test, args.max_steps);
    result.duration = start.elapsed();
    result.executions = 1;
    result.output = run.output;
    result.verdict = judge(run.ending, &test.config, binary.program.location(test.place));
    result
}
