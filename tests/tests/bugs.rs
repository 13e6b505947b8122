//! Concurrency bugs that real crates shipped are found, and their fixes pass.

use dpor_tests::{Package, explored};

/// Tests that wait for what the checker does not have yet: accesses that happen to be run before the memory is gone, but
/// need not be.
const PENDING: &[&str] = &["latch_lifetime::broken", "latch_lifetime::broken_on_the_heap"];

#[test]
fn bugs_are_found_and_fixes_pass() {
    explored::assert_as_annotated(&Package::new("bugs"), PENDING);
}
