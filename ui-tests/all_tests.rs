//@ arguments: --all-tests

use std::num::ParseIntError;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

#[dpor::test]
fn one_of_ours() {}

#[test]
fn plain() {
    assert_eq!(2 + 2, 4);
}

#[test]
fn racy() {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let add = || COUNT.store(COUNT.load(Relaxed) + 1, Relaxed);
    thread::scope(|scope| {
        scope.spawn(add);
        scope.spawn(add);
    });
    assert_eq!(COUNT.load(Relaxed), 2);
}

#[test]
#[should_panic(expected = "out of range")]
fn panics_as_expected() {
    panic!("4 is out of range");
}

#[test]
#[should_panic]
fn does_not_panic() {}

#[test]
#[ignore = "takes too long"]
fn ignored() {
    panic!();
}

#[test]
fn returns_a_result() -> Result<(), ParseIntError> {
    "7".parse::<u32>().map(|_| ())
}

#[test]
fn returns_an_error() -> Result<(), ParseIntError> {
    "seven".parse::<u32>().map(|_| ())
}

#[test]
fn returns_an_exit_code() -> ExitCode {
    ExitCode::from(3)
}

mod inner {
    #[test]
    fn in_a_module() {
        #[test]
        #[allow(unnameable_test_items)]
        fn not_a_test() {
            panic!();
        }
    }
}
