//! Every execution of concurrent programs: their numbers, and the errors that only some of them have.

use dpor_engine::model::MemoryModel;
use dpor_engine::vm::{ThreadId, Wait};
use dpor_tests::Package;
use dpor_tests::explored::{self, Explored};

/// Tests that wait for what the checker does not have yet.
const PENDING: &[&str] = &["waiting::stack"];

#[test]
fn executions_and_errors_are_as_expected() {
    explored::assert_as_annotated(&Package::new("explored"), PENDING);
}

#[test]
fn synchronization_has_the_executions_that_its_models_say() {
    explored::assert_as_annotated(&Package::new("synchronization"), &[]);
}

/// What each thread of a deadlock waits for, and who has it.
#[test]
fn deadlocks_say_who_waits_for_what() {
    let (main, other) = (ThreadId::MAIN, ThreadId(1));
    let expected: [(&str, &[(Wait, &[ThreadId])]); 10] = [
        ("channels::message_for_oneself", &[(Wait::Room, &[])]),
        ("channels::message_that_never_comes", &[(Wait::Message, &[])]),
        ("condvars::lost_wake_up", &[(Wait::Notification, &[])]),
        ("futexes::never_woken", &[(Wait::Wake, &[])]),
        ("locks::locked_twice", &[(Wait::Mutex, &[main])]),
        ("locks::opposite_orders", &[(Wait::Mutex, &[other]), (Wait::Mutex, &[main])]),
        ("once::within_itself", &[(Wait::Initialization, &[main])]),
        ("rwlocks::write_while_reading", &[(Wait::WriteLock, &[main])]),
        ("threads::barrier_that_nobody_else_comes_to", &[(Wait::Barrier, &[])]),
        ("threads::parked_for_ever", &[(Wait::End(other), &[]), (Wait::Token, &[])]),
    ];
    let explored = Explored::of(&Package::new("synchronization"));
    for (name, expected) in expected {
        let test = explored.tests().iter().find(|test| test.name == name).expect(name);
        let checked = explored.check(test, MemoryModel::Rc11, 1);
        let failure = checked.failure().expect("a deadlock");
        let waiting = failure.waiting.iter().map(|waiting| (waiting.wait.expect("a reason"), &waiting.holders[..]));
        assert_eq!(waiting.collect::<Vec<_>>(), expected, "{name}");
        assert_eq!(failure.notes.len(), expected.len(), "{name}");
    }
}
