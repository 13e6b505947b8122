//! Checks a test, and takes what is found apart.

use std::any::Any;
use std::collections::BTreeMap;
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use dpor_engine::check::{self, Checked, Counterexample, Limit, Recording};
use dpor_engine::explore::{Config, Progress, Stats};
use dpor_engine::interrupt::Interrupt;
use dpor_engine::program::{Origin, Program, Test};
use dpor_engine::trace::{Place, ReplayError, Trace};
use dpor_engine::verdict::ErrorKind;
use dpor_engine::vm::{self, Failure, FailureKind, Image, Object, RunOptions, StackFrame, Stream, ThreadId};

use crate::compile::Binary;
use crate::finding::{Execution, Finding, FindingKind, Frame, Note, Output, Problem};
use crate::settings::Settings;

/// Variables that the program does not see: the checker shows stacks itself.
const HIDDEN: [&str; 2] = ["RUST_BACKTRACE", "RUST_LIB_BACKTRACE"];

/// What the machine says of an execution that has taken too many steps.
const OUT_OF_STEPS: &str = "the limit of steps is reached";

/// What a check came to.
#[derive(Default)]
pub struct Check {
    pub findings: Vec<Finding>,
    /// What the first execution printed.
    pub output: Output,
    pub stats: Stats,
}

/// Explores all executions of a test.
pub fn check(
    binary: &Binary,
    test: &Test,
    settings: &Settings,
    interrupt: &Interrupt,
    progress: Option<&Progress>,
) -> Check {
    check_program(&binary.program, binary, test, settings, interrupt, progress)
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
    let place = Some(binary.program.location(test.place));
    let (image, options) = (Image::of(program), options(binary, settings));
    let config = Config { interrupt: interrupt.clone(), ..settings.config() };
    // A mistake of ours must not cost the results of the other tests.
    let explore = AssertUnwindSafe(|| check::check_with_progress(&image, test.entry, &options, &config, progress));
    match catch_unwind(explore) {
        Ok(checked) => conclude(checked, binary, test, settings),
        Err(payload) => {
            let message = format!("internal error of the checker, please report it: {}", panic_message(&*payload));
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
    let (image, options) = (Image::of(&binary.program), options(binary, settings));
    let found = check::replay(&image, test.entry, &options, recording)?;
    Ok(finding(found, binary, test, settings))
}

fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let literal = payload.downcast_ref::<&str>().copied();
    literal.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic")
}

fn options(binary: &Binary, settings: &Settings) -> RunOptions {
    let Settings { max_steps, spurious, unroll, .. } = *settings;
    let allow = settings.allow.clone();
    RunOptions { max_steps, spurious, unroll, allow, env: environment(binary), ..RunOptions::default() }
}

/// The environment variables that the program sees: ours, and those that cargo sets for tests.
fn environment(binary: &Binary) -> BTreeMap<String, String> {
    let own = env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut variables: BTreeMap<String, String> = own.filter(|(name, _)| !HIDDEN.contains(&name.as_str())).collect();
    variables.insert("CARGO_PKG_NAME".to_owned(), binary.package.clone());
    variables.insert("CARGO_MANIFEST_DIR".to_owned(), binary.directory.display().to_string());
    variables
}

fn conclude(checked: Checked, binary: &Binary, test: &Test, settings: &Settings) -> Check {
    let found = checked.failures.into_iter().map(|found| finding(found, binary, test, settings));
    let mut findings: Vec<Finding> = found.collect();
    findings.extend(checked.limit.map(|limit| limit_finding(limit, settings)));
    Check { findings, output: output(&checked.output), stats: checked.stats }
}

fn limit_finding(limit: Limit, settings: &Settings) -> Finding {
    let (message, option) = match limit {
        Limit::Executions => {
            let max = settings.max_executions.unwrap_or_default();
            (format!("there are more executions than the {max} that were to be explored"), "--max-executions")
        }
        Limit::Time => {
            let seconds = settings.timeout.unwrap_or_default().as_secs_f64();
            (format!("not all executions could be explored in {seconds} s"), "--timeout")
        }
        Limit::Model => {
            let message = "a model has more executions than its own bounds allow";
            let note = "the bounds are `max_permutations` and `max_duration` of its builder".to_owned();
            return Finding::new(FindingKind::Limit, message, None).note(note);
        }
        Limit::Interrupt => {
            let message = "the check was interrupted before all executions were explored";
            return Finding::new(FindingKind::Limit, message, None);
        }
    };
    Finding::new(FindingKind::Limit, message, None).note(format!("`{option}` sets another limit"))
}

fn finding(found: Counterexample, binary: &Binary, test: &Test, settings: &Settings) -> Finding {
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
    };
    let finding = Finding { kind, problem, execution: Some(execution) };
    match kind {
        FindingKind::Limit if finding.problem.message == OUT_OF_STEPS => {
            let max = settings.max_steps;
            finding.note(format!("an execution has at most {max} steps: `--max-steps` sets another limit"))
        }
        _ => finding,
    }
}

fn output(output: &vm::Output) -> Output {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Output {
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
    let note = |note: &vm::Note| {
        let by = note.thread.filter(|_| several_threads).map(ThreadId::phrase);
        Note { message: with_thread(with_user_names(&note.message, test), by), location: note.location.clone() }
    };
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
    }
}

/// Whether the test has returned: what it returned means that it failed.
fn is_in_harness(failure: &Failure) -> bool {
    !failure.stack.is_empty() && failure.stack.iter().all(|frame| frame.origin == Origin::Std)
}

/// What was done `here` was done by a thread.
fn with_thread(message: String, thread: Option<String>) -> String {
    match thread {
        Some(thread) if message.ends_with(" here") && !message.contains(&thread) => format!("{message} by {thread}"),
        _ => message,
    }
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

    #[test]
    fn what_was_done_here_was_done_by_a_thread() {
        let by = || Some("thread 1".to_owned());
        assert_eq!(with_thread("freed here".into(), by()), "freed here by thread 1");
        assert_eq!(with_thread("freed here".into(), None), "freed here");
        assert_eq!(with_thread("thread 1 waits here".into(), by()), "thread 1 waits here");
    }
}
