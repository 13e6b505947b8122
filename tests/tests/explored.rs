//! Every execution of concurrent programs: their numbers, and the errors that only some of them have.

use dpor_tests::{Package, explored};

#[test]
fn executions_and_errors_are_as_expected() {
    explored::assert_as_annotated(&Package::new("explored"), &[]);
}
