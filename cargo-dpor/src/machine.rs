//! Runs a test in the machine, and takes what it says apart.

use std::any::Any;
use std::collections::BTreeMap;
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dpor_engine::program::Test;
use dpor_engine::verdict::ErrorKind;
use dpor_engine::vm::{self, Failure, FailureKind, RunOptions, StackFrame, Stream};

use crate::compile::Binary;
use crate::judge::{Ending, Frame, Note, Problem};

/// Variables that the program does not see: the checker shows stacks itself.
const HIDDEN: [&str; 2] = ["RUST_BACKTRACE", "RUST_LIB_BACKTRACE"];

/// How a run of a test ended.
pub struct Run {
    pub ending: Ending,
    pub output: Output,
}

/// What a test printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// To both streams, in order.
    pub all: String,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a test once.
pub fn run(binary: &Binary, test: &Test, max_steps: u64) -> Run {
    let options = RunOptions { max_steps, env: environment(binary), ..RunOptions::default() };
    // A mistake of ours must not cost the results of the other tests.
    match catch_unwind(AssertUnwindSafe(|| vm::run(&binary.program, test.entry, &options))) {
        Ok(run) => Run {
            output: Output::new(&run.output),
            ending: run.failure.map_or(Ending::Clean, |failure| ending(failure, test, max_steps)),
        },
        Err(payload) => {
            let location = Some(binary.program.location(test.place));
            let message = format!("internal error of the checker, please report it: {}", panic_message(&*payload));
            Run {
                ending: Ending::Unsupported(Problem { message, location, ..Problem::default() }),
                output: Output::default(),
            }
        }
    }
}

fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let literal = payload.downcast_ref::<&str>().copied();
    literal.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic")
}

impl Output {
    fn new(output: &vm::Output) -> Output {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Output {
            all: text(output.all()),
            stdout: text(output.stream(Stream::Stdout)),
            stderr: text(output.stream(Stream::Stderr)),
        }
    }
}

/// The environment variables that the program sees: ours, and those that cargo sets for tests.
fn environment(binary: &Binary) -> BTreeMap<String, String> {
    let own = env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut variables: BTreeMap<String, String> = own.filter(|(name, _)| !HIDDEN.contains(&name.as_str())).collect();
    variables.insert("CARGO_PKG_NAME".to_owned(), binary.package.clone());
    variables.insert("CARGO_MANIFEST_DIR".to_owned(), binary.directory.display().to_string());
    variables
}

fn ending(failure: Failure, test: &Test, max_steps: u64) -> Ending {
    let kind = failure.kind;
    let mut problem = problem(failure, test);
    match kind {
        FailureKind::Error(kind) => Ending::Error(kind, problem),
        FailureKind::Limit => {
            let message = format!("an execution has at most {max_steps} steps: `--max-steps` sets another limit");
            problem.notes.push(Note { message, location: None });
            Ending::Limit(problem)
        }
        FailureKind::Unsupported => Ending::Unsupported(problem),
    }
}

fn problem(failure: Failure, test: &Test) -> Problem {
    let frame = |frame: StackFrame| Frame {
        function: with_user_names(&frame.function, test),
        origin: frame.origin,
        location: frame.location,
    };
    let note = |note: vm::Note| Note { message: with_user_names(&note.message, test), location: note.location };
    // A panic's message is the user's own.
    let message = match failure.kind {
        FailureKind::Error(ErrorKind::Panic) => failure.message,
        _ => with_user_names(&failure.message, test),
    };
    Problem {
        message,
        location: failure.location,
        stack: own_frames(failure.stack, test).into_iter().map(frame).collect(),
        notes: failure.notes.into_iter().map(note).collect(),
    }
}

/// The path of the function with the test's body: `#[dpor::test]` puts it inside a function of the same name.
fn inner_function(test: &Test) -> String {
    let name = test.name.rsplit("::").next().unwrap_or(&test.name);
    format!("{}::{name}", test.name)
}

/// The text with the names that functions have in the source.
fn with_user_names(text: &str, test: &Test) -> String {
    text.replace(&inner_function(test), &test.name)
}

/// The part of the stack that is inside of the test's own function, without functions of our own.
fn own_frames(mut stack: Vec<StackFrame>, test: &Test) -> Vec<StackFrame> {
    let inner = inner_function(test);
    let is_test = |frame: &StackFrame| frame.function == inner || frame.function.ends_with(&format!("::{inner}"));
    if let Some(at) = stack.iter().position(is_test) {
        stack.truncate(at + 1);
    }
    stack.retain(|frame| !frame.function.starts_with("dpor::") && !frame.function.contains("__dpor_marker_"));
    stack
}

#[cfg(test)]
mod tests {
    use dpor_engine::program::{FuncId, Origin, PlaceId, TestConfig};
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
        let own = own_frames(stack.to_vec(), &test);
        let names = own.iter().map(|frame| with_user_names(&frame.function, &test));
        assert_eq!(names.collect::<Vec<_>>(), ["tests::a::helper", "tests::a"]);
    }
}
