//! Programs that papers count under reads-from equivalence, and errors that depend on the order of writes which nobody
//! reads. All accesses of the former are SeqCst, so that every model is as strong as SC.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::*};
use std::thread;

use crate::support::spawned;

static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);
static ARRAY: [AtomicUsize; 12] = [const { AtomicUsize::new(0) }; 12];
static POINTER: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());

fn nothing() {}

// Each is read in one of n ways: n of them, where n! orders of the writes make as many traces.
#[dpor::test]
fn lastwrite() {
    // COUNT: rc11 720 sc 720 tso 720 pso 720
    // READS-FROM: rc11 6 sc 6 tso 6 pso 6
    spawned(6, |i| X.store(i + 1, SeqCst), nothing);
    assert_ne!(X.load(SeqCst), 0);
}

// The load reads one of the n stores, or what was there before: n + 1 ways, and (n + 1)! traces.
#[dpor::test]
fn floating_read() {
    // COUNT: rc11 720 sc 720 tso 720 pso 720
    // READS-FROM: rc11 6 sc 6 tso 6 pso 6
    for i in 0..5 {
        thread::spawn(move || X.store(i + 1, SeqCst));
    }
    X.load(SeqCst);
}

// Thread i reads one of the n − i stores from its own on: n! ways; the traces are the product of the odd numbers below 2n.
#[dpor::test]
fn sigma() {
    // COUNT: rc11 10395 sc 10395 tso 10395 pso 10395
    // READS-FROM: rc11 720 sc 720 tso 720 pso 720
    let start = |i| {
        X.store(i, SeqCst);
        thread::spawn(|| ARRAY[X.load(SeqCst)].store(1, SeqCst))
    };
    let threads: Vec<_> = (0..6).map(start).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

// 19,605 for 4 rounds is what Nidhugg counts: the writes of each variable are one thread's.
#[dpor::test]
fn fib_bench() {
    // COUNT: rc11 19605 sc 19605 tso 19605 pso 19605
    // READS-FROM: rc11 19605 sc 19605 tso 19605 pso 19605
    X.store(1, SeqCst);
    Y.store(1, SeqCst);
    let add = |mine: &'static AtomicUsize, other: &'static AtomicUsize| {
        for _ in 0..4 {
            let sum = mine.load(SeqCst) + other.load(SeqCst);
            mine.store(sum, SeqCst);
        }
    };
    thread::spawn(move || add(&X, &Y));
    thread::spawn(move || add(&Y, &X));
    // The tenth of the sequence.
    assert!(X.load(SeqCst) >= 89 || Y.load(SeqCst) < 89);
}

// (n + 3)·2^(n − 2): the formula of the papers; 7,168 for 11.
#[dpor::test]
fn lastzero() {
    // COUNT: rc11 7168 sc 7168 tso 7168 pso 7168
    // READS-FROM: rc11 7168 sc 7168 tso 7168 pso 7168
    let body = |j: usize| match j {
        0 => {
            let mut i = 11;
            while ARRAY[i].load(SeqCst) != 0 {
                i -= 1;
            }
        }
        _ => ARRAY[j].store(ARRAY[j - 1].load(SeqCst) + 1, SeqCst),
    };
    spawned(12, body, nothing);
}

// 8,597 for 9 threads is what Nidhugg counts: updates are ordered by what they read.
#[dpor::test]
fn casrot() {
    // COUNT: rc11 8597 sc 8597 tso 8597 pso 8597
    // READS-FROM: rc11 8597 sc 8597 tso 8597 pso 8597
    spawned(9, |i| _ = X.compare_exchange(i, i + 1, SeqCst, SeqCst), nothing);
}

// Each reader reads 0 or 1: 2^n.
#[dpor::test]
fn readers() {
    // COUNT: rc11 256 sc 256 tso 256 pso 256
    // READS-FROM: rc11 256 sc 256 tso 256 pso 256
    let body = |i| match i {
        0 => X.store(1, SeqCst),
        _ => _ = X.load(SeqCst),
    };
    spawned(9, body, nothing);
}

// Nobody reads what is written last, but the end of the test.
#[dpor::test]
fn the_first_store_comes_last() {
    spawned(2, |i| X.store(i + 1, Relaxed), nothing);
    assert_eq!(X.load(Relaxed), 2); // ERROR: panic
}

#[dpor::test]
fn the_second_store_comes_last() {
    spawned(2, |i| X.store(i + 1, Relaxed), nothing);
    assert_eq!(X.load(Relaxed), 1); // ERROR: panic
}

// A block is lost just if the pointer to it is overwritten: nobody ever reads it.
#[dpor::test]
fn a_pointer_is_overwritten() {
    let writer = thread::spawn(|| {
        let block = Box::into_raw(Box::new(1)); // ERROR: memory-leak
        POINTER.store(block, Relaxed);
    });
    POINTER.store(ptr::null_mut(), Relaxed);
    writer.join().unwrap();
}

#[dpor::test]
fn a_pointer_is_overwritten_by_another_thread() {
    let eraser = thread::spawn(|| POINTER.store(ptr::null_mut(), Relaxed));
    let block = Box::into_raw(Box::new(1)); // ERROR: memory-leak
    POINTER.store(block, Relaxed);
    eraser.join().unwrap();
}

// What the thread waits for may be overwritten before it looks.
#[dpor::test]
fn waits_for_what_is_overwritten() {
    thread::spawn(|| X.store(1, Relaxed));
    thread::spawn(|| X.store(2, Relaxed));
    // ERROR: non-termination
    while X.load(Relaxed) != 1 {
        std::hint::spin_loop();
    }
}

#[dpor::test]
fn waits_for_what_is_overwritten_by_the_first() {
    thread::spawn(|| X.store(2, Relaxed));
    thread::spawn(|| X.store(1, Relaxed));
    // ERROR: non-termination
    while X.load(Relaxed) != 1 {
        std::hint::spin_loop();
    }
}

// Either variable alone may end as 2; both cannot under SC, since each thread sets one to 2 before the other to 1.
#[dpor::test]
fn waits_for_one_of_two() {
    // MODELS: rc11 pso
    thread::spawn(|| {
        X.store(2, Relaxed);
        Y.store(1, Relaxed);
    });
    thread::spawn(|| {
        Y.store(2, Relaxed);
        X.store(1, Relaxed);
    });
    // ERROR: non-termination
    while X.load(Relaxed) != 1 && Y.load(Relaxed) != 1 {
        std::hint::spin_loop();
    }
}

// Two blocks are kept in two variables, whatever the order; one variable alone loses one of them.
#[dpor::test]
fn one_of_two_pointers_is_lost() {
    let store = |i: u32| {
        let block = Box::into_raw(Box::new(i)); // ERROR: memory-leak
        POINTER.store(block, Release);
    };
    let writer = thread::spawn(move || store(1));
    store(2);
    writer.join().unwrap();
}
