//! A thread of the checked program: its registers, its frames, its stack, and what the C library keeps for it.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::program::{FuncId, PlaceId};
use crate::verdict::Location;

use super::action::Action;
use super::builtins::FutexCall;
use super::failure::StackFrame;
use super::frame::Frame;
use super::memory::Stack;

/// A thread of the checked program, in the order of creation; the main thread is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ThreadId(pub u16);

impl ThreadId {
    /// The thread that runs the test.
    pub const MAIN: ThreadId = ThreadId(0);

    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// What the thread is called at the beginning of a sentence.
    pub fn name(self) -> String {
        if self == ThreadId::MAIN { "main".to_owned() } else { self.to_string() }
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
    /// A futex call goes on.
    Futex(FutexCall),
    /// A place in the window; if it is not 0, the thread has woken up without a reason.
    Wake(u16),
    /// Nowhere; then the action that was put off is pending again.
    Postponed,
    /// The result of a spawn: 0; the handle of the new thread, which runs `start(arg)`, goes to the address `out`.
    Spawn { at: u16, out: u64, start: u64, arg: u64 },
    /// The result of a join; what the thread returned goes to the address, if that is not null.
    Join { at: u16, out: u64 },
}

/// An action that waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pending {
    pub action: Action,
    pub reply: Reply,
}

/// A local variable that has an allocation of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BigSlot {
    /// The depth of its frame.
    pub depth: u32,
    /// Which instruction made it.
    pub site: u32,
    pub address: u64,
}

/// The last panic that a thread reported.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
    /// In which of its lives the atomic is that the pending action is to.
    pub life: u32,
    /// Actions that wait until the pending one is done.
    pub postponed: Vec<Pending>,
    /// Atomics whose bytes in memory are their value, while the thread waits for that of another: their addresses and
    /// sizes.
    pub fresh: Vec<(u64, u32)>,
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
    /// Whether it has woken up without a reason.
    pub woken: bool,
    /// Whether the standard library may have parked it.
    pub parked: bool,
    /// How many threads it has joined.
    pub joined: u16,
    /// Where the values of environment variables are that it asked for.
    pub env: Vec<(Vec<u8>, u64)>,
    pub panic: Option<Box<PanicReport>>,
    /// Where it was spawned.
    pub spawned_at: Option<PlaceId>,
    /// What it runs.
    pub entry: Option<FuncId>,
    /// How many random numbers it took.
    pub randoms: u64,
    /// Nanoseconds since the start, as the thread counts them.
    pub clock: u64,
    /// When time passed for it, if threads ask for the time: after so many of its events it was so late.
    pub times: Vec<(u32, u64)>,
    /// How often it has asked what time it is.
    pub time_was_asked: u32,
    /// What it has added to counters in the standard library's own blocks that threads share, and not taken away again: 0 if
    /// that is nothing.
    pub counted: u64,
    /// Whether there was no other thread yet.
    pub alone: bool,
    /// While it is alone: how many atomics it has accessed since it last changed one.
    pub idle: u32,
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
    /// The registers of all frames.
    pub fn registers_in_use(&self) -> &[u64] {
        let count = self.frames.last().map_or(0, |frame| frame.base + frame.registers);
        &self.registers[..count as usize]
    }

    /// All that tells one thread from another.
    fn contents(&self) -> impl PartialEq + Hash + '_ {
        (
            (self.id, self.phase, self.pending, &self.postponed, &self.fresh),
            (self.registers_in_use(), &self.frames, &self.stack, &self.big_slots, &self.exceptions),
            (&self.thread_locals, self.errno, &self.specifics, self.destructors_run, &self.env),
            (&self.panic, self.spawned_at, self.entry, self.randoms, self.woken, self.clock),
            (
                self.time_was_asked,
                self.alone,
                self.idle,
                self.life,
                self.parked,
                self.joined,
                &self.times,
                self.counted,
            ),
        )
    }

    /// Roughly how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let lists = self.thread_locals.len() + self.specifics.len() + self.registers_in_use().len();
        size_of::<Thread>() + 8 * lists + size_of_val(&self.frames[..]) + 2 * self.stack.len()
    }
}

impl PartialEq for Thread {
    fn eq(&self, other: &Thread) -> bool {
        self.contents() == other.contents()
    }
}

impl Eq for Thread {}

impl Hash for Thread {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.contents().hash(state);
    }
}

impl Clone for Thread {
    fn clone(&self) -> Thread {
        let mut copy = Thread::default();
        copy.clone_from(self);
        copy
    }

    /// Reuses the buffers.
    fn clone_from(&mut self, source: &Thread) {
        let Thread { registers, frames, stack, big_slots, exceptions, .. } = self;
        let used = source.registers_in_use();
        if registers.len() < used.len() {
            registers.resize(used.len(), 0);
        }
        registers[..used.len()].copy_from_slice(used);
        frames.clone_from(&source.frames);
        stack.clone_from(&source.stack);
        big_slots.clone_from(&source.big_slots);
        exceptions.clone_from(&source.exceptions);
        self.postponed.clone_from(&source.postponed);
        self.fresh.clone_from(&source.fresh);
        self.thread_locals.clone_from(&source.thread_locals);
        self.specifics.clone_from(&source.specifics);
        self.env.clone_from(&source.env);
        self.times.clone_from(&source.times);
        self.panic.clone_from(&source.panic);
        let Thread { id, phase, pending, errno, destructors_run, spawned_at, entry, .. } = *source;
        (self.id, self.phase, self.pending, self.errno) = (id, phase, pending, errno);
        (self.destructors_run, self.spawned_at, self.entry) = (destructors_run, spawned_at, entry);
        (self.randoms, self.woken, self.clock) = (source.randoms, source.woken, source.clock);
        (self.time_was_asked, self.alone, self.idle) = (source.time_was_asked, source.alone, source.idle);
        self.counted = source.counted;
        (self.life, self.parked, self.joined) = (source.life, source.parked, source.joined);
    }
}
