//! Initialization that happens once: a word that says how far it has come.

use crate::cell::Cell;
use crate::sync as public;
use crate::sync::atomic::Atomic;
use crate::sync::atomic::Ordering::{Acquire, Release};
use crate::sync::once::OnceExclusiveState;
use crate::sys::sync::checker::{dpor_await, dpor_reach, test, then, wait};

const COMPLETE: u32 = 0;
const RUNNING: u32 = 1;
/// The initialization panicked.
const POISONED: u32 = 2;
const INCOMPLETE: u32 = 3;

/// Not set where nobody has to wait for a thread that initializes: complete or poisoned.
const UNDECIDED: u32 = 1;

pub struct Once {
    word: Atomic<u32>,
}

pub struct OnceState {
    poisoned: bool,
    /// What the word becomes if the initialization returns.
    outcome: Cell<u32>,
}

impl OnceState {
    #[inline]
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }

    #[inline]
    pub fn poison(&self) {
        self.outcome.set(POISONED);
    }
}

/// Says how an initialization ended, also if it panicked.
struct Running<'a> {
    word: &'a Atomic<u32>,
    outcome: u32,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.word.swap(self.outcome, Release);
    }
}

impl Once {
    #[inline]
    pub const fn new() -> Once {
        Once { word: Atomic::<u32>::new(INCOMPLETE) }
    }

    #[inline]
    pub const fn new_complete() -> Once {
        Once { word: Atomic::<u32>::new(COMPLETE) }
    }

    #[inline]
    pub fn is_completed(&self) -> bool {
        self.word.load(Acquire) == COMPLETE
    }

    #[inline]
    pub(crate) fn state(&mut self) -> OnceExclusiveState {
        match *self.word.get_mut() {
            INCOMPLETE => OnceExclusiveState::Incomplete,
            POISONED => OnceExclusiveState::Poisoned,
            COMPLETE => OnceExclusiveState::Complete,
            _ => unreachable!("nobody initializes what is borrowed exclusively"),
        }
    }

    #[inline]
    pub(crate) fn set_state(&mut self, state: OnceExclusiveState) {
        *self.word.get_mut() = match state {
            OnceExclusiveState::Incomplete => INCOMPLETE,
            OnceExclusiveState::Poisoned => POISONED,
            OnceExclusiveState::Complete => COMPLETE,
        };
    }

    #[track_caller]
    pub fn wait(&self, ignore_poisoning: bool) {
        if ignore_poisoning {
            dpor_reach(&self.word, wait::INITIALIZATION, test::CLEAR, INCOMPLETE, true, core::ptr::null());
        } else if dpor_await(&self.word, wait::INITIALIZATION, test::CLEAR, UNDECIDED, then::READ, 0, 0) == POISONED {
            panic_poisoned();
        }
    }

    #[track_caller]
    pub fn call(&self, ignore_poisoning: bool, f: &mut dyn FnMut(&public::OnceState)) {
        let limit = if ignore_poisoning { POISONED } else { INCOMPLETE };
        let seen = dpor_await(&self.word, wait::INITIALIZATION, test::IS_NOT, RUNNING, then::REPLACE, RUNNING, limit);
        match seen {
            COMPLETE => {}
            POISONED if !ignore_poisoning => panic_poisoned(),
            _ => self.run(seen == POISONED, f),
        }
    }

    fn run(&self, poisoned: bool, f: &mut dyn FnMut(&public::OnceState)) {
        let mut running = Running { word: &self.word, outcome: POISONED };
        let state = public::OnceState { inner: OnceState { poisoned, outcome: Cell::new(COMPLETE) } };
        f(&state);
        running.outcome = state.inner.outcome.get();
    }
}

#[track_caller]
fn panic_poisoned() -> ! {
    panic!("Once instance has previously been poisoned");
}
