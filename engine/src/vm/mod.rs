//! How a program runs: a virtual machine for the threads of a checked program, its memory, its calls and its unwinding.
//!
//! A [`Vm`] is the whole state of a run. [`Vm::run_thread`] runs one thread until its next visible action and leaves
//! that [pending](Action); [`Vm::answer`] completes it. Whoever calls these is the scheduler and the memory model:
//! [`run`] is the simplest one, a fixed schedule with atomics answered from memory.
//!
//! [`Explored`] is a machine that can be copied at any time and continued in many ways. It remembers what threads did:
//! what one has done before, from the same state, is not run again.

mod action;
mod allow;
mod answer;
mod arith;
mod atomics;
mod builtins;
mod code;
mod context;
mod dead;
mod environment;
mod explored;
mod failure;
mod float;
mod frame;
mod hash;
mod image;
mod int128;
mod interp;
mod leak;
mod memory;
mod note;
mod objects;
mod plain;
mod prepare;
mod schedule;
mod slow;
#[cfg(test)]
mod tests;
mod thread;
mod threads;
mod trap;
mod unwind;
mod validate;
mod watch;
mod world;

use std::sync::Arc;
use std::time::Instant;

pub use action::{Action, Answer, Stop, Timeout, Wait};
pub use allow::{Allowed, UnknownErrors};
pub use environment::{Environment, Questions};
pub use explored::{
    Atom, Basis, Birth, Changes, Cue, Effect, Explored, Interpreter, Mark, Peeked, Reply, Stepped, Touched, Translated,
    Write,
};
pub use failure::{Failure, FailureKind, Late, StackFrame, Waiting, innermost};
pub use image::Image;
pub use memory::{Access, Atomics, Dangling, Observable, Tracked};
pub use note::{AccessKind, Note, NoteKind, RacingPair, Role, held};
pub use objects::{Object, Variable};
pub use prepare::Effort;
pub use schedule::{Run, run, run_image};
pub use thread::ThreadId;
pub use trap::Halt;
pub use validate::validate;
pub use world::{Output, Stream};

use crate::interrupt::Interrupt;
use crate::memory::Budget;
use crate::program::FuncId;
use crate::verdict::ErrorKind;

use context::{Context, Flow};
use failure::Fault;
use frame::FrameKind;
use interp::Exit;
use memory::{Heap, Space};
use thread::Thread;
use trap::Trap;
use watch::Watch;
use world::World;

/// How a program is run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// How many steps all threads may take together: a step is a jump or a call.
    pub max_steps: u64,
    /// The environment variables that the program sees.
    pub env: Environment,
    /// How many processors the program sees.
    pub processors: u64,
    /// Whether heap blocks that are never freed are an error.
    pub check_leaks: bool,
    /// Errors that are accepted, while the program is explored.
    pub allow: Vec<Allowed>,
    /// Whether threads that wait may wake up, and weak compare-and-swaps may fail, without a reason.
    pub spurious: bool,
    /// Whether the memory model delays stores, while the program is explored.
    pub store_buffers: bool,
    /// How often a thread may come back to the same place, before the execution is given up.
    pub unroll: Option<u32>,
    /// Whether what threads did is remembered, and not run again while a program is explored. Nothing but time depends
    /// on that: it is an option so that this can be tested.
    pub remember: bool,
    /// The label at which an execution ends, to be shown.
    pub show_cover: Option<String>,
    /// When to stop, if ever.
    pub deadline: Option<Instant>,
    /// Stop when somebody wants so.
    pub interrupt: Interrupt,
    /// The memory that is left for large blocks.
    pub budget: Budget,
}

impl RunOptions {
    /// Whether the deadline has passed, or somebody wants to stop.
    pub fn is_over(&self) -> bool {
        self.interrupt.is_requested() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// After so many steps the machine looks whether the deadline has passed: they take some milliseconds.
const SLICE: u64 = 1 << 20;

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions {
            max_steps: 200_000_000,
            env: Environment::default(),
            processors: 4,
            check_leaks: true,
            allow: Vec::new(),
            spurious: false,
            store_buffers: false,
            unroll: None,
            remember: true,
            show_cover: None,
            deadline: None,
            interrupt: Interrupt::default(),
            budget: Budget::default(),
        }
    }
}

/// The whole state of a run: all threads, all memory.
#[derive(Debug)]
pub struct Vm {
    image: Arc<Image>,
    options: Arc<RunOptions>,
    /// By number; the one that runs is taken out.
    threads: Vec<Option<Box<Thread>>>,
    heap: Heap,
    world: World,
    steps_left: u64,
    watch: Watch,
}

impl Vm {
    /// A machine whose main thread will run `entry`, a function without arguments.
    pub fn new(image: &Arc<Image>, entry: FuncId, options: &Arc<RunOptions>) -> Result<Vm, Halt> {
        let mut vm = Vm::empty(image, options);
        vm.start_main(entry)?;
        Ok(vm)
    }

    /// A machine without threads.
    fn empty(image: &Arc<Image>, options: &Arc<RunOptions>) -> Vm {
        Vm {
            image: Arc::clone(image),
            options: Arc::clone(options),
            threads: Vec::new(),
            heap: Heap::default(),
            world: World::default(),
            steps_left: options.max_steps,
            watch: Watch::default(),
        }
    }

    fn start_main(&mut self, entry: FuncId) -> Result<(), Halt> {
        let mut main = Box::new(Thread::new(ThreadId::MAIN));
        main.entry = Some(entry);
        main.alone = true;
        context::push_call(&self.image, &mut main, &mut self.heap, entry, &[], FrameKind::Root)
            .map_err(|trap| Halt::new(*trap, &self.image.program, ThreadId::MAIN, Vec::new()))?;
        self.threads.push(Some(main));
        Ok(())
    }

    /// Runs a thread that has no pending action until its next visible one, which is pending then.
    pub fn run_thread(&mut self, id: ThreadId) -> Result<Stop, Halt> {
        self.with_thread(id, |context, steps_left| {
            reserve_window(context.thread);
            loop {
                let result = match execute(context, steps_left) {
                    Exit::Slow => slow::run(context),
                    Exit::Trap(trap) => Err(trap),
                    Exit::Circle => Ok(context.stop(Action::Spin, thread::Reply::None)),
                    Exit::OutOfSteps if *steps_left > 0 => Err(Fault::limit("time limit reached").into()),
                    Exit::OutOfSteps => Err(Fault::limit("step limit reached (`--max-steps` raises it)").into()),
                };
                let trap = match result.and_then(|flow| slow::act_alone(context, flow)) {
                    Ok(Flow::Continue) => continue,
                    Ok(Flow::Stop(stop)) => return Ok(plain::stores_first(context, stop)),
                    Err(trap) => *trap,
                };
                return match trap {
                    Trap::Fault(fault) => Err(unwind::locate_panic(context, context.failure(fault)).into()),
                    Trap::Learn(site) => Err(Halt::Learn(site)),
                    Trap::NeedValue { address, len } => {
                        let stop = plain::ask_for_value(context, address, len);
                        Ok(plain::stores_first(context, stop))
                    }
                };
            }
        })
    }

    /// Gives `action` the machine from the side of a thread.
    fn with_thread<T>(&mut self, id: ThreadId, action: impl FnOnce(&mut Context, &mut u64) -> T) -> T {
        let mut thread = self.threads[id.index()].take().expect("a thread of this machine that is not running");
        self.heap.enter(id, thread.alone);
        let mut context = Context {
            thread: &mut thread,
            threads: &mut self.threads,
            heap: &mut self.heap,
            world: &mut self.world,
            image: &self.image,
            options: &self.options,
            watch: &mut self.watch,
        };
        let result = action(&mut context, &mut self.steps_left);
        self.threads[id.index()] = Some(thread);
        result
    }

    /// The action that a thread waits for, if there is one.
    pub fn pending(&self, id: ThreadId) -> Option<Action> {
        self.thread(id).pending.map(|pending| pending.action)
    }

    /// Whether a thread has ended.
    pub fn ended(&self, id: ThreadId) -> bool {
        self.thread(id).ended()
    }

    /// How much time has passed for a thread.
    fn clock(&self, id: ThreadId) -> u64 {
        self.thread(id).clock
    }

    /// A thread that is blocked forever.
    fn waiting(&self, thread: ThreadId) -> Waiting {
        let wait = self.pending(thread).and_then(|action| action.waits());
        Waiting { thread, wait, holders: Vec::new(), stack: self.stack_trace(thread) }
    }

    /// All threads there ever were, in the order of creation.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> + use<'_> {
        let existing = self.threads.iter().enumerate().filter(|(_, thread)| thread.is_some());
        existing.map(|(index, _)| ThreadId(index as u16))
    }

    /// What was written so far.
    pub fn output(&self) -> &Output {
        self.world.output.look()
    }

    /// How many steps were taken so far.
    pub fn steps(&self) -> u64 {
        self.options.max_steps - self.steps_left
    }

    /// The failure of a thread that ends the program with an exit code other than 0.
    fn exit_failure(&self, id: ThreadId, code: i32) -> Box<Failure> {
        let fault = Fault::new(ErrorKind::Abort, format!("the program exits with code {code}"));
        Failure::new(fault, &self.image.program, id, self.stack_trace(id))
    }

    /// The active functions of a thread, the innermost first.
    pub fn stack_trace(&self, id: ThreadId) -> Vec<StackFrame> {
        context::stack_trace(&self.image, self.thread(id))
    }

    fn thread(&self, id: ThreadId) -> &Thread {
        self.threads[id.index()].as_ref().expect("a thread of this machine that is not running")
    }
}

/// A copy of a thread has only the registers in use: gives it a whole window again.
fn reserve_window(thread: &mut Thread) {
    if let Some(frame) = thread.frames.last() {
        interp::reserve(&mut thread.registers, frame.base, frame.registers);
    }
}

/// Runs the active thread until it needs the rest of the machine, no steps are left, or the deadline has passed; while
/// the program is explored, until it has come back to where it was.
fn execute(context: &mut Context, steps_left: &mut u64) -> Exit {
    let watched = context.heap.tracking.is_some();
    // Whether an instruction was left to be run again.
    let mut again = false;
    loop {
        if watched && context.is_circle() {
            if let Some(frame) = context.thread.frames.last_mut() {
                frame.pc += u32::from(again);
            }
            return Exit::Circle;
        }
        let patience = if watched { context.watch.patience() } else { SLICE };
        let slice = SLICE.min(*steps_left).min(patience);
        let mut left = slice;
        let Thread { id, registers, frames, stack, .. } = &mut *context.thread;
        let mut space = Space::new(*id, stack, context.heap, context.threads, context.image);
        let exit = interp::execute(registers, frames, &mut space, context.image, &mut left);
        *steps_left -= slice - left;
        context.watch.add(slice - left);
        match (&exit, context.thread.frames.last_mut()) {
            (Exit::OutOfSteps, Some(frame)) if *steps_left > 0 && !context.options.is_over() => {
                frame.pc -= 1;
                again = true;
            }
            _ => return exit,
        }
    }
}
