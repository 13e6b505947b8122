//! Every execution of concurrent programs: their numbers, and the errors that only some of them have.

use dpor_engine::model::MemoryModel;
use dpor_engine::vm::{Role, ThreadId, Wait};
use dpor_tests::Package;
use dpor_tests::explored::{self, Explored};

#[test]
fn executions_and_errors_are_as_expected() {
    explored::assert_as_annotated(&Package::new("explored"));
}

#[test]
fn synchronization_has_the_executions_that_its_models_say() {
    explored::assert_as_annotated(&Package::new("synchronization"));
}

/// What each thread of a deadlock waits for, and who has it.
type Waits = &'static [(Wait, &'static [ThreadId])];

#[test]
fn deadlocks_say_who_waits_for_what() {
    const MAIN: ThreadId = ThreadId::MAIN;
    const OTHER: ThreadId = ThreadId(1);
    let expected: [(&str, Waits); 13] = [
        ("channels::message_for_oneself", &[(Wait::Room, &[])]),
        ("channels::message_that_never_comes", &[(Wait::Message, &[])]),
        ("condvars::lost_wake_up", &[(Wait::Notification, &[])]),
        ("futexes::never_woken", &[(Wait::Wake, &[])]),
        ("locks::locked_twice", &[(Wait::Mutex, &[MAIN])]),
        ("locks::opposite_orders", &[(Wait::Mutex, &[OTHER]), (Wait::Mutex, &[MAIN])]),
        ("once::within_itself", &[(Wait::Initialization, &[MAIN])]),
        ("reactors::never_told", &[(Wait::Epoll, &[])]),
        ("reactors::never_written", &[(Wait::Eventfd, &[])]),
        ("reactors::reactor_that_is_joined", &[(Wait::End(OTHER), &[]), (Wait::Epoll, &[])]),
        ("rwlocks::write_while_reading", &[(Wait::WriteLock, &[MAIN])]),
        ("threads::barrier_that_nobody_else_comes_to", &[(Wait::Barrier, &[])]),
        ("threads::parked_for_ever", &[(Wait::End(OTHER), &[]), (Wait::Token, &[])]),
    ];
    let explored = Explored::of(&Package::new("synchronization"));
    for (name, expected) in expected {
        let test = explored.tests().iter().find(|test| test.name == name).expect(name);
        let checked = explored.check(test, MemoryModel::Rc11, 1);
        let failure = checked.failure().expect("a deadlock");
        let waiting = failure.waiting.iter().map(|waiting| (waiting.wait.expect("a reason"), &waiting.holders[..]));
        assert_eq!(waiting.collect::<Vec<_>>(), expected, "{name}");
        let waits = failure.notes.iter().filter(|note| note.kind.role() == Role::Blocked);
        assert_eq!(waits.count(), expected.len(), "{name}");
    }
}
