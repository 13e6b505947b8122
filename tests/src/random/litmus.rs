//! Programs as the explorer runs them.

use dpor_engine::graph::{Loc, MemOrder, RmwOp};
use dpor_engine::litmus::{BinOp, Code, Litmus, Operand, Reg};

use super::program::{LOCATIONS, LOCKS, Program, REGISTERS, Stmt, Update, Value};

/// The program as data: the main thread spawns the others, goes its own way, and joins them.
pub fn litmus(program: &Program) -> Litmus {
    let mut main = Translator::new();
    let handles: Vec<Reg> = (1..=program.threads.len()).map(|thread| main.code.spawn(thread)).collect();
    main.block(&program.main);
    handles.into_iter().for_each(|handle| main.code.join(handle));
    let mut codes = vec![main.code];
    for thread in &program.threads {
        let mut translator = Translator::new();
        translator.block(thread);
        codes.push(translator.code);
    }
    Litmus::with_spawned(codes, 1, vec![0; LOCATIONS.len() + LOCKS + 1])
}

struct Translator {
    code: Code,
    registers: [Reg; REGISTERS],
}

impl Translator {
    fn new() -> Translator {
        let mut code = Code::new();
        let registers = [(); REGISTERS].map(|()| code.register());
        Translator { code, registers }
    }

    /// Unlocks a mutex, as the standard library does: by an update.
    fn unlock(&mut self, lock: usize) {
        self.code.rmw(RmwOp::Xchg, mutex(lock), 0, MemOrder::Release);
    }

    fn block(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match *stmt {
            Stmt::Read { to } => {
                let value = self.code.load(plain(), MemOrder::NotAtomic);
                self.code.set(self.registers[to], value);
            }
            Stmt::Write { value } => {
                let value = self.value(value);
                self.code.store(plain(), value, MemOrder::NotAtomic);
            }
            Stmt::Load { to, location, order } => {
                let value = self.code.load(Loc::new(location), order);
                self.code.set(self.registers[to], value);
            }
            Stmt::Store { location, value, order } => {
                let value = self.value(value);
                self.code.store(Loc::new(location), value, order);
            }
            Stmt::Update { to, location, update, value, order } => {
                let value = self.value(value);
                let op = match update {
                    Update::Add => RmwOp::Add,
                    Update::Swap => RmwOp::Xchg,
                    Update::Or => RmwOp::Or,
                    Update::Max => RmwOp::UMax,
                };
                let value = self.code.rmw(op, Loc::new(location), value, order);
                self.code.set(self.registers[to], value);
            }
            Stmt::CompareExchange { to, location, expected, new, order, failure } => {
                let new = self.value(new);
                let (value, _) = self.code.cas(Loc::new(location), expected, new, order, failure);
                self.code.set(self.registers[to], value);
            }
            Stmt::Fence { order } => self.code.fence(order),
            Stmt::If { register, equals, ref then, ref otherwise } => {
                let condition = self.code.bin(BinOp::Eq, self.registers[register], equals);
                self.branch(condition, then, otherwise);
            }
            Stmt::Choose { to, count } => {
                let value = self.code.choose(count);
                self.code.set(self.registers[to], value);
            }
            Stmt::Assume { register, equals } => {
                let condition = self.code.bin(BinOp::Eq, self.registers[register], equals);
                self.code.assume(condition);
            }
            Stmt::Critical { lock, ref body } => {
                self.code.lock(mutex(lock));
                self.block(body);
                self.unlock(lock);
            }
            Stmt::TryCritical { lock, ref body } => {
                let (_, locked) = self.code.cas(mutex(lock), 0, 1, MemOrder::Acquire, MemOrder::Relaxed);
                let skip = self.code.unless(locked);
                self.block(body);
                self.unlock(lock);
                self.code.land(skip);
            }
        }
    }

    fn branch(&mut self, condition: Reg, then: &[Stmt], otherwise: &[Stmt]) {
        let to_else = self.code.unless(condition);
        self.block(then);
        let to_end = self.code.jump();
        self.code.land(to_else);
        self.block(otherwise);
        self.code.land(to_end);
    }

    fn value(&mut self, value: Value) -> Operand {
        match value {
            Value::Constant(constant) => constant.into(),
            Value::Sum(register, constant) => self.code.bin(BinOp::Add, self.registers[register], constant).into(),
        }
    }
}

/// The location of the variable that is not atomic.
fn plain() -> Loc {
    Loc::new(LOCATIONS.len() + LOCKS)
}

/// The location of a mutex: after the atomics.
fn mutex(lock: usize) -> Loc {
    Loc::new(LOCATIONS.len() + lock)
}
