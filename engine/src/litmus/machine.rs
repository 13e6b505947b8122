//! Runs litmus programs.

use super::code::{Code, Instr, Operand, Place, Reg};
use crate::explore::{Answer, Ending, Program};
use crate::graph::{Action, EventId, Graph, Loc, ThreadId, Value, Width};

/// A litmus program: the code of its threads and the initial values of its locations.
#[derive(Clone, Debug)]
pub struct Litmus {
    codes: Vec<Code>,
    started: usize,
    init: Vec<Value>,
    registers: usize,
    /// The locations whose last values are of interest.
    watched: Vec<Loc>,
}

/// What can be wrong with an execution of a litmus program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum LitmusError {
    /// An assertion does not hold.
    #[error("{thread} violates the assertion at instruction {instruction}")]
    Assertion { thread: ThreadId, instruction: u32 },
}

/// The state of a litmus program.
#[derive(Debug, Default)]
pub struct LitmusState {
    /// For each thread, which code it runs and its next instruction: the one that asked for the pending action.
    threads: Vec<(u32, u32)>,
    /// The registers of all threads.
    registers: Vec<Value>,
    /// Where threads are in loops, as long as they have had no effect there.
    visits: Vec<Visit>,
}

/// A thread was at the beginning of a loop, and has had no effect since.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Visit {
    thread: ThreadId,
    head: u32,
    /// The registers that matter.
    live: Vec<Value>,
    /// How many actions it has taken since.
    events: u32,
}

impl Clone for LitmusState {
    fn clone(&self) -> LitmusState {
        LitmusState { threads: self.threads.clone(), registers: self.registers.clone(), visits: self.visits.clone() }
    }

    fn clone_from(&mut self, other: &LitmusState) {
        self.threads.clone_from(&other.threads);
        self.registers.clone_from(&other.registers);
        self.visits.clone_from(&other.visits);
    }
}

impl Litmus {
    /// A program that begins with a thread for each code, and locations of these initial values.
    pub fn new(codes: Vec<Code>, init: Vec<Value>) -> Litmus {
        let started = codes.len();
        Litmus::with_spawned(codes, started, init)
    }

    /// A program that begins with threads for the first `started` codes; the others are there to be spawned.
    pub fn with_spawned(mut codes: Vec<Code>, started: usize, init: Vec<Value>) -> Litmus {
        for code in &mut codes {
            code.push(Instr::End);
        }
        let registers = codes.iter().map(|c| usize::from(c.registers)).max().unwrap_or(0);
        Litmus { started: started.min(codes.len()), codes, init, registers, watched: Vec::new() }
    }

    /// The same program, the last values of these locations being of interest.
    pub fn watching(self, watched: Vec<Loc>) -> Litmus {
        Litmus { watched, ..self }
    }

    /// The final value of a register.
    pub fn register(&self, state: &LitmusState, thread: ThreadId, reg: Reg) -> Value {
        let base = thread.index() * self.registers;
        state.registers.get(base + usize::from(reg.0)).copied().unwrap_or(0)
    }

    fn run(&self, state: &mut LitmusState, thread: ThreadId) -> Action {
        let base = thread.index() * self.registers;
        let (code, mut next) = state.threads[thread.index()];
        let code = &self.codes[code as usize];
        let action = loop {
            let registers = &mut state.registers[base..base + self.registers];
            match step(&code.instrs[next as usize], registers) {
                Next::Go => next += 1,
                Next::Jump(to) => next = to,
                Next::Act(action) => break action,
                Next::Loop(live) => {
                    let live = code.live[live as usize].iter().map(|reg| registers[usize::from(reg.0)]).collect();
                    if let Some(events) = state.visit(thread, next, live) {
                        break Action::Spin { events };
                    }
                    next += 1;
                }
            }
        };
        state.threads[thread.index()].1 = next;
        action
    }
}

impl LitmusState {
    /// A thread is at the beginning of a loop: says how many actions it has taken since it was there in the same state, if
    /// it was.
    fn visit(&mut self, thread: ThreadId, head: u32, live: Vec<Value>) -> Option<u32> {
        let known = self.visits.iter_mut().find(|visit| visit.thread == thread && visit.head == head);
        match known {
            Some(visit) if visit.live == live => return Some(visit.events),
            Some(visit) => *visit = Visit { thread, head, live, events: 0 },
            None => self.visits.push(Visit { thread, head, live, events: 0 }),
        }
        None
    }

    /// A thread has taken an action.
    fn acted(&mut self, thread: ThreadId, has_effect: bool) {
        if has_effect {
            self.visits.retain(|visit| visit.thread != thread);
        }
        for visit in self.visits.iter_mut().filter(|visit| visit.thread == thread) {
            visit.events += 1;
        }
    }
}

enum Next {
    Go,
    Jump(u32),
    /// A loop begins.
    Loop(u32),
    Act(Action),
}

fn value(registers: &[Value], operand: Operand) -> Value {
    match operand {
        Operand::Const(value) => value,
        Operand::Reg(reg) => registers[usize::from(reg.0)],
    }
}

fn location(registers: &[Value], place: Place) -> Loc {
    match place.index {
        Operand::Const(0) => place.base,
        index => Loc::new(place.base.index() + value(registers, index) as usize),
    }
}

/// Runs an instruction, or says what it asks for.
fn step(instr: &Instr, registers: &mut [Value]) -> Next {
    match *instr {
        Instr::Let { reg, value: v } => {
            registers[usize::from(reg.0)] = value(registers, v);
            Next::Go
        }
        Instr::Bin { reg, op, a, b } => {
            registers[usize::from(reg.0)] = op.apply(value(registers, a), value(registers, b));
            Next::Go
        }
        Instr::Head { live } => Next::Loop(live),
        Instr::Jump { to } => Next::Jump(to),
        Instr::Unless { condition, to } => match value(registers, condition) {
            0 => Next::Jump(to),
            _ => Next::Go,
        },
        Instr::Assume { condition } => match value(registers, condition) {
            0 => Next::Act(Action::Block),
            _ => Next::Go,
        },
        Instr::Assert { condition } => match value(registers, condition) {
            0 => Next::Act(Action::Fail),
            _ => Next::Go,
        },
        _ => Next::Act(action(instr, registers)),
    }
}

/// Whether an action changed anything that others can see, or chose something.
fn has_effect(action: &Action, answer: &Answer<'_>) -> bool {
    match action {
        Action::Load { .. } | Action::Fence { .. } => false,
        Action::Rmw { .. } | Action::Cas { .. } => answer.wrote && action.update(answer.value, 0) != Some(answer.value),
        _ => true,
    }
}

/// The action that an instruction asks for.
fn action(instr: &Instr, registers: &[Value]) -> Action {
    let value = |operand| value(registers, operand);
    let loc = |place| location(registers, place);
    match *instr {
        Instr::Load { place, order, .. } => Action::Load { loc: loc(place), order },
        Instr::Store { place, value: v, order } => Action::Store { loc: loc(place), order, value: value(v) },
        Instr::Rmw { place, op, operand, order, .. } => {
            Action::Rmw { loc: loc(place), order, op, width: Width::W64, operand: value(operand) }
        }
        Instr::Cas { place, expected, new, order, failure, weak, .. } => {
            let (expected, new) = (value(expected), value(new));
            Action::Cas { loc: loc(place), order, failure, expected, new, spurious: weak }
        }
        Instr::Try { place, order, failure, test, then, .. } => {
            Action::Try { loc: loc(place), order, failure, test, then }
        }
        Instr::Await { place, order, test, then, .. } => Action::Await { loc: loc(place), order, test, then },
        Instr::Reach { place, order, test, .. } => Action::Reach { loc: loc(place), order, test, keepers: None },
        Instr::Pick { place, order, .. } => Action::Pick { loc: loc(place), order },
        Instr::Fence { order } => Action::Fence { order },
        Instr::Spawn { .. } => Action::Spawn,
        Instr::Join { thread } => Action::Join(ThreadId::new(value(thread) as usize)),
        Instr::Choose { n, .. } => Action::Choose(n),
        _ => Action::End,
    }
}

impl Program for Litmus {
    type State = LitmusState;
    type Error = LitmusError;

    fn threads(&self) -> usize {
        self.started
    }

    fn initial(&self) -> LitmusState {
        let threads = (0..self.started as u32).map(|code| (code, 0)).collect();
        LitmusState { threads, registers: vec![0; self.started * self.registers], visits: Vec::new() }
    }

    fn start(&self, state: &mut LitmusState, thread: ThreadId, _: EventId, _: &Graph) -> Action {
        self.run(state, thread)
    }

    fn resume(&self, state: &mut LitmusState, thread: ThreadId, answer: Answer<'_>) -> Action {
        let base = thread.index() * self.registers;
        let (code, next) = state.threads[thread.index()];
        let instr = &self.codes[code as usize].instrs[next as usize];
        if !state.visits.is_empty() {
            state.acted(thread, has_effect(&action(instr, &state.registers[base..]), &answer));
        }
        match *instr {
            Instr::Load { reg, .. }
            | Instr::Rmw { reg, .. }
            | Instr::Try { reg, .. }
            | Instr::Reach { reg, .. }
            | Instr::Pick { reg, .. }
            | Instr::Choose { reg, .. } => {
                state.registers[base + usize::from(reg.0)] = answer.value;
            }
            Instr::Await { reg, test, .. } => {
                if !test.passes(answer.value) {
                    return Action::Block;
                }
                state.registers[base + usize::from(reg.0)] = answer.value;
            }
            Instr::Cas { reg, ok, .. } => {
                let registers = &mut state.registers[base..];
                registers[usize::from(ok.0)] = Value::from(answer.wrote);
                registers[usize::from(reg.0)] = answer.value;
            }
            Instr::Spawn { reg, code } => {
                state.registers[base + usize::from(reg.0)] = answer.value;
                let child = answer.value as usize;
                if state.threads.len() <= child {
                    state.threads.resize(child + 1, (0, 0));
                    state.registers.resize((child + 1) * self.registers, 0);
                }
                state.threads[child] = (code, 0);
                state.registers[child * self.registers..][..self.registers].fill(0);
            }
            _ => {}
        }
        state.threads[thread.index()].1 = next + 1;
        self.run(state, thread)
    }

    fn like(&self, state: &LitmusState, graph: &Graph, thread: ThreadId) -> Option<ThreadId> {
        let code = |thread: ThreadId| &self.codes[state.threads[thread.index()].0 as usize];
        graph.elder_siblings(thread).find(|&other| code(other) == code(thread))
    }

    fn may_spin(&self, state: &LitmusState, thread: ThreadId) -> bool {
        state.visits.iter().any(|visit| visit.thread == thread)
    }

    fn is_alike(&self, a: &LitmusState, b: &LitmusState, thread: ThreadId) -> bool {
        // Registers matter as far as they did where the latest loop began, as long as the thread has not acted since.
        let latest = |state: &LitmusState| state.visits.iter().rev().find(|visit| visit.thread == thread).cloned();
        match (latest(a), latest(b)) {
            (Some(a), Some(b)) => a.head == b.head && a.live == b.live && a.events == 0 && b.events == 0,
            _ => false,
        }
    }

    fn is_at_same_place(&self, a: &LitmusState, b: &LitmusState, thread: ThreadId) -> bool {
        a.threads[thread.index()] == b.threads[thread.index()]
    }

    fn is_same(&self, a: &LitmusState, b: &LitmusState, _: ThreadId) -> bool {
        (&a.threads, &a.registers, &a.visits) == (&b.threads, &b.registers, &b.visits)
    }

    fn initial_value(&self, _: &LitmusState, loc: Loc) -> Value {
        self.init.get(loc.index()).copied().unwrap_or(0)
    }

    fn watched(&self, _: &LitmusState, _: &Graph, _: Ending) -> Vec<Loc> {
        self.watched.clone()
    }

    fn error(&self, state: &LitmusState, _: &Graph, thread: ThreadId) -> LitmusError {
        LitmusError::Assertion { thread, instruction: state.threads[thread.index()].1 }
    }

    fn state_bytes(&self, state: &LitmusState) -> usize {
        size_of::<LitmusState>() + state.threads.capacity() * 8 + state.registers.capacity() * 8
    }
}
