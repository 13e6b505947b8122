//! Checks a test, and takes what is found apart.

use std::any::Any;
use std::collections::BTreeMap;
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use dpor_engine::check::{self, Checked, Counterexample, Cover, Limit, Recording};
use dpor_engine::explore::{Config, Progress, Restart, Stats, Survey};
use dpor_engine::interrupt::Interrupt;
use dpor_engine::program::{Origin, Program, Test};
use dpor_engine::trace::{Place, ReplayError, Trace};
use dpor_engine::verdict::ErrorKind;
use dpor_engine::vm::{
    self, Environment, Failure, FailureKind, Image, NoteKind, Object, RunOptions, StackFrame, Stream,
};

use crate::compile::Binary;
use crate::finding::{Execution, Finding, FindingKind, Frame, Note, Printed, Problem};
use crate::reason;
use crate::settings::Settings;

/// Variables that the program does not see: the checker shows stacks itself.
const HIDDEN: [&str; 2] = ["RUST_BACKTRACE", "RUST_LIB_BACKTRACE"];

/// What a check came to.
#[derive(Default)]
pub struct Check {
    pub findings: Vec<Finding>,
    /// What the first execution printed.
    pub output: Printed,
    pub stats: Stats,
    /// The labels that the test names.
    pub covers: Vec<Cover>,
    /// What is to be said of those that no execution comes to, where all were explored.
    pub missing: Vec<Finding>,
    /// How often exploring began again, and why.
    pub restarts: Vec<Restart>,
    /// Why there is so much to explore, if not everything was explored.
    pub survey: Option<Survey>,
}

/// Explores all executions of a test.
pub fn check(
    binary: &Binary,
    test: &Test,
    settings: &Settings,
    environment: &Environment,
    interrupt: &Interrupt,
    progress: Option<&Progress>,
) -> Check {
    check_in(environment, &binary.program, binary, test, settings, interrupt, progress)
}

/// The same for a program that is almost that of the binary.
pub fn check_program(
    program: &Arc<Program>,
    binary: &Binary,
    test: &Test,
    settings: &Settings,
    interrupt: &Interrupt,
    progress: Option<&Progress>,
) -> Check {
    check_in(&environment(binary), program, binary, test, settings, interrupt, progress)
}

fn check_in(
    environment: &Environment,
    program: &Arc<Program>,
    binary: &Binary,
    test: &Test,
    settings: &Settings,
    interrupt: &Interrupt,
    progress: Option<&Progress>,
) -> Check {
    let place = Some(binary.program.location(test.place));
    let start = Instant::now();
    let (image, options) = (Image::of(program), options(environment, settings));
    // Making the program ready takes time, too.
    let timeout = settings.timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
    let config = Config { interrupt: interrupt.clone(), timeout, ..settings.config() };
    // A mistake of ours must not cost the results of the other tests.
    let explore = AssertUnwindSafe(|| check::check_with_progress(&image, test.entry, &options, &config, progress));
    match catch_unwind(explore) {
        Ok(checked) => conclude(checked, binary, test, settings),
        Err(payload) => {
            let message = format!("internal error: {}; please report this bug", panic_message(&*payload));
            Check { findings: vec![Finding::new(FindingKind::Unsupported, message, place)], ..Check::default() }
        }
    }
}

/// Runs one execution of a test again.
pub fn replay(
    binary: &Binary,
    test: &Test,
    settings: &Settings,
    recording: &Recording,
) -> Result<Finding, ReplayError> {
    let (image, options) = (Image::of(&binary.program), options(&environment(binary), settings));
    let found = check::replay(&image, test.entry, &options, recording)?;
    Ok(finding(found, binary, test))
}

fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let literal = payload.downcast_ref::<&str>().copied();
    literal.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic")
}

fn options(environment: &Environment, settings: &Settings) -> RunOptions {
    let &Settings { max_steps, spurious, unroll, ref show_cover, ref allow, .. } = settings;
    let (env, show_cover, allow) = (environment.clone(), show_cover.clone(), allow.clone());
    RunOptions { max_steps, spurious, unroll, allow, env, show_cover, ..RunOptions::default() }
}

/// The environment variables that the program sees: ours, and those that cargo sets for tests.
pub fn environment(binary: &Binary) -> Environment {
    let own = env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut variables: BTreeMap<String, String> = own.filter(|(name, _)| !HIDDEN.contains(&name.as_str())).collect();
    variables.insert("CARGO_PKG_NAME".to_owned(), binary.package.clone());
    variables.insert("CARGO_MANIFEST_DIR".to_owned(), binary.directory.display().to_string());
    variables.into()
}

fn conclude(checked: Checked, binary: &Binary, test: &Test, settings: &Settings) -> Check {
    let is_all = checked.failures.is_empty() && checked.limit.is_none();
    let missing = checked.covers.iter().filter(|cover| is_all && cover.executions == 0).map(never_reached).collect();
    // Sampling ends at its first failure.
    let limit = checked.limit.filter(|limit| *limit != Limit::Samples || checked.failures.is_empty());
    let limit = limit.map(|limit| reason::finding(limit, &checked, settings));
    let found = checked.failures.into_iter().map(|found| finding(found, binary, test));
    let mut findings: Vec<Finding> = found.collect();
    findings.extend(limit);
    let Checked { stats, covers, restarts, survey, .. } = checked;
    Check { findings, output: output(&checked.output), stats, covers, missing, restarts, survey }
}

/// A label that no execution comes to is a failed assertion of the test.
fn never_reached(cover: &Cover) -> Finding {
    let message = format!("no execution reaches the label `{}`", cover.label);
    Finding::new(FindingKind::Error(ErrorKind::Panic), message, Some(cover.location.clone()))
        .note("`dpor::cover!` names a place that some execution must reach")
}

fn finding(found: Counterexample, binary: &Binary, test: &Test) -> Finding {
    let Counterexample { failure, trace, output: printed, recording } = found;
    let mut problem = problem(&failure, trace.threads.len() > 1, test);
    if is_in_harness(&failure) {
        problem.location = Some(binary.program.location(test.place));
    }
    let execution = Execution {
        trace: with_source_names(trace, test),
        output: output(&printed),
        recording,
        replay: None,
        picture: None,
    };
    let kind = match failure.kind {
        FailureKind::Error(kind) => FindingKind::Error(kind),
        FailureKind::Limit => FindingKind::Limit,
        FailureKind::Unsupported => FindingKind::Unsupported,
        FailureKind::Covered => FindingKind::Covered,
    };
    Finding { kind, problem, execution: Some(execution) }
}

fn output(output: &vm::Output) -> Printed {
    let left_out = output.left_out;
    let text = |bytes: Vec<u8>| {
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if left_out > 0 && !text.is_empty() {
            text += &format!("\n(the test printed {left_out} more bytes, which are left out)\n");
        }
        text
    };
    Printed {
        all: text(output.all()),
        stdout: text(output.stream(Stream::Stdout)),
        stderr: text(output.stream(Stream::Stderr)),
    }
}

fn problem(failure: &Failure, several_threads: bool, test: &Test) -> Problem {
    let frame = |frame: &StackFrame| Frame {
        function: with_user_names(&frame.function, test),
        origin: frame.origin,
        location: frame.location.clone(),
    };
    let note = |note: &vm::Note| Note {
        role: note.kind.role(),
        message: with_user_names(&note.message(several_threads), test),
        location: note.location.clone(),
        thread: note.thread.map(|thread| thread.0),
    };
    let panics_with = failure.notes.iter().find_map(|note| match &note.kind {
        NoteKind::Propagates { message } => Some(message.clone()),
        _ => None,
    });
    // A panic's message is the user's own.
    let message = match failure.kind {
        FailureKind::Error(ErrorKind::Panic) => failure.message.clone(),
        _ => with_user_names(&failure.message, test),
    };
    Problem {
        message,
        location: failure.location.clone(),
        thread: several_threads.then_some(failure.thread.0),
        stack: own_frames(&failure.stack, test).into_iter().map(frame).collect(),
        notes: failure.notes.iter().map(note).collect(),
        race: failure.race,
        dangling: failure.dangling,
        panics_with,
    }
}

/// Whether the test has returned: what it returned means that it failed.
fn is_in_harness(failure: &Failure) -> bool {
    !failure.stack.is_empty() && failure.stack.iter().all(|frame| frame.origin == Origin::Std)
}

fn with_source_names(mut trace: Trace, test: &Test) -> Trace {
    let rename = |place: &mut Option<Place>| {
        if let Some(function) = place.as_mut().and_then(|place| place.function.as_mut()) {
            *function = with_user_names(function, test);
        }
    };
    trace.threads.iter_mut().for_each(|thread| rename(&mut thread.place));
    for step in &mut trace.steps {
        rename(&mut step.place);
        if let Some(Object::Local { function, .. }) = step.variable.as_mut().map(|variable| &mut variable.object) {
            *function = with_user_names(function, test);
        }
    }
    trace
}

/// The path of the function with the test's body: `#[dpor::test]` puts it inside a function of the same name.
pub fn inner_function(test: &Test) -> String {
    if !test.dpor {
        return test.name.clone();
    }
    let name = test.name.rsplit("::").next().unwrap_or(&test.name);
    format!("{}::{name}", test.name)
}

/// The text with the names that functions have in the source.
fn with_user_names(text: &str, test: &Test) -> String {
    text.replace(&inner_function(test), &test.name)
}

/// The part of the stack that is inside of the test's own function, without functions of our own.
fn own_frames<'a>(stack: &'a [StackFrame], test: &Test) -> Vec<&'a StackFrame> {
    let inner = inner_function(test);
    let is_test = |frame: &StackFrame| frame.function == inner || frame.function.ends_with(&format!("::{inner}"));
    let end = stack.iter().position(is_test).map_or(stack.len(), |at| at + 1);
    let is_ours =
        |frame: &StackFrame| frame.function.starts_with("dpor::") || frame.function.contains("__dpor_marker_");
    stack[..end].iter().filter(|frame| !is_ours(frame)).collect()
}

#[cfg(test)]
mod tests {
    use dpor_engine::program::{FuncId, PlaceId, TestConfig};
    use dpor_engine::verdict::Location;

    use super::*;

    #[test]
    fn the_stack_ends_at_the_test() {
        let test = Test {
            name: "tests::a".into(),
            dpor: true,
            config: TestConfig::default(),
            entry: FuncId(0),
            place: PlaceId(0),
        };
        let frame = |function: &str| StackFrame {
            function: function.into(),
            origin: Origin::User,
            location: Location { file: String::new(), line: 1, column: 1 },
        };
        let stack = ["tests::a::a::helper", "dpor::choose", "tests::a::a", "dpor::__rt::run", "tests::a"].map(frame);
        let own = own_frames(&stack, &test);
        let names = own.iter().map(|frame| with_user_names(&frame.function, &test));
        assert_eq!(names.collect::<Vec<_>>(), ["tests::a::helper", "tests::a"]);
    }
}
