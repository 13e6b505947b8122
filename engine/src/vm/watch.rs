//! Finding loops that do nothing at all, while a program is explored: they neither act nor change anything, not even for
//! themselves.
//!
//! A thread that comes back to a state it was in, and has not acted in between, will come back for ever. After some time
//! without an action, its state is remembered, and compared with those that follow; if none of them is the same, that is
//! done again after twice the time, and so on.

use super::dead::forget_dead;
use super::explored::Mark;
use super::image::Image;
use super::memory::{Alloc, Heap};
use super::thread::Thread;
use super::world::World;

/// After so many steps without an action, a state is remembered for the first time.
const FIRST: u64 = 1 << 15;
/// So many steps after that, others are compared with it.
const LENGTH: u64 = 128;

/// What is known of the way of a thread since it last acted.
#[derive(Debug, Default)]
pub struct Watch {
    /// How many steps it has taken.
    steps: u64,
    /// After how many of them it was looked at last.
    looked: u64,
    remembered: Option<Box<State>>,
}

/// All that what a thread does depends on, as long as it is not answered.
#[derive(Debug, PartialEq, Eq)]
struct State {
    /// What is quickly compared: how many functions are active, and the innermost of them.
    depth: usize,
    pc: u32,
    registers: Vec<u64>,
    rest: Option<Rest>,
}

#[derive(Debug, PartialEq, Eq)]
struct Rest {
    mark: Mark,
    /// What was written to memory since it last acted.
    written: Vec<Alloc>,
    /// How much was written to the output, and how many keys there are.
    output: usize,
    keys: usize,
}

impl Watch {
    /// The thread has acted.
    pub fn reset(&mut self) {
        (self.steps, self.looked, self.remembered) = (0, 0, None);
    }

    /// The thread has taken steps.
    pub fn add(&mut self, steps: u64) {
        self.steps += steps;
    }

    /// How many steps the thread may take before it is looked at again.
    pub fn patience(&self) -> u64 {
        match self.steps {
            steps if steps < FIRST => FIRST - steps,
            steps if since(steps) < LENGTH => 1,
            steps => (1 << (steps.ilog2() + 1)) - steps,
        }
    }

    /// Whether the thread is in the same state as it was before.
    pub fn is_circle(&mut self, thread: &mut Thread, heap: &mut Heap, world: &World, image: &Image) -> bool {
        if self.steps < FIRST || since(self.steps) > LENGTH || self.looked == self.steps {
            return false;
        }
        if self.looked < self.steps - since(self.steps) {
            self.remembered = None;
        }
        self.looked = self.steps;
        let mut state = State::new(thread);
        match &self.remembered {
            Some(remembered) if !remembered.resembles(&state) => false,
            Some(remembered) => {
                state.rest = Some(Rest::new(thread, heap, world, image));
                **remembered == state
            }
            None => {
                state.rest = Some(Rest::new(thread, heap, world, image));
                self.remembered = Some(Box::new(state));
                false
            }
        }
    }
}

/// How many steps ago a state was to be remembered.
fn since(steps: u64) -> u64 {
    steps - (1 << steps.ilog2())
}

impl State {
    fn new(thread: &Thread) -> State {
        let top = thread.frames.last().copied();
        let (base, count) = top.map_or((0, 0), |frame| (frame.base as usize, frame.registers as usize));
        let registers = thread.registers[base..base + count].iter();
        State {
            depth: thread.frames.len(),
            pc: top.map_or(0, |frame| frame.pc),
            registers: registers.map(|register| thread.stack.without_serial(*register)).collect(),
            rest: None,
        }
    }

    fn resembles(&self, other: &State) -> bool {
        (self.depth, self.pc, &self.registers) == (other.depth, other.pc, &other.registers)
    }
}

impl Rest {
    fn new(thread: &mut Thread, heap: &mut Heap, world: &World, image: &Image) -> Rest {
        thread.stack.make_canonical();
        forget_dead(thread, image);
        let written = heap.written().to_vec();
        let (table, values) = heap.table_and_values(thread.id);
        Rest {
            mark: Mark::of(thread, table, values),
            written,
            output: world.output.look().chunks.iter().map(|(_, chunk)| chunk.len()).sum(),
            keys: world.keys.look().len(),
        }
    }
}
