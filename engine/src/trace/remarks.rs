//! Why an execution is possible: which steps are unordered, and which orderings are too weak to order them.

use serde::{Deserialize, Serialize};

use crate::graph::{self, EventId, Graph, MemOrder, ThreadId};
use crate::verdict::ErrorKind;
use crate::vm::{Failure, FailureKind};

use super::clocks::Clocks;
use super::interleaving::{Because, Interleaving, Link, interleaving};
use super::relevant::is_bookkeeping;
use super::{Deed, Names, Step, Trace};

/// More orderings than this are not tried out, but the latest of them.
const MAX_CANDIDATES: usize = 300;
/// More orderings than this are not tried out in pairs.
const MAX_PAIRED: usize = 80;

/// Something that explains an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    pub kind: RemarkKind,
    pub message: String,
    /// The steps whose places are shown, and what is said of each.
    pub marks: Vec<Mark>,
    /// The other steps that it names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<u32>,
}

/// What a remark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemarkKind {
    /// The threads take turns: no ordering forbids the execution.
    Interleaving,
    /// A thread overwrites what another one has written since it read.
    LostUpdate,
    /// These orderings are too weak to order the accesses of a race.
    TooWeak,
    /// Nothing that one thread reads orders the accesses of a race.
    Unordered,
    /// A read sees a value that was overwritten.
    StaleRead,
    /// No interleaving explains the execution, but weak orderings, or delayed stores, do.
    NoInterleaving,
}

impl Remark {
    /// A remark that is not about particular steps.
    fn new(kind: RemarkKind, message: impl Into<String>) -> Remark {
        Remark { kind, message: message.into(), marks: Vec::new(), steps: Vec::new() }
    }

    /// All steps that it names.
    pub fn named(&self) -> impl Iterator<Item = u32> + '_ {
        self.marks.iter().map(|mark| mark.step).chain(self.steps.iter().copied())
    }
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
        _ => {
            let message = "the error occurs in an interleaving of the threads: stronger orderings cannot prevent it";
            vec![Remark::new(RemarkKind::Interleaving, message)]
        }
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
    if let Some(all) = several(&candidates, orders) {
        return vec![too_weak(&all)];
    }
    // Where stores are delayed, or reads are stale, an execution without that may not have the race.
    if let Interleaving::No(cycle) = interleaving(graph) {
        return cycle_remarks(&cycle, graph, trace);
    }
    let (this, other) = (failure.thread.phrase(), crate::vm::ThreadId(other.0.index() as u16).phrase());
    let message = match reads_from(graph, trace, failure) {
        true => "no ordering of the atomic operations in between makes one access happen before the other".to_owned(),
        false => format!(
            "{this} reads nothing that {other} wrote after its access: stronger orderings alone cannot fix this race"
        ),
    };
    vec![Remark::new(RemarkKind::Unordered, message)]
}

/// Orderings that order the accesses together, none of which can be left out.
fn several(candidates: &[Candidate], orders: impl Fn(&[(EventId, MemOrder)]) -> bool) -> Option<Vec<&Candidate>> {
    // The last candidate of a step is its strongest ordering.
    let mut chosen: Vec<&Candidate> = Vec::new();
    for candidate in candidates {
        chosen.retain(|known| known.step != candidate.step);
        chosen.push(candidate);
    }
    let changes = |chosen: &[&Candidate]| chosen.iter().map(|one| one.change()).collect::<Vec<_>>();
    if !orders(&changes(&chosen)) {
        return None;
    }
    let mut at = 0;
    while at < chosen.len() {
        let mut without = chosen.clone();
        without.remove(at);
        if orders(&changes(&without)) { chosen = without } else { at += 1 }
    }
    Some(chosen)
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
    let wanted = steps.iter().map(|one| format!("`{}` on the {} #{}", one.stronger.name(), one.what, one.step));
    let message = format!("{} would make one access happen before the other", wanted.collect::<Vec<_>>().join(" and "));
    let mark = |one: &&Candidate| Mark { step: one.step, label: format!("`{}` is too weak", one.ordering.name()) };
    Remark { marks: steps.iter().map(mark).collect(), ..Remark::new(RemarkKind::TooWeak, message) }
}

/// The reads that see something old though it was overwritten, which no interleaving explains.
fn cycle_remarks(cycle: &[Link], graph: &Graph, trace: &Trace) -> Vec<Remark> {
    let next = |at: usize| cycle[(at + 1) % cycle.len()].event;
    let reads = cycle.iter().enumerate().filter(|(_, link)| link.because == Because::FromRead);
    let mut remarks: Vec<Remark> = reads.filter_map(|(at, link)| stale(link.event, next(at), graph, trace)).collect();
    let weak = |link: &&Link| {
        let step = trace.step(number(link.event)).filter(|step| !is_bookkeeping(step));
        step.and_then(|step| step.ordering).is_some_and(|order| !order.is_sc())
    };
    let mut weak: Vec<u32> = cycle.iter().filter(weak).map(|link| number(link.event)).collect();
    weak.sort_unstable();
    let names: Vec<String> = weak.iter().map(|number| format!("#{number}")).collect();
    let message = match names.is_empty() {
        true => "no interleaving of the threads explains this: the memory model delays stores".to_owned(),
        false => format!(
            "no interleaving of the threads explains this: it is possible because of the orderings of {}",
            names.join(", ")
        ),
    };
    remarks.push(Remark { steps: weak, ..Remark::new(RemarkKind::NoInterleaving, message) });
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
        "#{} reads {seen} of `{variable}` although {} stores {stored} in #{}: there is no happens-before between them",
        reader.number,
        writer.thread.phrase(),
        writer.number
    );
    let marks = vec![
        Mark { step: reader.number, label: format!("#{} does not read it", reader.number) },
        Mark { step: writer.number, label: format!("#{} stores {stored}", writer.number) },
    ];
    let steps = graph_step(from).into_iter().collect();
    Some(Remark { kind: RemarkKind::StaleRead, message, marks, steps })
}

/// Finds updates in two steps that lose what another thread has written in between.
pub fn name_lost_updates(trace: &mut Trace) {
    let Some(at) = trace.remarks.iter().position(|remark| remark.kind == RemarkKind::Interleaving) else { return };
    if let Some(lost) = trace.steps.iter().find_map(|store| lost_update(store, trace)) {
        trace.remarks[at] = lost;
    }
}

/// A store after a load of the same thread, where another thread has stored after what was loaded.
fn lost_update(store: &Step, trace: &Trace) -> Option<Remark> {
    let writes = trace.co.iter().find(|writes| writes.contains(&store.number))?;
    let is_same = |step: &&Step| step.variable == store.variable && step.number < store.number;
    let mut before = trace.steps_of(store.thread).filter(is_same);
    let load = before.next_back().filter(|load| store.deed == Deed::Store && load.deed == Deed::Load)?;
    let place = |step: u32| writes.iter().position(|write| *write == step);
    let read = load.read?.from.map_or(Some(0), |from| place(from).map(|at| at + 1))?;
    let lost = *writes.get(read..place(store.number)?)?.last()?;
    let other = trace.step(lost).filter(|other| other.thread != store.thread)?;
    let names = Names::of(trace);
    let variable = names.variable(store.variable.as_ref()?);
    let stored = names.value(other, other.written?);
    let message = format!(
        "lost update: #{} overwrites the {stored} that {} stored in `{variable}` after #{} read it; an atomic update \
         (`fetch_add`, `swap`, `compare_exchange`) would not",
        store.number,
        other.thread.phrase(),
        load.number,
    );
    let marks = vec![
        Mark { step: load.number, label: format!("#{} reads", load.number) },
        Mark { step: store.number, label: format!("#{} overwrites what #{lost} stored", store.number) },
    ];
    Some(Remark { kind: RemarkKind::LostUpdate, message, marks, steps: vec![lost] })
}

/// The number of the step that an event is, unless it is the initial write.
fn graph_step(id: EventId) -> Option<u32> {
    (id != EventId::INIT).then(|| number(id))
}

fn number(id: EventId) -> u32 {
    id.index() as u32
}

fn graph_thread(thread: crate::vm::ThreadId) -> graph::ThreadId {
    ThreadId::new(thread.index())
}
