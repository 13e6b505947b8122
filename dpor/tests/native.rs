//! Under plain `cargo test`, a `#[dpor::test]` is an ordinary test.

use std::num::ParseIntError;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::thread;

#[dpor::test]
fn runs_once() {
    static RUNS: Mutex<u32> = Mutex::new(0);
    let mut runs = RUNS.lock().unwrap();
    *runs += 1;
    assert_eq!(*runs, 1);
}

#[dpor::test]
fn returns_a_result() -> Result<(), ParseIntError> {
    assert_eq!("12".parse::<u8>()?, 12);
    Ok(())
}

#[dpor::test]
fn returns_an_exit_code() -> ExitCode {
    ExitCode::SUCCESS
}

#[dpor::test]
#[should_panic]
fn never_returns() -> ! {
    panic!("on purpose")
}

#[dpor::test]
#[should_panic(expected = "on purpose")]
fn panics_as_it_should() {
    panic!("this panics on purpose");
}

#[should_panic = "on purpose"]
#[dpor::test]
fn attributes_may_come_first() {
    panic!("this panics on purpose");
}

#[dpor::test]
#[ignore = "it would fail"]
fn is_ignored() {
    panic!("ignored tests are not run");
}

#[dpor::test]
#[cfg_attr(not(miri), ignore)]
fn is_ignored_under_a_condition() {
    panic!("ignored tests are not run");
}

#[dpor::test]
#[cfg(any())]
fn does_not_exist() {
    let _: u32 = "no";
}

#[dpor::test]
#[allow(unused_variables)]
pub fn keeps_visibility_and_attributes() {
    let unused = 1;
}

#[dpor::test]
fn r#try() {}

#[dpor::test(model = "tso, pso", buffer_bound = 2, spurious)]
fn takes_options() {}

#[dpor::test(expect = "panic", equivalence = "reads-from", unroll = 3, max_executions = 1_000, spurious = false)]
fn takes_the_other_options() {}

mod nested {
    pub mod module {
        #[dpor::test]
        fn works_in_modules() {}
    }
}

#[test]
fn markers_carry_the_options() {
    assert_eq!(__dpor_marker_runs_once.config, "");
    assert_eq!(__dpor_marker_takes_options.config, "model=tso,pso\nbuffer_bound=2\nspurious=true\n");
    assert_eq!(
        __dpor_marker_takes_the_other_options.config,
        "expect=panic\nequivalence=reads-from\nunroll=3\nmax_executions=1000\nspurious=false\n"
    );
    assert_eq!(__dpor_marker_panics_as_it_should.config, "should_panic=on purpose\n");
    assert_eq!(__dpor_marker_attributes_may_come_first.config, "should_panic=on purpose\n");
    assert_eq!(__dpor_marker_never_returns.config, "should_panic=\n");
    assert_eq!(__dpor_marker_is_ignored.config, "ignore=it would fail\n");
    assert_eq!(__dpor_marker_is_ignored_under_a_condition.config, "ignore=\n");
}

#[test]
fn markers_carry_the_name_and_the_function() {
    assert_eq!(__dpor_marker_returns_a_result.name, "returns_a_result");
    assert_eq!(__dpor_marker_try.name, "r#try");
    (__dpor_marker_returns_a_result.f)();
    (__dpor_marker_returns_an_exit_code.f)();
}

mod failing {
    //! Tests that fail: run by hand below, not by the harness.

    use super::*;

    #[dpor::test]
    #[ignore = "it fails"]
    fn returns_an_error() -> Result<(), ParseIntError> {
        "x".parse::<u8>()?;
        Ok(())
    }

    #[dpor::test]
    #[ignore = "it fails"]
    fn returns_failure() -> ExitCode {
        ExitCode::FAILURE
    }

    #[test]
    #[should_panic = "the test returned an error: ParseIntError { kind: InvalidDigit }"]
    fn an_error_is_a_panic() {
        (__dpor_marker_returns_an_error.f)();
    }

    #[test]
    #[should_panic = "non-zero status code"]
    fn a_failing_exit_code_is_a_panic() {
        (__dpor_marker_returns_failure.f)();
    }
}

#[dpor::test]
fn the_first_choice_is_taken() {
    assert_eq!(dpor::choose(3), 0);
}

#[test]
#[should_panic = "nothing to choose from"]
fn there_must_be_something_to_choose_from() {
    dpor::choose(0);
}

#[dpor::test]
fn nothing_is_checked() {
    assert!(!dpor::checking());
}

#[dpor::test]
fn a_false_assumption_ends_the_test() {
    dpor::assume(true);
    dpor::assume(dpor::choose(2) == 1);
    panic!("not reached");
}

#[dpor::test]
fn a_false_assumption_ends_a_test_with_a_result() -> Result<(), ParseIntError> {
    dpor::assume(false);
    "x".parse::<u8>().map(drop)
}

#[dpor::test]
#[should_panic(expected = "a certain message")]
fn a_false_assumption_ends_a_test_that_should_panic() {
    dpor::assume(false);
}

#[dpor::test]
fn a_false_assumption_in_a_joined_thread_ends_the_test() {
    thread::spawn(|| dpor::assume(false)).join().unwrap();
    panic!("not reached");
}

#[dpor::test]
fn a_false_assumption_in_a_scoped_thread_ends_the_test() {
    thread::scope(|scope| {
        scope.spawn(|| dpor::assume(false));
    });
    panic!("not reached");
}

#[dpor::test]
fn a_false_assumption_under_a_lock_ends_the_test() {
    let lock = Arc::new(Mutex::new(0));
    let thread = thread::spawn({
        let lock = lock.clone();
        move || {
            let _guard = lock.lock().unwrap();
            dpor::assume(false);
        }
    });
    let _ = thread.join();
    *lock.lock().unwrap() += 1;
    panic!("not reached");
}

#[dpor::test]
#[should_panic = "a real failure"]
fn other_failures_remain_failures() {
    let _ = thread::spawn(|| dpor::assume(false)).join();
    panic!("a real failure");
}

#[dpor::test]
fn labels_do_nothing() {
    dpor::cover!("a label");
    dpor::cover!("another",);
}
