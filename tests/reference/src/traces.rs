//! What a thread can do by itself, whatever values its reads return.

use crate::program::{Order, Prog, Stmt, Val};
use dpor_engine::graph::{Test, Then};
use std::collections::{BTreeMap, BTreeSet};

/// A visible step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Read { loc: u8, value: u64, order: Order, rmw: bool },
    Write { loc: u8, value: u64, order: Order },
    Update { loc: u8, read: u64, written: u64, order: Order, answer: u64 },
    Fence { order: Order },
    Choose { value: u64 },
    Spawn { thread: u8 },
    Join { thread: u8 },
}

/// How a thread ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Finished,
    Assumption,
    /// Waits until a location has a value that passes a test.
    Await {
        loc: u8,
        test: Test,
    },
    /// Waits in a loop; its last step was an iteration that makes it wait.
    Spin,
    /// Waits for a thread.
    Join {
        thread: u8,
    },
    /// Was never spawned.
    Absent,
}

#[derive(Clone, Debug)]
pub struct Trace {
    pub steps: Vec<Step>,
    pub end: End,
}

/// The values that may be found at each location.
type Domain = BTreeMap<u8, BTreeSet<u64>>;

/// All traces of all threads; values come from the domain, which is closed under what the traces write.
pub fn all_traces(prog: &Prog, limit: usize) -> Option<Vec<Vec<Trace>>> {
    let mut domain: Domain = (0..16).map(|loc| (loc, BTreeSet::from([0]))).collect();
    for _ in 0..=14 {
        let traces: Vec<Vec<Trace>> = prog.threads.iter().map(|t| traces_of(t, &domain)).collect();
        let combinations = traces.iter().try_fold(1usize, |n, t| n.checked_mul(t.len()));
        if combinations.is_none_or(|n| n > limit) {
            return None;
        }
        let mut grown = domain.clone();
        for step in traces.iter().flatten().flat_map(|t| &t.steps) {
            if let Step::Write { loc, value, .. } | Step::Update { loc, written: value, .. } = *step {
                grown.entry(loc).or_default().insert(value);
            }
        }
        if grown == domain {
            return Some(with_absent(prog, traces));
        }
        domain = grown;
    }
    Some(with_absent(prog, prog.threads.iter().map(|t| traces_of(t, &domain)).collect()))
}

fn with_absent(prog: &Prog, mut traces: Vec<Vec<Trace>>) -> Vec<Vec<Trace>> {
    if prog.spawned {
        for thread in &mut traces[1..] {
            thread.push(Trace { steps: Vec::new(), end: End::Absent });
        }
    }
    traces
}

fn traces_of(thread: &[Stmt], domain: &Domain) -> Vec<Trace> {
    let mut runs = Runs { domain, done: Vec::new() };
    let todo: Vec<&Stmt> = thread.iter().rev().collect();
    runs.run(todo, BTreeMap::new(), Vec::new());
    runs.done
}

struct Runs<'a> {
    domain: &'a Domain,
    done: Vec<Trace>,
}

type Registers = BTreeMap<u8, u64>;

impl<'a> Runs<'a> {
    /// Runs the statements, of which the last comes first.
    fn run(&mut self, mut todo: Vec<&'a Stmt>, mut regs: Registers, mut steps: Vec<Step>) {
        while let Some(stmt) = todo.pop() {
            let get = |reg: u8| regs.get(&reg).copied().unwrap_or(0);
            let val = |v: Val| match v {
                Val::Const(value) => value,
                Val::Plus(reg, k) => get(reg).wrapping_add(k),
            };
            match *stmt {
                Stmt::Store { loc, val: v, order } => steps.push(Step::Write { loc, value: val(v), order }),
                Stmt::Unlock { loc } => steps.push(Step::Write { loc, value: 0, order: Order::Release }),
                Stmt::Fence { order } => steps.push(Step::Fence { order }),
                Stmt::Spawn { thread } => steps.push(Step::Spawn { thread }),
                Stmt::If { reg, equals, ref then, ref otherwise } => {
                    let branch = if get(reg) == equals { then } else { otherwise };
                    todo.extend(branch.iter().rev());
                }
                Stmt::Assume { reg, equals } => {
                    if get(reg) != equals {
                        self.done.push(Trace { steps, end: End::Assumption });
                        return;
                    }
                }
                Stmt::Choose { reg, n } => {
                    for value in 1..u64::from(n) {
                        self.branch(&todo, &regs, &steps, Some((reg, value)), Step::Choose { value });
                    }
                    regs.insert(reg, 0);
                    steps.push(Step::Choose { value: 0 });
                }
                Stmt::Join { thread } => {
                    self.done.push(Trace { steps: steps.clone(), end: End::Join { thread } });
                    steps.push(Step::Join { thread });
                }
                Stmt::Lock { loc } => {
                    self.done.push(Trace { steps: steps.clone(), end: End::Await { loc, test: Test::Is(0) } });
                    steps.push(Step::Update { loc, read: 0, written: 1, order: Order::Acquire, answer: 0 });
                }
                Stmt::Until { .. }
                | Stmt::Both { .. }
                | Stmt::SpinLock { .. }
                | Stmt::SetLock { .. }
                | Stmt::Await { .. }
                | Stmt::Retry { .. }
                | Stmt::Confirm { .. } => return self.looping(stmt, &todo, &regs, &steps),
                _ => return self.reading(stmt, &todo, &regs, &steps),
            }
        }
        self.done.push(Trace { steps, end: End::Finished });
    }

    /// Runs on for every value that the statement may read.
    fn reading(&mut self, stmt: &Stmt, todo: &[&'a Stmt], regs: &Registers, steps: &[Step]) {
        let (reg, loc) = match *stmt {
            Stmt::Count { loc, test, .. } => (test.map_or(u8::MAX, |(reg, _)| reg), loc),
            Stmt::Load { reg, loc, .. }
            | Stmt::Add { reg, loc, .. }
            | Stmt::Xchg { reg, loc, .. }
            | Stmt::Cas { reg, loc, .. }
            | Stmt::Try { reg, loc, .. }
            | Stmt::Pick { reg, loc, .. }
            | Stmt::TryLock { reg, loc } => (reg, loc),
            _ => return,
        };
        let plus = |v: Val| match v {
            Val::Const(value) => value,
            Val::Plus(reg, k) => regs.get(&reg).copied().unwrap_or(0).wrapping_add(k),
        };
        for &value in &self.domain[&loc] {
            let update = |written, order| Step::Update { loc, read: value, written, order, answer: value };
            let step = match *stmt {
                Stmt::Load { order, .. } => Step::Read { loc, value, order, rmw: false },
                Stmt::Add { k, order, .. } => update(value.wrapping_add(k), order),
                Stmt::Count { k, order, test, .. } => {
                    let kept = test.map(|(reg, equals)| (reg, u64::from(value == equals)));
                    self.branch(todo, regs, steps, kept, update(value.wrapping_add(k), order));
                    continue;
                }
                Stmt::Xchg { val, order, .. } => update(plus(val), order),
                Stmt::Cas { expected, new, order, failure, weak, .. } if value == expected => {
                    if weak {
                        let step = Step::Read { loc, value, order: failure, rmw: true };
                        self.branch(todo, regs, steps, Some((reg, value)), step);
                    }
                    update(new, order)
                }
                Stmt::Try { test, then, order, failure, .. } => match then_writes(test, then, value) {
                    Some(written) => update(written, order),
                    None if then == Then::Read => Step::Read { loc, value, order, rmw: true },
                    // It looks first.
                    None => Step::Read { loc, value, order: failure, rmw: failure == Order::SeqCst },
                },
                Stmt::Pick { order, .. } => {
                    let bits: Vec<u64> = (0..64).map(|n| 1 << n).filter(|bit| value & bit != 0).collect();
                    for bit in if bits.is_empty() { vec![0] } else { bits } {
                        let step = Step::Update { loc, read: value, written: value & !bit, order, answer: bit };
                        self.branch(todo, regs, steps, Some((reg, bit)), step);
                    }
                    continue;
                }
                Stmt::Cas { failure, .. } => Step::Read { loc, value, order: failure, rmw: true },
                Stmt::TryLock { .. } if value == 0 => update(1, Order::Acquire),
                _ => Step::Read { loc, value, order: Order::Relaxed, rmw: true },
            };
            self.branch(todo, regs, steps, Some((reg, value)), step);
        }
    }

    /// Waits until a value passes the test.
    fn waiting(&mut self, stmt: &Stmt, todo: &[&'a Stmt], regs: &Registers, steps: &[Step]) {
        let Stmt::Await { reg, loc, test, then, order } = *stmt else { return };
        if then != Then::Read {
            self.done.push(Trace { steps: steps.to_vec(), end: End::Await { loc, test } });
        }
        let domain = self.domain;
        for &value in &domain[&loc] {
            // What is only replaced where it must be is looked at first.
            let rmw = !matches!(then, Then::Replace { .. });
            let read = Step::Read { loc, value, order, rmw };
            match (test.passes(value), then_writes(test, then, value)) {
                (true, Some(written)) => {
                    let step = Step::Update { loc, read: value, written, order, answer: value };
                    self.branch(todo, regs, steps, Some((reg, value)), step);
                }
                (true, None) => self.branch(todo, regs, steps, Some((reg, value)), read),
                (false, _) if then == Then::Read => self.spin(steps, &[read]),
                (false, _) => {}
            }
        }
    }

    /// The last iteration of a loop: earlier ones are as good as none.
    fn looping(&mut self, stmt: &Stmt, todo: &[&'a Stmt], regs: &Registers, steps: &[Step]) {
        let read = |loc, value, order, rmw| Step::Read { loc, value, order, rmw };
        let domain = self.domain;
        match *stmt {
            Stmt::Await { .. } => self.waiting(stmt, todo, regs, steps),
            Stmt::Until { reg, loc, equals, order } => {
                for &value in &domain[&loc] {
                    let step = read(loc, value, order, false);
                    if value == equals {
                        self.branch(todo, regs, steps, Some((reg, value)), step);
                    } else {
                        self.spin(steps, &[step]);
                    }
                }
            }
            Stmt::Both { a, b, order } => {
                let first = read(a, 1, order, false);
                let mut on = steps.to_vec();
                on.push(first);
                self.branch(todo, regs, &on, None, read(b, 1, order, false));
                domain[&a].iter().filter(|&&v| v != 1).for_each(|&v| self.spin(steps, &[read(a, v, order, false)]));
                for &value in domain[&b].iter().filter(|&&v| v != 1) {
                    self.spin(steps, &[first, read(b, value, order, false)]);
                }
            }
            Stmt::SpinLock { loc } | Stmt::SetLock { loc } => {
                for &value in &domain[&loc] {
                    let update = Step::Update { loc, read: value, written: 1, order: Order::Acquire, answer: value };
                    match (value, stmt) {
                        (0, _) => self.branch(todo, regs, steps, None, update),
                        (_, Stmt::SetLock { .. }) => self.spin(steps, &[update]),
                        _ => self.spin(steps, &[read(loc, value, Order::Relaxed, true)]),
                    }
                }
            }
            Stmt::Confirm { reg, loc, order } | Stmt::Retry { reg, loc, order } => {
                let failure = if matches!(order, Order::Acquire | Order::SeqCst) { order } else { Order::Relaxed };
                for &value in &domain[&loc] {
                    let mut on = steps.to_vec();
                    on.push(read(loc, value, failure, false));
                    let written = value.wrapping_add(1);
                    let update = Step::Update { loc, read: value, written, order, answer: value };
                    if written <= 12 {
                        self.branch(todo, regs, &on, Some((reg, value)), update);
                    }
                }
            }
            _ => {}
        }
    }

    /// The thread waits for ever after these steps.
    fn spin(&mut self, steps: &[Step], more: &[Step]) {
        self.done.push(Trace { steps: steps.iter().chain(more).copied().collect(), end: End::Spin });
    }

    fn branch(&mut self, todo: &[&'a Stmt], regs: &Registers, steps: &[Step], set: Option<(u8, u64)>, step: Step) {
        let mut regs = regs.clone();
        regs.extend(set);
        let mut steps = steps.to_vec();
        steps.push(step);
        self.run(todo.to_vec(), regs, steps);
    }
}

/// What is written where a value is read that passes the test.
fn then_writes(test: Test, then: Then, value: u64) -> Option<u64> {
    match then {
        _ if !test.passes(value) => None,
        Then::Read => None,
        Then::Set(new) => Some(new),
        Then::Add(more) => Some(value.wrapping_add(more)),
        Then::Replace { test, new } => test.passes(value).then_some(new),
    }
}
