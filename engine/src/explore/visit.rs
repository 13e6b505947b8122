//! The depth-first exploration itself (VISIT in algorithm 1 of the TruSt paper), without recursion.
//!
//! Going forward, one graph is extended and shortened in place. A backward revisit makes a copy of what it keeps, on a
//! stack of graphs whose depth is bounded by the number of writes of the program; all buffers are reused. Program
//! states are saved before each read, from where a later write that revisits it starts, and before each node with
//! several children. So memory is bounded by the size of the program, however many executions there are.

use super::audit::Audited;
use super::buffers::Buffers;
use super::choice::{Choice, Frame, Path};
use super::clock::Clock;
use super::decide::{effect, is_enabled};
use super::lessons::Lessons;
use super::levels::Levels;
use super::models::counts;
use super::program::{Answer, Ending, Program};
use super::snapshots::Snapshots;
use super::stats::Stats;
use super::symmetry::find_likes;
use super::transient::Overlay;
use super::tree::Tree;
use super::trial::Trials;
use super::{AwaitLevel, Failure, Lesson, Observer};
use crate::graph::{Action, EventId, Graph, Snapshot, Then, ThreadId, Ties};
use crate::interrupt::Interrupt;
use crate::model::{Last, Model, Race, find_race};

/// Explores a subtree of the exploration tree.
pub(super) struct Visitor<'p, P: Program, M> {
    pub program: &'p P,
    pub model: M,
    /// What graphs have of coherence.
    pub ties: Ties,
    pub search: Search,
    /// What was learned before, and is to be learned now.
    pub lessons: &'p Lessons,
    pub learned: Option<Lesson<P::Error>>,
    pub levels: Levels,
    pub tree: Tree,
    /// The state of the program after the events of the current graph, and those that were saved.
    pub state: P::State,
    pub snapshots: Snapshots<P::State>,
    pub trials: Trials<P::State>,
    /// Threads that cannot confirm what they have read, as it is.
    pub stuck: Vec<ThreadId>,
    /// The writes that are last where the current graph, being full, was judged.
    pub lasts: Vec<Last>,
    pub buffers: Buffers,
    pub stats: Stats,
    /// Says when the time is over.
    pub deadline: Clock,
}

/// Which executions are explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// All of them.
    All,
    /// Some random ones: writes revisit no reads. If only the latest is asked for, reads read the latest write that they can.
    Sample { only_latest: bool },
}

impl Search {
    /// Whether writes revisit reads.
    pub fn revisits(self) -> bool {
        self == Search::All
    }

    /// Whether reads read the latest write that they can, and nothing else.
    pub fn only_latest(self) -> bool {
        self == Search::Sample { only_latest: true }
    }
}

/// Whether a write can revisit the read that this action becomes. What is reached could not have been read otherwise.
fn can_be_revisited(action: &Action) -> bool {
    !matches!(action, Action::Reach { .. })
}

/// What came of a step.
pub(super) enum Step<E> {
    /// The graph has grown.
    Extended,
    /// No thread can go on.
    Full(Ending),
    /// What would come of it is of no interest.
    Cut,
    /// Something is wrong.
    Failed(Failure<E>),
    /// The exploration has to begin again.
    Restart(Lesson<E>),
}

/// A subtree to explore, with all that is needed to do so: what one worker hands to another.
#[derive(Clone)]
pub(super) struct Item<S> {
    pub graph: Graph,
    pub state: S,
    pub snapshots: Vec<S>,
    /// The thread that acts first, and how.
    pub first: Option<(ThreadId, Choice)>,
    pub path: Path,
    /// How many events the graph had where the [stage](super::models) began.
    pub frozen: usize,
}

impl<'p, P: Program, M: Model> Visitor<'p, P, M> {
    pub fn new(program: &'p P, model: M, lessons: &'p Lessons, ties: Ties) -> Visitor<'p, P, M> {
        Visitor {
            program,
            model,
            ties,
            search: Search::All,
            lessons,
            learned: None,
            levels: Levels::new(program.threads()),
            tree: Tree::default(),
            state: program.initial(),
            snapshots: Snapshots::new(),
            trials: Trials::new(program.initial()),
            stuck: Vec::new(),
            lasts: Vec::new(),
            buffers: Buffers::new(),
            stats: Stats::default(),
            deadline: Clock::new(None, Interrupt::default()),
        }
    }

    /// The whole tree, as an item; all threads have run to their first action.
    pub fn root_item(program: &P, lessons: &Lessons, ties: Ties) -> Item<P::State> {
        let mut graph = Graph::new(program.threads());
        graph.forget_coherence(ties);
        let mut state = program.initial();
        for index in 0..program.threads() {
            let thread = ThreadId::new(index);
            let action = program.start(&mut state, thread, EventId::INIT, &graph);
            graph.set_pending(thread, action);
        }
        if lessons.compares_threads(ties) {
            find_likes(program, &state, &mut graph);
        }
        Item { graph, state, snapshots: Vec::new(), first: None, path: Path::new(), frozen: 0 }
    }

    /// Saves the state of the program and says where.
    pub fn save(&mut self) -> usize {
        self.program.share(&mut self.state);
        self.snapshots.push(&self.state)
    }

    pub fn graph(&self) -> &Graph {
        self.levels.current()
    }

    /// Takes an item on and makes its first step.
    pub fn begin(&mut self, item: Item<P::State>) -> Step<P::Error> {
        self.tree.begin(item.path, item.frozen);
        // Into this worker's own buffers: those of the item lie next to what the other worker goes on writing to.
        self.levels.begin(Audited::first(item.frozen)).copy_from(&item.graph, &mut self.buffers.renaming);
        self.state.clone_from(&item.state);
        self.snapshots.truncate(0);
        for state in &item.snapshots {
            self.snapshots.push(state);
        }
        match item.first {
            Some((thread, choice)) => {
                let slot = self.save();
                self.apply(thread, choice, slot)
            }
            None => self.check_pending(),
        }
    }

    /// Extends the graph by one event, the first child of the node that it is at.
    pub fn step(&mut self) -> Step<P::Error> {
        let start = self.tree.choices.len();
        let thread = match self.branch() {
            Ok(thread) => thread,
            Err(end) => return end,
        };
        let choice = self.tree.choices[start];
        let slot = if self.tree.choices.len() - start > 1 {
            let slot = self.save();
            self.push_frame(thread, start, slot);
            slot
        } else {
            self.tree.choices.truncate(start);
            if self.needs_snapshot(thread, choice) { self.save() } else { usize::MAX }
        };
        self.apply(thread, choice, slot)
    }

    /// Pushes the children of the node that the exploration is at, at least one, and says whose action they decide
    /// about. If there are none, says why.
    pub fn branch(&mut self) -> Result<ThreadId, Step<P::Error>> {
        let start = self.tree.choices.len();
        self.stuck.clear();
        if self.lessons.level > AwaitLevel::Stale && !self.graph().is_settled() && self.program.has_loops() {
            return Err(Step::Restart(Lesson::Unsettled));
        }
        loop {
            let next = self.next_thread();
            match next {
                Some(thread) => self.decide(thread),
                None => self.decide_at_end(),
            }
            if self.learned.is_some() {
                return Err(self.restart());
            }
            match next {
                _ if self.tree.choices.len() > start => return Ok(next.unwrap_or(ThreadId::new(0))),
                Some(thread) if self.awaits_confirmation(thread) => self.stuck.push(thread),
                _ => return Err(Step::Cut),
            }
        }
    }

    /// Whether the pending action of a thread becomes a read that may be revisited.
    fn needs_snapshot(&self, thread: ThreadId, choice: Choice) -> bool {
        matches!(choice, Choice::Read { .. } | Choice::Blind) && can_be_revisited(&self.graph().thread(thread).pending)
    }

    /// No thread can go on; but one that waits for a lock might have had it before the thread that has it. Where some
    /// thread will not confirm what it has read, nothing else comes of that.
    fn decide_at_end(&mut self) {
        if self.stuck.is_empty() {
            self.tree.choices.push(Choice::Full);
        }
        if self.graph().threads().any(|(_, t)| t.pending.is_lock()) {
            self.decide_full();
        }
    }

    /// Remembers why the exploration has to begin again, unless there is a reason already.
    pub fn learn(&mut self, lesson: Lesson<P::Error>) {
        self.learned.get_or_insert(lesson);
    }

    fn push_frame(&mut self, thread: ThreadId, start: usize, slot: usize) {
        let frame = Frame {
            level: self.levels.number(),
            len: self.graph().len(),
            thread,
            slot,
            start,
            end: self.tree.choices.len(),
            current: start,
        };
        self.tree.frames.push(frame);
    }

    /// Goes to the next child of the innermost node that has one; nothing if there is none in this subtree.
    pub fn backtrack(&mut self) -> Option<Step<P::Error>> {
        self.lasts.clear();
        while let Some(frame) = self.tree.frames.last_mut() {
            if frame.current + 1 >= frame.end {
                self.tree.choices.truncate(frame.start);
                self.tree.frames.pop();
                continue;
            }
            frame.current += 1;
            let Frame { level, len, thread, slot, current, .. } = *frame;
            self.levels.back_to(level, len);
            self.snapshots.truncate(slot + 1);
            self.state.clone_from(self.snapshots.get(slot));
            return Some(self.apply(thread, self.tree.choices[current], slot));
        }
        None
    }

    /// The thread that `next_P` prefers of those that can go on.
    ///
    /// One that has spawned others and is about to read comes after them: to read what is there is cheaper than to be
    /// revisited. Those that would wait come last: they read what makes them wait forever, or something old that does
    /// not.
    pub fn next_thread(&mut self) -> Option<ThreadId> {
        let (mut reader, mut waiting) = (None, None);
        let late = |graph: &Graph, thread| {
            let slot = graph.thread(thread);
            slot.has_spawned() && matches!(slot.pending, Action::Load { .. })
        };
        for index in 0..self.graph().preference().len() {
            let graph = self.graph();
            let thread = graph.preference()[index];
            let slot = graph.thread(thread);
            if !slot.alive || slot.is_finished() || self.stuck.contains(&thread) || graph.lets_like_go_first(thread) {
                continue;
            }
            let waits_for_value = matches!(slot.pending, Action::Await { then: Then::Read, .. });
            let ready = match graph.is_settled() {
                true => is_enabled(self.program, &self.state, graph, thread),
                false => self.is_ready(thread),
            };
            if ready && !self.would_wait(thread) {
                if self.lessons.level < AwaitLevel::Full || !late(self.graph(), thread) {
                    return Some(thread);
                }
                reader.get_or_insert(thread);
                continue;
            }
            if ready || waits_for_value {
                waiting.get_or_insert(thread);
            } else {
                self.count_keepers(thread);
            }
        }
        reader.or(waiting)
    }

    /// A thread cannot go on: if it waits until keepers have left, counts those that have not.
    fn count_keepers(&mut self, thread: ThreadId) {
        let Visitor { program, state, levels, .. } = self;
        let graph = levels.current_mut();
        if let Action::Reach { keepers: Some(keepers), .. } = graph.thread(thread).pending
            && !graph.is_kept(thread)
        {
            graph.set_kept(thread, program.keepers(state, keepers));
        }
    }

    /// Lets the pending action of a thread happen; the state from before it is in `slot`.
    pub fn apply(&mut self, thread: ThreadId, choice: Choice, slot: usize) -> Step<P::Error> {
        let step = match choice {
            Choice::Revisit { .. } => self.revisit_by_pending(choice),
            Choice::RevisitOn { read, read_way } => self.revisit_by_last(read, read_way),
            Choice::RevisitAmong { .. } => self.revisit_among(choice),
            Choice::Overtake { .. } => self.overtake(choice),
            Choice::Part { .. } => self.apply_part(thread, choice, slot),
            Choice::Among => self.apply_among(thread, slot),
            Choice::Stay => Step::Extended,
            Choice::Full => self.finish(),
            _ => self.extend(thread, choice, slot),
        };
        if self.learned.is_some() { self.restart() } else { step }
    }

    /// Something was learned.
    #[cold]
    fn restart(&mut self) -> Step<P::Error> {
        self.learned.take().map_or(Step::Cut, Step::Restart)
    }

    pub(super) fn extend(&mut self, thread: ThreadId, choice: Choice, slot: usize) -> Step<P::Error> {
        let (confirms, in_loop) = (self.confirms(thread), self.is_audited(thread));
        let graph = self.levels.current();
        let action = graph.thread(thread).pending;
        let effect = effect(graph, thread, choice);
        let events = graph.len() as u32;
        let id = self.append(thread, action, effect);
        self.extended(id, events, slot, (confirms, in_loop))
    }

    /// An event was added; there were so many before, and the state from before it is in `slot`.
    pub(super) fn extended(
        &mut self,
        id: EventId,
        events: u32,
        slot: usize,
        (confirms, in_loop): (bool, bool),
    ) -> Step<P::Error> {
        self.stats.events += 1;
        let graph = self.levels.current_mut();
        let event = graph.event_mut(id);
        if event.rf.is_some() && can_be_revisited(&event.action) {
            event.snapshot = Snapshot { slot: slot as u32, events };
        }
        (event.confirms, event.in_loop) = (confirms, in_loop);
        if graph.has_blind()
            && let Some(lesson) = self.minds_blind(id)
        {
            return Step::Restart(lesson);
        }
        let graph = self.levels.current();
        if let Some(race) = find_race(graph, id) {
            return self.raced(id, race);
        }
        if let Some(loc) = self.unordered(id) {
            return Step::Restart(Lesson::Unordered(loc));
        }
        if let Some(loc) = self.repeated(id) {
            return Step::Restart(Lesson::Repeated(loc));
        }
        self.run(id)
    }

    /// Whether iterations that were left out could come before the pending action of a thread, so that it has to be
    /// looked at.
    #[inline]
    pub fn is_audited(&self, thread: ThreadId) -> bool {
        match self.lessons.audited.is_empty() {
            // Only what is back in the same state is left out.
            true => self.program.touches_memory() && self.may_spin(thread),
            false => self.is_in_loop(thread),
        }
    }

    /// Answers an event and runs its thread, and one that it spawned, to the next action.
    pub fn run(&mut self, id: EventId) -> Step<P::Error> {
        let graph = self.levels.current_mut();
        let event = graph.event(id);
        let (thread, value) = (event.thread, event.answer);
        let spawned = matches!(event.action, Action::Spawn).then(|| ThreadId::new(value as usize));
        let action = self.program.resume(&mut self.state, thread, Answer::of(graph, id));
        graph.set_pending(thread, action);
        if matches!(action, Action::Fail)
            && let Some(end) = self.fail(thread)
        {
            return end;
        }
        let graph = self.levels.current();
        let first = spawned.map(|child| (child, self.program.start(&mut self.state, child, id, graph)));
        if self.tells_apart(id) {
            return Step::Restart(Lesson::ToldApart);
        }
        if let Action::Spin { events } = action
            && self.program.may_undo(&self.state, thread)
        {
            self.note_undone(thread, events, &Overlay::default());
        }
        if let Action::Spin { events } = action {
            self.audit_iteration(thread, events);
        }
        if self.is_stale(thread) || self.has_only_counted(id) {
            return Step::Cut;
        }
        if let Some((child, action)) = first {
            self.find_like(child);
            let graph = self.levels.current_mut();
            graph.set_pending(child, action);
            if matches!(action, Action::Fail)
                && let Some(end) = self.fail(child)
            {
                return end;
            }
        }
        Step::Extended
    }

    /// A thread has failed: what comes of that, unless it is accepted.
    fn fail(&mut self, thread: ThreadId) -> Option<Step<P::Error>> {
        let error = self.program.error(&self.state, self.graph(), thread);
        if self.program.is_lesson(&error) {
            return Some(Step::Restart(Lesson::Program(error)));
        }
        let failure = Failure::Program(error);
        (!self.forgives(thread, &failure)).then_some(Step::Failed(failure))
    }

    /// An event races with another one.
    pub(super) fn raced(&mut self, id: EventId, race: Race) -> Step<P::Error> {
        let (thread, failure) = (self.graph().event(id).thread, Failure::Race(race));
        if self.forgives(thread, &failure) { Step::Extended } else { Step::Failed(failure) }
    }

    /// Whether a failure of a thread is accepted. The thread goes no further then: others do, since what they do later may lead
    /// to other executions.
    fn forgives(&mut self, thread: ThreadId, failure: &Failure<P::Error>) -> bool {
        let Visitor { program, state, levels, .. } = self;
        let forgives = program.allows(state, failure);
        if forgives {
            program.forgive(state);
            levels.current_mut().set_pending(thread, Action::Block);
        }
        forgives
    }

    fn check_pending(&mut self) -> Step<P::Error> {
        let failed = self.graph().threads().find(|(_, t)| t.pending == Action::Fail).map(|(thread, _)| thread);
        failed.and_then(|thread| self.fail(thread)).unwrap_or(Step::Extended)
    }

    pub fn finish(&mut self) -> Step<P::Error> {
        let ending = Ending::of(self.graph());
        if ending == Ending::Blocked && !self.graph().has_witness() && self.waits_for_nothing() {
            return Step::Cut;
        }
        if let Some(lesson) = self.told_apart_at_end().or_else(|| self.audit()) {
            return Step::Restart(lesson);
        }
        if let Some(lesson) = self.minds_readers() {
            return Step::Restart(lesson);
        }
        let ending = if self.program.has_forgiven(&self.state) { Ending::Complete } else { ending };
        match self.graph().has_witness() {
            true => self.judge_all(ending),
            false => self.judge(ending),
        }
    }

    /// What came of an execution in which no thread can go on.
    pub fn judge(&mut self, ending: Ending) -> Step<P::Error> {
        let failure = match self.program.finish(&self.state, self.graph(), ending) {
            Ok(()) => {
                self.stats.allowed += u64::from(self.program.has_forgiven(&self.state));
                return Step::Full(ending);
            }
            Err(error) => Failure::Program(error),
        };
        match self.program.allows(&self.state, &failure) {
            true => {
                self.stats.allowed += 1;
                Step::Full(ending)
            }
            false => Step::Failed(failure),
        }
    }

    /// After a revisit: a revisited read-modify-write writes anew, and may itself revisit reads.
    pub fn revisit_on(&mut self, stays: bool) -> Step<P::Error> {
        let start = self.tree.choices.len();
        if stays {
            self.tree.choices.push(Choice::Stay);
        }
        self.decide_revisits_by_last();
        if let Some(lesson) = self.learned.take() {
            return Step::Restart(lesson);
        }
        if !stays && self.tree.choices.len() > start {
            let (slot, choice) = (self.save(), self.tree.choices[start]);
            let thread = self.graph().event(self.graph().last()).thread;
            self.push_frame(thread, start, slot);
            return self.apply(thread, choice, slot);
        }
        if !stays {
            return Step::Cut;
        }
        if self.tree.choices.len() - start > 1 {
            let slot = self.save();
            let thread = self.graph().event(self.graph().last()).thread;
            self.push_frame(thread, start, slot);
        } else {
            self.tree.choices.truncate(start);
        }
        Step::Extended
    }

    /// Counts a step's outcome, and tells the observer of full graphs.
    pub fn record<O: Observer<P>>(&mut self, ending: Ending, observer: &mut O) {
        match ending {
            Ending::Complete => self.stats.executions += u64::from(counts(self.graph())),
            Ending::Blocked => self.stats.blocked += 1,
        }
        let looks = O::LOOKS && self.graph().has_blind();
        match looks.then(|| self.in_one_order()).flatten() {
            Some(graph) => observer.full(&graph, &self.state, ending),
            None => observer.full(self.graph(), &self.state, ending),
        }
        if self.graph().has_witness() {
            self.show_endings(ending, observer);
        }
    }

    /// Splits the last child off the outermost node that has one left, as an item of its own.
    pub fn give_away(&mut self) -> Option<Item<P::State>> {
        let (frame, choice, path) = self.tree.give_away()?;
        let mut graph = self.levels.get(frame.level).clone();
        graph.truncate(frame.len);
        let mut snapshots = Vec::new();
        for id in (1..graph.len()).map(EventId::new) {
            let snapshot = graph.event(id).snapshot;
            if snapshot.is_some() {
                graph.event_mut(id).snapshot.slot = snapshots.len() as u32;
                snapshots.push(self.snapshots.get(snapshot.slot as usize).clone());
            }
        }
        let state = self.snapshots.get(frame.slot).clone();
        Some(Item { graph, state, snapshots, first: Some((frame.thread, choice)), path, frozen: self.tree.frozen })
    }

    /// The bytes that this exploration has needed so far.
    pub fn bytes(&self) -> usize {
        let states: usize = self.snapshots.all().iter().map(|s| self.program.state_bytes(s)).sum();
        self.levels.bytes() + states + self.tree.bytes()
    }
}
