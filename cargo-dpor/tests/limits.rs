//! Limits that hold: what a check may take, and what is known when it has taken that.

mod support;

use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Project, Run};

/// The objects of the tests in the order in which they were run.
fn tests(run: &Run) -> Vec<Value> {
    let lines = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|event| event["event"] == "test").collect()
}

/// The first 2^13 executions, less one that never ends, and eight that another worker explores meanwhile.
#[test]
fn what_other_workers_have_explored_counts_when_the_time_is_over() {
    let project = Project::package("limits_count", "").file(
        "tests/a.rs",
        "#[dpor::test]
        fn never_ends_at_last() {
            if dpor::choose(2) == 1 {
                dpor::choose(8);
                return;
            }
            let all = (0..13).map(|_| dpor::choose(2)).collect::<Vec<_>>();
            let mut number = 1u64;
            while all.iter().all(|choice| *choice == 1) && number != 0 {
                number = number % 1000 + 1;
            }
        }",
    );
    project.run("test --list").expect_code(0);
    let start = Instant::now();
    let run =
        project.run("test --quiet --workers 2 --timeout 20 --max-steps 1000000000000 --format json").expect_code(1);
    let test = &tests(&run)[0];
    assert_eq!((&test["outcome"], &test["executions"]), (&"incomplete".into(), &8199.into()), "{test}");
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

/// A test that would take ten gigabytes ends, and the next one passes.
#[test]
fn a_test_that_takes_too_much_memory_does_not_harm_the_next() {
    let project = Project::package("limits_memory", "").file(
        "tests/a.rs",
        "#[dpor::test]
        fn allocates() {
            let all: Vec<Vec<u64>> = (0..10_000).map(|i| vec![i; 1 << 17]).collect();
            std::hint::black_box(&all);
        }
        #[dpor::test]
        fn then_passes() {}",
    );
    let run = project.run("test --quiet --max-memory 300M --timeout 300 --format json").expect_code(1);
    let tests = tests(&run);
    assert_eq!((&tests[0]["outcome"], &tests[1]["outcome"]), (&"incomplete".into(), &"passed".into()), "{tests:?}");
    let message = tests[0]["error"]["message"].as_str().unwrap();
    assert_eq!(message, "memory limit reached: not all executions were explored in 300 MB");
}

/// The block, which nothing is written to, takes no memory yet: it is refused because it could.
#[test]
fn a_block_that_does_not_fit_is_refused() {
    let project = Project::package("limits_block", "").file(
        "tests/a.rs",
        "#[dpor::test]
        fn fits() {
            std::hint::black_box(Vec::<u8>::with_capacity(2 << 20));
        }
        #[dpor::test]
        fn is_too_large() {
            std::hint::black_box(Vec::<u8>::with_capacity(2 << 30));
        }
        #[dpor::test]
        fn then_passes() {}",
    );
    let run = project.run("test --quiet --max-memory 1G --timeout 300 --format json").expect_code(1);
    let tests = tests(&run);
    let outcomes: Vec<_> = tests.iter().map(|test| test["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["passed", "incomplete", "passed"], "{tests:?}");
    let message = tests[1]["error"]["message"].as_str().unwrap();
    assert_eq!(message, "memory limit reached: not all executions were explored in 1 GB");
}

/// Each of the 100,000 lines has 6 bytes, and what is kept is at least 65,536 bytes: 10,923 lines.
#[test]
fn what_is_printed_is_kept_up_to_a_limit() {
    let project = Project::package("limits_output", "").file(
        "tests/a.rs",
        "#[dpor::test]
        fn prints() {
            (10_000..110_000).for_each(|number| println!(\"{}\", number % 90_000 + 10_000));
        }",
    );
    let run = project.run("test --quiet --nocapture --format json").expect_code(0);
    let tests = tests(&run);
    let output = tests[0]["output"].as_str().unwrap();
    assert!(output.len() < 70_000, "{}", output.len());
    assert!(output.ends_with("(the test printed 534462 more bytes, which are left out)\n"), "{}", &output[65_000..]);
}

/// A loop that locks a mutex to look waits with the mutex in its hands, in the middle of an iteration that can be taken back.
#[test]
fn threads_that_wait_are_no_error_of_random_executions() {
    let project = Project::package("limits_sample", "").file(
        "tests/a.rs",
        "use std::sync::Mutex;
        #[dpor::test]
        fn under_a_mutex() {
            let slot = Mutex::new(None);
            std::thread::scope(|scope| {
                scope.spawn(|| *slot.lock().unwrap() = Some(7));
                scope.spawn(|| while slot.lock().unwrap().take().is_none() {
                    std::thread::yield_now();
                });
            });
        }",
    );
    let run = project.run("test --quiet --sample 300 --seed 3 --format json").expect_code(1);
    let test = &tests(&run)[0];
    assert_eq!(test["outcome"], "incomplete", "{test}");
}
