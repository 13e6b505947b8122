//! Loops that write and take it back: `while x.fetch_add(1) >= max { x.fetch_sub(1); }`, or lock, look, unlock.
//!
//! Such an iteration leaves everything as it was. It is explored like any other, with whatever others do in between;
//! but then its thread waits, as after one that has only read, and does not go round again. That is right as long as
//! nobody minds what was there in between, the *transient*, and it does not come between others' writes and those who
//! synchronise with them. So what loops write and take back is collected, and in every full execution each access of
//! such a location by another thread is looked at: with what would be there, had any number of threads just written and
//! not yet taken back, the thread must do the same, in the same state, or wait. Where it does not, the program is
//! explored again, with these iterations as they are.

use super::confirm::Head;
use super::lessons::Lesson;
use super::program::Program;
use super::trial::{Course, Origin, Reply};
use super::visit::Visitor;
use crate::graph::{Action, Event, EventId, Loc, MemOrder, ThreadId, Value};
use crate::model::{Model, Site, coherence_floor};

/// An iteration that takes back what it has written does not write more often.
pub(crate) const MAX_WRITES: usize = 8;
/// Where more than this is written and taken back, it is explored as it is.
const MAX_TRANSIENTS: usize = 64;
/// A thread that waits until something is taken back acts at most so often before it is where it was.
const MAX_WAITS: usize = 6;
/// So many values that may be there in between are looked at; where there are more, it is explored as it is.
const MAX_VALUES: usize = 64;

/// What a loop of a thread writes and takes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transient {
    thread: ThreadId,
    change: Change,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// It adds a number to whatever is there.
    Added(Value),
    /// It writes a value where it has found another.
    Replaced { found: Value, written: Value },
}

impl Transient {
    /// What is there in between, instead of this value, if it can be there at all.
    fn instead_of(self, value: Value) -> Option<Value> {
        match self.change {
            Change::Added(number) => Some(value.wrapping_add(number)),
            Change::Replaced { found, written } => (value == found).then_some(written),
        }
    }
}

/// A write of an iteration that takes it back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    loc: Loc,
    read: Option<Value>,
    written: Value,
    adds: bool,
    order: MemOrder,
}

impl Write {
    /// What it adds.
    fn added(&self) -> Value {
        self.written.wrapping_sub(self.read.unwrap_or_default())
    }
}

/// What is there in between, if a thread makes these writes to a location one after the other, the last of them taking
/// all back. Nothing where leaving them out could make more synchronise than does: a store that takes something back
/// ends the release sequence that the first write has read from, unless it releases what that has acquired.
fn changes(writes: &[Write]) -> Option<Vec<Change>> {
    let (first, last) = (writes.first()?, writes.last()?);
    if writes.iter().all(|write| write.adds) {
        let sums = writes.iter().scan(0, |sum: &mut Value, write| {
            *sum = sum.wrapping_add(write.added());
            Some(*sum)
        });
        return Some(sums.filter(|sum| *sum != 0).map(Change::Added).collect());
    }
    let found = first.read?;
    let keeps_order = |store: &Write| store.read.is_some() || first.order.is_acquire() && store.order.is_release();
    if !writes.iter().all(keeps_order) || last.written != found {
        return None;
    }
    Some(writes[..writes.len() - 1].iter().map(|write| Change::Replaced { found, written: write.written }).collect())
}

/// What a thread has written while something is tried out.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    allowed: bool,
    writes: Vec<Write>,
    /// How many actions it had taken before the first of them.
    first: u32,
}

impl Overlay {
    /// Begins anew; says whether anything may be written at all.
    pub fn begin(&mut self, allowed: bool) {
        self.allowed = allowed;
        self.writes.clear();
        self.first = 0;
    }

    /// Whether the thread has written anything before its latest `events` actions, of all it has taken.
    pub fn has_written_before(&self, actions: u32, events: u32) -> bool {
        !self.writes.is_empty() && self.first + events < actions
    }

    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    pub fn has(&self, loc: Loc) -> bool {
        self.value(loc).is_some()
    }

    /// What was last written to a location.
    pub fn value(&self, loc: Loc) -> Option<Value> {
        self.writes.iter().rfind(|write| write.loc == loc).map(|write| write.written)
    }

    /// Writes, after so many actions; nothing where that has to be explored.
    pub fn write(&mut self, actions: u32, action: &Action, read: Option<Value>, written: Value) -> Option<()> {
        let loc = action.loc()?;
        if !self.allowed || self.writes.len() == MAX_WRITES {
            return None;
        }
        if self.writes.is_empty() {
            self.first = actions;
        }
        self.writes.push(Write { loc, read, written, adds: action.adds(), order: action.order(true) });
        Some(())
    }
}

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// A thread waits: notes what it has written, and taken back, in its latest events and while something was tried
    /// out.
    pub(super) fn note_undone(&mut self, thread: ThreadId, events: u32, tried: &Overlay) {
        let mut writes = self.writes_of_iteration(thread, events);
        writes.extend_from_slice(&tried.writes);
        while let Some(loc) = writes.first().map(|write| write.loc) {
            let (here, elsewhere) = writes.into_iter().partition(|write| write.loc == loc);
            writes = elsewhere;
            match changes(&here) {
                Some(changes) => changes.into_iter().for_each(|change| self.note_transient(loc, thread, change)),
                None => self.learn(Lesson::Noticed(loc)),
            }
        }
    }

    /// What a thread has written, and changed by that, in its latest events.
    fn writes_of_iteration(&self, thread: ThreadId, events: u32) -> Vec<Write> {
        let graph = self.graph();
        let before = |id: &EventId| Some(graph.event(*id).po_prev);
        let latest = std::iter::successors(Some(graph.thread(thread).last), before).take_while(|id| id.is_some());
        let changing = |event: &&Event| event.is_write && !(event.is_read && event.written == event.answer);
        let write = |event: &Event| {
            let read = event.is_read.then_some(event.answer);
            let Event { loc, written, order, action, .. } = *event;
            Write { loc, read, written, adds: action.adds(), order }
        };
        let events = latest.take(events as usize).map(|id| graph.event(id));
        let mut writes: Vec<Write> = events.filter(changing).map(write).collect();
        writes.reverse();
        writes
    }

    fn note_transient(&mut self, loc: Loc, thread: ThreadId, change: Change) {
        let transient = Transient { thread, change };
        if self.lessons.transients.contains(&(loc, transient)) {
            return;
        }
        let full = self.lessons.transients.len() == MAX_TRANSIENTS;
        self.learn(if full { Lesson::Noticed(loc) } else { Lesson::Transient(loc, transient) });
    }

    /// A thread waits after so many events, which may not be in any full execution: learns if one of them would notice
    /// what others write and take back.
    pub(super) fn audit_iteration(&mut self, thread: ThreadId, events: u32) {
        if self.lessons.transients.is_empty() {
            return;
        }
        let mut id = self.graph().thread(thread).last;
        for _ in 0..events {
            if !id.is_some() {
                return;
            }
            let Event { loc, po_prev, is_read, .. } = *self.graph().event(id);
            if is_read && self.is_noticed_by(id) {
                return self.learn(Lesson::Noticed(loc));
            }
            id = po_prev;
        }
    }

    /// The location of an access in a full graph that would notice what others write there and take back, if there is
    /// one.
    pub(super) fn noticed(&mut self, audited: EventId) -> Option<Loc> {
        let lessons = self.lessons;
        for (index, (loc, _)) in lessons.transients.iter().enumerate() {
            if lessons.transients[..index].iter().any(|(other, _)| other == loc)
                || self.graph().last_value(*loc).is_none()
            {
                continue;
            }
            let location = self.graph().location(*loc);
            let mut accesses = [&location.co[1..], &location.reads[..]].concat();
            accesses.retain(|id| *id >= audited || !self.graph().event(*id).is_read);
            if accesses.into_iter().any(|id| self.is_noticed_by(id)) {
                return Some(*loc);
            }
        }
        None
    }

    /// Whether an access would notice what other threads write to its location and take back.
    fn is_noticed_by(&mut self, id: EventId) -> bool {
        if !self.graph().event(id).is_read {
            return self.may_come_between(id);
        }
        match self.values_in_between(id) {
            Some(values) => values.into_iter().any(|instead| self.notices(id, instead)),
            None => true,
        }
    }

    /// Whether a store may come after what another thread writes and before that is taken back.
    fn may_come_between(&self, store: EventId) -> bool {
        let graph = self.graph();
        let Event { loc, thread, co_pos, .. } = *graph.event(store);
        let location = graph.location(loc);
        // If what takes it back is a store, it can end what updates read from: so this store may come earlier in coherence order
        // than it does without, as far as what happens before it allows.
        let first = coherence_floor(graph, loc, graph.hb(Site::of(graph, store, true).tip)).min(co_pos as usize - 1);
        let before = if location.is_settled() { &location.co[first..co_pos as usize] } else { &location.co };
        let may_follow = |transient: Transient| {
            before.iter().any(|&write| transient.instead_of(graph.written(write, loc)).is_some())
        };
        let mut here = self.transients_around(store, loc);
        here.any(|transient| transient.thread != thread && may_follow(transient))
    }

    /// What other threads write to a location and take back, unless all they do happens before an event, or after it.
    fn transients_around(&self, id: EventId, loc: Loc) -> impl Iterator<Item = Transient> {
        let graph = self.graph();
        let may_meet = move |by: ThreadId| {
            let alive = by.index() < graph.thread_count() && graph.thread(by).alive;
            let ended = || graph.thread(by).is_finished() && graph.hb(id)[by.index()] >= graph.thread(by).len;
            alive && !ended() && !graph.is_hb_before(id, graph.thread(by).spawn)
        };
        let here = self.lessons.transients.iter().filter(move |(at, _)| *at == loc).map(|(_, transient)| *transient);
        here.filter(move |transient| may_meet(transient.thread))
    }

    /// What a read may find instead of what it has read, if any number of other threads write what they will take back;
    /// none where that is too much.
    fn values_in_between(&self, read: EventId) -> Option<Vec<Value>> {
        let Event { loc, answer, thread, .. } = *self.graph().event(read);
        let here: Vec<Transient> = self.transients_around(read, loc).collect();
        let mut states: Vec<(Value, Vec<ThreadId>)> = vec![(answer, vec![thread])];
        let mut next = 0;
        while next < states.len() {
            let (value, threads) = states[next].clone();
            for transient in here.iter().filter(|transient| !threads.contains(&transient.thread)) {
                let Some(instead) = transient.instead_of(value) else { continue };
                let mut threads = [&threads[..], &[transient.thread]].concat();
                threads.sort_unstable();
                if !states.contains(&(instead, threads.clone())) {
                    states.push((instead, threads));
                }
            }
            if states.len() > MAX_VALUES {
                return None;
            }
            next += 1;
        }
        let mut values: Vec<Value> = states.into_iter().skip(1).map(|(value, _)| value).collect();
        values.sort_unstable();
        values.dedup();
        Some(values)
    }

    /// Whether it makes a difference if an event reads this instead, other than that its thread waits.
    fn notices(&mut self, id: EventId, instead: Value) -> bool {
        let Event { thread, action, loc, answer, written, is_write, way, snapshot, .. } = *self.graph().event(id);
        if instead == answer || action.is_blocked_by(instead) {
            return false;
        }
        if !snapshot.is_some() {
            return true;
        }
        let from = Origin::Saved(snapshot.slot as usize);
        let update = action.update(instead, way);
        // What is added stays when what others have added is taken back.
        let stays = || self.transients_around(id, loc).all(|transient| matches!(transient.change, Change::Added(_)));
        let same_effect = match update {
            Some(new) => is_write && new.wrapping_sub(instead) == written.wrapping_sub(answer) && stays(),
            None => !is_write,
        };
        if same_effect {
            let as_it_is = [Reply { value: answer, wrote: is_write }];
            let otherwise = [Reply { value: instead, wrote: is_write }];
            let one = Course { from, replies: &as_it_is };
            if self.leads_to_the_same(thread, one, Course { from, replies: &otherwise }).is_some() {
                return false;
            }
        }
        // It may also wait until that is taken back, if it leaves it there.
        let head = Head { thread, action, from };
        update.is_some_and(|new| new != instead) || !self.only_waits(head, instead, answer)
    }

    /// Whether a thread that reads `instead` only waits, looking at nothing else, until it reads `value` again; and
    /// then is where it would be had it read that in the first place.
    fn only_waits(&mut self, head: Head, instead: Value, value: Value) -> bool {
        let Head { thread, action, from } = head;
        let mut courses = vec![vec![reply(&action, instead)]];
        let mut next = 0;
        while next < courses.len() {
            let replies = courses[next].clone();
            next += 1;
            let place = self.leads_to(thread, Course { from, replies: &replies });
            if place.has_effect || courses.len() > MAX_VALUES || replies.len() > MAX_WAITS {
                return false;
            }
            match place.next {
                // It waits where it has been before: what it reads there instead is another course.
                Action::Spin { .. } => {}
                again if again == action => {
                    if !self.is_simulated(head, &replies, reply(&action, value)) {
                        return false;
                    }
                }
                Action::Fence { .. } => courses.push([&replies[..], &[Reply::reads(0)]].concat()),
                again if again.loc() == action.loc() && matches!(again, Action::Load { .. } | Action::Cas { .. }) => {
                    for read in [instead, value] {
                        if again.update(read, 0).is_some() {
                            return false;
                        }
                        courses.push([&replies[..], &[Reply::reads(read)]].concat());
                    }
                }
                _ => return false,
            }
        }
        true
    }
}

/// What an action that reads this is answered with.
fn reply(action: &Action, value: Value) -> Reply {
    Reply { value, wrote: action.update(value, 0).is_some() }
}
