//! Checks the selected tests, one after the other.

use std::time::{Duration, Instant};

use anyhow::Result;
use dpor_engine::explore::Stats;
use dpor_engine::verdict::Outcome;

use crate::args::TestArgs;
use crate::check;
use crate::compile::Binary;
use crate::finding::Output;
use crate::judge::{Verdict, judge};
use crate::replay::Recorder;
use crate::report::{Report, Summary, TestResult};
use crate::select::{SelectedTest, Selection};
use crate::settings::Settings;

/// Checks the tests, and reports them as they end.
pub fn run(selection: &Selection, args: &TestArgs, recorder: &Recorder, report: &mut dyn Report) -> Result<Summary> {
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
            let settings = settings(selected, args)?;
            let several_models = settings.len() > 1;
            for settings in settings {
                let result = run_test(target.binary, selected, settings, several_models, recorder)?;
                summary.count(result.verdict.outcome);
                report.test(&result)?;
            }
        }
    }
    summary.duration = start.elapsed();
    report.end(&summary)?;
    Ok(summary)
}

/// The settings for each model that a test is to be checked under. A test that is not run is reported once.
fn settings(selected: &SelectedTest, args: &TestArgs) -> Result<Vec<Settings>> {
    let mut settings = Settings::resolve(&args.explore, &selected.test.config)?;
    settings.truncate(if selected.ignored { 1 } else { usize::MAX });
    Ok(settings)
}

fn run_test<'a>(
    binary: &'a Binary,
    selected: &SelectedTest<'a>,
    settings: Settings,
    several_models: bool,
    recorder: &Recorder,
) -> Result<TestResult<'a>> {
    let test = selected.test;
    let mut result = TestResult {
        binary,
        test,
        settings,
        several_models,
        verdict: Verdict { outcome: Outcome::Ignored, findings: Vec::new() },
        output: Output::default(),
        stats: Stats::default(),
        duration: Duration::ZERO,
    };
    if selected.ignored {
        return Ok(result);
    }
    let start = Instant::now();
    let checked = check::check(binary, test, &result.settings);
    result.duration = start.elapsed();
    result.stats = checked.stats;
    result.output = checked.output;
    result.verdict = judge(checked.findings, &test.config, binary.program.location(test.place));
    recorder.record(&mut result)?;
    Ok(result)
}
