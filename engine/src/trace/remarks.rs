//! What can be said about why an execution is possible at all: which steps nothing orders, and which orderings are too
//! weak for that.

use serde::{Deserialize, Serialize};

use crate::graph::{self, EventId, Graph, MemOrder, ThreadId};
use crate::verdict::ErrorKind;
use crate::vm::{Failure, FailureKind};

use super::clocks::Clocks;
use super::interleaving::{Because, Interleaving, Link, interleaving};
use super::{Deed, Names, Step, Trace};

/// More orderings than this are not tried out, but the latest of them.
const MAX_CANDIDATES: usize = 300;
/// More orderings than this are not tried out in pairs.
const MAX_PAIRED: usize = 80;

/// Something that explains an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    pub message: String,
    /// The steps that it is about, and what is said of each.
    pub marks: Vec<Mark>,
}

/// What a remark says of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub step: u32,
    pub label: String,
}

/// The remarks on a failing execution.
pub fn remarks(failure: &Failure, graph: &Graph, trace: &Trace) -> Vec<Remark> {
    let FailureKind::Error(kind) = failure.kind else { return Vec::new() };
    if kind == ErrorKind::DataRace {
        return race_remarks(failure, graph, trace);
    }
    match interleaving(graph) {
        Interleaving::No(cycle) => cycle_remarks(&cycle, graph, trace),
        Interleaving::Yes if trace.threads.len() > 1 => interleaved(kind),
        Interleaving::Yes | Interleaving::Unknown => Vec::new(),
    }
}

/// Threads take turns: that says what not to look for.
fn interleaved(kind: ErrorKind) -> Vec<Remark> {
    match kind {
        ErrorKind::Deadlock | ErrorKind::NonTermination | ErrorKind::MemoryLeak => Vec::new(),
        _ => vec![Remark {
            message: "this is an interleaving of the threads: no ordering forbids it".to_owned(),
            marks: Vec::new(),
        }],
    }
}

/// What orders the accesses of a race, if orderings were stronger.
fn race_remarks(failure: &Failure, graph: &Graph, trace: &Trace) -> Vec<Remark> {
    let other = failure.notes.iter().find_map(|note| Some((graph_thread(note.thread?), note.events?)));
    let Some(other) = other else { return Vec::new() };
    let this = graph_thread(failure.thread);
    let mut candidates: Vec<Candidate> = trace.steps.iter().flat_map(Candidate::of).collect();
    candidates.drain(..candidates.len().saturating_sub(MAX_CANDIDATES));
    let orders = |changes: &[(EventId, MemOrder)]| Clocks::with(graph, changes).is_before_end(other, this);
    if let Some(one) = candidates.iter().find(|candidate| orders(&[candidate.change()])) {
        return vec![too_weak(&[one])];
    }
    if candidates.len() <= MAX_PAIRED
        && let Some((write, read)) = pair(&candidates, orders)
    {
        return vec![too_weak(&[write, read])];
    }
    let (this, other) = (failure.thread.phrase(), crate::vm::ThreadId(other.0.index() as u16).phrase());
    let message = match reads_from(graph, trace, failure) {
        true => "no ordering of the steps in between would order the two".to_owned(),
        false => format!("{this} reads nothing that {other} wrote after that: stronger orderings do not help"),
    };
    vec![Remark { message, marks: Vec::new() }]
}

/// Whether the thread of a failure has read, directly or not, what the other one wrote after its access.
fn reads_from(graph: &Graph, trace: &Trace, failure: &Failure) -> bool {
    let note = failure.notes.iter().find_map(|note| Some((note.thread?, note.events?)));
    let tip = graph.thread(graph_thread(failure.thread)).tip();
    let seen = |(thread, events): (crate::vm::ThreadId, u32)| {
        !trace.steps.is_empty() && graph.porf(tip).get(thread.index()).is_some_and(|seen| *seen > events)
    };
    note.is_some_and(seen)
}

fn pair(candidates: &[Candidate], orders: impl Fn(&[(EventId, MemOrder)]) -> bool) -> Option<(&Candidate, &Candidate)> {
    let pairs = candidates.iter().flat_map(|a| candidates.iter().map(move |b| (a, b)));
    let mut sensible = pairs.filter(|(a, b)| a.step < b.step && a.stronger.is_release() && b.stronger.is_acquire());
    sensible.find(|(a, b)| orders(&[a.change(), b.change()]))
}

/// A step whose ordering could be stronger.
struct Candidate {
    step: u32,
    what: &'static str,
    ordering: MemOrder,
    stronger: MemOrder,
}

impl Candidate {
    fn of(step: &Step) -> Vec<Candidate> {
        let Some(ordering) = step.ordering else { return Vec::new() };
        let (what, stronger): (_, &[MemOrder]) = match (&step.deed, step.written.is_some()) {
            (Deed::Load, _) => ("load", &[MemOrder::Acquire]),
            (Deed::Store, _) => ("store", &[MemOrder::Release]),
            (Deed::Rmw { .. }, _) => ("update", &[MemOrder::Acquire, MemOrder::Release, MemOrder::AcqRel]),
            (Deed::Cas { .. }, true) => ("compare_exchange", &[MemOrder::Acquire, MemOrder::Release, MemOrder::AcqRel]),
            (Deed::Cas { .. }, false) => ("failed compare_exchange", &[MemOrder::Acquire]),
            (Deed::Fence, _) => ("fence", &[MemOrder::Acquire, MemOrder::Release, MemOrder::AcqRel]),
            _ => return Vec::new(),
        };
        let candidate =
            |with: &MemOrder| Candidate { step: step.number, what, ordering, stronger: both(ordering, *with) };
        stronger.iter().map(candidate).filter(|candidate| candidate.stronger != ordering).collect()
    }

    fn change(&self) -> (EventId, MemOrder) {
        (EventId::new(self.step as usize), self.stronger)
    }
}

/// The ordering that has what either has.
pub fn both(a: MemOrder, b: MemOrder) -> MemOrder {
    match (a, b) {
        (MemOrder::SeqCst, _) | (_, MemOrder::SeqCst) => MemOrder::SeqCst,
        _ if (a.is_acquire() || b.is_acquire()) && (a.is_release() || b.is_release()) => MemOrder::AcqRel,
        _ if a.is_acquire() || b.is_acquire() => MemOrder::Acquire,
        _ if a.is_release() || b.is_release() => MemOrder::Release,
        _ => MemOrder::Relaxed,
    }
}

fn too_weak(steps: &[&Candidate]) -> Remark {
    let wanted = steps.iter().map(|one| format!("`{}` for the {} #{}", one.stronger.name(), one.what, one.step));
    let message = format!("{} would order the two accesses", wanted.collect::<Vec<_>>().join(" and "));
    let mark = |one: &&Candidate| Mark { step: one.step, label: format!("`{}` is too weak", one.ordering.name()) };
    Remark { message, marks: steps.iter().map(mark).collect() }
}

/// The reads that see something old though it was overwritten, which no interleaving explains.
fn cycle_remarks(cycle: &[Link], graph: &Graph, trace: &Trace) -> Vec<Remark> {
    let next = |at: usize| cycle[(at + 1) % cycle.len()].event;
    let reads = cycle.iter().enumerate().filter(|(_, link)| link.because == Because::FromRead);
    let mut remarks: Vec<Remark> = reads.filter_map(|(at, link)| stale(link.event, next(at), graph, trace)).collect();
    let weak = |link: &&Link| {
        trace.step(number(link.event)).and_then(|step| step.ordering).is_some_and(|order| !order.is_sc())
    };
    let mut weak: Vec<u32> = cycle.iter().filter(weak).map(|link| number(link.event)).collect();
    weak.sort_unstable();
    let names: Vec<String> = weak.iter().map(|number| format!("#{number}")).collect();
    let message = match names.is_empty() {
        true => "no interleaving of the threads does this: the memory model lets stores be delayed".to_owned(),
        false => format!("no interleaving of the threads does this: the orderings of {} allow it", names.join(", ")),
    };
    remarks.push(Remark { message, marks: Vec::new() });
    remarks
}

/// A read that does not see a write.
fn stale(read: EventId, write: EventId, graph: &Graph, trace: &Trace) -> Option<Remark> {
    // Of what happens after the read, it is no wonder that it is not seen.
    if graph.is_hb_before(read, write) {
        return None;
    }
    let (reader, writer) = (trace.step(number(read))?, trace.step(number(write))?);
    let from = graph.event(read).rf;
    let seen = match from {
        EventId::INIT => "the initial value".to_owned(),
        from => format!("the value from #{}", number(from)),
    };
    let names = Names::of(trace);
    let variable = reader.variable.as_ref().map(|variable| names.variable(variable)).unwrap_or_default();
    let stored = writer.written.map(|value| names.value(writer, value)).unwrap_or_default();
    let message = format!(
        "#{} sees {seen} of `{variable}`, although {} stores {stored} in #{}: nothing orders them",
        reader.number,
        writer.thread.phrase(),
        writer.number
    );
    let marks = vec![
        Mark { step: reader.number, label: format!("#{} does not see it", reader.number) },
        Mark { step: writer.number, label: format!("#{} stores {stored}", writer.number) },
    ];
    Some(Remark { message, marks })
}

fn number(id: EventId) -> u32 {
    id.index() as u32
}

fn graph_thread(thread: crate::vm::ThreadId) -> graph::ThreadId {
    ThreadId::new(thread.index())
}
