//! Going round in a loop in every way, on copies of the program's state.
//!
//! Before a read in a loop, one action of the thread after the other is answered with everything that it could have read,
//! until the thread waits, or is in a state in which it was before, or has an effect. That says what the thread accesses in
//! iterations that are left out ([`contended`](super::contended)).
//!
//! What a thread reads when it goes round is there only after whatever that depends on: this is run on the copy, too, before
//! the read is answered, and nothing else is. So memory is as the thread would find it.

use super::buffers::Buffers;
use super::commute::MAX_OPTIONAL;
use super::lessons::Lesson;
use super::program::{Answer, Program};
use super::trial::{Origin, Reply};
use super::visit::Visitor;
use super::waiting::is_tried;
use crate::graph::{Action, EventId, Graph, Loc, ThreadId, Value, View, contains, join};
use crate::model::{Model, Site, coherence_floor};

/// So many states of a thread that goes round are told apart. Where there are more, the check is incomplete.
const MAX_STOPS: usize = 1024;

/// Where a thread begins to go round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// Where its first action is.
    pub site: Site,
    /// How many events it has there.
    pub events: u32,
    /// Its next event, unless it has none: nothing that depends on that can be read.
    pub next: Option<EventId>,
    /// A state in which it is there, and how many events of the graph that has.
    pub from: Origin,
    pub known: usize,
}

/// Where a thread is that goes round.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    action: Action,
    /// How many events of each thread its state has.
    done: Vec<u32>,
    /// What it must not read anything older than, by location: because of what it has read.
    floors: Vec<(Loc, usize)>,
    /// What happens before; of its own events only those that are in the graph.
    pub clock: Vec<u32>,
    /// What would, after an acquire fence.
    acquired: Vec<u32>,
    /// What it causally depends on.
    causes: Vec<u32>,
    /// What it has written and not taken back.
    own: Vec<Own>,
}

/// Something that a thread has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Own {
    loc: Loc,
    value: Value,
    /// What it found there, if it has looked.
    found: Option<Value>,
}

/// What an action is answered with.
#[derive(Clone, Debug)]
pub(super) struct Answered {
    reply: Reply,
    /// What it reads from.
    source: Source,
    /// What it changes its location to.
    written: Option<Value>,
}

/// What a read finds.
#[derive(Clone, Debug, Default)]
struct Source {
    value: Value,
    /// The writes of the graph that it depends on: several, where some of them are blind.
    writes: Vec<EventId>,
    /// Where they are in coherence order: what is read next is not older.
    position: usize,
}

/// What comes of an answer.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub from: usize,
    pub answered: Answered,
    /// Where the thread stops then, if it does not wait, and whether it does for the first time.
    pub to: Option<usize>,
    pub is_first: bool,
    /// Whether the thread then waits, or is where it would also be in another way.
    ends: bool,
    /// Whether it has accessed memory on the way.
    accesses: bool,
}

/// Which writes an action may read from, whatever the thread has read before.
#[derive(Clone, Copy, Debug)]
struct Window {
    action: Action,
    first: usize,
    last: usize,
}

/// All ways in which a thread goes round.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// Where it began, and where else it would have come by the same ways, with the stops that these are.
    pub starts: Vec<(Start, usize)>,
    pub stops: Vec<Stop>,
    ways: Vec<Way>,
    windows: Vec<Window>,
    /// Whether something else went wrong than that the program had to learn something.
    pub failed: bool,
}

impl Stop {
    fn floor(&self, loc: Loc) -> usize {
        self.floors.iter().find(|(at, _)| *at == loc).map_or(0, |(_, floor)| *floor)
    }

    /// Whether a thread that is here may do all that it may do there, with no more before it.
    fn allows_all_of(&self, other: &Stop) -> bool {
        let is_within = |one: &View, other: &View| one.iter().zip(other).all(|(one, other)| one <= other);
        self.action == other.action
            && self.own == other.own
            && self.floors.iter().all(|(loc, floor)| *floor <= other.floor(*loc))
            && is_within(&self.clock, &other.clock)
            && is_within(&self.acquired, &other.acquired)
    }

    /// Whether a thread that goes round from somewhere on may do no more than here, and knows no less.
    fn is_within(&self, graph: &Graph, start: &Start) -> bool {
        let (view, thread) = (graph.hb(start.site.tip), start.site.thread.index());
        let is_known = |clock: &View| {
            clock.iter().zip(view).enumerate().all(|(other, (here, there))| other == thread || here <= there)
        };
        self.action == start.site.action
            && self.own.is_empty()
            && is_known(&self.clock)
            && is_known(&self.acquired)
            && self.floors.iter().all(|(loc, floor)| *floor <= coherence_floor(graph, *loc, view))
    }

    /// The stop after an answer, but for the next action.
    fn after(&self, graph: &Graph, answered: &Answered) -> Stop {
        let Answered { reply, source, written } = answered;
        let (loc, mut after) = (self.action.loc(), self.clone());
        let acquires = self.action.order(reply.wrote).is_acquire();
        for &write in &source.writes {
            join(&mut after.causes, graph.porf(write));
            join(&mut after.acquired, graph.rel(write));
            if acquires {
                join(&mut after.clock, graph.rel(write));
            }
        }
        if acquires && matches!(self.action, Action::Fence { .. }) {
            join(&mut after.clock, &after.acquired);
        }
        if let Some(loc) = loc.filter(|_| !source.writes.is_empty() && graph.is_settled()) {
            after.floors.retain(|(at, _)| *at != loc);
            after.floors.push((loc, source.position));
        }
        if let (Some(loc), Some(value)) = (loc, *written) {
            let read = (!matches!(self.action, Action::Store { .. })).then_some(reply.value);
            let before = after.own.iter().position(|own| own.loc == loc).map(|index| after.own.remove(index));
            let found = before.map_or(read, |own| own.found);
            if found != Some(value) {
                after.own.push(Own { loc, value, found });
            }
        }
        after
    }
}

impl Rounds {
    /// Whether a thread that has gone a way waits, or is where it began, or where it would also be in another way.
    fn ends(&self, way: &Way) -> bool {
        let is_start = |to: usize| self.starts.iter().any(|(start, _)| start.site.action == self.stops[to].action);
        way.ends || way.to.is_some_and(is_start)
    }

    /// By stop, whether what comes before it can be left out, because of how the thread goes on.
    fn before_an_end(&self) -> Vec<bool> {
        let mut before = vec![false; self.stops.len()];
        let mut found = true;
        while std::mem::take(&mut found) {
            // Most ways lead to stops that were found later.
            for way in self.ways.iter().rev() {
                if !before[way.from] && (self.ends(way) || way.to.is_some_and(|to| before[to])) {
                    before[way.from] = true;
                    found = true;
                }
            }
        }
        before
    }

    /// The ways on which memory is accessed, and which can be left out.
    pub fn left_out(&self) -> Vec<&Way> {
        let before = self.before_an_end();
        let ends = |way: &&Way| way.accesses && (self.ends(way) || way.to.is_some_and(|to| before[to]));
        self.ways.iter().filter(ends).collect()
    }

    /// By stop, whether the thread comes there from this one on.
    pub fn reached_from(&self, stop: usize) -> Vec<bool> {
        let mut reached = vec![false; self.stops.len()];
        let mut open = vec![stop];
        while let Some(stop) = open.pop() {
            if !std::mem::replace(&mut reached[stop], true) {
                open.extend(self.ways.iter().filter(|way| way.from == stop).filter_map(|way| way.to));
            }
        }
        reached
    }
}

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Runs the program, on a copy, to where a thread begins to go round: nothing else happens than what that depends on.
    pub(super) fn run_to(&mut self, start: &Start) -> bool {
        self.trials.state = self.first_state();
        let Visitor { program, levels, trials, .. } = self;
        let graph = levels.current();
        run_missing(*program, graph, &mut trials.state, &mut vec![0; graph.thread_count()], graph.porf(start.site.tip))
    }

    /// Lets a thread go round from the state of the latest trial on, which has so many events of each thread.
    pub(super) fn go_round(&mut self, start: Start, done: Vec<u32>) -> Rounds {
        self.trials.clear_heads();
        self.trials.add_head();
        let Site { action, tip, thread, .. } = start.site;
        let mut clock = self.graph().hb(tip).to_vec();
        clock[thread.index()] = start.events;
        let (acquired, causes) = (clock.clone(), self.graph().porf(tip).to_vec());
        let first = Stop { action, done, floors: Vec::new(), clock, acquired, causes, own: Vec::new() };
        let mut rounds = Rounds { starts: vec![(start, 0)], stops: vec![first], ..Rounds::default() };
        let mut from = 0;
        while from < rounds.stops.len() && self.learned.is_none() {
            for answered in self.answers(&mut rounds, from) {
                let Some((next, accesses)) = self.try_answer(thread, &rounds.stops, from, &answered) else {
                    rounds.failed |= self.learned.is_none();
                    continue;
                };
                if self.program.has_effect(&self.trials.state) {
                    continue;
                }
                if matches!(next.action, Action::Spin { .. }) {
                    rounds.ways.push(Way { from, answered, to: None, is_first: false, ends: true, accesses });
                    continue;
                }
                if !goes_on(&next.action) {
                    continue;
                }
                let alike = self.stops_like(thread, &rounds.stops, &next);
                let is_back = !alike.is_empty();
                let known = alike.into_iter().find(|number| rounds.stops[*number].allows_all_of(&next));
                if known.is_none() && rounds.stops.len() == MAX_STOPS {
                    self.program.give_up_loop(&self.trials.state, thread);
                    return Rounds { starts: rounds.starts, ..Rounds::default() };
                }
                let to = known.unwrap_or(rounds.stops.len());
                rounds.ways.push(Way {
                    from,
                    answered,
                    to: Some(to),
                    is_first: known.is_none(),
                    ends: is_back,
                    accesses,
                });
                if known.is_none() {
                    self.trials.add_head();
                    rounds.stops.push(next);
                }
            }
            from += 1;
        }
        rounds
    }

    /// The stop of the latest rounds at which a thread is when it goes round from a later event on, if it does nothing from
    /// there on that it would not also do in these rounds.
    ///
    /// That is so if it is in the same state there, having only read since it was last known to be at a stop, knows no less than at
    /// the stop, and can read nothing else than it could there.
    pub(super) fn is_at(&self, rounds: &Rounds, start: &Start) -> Option<usize> {
        let (graph, thread) = (self.graph(), start.site.thread);
        let (latest, mut stops) = rounds.starts.last().map(|(latest, stop)| (latest, vec![*stop]))?;
        if !self.lessons.share_rounds || latest.site.thread != thread || rounds.failed || !graph.is_settled() {
            return None;
        }
        let mut since: Vec<EventId> = self.since(latest, start).collect();
        since.reverse();
        for event in since.into_iter().map(|id| graph.event(id)) {
            if event.is_write || !goes_on(&event.action) {
                return None;
            }
            let goes = |way: &&Way| stops.contains(&way.from) && way.answered.reply == Reply::reads(event.answer);
            stops = rounds.ways.iter().filter(goes).filter_map(|way| way.to).collect();
            // Having read it, the thread may now read something later there.
            let can_read_more = |window: &Window| {
                let end = graph.location(event.loc).co.len() - 1;
                window.last.min(end) != last_before(graph, start.next, event.loc).min(end)
            };
            let mut windows = rounds.windows.iter().filter(|window| window.action.loc() == Some(event.loc));
            if event.is_read && windows.any(can_read_more) {
                return None;
            }
        }
        // Nothing but the thread itself depends on what it reads, unless another one is alike.
        if graph.has_likes() && rounds.windows.iter().any(|window| self.depends_on_less(latest, start, window)) {
            return None;
        }
        let state = match start.from {
            Origin::Saved(slot) => self.snapshots.get(slot),
            Origin::Head(number) => &self.trials.heads()[number],
            Origin::Now => &self.state,
        };
        let is_there = |&stop: &usize| {
            rounds.stops[stop].is_within(graph, start)
                && self.program.is_alike(&self.trials.heads()[stop], state, thread)
        };
        stops.into_iter().find(is_there)
    }

    /// Whether some write depends on the next event of a thread at one start, but not at a later one.
    fn depends_on_less(&self, first: &Start, start: &Start, window: &Window) -> bool {
        let graph = self.graph();
        let depends = |next: Option<EventId>, id: EventId| next.is_some_and(|next| graph.is_porf_before(next, id));
        let writes = window.action.loc().map_or(&[][..], |loc| &graph.location(loc).co[1..]);
        writes.iter().any(|&id| depends(first.next, id) && !depends(start.next, id))
    }

    /// The events of a thread from one start on to a later one, the latest first.
    pub(super) fn since(&self, first: &Start, start: &Start) -> impl Iterator<Item = EventId> {
        let (graph, events) = (self.graph(), first.events);
        let is_since = move |id: &EventId| id.is_some() && graph.event(*id).index >= events;
        let before = move |id: &EventId| Some(graph.event(*id).po_prev).filter(is_since);
        std::iter::successors(Some(start.site.po_prev).filter(is_since), before)
    }

    /// The stops at which a thread, which was the last to run in a trial, was in the same state.
    fn stops_like(&self, thread: ThreadId, stops: &[Stop], next: &Stop) -> Vec<usize> {
        let is_alike = |(state, stop): (&P::State, &Stop)| {
            stop.action == next.action && self.program.is_alike(state, &self.trials.state, thread)
        };
        let pairs = self.trials.heads().iter().zip(stops).enumerate();
        pairs.filter(|(_, pair)| is_alike(*pair)).map(|(number, _)| number).collect()
    }

    /// Answers the action of a thread that goes round, on a copy of its state: says where it stops then, and whether it has
    /// accessed memory. Nothing if that fails.
    pub(super) fn try_answer(
        &mut self,
        thread: ThreadId,
        stops: &[Stop],
        from: usize,
        answered: &Answered,
    ) -> Option<(Stop, bool)> {
        self.begin_trial(Origin::Head(from));
        let Visitor { program, levels, trials, .. } = self;
        let (graph, state) = (levels.current(), &mut trials.state);
        let mut after = stops[from].after(graph, answered);
        // What the thread has accessed before is noted already.
        program.forget_accesses(state);
        let mut writes = answered.source.writes.iter();
        if !writes.all(|&write| run_missing(*program, graph, state, &mut after.done, graph.porf(write))) {
            return None;
        }
        program.forget_accesses(state);
        let Reply { value, wrote } = answered.reply;
        after.clock[thread.index()] += 1;
        let (clock, causes) = (&after.clock, &after.causes);
        after.action = program.resume(state, thread, Answer { value, wrote, initial: false, clock, causes, graph });
        after.clock[thread.index()] -= 1;
        if after.action == Action::Fail {
            self.learn_from_trial(thread);
            return None;
        }
        let accesses = self.program.has_accessed(&self.trials.state);
        Some((after, accesses))
    }

    /// What the action of a thread that goes round may be answered with.
    fn answers(&mut self, rounds: &mut Rounds, from: usize) -> Vec<Answered> {
        let Rounds { starts, stops, windows, .. } = rounds;
        let (start, stop) = (&starts[0].0, &stops[from]);
        let thread = start.site.thread;
        let action = stop.action;
        let may_write = self.program.may_undo(&self.trials.heads()[from], thread);
        match action {
            Action::Fence { .. } => return vec![Answered::without_reading(None)],
            Action::Store { value, .. } if may_write => return vec![Answered::without_reading(Some(value))],
            _ => {}
        }
        let Some(loc) = action.loc().filter(|_| is_tried(&action)) else { return Vec::new() };
        let mut sources = match self.latest_value(loc) {
            Some(_) => self.readable(start, stop, loc, windows),
            None => vec![Source::of(self.program.initial_value(&self.trials.heads()[from], loc))],
        };
        sources.extend(stop.own.iter().filter(|own| own.loc == loc).map(|own| Source::of(own.value)));
        let mut answers = Vec::new();
        for source in sources.into_iter().filter(|source| !action.is_blocked_by(source.value)) {
            let value = source.value;
            for update in (0..action.ways(value)).map(|way| action.update(value, way)) {
                let written = update.filter(|new| *new != value);
                if written.is_none() || may_write {
                    let reply = Reply { value, wrote: update.is_some() };
                    answers.push(Answered { reply, source: source.clone(), written });
                }
            }
        }
        answers
    }

    /// What a thread may read when it goes round: nothing that is older than what it knows, that depends on what it does later,
    /// or that comes after what is read, or written, later.
    fn readable(&mut self, start: &Start, stop: &Stop, loc: Loc, windows: &mut Vec<Window>) -> Vec<Source> {
        let Visitor { model, levels, buffers: Buffers { scratch, .. }, .. } = self;
        let graph = levels.current();
        let co = &graph.location(loc).co;
        let depends = |id: EventId| start.next.is_some_and(|next| graph.is_porf_before(next, id));
        let at = |position: usize| {
            let writes: Vec<EventId> = graph.chain(co[position]).collect();
            let is_possible = !writes.iter().any(|&write| depends(write));
            is_possible.then(|| Source { value: graph.written(co[position], loc), writes, position })
        };
        if !graph.is_settled() {
            return (0..co.len()).filter_map(at).collect();
        }
        let action = stop.action;
        let window = windows.iter().find(|window| window.action == action).copied().unwrap_or_else(|| {
            let site = Site { action, loc, order: action.order(false), updates: false, ..start.site };
            let first = model.floor(graph, &site, scratch);
            let window = Window { action, first, last: last_before(graph, start.next, loc) };
            windows.push(window);
            window
        });
        let first = window.first.max(stop.floor(loc)).max(coherence_floor(graph, loc, &stop.clock));
        let last = window.last;
        if !graph.has_blind_at(loc) {
            return (first..co.len()).take_while(|position| *position <= last).filter_map(at).collect();
        }
        let mut sources = Vec::new();
        for position in graph.layer_start(loc, first)..co.len() {
            if graph.layer_start(loc, position) > last {
                break;
            }
            if graph.is_border(loc, position) {
                sources.extend(at(position).filter(|_| position >= first));
            }
            if !graph.event(co[position]).blind || graph.layer_start(loc, position) != position {
                continue;
            }
            let layer = &co[graph.layer(loc, position)];
            if layer.len() > MAX_OPTIONAL {
                self.learn(Lesson::Ordered(loc));
                return Vec::new();
            }
            let Some(before) = at(position - 1) else { continue };
            let parts = parts(layer).filter(|(part, rest)| {
                let is_apart = |id: &EventId| rest.iter().any(|&other| graph.is_porf_before(other, *id));
                let is_known = |id: &EventId| contains(&stop.clock, graph.event(*id));
                !part.iter().any(|id| depends(*id) || is_apart(id)) && !rest.iter().any(is_known)
            });
            sources.extend(parts.map(|(part, _)| {
                let add = |value, id: &EventId| graph.event(*id).action.update(value, 0).unwrap_or(value);
                let value = part.iter().fold(before.value, add);
                Source { value, writes: [&before.writes[..], &part].concat(), position: position - 1 }
            }));
        }
        sources
    }
}

impl Answered {
    /// Nothing is read, and this is written.
    fn without_reading(written: Option<Value>) -> Answered {
        Answered { reply: Reply { value: 0, wrote: written.is_some() }, source: Source::default(), written }
    }
}

impl Source {
    /// A value that does not depend on any write of the graph.
    fn of(value: Value) -> Source {
        Source { value, ..Source::default() }
    }
}

/// The last position of a location that can be read before an event: not after what is read, or written, later.
fn last_before(graph: &Graph, next: Option<EventId>, loc: Loc) -> usize {
    let location = graph.location(loc);
    let is_later = |id: EventId| next.is_some_and(|next| graph.is_hb_before(next, id)) && !graph.event(id).blind;
    let read = location.reads.iter().filter(|&&read| is_later(read));
    let read = read.map(|&read| graph.position(graph.event(read).rf)).min();
    let written = location.co.iter().skip(1).position(|&write| is_later(write));
    read.into_iter().chain(written).min().unwrap_or(usize::MAX)
}

/// The ways to divide a layer of blind updates in two: what is seen of it, and the rest, neither of which is all.
fn parts(layer: &[EventId]) -> impl Iterator<Item = (Vec<EventId>, Vec<EventId>)> {
    (1..(1u32 << layer.len()) - 1).map(move |mask| {
        let (part, rest): (Vec<_>, Vec<_>) = layer.iter().enumerate().partition(|(index, _)| mask >> index & 1 == 1);
        let ids = |list: Vec<(usize, &EventId)>| list.into_iter().map(|(_, id)| *id).collect();
        (ids(part), ids(rest))
    })
}

/// Runs the program through those events of a view that a state does not have; says whether none fails.
fn run_missing<P: Program>(program: &P, graph: &Graph, state: &mut P::State, done: &mut [u32], view: &View) -> bool {
    if view.iter().zip(done.iter()).all(|(wanted, done)| wanted <= done) {
        return true;
    }
    for id in (1..graph.len()).map(EventId::new) {
        let event = graph.event(id);
        if contains(view, event) && !contains(done, event) {
            done[event.thread.index()] = event.index + 1;
            if run_event(program, graph, state, id).is_some() {
                return false;
            }
        }
    }
    true
}

/// Answers an event, and runs its thread, and one that it spawned, to the next action: says who fails.
pub(super) fn run_event<P: Program>(program: &P, graph: &Graph, state: &mut P::State, id: EventId) -> Option<ThreadId> {
    let event = graph.event(id);
    if program.resume(state, event.thread, Answer::of(graph, id)) == Action::Fail {
        return Some(event.thread);
    }
    if event.action != Action::Spawn {
        return None;
    }
    let child = ThreadId::new(event.answer as usize);
    (program.start(state, child, id, graph) == Action::Fail).then_some(child)
}

/// Whether a thread that does this next may still be in an iteration that is left out.
fn goes_on(action: &Action) -> bool {
    is_tried(action)
        || matches!(action, Action::Fence { .. })
        || matches!(action, Action::Store { order, .. } if order.is_atomic())
}
