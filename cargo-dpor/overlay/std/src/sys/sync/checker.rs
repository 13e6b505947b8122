//! What the checker provides for the standard library's synchronization.
//!
//! Each of these functions is one visible action, except where it says otherwise. A *word* is an atomic of 32 bits. How
//! the primitives are made of them, and what that means for the number of executions, stands in the checker's
//! documentation (`docs/synchronization.md`).

#![allow(improper_ctypes, reason = "nothing is linked: the checker knows these functions by name")]

mod barriers;
mod files;
mod table;

use crate::ffi::{CStr, c_char, c_long, c_void};
use crate::ptr;
use crate::sync::atomic::Atomic;
use crate::time::Duration;

/// What a word is compared with a value for.
pub(crate) mod test {
    pub(crate) const IS: u32 = 0;
    pub(crate) const IS_NOT: u32 = 1;
    pub(crate) const BELOW: u32 = 2;
    pub(crate) const AT_LEAST: u32 = 3;
    /// None of the value's bits is set in the word.
    pub(crate) const CLEAR: u32 = 4;
}

/// What is written to a word that has passed a test.
pub(crate) mod then {
    /// Nothing.
    pub(crate) const READ: u32 = 0;
    /// The operand.
    pub(crate) const SET: u32 = 1;
    /// The sum of the word and the operand.
    pub(crate) const ADD: u32 = 2;
    /// The operand, if the word is at least the limit; else nothing.
    pub(crate) const REPLACE: u32 = 3;
}

/// What a thread waits for, to say so if it is blocked forever.
pub(crate) mod wait {
    pub(crate) const MUTEX: u32 = 0;
    pub(crate) const READ_LOCK: u32 = 1;
    pub(crate) const WRITE_LOCK: u32 = 2;
    pub(crate) const NOTIFICATION: u32 = 3;
    pub(crate) const INITIALIZATION: u32 = 4;
    pub(crate) const TOKEN: u32 = 5;
    pub(crate) const BARRIER: u32 = 6;
    pub(crate) const MESSAGE: u32 = 7;
    pub(crate) const ROOM: u32 = 8;
    /// More time than will ever pass.
    pub(crate) const TIME: u32 = 9;
    /// All threads of a scope to be done.
    pub(crate) const SCOPE: u32 = 10;
    /// Something to happen to a file.
    pub(crate) const EPOLL: u32 = 11;
    /// To read from an eventfd.
    pub(crate) const EVENTFD: u32 = 12;
}

/// What some threads ask, so that others have to do more to answer it.
pub(crate) mod question {
    /// Whether a channel is disconnected, without waiting for it.
    pub(crate) const DISCONNECTION: u32 = 0;
    /// Whether a writer waits for a lock, without waiting for it.
    pub(crate) const WRITERS: u32 = 1;
    /// What the hook for panics is, while other threads may change it.
    pub(crate) const HOOK: u32 = 2;
    /// Whether this thread has a token, after the library itself has parked it.
    pub(crate) const TOKEN: u32 = 3;
    /// Whether a thread has ended, without waiting for it.
    pub(crate) const END: u32 = 4;
    /// Who drops the result of a thread that is not joined, where that has a destructor.
    pub(crate) const RESULT: u32 = 5;
    /// Who drops the payload of a panic, where that has a destructor.
    pub(crate) const PAYLOAD: u32 = 6;
    /// What an eventfd has counted: somebody reads it.
    pub(crate) const COUNT: u32 = 7;
    /// What comes of `membarrier`.
    pub(crate) const BARRIER: u32 = 8;
    /// Added to the number of a thread: whether that relies on others to call `membarrier`.
    pub(crate) const RELIES: u32 = 32;
}

/// The orderings of an attempt, where it succeeds and where it fails.
pub(crate) mod order {
    /// Acquire and relaxed.
    pub(crate) const ACQUIRE: u32 = 0;
    /// Sequentially consistent, both.
    pub(crate) const SEQ_CST: u32 = 1;
}

unsafe extern "C" {
    /// Waits until the word passes the test and then, in the same step, writes what `then` says: an acquire operation.
    /// Gives the value that passed.
    pub(crate) safe fn dpor_await(
        word: &Atomic<u32>,
        wait: u32,
        test: u32,
        value: u32,
        then: u32,
        operand: u32,
        limit: u32,
    ) -> u32;

    /// Adds the operand to the word if that passes the test. Gives the value that was tested.
    pub(crate) safe fn dpor_try_add(word: &Atomic<u32>, order: u32, test: u32, value: u32, operand: u32) -> u32;

    /// Waits until the word passes the test; that must stay so until this thread changes the word. Gives the first
    /// value after this thread's own latest that passes, and is ordered after the one who wrote it, with `acquire` also
    /// in the sense of the memory model. There is one way for this to happen.
    ///
    /// `keepers` is null, or counts those without whom the word cannot change any more. If all of them
    /// [have left](dpor_leave), this ends, too, is ordered after them, and gives the last value of the word.
    pub(crate) safe fn dpor_reach(
        word: &Atomic<u32>,
        wait: u32,
        test: u32,
        value: u32,
        acquire: bool,
        keepers: *const u32,
    ) -> u32;

    /// Clears one of the bits that are set in the word, whichever, and gives it; 0 if none is set. A relaxed operation.
    pub(crate) safe fn dpor_pick(word: &Atomic<u32>) -> u32;

    /// Releases what this thread did to whoever waits until all keepers have left. In which order they leave makes no
    /// difference. The caller counts `keepers` down right afterwards.
    pub(crate) safe fn dpor_leave(keepers: *const u32);

    /// Not an action: the bit that stands for this thread in a word.
    pub(crate) safe fn dpor_thread_bit() -> u32;

    /// Whether the thread wakes up without a reason now. Where that is to be explored, each thread does so once at
    /// most, and this is an action; else it is none, and never true.
    pub(crate) safe fn dpor_spurious() -> bool;

    /// Not an action: whether some thread asks this question; whether this thread does, where that is about the thread.
    pub(crate) safe fn dpor_asked(question: u32) -> bool;

    /// Not an action: says that this thread is about to ask a question.
    pub(crate) safe fn dpor_ask(question: u32);

    /// Not an action: from now on, the library may have parked this thread.
    pub(crate) safe fn dpor_parked();

    /// One of so many ways to go on.
    pub(crate) safe fn dpor_choose(ways: u32) -> u32;

    /// Not an action: for this thread, so many nanoseconds are over.
    pub(crate) safe fn dpor_elapse(nanoseconds: u64);

    /// Not an action: the name of the test, for the thread that runs it; null for others.
    pub(crate) safe fn dpor_test_name() -> *const c_char;

    /// Not an action: writes to standard output or error.
    pub(crate) safe fn dpor_write_stream(descriptor: i32, bytes: *const u8, len: usize) -> isize;

    /// A system call that is not about files.
    pub(crate) safe fn dpor_system_call(number: c_long, a: u64, b: u64, c: u64, d: u64, e: u64, f: u64) -> c_long;

    /// Ends the check: this is not modelled.
    pub(crate) safe fn dpor_unsupported(reason: *const u8, len: usize) -> !;
}

/// Ends the check: this is not modelled.
pub(crate) fn unsupported(reason: &str) -> ! {
    dpor_unsupported(reason.as_ptr(), reason.len())
}

/// The name of the thread that runs the test, which the harness calls like the test.
pub(crate) fn test_name() -> Option<&'static CStr> {
    let name = dpor_test_name();
    // SAFETY: where the name is there, it stays there, with a zero at its end.
    if name.is_null() { None } else { Some(unsafe { CStr::from_ptr(name) }) }
}

/// Who waits for longer than that waits for ever.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// A duration as the checker counts it, in nanoseconds; none where it will never be over.
pub(crate) fn finite(duration: Duration) -> Option<u64> {
    if duration < FOR_EVER { Some(duration.as_nanos() as u64) } else { None }
}

/// Before a thread sleeps: one that will never wake stays here.
pub(crate) fn dpor_sleep(duration: Duration) {
    if finite(duration).is_none() {
        let over = Atomic::<u32>::new(0);
        dpor_await(&over, wait::TIME, test::IS, 1, then::READ, 0, 0);
    }
}

/// The token of a thread that waits in the library, which parks it for that.
///
/// A thread that is parked is woken by a token, whoever it is from: it may take that of the user, and whoever wakes it
/// may leave one that was not needed.
pub(crate) mod token {
    use super::{dpor_asked, dpor_choose, dpor_parked, question};
    use crate::thread;
    use crate::time::Duration;

    /// Whether this thread ever looks at its token after the library has parked it.
    #[inline(never)]
    pub(crate) fn matters() -> bool {
        dpor_parked();
        dpor_asked(question::TOKEN)
    }

    /// This thread was parked, if `parked`: its token is as before, or gone, or there is one.
    #[inline(never)]
    pub(crate) fn disturb(parked: bool) {
        match if parked { dpor_choose(3) } else { 0 } {
            0 => {}
            1 => thread::park_timeout(Duration::ZERO),
            _ => thread::current().unpark(),
        }
    }
}

/// The threads of a scope: how many are at work, and who waits for them. If the token of that one matters, all is done
/// as in the library; else, in which order the threads are done makes no difference.
///
/// Functions that bookkeeping calls to be seen, here and below, must not become a part of it.
pub(crate) mod scope {
    use super::{dpor_await, dpor_parked, dpor_reach, test, then, wait};
    use crate::sync::atomic::Atomic;
    use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
    use crate::thread::Thread;

    /// A thread is about to be spawned; how many there were.
    #[inline(never)]
    pub(crate) fn enter(running: &Atomic<usize>) -> usize {
        running.fetch_add(1, Relaxed)
    }

    /// A thread is done.
    #[inline(never)]
    pub(crate) fn leave(running: &Atomic<usize>, owner: &Thread) {
        if running.fetch_sub(1, Release) == 1 {
            owner.unpark();
        }
    }

    /// Waits for all threads, parking the owner, which is this thread.
    #[inline(never)]
    pub(crate) fn park(running: &Atomic<usize>, owner: &Thread) {
        while running.load(Acquire) != 0 {
            // SAFETY: the handle belongs to this thread.
            unsafe { owner.park() };
        }
    }

    /// Nobody writes it. A static, since what is on the stack of a thread is new each time, also to the checker.
    static NEVER: Atomic<u32> = Atomic::<u32>::new(0);

    /// Waits until all threads have left.
    #[inline(never)]
    pub(crate) fn wait(running: &Atomic<usize>) {
        dpor_parked();
        dpor_reach(&NEVER, wait::SCOPE, test::IS, 1, true, running.as_ptr().cast());
    }

    /// All threads have left, but some of their handles were never dropped: the library waits for these, too.
    #[inline(never)]
    pub(crate) fn wait_for_handles() {
        dpor_await(&NEVER, wait::SCOPE, test::IS, 1, then::READ, 0, 0);
    }
}

/// The result of a thread: how many hold it, of the thread itself and its handle. The orderings are those of a reference
/// count.
pub(crate) mod result {
    use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
    use crate::sync::atomic::{Atomic, fence};

    /// One of the holders lets go. The last one drops the result, after all that the other did.
    #[inline(never)]
    pub(crate) fn let_go(holders: &Atomic<u32>) {
        if holders.fetch_sub(1, Release) == 1 {
            fence(Acquire);
        }
    }

    /// Whether there is but one holder left.
    #[inline(never)]
    pub(crate) fn is_left(holders: &Atomic<u32>) -> bool {
        holders.load(Relaxed) == 1
    }

    /// Drops a result: its destructor is not the library's.
    #[inline(never)]
    pub(crate) fn discard<T>(result: &mut Option<T>) {
        *result = None;
    }
}

/// The hook for panics, which is behind a lock that threads wait for in sight of the checker.
pub(crate) mod hook {
    use crate::mem;
    use crate::sync::nonpoison::{RwLock, RwLockReadGuard, RwLockWriteGuard};

    #[inline(never)]
    pub(crate) fn read<T>(hook: &RwLock<T>) -> RwLockReadGuard<'_, T> {
        hook.read()
    }

    #[inline(never)]
    pub(crate) fn write<T>(hook: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
        hook.write()
    }

    #[inline(never)]
    pub(crate) fn replace<T>(hook: &RwLock<T>, new: T) -> T {
        mem::replace(&mut *hook.write(), new)
    }
}

/// What `dlsym` finds: the functions of newer systems that the checker knows.
#[unsafe(no_mangle)]
extern "C" fn dpor_dlsym(_handle: *mut c_void, name: *const c_char) -> *const c_void {
    unsafe extern "C" {
        fn getrandom(buffer: *mut c_void, len: usize, flags: u32) -> isize;
    }
    // SAFETY: that of the caller.
    match unsafe { CStr::from_ptr(name) }.to_bytes() {
        b"getrandom" => getrandom as *const c_void,
        _ => ptr::null(),
    }
}
