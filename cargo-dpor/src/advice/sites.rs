//! Where a program uses atomics and fences, and the same program with something else there.
//!
//! A site is a call of a method of atomics, or of `fence`, outside of the standard library. To change what it does, the calls there go to
//! a changed copy of the method: one that sets its parameter first, so that it does not matter where an ordering comes
//! from, or that has a fence, or that swaps where it stored.

use std::collections::HashMap;
use std::sync::Arc;

use dpor_engine::graph::MemOrder;
use dpor_engine::program::{AtomicWidth, FuncId, Function, Op, Ordering, Origin, Program, Reg, RmwOp};
use dpor_engine::verdict::Location;

use super::change::{AtomicCall, Change, ORDERINGS, Side, What, parameters};

/// A call in the program.
#[derive(Clone, Copy, Debug)]
struct Call {
    function: usize,
    pc: usize,
}

/// The sites of a program.
pub struct Sites {
    program: Arc<Program>,
    calls: HashMap<AtomicCall, Vec<Call>>,
}

impl Sites {
    pub fn of(program: &Arc<Program>) -> Sites {
        let mut calls: HashMap<AtomicCall, Vec<Call>> = HashMap::new();
        let methods: Vec<Option<&str>> = program.functions.iter().map(atomic_method).collect();
        for (function, caller) in program.functions.iter().enumerate().filter(|(_, caller)| caller.origin.is_shown()) {
            for (pc, op) in caller.code.iter().enumerate() {
                if let Op::Call { func, .. } = op
                    && let Some(method) = methods[func.0 as usize]
                {
                    let site =
                        AtomicCall { place: program.location(caller.code_places[pc]), method: method.to_owned() };
                    calls.entry(site).or_default().push(Call { function, pc });
                }
            }
        }
        Sites { program: Arc::clone(program), calls }
    }

    /// All sites, in the order of the source.
    pub fn all(&self) -> Vec<AtomicCall> {
        let mut sites: Vec<AtomicCall> = self.calls.keys().cloned().collect();
        sites.sort();
        sites
    }

    /// The sites at a place.
    pub fn at(&self, place: &Location) -> Vec<AtomicCall> {
        let mut sites: Vec<AtomicCall> = self.calls.keys().filter(|site| site.place == *place).cloned().collect();
        sites.sort();
        sites
    }

    /// Whether all calls of a site are in a function, or in what is defined in it.
    pub fn is_within(&self, site: &AtomicCall, function: &str) -> bool {
        self.calls_at(site).all(|call| {
            let rest = self.program.functions[call.function].name.strip_prefix(function);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        })
    }

    /// An ordering that the source has there, if it is the same for all calls and a constant.
    pub fn ordering(&self, site: &AtomicCall, which: usize) -> Option<MemOrder> {
        let index = site.parameter(which).index;
        let mut orders = self.calls_at(site).map(|call| self.constant(call, index));
        let first = orders.next()??;
        orders.all(|other| other == Some(first)).then_some(first)
    }

    fn calls_at(&self, site: &AtomicCall) -> impl Iterator<Item = &Call> {
        self.calls.get(site).into_iter().flatten()
    }

    /// The constant that a call has as an ordering.
    fn constant(&self, call: &Call, index: usize) -> Option<MemOrder> {
        let caller = &self.program.functions[call.function];
        let Op::Call { args, .. } = caller.code[call.pc] else { return None };
        let mut register = Reg(*caller.list(args).get(index)?);
        for op in caller.code[..call.pc].iter().rev() {
            match *op {
                Op::Imm { dst, value } if dst == register => return ORDERINGS.get(value as usize).copied(),
                Op::Mov { dst, src } if dst == register => register = src,
                Op::Imm { .. } | Op::Mov { .. } | Op::StorageLive { .. } | Op::StorageDead { .. } => {}
                Op::SlotAddr { dst, .. } | Op::BinImm { dst, .. } | Op::LoadSlot { dst, .. } if dst != register => {}
                // Whatever else there is, the ordering may come from it.
                _ => return None,
            }
        }
        None
    }

    /// The program with these changes.
    pub fn with(&self, changes: &[Change]) -> Arc<Program> {
        let mut program = (*self.program).clone();
        for Change { site, what, .. } in changes {
            self.patch(&mut program, site, &|program, callee| changed(program, callee, site, *what));
        }
        Arc::new(program)
    }

    /// Whether the stores of a site can be swaps.
    pub fn can_swap(&self, site: &AtomicCall) -> bool {
        let callee = |call: &Call| match self.program.functions[call.function].code[call.pc] {
            Op::Call { func, .. } => self.program.function(func),
            _ => unreachable!("a site is a call"),
        };
        self.calls_at(site).all(|call| {
            let store = callee(call);
            store.params == 3 && stored_width(&self.program, store).is_some_and(|width| width != AtomicWidth::W128)
        })
    }

    /// The program in which all of these calls are unsupported.
    pub fn with_traps(&self, sites: &[AtomicCall]) -> Arc<Program> {
        let mut program = (*self.program).clone();
        let message = program.messages.len() as u32;
        program.messages.push("a trap".to_owned());
        for site in sites {
            self.patch(&mut program, site, &|program, callee| {
                let mut trap = program.function(callee).clone();
                trap.code[0] = Op::Unsupported { message };
                trap
            });
        }
        Arc::new(program)
    }

    /// Has the calls of a site go to a changed copy of what they call now.
    fn patch(&self, program: &mut Program, site: &AtomicCall, change: &dyn Fn(&mut Program, FuncId) -> Function) {
        let mut copies: HashMap<FuncId, FuncId> = HashMap::new();
        for call in self.calls_at(site) {
            let Op::Call { func, .. } = program.functions[call.function].code[call.pc] else { continue };
            let copy = *copies.entry(func).or_insert_with(|| {
                let copy = change(program, func);
                add(program, copy)
            });
            if let Op::Call { func, .. } = &mut program.functions[call.function].code[call.pc] {
                *func = copy;
            }
        }
    }
}

fn add(program: &mut Program, function: Function) -> FuncId {
    program.functions.push(function);
    FuncId(program.functions.len() as u32 - 1)
}

/// The method of atomics that a function is, if it is one that has orderings.
fn atomic_method(function: &Function) -> Option<&str> {
    let is_atomic = function.name.contains("sync::atomic::Atomic::<") || function.name == "std::sync::atomic::fence";
    let method = function.name.rsplit("::").next()?;
    let method = if method.starts_with('<') { function.name.rsplit("::").nth(1)? } else { method };
    (function.origin == Origin::Std && is_atomic && !parameters(method).is_empty()).then_some(method)
}

/// A copy of a method with a change.
fn changed(program: &mut Program, method: FuncId, site: &AtomicCall, what: What) -> Function {
    match what {
        What::Ordering { which, to, .. } => {
            let method = program.function(method);
            let parameter = Reg(u16::from(method.results) + site.parameter(which).index as u16);
            with_first(method, Op::Imm { dst: parameter, value: number(to) })
        }
        What::Fence { side, ordering } => {
            let (method, fence) = (program.function(method), Op::Fence { ordering: lowered(ordering) });
            match side {
                Side::Before => with_first(method, fence),
                Side::After => with_last(method, fence),
            }
        }
        What::Swap { to, .. } => swapping(program, method, lowered(to)),
        What::Strong => strong(program, method),
    }
}

/// A copy of a method that does something first.
fn with_first(method: &Function, op: Op) -> Function {
    let mut copy = method.clone();
    let end = copy.code.len() as u32;
    let first = std::mem::replace(&mut copy.code[0], Op::Jump { to: end });
    append(&mut copy, &[op, first, Op::Jump { to: 1 }]);
    copy
}

/// A copy of a method that does something before it returns.
fn with_last(method: &Function, op: Op) -> Function {
    let mut copy = method.clone();
    let end = copy.code.len() as u32;
    for returning in copy.code.iter_mut().filter(|op| matches!(op, Op::Return)) {
        *returning = Op::Jump { to: end };
    }
    append(&mut copy, &[op, Op::Return]);
    copy
}

fn append(function: &mut Function, ops: &[Op]) {
    let place = function.code_places[0];
    function.code.extend_from_slice(ops);
    function.code_places.extend(ops.iter().map(|_| place));
}

/// A function with the parameters of a `store` that swaps.
fn swapping(program: &Program, store: FuncId, ordering: Ordering) -> Function {
    let store = program.function(store);
    let width = stored_width(program, store).expect("it was asked whether it can be a swap");
    let mut copy = store.clone();
    let (pointer, old) = (u16::from(copy.results), copy.registers);
    let (ptr, src, dst) = (Reg(pointer), Reg(pointer + 1), Reg(old));
    copy.registers += 1;
    copy.code = vec![Op::AtomicRmw { op: RmwOp::Xchg, width, ordering, dst, ptr, src }, Op::Return];
    copy.code_places = vec![store.code_places[0]; 2];
    copy
}

/// How much a `store` stores: it, or what it calls, has the instruction.
fn stored_width(program: &Program, store: &Function) -> Option<AtomicWidth> {
    let own = |function: &Function| {
        function.code.iter().find_map(|op| match op {
            Op::AtomicStore { width, .. } => Some(*width),
            _ => None,
        })
    };
    own(store).or_else(|| callees(store).find_map(|callee| own(program.function(callee))))
}

fn callees(function: &Function) -> impl Iterator<Item = FuncId> {
    function.code.iter().filter_map(|op| match op {
        Op::Call { func, .. } => Some(*func),
        _ => None,
    })
}

/// A copy of a `compare_exchange_weak`, and of what it calls, that does not fail spuriously.
fn strong(program: &mut Program, weak: FuncId) -> Function {
    let mut copy = program.function(weak).clone();
    let does = |function: &Function| function.code.iter().any(|op| matches!(op, Op::AtomicCas { weak: true, .. }));
    for op in &mut copy.code {
        match op {
            Op::AtomicCas { weak, .. } => *weak = false,
            Op::Call { func, .. } if does(program.function(*func)) => {
                let inner = strong(program, *func);
                *func = add(program, inner);
            }
            _ => {}
        }
    }
    copy
}

fn lowered(order: MemOrder) -> Ordering {
    match order {
        MemOrder::NotAtomic | MemOrder::Relaxed => Ordering::Relaxed,
        MemOrder::Release => Ordering::Release,
        MemOrder::Acquire => Ordering::Acquire,
        MemOrder::AcqRel => Ordering::AcqRel,
        MemOrder::SeqCst => Ordering::SeqCst,
    }
}

fn number(order: MemOrder) -> u64 {
    ORDERINGS.iter().position(|other| *other == order).unwrap_or(0) as u64
}
