//! A machine whose states can be copied and continued in many ways, and that remembers what threads did.
//!
//! Exploring takes the same threads through the same states again and again: there are many executions because the steps
//! of threads can be put together in many ways, not because there are many different steps. A thread is deterministic:
//! what it does until its next visible action depends on its own state, on the answer to its last action, and on the
//! shared objects that it looks at on the way. So all of these have numbers, a state of the program is a [row](row::Row)
//! of numbers, and a step that was made before is a lookup ([`steps`]): the program runs only where something is new.
//!
//! Each worker has a [universe](universe::Universe) of its own, in which the numbers mean something. A copy of a state of
//! another worker is a translation ([`parcel`]).

mod frozen;
mod mark;
mod parcel;
mod row;
mod steps;
mod threads;
mod universe;
mod view;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::program::{FuncId, PlaceId};
use crate::verdict::Location;

use super::RunOptions;
use super::action::{Action, Answer, Stop};
use super::context;
use super::failure::{Failure, Fault, Late, StackFrame, Waiting};
use super::image::Image;
use super::memory::{Atomics, Site, Tracked};
use super::objects::{self, Variable};
use super::thread::ThreadId;
use super::world::Output;

pub use frozen::Frozen;
pub use mark::Mark;
use row::Moment;
use universe::{RowId, Universe};
pub(super) use view::View;
pub use view::{Atom, Peeked};

/// What an action of a thread is to whoever explores.
#[derive(Clone, Copy, Debug)]
pub enum Translated<A> {
    /// This: the thread waits for its answer.
    Action(A),
    /// Nothing: it has this answer, and the thread goes on.
    Answer(Answer),
}

/// Whoever explores, from the side of the machine.
pub trait Host<A>: Atomics {
    /// What a stop is to it; an atomic that is accessed is in this life. A reason instead makes the program one that cannot
    /// be checked.
    fn translate(&mut self, stop: Stop, life: u32) -> Result<Translated<A>, String>;
}

/// A thread has made a step.
#[derive(Clone, Copy, Debug)]
pub struct Stepped<A> {
    /// What it waits for now.
    pub action: A,
    /// By what a loop recognises where it is now.
    pub mark: Mark,
    /// Whether it has changed what threads share.
    pub changed: bool,
}

/// A thread that explores, and its universe as long as that is in use.
type Own<A> = (std::thread::ThreadId, Weak<Mutex<Universe<A>>>);

/// A program to be explored.
#[derive(Debug)]
pub struct Basis<A> {
    image: Arc<Image>,
    entry: FuncId,
    options: Arc<RunOptions>,
    tracked: Arc<Tracked>,
    /// One for each thread that explores.
    universes: Mutex<Vec<Own<A>>>,
}

impl<A: Copy> Basis<A> {
    /// Explores a function without arguments; the memory is shared that is tracked.
    pub fn new(image: &Arc<Image>, entry: FuncId, options: &RunOptions, tracked: Tracked) -> Arc<Basis<A>> {
        Arc::new(Basis {
            image: Arc::clone(image),
            entry,
            options: Arc::new(options.clone()),
            tracked: Arc::new(tracked),
            universes: Mutex::default(),
        })
    }

    /// The universe of the thread that asks.
    fn universe(&self) -> Arc<Mutex<Universe<A>>> {
        let id = std::thread::current().id();
        let mut universes = lock(&self.universes);
        universes.retain(|(_, universe)| universe.strong_count() > 0);
        let own = universes.iter().find(|(of, _)| *of == id).and_then(|(_, universe)| universe.upgrade());
        own.unwrap_or_else(|| {
            let universe = Arc::new(Mutex::new(Universe::new(self)));
            universes.push((id, Arc::downgrade(&universe)));
            universe
        })
    }
}

/// Whoever panicked has left nothing half done that matters: its states are not used any more.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A state of a program that is explored.
#[derive(Debug)]
pub struct Explored<A: Copy> {
    basis: Arc<Basis<A>>,
    universe: Arc<Mutex<Universe<A>>>,
    row: RowId,
}

impl<A: Copy> Explored<A> {
    /// The state in which nothing has run.
    pub fn new(basis: &Arc<Basis<A>>) -> Result<Explored<A>, Box<Failure>> {
        let state = Explored::vacant(basis);
        lock(&state.universe).begin(state.row, basis)?;
        Ok(state)
    }

    /// A state without threads.
    pub fn vacant(basis: &Arc<Basis<A>>) -> Explored<A> {
        let universe = basis.universe();
        let row = lock(&universe).add_row();
        Explored { basis: Arc::clone(basis), universe, row }
    }

    /// What a thread waits for.
    #[inline]
    pub fn pending(&self, id: ThreadId) -> Option<Action> {
        lock(&self.universe).pending(self.row, id)
    }

    /// What a thread waits for, and what that is to whoever explores.
    #[inline]
    pub fn pending_and_translated(&self, id: ThreadId) -> (Option<Action>, Option<A>) {
        let universe = lock(&self.universe);
        let translated = universe.threads.action(universe.row(self.row).thread(id));
        (universe.pending(self.row, id), translated)
    }

    /// The failure of a thread that has reached a limit.
    pub fn limit(&self, id: ThreadId, message: &str) -> Box<Failure> {
        Failure::new(*Fault::limit(message), &self.basis.image.program, id, self.stack_trace(id))
    }

    /// Answers the pending action of a thread, if there is one, and lets it run to the next one that is not answered at
    /// once. `clock` says what happens before, by thread, and `events` how many events the thread has.
    #[inline]
    pub fn step(
        &mut self,
        id: ThreadId,
        answer: Option<Answer>,
        clock: &[u32],
        events: u32,
        host: &mut impl Host<A>,
    ) -> Result<Stepped<A>, Box<Failure>> {
        let mut universe = lock(&self.universe);
        let action = universe.step(self.row, answer, Moment { thread: id, clock, events }, host)?;
        let mark = universe.threads.mark(universe.row(self.row).thread(id));
        Ok(Stepped { action, mark, changed: universe.changed })
    }

    /// By what a loop recognises where a thread is, and in which state.
    #[inline]
    pub fn mark(&self, id: ThreadId) -> Mark {
        let universe = lock(&self.universe);
        universe.threads.mark(universe.row(self.row).thread(id))
    }

    /// Memory that turned out to be shared, though it was not tracked, where the last step failed.
    pub fn learned(&mut self) -> Option<Site> {
        lock(&self.universe).vm.heap.learned.take()
    }

    /// An access that may come after its memory is gone, where the last step failed because that goes.
    pub fn late(&mut self) -> Option<Late> {
        lock(&self.universe).vm.heap.late.take()
    }

    /// The atomics that threads share.
    pub fn atoms(&self) -> Vec<Atom> {
        lock(&self.universe).view(self.row).atoms()
    }

    /// Up to 8 bytes of memory as a number, and whether they are initialized; 0 where there is no memory.
    pub fn peek(&self, address: u64, len: usize) -> Peeked {
        lock(&self.universe).view(self.row).peek(address, len)
    }

    /// The failure of a thread whose pending action reads memory as it was in the beginning, if that is not initialized.
    pub fn check_initialized(&mut self, id: ThreadId) -> Result<(), Box<Failure>> {
        lock(&self.universe).check_initialized(self.row, id)
    }

    /// A thread that waits for ever, with those who have what it waits for.
    pub fn waiting(&self, thread: ThreadId, holders: Vec<ThreadId>) -> Waiting {
        let wait = self.pending(thread).and_then(|action| action.waits());
        Waiting { thread, wait, holders, stack: self.stack_trace(thread) }
    }

    /// The active functions of a thread, the innermost first.
    pub fn stack_trace(&self, id: ThreadId) -> Vec<StackFrame> {
        let universe = lock(&self.universe);
        let frozen = universe.threads.get(universe.row(self.row).thread(id));
        frozen.map_or_else(Vec::new, |frozen| context::stack_trace(&self.basis.image, &frozen.thread))
    }

    /// Whether a panic unwinds a thread.
    pub fn is_unwinding(&self, id: ThreadId) -> bool {
        let universe = lock(&self.universe);
        let frozen = universe.threads.get(universe.row(self.row).thread(id));
        frozen.is_some_and(|frozen| !frozen.thread.exceptions.is_empty())
    }

    /// What is at an address.
    pub fn variable(&self, address: u64) -> Variable {
        let universe = lock(&self.universe);
        objects::variable(&universe.view(self.row), address, &self.basis.image)
    }

    /// A place of the program, if it is one.
    pub fn location_of(&self, place: PlaceId) -> Option<Location> {
        objects::location_of(&self.basis.image, place)
    }

    /// Whether the deadline has passed.
    pub fn is_out_of_time(&self) -> bool {
        self.basis.options.is_over()
    }

    /// What was written so far.
    pub fn output(&self) -> Output {
        let universe = lock(&self.universe);
        universe.view(self.row).output().cloned().unwrap_or_default()
    }

    /// The failure of a state in which all threads have ended, if heap blocks were leaked.
    /// `atomics` are the addresses and the values of the atomics that are in the graph.
    pub fn leaks(&self, atomics: impl FnOnce() -> Vec<(u64, u64)>) -> Option<Box<Failure>> {
        lock(&self.universe).leaks(self.row, atomics)
    }

    /// Roughly how many bytes it takes.
    pub fn bytes(&self) -> usize {
        lock(&self.universe).row(self.row).bytes()
    }
}

impl<A: Copy> Clone for Explored<A> {
    fn clone(&self) -> Explored<A> {
        let mut copy = Explored::vacant(&self.basis);
        copy.clone_from(self);
        copy
    }

    #[inline]
    fn clone_from(&mut self, source: &Explored<A>) {
        if Arc::ptr_eq(&self.universe, &source.universe) {
            return lock(&self.universe).copy_row(self.row, source.row);
        }
        let parcel = lock(&source.universe).export(source.row);
        lock(&self.universe).import(self.row, parcel);
    }
}

impl<A: Copy> Drop for Explored<A> {
    fn drop(&mut self) {
        lock(&self.universe).remove_row(self.row);
    }
}
