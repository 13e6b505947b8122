//! Closures that are checked, with all that shuttle has for them.

use shuttle::future::{self, JoinError};
use shuttle::rand::{thread_rng, Rng, RngCore};
use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, RoundRobinScheduler};
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::sync::{Arc, Barrier, Condvar, Mutex, Once, RwLock};
use shuttle::{thread, Config, PortfolioRunner, Runner};

#[dpor::test]
fn an_update_that_is_lost() {
    shuttle::check_random(|| increments(2), 100);
}

// Two increments that are not atomic come in three ways: one after the other, in two orders, and both from 0.
fn increments(expected: usize) {
    let lock = Arc::new(Mutex::new(0usize));
    let lock2 = lock.clone();
    let increment = |lock: &Mutex<usize>| {
        let value = *lock.lock().unwrap();
        *lock.lock().unwrap() = value + 1;
    };
    let thread = thread::spawn(move || increment(&lock2));
    increment(&lock);
    thread.join().unwrap();
    assert!(*lock.lock().unwrap() >= expected); // ERROR: panic
}

#[dpor::test]
fn all_ways_to_check_are_the_same() {
    shuttle::check_random(|| increments(1), 100);
    shuttle::check_random_with_seed(|| increments(1), 1, 100);
    shuttle::check_pct(|| increments(1), 100, 3);
    shuttle::check_dfs(|| increments(1), None);
    shuttle::check_uncontrolled_nondeterminism(|| increments(1), 10);
    Runner::new(RandomScheduler::new(10), Config::new()).run(|| increments(1));
    let mut runner = PortfolioRunner::new(true, Config::default());
    runner.add(PctScheduler::new(2, 10));
    runner.add(DfsScheduler::new(Some(10), false));
    runner.add(RoundRobinScheduler::new(1));
    runner.run(|| increments(1));
}

// 2 and 3 values, 2 of a probability, and 1 where there are too many.
#[dpor::test]
fn random_numbers() {
    // COUNT: rc11 12 sc 12 tso 12 pso 12
    shuttle::check_dfs(
        || {
            let mut rng = thread_rng();
            let coin: bool = rng.gen();
            let number = rng.gen_range(-1..=1);
            assert!((-1..=1).contains(&number));
            let biased = rng.gen_bool(0.1);
            let large: u64 = rng.gen_range(5..1_000_000);
            assert_eq!(large, 5);
            assert!(!rng.gen_bool(0.0) && rng.gen_ratio(1, 1));
            let _ = (coin, biased, rng.next_u32(), rng.next_u64());
        },
        None,
    );
}

shuttle::lazy_static! {
    static ref LAZY: AtomicUsize = AtomicUsize::new(0);
}

shuttle::thread_local! {
    static LOCAL: std::cell::Cell<usize> = std::cell::Cell::new(0);
    static CONSTANT: std::cell::Cell<usize> = const { std::cell::Cell::new(1) };
}

#[dpor::test]
fn statics_are_fresh() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    for _ in 0..2 {
        shuttle::check_dfs(
            || {
                shuttle::lazy_static::initialize(&LAZY);
                assert_eq!(LAZY.fetch_add(1, Ordering::Relaxed), 0);
                assert_eq!(LOCAL.with(|local| local.replace(1)) + CONSTANT.with(|local| local.replace(0)), 1);
            },
            None,
        );
    }
}

#[dpor::test]
fn a_thread_that_panics() {
    shuttle::check_dfs(|| drop(thread::spawn(|| panic!())), None); // ERROR: panic
}

#[dpor::test]
fn locks() {
    shuttle::check_dfs(
        || {
            let shared = Arc::new((Mutex::new(false), Condvar::new(), RwLock::new(1), Once::new(), Barrier::new(1)));
            let other = shared.clone();
            let thread = thread::spawn(move || {
                *other.0.lock().unwrap() = true;
                other.1.notify_one();
            });
            let guard = shared.1.wait_while(shared.0.lock().unwrap(), |ready| !*ready).unwrap();
            assert!(*guard && *shared.2.read().unwrap() == 1);
            shared.3.call_once(|| ());
            shared.4.wait();
            thread.join().unwrap();
        },
        None,
    );
}

#[dpor::test]
fn tasks() {
    shuttle::check_dfs(
        || {
            let task = future::spawn(async {
                future::yield_now().await;
                1
            });
            assert_eq!(future::block_on(task).unwrap(), 1);
        },
        None,
    );
}

#[dpor::test]
fn a_task_that_is_aborted() {
    shuttle::check_dfs(
        || {
            let task = future::spawn(std::future::pending::<()>());
            let handle = task.abort_handle();
            handle.abort();
            assert!(matches!(future::block_on(task), Err(JoinError::Cancelled)));
            assert!(handle.is_finished());
        },
        None,
    );
}
