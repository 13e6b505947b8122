//! Bounded store buffers (Zhang, Kusano, Wang, PLDI 2015).

use dpor_engine::explore::{Config, Ending, Observer, explore_with};
use dpor_engine::graph::{Graph, Loc, MemOrder, ThreadId};
use dpor_engine::litmus::{Code, Litmus, LitmusState, Reg};
use dpor_engine::model::{Mapping, MemoryModel};
use dpor_reference::candidate::Key;
use dpor_reference::generate::{Shape, program};
use dpor_reference::program::Prog;
use proptest::prelude::*;
use std::collections::BTreeSet;

use MemOrder::{Relaxed, SeqCst};

struct Keys(usize, BTreeSet<Key>);

impl Observer<Litmus> for Keys {
    fn full(&mut self, graph: &Graph, _: &LitmusState, ending: Ending) {
        self.1.insert(Key::of(graph, self.0, ending == Ending::Blocked));
    }
}

fn graphs(prog: &Prog, model: MemoryModel, buffer_bound: Option<usize>) -> BTreeSet<Key> {
    let config = Config { buffer_bound, mapping: Mapping::Hardware, ..Config::new(model) };
    let observer = || Keys(prog.threads.len(), BTreeSet::new());
    let (_, observers) = explore_with(&prog.litmus(), &config, None, observer);
    observers.into_iter().flat_map(|keys| keys.1).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Bound 0 is SC; each bound allows what a smaller one does; a bound of the number of stores is no bound.
    #[test]
    fn outcomes_grow_with_the_bound(prog in program(Shape { reads: 6, ..Shape::plain_atomics() })) {
        let sc = graphs(&prog, MemoryModel::Sc, None);
        for model in [MemoryModel::Tso, MemoryModel::Pso] {
            let mut smaller = sc.clone();
            prop_assert_eq!(&graphs(&prog, model, Some(0)), &sc);
            for bound in 1..=3 {
                let larger = graphs(&prog, model, Some(bound));
                prop_assert!(smaller.is_subset(&larger), "{} with bound {}", model, bound);
                smaller = larger;
            }
            prop_assert_eq!(graphs(&prog, model, Some(12)), graphs(&prog, model, None));
        }
    }
}

fn loc(index: usize) -> Loc {
    Loc::new(index)
}

/// Collects the values of some registers.
struct Registers<'a> {
    program: &'a Litmus,
    registers: &'a [(usize, Reg)],
    found: BTreeSet<Vec<u64>>,
    executions: usize,
}

impl Observer<Litmus> for Registers<'_> {
    fn full(&mut self, _: &Graph, state: &LitmusState, _: Ending) {
        let value = |&(thread, reg)| self.program.register(state, ThreadId::new(thread), reg);
        self.found.insert(self.registers.iter().map(value).collect());
        self.executions += 1;
    }
}

fn outcomes(
    program: &Litmus,
    registers: &[(usize, Reg)],
    model: MemoryModel,
    buffer_bound: Option<usize>,
) -> (usize, BTreeSet<Vec<u64>>) {
    let config = Config { buffer_bound, mapping: Mapping::Hardware, ..Config::new(model) };
    let observer = || Registers { program, registers, found: BTreeSet::new(), executions: 0 };
    let (_, mut observers) = explore_with(program, &config, None, observer);
    let all = observers.remove(0);
    (all.executions, all.found)
}

/// The paper's figure 1, store buffering: three executions under SC, and a fourth one under TSO that a single place in
/// the buffer is enough for.
#[test]
fn figure_1() {
    let mut regs = Vec::new();
    let mut thread = |i: usize| {
        let mut code = Code::new();
        code.store(loc(i), 1, Relaxed);
        regs.push((i, code.load(loc(1 - i), Relaxed)));
        code
    };
    let program = Litmus::new(vec![thread(0), thread(1)], vec![]);
    for (model, bound, executions) in [
        (MemoryModel::Sc, None, 3),
        (MemoryModel::Tso, None, 4),
        (MemoryModel::Tso, Some(0), 3),
        (MemoryModel::Tso, Some(1), 4),
        (MemoryModel::Pso, None, 4),
    ] {
        let (found, states) = outcomes(&program, &regs, model, bound);
        assert_eq!(found, executions, "{model} {bound:?}");
        assert_eq!(states.contains(&vec![0, 0]), executions == 4);
    }
}

/// The paper's figure 2, message passing with a branch: the error (flag seen, data not) is reachable under PSO only,
/// where the paper's reduced exploration has three runs. Two of the runs it counts under SC and TSO differ only in
/// whether the flag's early read comes before or after the write of the data: one execution here.
#[test]
fn figure_2() {
    let mut writer = Code::new();
    writer.store(loc(0), 1, Relaxed);
    writer.store(loc(1), 1, Relaxed);
    let mut reader = Code::new();
    let flag = reader.load(loc(1), Relaxed);
    let skip = reader.unless(flag);
    let data = reader.load(loc(0), Relaxed);
    reader.land(skip);
    let program = Litmus::new(vec![writer, reader], vec![]);
    let regs = [(1, flag), (1, data)];
    for (model, bound, executions) in [
        (MemoryModel::Sc, None, 2),
        (MemoryModel::Tso, None, 2),
        (MemoryModel::Pso, None, 3),
        (MemoryModel::Pso, Some(0), 2),
        (MemoryModel::Pso, Some(1), 3),
    ] {
        let (found, states) = outcomes(&program, &regs, model, bound);
        assert_eq!(found, executions, "{model} {bound:?}");
        assert_eq!(states.contains(&vec![1, 0]), executions == 3);
    }
}

/// The paper's figure 6: a read after four writes can overtake the last k of them with a buffer of k. With a bound of
/// one, two of the five permutations are left, with two, three, and so on.
///
/// Another thread writes what is read, and then looks which of the four writes it sees. Where the read missed its
/// write, the writes it does not see were overtaken.
#[test]
fn figure_6() {
    let flag = loc(4);
    let mut buffered = Code::new();
    (0..4).for_each(|i| buffered.store(loc(i), 1, Relaxed));
    let read = buffered.load(flag, Relaxed);
    let mut observer = Code::new();
    observer.store(flag, 1, Relaxed);
    observer.fence(SeqCst);
    let mut regs = vec![(0, read)];
    regs.extend((0..4).map(|i| (1, observer.load(loc(i), Relaxed))));
    let program = Litmus::new(vec![buffered, observer], vec![]);
    for (bound, permutations) in [(Some(0), 1), (Some(1), 2), (Some(2), 3), (Some(3), 4), (Some(4), 5), (None, 5)] {
        let (_, states) = outcomes(&program, &regs, MemoryModel::Tso, bound);
        let missed = states.iter().filter(|state| state[0] == 0);
        let overtaken = missed.map(|state| state[1..].iter().filter(|&&seen| seen == 0).count()).max();
        assert_eq!(overtaken.map(|n| n + 1), Some(permutations), "{bound:?}");
    }
}
