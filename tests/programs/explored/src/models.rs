//! Models: closures that are explored for themselves.
//!
//! `two_stores` has 4 executions: two stores to one location come in two orders, and of the two loads, each after a
//! store of its own thread, at most one can see the other thread's store: that which comes later. So it has 1 + 1
//! executions for each order.

use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex};
use std::thread;

fn two_stores() {
    let x = Arc::new(AtomicUsize::new(0));
    let thread = thread::spawn({
        let x = x.clone();
        move || {
            x.store(1, SeqCst);
            x.load(SeqCst)
        }
    });
    x.store(2, SeqCst);
    let mine = x.load(SeqCst);
    let theirs = thread.join().unwrap();
    assert!(mine == 2 || theirs == 1);
}

#[dpor::test]
fn a_model_has_the_executions_of_its_body() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    dpor::model(two_stores);
}

#[dpor::test]
fn models_add_up() {
    // COUNT: rc11 12 sc 12 tso 12 pso 12
    for _ in 0..3 {
        dpor::model(two_stores);
    }
}

// 4 in the model, and 4 of what follows it.
#[dpor::test]
fn what_follows_is_explored_for_one_execution() {
    // COUNT: rc11 8 sc 8 tso 8 pso 8
    dpor::model(two_stores);
    two_stores();
}

// What comes before is not in the model: 1 execution where 0 was chosen, and 2 where it was 1.
#[dpor::test]
fn what_comes_before_is_explored_with_a_model_each() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let n = dpor::choose(2);
    dpor::model(|| {
        dpor::choose(n + 1);
    });
}

// The first model has 2 executions, and what follows goes on with the first of them: 3 more.
#[dpor::test]
fn the_first_execution_goes_on() {
    // COUNT: rc11 5 sc 5 tso 5 pso 5
    let chosen = AtomicUsize::new(0);
    dpor::model(|| chosen.store(dpor::choose(2), Relaxed));
    assert_eq!(chosen.load(Relaxed), 0);
    dpor::model(|| {
        dpor::choose(3);
    });
}

// The first execution is none: an assumption is false in it.
#[dpor::test]
fn the_first_complete_execution_goes_on() {
    // COUNT: rc11 4+1 sc 4+1 tso 4+1 pso 4+1
    let chosen = AtomicUsize::new(0);
    dpor::model(|| {
        let choice = dpor::choose(3);
        dpor::assume(choice > 0);
        chosen.store(choice, Relaxed);
    });
    assert_eq!(chosen.load(Relaxed), 1);
    dpor::model(|| {
        dpor::choose(2);
    });
}

#[dpor::test]
fn an_error_in_any_execution_fails() {
    dpor::model(|| {});
    dpor::model(|| {
        assert!(dpor::choose(3) != 2); // ERROR: panic
    });
}

#[dpor::test]
fn a_race_in_any_execution_fails() {
    static DATA: crate::support::Plain<u32> = crate::support::Plain::new(0);
    dpor::model(|| {
        let order = if dpor::choose(2) == 0 { SeqCst } else { Relaxed };
        let flag = Arc::new(AtomicUsize::new(0));
        let thread = thread::spawn({
            let flag = flag.clone();
            move || {
                unsafe { *DATA.get() += 1 }; // ERROR: data-race
                flag.store(1, SeqCst);
            }
        });
        if flag.load(order) == 1 {
            unsafe { *DATA.get() += 1 }; // ERROR: data-race
        }
        thread.join().unwrap();
    });
}

#[dpor::test]
fn a_leak_in_any_execution_fails() {
    dpor::model(|| {
        if dpor::choose(3) == 2 {
            std::mem::forget(Box::new(0)); // ERROR: memory-leak
        }
    });
}

#[dpor::test]
fn what_the_test_keeps_is_no_leak() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let kept = Mutex::new(Vec::new());
    dpor::model(|| {
        if dpor::choose(3) == 2 {
            kept.lock().unwrap().push(Box::new(0));
        }
    });
}

// The end of the model waits for a thread that nobody joins: what it has written is there, and no race. The load sees
// the store or does not, and the two references are dropped in two orders: 4, and 1 for what follows.
#[dpor::test]
fn a_model_ends_when_its_threads_have_ended() {
    // COUNT: rc11 5 sc 5 tso 5 pso 5
    static DATA: crate::support::Plain<u32> = crate::support::Plain::new(0);
    let x = Arc::new(AtomicUsize::new(0));
    dpor::model({
        let x = x.clone();
        move || {
            thread::spawn({
                let x = x.clone();
                move || {
                    x.store(1, Relaxed);
                    unsafe { *DATA.get() += 1 };
                }
            });
            x.load(Relaxed);
        }
    });
    assert_eq!(Arc::try_unwrap(x).unwrap().into_inner(), 1);
    assert_eq!(unsafe { *DATA.get() }, 1);
}

#[dpor::test]
fn threads_of_a_scope_are_joined() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let x = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| x.store(1, Relaxed));
    });
    dpor::model(|| {
        thread::scope(|scope| {
            scope.spawn(|| x.store(2, Relaxed));
            assert_ne!(x.load(Relaxed), 0);
        });
    });
}

#[dpor::test]
fn a_thread_that_never_ends() {
    let mutex = Arc::new(Mutex::new(0));
    // ERROR: deadlock
    dpor::model(|| {
        let guard = mutex.lock().unwrap();
        let mutex = mutex.clone();
        thread::spawn(move || drop(mutex.lock()));
        std::mem::forget(guard);
    });
}

#[dpor::test]
fn a_thread_from_before() {
    // OUTCOME: unsupported
    thread::spawn(|| ());
    let x = Arc::new(AtomicUsize::new(0));
    thread::spawn({
        let x = x.clone();
        move || x.store(1, Relaxed)
    });
    dpor::model(move || {
        x.load(Relaxed);
    });
}

#[dpor::test]
fn a_model_in_a_model() {
    // OUTCOME: unsupported
    dpor::model(|| dpor::model(|| {}));
}

#[dpor::test]
fn a_model_in_another_thread() {
    // OUTCOME: unsupported
    thread::spawn(|| dpor::model(|| {})).join().unwrap();
}
