//! What the expansion of `#[dpor::test]` uses. Not for use by hand: it changes with the macro.

use std::any::{type_name, Any};
use std::cell::Cell;
use std::fmt::Debug;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::process::{ExitCode, Termination};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A test, as `cargo dpor` finds it in the compiled crate.
#[repr(C)]
pub struct Marker {
    /// The function's name.
    pub name: &'static str,
    /// The options, as lines of `key=value`.
    pub config: &'static str,
    /// Runs the test; a result that means failure is a panic.
    pub f: fn(),
}

/// A model begins: what follows is explored for itself, with at most so many executions, and at most for so long.
pub fn begin_model(max_executions: Option<usize>, max_time: Option<Duration>) {
    let milliseconds = |time: Duration| usize::try_from(time.as_millis()).unwrap_or(usize::MAX);
    boundary(0, max_executions.unwrap_or(usize::MAX), max_time.map_or(usize::MAX, milliseconds));
}

/// Waits until all threads have ended that the model has started.
pub fn join_all() {
    loop {
        match unjoined() {
            0 => return,
            thread => join(thread),
        }
    }
}

/// A model ends: what follows is explored for its first execution.
pub fn end_model() {
    boundary(1, usize::MAX, usize::MAX);
}

/// A model begins (0) or ends (1).
#[inline(never)]
fn boundary(end: usize, max_executions: usize, milliseconds: usize) {
    let _ = (end, max_executions, milliseconds);
}

/// Waits until all other threads have ended; a thread that was not joined, or 0. Elsewhere nobody knows.
#[inline(never)]
fn unjoined() -> usize {
    0
}

/// Joins a thread that has ended.
#[inline(never)]
fn join(thread: usize) {
    let _ = thread;
}

/// What a thread unwinds with at a false assumption.
struct AssumptionFailed;

/// How many threads that no test runs on ended at a false assumption.
static FAILED_IN_THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread runs a test's body, and will stop the unwinding.
    static IN_TEST: Cell<bool> = const { Cell::new(false) };
}

/// Ends the thread at a false assumption. The panic hook is not called: nothing went wrong.
pub(crate) fn assumption_failed() -> ! {
    if !IN_TEST.with(Cell::get) {
        FAILED_IN_THREADS.fetch_add(1, Ordering::SeqCst);
        eprintln!("dpor::assume: an assumption does not hold, and this thread ends here");
    }
    resume_unwind(Box::new(AssumptionFailed))
}

/// An execution comes to a label: what `dpor::cover!` calls. `cargo dpor` finds the calls in the compiled test.
#[inline(never)]
pub fn cover(label: &'static str) {
    let _ = label;
}

/// Runs a test under plain `cargo test`; `should_panic` is the message that it is expected to panic with.
pub fn run(test: fn(), should_panic: Option<&str>) {
    if crate::checking() {
        return test();
    }
    match (until_assumption_fails(test), should_panic) {
        (Native::Assumed, Some(message)) => resume_unwind(Box::new(message.to_owned())),
        (Native::Assumed | Native::Done(()), _) => {}
    }
}

/// As [`run`], for a test that returns something.
pub fn run_returning<T>(test: fn() -> T) -> Native<T> {
    if crate::checking() {
        return Native::Done(test());
    }
    until_assumption_fails(test)
}

/// How a test ended.
pub enum Native<T> {
    /// It returned this.
    Done(T),
    /// An assumption was false.
    Assumed,
}

fn until_assumption_fails<T>(test: fn() -> T) -> Native<T> {
    let failed_before = FAILED_IN_THREADS.load(Ordering::SeqCst);
    let outer = IN_TEST.with(|in_test| in_test.replace(true));
    let result = catch_unwind(AssertUnwindSafe(test));
    IN_TEST.with(|in_test| in_test.set(outer));
    match result {
        Ok(value) => Native::Done(value),
        Err(payload) if payload.is::<AssumptionFailed>() => Native::Assumed,
        Err(payload) => {
            let failed_in_threads = FAILED_IN_THREADS.load(Ordering::SeqCst) != failed_before;
            if failed_in_threads && is_because_of_a_thread(&*payload) {
                Native::Assumed
            } else {
                resume_unwind(payload)
            }
        }
    }
}

/// Whether a panic is what one gets where a thread that was joined, or that held a lock, had unwound.
///
/// A thread does not know which test started it: only this tells a test that failed because its thread ended at a false
/// assumption from another test that failed at the same time.
fn is_because_of_a_thread(payload: &(dyn Any + Send)) -> bool {
    let literal = payload.downcast_ref::<&str>().copied();
    let message = literal.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or_default();
    ["Any { .. }", "a scoped thread panicked", "PoisonError { .. }"].iter().any(|sign| message.contains(sign))
}

impl<T: Termination> Termination for Native<T> {
    fn report(self) -> ExitCode {
        match self {
            Native::Done(value) => value.report(),
            Native::Assumed => ExitCode::SUCCESS,
        }
    }
}

impl<T: Termination, E: Debug> Native<Result<T, E>> {
    /// Panics with the error, if there is one. For `Result`, this is preferred to the method of [`Finish`].
    #[track_caller]
    pub fn finish(self) {
        match self {
            Native::Done(Ok(value)) => Native::Done(value).finish(),
            Native::Done(Err(error)) => panic!("the test returned an error: {error:?}"),
            Native::Assumed => {}
        }
    }
}

/// Turns what a test returned into a panic where it means failure.
pub trait Finish {
    /// Panics if this means failure.
    fn finish(self);
}

impl<T: Termination> Finish for Native<T> {
    #[track_caller]
    fn finish(self) {
        if type_name::<T>() == type_name::<()>() {
            return;
        }
        let code = self.report();
        // Exit codes cannot be compared before Rust 1.95, only printed.
        if format!("{code:?}") != format!("{:?}", ExitCode::SUCCESS) {
            panic!("the test returned a termination value with a non-zero status code, which indicates a failure");
        }
    }
}
