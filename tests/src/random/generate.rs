//! Makes programs from seeds.

use dpor_engine::graph::MemOrder::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use super::program::{Home, LOCATIONS, LOCKS, Program, REGISTERS, Stmt, Update, Value};

/// The program of a seed.
pub fn program(seed: u64) -> Program {
    let mut random = Random { state: seed, locations: LOCATIONS.len() };
    let home = random.one_of(&[Home::Static, Home::ScopedStatic, Home::Stack, Home::Heap]);
    let threads = 2 + random.below(2);
    random.locations = 2 + random.below(LOCATIONS.len() - 1);
    let main = random.block(0..3, Depth::Outer);
    let threads = (0..threads).map(|_| random.block(1..4, Depth::Outer)).collect();
    Program { seed, main, threads, home }
}

/// A source of numbers, a linear congruential generator whose state is mixed, and of what can be made from them.
struct Random {
    state: u64,
    /// How many atomics the program uses.
    locations: usize,
}

/// Where a block is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Outer,
    /// In a branch, where there are no branches, choices and critical sections.
    Branch,
    /// In a critical section: the same, but that is where the variable that is not atomic is accessed, as a rule.
    Critical,
}

impl Random {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let mixed = (self.state ^ self.state >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^ mixed >> 32
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn block(&mut self, len: std::ops::Range<usize>, depth: Depth) -> Vec<Stmt> {
        let len = len.start + self.below(len.end - len.start + 1);
        (0..len).map(|_| self.stmt(depth)).collect()
    }

    fn stmt(&mut self, depth: Depth) -> Stmt {
        let (register, location) = (self.below(REGISTERS), self.below(self.locations));
        let plain = self.below(if depth == Depth::Critical { 2 } else { 40 }) == 0;
        if plain {
            return match self.below(2) {
                0 => Stmt::Read { to: register },
                _ => Stmt::Write { value: self.value() },
            };
        }
        match self.below(if depth == Depth::Outer { 26 } else { 18 }) {
            0..5 => Stmt::Load { to: register, location, order: self.one_of(&LOADS) },
            5..10 => Stmt::Store { location, value: self.value(), order: self.one_of(&STORES) },
            10..13 => {
                let update = self.one_of(&[Update::Add, Update::Swap, Update::Or, Update::Max]);
                Stmt::Update { to: register, location, update, value: self.value(), order: self.one_of(&UPDATES) }
            }
            13..15 => Stmt::CompareExchange {
                to: register,
                location,
                expected: self.below(3) as u64,
                new: self.value(),
                order: self.one_of(&UPDATES),
                failure: self.one_of(&LOADS),
            },
            15..17 => Stmt::Fence { order: self.one_of(&FENCES) },
            17 => Stmt::Choose { to: register, count: 2 },
            18 => Stmt::Assume { register, equals: self.below(2) as u64 },
            19..21 => Stmt::If {
                register,
                equals: self.below(2) as u64,
                then: self.block(0..2, Depth::Branch),
                otherwise: self.block(0..1, Depth::Branch),
            },
            21..25 => Stmt::Critical { lock: self.lock(), body: self.block(0..2, Depth::Critical) },
            _ => Stmt::TryCritical { lock: self.lock(), body: self.block(0..1, Depth::Critical) },
        }
    }

    /// The first mutex, as a rule.
    fn lock(&mut self) -> usize {
        if self.below(4) == 0 { self.below(LOCKS) } else { 0 }
    }

    fn value(&mut self) -> Value {
        let constant = 1 + self.below(2) as u64;
        match self.below(4) {
            0 => Value::Sum(self.below(REGISTERS), constant),
            _ => Value::Constant(constant),
        }
    }
}

const LOADS: [MemOrder; 3] = [Relaxed, Acquire, SeqCst];
const STORES: [MemOrder; 3] = [Relaxed, Release, SeqCst];
const UPDATES: [MemOrder; 5] = [Relaxed, Acquire, Release, AcqRel, SeqCst];
const FENCES: [MemOrder; 5] = [Acquire, Release, AcqRel, SeqCst, SeqCst];
