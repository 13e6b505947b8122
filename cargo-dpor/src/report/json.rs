//! One JSON object a line. The names of the fields are part of the tool's interface.

use std::io::{self, Write};

use dpor_engine::check::Cover;
use dpor_engine::explore::{Equivalence, Spot, Survey};
use dpor_engine::trace::Trace;
use dpor_engine::verdict::{Location, Outcome};
use dpor_engine::vm::{Dangling, RacingPair, Role};
use serde::Serialize;

use super::{Details, Report, Summary, TestResult};
use crate::advice::Advice;
use crate::finding::Finding;
use crate::select::Selection;

pub struct Json<W> {
    out: W,
    details: Details,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Event<'a> {
    Listed {
        name: &'a str,
        package: &'a str,
        target: Target<'a>,
        ignored: bool,
        file: String,
        line: u32,
    },
    Suite {
        tests: usize,
        workers: usize,
        version: &'static str,
    },
    Test(Box<TestEvent<'a>>),
    Done {
        passed: usize,
        failed: usize,
        incomplete: usize,
        unsupported: usize,
        ignored: usize,
        not_run: usize,
        seconds: f64,
    },
}

#[derive(Serialize)]
struct Target<'a> {
    kind: &'static str,
    name: &'a str,
}

#[derive(Serialize)]
struct TestEvent<'a> {
    name: &'a str,
    package: &'a str,
    target: Target<'a>,
    model: &'a str,
    buffer_bound: Option<u32>,
    equivalence: &'static str,
    #[serde(rename = "await")]
    awaiting: &'static str,
    outcome: &'static str,
    executions: u64,
    blocked: u64,
    /// How many errors were accepted, where some may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<u64>,
    /// Executions that were begun and are not counted.
    #[serde(skip_serializing_if = "is_zero")]
    given_up: u64,
    /// How often exploring began again.
    #[serde(skip_serializing_if = "is_zero")]
    restarts: u64,
    /// Why it did, and how many executions were given up then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lessons: Vec<LessonObject<'a>>,
    /// How many random executions were run, and where they began.
    #[serde(skip_serializing_if = "Option::is_none")]
    sampled: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    /// How many executions there are, about.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<EstimateObject>,
    /// Where alternatives come from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hot: Vec<HotObject<'a>>,
    /// The places that a thread comes back to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    loops: Vec<LoopObject<'a>>,
    /// The labels that the test names, and how many executions come to each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    covers: Vec<CoverObject<'a>>,
    /// How often another coherence order was looked for, under reads-from equivalence.
    #[serde(skip_serializing_if = "Option::is_none")]
    witnesses: Option<Witnesses>,
    /// Whether this is the verdict of an earlier check of the same program.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cached: bool,
    seconds: f64,
    error: Option<ErrorObject<'a>>,
    /// All errors, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ErrorObject<'a>>,
    /// What the test wrote to its standard output, and to the one for errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<&'a str>,
    /// With `--suggest` and `--relax`: which orderings would be better.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<&'a Advice>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Serialize)]
struct LessonObject<'a> {
    lesson: &'a str,
    restarts: u64,
    given_up: u64,
}

impl<'a> LessonObject<'a> {
    fn new((lesson, restarts, given_up): (&'a str, u64, u64)) -> LessonObject<'a> {
        LessonObject { lesson, restarts, given_up }
    }
}

#[derive(Serialize)]
struct EstimateObject {
    executions: f64,
    /// The standard error.
    error: f64,
    samples: u64,
}

impl EstimateObject {
    fn new(survey: &Survey) -> Option<EstimateObject> {
        let estimate = &survey.estimate;
        let (executions, error, samples) = (estimate.mean(), estimate.standard_error(), estimate.samples);
        (samples > 0 && error.is_finite()).then_some(EstimateObject { executions, error, samples })
    }
}

#[derive(Serialize)]
struct HotObject<'a> {
    file: &'a str,
    line: u32,
    variable: Option<&'a str>,
    count: u64,
}

impl<'a> HotObject<'a> {
    fn new((spot, count): &'a (Spot, u64)) -> HotObject<'a> {
        let Spot { location, variable } = spot;
        HotObject { file: &location.file, line: location.line, variable: variable.as_deref(), count: *count }
    }
}

#[derive(Serialize)]
struct LoopObject<'a> {
    file: &'a str,
    line: u32,
    times: u32,
}

impl<'a> LoopObject<'a> {
    fn new((location, times): &'a (Location, u32)) -> LoopObject<'a> {
        LoopObject { file: &location.file, line: location.line, times: *times }
    }
}

#[derive(Serialize)]
struct CoverObject<'a> {
    label: &'a str,
    file: &'a str,
    line: u32,
    executions: u64,
}

impl<'a> CoverObject<'a> {
    fn new(cover: &'a Cover) -> CoverObject<'a> {
        let Cover { label, location, executions } = cover;
        CoverObject { label, file: &location.file, line: location.line, executions: *executions }
    }
}

#[derive(Serialize)]
struct Witnesses {
    /// How often at all.
    tests: u64,
    /// How often that took a search.
    searches: u64,
}

#[derive(Serialize)]
struct ErrorObject<'a> {
    kind: &'static str,
    message: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    replay: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<u16>,
    stack: Vec<FrameObject<'a>>,
    notes: Vec<NoteObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    race: Option<RacingPair>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dangling: Option<Dangling>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<&'a Trace>,
}

#[derive(Serialize)]
struct FrameObject<'a> {
    function: &'a str,
    file: &'a str,
    line: u32,
    column: u32,
}

#[derive(Serialize)]
struct NoteObject<'a> {
    role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<u16>,
    message: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
}

impl<W: Write> Json<W> {
    pub fn new(out: W, details: Details) -> Json<W> {
        Json { out, details }
    }

    fn emit(&mut self, event: &Event) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, event)?;
        writeln!(self.out)?;
        self.out.flush()
    }
}

impl<W: Write> Report for Json<W> {
    fn list(&mut self, selection: &Selection) -> io::Result<()> {
        for target in &selection.targets {
            for selected in &target.tests {
                let place = target.binary.program.location(selected.test.place);
                self.emit(&Event::Listed {
                    name: &selected.test.name,
                    package: &target.binary.package,
                    target: Target { kind: target.binary.kind.name(), name: &target.binary.target },
                    ignored: selected.ignored,
                    file: place.file,
                    line: place.line,
                })?;
            }
        }
        Ok(())
    }

    fn begin(&mut self, selection: &Selection) -> io::Result<()> {
        let (tests, workers) = (selection.tests(), self.details.workers);
        self.emit(&Event::Suite { tests, workers, version: env!("CARGO_PKG_VERSION") })
    }

    fn test(&mut self, result: &TestResult) -> io::Result<()> {
        let event = TestEvent::new(result, self.details.nocapture, false);
        self.emit(&Event::Test(Box::new(event)))
    }

    fn replayed(&mut self, result: &TestResult) -> io::Result<()> {
        let event = TestEvent::new(result, self.details.nocapture, true);
        self.emit(&Event::Test(Box::new(event)))
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        let Summary { passed, failed, incomplete, unsupported, ignored, not_run, duration, .. } = *summary;
        let seconds = duration.as_secs_f64();
        self.emit(&Event::Done { passed, failed, incomplete, unsupported, ignored, not_run, seconds })
    }
}

impl<'a> TestEvent<'a> {
    fn new(result: &'a TestResult, nocapture: bool, with_traces: bool) -> TestEvent<'a> {
        let settings = &result.settings;
        let (sampled, survey) = (result.sampled(), result.survey.as_ref());
        let findings = &result.verdict.findings;
        let error = |finding: &'a Finding| ErrorObject::new(finding, with_traces);
        let failing = findings.iter().find_map(|finding| finding.execution.as_ref());
        let output = failing.map_or(&result.output, |execution| &execution.output);
        let bad = !matches!(result.verdict.outcome, Outcome::Passed | Outcome::Ignored);
        TestEvent {
            name: &result.test.name,
            package: &result.binary.package,
            target: Target { kind: result.binary.kind.name(), name: &result.binary.target },
            model: settings.model.name(),
            buffer_bound: settings.buffer_bound,
            equivalence: settings.equivalence.name(),
            awaiting: settings.awaiting.name(),
            outcome: result.verdict.outcome.name(),
            executions: if sampled.is_some() { 0 } else { result.stats.executions },
            blocked: if sampled.is_some() { 0 } else { result.stats.blocked },
            given_up: result.given_up(),
            restarts: result.restarts.len() as u64,
            lessons: result.lessons().into_iter().map(LessonObject::new).collect(),
            sampled,
            seed: settings.sampling.map(|sampling| sampling.seed),
            estimate: survey.and_then(EstimateObject::new),
            hot: survey.map_or(&[][..], |survey| &survey.hot).iter().map(HotObject::new).collect(),
            loops: survey.map_or(&[][..], |survey| &survey.loops).iter().map(LoopObject::new).collect(),
            covers: result.covers.iter().map(CoverObject::new).collect(),
            allowed: (!settings.allow.is_empty()).then_some(result.stats.allowed),
            witnesses: (settings.equivalence == Equivalence::ReadsFrom)
                .then_some(Witnesses { tests: result.stats.witness_tests, searches: result.stats.witness_searches }),
            cached: result.cached,
            seconds: result.duration.as_secs_f64(),
            error: findings.first().map(error),
            errors: if findings.len() > 1 { findings.iter().map(error).collect() } else { Vec::new() },
            output: (nocapture || bad).then_some(&output.stdout),
            stderr: (nocapture || bad).then_some(&output.stderr),
            advice: result.advice.as_ref(),
        }
    }
}

impl<'a> ErrorObject<'a> {
    fn new(finding: &'a Finding, with_trace: bool) -> ErrorObject<'a> {
        let problem = &finding.problem;
        let execution = finding.execution.as_ref();
        let place = problem.location.as_ref();
        let frames = problem.stack.iter().map(|frame| FrameObject {
            function: &frame.function,
            file: &frame.location.file,
            line: frame.location.line,
            column: frame.location.column,
        });
        let notes = problem.notes.iter().map(|note| NoteObject {
            role: note.role,
            thread: note.thread,
            message: &note.message,
            file: note.location.as_ref().map(|place| place.file.as_str()),
            line: note.location.as_ref().map(|place| place.line),
            column: note.location.as_ref().map(|place| place.column),
        });
        ErrorObject {
            kind: finding.kind.name(),
            message: &problem.message,
            file: place.map(|place| place.file.as_str()),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            replay: execution.and_then(|execution| Some(execution.replay.as_ref()?.display().to_string())),
            thread: problem.thread,
            stack: frames.collect(),
            notes: notes.collect(),
            race: problem.race,
            dangling: problem.dangling,
            report: execution.and_then(|execution| Some(execution.picture.as_ref()?.display().to_string())),
            trace: execution.filter(|_| with_trace).map(|execution| &execution.trace),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::report::fixture;

    fn report(act: impl FnOnce(&mut Json<&mut Vec<u8>>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        act(&mut Json::new(&mut out, Details { nocapture: false, workers: 2, ..Details::default() })).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_passing_test() {
        let (binary, test) = (fixture::binary(), fixture::test(""));
        let result = fixture::result(&binary, &test, Outcome::Passed, vec![]);
        assert_eq!(
            report(|json| json.test(&result)),
            concat!(
                r#"{"event":"test","name":"tests::pops","package":"stack","target":{"kind":"lib","name":"stack"},"#,
                r#""model":"rc11","buffer_bound":null,"equivalence":"trace","await":"full","outcome":"passed","#,
                r#""executions":3,"blocked":0,"seconds":0.25,"error":null}"#,
                "\n"
            )
        );
    }

    #[test]
    fn a_failing_test() {
        let (binary, test) = (fixture::binary(), fixture::test("model=tso\nbuffer_bound=2"));
        let mut finding = fixture::finding();
        finding.execution.as_mut().unwrap().replay = Some("target/dpor/replay/tests-pops.tso.json".into());
        let result = fixture::result(&binary, &test, Outcome::Failed, vec![finding]);
        assert_eq!(
            report(|json| json.test(&result)),
            concat!(
                r#"{"event":"test","name":"tests::pops","package":"stack","target":{"kind":"lib","name":"stack"},"#,
                r#""model":"tso","buffer_bound":2,"equivalence":"trace","await":"full","outcome":"failed","#,
                r#""executions":3,"blocked":0,"seconds":0.25,"error":{"kind":"use-after-free","message":"gone","#,
                r#""file":"src/lib.rs","line":41,"column":13,"replay":"target/dpor/replay/tests-pops.tso.json","#,
                r#""stack":[{"function":"tests::pops::pops","file":"src/lib.rs","line":41,"column":13}],"#,
                r#""notes":[{"role":"freed","message":"freed here","file":"src/lib.rs","line":40,"column":13}]},"output":"printed\n","stderr":""}"#,
                "\n"
            )
        );
    }

    #[test]
    fn the_suite_and_its_end() {
        let selection = Selection { targets: Vec::new(), filtered_out: 0 };
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            report(|json| json.begin(&selection)),
            format!("{{\"event\":\"suite\",\"tests\":0,\"workers\":2,\"version\":\"{version}\"}}\n")
        );
        let summary = Summary { passed: 2, failed: 1, duration: Duration::from_millis(500), ..Summary::default() };
        assert_eq!(
            report(|json| json.end(&summary)),
            concat!(
                r#"{"event":"done","passed":2,"failed":1,"incomplete":0,"unsupported":0,"ignored":0,"not_run":0,"#,
                r#""seconds":0.5}"#,
                "\n"
            )
        );
    }
}
