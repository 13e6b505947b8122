//! Programs that wait in loops: their numbers of executions, and the errors that only some of them have.

use dpor_tests::{Package, explored};

/// Loops that are explored without end, because an iteration writes and takes it back or because it allocates; and loops
/// that are said to wait for ever after a compare-exchange has failed without a reason.
const PENDING: &[&str] = &[
    "conditions::under_a_mutex",
    "conditions::with_allocations",
    "confirmations::goes_on_after_failing_spuriously",
    "confirmations::weak_exchange_that_fails_spuriously",
    "crates::spin_barrier_of_three",
    "crates::spin_barrier_of_two",
    "crates::spin_rw_lock_with_one_of_each",
    "crates::spin_rw_lock_with_two_readers",
    "spin_locks::weak_cas_that_fails_spuriously",
];

#[test]
fn executions_and_errors_are_as_expected() {
    explored::assert_as_annotated(&Package::new("waiting"), PENDING);
}

#[test]
fn levels_differ_in_what_is_blocked_only() {
    explored::assert_levels_agree(&Package::new("waiting"), PENDING);
}
