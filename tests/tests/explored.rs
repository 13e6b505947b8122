//! Every execution of concurrent programs: their numbers, and the errors that only some of them have.

use dpor_tests::{Package, explored};

/// Tests that wait for what the checker does not have yet: loops that spin, channels and locks that are not modelled, a
/// clock that goes on when a wait times out, wake-ups that are missing, atomics of several sizes at one place.
const PENDING: &[&str] = &[
    "bytes::atomics_of_two_sizes",
    "bytes::atomics_of_two_sizes_in_turns",
    "channels::all_until_the_sender_is_gone",
    "channels::bounded",
    "channels::boxed_messages",
    "channels::data_beside_the_channel",
    "channels::full_or_not",
    "channels::in_order",
    "channels::message_that_nobody_receives",
    "channels::received_in_time_as_was_thought",
    "channels::received_in_time_or_not",
    "channels::receiver_gone_or_not_yet",
    "channels::receiver_thought_to_be_there",
    "channels::rendezvous",
    "channels::there_or_not_yet",
    "channels::time_is_over",
    "channels::two_senders",
    "channels::two_senders_thought_to_be_in_order",
    "condvars::timeout_or_notification",
    "condvars::timeout_thought_impossible",
    "deadlocks::one_of_two_notified",
    "futexes::changed_without_waking",
    "futexes::lock_that_wakes_nobody",
    "futexes::one_of_two_woken",
    "futexes::woken_too_early",
    "rwlocks::downgraded",
    "rwlocks::readers_and_a_writer",
];

#[test]
fn executions_and_errors_are_as_expected() {
    explored::assert_as_annotated(&Package::new("explored"), PENDING);
}
