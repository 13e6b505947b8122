//! Concurrency bugs that real crates shipped are found, and their fixes pass.

use dpor_tests::{Package, explored};

#[test]
fn bugs_are_found_and_fixes_pass() {
    explored::assert_as_annotated(&Package::new("bugs"));
}

#[test]
fn bugs_are_found_with_the_types_of_loom() {
    explored::assert_as_annotated(&Package::new("loom-bugs"));
}
