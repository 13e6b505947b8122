//! A machine whose states can be copied and continued in many ways, and that remembers what threads did.
//!
//! Exploring takes the same threads through the same states again and again: there are many executions because the
//! steps of threads can be put together in many ways, not because there are many different steps. A thread is
//! deterministic: what it does until its next visible action depends on its own state, on the answer to its last
//! action, and on the shared objects that it looks at on the way. So all of these have numbers, a state of the program
//! is a [row](row::Row) of numbers, and a step that was made before is a lookup ([`steps`]): the program runs only
//! where something is new.
//!
//! Each worker has a [universe](universe::Universe) of its own, in which the numbers mean something. A copy of a state
//! of another worker is a translation ([`parcel`]).

mod birth;
mod frozen;
mod mark;
mod parcel;
mod row;
mod steps;
mod threads;
mod universe;
mod view;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::program::{FuncId, PlaceId};
use crate::verdict::Location;

use super::RunOptions;
use super::action::{Action, Answer, Stop};
use super::context;
use super::failure::{Failure, Fault, Late, StackFrame, Waiting};
use super::image::Image;
use super::memory::{Atomics, Observable, Statics, Tracked};
use super::objects::{self, Variable};
use super::thread::ThreadId;
use super::trap::Halt;
use super::world::{Labels, Output};

pub use birth::Birth;
pub use frozen::Frozen;
pub use mark::Mark;
use row::Moment;
pub use steps::Cue;
use universe::{RowId, Universe};
pub(super) use view::View;
pub use view::{Atom, Peeked};

/// What a stop of a thread is to whoever explores.
#[derive(Clone, Copy, Debug)]
pub enum Translated<A> {
    /// This action: the thread waits for its answer.
    Action(A),
    /// Nothing: it has this answer, and the thread goes on.
    Answer(Answer),
}

/// What a value means to a thread that waits for one.
#[derive(Clone, Copy, Debug)]
pub enum Reply<A> {
    Answer(Answer),
    /// That it still waits: this is what its action is now.
    Wait(A),
}

/// Translates between the machine and whoever explores. It must always say the same of the same.
pub trait Interpreter<A>: Atomics {
    /// What a stop is; an atomic that is accessed is in this life. A reason instead of it makes the program one that
    /// cannot be checked.
    fn translate(&self, stop: Stop, life: u32) -> Result<Translated<A>, String>;

    /// What the pending action of a thread gives, if it has this value, and wrote something or not.
    fn answer(&self, action: Action, value: u64, wrote: bool) -> Reply<A>;

    /// What the next step of the thread causally depends on, by thread.
    fn causes(&self) -> &[u32];

    /// What an action that has this value, and wrote something or not, has changed for others.
    fn effect(&self, action: A, value: u64, wrote: bool) -> Effect;
}

/// What an action has changed for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Nothing,
    /// Nothing, but others may be ordered after it: it was a release fence, or an update that wrote back what it found, and
    /// releases.
    Fence,
    /// It has written to an atomic: that may be taken back.
    Write(Write),
    /// Something else, or it was a choice.
    Lasting,
}

/// A write to an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// The number of the atomic.
    pub loc: u32,
    /// What was there before, as far as that is known.
    pub read: Option<u64>,
    pub written: u64,
    /// Whether it is a sum of that and a number.
    pub adds: bool,
    /// Whether it takes a lock, for which others may wait until it is given back.
    pub locks: bool,
    /// Whether others may be ordered after it.
    pub releases: bool,
}

/// What a thread has changed of what threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Changes {
    Nothing,
    /// Blocks of memory that it has allocated itself.
    OwnBlocks,
    Others,
}

/// What a thread has accessed of tracked memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Whether there was anything.
    pub any: bool,
    /// Whether there was anything, or something was freed.
    pub looked: bool,
    /// That part of it which others contend for, as a number that means the same to every worker; 0 if nothing.
    pub contended: u64,
}

/// A thread has made a step.
#[derive(Clone, Copy, Debug)]
pub struct Stepped<A> {
    /// What it waits for now.
    pub action: A,
    /// By what a loop recognises where it is now.
    pub mark: Mark,
    /// What that which it waited for before has changed for others.
    pub effect: Effect,
    pub changed: Changes,
    /// What it has written to what others have, as a number; 0 if nothing.
    pub written: u64,
    /// Whether it has accessed tracked memory, and that part of it which others contend for: see [`Touched`]. Together
    /// with the rest this is just small enough to be copied without a call.
    pub touched: bool,
    pub looked: bool,
    pub contended: u64,
    /// Where it is in a loop, the same for all callers of the function that has the loop: only if it is in one it can come
    /// back to where it is now.
    pub in_loop: Option<u64>,
    /// Whether it has gone on at all: not if it [still waits](Reply::Wait).
    pub went_on: bool,
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
    statics: Arc<Statics>,
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
            statics: Arc::default(),
            universes: Mutex::default(),
        })
    }

    /// The statics that threads have accessed as atomics and as other memory, too, and whose accesses were not kept.
    pub fn mixed_statics(&self) -> BTreeSet<u32> {
        self.statics.mixed()
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
    pub fn new(basis: &Arc<Basis<A>>) -> Result<Explored<A>, Halt> {
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

    /// What that is to whoever explores.
    pub fn translated(&self, id: ThreadId) -> Option<A> {
        let universe = lock(&self.universe);
        universe.threads.action(universe.row(self.row).thread(id))
    }

    /// The failure of a thread that has come to something that cannot be checked.
    pub fn unsupported(&self, id: ThreadId, what: &str) -> Box<Failure> {
        Failure::new(Fault::unsupported(what), &self.basis.image.program, id, self.stack_trace(id))
    }

    /// The failure of a thread that has reached a limit.
    pub fn limit(&self, id: ThreadId, message: &str) -> Box<Failure> {
        Failure::new(Fault::limit(message), &self.basis.image.program, id, self.stack_trace(id))
    }

    /// Lets a thread run from its pending action, if there is one, to the next. `clock` says what happens before, by
    /// thread, and `events` how many events the thread has.
    #[inline]
    pub fn step(
        &mut self,
        id: ThreadId,
        cue: Cue,
        clock: &[u32],
        events: u32,
        interpreter: &impl Interpreter<A>,
    ) -> Result<Stepped<A>, Halt> {
        lock(&self.universe).step(self.row, cue, Moment { thread: id, clock, events }, interpreter)
    }

    /// By what a loop recognises where a thread is, and in which state.
    #[inline]
    pub fn mark(&self, id: ThreadId) -> Mark {
        let universe = lock(&self.universe);
        universe.threads.mark(universe.row(self.row).thread(id))
    }

    /// Whether a thread is in the same state in both, and so are the blocks that it has allocated.
    pub fn is_alike(&self, other: &Explored<A>, id: ThreadId) -> bool {
        if !Arc::ptr_eq(&self.universe, &other.universe) {
            return false;
        }
        let universe = lock(&self.universe);
        let (one, two) = (universe.row(self.row), universe.row(other.row));
        let mark = |row: &row::Row| universe.threads.mark(row.thread(id)).state;
        mark(one) == mark(two) && universe.vm.heap.objects.own_blocks_alike(id, &one.versions, &two.versions)
    }

    /// Whether a thread is at the same place in both: in the same functions, at the same instructions.
    pub fn is_at_same_place(&self, other: &Explored<A>, id: ThreadId) -> bool {
        if !Arc::ptr_eq(&self.universe, &other.universe) {
            return false;
        }
        let universe = lock(&self.universe);
        let site = |row| universe.threads.mark(universe.row(row).thread(id)).site;
        site(self.row) == site(other.row)
    }

    /// Whether both are the same state, but for how many steps are left.
    pub fn is_same(&self, other: &Explored<A>) -> bool {
        if !Arc::ptr_eq(&self.universe, &other.universe) {
            return false;
        }
        let universe = lock(&self.universe);
        universe.row(self.row).is_same(universe.row(other.row))
    }

    /// Forgets who has accessed which memory.
    pub fn forget_accesses(&mut self) {
        lock(&self.universe).races_mut(self.row).forget();
    }

    /// Whether any tracked memory was accessed since that was forgotten.
    pub fn has_accessed(&self) -> bool {
        !lock(&self.universe).row(self.row).races.is_empty()
    }

    /// Notes what a thread has accessed in a trial, as left out: after so many events, with this clock. Says which memory threads
    /// contend for, if that races with something else that was left out.
    pub fn note_left_out(
        &mut self,
        trial: &Explored<A>,
        id: ThreadId,
        events: u32,
        clock: &[u32],
    ) -> Option<Observable> {
        let moment = Moment { thread: id, clock, events };
        let is_one_universe = Arc::ptr_eq(&self.universe, &trial.universe);
        is_one_universe.then(|| lock(&self.universe).note_left_out(self.row, trial.row, moment))?
    }

    /// What is in the shared blocks that a thread has allocated, as a number.
    pub fn own_digest(&self, id: ThreadId) -> u64 {
        let universe = lock(&self.universe);
        universe.vm.heap.objects.own_digest(id, &universe.row(self.row).versions)
    }

    /// An access that may come after its memory is gone, where the last step failed because that goes.
    pub fn late(&mut self) -> Option<Late> {
        lock(&self.universe).vm.heap.late.take()
    }

    /// Up to 8 bytes of memory as a number, and whether they are initialized; 0 where there is no memory.
    pub fn peek(&self, address: u64, len: usize) -> Peeked {
        lock(&self.universe).view(self.row).peek(address, len)
    }

    /// The failure of a thread whose pending action reads memory as it was in the beginning, if that is not
    /// initialized.
    pub fn check_initialized(&mut self, id: ThreadId) -> Result<(), Halt> {
        lock(&self.universe).check_initialized(self.row, id)
    }

    /// A thread that is blocked forever, with those who have what it waits for.
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

    /// The last panic of a thread: its message, and where it was raised.
    pub fn panic(&self, id: ThreadId) -> Option<(String, Location, Vec<StackFrame>)> {
        let universe = lock(&self.universe);
        let frozen = universe.threads.get(universe.row(self.row).thread(id))?;
        frozen.thread.panic.as_ref().map(|panic| (panic.message.clone(), panic.location.clone(), panic.stack.clone()))
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

    /// The labels that threads have come to so far.
    pub fn covered(&self) -> Labels {
        let universe = lock(&self.universe);
        universe.view(self.row).covered().cloned().unwrap_or_default()
    }

    /// The failure of a state in which all threads have ended, if heap blocks were leaked.
    /// `value` says what was written last to an atomic that threads share.
    pub fn leaks(&self, value: impl Fn(Atom) -> Option<u64>) -> Option<Box<Failure>> {
        lock(&self.universe).leaks(self.row, value)
    }

    /// Whether there are heap blocks that may have been leaked.
    pub fn may_leak(&self) -> bool {
        lock(&self.universe).row(self.row).live != 0
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
