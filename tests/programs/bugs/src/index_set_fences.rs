//! iceoryx2's `UniqueIndexSet` (iceoryx2#120): a list of free indices, each of which owns a piece of memory. The fences of
//! taking and returning an index were mixed up, so that the next owner did not see what the last one had done.

use crate::sync::atomic::{AtomicUsize, Ordering, Ordering::*, fence};

use crate::plain::{Plain, two};

#[dpor::test]
fn fixed() {
    use_by_two([Acquire, Release]);
}

#[dpor::test]
fn broken() {
    use_by_two([Release, Acquire]);
}

/// No index.
const NONE: usize = 2;

struct IndexSet {
    /// The first free index.
    head: AtomicUsize,
    /// The free index after each.
    next: [AtomicUsize; 2],
    fences: [Ordering; 2],
}

impl IndexSet {
    /// Takes an index, with one attempt.
    fn acquire(&self) -> Option<usize> {
        let index = self.head.load(Relaxed);
        let next = self.next.get(index)?.load(Relaxed);
        self.head.compare_exchange(index, next, Relaxed, Relaxed).ok()?;
        fence(self.fences[0]);
        Some(index)
    }

    /// Returns an index, with two attempts: there are two threads.
    fn release(&self, index: usize) {
        fence(self.fences[1]);
        let mut head = self.head.load(Relaxed);
        for _ in 0..2 {
            self.next[index].store(head, Relaxed);
            match self.head.compare_exchange(head, index, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(other) => head = other,
            }
        }
    }
}

fn use_by_two(fences: [Ordering; 2]) {
    let next = [AtomicUsize::new(1), AtomicUsize::new(NONE)];
    let (set, data) = (IndexSet { head: AtomicUsize::new(0), next, fences }, [Plain::new(0), Plain::new(0)]);
    let work = || {
        if let Some(index) = set.acquire() {
            unsafe { *data[index].get() += 1 }; // ERROR: data-race
            set.release(index);
        }
    };
    two(work, work);
}
