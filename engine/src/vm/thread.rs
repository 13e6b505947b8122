//! A thread of the checked program: its registers, its frames, its stack, and what the C library keeps for it.

use std::fmt;

use crate::program::{FuncId, PlaceId};
use crate::verdict::Location;

use super::action::Action;
use super::code::WINDOW;
use super::failure::StackFrame;
use super::frame::Frame;
use super::memory::Stack;

/// A thread of the checked program, in the order of creation; the main thread is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub u16);

impl ThreadId {
    /// The thread that runs the test.
    pub const MAIN: ThreadId = ThreadId(0);

    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// As a part of a sentence.
    pub fn phrase(self) -> String {
        if self == ThreadId::MAIN { format!("the {self}") } else { self.to_string() }
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("main thread"),
            n => write!(f, "thread {n}"),
        }
    }
}

/// What a thread is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Its function.
    #[default]
    Running,
    /// The destructors of its thread-locals.
    Destructors,
    /// Nothing: it has ended.
    Ended,
}

/// Where the answer of a pending action goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reply {
    /// Nowhere.
    #[default]
    None,
    /// A place in the window of the current frame.
    Register(u16),
    /// Two neighbouring places.
    Pair(u16),
    /// The old value there, success after it.
    Cas { at: u16, wide: bool },
    /// The result of a futex call, an error in `errno`.
    Futex(u16),
    /// 1 or 0 there for the success of a compare-and-swap.
    Success(u16),
    /// Nowhere; then the action that was put off is pending again.
    Postponed,
    /// The result of a spawn: 0; the handle of the new thread, which runs `start(arg)`, goes to the address `out`.
    Spawn { at: u16, out: u64, start: u64, arg: u64 },
    /// The result of a join; what the thread returned goes to the address, if that is not null.
    Join { at: u16, out: u64 },
}

/// An action that waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    pub action: Action,
    pub reply: Reply,
}

/// A local variable that has an allocation of its own.
#[derive(Clone, Copy, Debug)]
pub struct BigSlot {
    /// The depth of its frame.
    pub depth: u32,
    /// Which instruction made it.
    pub site: u32,
    pub address: u64,
}

/// The last panic that a thread reported.
#[derive(Clone, Debug)]
pub struct PanicReport {
    pub message: String,
    pub location: Location,
    /// The functions that were active, the innermost first.
    pub stack: Vec<StackFrame>,
}

/// A thread of the checked program.
#[derive(Debug, Default)]
pub struct Thread {
    pub id: ThreadId,
    pub phase: Phase,
    pub pending: Option<Pending>,
    /// The scope that the next thread it spawns belongs to.
    pub scope: Option<u64>,
    /// Actions that wait until the pending one is done.
    pub postponed: Vec<Pending>,
    pub registers: Vec<u64>,
    pub frames: Vec<Frame>,
    pub stack: Stack,
    pub big_slots: Vec<BigSlot>,
    /// Exceptions in flight: the depth of the frame whose cleanup runs, and the exception.
    pub exceptions: Vec<(u32, u64)>,
    /// The addresses of its thread-locals, by index; 0 where there is none yet.
    pub thread_locals: Vec<u64>,
    /// Where its `errno` is; 0 where it has none yet.
    pub errno: u64,
    /// Values of keys, by key.
    pub specifics: Vec<u64>,
    /// How many destructors of keys were run.
    pub destructors_run: u32,
    pub detached: bool,
    pub joined: bool,
    /// What its start function returned.
    pub result: u64,
    pub panic: Option<Box<PanicReport>>,
    /// Where it was spawned.
    pub spawned_at: Option<PlaceId>,
    /// What it runs.
    pub entry: Option<FuncId>,
    /// How many random numbers it took.
    pub randoms: u64,
    /// Whether the last atomic of bookkeeping was in memory of the user.
    pub was_of_user: bool,
}

impl Thread {
    /// A thread that has no frames yet.
    pub fn new(id: ThreadId) -> Thread {
        Thread { id, stack: Stack::new(id), ..Thread::default() }
    }

    /// Whether it has ended.
    pub fn ended(&self) -> bool {
        self.phase == Phase::Ended
    }
}

impl Thread {
    /// The registers of all frames, with a whole window for the last one.
    fn registers_in_use(&self) -> Vec<u64> {
        let Some(frame) = self.frames.last() else { return Vec::new() };
        let (base, count) = (frame.base as usize, frame.registers as usize);
        let mut registers = Vec::with_capacity(base + count.max(WINDOW));
        registers.extend_from_slice(&self.registers[..base + count]);
        registers.resize(base + count.max(WINDOW), 0);
        registers
    }
}

impl Clone for Thread {
    fn clone(&self) -> Thread {
        Thread {
            registers: self.registers_in_use(),
            frames: self.frames.clone(),
            stack: self.stack.clone(),
            big_slots: self.big_slots.clone(),
            exceptions: self.exceptions.clone(),
            postponed: self.postponed.clone(),
            thread_locals: self.thread_locals.clone(),
            specifics: self.specifics.clone(),
            panic: self.panic.clone(),
            ..*self
        }
    }
}
