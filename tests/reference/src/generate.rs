//! Random programs.

use crate::program::{FIRST_LOCK, FIRST_SPIN_LOCK, Order, Prog, Stmt, Val};
use dpor_engine::graph::{Test, Then};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

/// What random programs may contain.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub threads: usize,
    pub locations: u8,
    /// At most this many events on any path through all threads.
    pub events: usize,
    /// At most this many of them read.
    pub reads: usize,
    pub plain: bool,
    pub waiting: bool,
    pub spawned: bool,
    /// Most accesses and fences are SeqCst.
    pub strong: bool,
    /// Every second access is an update.
    pub updates: bool,
    pub loops: Loops,
    /// Reader-writer locks, tokens and the like, and what happens in several ways.
    pub primitives: bool,
}

/// Which loops random programs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loops {
    None,
    /// Those that wait for one location: spin locks too.
    Waiting,
    /// Those that wait for two locations, or confirm what they have read, too.
    All,
}

impl Shape {
    /// Accesses, read-modify-writes, fences and branches.
    pub fn plain_atomics() -> Shape {
        Shape {
            threads: 4,
            locations: 3,
            events: 12,
            reads: 7,
            plain: false,
            waiting: false,
            spawned: false,
            strong: false,
            updates: false,
            loops: Loops::None,
            primitives: false,
        }
    }
}

fn load_order(shape: Shape) -> impl Strategy<Value = Order> {
    let common = if shape.strong { Order::SeqCst } else { Order::Relaxed };
    select(vec![Order::Relaxed, common, Order::Acquire, Order::SeqCst])
}

fn store_order(shape: Shape) -> impl Strategy<Value = Order> {
    let common = if shape.strong { Order::SeqCst } else { Order::Relaxed };
    select(vec![Order::Relaxed, common, Order::Release, Order::SeqCst])
}

fn rmw_order() -> impl Strategy<Value = Order> {
    select(vec![Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst])
}

fn fence_order() -> impl Strategy<Value = Order> {
    select(vec![Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst, Order::SeqCst])
}

fn val() -> impl Strategy<Value = Val> {
    prop_oneof![4 => (1..=2u64).prop_map(Val::Const), 1 => (0..2u8, 0..2u64).prop_map(|(r, k)| Val::Plus(r, k))]
}

fn simple(shape: Shape) -> BoxedStrategy<Stmt> {
    let loc = 0..shape.locations;
    let reg = 0..3u8;
    let plain_loc = shape.locations - 1;
    let load = (reg.clone(), loc.clone(), load_order(shape)).prop_map(move |(reg, loc, order)| {
        let order = if shape.plain && loc == plain_loc { Order::NotAtomic } else { order };
        Stmt::Load { reg, loc, order }
    });
    let store = (loc.clone(), val(), store_order(shape)).prop_map(move |(loc, val, order)| {
        let order = if shape.plain && loc == plain_loc { Order::NotAtomic } else { order };
        Stmt::Store { loc, val, order }
    });
    let atomic = 0..(shape.locations - u8::from(shape.plain));
    let add =
        (reg.clone(), atomic.clone(), rmw_order()).prop_map(|(reg, loc, order)| Stmt::Add { reg, loc, k: 1, order });
    let xchg = (reg.clone(), atomic.clone(), val(), rmw_order()).prop_map(|(reg, loc, val, order)| Stmt::Xchg {
        reg,
        loc,
        val,
        order,
    });
    let cas = (reg.clone(), atomic, 0..=2u64, 1..=3u64, rmw_order(), load_order(shape)).prop_map(
        |(reg, loc, expected, new, order, failure)| Stmt::Cas { reg, loc, expected, new, order, failure, weak: false },
    );
    let fence = fence_order().prop_map(|order| Stmt::Fence { order });
    if shape.updates {
        return prop_oneof![4 => load, 6 => store, 2 => add, 4 => xchg, 4 => cas, 1 => fence].boxed();
    }
    if !shape.waiting {
        return prop_oneof![6 => load, 6 => store, 1 => add, 1 => xchg, 2 => cas, if shape.strong { 5 } else { 2 } => fence].boxed();
    }
    let choose = reg.clone().prop_map(|reg| Stmt::Choose { reg, n: 2 });
    let assume = (reg.clone(), 0..=1u64).prop_map(|(reg, equals)| Stmt::Assume { reg, equals });
    let try_lock = (reg, FIRST_LOCK..FIRST_LOCK + 2).prop_map(|(reg, loc)| Stmt::TryLock { reg, loc });
    prop_oneof![5 => load, 5 => store, 1 => add, 1 => cas, 1 => fence, 1 => choose, 1 => assume, 1 => try_lock].boxed()
}

fn block(shape: Shape, len: std::ops::RangeInclusive<usize>) -> BoxedStrategy<Vec<Stmt>> {
    let stmt = simple(shape);
    let inner = prop::collection::vec(stmt.clone(), 0..=2);
    let branch = (0..3u8, 0..=2u64, inner.clone(), inner).prop_map(|(reg, equals, then, otherwise)| Stmt::If {
        reg,
        equals,
        then,
        otherwise,
    });
    let plain = prop::collection::vec(prop_oneof![8 => stmt, 1 => branch], len).boxed();
    let plain = if shape.loops == Loops::None { plain } else { with_loops(shape, plain) };
    let plain = if shape.primitives { with_primitives(shape, plain) } else { plain };
    if !shape.waiting {
        return plain;
    }
    // A critical section somewhere, unlocked again unless the thread ends in it.
    (plain, any::<prop::sample::Index>(), FIRST_LOCK..FIRST_LOCK + 2, 0..=6u8)
        .prop_map(|(mut stmts, at, loc, length)| {
            let begin = at.index(stmts.len() + 1);
            let end = begin + usize::from(length);
            if length < 6 {
                stmts.insert(end.min(stmts.len()), Stmt::Unlock { loc });
                stmts.insert(begin, Stmt::Lock { loc });
            }
            fix_try_locks(stmts)
        })
        .boxed()
}

/// What a primitive does, at locations that nothing else accesses: a few statements that stay together or apart.
fn primitive(shape: Shape) -> BoxedStrategy<Vec<Stmt>> {
    const WRITER: u64 = 9;
    let [lock, token, once_word, bits] = [12, 13, 14, 15u8];
    let (reg, order) = (2, Order::Acquire);
    let await_then = move |loc, test, then| Stmt::Await { reg, loc, test, then, order };
    let add = move |k| Stmt::Add { reg, loc: lock, k, order: Order::Release };
    let reader = vec![await_then(lock, Test::Below(WRITER), Then::Add(1)), add(u64::MAX)];
    let writer = vec![await_then(lock, Test::Is(0), Then::Set(WRITER)), Stmt::Unlock { loc: lock }];
    let try_read =
        Stmt::Try { reg, loc: lock, test: Test::Below(WRITER), then: Then::Add(1), order, failure: Order::Relaxed };
    let no_reader = Stmt::If { reg, equals: WRITER, then: Vec::new(), otherwise: vec![add(u64::MAX)] };
    let once = await_then(once_word, Test::IsNot(1), Then::Replace { test: Test::Is(0), new: 1 });
    let complete = Stmt::Store { loc: once_word, val: Val::Const(2), order: Order::Release };
    let initialize = Stmt::If { reg, equals: 0, then: vec![complete], otherwise: Vec::new() };
    let unpark = Stmt::Xchg { reg, loc: token, val: Val::Const(1), order: Order::Release };
    let pick = Stmt::Pick { reg, loc: bits, order: Order::Relaxed };
    let weak = (0..shape.locations, 0..=1u64, 1..=2u64, rmw_order(), load_order(shape)).prop_map(
        |(loc, expected, new, order, failure)| {
            vec![Stmt::Cas { reg: 0, loc, expected, new, order, failure, weak: true }]
        },
    );
    let fixed = vec![
        reader,
        writer,
        vec![try_read, no_reader],
        vec![once, initialize],
        vec![await_then(token, Test::Is(1), Then::Set(0))],
        vec![unpark],
        vec![Stmt::Add { reg, loc: bits, k: 3, order: Order::Relaxed }],
        vec![pick],
    ];
    prop_oneof![8 => select(fixed), 2 => weak].boxed()
}

/// What a primitive does somewhere, with the second statement, if there is one, at a place of its own.
fn with_primitives(shape: Shape, plain: BoxedStrategy<Vec<Stmt>>) -> BoxedStrategy<Vec<Stmt>> {
    (plain, primitive(shape), any::<prop::sample::Index>())
        .prop_map(|(mut stmts, primitive, at)| {
            let begin = at.index(stmts.len() + 1);
            stmts.splice(begin..begin, primitive);
            stmts
        })
        .boxed()
}

/// A loop that waits somewhere, or a critical section under a spin lock.
fn with_loops(shape: Shape, plain: BoxedStrategy<Vec<Stmt>>) -> BoxedStrategy<Vec<Stmt>> {
    let loc = 0..shape.locations;
    let until = (0..3u8, loc.clone(), 1..=2u64, load_order(shape))
        .prop_map(|(reg, loc, equals, order)| vec![Stmt::Until { reg, loc, equals, order }]);
    // Each spin lock is locked in one way: what waits in vain need not be seen by those that only look.
    let spin_lock = any::<bool>().prop_map(|set| {
        let loc = FIRST_SPIN_LOCK + u8::from(set);
        vec![if set { Stmt::SetLock { loc } } else { Stmt::SpinLock { loc } }, Stmt::Unlock { loc }]
    });
    let both = (loc.clone(), loc.clone(), load_order(shape)).prop_map(|(a, b, order)| vec![Stmt::Both { a, b, order }]);
    let confirm = (0..3u8, loc, select(vec![Order::Relaxed, Order::Acquire, Order::SeqCst]))
        .prop_map(|(reg, loc, order)| vec![Stmt::Confirm { reg, loc, order }]);
    let word = (0..shape.locations, 0..=1u64).prop_map(|(loc, value)| {
        vec![Stmt::Await { reg: 0, loc, test: Test::IsNot(value), then: Then::Read, order: Order::Relaxed }]
    });
    let waiting = prop_oneof![4 => until, 2 => word, 3 => spin_lock, 2 => Just(Vec::new())].boxed();
    let inserted = match shape.loops {
        Loops::All => prop_oneof![3 => waiting, 1 => both, 2 => confirm].boxed(),
        _ => waiting,
    };
    (plain, inserted, any::<prop::sample::Index>(), any::<prop::sample::Index>())
        .prop_map(|(mut stmts, mut inserted, at, end)| {
            let begin = at.index(stmts.len() + 1);
            if let [_, unlock] = &inserted[..] {
                let end = begin + end.index(stmts.len() + 1 - begin);
                stmts.insert(end, unlock.clone());
                inserted.pop();
            }
            stmts.splice(begin..begin, inserted);
            stmts
        })
        .boxed()
}

/// Unlocks after each successful attempt to lock, at once.
fn fix_try_locks(stmts: Vec<Stmt>) -> Vec<Stmt> {
    let fix = |stmt| match stmt {
        Stmt::TryLock { reg, loc } => {
            let then = vec![Stmt::Unlock { loc }];
            vec![Stmt::TryLock { reg, loc }, Stmt::If { reg, equals: 0, then, otherwise: Vec::new() }]
        }
        Stmt::If { reg, equals, then, otherwise } => {
            vec![Stmt::If { reg, equals, then: fix_try_locks(then), otherwise: fix_try_locks(otherwise) }]
        }
        other => vec![other],
    };
    stmts.into_iter().flat_map(fix).collect()
}

/// Random programs that count up, in several ways, so that no location ever has the same value twice.
pub fn counting(shape: Shape) -> impl Strategy<Value = Prog> {
    let (reg, loc) = (0..3u8, 0..shape.locations);
    let order = || select(vec![Order::Relaxed, Order::Relaxed, Order::Acquire, Order::SeqCst]);
    let load = (reg.clone(), loc.clone(), order()).prop_map(|(reg, loc, order)| Stmt::Load { reg, loc, order });
    let add = (reg.clone(), loc.clone(), rmw_order()).prop_map(|(reg, loc, order)| Stmt::Add { reg, loc, k: 1, order });
    let retry = (reg.clone(), loc.clone(), order()).prop_map(|(reg, loc, order)| Stmt::Retry { reg, loc, order });
    let confirm = (reg, loc, order()).prop_map(|(reg, loc, order)| Stmt::Confirm { reg, loc, order });
    let stmt = prop_oneof![3 => load, 1 => add, 4 => retry, 2 => confirm];
    prop::collection::vec(prop::collection::vec(stmt, 1..=3), 2..=shape.threads).prop_map(move |mut threads| {
        trim(&mut threads, shape);
        Prog { threads, spawned: false }
    })
}

/// What random programs with counters may contain.
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    /// Whether results matter where they have a certain value.
    pub tests: bool,
    /// Whether others than loads and updates that commute access counters, and there are fences.
    pub others: bool,
}

/// Random programs that count at the first two locations, and look at what they have counted.
pub fn commuting(shape: Shape, counters: Counters) -> impl Strategy<Value = Prog> {
    let order = || select(vec![Order::Relaxed, Order::Relaxed, Order::Release]);
    let test =
        if counters.tests { prop::option::weighted(0.6, (0..2u8, 0..=3u64)).boxed() } else { Just(None).boxed() };
    let count = (0..2u8, select(vec![1, 1, 1, u64::MAX]), order(), test)
        .prop_map(|(loc, k, order, test)| {
            let count = Stmt::Count { loc, k, order, test };
            let shows = |(reg, _): (u8, u64)| {
                let then = vec![Stmt::Store { loc: 2, val: Val::Const(2 + u64::from(loc)), order: Order::Relaxed }];
                Stmt::If { reg, equals: 1, then, otherwise: Vec::new() }
            };
            [count].into_iter().chain(test.map(shows)).collect::<Vec<_>>()
        })
        .boxed();
    let load = (0..3u8, 0..3u8, load_order(shape)).prop_map(|(reg, loc, order)| vec![Stmt::Load { reg, loc, order }]);
    let store = (store_order(shape), 1..=2u64)
        .prop_map(|(order, value)| vec![Stmt::Store { loc: 2, val: Val::Const(value), order }]);
    let add = (0..3u8, 0..2u8, rmw_order()).prop_map(|(reg, loc, order)| vec![Stmt::Add { reg, loc, k: 1, order }]);
    let cas =
        (0..3u8, 0..2u8, 0..=2u64, rmw_order(), load_order(shape)).prop_map(|(reg, loc, expected, order, failure)| {
            vec![Stmt::Cas { reg, loc, expected, new: expected + 5, order, failure, weak: false }]
        });
    let fence = fence_order().prop_map(|order| vec![Stmt::Fence { order }]);
    let reset =
        (0..2u8, store_order(shape)).prop_map(|(loc, order)| vec![Stmt::Store { loc, val: Val::Const(7), order }]);
    let stmt = match counters.others {
        true => prop_oneof![12 => count, 6 => load, 3 => store, 2 => add, 2 => cas, 2 => fence, 1 => reset].boxed(),
        false => prop_oneof![6 => count, 3 => load, 1 => store].boxed(),
    };
    prop::collection::vec(prop::collection::vec(stmt, 1..=3), 2..=shape.threads).prop_map(move |threads| {
        let mut threads: Vec<Vec<Stmt>> = threads.into_iter().map(|thread| thread.concat()).collect();
        trim(&mut threads, shape);
        if shape.spawned {
            add_spawns(&mut threads);
        }
        Prog { threads, spawned: shape.spawned }
    })
}

/// Random programs with a lock at location 0 that readers share, and accesses of the locations 1 and 2 in and outside of it.
/// With `plain`, some accesses are not atomic.
pub fn readers(shape: Shape, plain: bool) -> impl Strategy<Value = Prog> {
    let orders = |plain| if plain { vec![Order::Relaxed, Order::NotAtomic] } else { vec![Order::Relaxed] };
    let load = (0..3u8, 1..3u8, select([orders(plain), vec![Order::Acquire]].concat()))
        .prop_map(|(reg, loc, order)| Stmt::Load { reg, loc, order });
    let store = (1..3u8, 1..=2u64, select([orders(plain), vec![Order::Release]].concat()))
        .prop_map(|(loc, value, order)| Stmt::Store { loc, val: Val::Const(value), order });
    let access = prop_oneof![load, store].boxed();
    let fence = select(vec![Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst]);
    let fence = fence.prop_map(|order| vec![Stmt::Fence { order }]);
    let section = |lock: Stmt, unlock: Stmt| {
        prop::option::weighted(0.4, access.clone())
            .prop_map(move |inner| [lock.clone()].into_iter().chain(inner).chain([unlock.clone()]).collect::<Vec<_>>())
    };
    let lock = |test, then| Stmt::Await { reg: 3, loc: 0, test, then, order: Order::Acquire };
    let read = section(
        lock(Test::Below(9), Then::Add(1)),
        Stmt::Count { loc: 0, k: u64::MAX, order: Order::Release, test: None },
    );
    let write =
        section(lock(Test::Is(0), Then::Set(9)), Stmt::Store { loc: 0, val: Val::Const(0), order: Order::Release });
    let other = access.clone().prop_map(|access| vec![access]);
    let block = prop_oneof![10 => read, 4 => write, 6 => other, 1 => fence];
    prop::collection::vec(prop::collection::vec(block, 1..=4), 2..=shape.threads).prop_map(move |threads| {
        let mut threads: Vec<Vec<Stmt>> = threads.into_iter().map(|thread| thread.concat()).collect();
        trim(&mut threads, shape);
        Prog { threads, spawned: false }
    })
}

/// Random programs of a shape.
pub fn program(shape: Shape) -> impl Strategy<Value = Prog> {
    let thread = block(shape, 1..=4);
    prop::collection::vec(thread, 2..=shape.threads).prop_map(move |mut threads| {
        trim(&mut threads, shape);
        if shape.spawned {
            add_spawns(&mut threads);
        }
        Prog { threads, spawned: shape.spawned }
    })
}

/// Random programs with several threads of the same code.
pub fn alike(shape: Shape) -> impl Strategy<Value = Prog> {
    // Who has which code.
    let codes = select(vec![
        vec![0, 0],
        vec![0, 0],
        vec![0, 0, 0],
        vec![0, 0, 0],
        vec![0, 0, 1],
        vec![0, 1, 0],
        vec![1, 0, 0],
        vec![0, 0, 0, 0],
        vec![0, 0, 0, 1],
        vec![0, 1, 0, 1],
        vec![1, 0, 0, 1],
    ]);
    let main = block(shape, 0..=2);
    (prop::collection::vec(block(shape, 1..=4), 2), codes, main, any::<prop::sample::Index>(), any::<bool>()).prop_map(
        move |(mut blocks, mut codes, main, at, joins)| {
            codes.truncate(shape.threads);
            let expand =
                |blocks: &[Vec<Stmt>]| -> Vec<Vec<Stmt>> { codes.iter().map(|&c: &usize| blocks[c].clone()).collect() };
            let mut threads = expand(&blocks);
            while is_too_large(&threads, shape) {
                let longest = usize::from(blocks[1].len() > blocks[0].len() && codes.contains(&1));
                if blocks[longest].pop().is_none() {
                    break;
                }
                threads = expand(&blocks);
            }
            if shape.spawned {
                threads.insert(0, spawn_together(main, threads.len() as u8, &at, joins));
            }
            Prog { threads, spawned: shape.spawned }
        },
    )
}

/// Starts all threads at one place, and joins them, or not.
fn spawn_together(mut main: Vec<Stmt>, threads: u8, at: &prop::sample::Index, joins: bool) -> Vec<Stmt> {
    let at = at.index(main.len() + 1);
    let rest = main.split_off(at);
    main.extend((1..=threads).map(|thread| Stmt::Spawn { thread }));
    if joins {
        main.extend((1..=threads).map(|thread| Stmt::Join { thread }));
    }
    main.extend(rest);
    main
}

/// The first thread starts the others, one after each of its statements, and joins the first of them before its last.
fn add_spawns(threads: &mut [Vec<Stmt>]) {
    let children = threads.len() as u8 - 1;
    let main = std::mem::take(&mut threads[0]);
    let mut spawned = 0;
    let mut result = Vec::new();
    let last = main.len().saturating_sub(1);
    for (i, stmt) in main.into_iter().enumerate() {
        if i == last {
            while spawned < children {
                spawned += 1;
                result.push(Stmt::Spawn { thread: spawned });
            }
            result.push(Stmt::Join { thread: 1 });
        }
        result.push(stmt);
        if spawned < children {
            spawned += 1;
            result.push(Stmt::Spawn { thread: spawned });
        }
    }
    threads[0] = result;
}

/// Drops statements from the ends of threads, the longest first, until the program is small enough.
fn trim(threads: &mut [Vec<Stmt>], shape: Shape) {
    while is_too_large(threads, shape) {
        let longest = threads.iter().enumerate().max_by_key(|(_, t)| t.len()).map_or(0, |(i, _)| i);
        if threads[longest].pop().is_none() {
            return;
        }
    }
}

fn is_too_large(threads: &[Vec<Stmt>], shape: Shape) -> bool {
    let total = |weigh: fn(&Stmt) -> usize| -> usize { threads.iter().flatten().map(|s| weight(s, weigh)).sum() };
    total(events_of) > shape.events || total(reads_of) > shape.reads
}

fn weight(stmt: &Stmt, weigh: fn(&Stmt) -> usize) -> usize {
    match stmt {
        Stmt::If { then, otherwise, .. } => {
            let sum = |stmts: &[Stmt]| stmts.iter().map(|s| weight(s, weigh)).sum::<usize>();
            sum(then).max(sum(otherwise))
        }
        other => weigh(other),
    }
}

fn events_of(stmt: &Stmt) -> usize {
    usize::from(!matches!(stmt, Stmt::Assume { .. }))
}

fn reads_of(stmt: &Stmt) -> usize {
    let reads = matches!(
        stmt,
        Stmt::Load { .. }
            | Stmt::Add { .. }
            | Stmt::Count { .. }
            | Stmt::Xchg { .. }
            | Stmt::Cas { .. }
            | Stmt::TryLock { .. }
            | Stmt::Try { .. }
            | Stmt::Await { .. }
            | Stmt::Pick { .. }
            | Stmt::Until { .. }
            | Stmt::SpinLock { .. }
            | Stmt::SetLock { .. }
    );
    usize::from(reads) + 2 * usize::from(matches!(stmt, Stmt::Both { .. } | Stmt::Confirm { .. } | Stmt::Retry { .. }))
}

/// The program of a number, of those that a strategy makes from a seed.
pub fn nth(strategy: impl Strategy<Value = Prog>, seed: u64, number: u64) -> Prog {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&number.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), random);
    strategy.new_tree(&mut runner).expect("a program").current()
}
