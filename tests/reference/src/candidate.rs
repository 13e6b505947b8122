//! Candidate executions: a trace for each thread, a write for each read, an order for the writes of each location.
//!
//! A read-modify-write is two events here, related by `rmw`, and threads have events for their beginning and end.

use crate::program::Order;
use crate::relation::Rel;
use crate::traces::{End, Step, Trace};
use dpor_engine::explore::Equivalence;
use dpor_engine::graph::Graph;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Init,
    Begin,
    End,
    Read,
    Write,
    Fence,
    Other,
}

#[derive(Clone, Copy, Debug)]
pub struct Ev {
    pub kind: Kind,
    pub thread: usize,
    /// Which step of the thread it belongs to.
    pub slot: usize,
    pub loc: u8,
    pub value: u64,
    pub order: Order,
    /// Part of a read-modify-write, a failed one included.
    pub rmw: bool,
}

/// An event by thread and step; none for the initialising writes.
pub type Name = Option<(usize, usize)>;

/// What identifies an execution graph, as the explorer and the reference both can say it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// For each thread, the answer and reads-from of each step.
    pub threads: Vec<Vec<(u64, Name)>>,
    pub co: BTreeMap<u8, Vec<Name>>,
    pub blocked: bool,
}

impl Key {
    /// The key of a graph that the explorer found.
    pub fn of(graph: &Graph, threads: usize, blocked: bool) -> Key {
        let name = |id| graph.name(id).map(|(t, i)| (t as usize, i as usize));
        let mut keys = vec![Vec::new(); threads];
        for (_, event) in graph.events() {
            keys[event.thread.index()].push((event.answer, event.is_read.then(|| name(event.rf)).flatten()));
        }
        let co = graph.locations().filter(|(_, l)| l.co.len() > 1);
        let co = co.map(|(loc, l)| (loc.index() as u8, l.co[1..].iter().map(|&w| name(w)).collect())).collect();
        Key { threads: keys, co, blocked }
    }

    /// The least of the keys that differ from this one only in which of the threads of a class is which.
    pub fn up_to_permutation(self, classes: &[Vec<usize>]) -> Key {
        let mut least: Option<Key> = None;
        for_each_permutation(classes, &mut (0..self.threads.len()).collect(), &mut |names| {
            let key = self.renamed(names);
            if least.as_ref().is_none_or(|least| key < *least) {
                least = Some(key);
            }
        });
        least.unwrap_or(self)
    }

    /// The key in which thread `t` is called `names[t]`.
    fn renamed(&self, names: &[usize]) -> Key {
        let name = |name: Name| name.map(|(thread, step)| (names[thread], step));
        let mut threads = vec![Vec::new(); self.threads.len()];
        for (thread, steps) in self.threads.iter().enumerate() {
            threads[names[thread]] = steps.iter().map(|&(answer, rf)| (answer, name(rf))).collect();
        }
        let co = self.co.iter().map(|(&loc, writes)| (loc, writes.iter().map(|&write| name(write)).collect()));
        Key { threads, co: co.collect(), blocked: self.blocked }
    }

    /// The key with what makes a difference: under reads-from equivalence, who writes, but not in which order.
    pub fn under(mut self, equivalence: Equivalence) -> Key {
        if equivalence == Equivalence::ReadsFrom {
            self.co.values_mut().for_each(|writes| writes.sort());
        }
        self
    }
}

/// Events and the relations that do not depend on rf and co.
pub struct Skeleton {
    pub events: Vec<Ev>,
    pub po: Rel,
    /// From a spawn to the beginning of the thread, from the end of a thread to its join.
    pub thread_sync: Rel,
    pub rmw: Rel,
    ends: Vec<End>,
    answers: Vec<Vec<u64>>,
}

pub struct Candidate<'a> {
    pub skeleton: &'a Skeleton,
    pub rf: Rel,
    pub co: Rel,
}

impl Skeleton {
    /// The events of the traces, or none if the traces do not fit together; `spawned` says whether all threads but the
    /// first are spawned.
    pub fn new(traces: &[&Trace], spawned: bool) -> Option<Skeleton> {
        if !fit(traces, spawned) {
            return None;
        }
        let mut events = Vec::new();
        let blank = Ev { kind: Kind::Init, thread: 99, slot: 0, loc: 0, value: 0, order: Order::Relaxed, rmw: false };
        for loc in 0..16 {
            if traces.iter().flat_map(|t| &t.steps).any(|s| accesses(s, loc)) {
                events.push(Ev { loc, ..blank });
            }
        }
        let (mut rmw_pairs, mut spawns, mut joins) = (Vec::new(), Vec::new(), Vec::new());
        for (thread, trace) in traces.iter().enumerate().filter(|(_, t)| t.end != End::Absent) {
            let base = Ev { thread, ..blank };
            events.push(Ev { kind: Kind::Begin, ..base });
            for (slot, step) in trace.steps.iter().enumerate() {
                let base = Ev { slot, ..base };
                let here = events.len();
                match *step {
                    Step::Read { loc, value, order, rmw } => {
                        events.push(Ev { kind: Kind::Read, loc, value, order, rmw, ..base });
                    }
                    Step::Write { loc, value, order } => {
                        events.push(Ev { kind: Kind::Write, loc, value, order, ..base });
                    }
                    Step::Update { loc, read, written, order, .. } => {
                        events.push(Ev { kind: Kind::Read, loc, value: read, order, rmw: true, ..base });
                        events.push(Ev { kind: Kind::Write, loc, value: written, order, rmw: true, ..base });
                        rmw_pairs.push((here, here + 1));
                    }
                    Step::Fence { order } => events.push(Ev { kind: Kind::Fence, order, ..base }),
                    Step::Choose { value } => events.push(Ev { kind: Kind::Other, value, ..base }),
                    Step::Spawn { thread } => {
                        spawns.push((here, usize::from(thread)));
                        events.push(Ev { kind: Kind::Other, value: u64::from(thread), ..base });
                    }
                    Step::Join { thread } => {
                        joins.push((here, usize::from(thread)));
                        events.push(Ev { kind: Kind::Other, ..base });
                    }
                }
            }
            if trace.end == End::Finished {
                events.push(Ev { kind: Kind::End, slot: trace.steps.len(), ..base });
            }
        }
        let bare = Skeleton::of_events(events, &rmw_pairs);
        let (n, events) = (bare.len(), &bare.events);
        let mut thread_sync = Rel::empty(n);
        let find = |kind, thread| events.iter().position(|e| e.kind == kind && e.thread == thread);
        for &(spawn, thread) in &spawns {
            thread_sync.add(spawn, find(Kind::Begin, thread)?);
        }
        for &(join, thread) in &joins {
            thread_sync.add(find(Kind::End, thread)?, join);
        }
        let ends = traces.iter().map(|t| t.end).collect();
        let answers = traces.iter().map(|t| t.steps.iter().map(answer).collect()).collect();
        Some(Skeleton { thread_sync, ends, answers, ..bare })
    }

    /// These events, the initialising writes first and those of each thread in order, with the pairs that are
    /// read-modify-writes.
    pub fn of_events(events: Vec<Ev>, rmw_pairs: &[(usize, usize)]) -> Skeleton {
        let n = events.len();
        let po = Rel::from_fn(n, |a, b| {
            let (x, y) = (&events[a], &events[b]);
            if x.kind == Kind::Init { y.kind != Kind::Init } else { x.thread == y.thread && a < b }
        });
        let mut rmw = Rel::empty(n);
        rmw_pairs.iter().for_each(|&(r, w)| rmw.add(r, w));
        Skeleton { events, po, thread_sync: Rel::empty(n), rmw, ends: Vec::new(), answers: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    fn writes_to(&self, loc: u8) -> Vec<usize> {
        let writes = |e: &Ev| matches!(e.kind, Kind::Write | Kind::Init) && e.loc == loc;
        (0..self.len()).filter(|&i| writes(&self.events[i])).collect()
    }

    /// Whether an event is the read of a read-modify-write that writes, too.
    fn updates(&self, read: usize) -> bool {
        (0..self.len()).any(|write| self.rmw.has(read, write))
    }

    fn name(&self, id: usize) -> Name {
        let event = &self.events[id];
        (event.kind != Kind::Init).then_some((event.thread, event.slot))
    }

    /// Calls `found` with every candidate in which porf is acyclic, each location is coherent with program order, and
    /// read-modify-writes are atomic: what all models ask for.
    pub fn candidates(&self, found: &mut impl FnMut(&Candidate<'_>, &dyn Fn() -> Key)) {
        let reads: Vec<usize> = (0..self.len()).filter(|&i| self.events[i].kind == Kind::Read).collect();
        let mut sources = vec![usize::MAX; self.len()];
        self.choose_rf(&reads, &mut sources, found);
    }

    fn choose_rf(
        &self,
        reads: &[usize],
        sources: &mut Vec<usize>,
        found: &mut impl FnMut(&Candidate<'_>, &dyn Fn() -> Key),
    ) {
        let Some((&read, rest)) = reads.split_first() else {
            let mut rf = Rel::empty(self.len());
            (0..self.len()).filter(|&r| sources[r] != usize::MAX).for_each(|r| rf.add(sources[r], r));
            if self.po.or(&rf).or(&self.thread_sync).is_acyclic() {
                self.choose_co(&rf, sources, found);
            }
            return;
        };
        let event = self.events[read];
        // Of two read-modify-writes that read from the same write, neither could come right after it.
        let updates = self.updates(read);
        let is_taken =
            |sources: &[usize], write| updates && (0..read).any(|other| sources[other] == write && self.updates(other));
        for write in self.writes_to(event.loc) {
            if self.events[write].value == event.value && !is_taken(sources, write) {
                sources[read] = write;
                self.choose_rf(rest, sources, found);
            }
        }
        sources[read] = usize::MAX;
    }

    fn choose_co(&self, rf: &Rel, sources: &[usize], found: &mut impl FnMut(&Candidate<'_>, &dyn Fn() -> Key)) {
        let locations: Vec<u8> = self.events.iter().filter(|e| e.kind == Kind::Init).map(|e| e.loc).collect();
        let options: Vec<Vec<Vec<usize>>> = locations.iter().map(|&l| self.orders(l, sources)).collect();
        let mut pick = vec![0; options.len()];
        if options.iter().any(Vec::is_empty) {
            return;
        }
        loop {
            let orders: Vec<&Vec<usize>> = options.iter().zip(&pick).map(|(o, &p)| &o[p]).collect();
            self.emit(rf, sources, &orders, found);
            let Some(next) = (0..pick.len()).find(|&i| pick[i] + 1 < options[i].len()) else { return };
            pick[next] += 1;
            pick[..next].fill(0);
        }
    }

    /// The coherence orders of a location that fit with program order and atomicity.
    fn orders(&self, loc: u8, sources: &[usize]) -> Vec<Vec<usize>> {
        let writes = self.writes_to(loc);
        let mut done = Vec::new();
        let source = |write| (0..self.len()).find(|&read| self.rmw.has(read, write)).map(|read| sources[read]);
        let right_after: Vec<Option<usize>> = (0..self.len()).map(source).collect();
        // What cannot become an order is given up at once: there are too many.
        let may_follow = |order: &[usize], next: usize, rest: &[usize]| {
            right_after[next].is_none_or(|source| order.last() == Some(&source))
                && !rest.iter().any(|&other| self.po.has(other, next))
        };
        permute(&mut vec![writes[0]], &writes[1..], &may_follow, &mut |order| {
            let position = |w: usize| order.iter().position(|&x| x == w).unwrap_or(usize::MAX);
            let access = |i: usize| match self.events[i].kind {
                Kind::Write | Kind::Init => Some(2 * position(i)),
                Kind::Read => Some(2 * position(sources[i]) + 1),
                _ => None,
            };
            let here: Vec<usize> =
                (0..self.len()).filter(|&i| self.events[i].loc == loc && access(i).is_some()).collect();
            let coherent = here.iter().all(|&a| {
                here.iter().all(|&b| {
                    // In eco order, a read comes between its write and the next one; equal ranks are two reads.
                    !self.po.has(a, b) || access(a) < access(b) || (access(a) == access(b) && a != b)
                })
            });
            let atomic = here
                .iter()
                .all(|&r| here.iter().all(|&w| !self.rmw.has(r, w) || position(w) == position(sources[r]) + 1));
            if coherent && atomic {
                done.push(order.to_vec());
            }
        });
        done
    }

    fn emit(
        &self,
        rf: &Rel,
        sources: &[usize],
        orders: &[&Vec<usize>],
        found: &mut impl FnMut(&Candidate<'_>, &dyn Fn() -> Key),
    ) {
        if !self.may_end(sources, orders) {
            return;
        }
        let mut co = Rel::empty(self.len());
        for order in orders {
            for (i, &a) in order.iter().enumerate() {
                order[i + 1..].iter().for_each(|&b| co.add(a, b));
            }
        }
        found(&Candidate { skeleton: self, rf: rf.clone(), co }, &|| self.key(sources, orders));
    }

    /// Whether threads that wait for a lock find it taken, and those that wait in a loop have read the latest.
    fn may_end(&self, sources: &[usize], orders: &[&Vec<usize>]) -> bool {
        self.ends.iter().enumerate().all(|(thread, end)| match *end {
            End::Spin => self.has_read_latest(thread, sources, orders),
            End::Await { loc, test } => {
                let order = orders.iter().find(|o| self.events[o[0]].loc == loc);
                !test.passes(order.map_or(0, |o| self.events[o[o.len() - 1]].value))
            }
            _ => true,
        })
    }

    /// Whether what the last step of a thread has read is the latest, but for what others that wait have written back:
    /// in which order they do so does not matter, so that only one is counted.
    fn has_read_latest(&self, thread: usize, sources: &[usize], orders: &[&Vec<usize>]) -> bool {
        let last = |thread: usize| self.answers[thread].len() - 1;
        let of = |e: &Ev| e.kind == Kind::Read && e.thread == thread && e.slot == last(thread);
        let Some(read) = self.events.iter().position(of) else { return false };
        let order = orders.iter().find(|o| o.contains(&sources[read])).expect("an order");
        let later = order.iter().skip_while(|&&w| w != sources[read]).skip(1);
        let waits = |w: &Ev| self.ends[w.thread] == End::Spin && w.slot == last(w.thread) && w.thread >= thread;
        later.map(|&w| &self.events[w]).all(waits)
    }

    fn key(&self, sources: &[usize], orders: &[&Vec<usize>]) -> Key {
        let mut threads: Vec<Vec<(u64, Name)>> =
            self.answers.iter().map(|a| a.iter().map(|&v| (v, None)).collect()).collect();
        for (read, event) in self.events.iter().enumerate().filter(|(_, e)| e.kind == Kind::Read) {
            threads[event.thread][event.slot].1 = self.name(sources[read]);
        }
        let co = orders.iter().filter(|o| o.len() > 1);
        let co = co.map(|o| (self.events[o[0]].loc, o[1..].iter().map(|&w| self.name(w)).collect())).collect();
        let blocked = self.ends.iter().any(|end| !matches!(end, End::Finished | End::Absent));
        Key { threads, co, blocked }
    }
}

/// Gives threads the names of others of their class, in every way.
fn for_each_permutation(classes: &[Vec<usize>], names: &mut Vec<usize>, found: &mut dyn FnMut(&[usize])) {
    let Some((class, others)) = classes.split_first() else { return found(names) };
    permute(&mut Vec::new(), class, &|_, _, _| true, &mut |order| {
        class.iter().zip(order).for_each(|(&thread, &name)| names[thread] = name);
        for_each_permutation(others, names, found);
    });
}

fn accesses(step: &Step, at: u8) -> bool {
    matches!(*step, Step::Read { loc, .. } | Step::Write { loc, .. } | Step::Update { loc, .. } if loc == at)
}

fn answer(step: &Step) -> u64 {
    match *step {
        Step::Read { value, .. } | Step::Choose { value } => value,
        Step::Update { answer, .. } => answer,
        Step::Spawn { thread } => u64::from(thread),
        _ => 0,
    }
}

/// Whether threads exist just if they were spawned, where they are, and are joined just if they have ended.
fn fit(traces: &[&Trace], spawned: bool) -> bool {
    let has = |step: Step| traces.iter().any(|t| t.steps.contains(&step));
    traces.iter().enumerate().all(|(thread, trace)| {
        let id = thread as u8;
        let exists = thread == 0 || !spawned || has(Step::Spawn { thread: id });
        let waited_for = traces.iter().any(|t| t.end == End::Join { thread: id });
        match trace.end {
            End::Absent => !exists,
            End::Finished => exists && !waited_for,
            _ => exists && !has(Step::Join { thread: id }),
        }
    })
}

/// Whether an element may follow others in an order, given what is left.
type MayFollow<'a> = &'a dyn Fn(&[usize], usize, &[usize]) -> bool;

/// Calls `found` with every order in which each element may follow those before it.
fn permute(prefix: &mut Vec<usize>, rest: &[usize], may_follow: MayFollow<'_>, found: &mut dyn FnMut(&[usize])) {
    if rest.is_empty() {
        return found(prefix);
    }
    for i in 0..rest.len() {
        let mut others = rest.to_vec();
        let next = others.remove(i);
        if may_follow(prefix, next, &others) {
            prefix.push(next);
            permute(prefix, &others, may_follow, found);
            prefix.pop();
        }
    }
}
