//! `Barrier`: all meet before anybody goes on.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;

use crate::support::{Plain, two};

#[dpor::test]
fn one_leader() {
    let barrier = Barrier::new(2);
    let meet = || barrier.wait().is_leader();
    let (first, second) = two(meet, meet);
    assert_ne!(first, second);
}

// What each has written before, both may read afterwards.
#[dpor::test]
fn written_before_read_afterwards() {
    let (barrier, data) = (Barrier::new(2), [Plain::new(0), Plain::new(0)]);
    let work = |me: usize| {
        unsafe { *data[me].get() = me + 1 };
        barrier.wait();
        data.each_ref().map(|data| unsafe { *data.get() })
    };
    assert_eq!(two(|| work(0), || work(1)), ([1, 2], [1, 2]));
}

// Read before the barrier, it is a race.
#[dpor::test]
fn read_before_the_barrier() {
    let (barrier, data) = (Barrier::new(2), Plain::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            unsafe { *data.get() = 1 }; // ERROR: data-race
            barrier.wait();
        });
        let seen = unsafe { *data.get() }; // ERROR: data-race
        barrier.wait();
        assert_ne!(seen, 7);
    });
}

// All have counted when the barrier opens.
#[dpor::test]
fn three_that_meet() {
    let (barrier, count) = (Barrier::new(3), AtomicUsize::new(0));
    let work = || {
        count.fetch_add(1, Relaxed);
        barrier.wait();
        count.load(Relaxed)
    };
    thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        assert_eq!(work(), 3);
        assert!(threads.into_iter().all(|thread| thread.join().unwrap() == 3));
    });
}

// Some have counted for the second time when others look.
#[dpor::test]
fn counted_again_too_early() {
    let (barrier, count) = (Barrier::new(2), AtomicUsize::new(0));
    let work = || {
        count.fetch_add(1, Relaxed);
        barrier.wait();
        let seen = count.load(Relaxed);
        count.fetch_add(1, Relaxed);
        seen
    };
    assert_eq!(two(work, work), (2, 2)); // ERROR: panic
}

#[dpor::test]
fn used_twice() {
    let (barrier, count) = (Barrier::new(2), AtomicUsize::new(0));
    let work = || {
        count.fetch_add(1, Relaxed);
        barrier.wait();
        let seen = count.load(Relaxed);
        barrier.wait();
        count.fetch_add(1, Relaxed);
        seen
    };
    assert_eq!(two(work, work), (2, 2));
}
