//! The litmus tests of the literature, as Rust: what a model forbids never shows, what it allows does.
//!
//! Where an outcome is forbidden, the number of executions is that of all other outcomes; each is one execution unless
//! something else is said.

use std::sync::atomic::{AtomicUsize, Ordering, Ordering::*, compiler_fence, fence};
use std::thread;

use crate::support::two;

static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);

// Store buffering (SB): each thread stores and then loads what the other one stores. Both loads may see 0, except under
// SC; whatever else, there are three other outcomes.
fn store_buffering(store: Ordering, load: Ordering, between: fn()) -> (usize, usize) {
    let thread = |mine: &'static AtomicUsize, other: &'static AtomicUsize| {
        move || {
            mine.store(1, store);
            between();
            other.load(load)
        }
    };
    two(thread(&X, &Y), thread(&Y, &X))
}

fn nothing() {}

#[dpor::test]
fn store_buffering_relaxed() {
    // MODELS: rc11 tso pso
    // COUNT: sc 3
    assert_ne!(store_buffering(Relaxed, Relaxed, nothing), (0, 0)); // ERROR: panic
}

#[dpor::test]
fn store_buffering_release_acquire() {
    // MODELS: rc11 tso pso
    // COUNT: sc 3
    assert_ne!(store_buffering(Release, Acquire, nothing), (0, 0)); // ERROR: panic
}

#[dpor::test]
fn store_buffering_seq_cst() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    assert_ne!(store_buffering(SeqCst, SeqCst, nothing), (0, 0));
}

#[dpor::test]
fn store_buffering_with_seq_cst_fences() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    assert_ne!(store_buffering(Relaxed, Relaxed, || fence(SeqCst)), (0, 0));
}

#[dpor::test]
fn store_buffering_with_weaker_fences() {
    // MODELS: rc11 tso pso
    // COUNT: sc 3
    assert_ne!(store_buffering(Relaxed, Relaxed, || fence(AcqRel)), (0, 0)); // ERROR: panic
}

// A fence for the compiler is none for the processor.
#[dpor::test]
fn store_buffering_with_compiler_fences() {
    // MODELS: rc11 tso pso
    // COUNT: sc 3
    assert_ne!(store_buffering(Relaxed, Relaxed, || compiler_fence(SeqCst)), (0, 0)); // ERROR: panic
}

// On x86 and SPARC a read-modify-write is a full barrier; for Rust it is not more than its ordering.
#[dpor::test]
fn store_buffering_with_swaps() {
    // MODELS: rc11
    // COUNT: sc 3 tso 3 pso 3
    let thread = |mine: &'static AtomicUsize, other: &'static AtomicUsize| {
        move || {
            mine.swap(1, AcqRel);
            other.load(Acquire)
        }
    };
    assert_ne!(two(thread(&X, &Y), thread(&Y, &X)), (0, 0)); // ERROR: panic
}

// Message passing (MP): who sees the flag must see the message. That needs the order of the two stores, which PSO does
// not keep, and that of the two loads.
fn message_passing(first: fn(), store: Ordering, load: Ordering, then: fn()) -> (usize, usize) {
    let send = move || {
        X.store(1, Relaxed);
        first();
        Y.store(1, store);
    };
    let receive = move || {
        let flag = Y.load(load);
        then();
        (flag, X.load(Relaxed))
    };
    two(send, receive).1
}

#[dpor::test]
fn message_passing_relaxed() {
    // MODELS: rc11 pso
    // COUNT: sc 3 tso 3
    assert_ne!(message_passing(nothing, Relaxed, Relaxed, nothing), (1, 0)); // ERROR: panic
}

#[dpor::test]
fn message_passing_release_acquire() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    assert_ne!(message_passing(nothing, Release, Acquire, nothing), (1, 0));
}

#[dpor::test]
fn message_passing_with_release_alone() {
    // MODELS: rc11
    // COUNT: sc 3 tso 3 pso 3
    assert_ne!(message_passing(nothing, Release, Relaxed, nothing), (1, 0)); // ERROR: panic
}

#[dpor::test]
fn message_passing_with_acquire_alone() {
    // MODELS: rc11 pso
    // COUNT: sc 3 tso 3
    assert_ne!(message_passing(nothing, Relaxed, Acquire, nothing), (1, 0)); // ERROR: panic
}

#[dpor::test]
fn message_passing_with_fences() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    assert_ne!(message_passing(|| fence(Release), Relaxed, Relaxed, || fence(Acquire)), (1, 0));
}

#[dpor::test]
fn message_passing_with_swapped_fences() {
    // MODELS: rc11 pso
    // COUNT: sc 3 tso 3
    assert_ne!(message_passing(|| fence(Acquire), Relaxed, Relaxed, || fence(Release)), (1, 0)); // ERROR: panic
}

// All of the four outcomes, where nothing is asserted.
#[dpor::test]
fn message_passing_in_all_ways() {
    // COUNT: rc11 4 sc 3 tso 3 pso 4
    message_passing(nothing, Relaxed, Relaxed, nothing);
}

// Load buffering (LB): both loads see what the other thread stores afterwards. No model here has values out of thin air.
#[dpor::test]
fn load_buffering() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let thread = |from: &'static AtomicUsize, to: &'static AtomicUsize| {
        move || {
            let seen = from.load(Relaxed);
            to.store(1, Relaxed);
            seen
        }
    };
    assert_ne!(two(thread(&X, &Y), thread(&Y, &X)), (1, 1));
}

// Independent reads of independent writes (IRIW): two readers see two stores in different orders. Each of four loads has
// two values: 15 outcomes are left.
fn independent_reads(store: Ordering, load: Ordering) -> ((usize, usize), (usize, usize)) {
    let reader = |first: &'static AtomicUsize, second: &'static AtomicUsize| {
        move || {
            let seen = first.load(load);
            (seen, second.load(load))
        }
    };
    thread::scope(|scope| {
        scope.spawn(move || X.store(1, store));
        scope.spawn(move || Y.store(1, store));
        two(reader(&X, &Y), reader(&Y, &X))
    })
}

#[dpor::test]
fn independent_reads_relaxed() {
    // MODELS: rc11
    // COUNT: sc 15 tso 15 pso 15
    assert_ne!(independent_reads(Relaxed, Relaxed), ((1, 0), (1, 0))); // ERROR: panic
}

#[dpor::test]
fn independent_reads_release_acquire() {
    // MODELS: rc11
    // COUNT: sc 15 tso 15 pso 15
    assert_ne!(independent_reads(Release, Acquire), ((1, 0), (1, 0))); // ERROR: panic
}

#[dpor::test]
fn independent_reads_seq_cst() {
    // COUNT: rc11 15 sc 15 tso 15 pso 15
    assert_ne!(independent_reads(SeqCst, SeqCst), ((1, 0), (1, 0)));
}

// Coherence of two reads (CoRR): once seen, a store stays seen.
#[dpor::test]
fn coherence_of_reads() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let (_, seen) = two(|| X.store(1, Relaxed), || (X.load(Relaxed), X.load(Relaxed)));
    assert_ne!(seen, (1, 0));
}

// Coherence of two writes (CoWW): the later one of a thread stays.
#[dpor::test]
fn coherence_of_writes() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let store = || {
        X.store(1, Relaxed);
        X.store(2, Relaxed);
    };
    thread::spawn(store).join().unwrap();
    assert_eq!(X.load(Relaxed), 2);
}

// Coherence of a read and a later write (CoRW): a thread does not read its own later store. It reads 0 with the two stores
// in either order, or the other's store, which then comes first.
#[dpor::test]
fn coherence_of_a_read_and_a_write() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let load_and_store = || {
        let seen = X.load(Relaxed);
        X.store(1, Relaxed);
        seen
    };
    let (seen, _) = two(load_and_store, || X.store(2, Relaxed));
    assert!(seen == 0 || (seen == 2 && X.load(Relaxed) == 1));
}

// Coherence of a write and a later read (CoWR): a thread does not miss its own store. It reads that with the two stores
// in either order, or the other's store, which then comes last.
#[dpor::test]
fn coherence_of_a_write_and_a_read() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let store_and_load = || {
        X.store(1, Relaxed);
        X.load(Relaxed)
    };
    let (seen, _) = two(store_and_load, || X.store(2, Relaxed));
    assert!(seen == 1 || (seen == 2 && X.load(Relaxed) == 2));
}

// 2+2W: each of two threads stores to both locations, in different orders; can both first stores win?
fn two_writes_each(order: Ordering) -> (usize, usize) {
    let thread = |first: &'static AtomicUsize, second: &'static AtomicUsize| {
        move || {
            first.store(1, order);
            second.store(2, order);
        }
    };
    two(thread(&X, &Y), thread(&Y, &X));
    (X.load(Relaxed), Y.load(Relaxed))
}

#[dpor::test]
fn two_writes_each_relaxed() {
    // MODELS: rc11 pso
    // COUNT: sc 3 tso 3
    assert_ne!(two_writes_each(Relaxed), (1, 1)); // ERROR: panic
}

// In RC11 release stores are not ordered with one another.
#[dpor::test]
fn two_writes_each_release() {
    // MODELS: rc11
    // COUNT: sc 3 tso 3 pso 3
    assert_ne!(two_writes_each(Release), (1, 1)); // ERROR: panic
}

#[dpor::test]
fn two_writes_each_seq_cst() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    assert_ne!(two_writes_each(SeqCst), (1, 1));
}

// Write-to-read causality (WRC): a second thread passes on what it saw of a first one. Either it saw nothing, and stores
// nothing; or it did, and the third thread sees its store or not.
fn causality(store: Ordering, load: Ordering) -> bool {
    thread::scope(|scope| {
        scope.spawn(|| X.store(1, Relaxed));
        let pass_on = move || {
            if X.load(Relaxed) == 1 {
                Y.store(1, store);
            }
        };
        let look = move || Y.load(load) == 0 || X.load(Relaxed) == 1;
        two(pass_on, look).1
    })
}

#[dpor::test]
fn causality_release_acquire() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    assert!(causality(Release, Acquire));
}

#[dpor::test]
fn causality_relaxed() {
    // MODELS: rc11
    // COUNT: sc 3 tso 3 pso 3
    assert!(causality(Relaxed, Relaxed)); // ERROR: panic
}

// S: a store after an acquire load comes after what was stored before the release. The load sees 0, and the stores to X
// are in either order; or it sees 1, and they are in one.
#[dpor::test]
fn store_after_message() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let send = || {
        X.store(2, Relaxed);
        Y.store(1, Release);
    };
    let receive = || {
        let flag = Y.load(Acquire);
        X.store(1, Relaxed);
        flag
    };
    let (_, flag) = two(send, receive);
    assert!(flag == 0 || X.load(Relaxed) == 1);
}

// R: the second store to Y wins, and yet its thread does not see the store that came before the first one.
#[dpor::test]
fn store_that_wins_and_load_that_misses() {
    // MODELS: rc11 tso pso
    // COUNT: sc 3
    let first = || {
        X.store(1, Relaxed);
        Y.store(1, Relaxed);
    };
    let second = || {
        Y.store(2, Relaxed);
        X.load(Relaxed)
    };
    let (_, seen) = two(first, second);
    assert!((Y.load(Relaxed), seen) != (2, 0)); // ERROR: panic
}

// A chain of messages (ISA2): release and acquire add up over three threads. The first flag is seen or not; if it is, the
// second is seen or not.
#[dpor::test]
fn chain_of_messages() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    static Z: AtomicUsize = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            X.store(1, Relaxed);
            Y.store(1, Release);
        });
        scope.spawn(|| {
            if Y.load(Acquire) == 1 {
                Z.store(1, Release);
            }
        });
        scope.spawn(|| {
            if Z.load(Acquire) == 1 {
                assert_eq!(X.load(Relaxed), 1);
            }
        });
    });
}

// The release sequence of a store goes on through read-modify-writes, even relaxed ones of other threads: who reads from
// one synchronizes with the store. The increment comes before or after the store; the reader sees one of the values 0, 1
// (the increment, if it comes first; else the store) and 2 (the store, overwriting; else the increment): 3 each.
#[dpor::test]
fn release_sequence() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    thread::scope(|scope| {
        scope.spawn(|| {
            X.store(1, Relaxed);
            Y.store(2, Release);
        });
        scope.spawn(|| _ = Y.fetch_add(1, Relaxed));
        scope.spawn(|| {
            if Y.load(Acquire) >= 2 {
                assert_eq!(X.load(Relaxed), 1);
            }
        });
    });
}
