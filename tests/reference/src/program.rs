//! Random programs, and their translation to what the engine runs.

use dpor_engine::graph::{Loc, MemOrder, RmwOp, Test, Then};
use dpor_engine::litmus::{BinOp, Code, Litmus, Operand, Reg};
use std::collections::BTreeMap;

pub type Order = MemOrder;

/// A value written: a constant, or a register plus a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Val {
    Const(u64),
    Plus(u8, u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    Load {
        reg: u8,
        loc: u8,
        order: Order,
    },
    Store {
        loc: u8,
        val: Val,
        order: Order,
    },
    Add {
        reg: u8,
        loc: u8,
        k: u64,
        order: Order,
    },
    /// Adds, and keeps of the value that was there only whether it was this one, or nothing.
    Count {
        loc: u8,
        k: u64,
        order: Order,
        test: Option<(u8, u64)>,
    },
    Xchg {
        reg: u8,
        loc: u8,
        val: Val,
        order: Order,
    },
    Cas {
        reg: u8,
        loc: u8,
        expected: u64,
        new: u64,
        order: Order,
        failure: Order,
        /// Whether it may fail though it reads what it expects.
        weak: bool,
    },
    Fence {
        order: Order,
    },
    If {
        reg: u8,
        equals: u64,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    Choose {
        reg: u8,
        n: u32,
    },
    Assume {
        reg: u8,
        equals: u64,
    },
    /// Locks: locations from [`FIRST_LOCK`] on, which nothing else accesses.
    Lock {
        loc: u8,
    },
    Unlock {
        loc: u8,
    },
    TryLock {
        reg: u8,
        loc: u8,
    },
    /// Does what it does if the test passes, else is a load with ordering `failure`.
    Try {
        reg: u8,
        loc: u8,
        test: Test,
        then: Then,
        order: Order,
        failure: Order,
    },
    /// Waits until the test passes.
    Await {
        reg: u8,
        loc: u8,
        test: Test,
        then: Then,
        order: Order,
    },
    /// Clears one of the bits that are set.
    Pick {
        reg: u8,
        loc: u8,
        order: Order,
    },
    /// `while loc.load(order) != equals {}`
    Until {
        reg: u8,
        loc: u8,
        equals: u64,
        order: Order,
    },
    /// `while a.load(order) != 1 || b.load(order) != 1 {}`
    Both {
        a: u8,
        b: u8,
        order: Order,
    },
    /// `while loc.compare_exchange(0, 1, Acquire, Relaxed).is_err() {}`, of locations that nothing else accesses.
    SpinLock {
        loc: u8,
    },
    /// `while loc.swap(1, Acquire) != 0 {}`
    SetLock {
        loc: u8,
    },
    /// `loop { reg = loc.load(order); if loc.compare_exchange(reg, reg + 1, order, Relaxed) { break } }`
    Confirm {
        reg: u8,
        loc: u8,
        order: Order,
    },
    /// `reg = loc.load(order); while let Err(now) = loc.compare_exchange(reg, reg + 1, order, order) { reg = now }`
    Retry {
        reg: u8,
        loc: u8,
        order: Order,
    },
    /// Starts or awaits the thread of this number (thread 0 only).
    Spawn {
        thread: u8,
    },
    Join {
        thread: u8,
    },
}

pub const FIRST_LOCK: u8 = 8;
/// Where the locations of spin locks begin.
pub const FIRST_SPIN_LOCK: u8 = 10;

#[derive(Clone, Debug)]
pub struct Prog {
    pub threads: Vec<Vec<Stmt>>,
    /// Whether the threads but the first are spawned, or all there at the start.
    pub spawned: bool,
}

impl Prog {
    /// The classes of threads that have the same code, whatever their registers are called; not the first, if it spawns
    /// the others.
    pub fn classes(&self) -> Vec<Vec<usize>> {
        let codes = self.codes();
        let mut classes: Vec<Vec<usize>> = Vec::new();
        for thread in usize::from(self.spawned)..codes.len() {
            match classes.iter_mut().find(|class| codes[class[0]] == codes[thread]) {
                Some(class) => class.push(thread),
                None => classes.push(vec![thread]),
            }
        }
        classes
    }

    /// The program as the engine runs it. All locations are 0 at first.
    pub fn litmus(&self) -> Litmus {
        let started = if self.spawned { 1 } else { self.threads.len() };
        Litmus::with_spawned(self.codes(), started, vec![0; 16])
    }

    fn codes(&self) -> Vec<Code> {
        self.threads.iter().map(|thread| Translator::translate(thread)).collect()
    }
}

#[derive(Default)]
struct Translator {
    code: Code,
    registers: BTreeMap<u8, Reg>,
    handles: BTreeMap<u8, Reg>,
}

impl Translator {
    fn translate(thread: &[Stmt]) -> Code {
        let mut translator = Translator::default();
        translator.stmts(thread);
        translator.code
    }

    fn reg(&mut self, reg: u8) -> Reg {
        let code = &mut self.code;
        *self.registers.entry(reg).or_insert_with(|| code.register())
    }

    fn val(&mut self, val: Val) -> Operand {
        match val {
            Val::Const(value) => value.into(),
            Val::Plus(reg, k) => {
                let reg = self.reg(reg);
                self.code.bin(BinOp::Add, reg, k).into()
            }
        }
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let place = |loc: u8| Loc::new(usize::from(loc));
        match *stmt {
            Stmt::Load { reg, loc, order } => {
                let value = self.code.load(place(loc), order);
                self.assign(reg, value);
            }
            Stmt::Store { loc, val, order } => {
                let value = self.val(val);
                self.code.store(place(loc), value, order);
            }
            Stmt::Add { reg, loc, k, order } => {
                let value = self.code.rmw(RmwOp::Add, place(loc), k, order);
                self.assign(reg, value);
            }
            Stmt::Count { loc, k, order, test } => {
                let value = self.code.rmw(RmwOp::Add, place(loc), k, order);
                if let Some((reg, equals)) = test {
                    let same = self.code.bin(BinOp::Eq, value, equals);
                    self.assign(reg, same);
                }
                // Nothing else is left of it.
                self.code.set(value, 0);
            }
            Stmt::Xchg { reg, loc, val, order } => {
                let value = self.val(val);
                let value = self.code.rmw(RmwOp::Xchg, place(loc), value, order);
                self.assign(reg, value);
            }
            Stmt::Cas { reg, loc, expected, new, order, failure, weak } => {
                let (value, _) = match weak {
                    true => self.code.cas_weak(place(loc), expected, new, order, failure),
                    false => self.code.cas(place(loc), expected, new, order, failure),
                };
                self.assign(reg, value);
            }
            Stmt::Fence { order } => self.code.fence(order),
            Stmt::If { reg, equals, ref then, ref otherwise } => {
                let reg = self.reg(reg);
                let condition = self.code.bin(BinOp::Eq, reg, equals);
                let to_else = self.code.unless(condition);
                self.stmts(then);
                let to_end = self.code.jump();
                self.code.land(to_else);
                self.stmts(otherwise);
                self.code.land(to_end);
            }
            Stmt::Choose { reg, n } => {
                let value = self.code.choose(n);
                self.assign(reg, value);
            }
            Stmt::Assume { reg, equals } => {
                let reg = self.reg(reg);
                let condition = self.code.bin(BinOp::Eq, reg, equals);
                self.code.assume(condition);
            }
            Stmt::Lock { loc } => self.code.lock(place(loc)),
            Stmt::Unlock { loc } => self.code.unlock(place(loc)),
            Stmt::TryLock { reg, loc } => {
                let (value, _) = self.code.cas(place(loc), 0, 1, Order::Acquire, Order::Relaxed);
                self.assign(reg, value);
            }
            Stmt::Try { reg, loc, test, then, order, failure } => {
                let value = self.code.try_then(place(loc), test, then, order, failure);
                self.assign(reg, value);
            }
            Stmt::Await { reg, loc, test, then, order } => {
                let value = self.code.await_then(place(loc), test, then, order);
                self.assign(reg, value);
            }
            Stmt::Pick { reg, loc, order } => {
                let value = self.code.pick(place(loc), order);
                self.assign(reg, value);
            }
            Stmt::Until { reg, loc, equals, order } => {
                let live = self.live();
                let head = self.code.head(&live);
                let value = self.code.load(place(loc), order);
                let done = self.code.bin(BinOp::Eq, value, equals);
                self.code.again_unless(done, head);
                self.assign(reg, value);
            }
            Stmt::Both { a, b, order } => {
                let live = self.live();
                let head = self.code.head(&live);
                for loc in [a, b] {
                    let value = self.code.load(place(loc), order);
                    let done = self.code.bin(BinOp::Eq, value, 1);
                    self.code.again_unless(done, head);
                }
            }
            Stmt::SpinLock { loc } => {
                let live = self.live();
                let head = self.code.head(&live);
                let (_, ok) = self.code.cas(place(loc), 0, 1, Order::Acquire, Order::Relaxed);
                self.code.again_unless(ok, head);
            }
            Stmt::SetLock { loc } => {
                let live = self.live();
                let head = self.code.head(&live);
                let old = self.code.rmw(RmwOp::Xchg, place(loc), 1, Order::Acquire);
                let free = self.code.bin(BinOp::Eq, old, 0);
                self.code.again_unless(free, head);
            }
            Stmt::Confirm { reg, loc, order } => {
                let live = self.live();
                let head = self.code.head(&live);
                let value = self.code.load(place(loc), order);
                let next = self.code.bin(BinOp::Add, value, 1);
                let (_, ok) = self.code.cas(place(loc), value, next, order, Order::Relaxed);
                self.code.again_unless(ok, head);
                self.assign(reg, value);
            }
            Stmt::Retry { reg, loc, order } => {
                let value = self.code.load(place(loc), order);
                self.assign(reg, value);
                let current = self.reg(reg);
                let live = self.live();
                let head = self.code.head(&live);
                let next = self.code.bin(BinOp::Add, current, 1);
                let (now, ok) = self.code.cas(place(loc), current, next, order, order);
                let failed = self.code.unless(ok);
                let done = self.code.jump();
                self.code.land(failed);
                self.code.set(current, now);
                self.code.again(head);
                self.code.land(done);
            }
            Stmt::Spawn { thread } => {
                let handle = self.code.spawn(usize::from(thread));
                self.handles.insert(thread, handle);
            }
            Stmt::Join { thread } => {
                let handle = self.handles[&thread];
                self.code.join(handle);
            }
        }
    }

    /// The registers that the program knows.
    fn live(&self) -> Vec<Reg> {
        self.registers.values().copied().collect()
    }

    fn assign(&mut self, reg: u8, value: Reg) {
        let reg = self.reg(reg);
        self.code.set(reg, value);
    }
}
