//! Programs, as far as exploring them goes.

use crate::graph::{Action, Graph, Loc, ThreadId, Value, View};
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
    /// The execution so far.
    pub graph: &'a Graph,
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every thread has ended, or one has ended the program.
    Complete,
    /// Some thread waits for ever, or an assumption failed.
    Blocked,
}

impl Ending {
    /// How an execution ended in which no thread can go on.
    pub(super) fn of(graph: &Graph) -> Ending {
        let ended = graph.threads().all(|(_, thread)| thread.is_finished());
        match ended || graph.threads().any(|(_, thread)| thread.pending == Action::Exit) {
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

    /// Runs a thread from its start to its first visible action.
    fn start(&self, state: &mut Self::State, thread: ThreadId, clock: &View, graph: &Graph) -> Action;

    /// Answers the pending action of a thread and runs it to the next.
    fn resume(&self, state: &mut Self::State, thread: ThreadId, answer: Answer<'_>) -> Action;

    /// Whether the pending action of a thread may be part of an iteration of a loop that waits, which then ends with
    /// [`Action::Spin`].
    fn may_spin(&self, state: &Self::State, thread: ThreadId) -> bool {
        let _ = (state, thread);
        false
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

    /// Whether a thread, which was the last to run in both, is in the same state and has written the same when it ran, and so
    /// would do the same from there on, given the same answers.
    fn is_alike(&self, a: &Self::State, b: &Self::State, thread: ThreadId) -> bool {
        let _ = (a, b, thread);
        false
    }

    /// Whether the thread that was the last to run has written to memory of others.
    fn has_written(&self, state: &Self::State) -> bool {
        let _ = state;
        false
    }

    /// The value of a location that no event has accessed.
    fn initial_value(&self, state: &Self::State, loc: Loc) -> Value;

    /// Whether all `keepers` have [left](Action::Leave). This must depend on the events only, not on their order.
    fn all_left(&self, state: &Self::State, keepers: Loc) -> bool {
        let _ = (state, keepers);
        false
    }

    /// What is wrong, where the pending action of a thread is [`Action::Fail`].
    fn error(&self, state: &Self::State, graph: &Graph, thread: ThreadId) -> Self::Error;

    /// Whether exploring ends at this error even where it is to go on after errors: the execution did not come far enough
    /// to count as one.
    fn is_final(&self, error: &Self::Error) -> bool {
        let _ = error;
        false
    }

    /// The locations whose last values matter to how an execution is judged in which no thread can go on. Under reads-from
    /// equivalence it is judged once for each way in which they can be.
    fn watched(&self, state: &Self::State, graph: &Graph, ending: Ending) -> Vec<Loc> {
        let _ = (state, graph, ending);
        Vec::new()
    }

    /// Judges an execution in which no thread can go on.
    fn finish(&self, state: &Self::State, graph: &Graph, ending: Ending) -> Result<(), Self::Error> {
        let _ = (state, graph, ending);
        Ok(())
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
