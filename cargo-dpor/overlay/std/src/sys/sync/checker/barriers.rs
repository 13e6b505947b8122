//! `membarrier`: a barrier for all threads, of which only the caller has to do something.
//!
//! Others only tell the compiler where they rely on it, with `compiler_fence(SeqCst)`. Each of them has a word, which it
//! updates there, and which the barrier updates: one of the two comes first, and what comes after the other sees all that
//! came before that one. Between threads that do not call `membarrier`, nothing is ordered.

use super::table::Kept;
use super::{dpor_ask, dpor_asked, question, table, unsupported};
use crate::sync::atomic::Ordering::{AcqRel, SeqCst};
use crate::sync::atomic::{Atomic, fence};

const QUERY: i32 = 0;
const PRIVATE_EXPEDITED: i32 = 1 << 3;
const REGISTER_PRIVATE_EXPEDITED: i32 = 1 << 4;

const EPERM: isize = 1;
const EINVAL: isize = 22;

const THREADS: u32 = 32;

static WORDS: [Atomic<u32>; THREADS as usize] = [const { Atomic::<u32>::new(0) }; THREADS as usize];
static REGISTERED: Kept<bool> = Kept::new(false);

/// The system call.
pub(super) fn membarrier(command: i32, flags: u32) -> isize {
    if flags != 0 {
        return -EINVAL;
    }
    match command {
        QUERY => (PRIVATE_EXPEDITED | REGISTER_PRIVATE_EXPEDITED) as isize,
        REGISTER_PRIVATE_EXPEDITED => {
            dpor_ask(question::BARRIER);
            REGISTERED.set(true);
            0
        }
        PRIVATE_EXPEDITED if !REGISTERED.get() => -EPERM,
        PRIVATE_EXPEDITED => {
            pass_all();
            0
        }
        _ => unsupported("this command of `membarrier`"),
    }
}

/// Passes the barrier, and makes all threads pass it that rely on it anywhere.
fn pass_all() {
    fence(SeqCst);
    for (thread, word) in (0..THREADS).zip(&WORDS) {
        if dpor_asked(question::RELIES + thread) {
            word.fetch_add(1, AcqRel);
        }
    }
}

/// `compiler_fence(SeqCst)`
#[unsafe(no_mangle)]
extern "C" fn dpor_compiler_fence() {
    if dpor_asked(question::BARRIER) {
        let thread = table::own_index();
        dpor_ask(question::RELIES + thread);
        WORDS[thread as usize].fetch_add(1, AcqRel);
    }
}
