//! The reference: all executions of a program in which no loop begins more than a number of iterations.
//!
//! It begins with the execution in which nothing has happened, and adds the next event of each thread in every way: a
//! read reads from any write, a write goes to any place in coherence order; what the model's axioms do not allow is
//! dropped. Since every model allows the beginnings of what it allows, that leads to all executions, in many ways, each
//! of which is looked at once. Waiting means nothing here: a loop goes round until it may not.

use std::collections::HashSet;

use super::code::Code;
use super::found::{Error, Found, Outcome};
use super::program::{ATOMICS, Program};
use super::thread::{Access, Stop, Thread};
use crate::axioms::{Model, has_race, is_consistent};
use crate::candidate::{Candidate, Ev, Kind, Skeleton};
use crate::program::Order;
use crate::relation::Rel;

/// A number that no thread has.
const NOBODY: u8 = u8::MAX;
/// The location of the variable that is not atomic.
const PLAIN: u8 = ATOMICS.len() as u8;
const LOCATIONS: usize = ATOMICS.len() + 1;
/// A thread that is alone goes round within so many accesses, if it does.
const ROUND: usize = 40;

/// What comes of the executions of a program under a model, no loop beginning more than `bound` iterations; nothing if
/// there are more than `limit` executions and beginnings of executions, or if one has too many events.
pub fn enumerate(program: &Program, model: Model, bound: u32, limit: usize) -> Option<Found> {
    let codes: Vec<Code> = program.threads.iter().map(Code::of).collect();
    let mut reference =
        Reference { codes: &codes, model, bound, limit, seen: HashSet::new(), found: Found::default(), is_long: false };
    let threads = codes.iter().map(|code| Part { rounds: vec![0; code.loops.len()], ..Part::default() }).collect();
    let co = std::array::from_fn(|_| vec![Name::INIT]);
    let mut execution = Execution { threads, co };
    let runs = (0..codes.len()).all(|id| reference.run(&mut execution, id));
    let complete = !runs || reference.visit(&execution);
    (complete && !reference.is_long || reference.found.has_race()).then_some(reference.found)
}

/// An event: a thread, and the number of the event among those of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Name(u8, u8);

impl Name {
    const INIT: Name = Name(NOBODY, 0);
}

/// An event of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Happened {
    loc: Option<u8>,
    order: Order,
    /// What it reads from, and the value.
    read: Option<(Name, u64)>,
    written: Option<u64>,
    is_rmw: bool,
}

/// How a thread goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Next {
    Access(Access),
    /// A loop has begun as many iterations as it may.
    Nothing,
    Failed,
    #[default]
    Ended,
}

/// A thread in an execution.
#[derive(Clone, Debug, Default)]
struct Part {
    thread: Thread,
    rounds: Vec<u32>,
    /// The state in which a loop has begun an iteration, if the thread has not had an event since.
    head: Option<Thread>,
    next: Next,
    events: Vec<Happened>,
}

/// An execution, or the beginning of one.
#[derive(Clone, Debug)]
struct Execution {
    threads: Vec<Part>,
    co: [Vec<Name>; LOCATIONS],
}

struct Reference<'a> {
    codes: &'a [Code],
    model: Model,
    bound: u32,
    limit: usize,
    seen: HashSet<Key>,
    found: Found,
    /// Whether an execution has more events than the axioms can be asked about.
    is_long: bool,
}

/// What distinguishes executions.
type Key = (Vec<Vec<Option<Name>>>, [Vec<Name>; LOCATIONS]);

impl Execution {
    fn key(&self) -> Key {
        let sources = |part: &Part| part.events.iter().map(|event| event.read.map(|(source, _)| source)).collect();
        (self.threads.iter().map(sources).collect(), self.co.clone())
    }

    fn event(&self, name: Name) -> Option<&Happened> {
        self.threads.get(usize::from(name.0)).map(|part| &part.events[usize::from(name.1)])
    }

    fn value(&self, name: Name) -> u64 {
        self.event(name).and_then(|event| event.written).unwrap_or(0)
    }

    fn last_values(&self) -> Vec<u64> {
        self.co[..ATOMICS.len()].iter().map(|co| self.value(co[co.len() - 1])).collect()
    }

    /// Whether a write at this place in coherence order is a read-modify-write, which must come right after what it
    /// reads.
    fn is_tied(&self, loc: u8, place: usize) -> bool {
        let write = self.co[usize::from(loc)].get(place).and_then(|name| self.event(*name));
        write.is_some_and(|event| event.is_rmw)
    }

    /// The name of the next event of a thread.
    fn next_name(&self, id: usize) -> Name {
        Name(id as u8, self.threads[id].events.len() as u8)
    }

    /// Adds an event to a thread, whose write goes to this place in coherence order.
    fn add(&mut self, id: usize, event: Happened, place: usize) {
        if let (Some(_), Some(loc)) = (event.written, event.loc) {
            let name = self.next_name(id);
            self.co[usize::from(loc)].insert(place, name);
        }
        self.threads[id].events.push(event);
        self.threads[id].head = None;
    }

    /// Whether it has more events than the axioms can be asked about.
    fn is_long(&self) -> bool {
        let events = self.threads.iter().flat_map(|part| &part.events);
        let count = |event: &Happened| if event.read.is_some() && event.written.is_some() { 2 } else { 1 };
        LOCATIONS + events.map(count).sum::<usize>() > Rel::MOST
    }

    /// The execution as one that the axioms can be asked about.
    fn skeleton(&self) -> (Skeleton, Vec<Vec<usize>>) {
        let blank = Ev { kind: Kind::Init, thread: 99, slot: 0, loc: 0, value: 0, order: Order::Relaxed, rmw: false };
        let mut events: Vec<Ev> = (0..LOCATIONS as u8).map(|loc| Ev { loc, ..blank }).collect();
        let mut pairs = Vec::new();
        let mut places = Vec::new();
        for (thread, part) in self.threads.iter().enumerate() {
            let mut places_here = Vec::new();
            for (slot, event) in part.events.iter().enumerate() {
                places_here.push(events.len());
                let base =
                    Ev { thread, slot, loc: event.loc.unwrap_or(0), order: event.order, rmw: event.is_rmw, ..blank };
                if event.loc.is_none() {
                    events.push(Ev { kind: Kind::Fence, ..base });
                }
                if let Some((_, value)) = event.read {
                    events.push(Ev { kind: Kind::Read, value, ..base });
                }
                if let Some(value) = event.written {
                    if event.read.is_some() {
                        pairs.push((events.len() - 1, events.len()));
                    }
                    events.push(Ev { kind: Kind::Write, value, ..base });
                }
            }
            places.push(places_here);
        }
        (Skeleton::of_events(events, &pairs), places)
    }

    /// Calls a function with the execution, as one that the axioms can be asked about.
    fn ask(&self, question: impl Fn(&Candidate<'_>) -> bool) -> bool {
        let (skeleton, places) = self.skeleton();
        let read = |name: Name| places[usize::from(name.0)][usize::from(name.1)];
        let write = |name: Name, loc: u8| match self.event(name) {
            None => usize::from(loc),
            Some(event) => read(name) + usize::from(event.read.is_some()),
        };
        let (mut rf, mut co) = (Rel::empty(skeleton.len()), Rel::empty(skeleton.len()));
        for (id, part) in self.threads.iter().enumerate() {
            for (slot, event) in part.events.iter().enumerate() {
                if let (Some((source, _)), Some(loc)) = (event.read, event.loc) {
                    rf.add(write(source, loc), read(Name(id as u8, slot as u8)));
                }
            }
        }
        for (loc, order) in self.co.iter().enumerate() {
            for (place, before) in order.iter().enumerate() {
                let later = &order[place + 1..];
                later.iter().for_each(|after| co.add(write(*before, loc as u8), write(*after, loc as u8)));
            }
        }
        question(&Candidate { skeleton: &skeleton, rf, co })
    }
}

impl Reference<'_> {
    /// Looks at an execution and all that it is the beginning of; not if there are too many.
    fn visit(&mut self, execution: &Execution) -> bool {
        if !self.seen.insert(execution.key()) {
            return true;
        }
        if self.seen.len() > self.limit || self.is_long || self.found.has_race() {
            return false;
        }
        self.judge(execution);
        (0..self.codes.len()).all(|id| match execution.threads[id].next {
            Next::Access(access) => self.happen(execution, id, access),
            _ => true,
        })
    }

    /// Lets an access happen in every way.
    fn happen(&mut self, execution: &Execution, id: usize, access: Access) -> bool {
        let Some(loc) = access.loc() else { return true };
        (0..execution.co[usize::from(loc)].len()).all(|place| match access {
            Access::Store { value, order, .. } => {
                let event = Happened { loc: Some(loc), order, read: None, written: Some(value), is_rmw: false };
                execution.is_tied(loc, place + 1) || self.extend(execution, id, event, place + 1)
            }
            _ => {
                let source = execution.co[usize::from(loc)][place];
                let value = execution.value(source);
                let written = access.written(value);
                let order = ordering(access, written.is_some());
                let is_rmw = !matches!(access, Access::Load { .. });
                let event = Happened { loc: Some(loc), order, read: Some((source, value)), written, is_rmw };
                written.is_some() && execution.is_tied(loc, place + 1) || self.extend(execution, id, event, place + 1)
            }
        })
    }

    fn extend(&mut self, execution: &Execution, id: usize, event: Happened, place: usize) -> bool {
        let mut extended = execution.clone();
        extended.add(id, event, place);
        if extended.is_long() {
            self.is_long = true;
            return false;
        }
        let model = self.model;
        if !extended.ask(|candidate| is_consistent(candidate, model)) {
            return true;
        }
        let read = event.read.map_or(0, |(_, value)| value);
        extended.threads[id].thread.go_on(&self.codes[id], read, event.written.is_some());
        !self.run(&mut extended, id) || self.visit(&extended)
    }

    /// Runs a thread to its next access of an atomic; not where that is a race.
    fn run(&mut self, execution: &mut Execution, id: usize) -> bool {
        let code = &self.codes[id];
        loop {
            let stop = execution.threads[id].thread.advance(code);
            let read = match stop {
                Stop::Access(Access::Fence { order }) => {
                    let fence = Happened { loc: None, order, read: None, written: None, is_rmw: false };
                    execution.add(id, fence, 0);
                    0
                }
                Stop::Read | Stop::Write(_) => {
                    let value = access_plainly(execution, id, stop);
                    if execution.is_long() {
                        self.is_long = true;
                        return false;
                    }
                    if execution.ask(has_race) {
                        self.found.errors.insert(Error::Race);
                        return false;
                    }
                    value
                }
                Stop::Head(number) if execution.threads[id].rounds[number] < self.bound => {
                    let part = &mut execution.threads[id];
                    part.rounds[number] += 1;
                    part.head = Some(part.thread);
                    0
                }
                stop => {
                    execution.threads[id].next = next(stop);
                    return true;
                }
            };
            execution.threads[id].thread.go_on(code, read, false);
        }
    }

    /// Notes what has come of an execution.
    fn judge(&mut self, execution: &Execution) {
        let left: Vec<usize> = (0..self.codes.len()).filter(|id| execution.threads[*id].next != Next::Ended).collect();
        if left.iter().any(|id| execution.threads[*id].next == Next::Failed) {
            self.found.errors.insert(Error::Assertion);
        }
        if left.is_empty() {
            let results = execution.threads.iter().zip(self.codes).map(|(part, code)| part.thread.results(code));
            self.found.outcomes.insert(Outcome { results: results.collect(), values: execution.last_values() });
            return;
        }
        let rounds: Option<Vec<Round>> = left.iter().map(|id| self.round(execution, *id)).collect();
        let results = execution.threads.iter().zip(self.codes).map(|(part, code)| {
            let has_ended = part.next == Next::Ended;
            has_ended.then(|| part.thread.results(code))
        });
        let error = Error::BlockedForever(results.collect());
        let found = &mut self.found;
        match rounds.and_then(|rounds| rounds.into_iter().max()) {
            Some(Round::Reads) => _ = found.errors.insert(error),
            Some(Round::Undoes) => _ = found.undoing.insert(error),
            Some(Round::Overwrites) => _ = found.overwriting.insert(error),
            None => {}
        }
    }

    /// Whether a loop that begins an iteration, and whose thread runs alone from here on, reading the latest, begins
    /// the next in the same state, and leaves all as it is: then it does so forever, and others may do the same in
    /// between.
    fn round(&self, execution: &Execution, id: usize) -> Option<Round> {
        let (code, part) = (&self.codes[id], &execution.threads[id]);
        let Next::Access(mut access) = part.next else { return None };
        let head = part.head?;
        let plain = execution.co[usize::from(PLAIN)].last().map_or(0, |name| execution.value(*name));
        let (before, mut memory) = (execution.last_values(), Memory::new(execution.last_values()));
        let mut thread = part.thread;
        for _ in 0..ROUND {
            let (read, wrote) = memory.access(access);
            thread.go_on(code, read, wrote);
            match run_alone(&mut thread, code, plain, head)? {
                Alone::Access(next) => access = next,
                Alone::Head if memory.values != before => return None,
                Alone::Head => return Some(memory.round),
            }
        }
        None
    }
}

/// What an iteration does that leaves everything as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Round {
    Reads,
    /// It writes something, and takes it back.
    Undoes,
    /// It overwrites, with what was there, what it has not changed before.
    Overwrites,
}

/// The atomics, as a thread sees them that runs alone.
struct Memory {
    values: Vec<u64>,
    /// Which it has changed.
    changed: Vec<bool>,
    round: Round,
}

impl Memory {
    fn new(values: Vec<u64>) -> Memory {
        Memory { changed: vec![false; values.len()], values, round: Round::Reads }
    }

    /// What an access reads, and whether it writes.
    fn access(&mut self, access: Access) -> (u64, bool) {
        let Some(loc) = access.loc().map(usize::from) else { return (0, false) };
        let read = self.values[loc];
        let Some(written) = access.written(read) else { return (read, false) };
        let overwrites = matches!(access, Access::Store { .. }) && !self.changed[loc];
        self.changed[loc] |= written != read;
        self.values[loc] = written;
        self.round = self.round.max(match overwrites {
            true => Round::Overwrites,
            false if written != read => Round::Undoes,
            false => Round::Reads,
        });
        (read, true)
    }
}

/// Where a thread comes to that runs alone.
enum Alone {
    Access(Access),
    /// Where its loop begins an iteration, in the same state as before.
    Head,
}

/// Runs a thread that is alone; nothing if it ends, or does something else that cannot happen again and again.
fn run_alone(thread: &mut Thread, code: &Code, plain: u64, head: Thread) -> Option<Alone> {
    loop {
        let read = match thread.advance(code) {
            Stop::Access(access) => return Some(Alone::Access(access)),
            Stop::Head(_) if *thread == head => return Some(Alone::Head),
            Stop::Head(_) => 0,
            Stop::Read => plain,
            Stop::Write(_) | Stop::Failed | Stop::Ended => return None,
        };
        thread.go_on(code, read, false);
    }
}

/// An access that does not race comes after all others: there is one place for it. What it reads.
fn access_plainly(execution: &mut Execution, id: usize, stop: Stop) -> u64 {
    let order = Order::NotAtomic;
    let co = &execution.co[usize::from(PLAIN)];
    let (last, place) = (co[co.len() - 1], co.len());
    let value = execution.value(last);
    let (read, written) = match stop {
        Stop::Write(written) => (None, Some(written)),
        _ => (Some((last, value)), None),
    };
    execution.add(id, Happened { loc: Some(PLAIN), order, read, written, is_rmw: false }, place);
    value
}

fn next(stop: Stop) -> Next {
    match stop {
        Stop::Access(access) => Next::Access(access),
        Stop::Head(_) => Next::Nothing,
        Stop::Failed => Next::Failed,
        Stop::Read | Stop::Write(_) | Stop::Ended => Next::Ended,
    }
}

fn ordering(access: Access, writes: bool) -> Order {
    match access {
        Access::Cas { failure, .. } if !writes => failure,
        Access::Load { order, .. }
        | Access::Store { order, .. }
        | Access::Update { order, .. }
        | Access::Cas { order, .. }
        | Access::Fence { order } => order,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread with so many updates of an atomic.
    fn updates(count: usize) -> Program {
        let text = format!("thread 0:\n{}", "    r3 = X.fetch_add(1, Relaxed)\n".repeat(count));
        text.parse().expect("a program")
    }

    #[test]
    fn an_execution_with_too_many_events_is_too_large() {
        // An update is a read and a write, besides the initial writes.
        let most = (Rel::MOST - LOCATIONS) / 2;
        assert!(enumerate(&updates(most), Model::Rc11, 2, 1_000).is_some());
        assert!(enumerate(&updates(most + 1), Model::Rc11, 2, 1_000).is_none());
    }
}
