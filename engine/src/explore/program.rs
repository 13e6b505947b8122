//! Programs, as far as exploring them goes.

use super::Failure;
use super::survey::Spot;
use crate::graph::{Action, EventId, Graph, Loc, ThreadId, Value, View};
use std::fmt::Debug;

/// What an action is answered with.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The value read or chosen, or the number of the thread spawned; 0 for actions that have no answer.
    pub value: Value,
    /// Whether something was written: whether a compare-and-swap succeeded.
    pub wrote: bool,
    /// Whether the value read is the one that the location had in the beginning.
    pub initial: bool,
    /// What happens before the thread's next step: for each thread, how many of its events. An access of another thread
    /// that came after `n` of its events is ordered before the next step just if the entry of that thread is more
    /// than `n`.
    pub clock: &'a View,
    /// What the thread's next step causally depends on, in the same way.
    pub causes: &'a View,
    /// The execution so far.
    pub graph: &'a Graph,
}

impl<'a> Answer<'a> {
    /// What the action of an event was answered with.
    pub(super) fn of(graph: &'a Graph, id: EventId) -> Answer<'a> {
        let event = graph.event(id);
        let initial = event.is_read && event.rf == EventId::INIT;
        Answer {
            value: event.answer,
            wrote: event.is_write,
            initial,
            clock: graph.hb(id),
            causes: graph.porf(id),
            graph,
        }
    }
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every thread has ended, or one has ended the program; or all but one have, which is at an end of a model.
    Complete,
    /// Some thread waits for ever, or an assumption failed.
    Blocked,
}

impl Ending {
    /// How an execution ended in which no thread can go on.
    pub(super) fn of(graph: &Graph) -> Ending {
        let ended = graph.threads().all(|(_, thread)| thread.is_finished());
        let exits = || graph.threads().any(|(_, thread)| thread.pending == Action::Exit);
        match ended || exits() || graph.boundary().is_some() {
            true => Ending::Complete,
            false => Ending::Blocked,
        }
    }
}

/// A concurrent program.
///
/// The explorer sees no more of a program than this: each thread, given the answer to its last action, runs until its
/// next visible one. What a thread does may depend on its answers only, and on the state that it shares with threads
/// ordered before it, which includes what they have written last to locations that no other thread writes; given the
/// same answers it must ask for the same actions.
pub trait Program: Sync {
    /// Everything that changes while the program runs. A copy is a snapshot: it should be cheap, and
    /// [`Clone::clone_from`] should reuse the buffers of a state that is no longer needed.
    type State: Clone + Send;
    /// What can be wrong with an execution. Distinct errors must compare unequal.
    type Error: Clone + Eq + Debug + Send;

    /// The number of threads that the program begins with.
    fn threads(&self) -> usize;

    /// The state in which nothing has run.
    fn initial(&self) -> Self::State;

    /// Runs a thread from its start to its first visible action. It was spawned by this event, or is there from the
    /// beginning.
    fn start(&self, state: &mut Self::State, thread: ThreadId, spawn: EventId, graph: &Graph) -> Action;

    /// Answers the pending action of a thread and runs it to the next.
    fn resume(&self, state: &mut Self::State, thread: ThreadId, answer: Answer<'_>) -> Action;

    /// Whether the pending action of a thread may be part of an iteration of a loop that waits, which then ends with
    /// [`Action::Spin`].
    fn may_spin(&self, state: &Self::State, thread: ThreadId) -> bool {
        let _ = (state, thread);
        false
    }

    /// Whether the pending action of a thread is in a loop of any kind: also in one that ends by itself, after so many
    /// attempts, say, which never comes back to the same state.
    fn is_in_loop(&self, state: &Self::State, thread: ThreadId) -> bool {
        self.may_spin(state, thread)
    }

    /// Whether there are such loops at all.
    fn has_loops(&self) -> bool {
        true
    }

    /// Whether that may write and take it back in the same iteration.
    fn may_undo(&self, state: &Self::State, thread: ThreadId) -> bool {
        let _ = (state, thread);
        false
    }

    /// Whether a thread, which was the last to run in both, is in the same state and has written the same when it ran,
    /// and so would do the same from there on, given the same answers.
    fn is_alike(&self, a: &Self::State, b: &Self::State, thread: ThreadId) -> bool {
        let _ = (a, b, thread);
        false
    }

    /// Whether a thread is at the same place of its code in both, in whatever state.
    fn is_at_same_place(&self, a: &Self::State, b: &Self::State, thread: ThreadId) -> bool {
        let _ = (a, b, thread);
        true
    }

    /// Whether two states that were the same before a thread ran in both are the same again: not only for the thread, but
    /// for everybody, accesses of memory included.
    fn is_same(&self, a: &Self::State, b: &Self::State, thread: ThreadId) -> bool {
        let _ = (a, b, thread);
        false
    }

    /// The nearest thread before a new one that is alike, if there is one: it was spawned by the same thread, runs the
    /// same code, and was in the same state when it began. What it does must then depend on its answers only, and
    /// nobody may be able to tell which of the two it is, but by when it is joined. Whether something else happened in
    /// between is not asked.
    fn like(&self, state: &Self::State, graph: &Graph, thread: ThreadId) -> Option<ThreadId> {
        let _ = (state, graph, thread);
        None
    }

    /// Whether the thread that was the last to run has written to memory of others when it did, or has accessed memory
    /// that others may write, and not done so before in its loop.
    fn has_effect(&self, state: &Self::State) -> bool {
        let _ = state;
        false
    }

    /// Whether iterations that wait access memory that threads share, so that what is left out must be
    /// [held against](Program::note_left_out) what others do.
    fn touches_memory(&self) -> bool {
        false
    }

    /// Whether iterations might do so that were not tried yet.
    fn may_touch_memory(&self) -> bool {
        self.touches_memory()
    }

    /// Forgets which memory was accessed by whom.
    fn forget_accesses(&self, state: &mut Self::State) {
        let _ = state;
    }

    /// Whether any memory that threads share was accessed since that was forgotten.
    fn has_accessed(&self, state: &Self::State) -> bool {
        let _ = state;
        false
    }

    /// Notes in a state what a thread has accessed in a trial since accesses were forgotten, as something that it could have done:
    /// after so many events, which nobody who has run depends on more than, and with this clock. If another thread, when it
    /// runs, does something that could race with that, the program has to [learn](Program::is_lesson) it. What has to be learned
    /// at once, because of what others have done in that state, or because two such accesses could race, is given back.
    fn note_left_out(
        &self,
        state: &mut Self::State,
        trial: &Self::State,
        thread: ThreadId,
        events: u32,
        clock: &View,
    ) -> Option<Self::Error> {
        let _ = (state, trial, thread, events, clock);
        None
    }

    /// A loop that a thread is in has too many states to try out every way to go round.
    fn give_up_loop(&self, state: &Self::State, thread: ThreadId) {
        let _ = (state, thread);
    }

    /// The value of a location that no event has accessed.
    fn initial_value(&self, state: &Self::State, loc: Loc) -> Value;

    /// How many of the `keepers` have not [left](Action::Leave). This must depend on the events only, not on their
    /// order, and only such an event may make it less, by one.
    fn keepers(&self, state: &Self::State, keepers: Loc) -> u32 {
        let _ = (state, keepers);
        u32::MAX
    }

    /// What is wrong, where the pending action of a thread is [`Action::Fail`].
    fn error(&self, state: &Self::State, graph: &Graph, thread: ThreadId) -> Self::Error;

    /// Whether this is accepted: the thread that has failed goes no further, and the others go on.
    fn allows(&self, state: &Self::State, failure: &Failure<Self::Error>) -> bool {
        let _ = (state, failure);
        false
    }

    /// Accepts what is wrong in a state. Nothing is wrong with the execution as a whole then.
    fn forgive(&self, state: &mut Self::State) {
        let _ = state;
    }

    /// Whether something was accepted in the execution that led to a state.
    fn has_forgiven(&self, state: &Self::State) -> bool {
        let _ = state;
        false
    }

    /// Whether this is no error, but something that should have been known from the start: exploring ends there, and
    /// whoever explores the program has to begin again with one that knows.
    fn is_lesson(&self, error: &Self::Error) -> bool {
        let _ = error;
        false
    }

    /// Whether this is no error, but says that the time is over: exploring ends with what is known by then.
    fn is_out_of_time(&self, error: &Self::Error) -> bool {
        let _ = error;
        false
    }

    /// Whether this is no error, but an execution that was too long: it is of no interest where executions are sampled.
    fn is_limit(&self, error: &Self::Error) -> bool {
        let _ = error;
        false
    }

    /// Whether this is to be learned where something was only tried out: with values that are there in another state, or
    /// came from where that is not known. If not, what was tried is explored, and shows it.
    fn is_lesson_of_trial(&self, error: &Self::Error) -> bool {
        self.is_lesson(error)
    }

    /// The locations whose last values matter to how an execution is judged in which no thread can go on. Under
    /// reads-from equivalence it is judged once for each way in which they can be.
    fn watched(&self, state: &Self::State, graph: &Graph, ending: Ending) -> Vec<Loc> {
        let _ = (state, graph, ending);
        Vec::new()
    }

    /// Judges an execution in which no thread can go on.
    fn finish(&self, state: &Self::State, graph: &Graph, ending: Ending) -> Result<(), Self::Error> {
        let _ = (state, graph, ending);
        Ok(())
    }

    /// Where a thread makes its next step, which accesses this location, for somebody who wants to know where the time goes.
    fn spot(&self, state: &Self::State, thread: ThreadId, loc: Option<Loc>) -> Option<Spot> {
        let _ = (state, thread, loc);
        None
    }

    /// Makes copies of the state cheap, for states that can: called before each copy is made.
    fn share(&self, state: &mut Self::State) {
        let _ = state;
    }

    /// Roughly how many bytes a state takes.
    fn state_bytes(&self, state: &Self::State) -> usize {
        std::mem::size_of_val(state)
    }
}
