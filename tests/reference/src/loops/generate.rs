//! Makes programs from seeds.

use dpor_engine::graph::{MemOrder, Test};

use super::program::{Body, Cas, Cond, Loc, Program, Reg, Stmt, Update, Val};
use super::random::Random;

use MemOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};

const X: Loc = 0;
const Y: Loc = 1;
/// What loops lock, or announce themselves with.
const L: Loc = 2;

/// A register that nobody looks at.
const WASTE: Reg = 7;

/// The loops that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Waits for a location, or two.
    Wait,
    /// Waits for two locations.
    WaitForBoth,
    /// Locks by swapping or comparing.
    Lock,
    /// Announces itself, looks, withdraws.
    Announce,
    /// Locks, looks, unlocks.
    Look,
    /// Looks; writes and takes back if it goes on.
    LookFirst,
    /// Waits, and counts up to a limit.
    BackOff,
    /// The same, with a compare-and-swap.
    BackOffCas,
    /// Loads, and tries to exchange what it has loaded.
    Attempt,
    /// Goes on with what the failure has read.
    Retry,
    /// The same, not more than twice.
    Bounded,
}

const KINDS: [Kind; 11] = [
    Kind::Wait,
    Kind::WaitForBoth,
    Kind::Lock,
    Kind::Announce,
    Kind::Look,
    Kind::LookFirst,
    Kind::BackOff,
    Kind::BackOffCas,
    Kind::Attempt,
    Kind::Retry,
    Kind::Bounded,
];

/// A program with one to three loops in two to four threads.
pub fn program(random: &mut Random) -> Program {
    if random.percent(15) {
        return with_a_late_write(random);
    }
    let threads = random.one_of(&[2, 2, 2, 3, 3, 3, 4]);
    let loops = random.one_of(&[1, 1, 2, 2, 3]).min(threads);
    let (plain, strong) = (random.percent(25), random.percent(15));
    let mut maker = Maker { random, plain, strong };
    let mut bodies = vec![Body::default(); threads];
    for (id, body) in bodies.iter_mut().enumerate() {
        let length = if threads > 3 { maker.random.below(2) } else { maker.random.below(3) };
        let length = if id < loops { length } else { length + 1 };
        body.stmts = (0..length).flat_map(|_| maker.simple()).collect();
        if id < loops {
            let kind = maker.random.one_of(&KINDS);
            let stmts = maker.repeat(kind);
            let at = maker.random.below(body.stmts.len() + 1);
            body.stmts.splice(at..at, stmts);
        }
        body.results = maker.results();
    }
    Program { threads: bodies }
}

/// A program in which a loop reads the variable that is not atomic, and a thread writes it once the loop has ended, as far as that
/// thread can tell: as a rule no iteration races unless it was left out.
fn with_a_late_write(random: &mut Random) -> Program {
    let strong = random.percent(15);
    let mut maker = Maker { random, plain: true, strong };
    let kind = maker.random.one_of(&KINDS);
    let mut goes_round = maker.repeat(kind);
    let ends = maker.order(&[Relaxed, Relaxed, Relaxed, Release]);
    goes_round.push(Stmt::Store { loc: L, val: Val::Const(3), order: ends });
    let order = maker.order(&[Relaxed, Relaxed, Acquire]);
    let cond = Cond { reg: 0, test: Test::Is(3) };
    let writes =
        vec![Stmt::Load { reg: 0, loc: L, order }, Stmt::If { cond, then: vec![Stmt::Write { val: Val::Const(1) }] }];
    let length = 1 + maker.random.below(3);
    let mut ends: Vec<Stmt> = Vec::new();
    for _ in 0..length {
        let (loc, value) = (maker.random.one_of(&[X, Y]), maker.random.below(3) as u64);
        ends.push(maker.store(loc, value));
    }
    let threads = [goes_round, writes, ends].map(|stmts| Body { stmts, results: Vec::new() });
    Program { threads: threads.to_vec() }
}

struct Maker<'a> {
    random: &'a mut Random,
    /// Whether the variable that is not atomic is accessed.
    plain: bool,
    /// Whether most accesses are sequentially consistent.
    strong: bool,
}

impl Maker<'_> {
    fn order(&mut self, orders: &[MemOrder]) -> MemOrder {
        if self.strong && self.random.percent(60) { SeqCst } else { self.random.one_of(orders) }
    }

    fn load_order(&mut self) -> MemOrder {
        self.order(&[Relaxed, Relaxed, Acquire, SeqCst])
    }

    fn store_order(&mut self) -> MemOrder {
        self.order(&[Relaxed, Relaxed, Release, SeqCst])
    }

    fn update_order(&mut self) -> MemOrder {
        self.order(&[Relaxed, Relaxed, Acquire, Release, AcqRel, SeqCst])
    }

    fn loc(&mut self) -> Loc {
        self.random.one_of(&[X, X, Y, Y, L])
    }

    fn value(&mut self) -> u64 {
        self.random.one_of(&[1, 1, 2])
    }

    /// Registers 0 to 2 are for what is read outside of loops, 3 to 6 for loops.
    fn results(&mut self) -> Vec<Reg> {
        (0..7).filter(|_| self.random.percent(60)).collect()
    }

    fn load(&mut self, reg: Reg, loc: Loc) -> Stmt {
        Stmt::Load { reg, loc, order: self.load_order() }
    }

    fn store(&mut self, loc: Loc, value: u64) -> Stmt {
        Stmt::Store { loc, val: Val::Const(value), order: self.store_order() }
    }

    fn update(&mut self, reg: Reg, loc: Loc, update: Update, value: u64) -> Stmt {
        Stmt::Update { reg, loc, update, val: Val::Const(value), order: self.update_order() }
    }

    fn cas(&mut self, old: Reg, done: Reg, loc: Loc, expected: Val, new: Val) -> Stmt {
        let (order, failure) = (self.update_order(), self.load_order());
        Stmt::Cas { cas: Cas { old, done, loc, expected, new }, order, failure }
    }

    /// Something outside of loops, as a rule one statement.
    fn simple(&mut self) -> Vec<Stmt> {
        let (reg, loc, value) = (self.random.below(3) as Reg, self.loc(), self.value());
        if self.plain && self.random.percent(30) {
            return vec![self.access_plainly(reg)];
        }
        vec![match self.random.below(20) {
            0..6 => self.store(loc, value),
            6..10 => self.load(reg, loc),
            10..13 => self.update(reg, loc, Update::Add, 1),
            13..15 => self.update(reg, loc, Update::Swap, value),
            15..17 => {
                let expected = Val::Const(self.random.below(2) as u64);
                self.cas(reg, WASTE, loc, expected, Val::Const(value))
            }
            17 => Stmt::Fence { order: self.random.one_of(&[Acquire, Release, SeqCst, SeqCst]) },
            18 => {
                let cond = Cond { reg, test: Test::Is(self.random.below(2) as u64) };
                let then = vec![self.store(loc, value)];
                return vec![self.load(reg, loc), Stmt::If { cond, then }];
            }
            _ => Stmt::Assert { cond: Cond { reg, test: Test::IsNot(2) } },
        }]
    }

    fn access_plainly(&mut self, reg: Reg) -> Stmt {
        match self.random.below(2) {
            0 => Stmt::Read { reg },
            _ => Stmt::Write { val: Val::Const(self.value()) },
        }
    }

    /// What may be in an iteration besides: it only reads.
    fn extra(&mut self) -> Vec<Stmt> {
        match self.random.below(10) {
            0 if self.plain => vec![Stmt::Read { reg: WASTE }],
            3..6 if self.plain => self.read_if_changed(),
            1 => {
                let loc = self.loc();
                vec![self.load(WASTE, loc)]
            }
            2 => vec![Stmt::Fence { order: self.random.one_of(&[Acquire, SeqCst]) }],
            _ => Vec::new(),
        }
    }

    /// Reads the variable that is not atomic if two loads have read such values, and forgets these.
    fn read_if_changed(&mut self) -> Vec<Stmt> {
        let (first, second) = (self.loc(), self.loc());
        let mut stmts = vec![self.load(4, first), self.load(5, second)];
        let mut cond = |reg| Cond { reg, test: Test::Is(self.random.below(3) as u64) };
        let (one, other) = (cond(4), cond(5));
        let then = vec![Stmt::If { cond: other, then: vec![Stmt::Read { reg: WASTE }] }];
        stmts.push(Stmt::If { cond: one, then });
        stmts.extend([4, 5, WASTE].map(|reg| Stmt::Set { reg, val: Val::Const(0) }));
        stmts
    }

    /// What is done with a lock held, or after a loop.
    fn section(&mut self) -> Vec<Stmt> {
        if self.plain && self.random.percent(60) {
            return vec![Stmt::Read { reg: 6 }, Stmt::Write { val: Val::Sum(6, 1) }];
        }
        if self.random.percent(40) { self.simple() } else { Vec::new() }
    }

    /// Ends a loop on what was read, as a rule when it is not 0.
    fn leave_if(&mut self, reg: Reg, mut first: Vec<Stmt>) -> Stmt {
        let value = self.value();
        let test = self.random.one_of(&[Test::IsNot(0), Test::IsNot(0), Test::Is(value), Test::AtLeast(2)]);
        first.push(Stmt::Break);
        Stmt::If { cond: Cond { reg, test }, then: first }
    }

    fn repeat(&mut self, kind: Kind) -> Vec<Stmt> {
        match kind {
            Kind::Wait => {
                let loc = self.loc();
                let mut body = match self.random.below(5) {
                    0 => vec![self.update(3, loc, Update::Add, 0)],
                    1 => vec![self.update(3, loc, Update::Swap, 1)],
                    _ => vec![self.load(3, loc)],
                };
                body.push(self.leave_if(3, Vec::new()));
                body.extend(self.extra());
                vec![Stmt::Loop { body }]
            }
            Kind::WaitForBoth => {
                let mut body = vec![self.load(3, X), self.load(4, Y)];
                let inner = self.leave_if(4, Vec::new());
                let cond = Cond { reg: 3, test: Test::IsNot(0) };
                body.push(Stmt::If { cond, then: vec![inner] });
                body.extend(self.extra());
                vec![Stmt::Loop { body }]
            }
            Kind::Lock => self.lock_and_unlock(),
            Kind::Announce => self.announce(),
            Kind::Look => self.look(),
            Kind::LookFirst => self.look_first(),
            Kind::BackOff | Kind::BackOffCas => self.back_off(kind),
            Kind::Attempt => self.attempt(),
            Kind::Retry => self.retry(),
            Kind::Bounded => self.bounded(),
        }
    }

    /// Locks, with 1 in register 4 where it has the lock.
    fn lock(&mut self) -> Vec<Stmt> {
        if self.random.percent(50) {
            return vec![self.cas(WASTE, 4, L, Val::Const(0), Val::Const(1))];
        }
        let is_free = Cond { reg: 3, test: Test::Is(0) };
        let then = vec![Stmt::Set { reg: 4, val: Val::Const(1) }];
        let swap = self.update(3, L, Update::Swap, 1);
        vec![Stmt::Set { reg: 4, val: Val::Const(0) }, swap, Stmt::If { cond: is_free, then }]
    }

    fn unlock(&mut self) -> Stmt {
        match self.random.below(4) {
            0 => self.update(WASTE, L, Update::Swap, 0),
            1 => self.store(L, 0),
            _ => Stmt::Store { loc: L, val: Val::Const(0), order: Release },
        }
    }

    fn lock_and_unlock(&mut self) -> Vec<Stmt> {
        let mut body = self.lock();
        body.push(Stmt::If { cond: Cond { reg: 4, test: Test::Is(1) }, then: vec![Stmt::Break] });
        body.extend(self.extra());
        let mut stmts = vec![Stmt::Loop { body }];
        stmts.extend(self.section());
        if self.random.percent(90) {
            stmts.push(self.unlock());
        }
        stmts
    }

    fn announce(&mut self) -> Vec<Stmt> {
        let (add, loc) = (self.random.one_of(&[1, 1, 2]), self.random.one_of(&[X, Y]));
        let mut body = vec![self.update(3, L, Update::Add, add)];
        if self.random.percent(30) {
            // A reader that looks at what was there: odd while somebody writes.
            let test = self.random.one_of(&[Test::Clear(1), Test::Is(0)]);
            body.push(Stmt::If { cond: Cond { reg: 3, test }, then: vec![Stmt::Break] });
        } else {
            body.push(self.load(4, loc));
            body.push(self.leave_if(4, Vec::new()));
        }
        body.push(match self.random.below(5) {
            0 => self.store(L, 0),
            _ => self.update(WASTE, L, Update::Sub, add),
        });
        body.extend(self.extra());
        let mut stmts = vec![Stmt::Loop { body }];
        stmts.extend(self.section());
        if self.random.percent(60) {
            stmts.push(self.update(WASTE, L, Update::Sub, add));
        }
        stmts
    }

    fn look(&mut self) -> Vec<Stmt> {
        let loc = self.random.one_of(&[X, Y]);
        let mut body = self.lock();
        let mut unlock_and_leave = self.section();
        unlock_and_leave.push(self.unlock());
        let mut then = vec![self.load(5, loc)];
        then.push(self.leave_if(5, unlock_and_leave));
        then.push(self.unlock());
        body.push(Stmt::If { cond: Cond { reg: 4, test: Test::Is(1) }, then });
        body.extend(self.extra());
        vec![Stmt::Loop { body }]
    }

    fn look_first(&mut self) -> Vec<Stmt> {
        let loc = self.random.one_of(&[X, Y]);
        let mut body = vec![self.load(3, loc)];
        body.push(self.leave_if(3, Vec::new()));
        match self.random.below(3) {
            0 => {
                body.push(self.update(4, L, Update::Swap, 1));
                body.extend(self.extra());
                body.push(Stmt::Store { loc: L, val: Val::Sum(4, 0), order: self.store_order() });
            }
            1 => {
                body.extend(self.lock());
                let then = vec![self.unlock()];
                body.push(Stmt::If { cond: Cond { reg: 4, test: Test::Is(1) }, then });
            }
            _ => {
                body.push(self.update(WASTE, L, Update::Add, 1));
                body.extend(self.extra());
                body.push(self.update(WASTE, L, Update::Sub, 1));
            }
        }
        vec![Stmt::Loop { body }]
    }

    /// `if count < cap { count += 1 }`
    fn count(&mut self, reg: Reg, cap: u64) -> Stmt {
        let then = vec![Stmt::Set { reg, val: Val::Sum(reg, 1) }];
        Stmt::If { cond: Cond { reg, test: Test::Below(cap) }, then }
    }

    fn back_off(&mut self, kind: Kind) -> Vec<Stmt> {
        let (loc, cap) = (self.loc(), self.random.one_of(&[1, 1, 2, 3]));
        let used = match self.random.below(4) {
            0 => vec![Stmt::Store { loc: Y, val: Val::Sum(4, 0), order: Relaxed }],
            // What is left of the counter depends on what was read.
            1 => vec![Stmt::If {
                cond: Cond { reg: 3, test: Test::Is(1) },
                then: vec![Stmt::Set { reg: 4, val: Val::Const(0) }],
            }],
            _ => Vec::new(),
        };
        let mut body = match kind {
            Kind::BackOff => {
                let load = self.load(3, loc);
                vec![load, self.leave_if(3, used)]
            }
            _ => {
                let (expected, new) = (self.random.below(2) as u64, self.value());
                let cas = self.cas(3, 5, loc, Val::Const(expected), Val::Const(new));
                let mut then = used;
                then.push(Stmt::Break);
                vec![cas, Stmt::If { cond: Cond { reg: 5, test: Test::Is(1) }, then }]
            }
        };
        body.push(self.count(4, cap));
        body.extend(self.extra());
        vec![Stmt::Set { reg: 4, val: Val::Const(0) }, Stmt::Loop { body }]
    }

    /// What an attempt writes, given the register that has what it expects.
    fn next_value(&mut self, reg: Reg) -> Val {
        self.random.one_of(&[Val::Sum(reg, 1), Val::Sum(reg, 1), Val::Const(3), Val::Sum(reg, 0)])
    }

    /// What is done where an attempt fails.
    fn on_failure(&mut self, seen: Reg) -> Vec<Stmt> {
        let loc = self.random.one_of(&[X, Y]);
        match self.random.below(10) {
            // One of the values that make it fail has an effect.
            8 => vec![Stmt::If { cond: self.is_some_value(seen), then: vec![Stmt::Break] }],
            9 => vec![Stmt::Assert { cond: Cond { reg: seen, test: Test::IsNot(2) } }],
            0 => vec![self.count(6, 3)],
            1 => vec![self.store(loc, 1)],
            2 => vec![self.load(6, loc)],
            3 => vec![Stmt::Set { reg: 6, val: Val::Sum(seen, 0) }],
            _ => self.extra(),
        }
    }

    fn is_some_value(&mut self, reg: Reg) -> Cond {
        Cond { reg, test: Test::Is(self.random.one_of(&[1, 2, 2])) }
    }

    fn attempt(&mut self) -> Vec<Stmt> {
        let loc = self.random.one_of(&[X, X, L]);
        let mut body = vec![self.load(3, loc)];
        match self.random.below(8) {
            0 => body.push(self.load(5, Y)),
            1 => body.push(self.store(Y, 1)),
            2 => body.insert(0, Stmt::Load { reg: 5, loc: Y, order: Relaxed }),
            _ => body.extend(self.extra()),
        }
        let new = self.next_value(3);
        body.push(self.cas(5, 4, loc, Val::Sum(3, 0), new));
        body.push(Stmt::If { cond: Cond { reg: 4, test: Test::Is(1) }, then: vec![Stmt::Break] });
        let seen = self.random.one_of(&[3, 5]);
        body.extend(self.on_failure(seen));
        vec![Stmt::Loop { body }]
    }

    fn retry(&mut self) -> Vec<Stmt> {
        let loc = self.random.one_of(&[X, X, L]);
        let first = self.load(3, loc);
        let new = self.next_value(3);
        let mut body = vec![self.cas(5, 4, loc, Val::Sum(3, 0), new)];
        body.push(Stmt::If { cond: Cond { reg: 4, test: Test::Is(1) }, then: vec![Stmt::Break] });
        // Some try the same again.
        if self.random.percent(85) {
            body.push(Stmt::Set { reg: 3, val: Val::Sum(5, 0) });
        }
        body.extend(self.on_failure(5));
        vec![first, Stmt::Loop { body }]
    }

    fn bounded(&mut self) -> Vec<Stmt> {
        let loc = self.loc();
        let mut body = vec![self.load(3, loc)];
        if self.random.percent(50) {
            body.push(self.leave_if(3, Vec::new()));
        } else {
            let new = self.next_value(3);
            body.push(self.cas(6, 5, loc, Val::Sum(3, 0), new));
            body.push(Stmt::If { cond: Cond { reg: 5, test: Test::Is(1) }, then: vec![Stmt::Break] });
            if self.random.percent(20) {
                body.push(Stmt::If { cond: self.is_some_value(6), then: vec![Stmt::Break] });
            }
        }
        body.push(Stmt::Set { reg: 4, val: Val::Sum(4, 1) });
        body.push(Stmt::If { cond: Cond { reg: 4, test: Test::AtLeast(2) }, then: vec![Stmt::Break] });
        vec![Stmt::Set { reg: 4, val: Val::Const(0) }, Stmt::Loop { body }]
    }
}
