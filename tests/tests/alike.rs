//! Threads that are alike, and threads that only seem to be.

use dpor_tests::{Package, explored};

#[test]
fn executions_and_errors_are_as_expected() {
    explored::assert_as_annotated(&Package::new("alike"));
}
