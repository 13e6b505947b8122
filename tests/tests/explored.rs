//! Every execution of concurrent programs: their numbers, and the errors that only some of them have.

use dpor_tests::{Package, explored};

/// Tests that wait for what the checker does not have yet.
const PENDING: &[&str] = &["bytes::atomics_of_two_sizes", "bytes::atomics_of_two_sizes_in_turns"];

#[test]
fn executions_and_errors_are_as_expected() {
    explored::assert_as_annotated(&Package::new("explored"), PENDING);
}

#[test]
fn synchronization_has_the_executions_that_its_models_say() {
    explored::assert_as_annotated(&Package::new("synchronization"), &[]);
}
