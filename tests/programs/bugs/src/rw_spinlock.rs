//! spin's `RwLock` (RUSTSEC-2019-0013): the writer's unlock was relaxed, so that the next one to lock did not see what the
//! writer had written.

use crate::sync::atomic::{AtomicUsize, Ordering, Ordering::*};

use crate::plain::{Plain, two};

#[dpor::test]
fn fixed() {
    write_and_read(Release);
}

#[dpor::test]
fn broken() {
    write_and_read(Relaxed);
}

const WRITER: usize = 1;
const READER: usize = 2;

/// A lock for several readers or a writer, which are told if they would have to wait.
struct RwLock {
    state: AtomicUsize,
    data: Plain<u32>,
    unlock: Ordering,
}

impl RwLock {
    fn try_write(&self, value: u32) {
        if self.state.compare_exchange(0, WRITER, Acquire, Relaxed).is_ok() {
            unsafe { *self.data.get() = value }; // ERROR: data-race
            self.state.fetch_and(!WRITER, self.unlock);
        }
    }

    fn try_read(&self) -> Option<u32> {
        if self.state.fetch_add(READER, Acquire) & WRITER != 0 {
            self.state.fetch_sub(READER, Release);
            return None;
        }
        let value = unsafe { *self.data.get() }; // ERROR: data-race
        self.state.fetch_sub(READER, Release);
        Some(value)
    }
}

fn write_and_read(unlock: Ordering) {
    let lock = RwLock { state: AtomicUsize::new(0), data: Plain::new(0), unlock };
    let ((), seen) = two(|| lock.try_write(5), || lock.try_read());
    assert!([None, Some(0), Some(5)].contains(&seen));
}
