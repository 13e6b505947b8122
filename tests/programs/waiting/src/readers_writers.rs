//! Locks that distinguish reading from writing: reader-writer locks, and sequence locks whose readers try again.

use std::hint;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, Ordering::*, fence};
use std::thread;

use crate::support::{Plain, threads};

/// How many readers there are, or `WRITER`.
#[derive(Default)]
struct RwLock(AtomicUsize);

const WRITER: usize = usize::MAX;

impl RwLock {
    fn read(&self) {
        loop {
            let readers = self.0.load(Relaxed);
            if readers != WRITER && self.0.compare_exchange_weak(readers, readers + 1, Acquire, Relaxed).is_ok() {
                break;
            }
            hint::spin_loop();
        }
    }

    fn done_reading(&self) {
        self.0.fetch_sub(1, Release);
    }

    fn write(&self) {
        while self.0.compare_exchange_weak(0, WRITER, Acquire, Relaxed).is_err() {
            hint::spin_loop();
        }
    }

    fn done_writing(&self) {
        self.0.store(0, Release);
    }
}

/// Some threads read, others write, and nobody sees a change half done.
fn read_and_write(lock: &RwLock, readers: usize, writers: usize) {
    let pair = [Plain::new(0), Plain::new(0)];
    threads(readers + writers, |i| {
        if i < readers {
            lock.read();
            assert_eq!(pair[0].read(), pair[1].read());
            lock.done_reading();
        } else {
            lock.write();
            pair.iter().for_each(|half| half.write(half.read() + 1));
            lock.done_writing();
        }
    });
    assert_eq!(pair[0].read(), writers);
}

// There is one location, so that the numbers follow from all interleavings of what happens to it, under every model: which
// of them differ in rf or co. For one reader and one writer: the reader comes first, or it comes second and has loaded what
// was there before the writer or what was there after it.
#[dpor::test]
fn rw_lock_with_one_of_each() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    read_and_write(&RwLock::default(), 1, 1);
}

#[dpor::test]
fn rw_lock_with_two_readers() {
    // COUNT: rc11 34 sc 34 tso 34 pso 34
    read_and_write(&RwLock::default(), 2, 1);
}

#[dpor::test]
fn rw_lock_with_two_writers() {
    // COUNT: rc11 12 sc 12 tso 12 pso 12
    read_and_write(&RwLock::default(), 1, 2);
}

#[dpor::test]
fn rw_lock_with_two_of_each() {
    // COUNT: rc11 188 sc 188 tso 188 pso 188
    read_and_write(&RwLock::default(), 2, 2);
}

// A reader that adds itself without looking whether a writer has come in the meantime.
#[dpor::test]
fn rw_lock_that_looks_too_early() {
    let (lock, value) = (RwLock::default(), Plain::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while lock.0.load(Acquire) == WRITER {
                hint::spin_loop();
            }
            lock.0.fetch_add(1, Acquire);
            assert!(unsafe { *value.get() } < 2); // ERROR: data-race
            lock.done_reading();
        });
        scope.spawn(|| {
            lock.write();
            unsafe { *value.get() = 1 }; // ERROR: data-race
            lock.done_writing();
        });
    });
}

/// A pair of numbers that are always equal, for one writer and any number of readers.
struct SeqLock {
    sequence: AtomicUsize,
    pair: [AtomicU32; 2],
}

/// What a sequence lock needs, and what may be left out.
#[derive(Clone, Copy)]
struct Fences {
    writer: Ordering,
    publish: Ordering,
    reader: bool,
}

const RIGHT: Fences = Fences { writer: Release, publish: Release, reader: true };

impl SeqLock {
    fn new() -> SeqLock {
        SeqLock { sequence: AtomicUsize::new(0), pair: [const { AtomicU32::new(0) }; 2] }
    }

    fn write(&self, value: u32, fences: Fences) {
        let sequence = self.sequence.load(Relaxed);
        self.sequence.store(sequence + 1, Relaxed);
        if fences.writer == Release {
            fence(Release);
        }
        self.pair.iter().for_each(|half| half.store(value, Relaxed));
        self.sequence.store(sequence + 2, fences.publish);
    }

    fn read(&self, fences: Fences) -> [u32; 2] {
        loop {
            let before = self.sequence.load(Acquire);
            if before.is_multiple_of(2) {
                let pair = [self.pair[0].load(Relaxed), self.pair[1].load(Relaxed)];
                if fences.reader {
                    fence(Acquire);
                }
                if self.sequence.load(Relaxed) == before {
                    return pair;
                }
            }
            hint::spin_loop();
        }
    }

    /// Writes some times while others read: whether what they see was written together.
    fn check(&self, writes: u32, readers: usize, fences: Fences) -> bool {
        thread::scope(|scope| {
            scope.spawn(move || (1..=writes).for_each(|value| self.write(value, fences)));
            let readers: Vec<_> = (0..readers).map(|_| scope.spawn(move || self.read(fences))).collect();
            readers.into_iter().map(|reader| reader.join().unwrap()).all(|[first, second]| first == second)
        })
    }
}

// A reader that is done has seen one even number twice, and with it all that was written before and nothing that came
// after: one of w + 1 versions for each of r readers, (w + 1)^r.
#[dpor::test]
fn seq_lock() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    assert!(SeqLock::new().check(2, 1, RIGHT));
}

#[dpor::test]
fn seq_lock_with_two_readers() {
    // COUNT: rc11 9 sc 9 tso 9 pso 9
    assert!(SeqLock::new().check(2, 2, RIGHT));
}

#[dpor::test]
fn seq_lock_with_three_readers() {
    // COUNT: rc11 8 sc 8 tso 8 pso 8
    assert!(SeqLock::new().check(1, 3, RIGHT));
}

// Without the reader's fence the second look at the sequence may come before the looks at the pair.
#[dpor::test]
fn seq_lock_without_the_readers_fence() {
    // MODELS: rc11
    assert!(SeqLock::new().check(1, 1, Fences { reader: false, ..RIGHT })); // ERROR: panic
}

// Without the writer's fence the pair may change before the sequence is odd.
#[dpor::test]
fn seq_lock_without_the_writers_fence() {
    // MODELS: rc11 pso
    assert!(SeqLock::new().check(1, 1, Fences { writer: Relaxed, ..RIGHT })); // ERROR: panic
}

// Without a release the sequence may be even again before the pair has changed.
#[dpor::test]
fn seq_lock_published_relaxed() {
    // MODELS: rc11 pso
    assert!(SeqLock::new().check(1, 1, Fences { publish: Relaxed, ..RIGHT })); // ERROR: panic
}

// Writers take the lock by making an even sequence odd: one comes first.
#[dpor::test]
fn seq_lock_with_two_writers() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let lock = SeqLock::new();
    threads(2, |i| {
        let sequence = loop {
            let sequence = lock.sequence.load(Relaxed);
            if sequence.is_multiple_of(2)
                && lock.sequence.compare_exchange_weak(sequence, sequence + 1, Acquire, Relaxed).is_ok()
            {
                break sequence;
            }
            hint::spin_loop();
        };
        fence(Release);
        lock.pair.iter().for_each(|half| half.store(i as u32 + 1, Relaxed));
        lock.sequence.store(sequence + 2, Release);
    });
    assert_eq!(lock.sequence.into_inner(), 4);
}
