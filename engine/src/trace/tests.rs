//! What is told about an execution is so: held against the views that exploring itself goes by, and known litmus tests.

use std::collections::HashMap;

use crate::explore::{Config, Ending, Observer, explore_with};
use crate::graph::{EventId, Graph, Loc, MemOrder, RmwOp, ThreadId};
use crate::litmus::{Code, Litmus, LitmusState};
use crate::model::MemoryModel;

use super::clocks::Clocks;
use super::interleaving::{Because, Interleaving, interleaving, order};
use super::relations::{coherence, synchronizes_with};

/// Two locations.
fn locations() -> (Loc, Loc) {
    (Loc::new(0), Loc::new(1))
}

/// Keeps all graphs.
#[derive(Default)]
struct Graphs(Vec<Graph>);

impl Observer<Litmus> for Graphs {
    fn full(&mut self, graph: &Graph, _: &LitmusState, _: Ending) {
        self.0.push(graph.clone());
    }
}

/// All executions of a program under RC11.
fn executions(codes: Vec<Code>) -> Vec<Graph> {
    let program = Litmus::new(codes, vec![]);
    let (_, observers) = explore_with(&program, &Config::new(MemoryModel::Rc11), None, Graphs::default);
    observers.into_iter().flat_map(|graphs| graphs.0).collect()
}

fn code(write: impl FnOnce(&mut Code)) -> Code {
    let mut code = Code::new();
    write(&mut code);
    code
}

/// Message passing with fences, with updates in between, and with too little.
fn programs() -> Vec<Vec<Code>> {
    use MemOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    let (x, y) = locations();
    let passing = |first: MemOrder, fence: Option<MemOrder>, last: MemOrder, end: Option<MemOrder>| {
        let writer = code(|code| {
            code.store(x, 1u64, Relaxed);
            fence.inspect(|order| code.fence(*order));
            code.store(y, 1u64, first);
        });
        let between = code(|code| {
            code.rmw(RmwOp::Add, y, 1u64, Relaxed);
        });
        let reader = code(|code| {
            code.load(y, last);
            end.inspect(|order| code.fence(*order));
            code.load(x, Relaxed);
        });
        vec![writer, between, reader]
    };
    vec![
        passing(Release, None, Acquire, None),
        passing(Relaxed, Some(Release), Relaxed, Some(Acquire)),
        passing(Relaxed, Some(AcqRel), Acquire, None),
        passing(Relaxed, None, Acquire, Some(SeqCst)),
        passing(SeqCst, None, Relaxed, None),
        passing(Release, Some(Acquire), Relaxed, Some(AcqRel)),
    ]
}

#[test]
fn clocks_without_changes_are_those_of_the_graph() {
    for graph in programs().into_iter().flat_map(executions) {
        let clocks = Clocks::with(&graph, &[]);
        for thread in 0..graph.thread_count() {
            let tip = graph.thread(ThreadId::new(thread)).tip();
            for other in 0..graph.thread_count() {
                let seen = graph.hb(tip)[other];
                let before = |events| clocks.is_before_end((ThreadId::new(other), events), ThreadId::new(thread));
                assert!(!before(seen) && (seen == 0 || before(seen - 1)), "{graph:?}");
            }
        }
    }
}

#[test]
fn stronger_orderings_order_more() {
    let relaxed = programs().swap_remove(4);
    let (mut weak, mut ordered) = (0, 0);
    for graph in executions(relaxed) {
        // The last thread has read what the first wrote, directly or through the one in between, or not.
        let Some((read, event)) = graph.events().find(|(_, event)| event.thread == ThreadId::new(2)) else { continue };
        let strengthened = Clocks::with(&graph, &[(read, MemOrder::Acquire)]);
        let of_first = (ThreadId::new(0), 0);
        assert!(!Clocks::with(&graph, &[]).is_before_end(of_first, ThreadId::new(2)));
        let is_before = strengthened.is_before_end(of_first, ThreadId::new(2));
        assert_eq!(is_before, graph.porf(event.rf).first().is_some_and(|events| *events > 1));
        weak += u32::from(!is_before);
        ordered += u32::from(is_before);
    }
    assert!(weak > 0 && ordered > 0);
}

/// Program order and synchronizes-with are all that happens-before is made of.
#[test]
fn who_synchronizes_with_whom_explains_the_order() {
    for graph in programs().into_iter().flat_map(executions) {
        let sw = synchronizes_with(&graph);
        let before = |to: EventId| {
            let mut found: Vec<usize> = Vec::new();
            let mut queue = vec![to.index()];
            while let Some(id) = queue.pop() {
                let po = graph.event(EventId::new(id)).po_prev;
                let others = sw.iter().filter(|(_, other)| *other as usize == id).map(|(from, _)| *from as usize);
                for earlier in others.chain(po.is_some().then(|| po.index())) {
                    if !found.contains(&earlier) {
                        found.push(earlier);
                        queue.push(earlier);
                    }
                }
            }
            found.sort_unstable();
            found
        };
        for (id, _) in graph.events() {
            let known = graph.events().map(|(other, _)| other).filter(|other| *other != id);
            let known: Vec<usize> =
                known.filter(|other| graph.is_hb_before(*other, id)).map(|other| other.index()).collect();
            assert_eq!(before(id), known, "{graph:?}");
        }
    }
}

#[test]
fn coherence_is_that_of_the_graph() {
    for graph in programs().into_iter().flat_map(executions) {
        for writes in coherence(&graph) {
            let positions = writes.iter().map(|write| graph.co_position(EventId::new(*write as usize)));
            assert!(positions.clone().is_sorted() && positions.count() > 1);
        }
    }
}

/// Two threads that store, and load what the other one stores.
fn store_buffering() -> Vec<Code> {
    let half = |own: Loc, other: Loc| {
        code(|code| {
            code.store(own, 1u64, MemOrder::Release);
            code.load(other, MemOrder::Acquire);
        })
    };
    let (x, y) = locations();
    vec![half(x, y), half(y, x)]
}

/// In an interleaving, every read sees the latest write before it.
#[test]
fn interleavings_can_be_put_in_order() {
    let mut ordered = 0;
    for graph in programs().into_iter().chain([store_buffering()]).flat_map(executions) {
        let order = order(&graph);
        assert_eq!(order.is_some(), interleaving(&graph) == Interleaving::Yes, "{graph:?}");
        let Some(order) = order else { continue };
        ordered += 1;
        assert_eq!(order.len(), graph.events().count());
        let mut latest: HashMap<Loc, EventId> = HashMap::new();
        let mut seen: Vec<EventId> = Vec::new();
        for id in order {
            let event = graph.event(id);
            assert!(!event.po_prev.is_some() || seen.contains(&event.po_prev), "{graph:?}");
            if event.is_read {
                assert_eq!(event.rf, latest.get(&event.loc).copied().unwrap_or(EventId::INIT), "{graph:?}");
            }
            if event.is_write {
                latest.insert(event.loc, id);
            }
            seen.push(id);
        }
    }
    assert!(ordered > 3, "there are 3 of store buffering alone");
}

/// Store buffering has 4 executions, of which one is no interleaving.
#[test]
fn what_is_no_interleaving_has_a_cycle() {
    let graphs = executions(store_buffering());
    let found: Vec<Interleaving> = graphs.iter().map(interleaving).collect();
    let cycles = found.iter().filter_map(|found| match found {
        Interleaving::No(cycle) => Some(cycle),
        Interleaving::Yes | Interleaving::Unknown => None,
    });
    let cycles: Vec<_> = cycles.collect();
    assert_eq!((graphs.len(), cycles.len()), (4, 1));
    let reasons: Vec<Because> = cycles[0].iter().map(|link| link.because).collect();
    assert_eq!(reasons.iter().filter(|because| **because == Because::FromRead).count(), 2);
    assert_eq!(reasons.len(), 4);
}
