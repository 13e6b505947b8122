//! Models: what each begins with.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::*};
use loom::thread;

// Two increments come in two orders; with three models, they add up.
#[dpor::test]
fn models_add_up() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    for _ in 0..3 {
        loom::model(|| {
            let x = Arc::new(AtomicUsize::new(0));
            let other = x.clone();
            let thread = thread::spawn(move || other.fetch_add(1, AcqRel));
            x.fetch_add(1, AcqRel);
            thread.join().unwrap();
        });
    }
}

loom::lazy_static! {
    static ref COUNT: AtomicUsize = AtomicUsize::new(0);
}

loom::thread_local! {
    static LOCAL: AtomicUsize = AtomicUsize::new(0);
}

#[dpor::test]
fn a_model_begins_with_fresh_statics() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    for _ in 0..2 {
        loom::model(|| {
            assert_eq!(COUNT.fetch_add(1, Relaxed), 0);
            assert_eq!(LOCAL.with(|local| local.fetch_add(1, Relaxed)), 0);
            thread::spawn(|| assert_eq!(LOCAL.with(|local| local.fetch_add(1, Relaxed)), 0)).join().unwrap();
            let thread = thread::spawn(|| COUNT.fetch_add(1, AcqRel));
            COUNT.fetch_add(1, AcqRel);
            thread.join().unwrap();
        });
    }
}

// A thread-local of the main thread is dropped at the end of each model, and a lazy static, too.
#[dpor::test]
fn statics_are_dropped() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    static DROPPED: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Relaxed);
        }
    }
    loom::lazy_static! {
        static ref LAZY: Counted = Counted;
    }
    loom::thread_local! {
        static KEPT: Counted = Counted;
    }
    for model in 0..2 {
        assert_eq!(DROPPED.load(Relaxed), 2 * model);
        loom::model(|| {
            let _: &Counted = &LAZY;
            KEPT.with(|_| ());
        });
    }
    assert_eq!(DROPPED.load(Relaxed), 4);
}

#[dpor::test]
fn a_panic_that_nobody_joins() {
    // ERROR: panic
    loom::model(|| {
        thread::spawn(|| panic!());
    });
}

#[dpor::test]
fn a_tracked_value_that_is_lost() {
    loom::model(|| {
        std::mem::forget(loom::alloc::Track::new(1)); // ERROR: memory-leak
    });
}

#[dpor::test]
fn a_bound_of_the_model() {
    // OUTCOME: incomplete
    let mut builder = loom::model::Builder::new();
    builder.max_permutations = Some(2);
    builder.check(|| {
        dpor::choose(3);
    });
}

// All three executions are within the bound.
#[dpor::test]
fn a_bound_that_is_not_reached() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let mut builder = loom::model::Builder::new();
    builder.max_permutations = Some(3);
    for _ in 0..2 {
        builder.check(|| {
            dpor::choose(3);
        });
    }
}
