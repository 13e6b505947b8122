//! Programs whose numbers of executions are known, written as data. All accesses are relaxed unless said otherwise.

#![allow(dead_code, reason = "tests and benches use different ones")]

use dpor_engine::graph::{Loc, MemOrder, RmwOp};
use dpor_engine::litmus::code::at;
use dpor_engine::litmus::{BinOp, Code, Litmus};

use MemOrder::{Acquire, Relaxed, Release, SeqCst};

const X: usize = 0;
const Y: usize = 1;

fn loc(index: usize) -> Loc {
    Loc::new(index)
}

/// `n` threads, each written by the function.
fn threads(n: usize, init: Vec<u64>, write: impl Fn(usize, &mut Code)) -> Litmus {
    let code = |i| {
        let mut code = Code::new();
        write(i, &mut code);
        code
    };
    Litmus::new((0..n).map(code).collect(), init)
}

/// `n` threads: `x.fetch_add(1)`.
pub fn ainc(n: usize) -> Litmus {
    threads(n, vec![], |_, t| {
        t.rmw(RmwOp::Add, loc(X), 1, Relaxed);
    })
}

/// `n` threads: `x.fetch_add(1); y.fetch_add(1)`.
pub fn binc(n: usize) -> Litmus {
    threads(n, vec![], |_, t| {
        t.rmw(RmwOp::Add, loc(X), 1, Relaxed);
        t.rmw(RmwOp::Add, loc(Y), 1, Relaxed);
    })
}

/// `n` threads: `r = x.load(); x.store(r + 2^i, Release)`.
pub fn inc(n: usize) -> Litmus {
    threads(n, vec![], |i, t| {
        let r = t.load(loc(X), Relaxed);
        let r = t.bin(BinOp::Add, r, 1 << i);
        t.store(loc(X), r, Release);
    })
}

/// `n` threads: `x.compare_exchange(0, 1); x.store(i + 3)`.
pub fn casw(n: usize) -> Litmus {
    threads(n, vec![], |i, t| {
        t.cas(loc(X), 0, 1, Relaxed, Relaxed);
        t.store(loc(X), i as u64 + 3, Relaxed);
    })
}

/// Thread `i` of `n`, from 1: `x.compare_exchange(i - 1, i)`.
pub fn casrot(n: usize) -> Litmus {
    threads(n, vec![], |i, t| {
        t.cas(loc(X), i as u64, i as u64 + 1, Relaxed, Relaxed);
    })
}

/// A writer of `x` and `n` readers.
pub fn readers(n: usize) -> Litmus {
    threads(n + 1, vec![], |i, t| match i {
        0 => t.store(loc(X), 1, Relaxed),
        _ => {
            t.load(loc(X), Relaxed);
        }
    })
}

/// A reader that goes down an array until it finds a 0, and writers `a[j] = a[j - 1] + 1`.
pub fn lastzero(n: usize) -> Litmus {
    threads(n + 1, vec![], |j, t| match j {
        0 => {
            let mut found = Vec::new();
            for i in (1..=n).rev() {
                let r = t.load(loc(i), Acquire);
                found.push(t.unless(r));
            }
            t.load(loc(0), Acquire);
            found.into_iter().for_each(|jump| t.land(jump));
        }
        _ => {
            let r = t.load(loc(j - 1), Acquire);
            let r = t.bin(BinOp::Add, r, 1);
            t.store(loc(j), r, Release);
        }
    })
}

/// Two threads that add each other's variable to their own `n` times, and a third that looks at both.
pub fn fib_bench(n: usize) -> Litmus {
    fib_bench_with(n, Acquire, Release)
}

/// The same, with these orderings.
pub fn fib_bench_with(n: usize, load: MemOrder, store: MemOrder) -> Litmus {
    let (i, j) = (loc(X), loc(Y));
    // No value can exceed the 2n+2nd Fibonacci number.
    let bound = (0..2 * n + 2).fold((1u64, 1u64), |(a, b), _| (b, a + b)).0;
    threads(3, vec![1, 1], |thread, t| match thread {
        0 | 1 => {
            let (mine, other) = if thread == 0 { (i, j) } else { (j, i) };
            for _ in 0..n {
                let a = t.load(mine, load);
                let b = t.load(other, load);
                let sum = t.bin(BinOp::Add, a, b);
                t.store(mine, sum, store);
            }
        }
        _ => {
            let r = t.load(i, load);
            let small = t.bin(BinOp::Lt, r, bound);
            let skip = t.unless(small);
            let r = t.load(j, load);
            let small = t.bin(BinOp::Lt, r, bound);
            t.assert(small);
            t.land(skip);
        }
    })
}

/// Thread `i` of `n`: `x[i].store(1); x[(i + 1) % n].load()`.
pub fn sb_ring(n: usize) -> Litmus {
    sb_ring_with(n, Relaxed)
}

/// The same, SeqCst.
pub fn sb_ring_sc(n: usize) -> Litmus {
    sb_ring_with(n, SeqCst)
}

fn sb_ring_with(n: usize, order: MemOrder) -> Litmus {
    threads(n, vec![], |i, t| {
        t.store(loc(i), 1, order);
        t.load(loc((i + 1) % n), order);
    })
}

/// `n` threads store different values to `x`.
pub fn n_writers(n: usize) -> Litmus {
    threads(n, vec![], |i, t| t.store(loc(X), i as u64 + 1, Relaxed))
}

/// A main thread that spawns threads, runs, and joins them.
fn spawning(children: Vec<Code>, between: impl Fn(usize, &mut Code), after: impl Fn(&mut Code)) -> Litmus {
    let mut main = Code::new();
    let mut handles = Vec::new();
    for i in 0..children.len() {
        between(i, &mut main);
        handles.push(main.spawn(i + 1));
    }
    handles.into_iter().for_each(|handle| main.join(handle));
    after(&mut main);
    Litmus::with_spawned([vec![main], children].concat(), 1, vec![])
}

/// `n` threads store different values to `x`; main joins them and loads it.
pub fn lastwrite(n: usize) -> Litmus {
    let child = |i: usize| {
        let mut code = Code::new();
        code.store(loc(X), i as u64 + 1, Relaxed);
        code
    };
    spawning(
        (0..n).map(child).collect(),
        |_, _| {},
        |main| {
            main.load(loc(X), Relaxed);
        },
    )
}

/// `t0: x.fetch_add(1)`; `t1..tn: y.fetch_add(1)`, and `tn` then also `x.fetch_add(1)`.
pub fn exp_mem(n: usize) -> Litmus {
    threads(n + 1, vec![], |i, t| match i {
        0 => {
            t.rmw(RmwOp::Add, loc(X), 1, Relaxed);
        }
        _ => {
            t.rmw(RmwOp::Add, loc(Y), 1, Relaxed);
            if i == n {
                t.rmw(RmwOp::Add, loc(X), 1, Relaxed);
            }
        }
    })
}

/// `n` threads lock a mutex, increment what it guards, and unlock it.
pub fn mutex(n: usize) -> Litmus {
    threads(n, vec![], |_, t| {
        t.lock(loc(X));
        let r = t.load(loc(Y), MemOrder::NotAtomic);
        let r = t.bin(BinOp::Add, r, 1);
        t.store(loc(Y), r, MemOrder::NotAtomic);
        t.unlock(loc(X));
    })
}

/// Main stores `i` to `index` and spawns a thread that does `a[index.load()].store(1)`, for each `i` below `n`; SeqCst.
pub fn sigma(n: usize) -> Litmus {
    sigma_with(n, SeqCst)
}

/// The same, with this ordering.
pub fn sigma_with(n: usize, order: MemOrder) -> Litmus {
    let child = |_| {
        let mut code = Code::new();
        let i = code.load(loc(0), order);
        code.store(at(loc(1), i), 1, order);
        code
    };
    spawning((0..n).map(child).collect(), |i, main| main.store(loc(0), i as u64, order), |_| {})
}

/// `n` threads store different values to `x`; another, not joining, loads it.
pub fn floating_read(n: usize) -> Litmus {
    threads(n + 1, vec![], |i, t| match i {
        0 => {
            t.load(loc(X), SeqCst);
        }
        _ => t.store(loc(X), i as u64, SeqCst),
    })
}
