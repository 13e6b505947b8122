//! The forms that waiting for a condition takes.

use std::hint;
use std::iter;
use std::ops::ControlFlow;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::support::{Plain, threads, two};

/// A number that one thread publishes.
#[derive(Default)]
struct Published {
    value: Plain<u32>,
    ready: AtomicBool,
}

impl Published {
    fn publish(&self, value: u32) {
        self.value.write(value);
        self.ready.store(true, Release);
    }

    fn is_ready(&self) -> bool {
        self.ready.load(Acquire)
    }

    fn get(&self) -> Option<u32> {
        self.is_ready().then(|| self.value.read())
    }
}

/// One thread publishes 7, and another gets it in some way: 1 execution, where it has seen that.
fn pass_on(get: impl Fn(&Published) -> u32 + Sync) {
    let published = Published::default();
    let ((), value) = two(|| published.publish(7), || get(&published));
    assert_eq!(value, 7);
}

#[dpor::test]
fn while_not() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    // LEVELS: off 1+1 stale 1 in-place 1 full 1
    pass_on(|published| {
        while !published.is_ready() {
            hint::spin_loop();
        }
        published.value.read()
    });
}

#[dpor::test]
fn loop_and_break() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    pass_on(|published| {
        loop {
            if let Some(value) = published.get() {
                break value;
            }
            thread::yield_now();
        }
    });
}

#[dpor::test]
fn while_let() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let stage = AtomicU32::new(0);
    let wait = || {
        while let 0 | 1 = stage.load(Acquire) {
            hint::spin_loop();
        }
    };
    two(|| [1, 2].map(|number| stage.store(number, Release)), wait);
}

#[dpor::test]
fn let_else() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    pass_on(|published| {
        loop {
            let Some(value) = published.get() else {
                hint::spin_loop();
                continue;
            };
            return value;
        }
    });
}

/// Waits until a condition holds.
fn wait_until(condition: impl Fn() -> bool) {
    while !condition() {
        hint::spin_loop();
    }
}

/// Waits as long as a condition holds.
fn wait_while(condition: impl Fn() -> bool) {
    wait_until(|| !condition());
}

#[dpor::test]
fn closure() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    pass_on(|published| {
        wait_until(|| published.is_ready());
        published.value.read()
    });
}

/// The same through a pointer to the condition and to what to do in between.
fn wait_dynamically(condition: &dyn Fn() -> bool, relax: fn()) {
    while !condition() {
        relax();
    }
}

#[dpor::test]
fn dynamic_closure() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    pass_on(|published| {
        wait_dynamically(&|| published.is_ready(), thread::yield_now);
        published.value.read()
    });
}

#[dpor::test]
fn sleeping() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    pass_on(|published| {
        while !published.is_ready() {
            thread::sleep(Duration::from_millis(1));
        }
        published.value.read()
    });
}

// An endless iterator that is searched.
#[dpor::test]
fn find_map() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    pass_on(|published| iter::repeat(published).find_map(Published::get).unwrap());
}

#[dpor::test]
fn try_for_each() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    pass_on(|published| {
        let found = iter::repeat(()).try_for_each(|()| match published.get() {
            Some(value) => ControlFlow::Break(value),
            None => ControlFlow::Continue(()),
        });
        match found {
            ControlFlow::Break(value) => value,
            ControlFlow::Continue(()) => unreachable!(),
        }
    });
}

// The iteration makes things of its own and drops them again.
#[dpor::test]
fn with_allocations() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    pass_on(|published| {
        loop {
            let found: Vec<u32> = published.get().into_iter().collect();
            match found.first() {
                Some(value) => return *value,
                None => drop(Box::new(found)),
            }
        }
    });
}

// The iteration writes to memory of its thread, always the same.
#[dpor::test]
fn with_writes_to_locals() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    pass_on(|published| {
        let mut seen = [0; 4];
        loop {
            let ready = published.is_ready();
            seen.fill(u32::from(ready));
            hint::black_box(&mut seen);
            if seen.iter().sum::<u32>() == 4 {
                return published.value.read();
            }
        }
    });
}

// What is waited for is in memory that reference counts keep alive. Whoever drops its reference last is the second of two.
#[dpor::test]
fn in_an_arc() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let ready = Arc::new(AtomicBool::new(false));
    let waits = thread::spawn({
        let ready = Arc::clone(&ready);
        move || wait_until(|| ready.load(Acquire))
    });
    ready.store(true, Release);
    drop(ready);
    waits.join().unwrap();
}

// All of several flags, each looked at in turn.
#[dpor::test]
fn all_of_several() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let flags = [const { AtomicBool::new(false) }; 3];
    threads(4, |i| match flags.get(i) {
        Some(flag) => flag.store(true, Release),
        None => {
            while !flags.iter().all(|flag| flag.load(Acquire)) {
                hint::spin_loop();
            }
        }
    });
}

#[dpor::test]
fn all_of_several_while_waiting_first() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let flags = [const { AtomicBool::new(false) }; 3];
    threads(4, |i| match i.checked_sub(1) {
        Some(flag) => flags[flag].store(true, Release),
        None => {
            while !flags.iter().all(|flag| flag.load(Acquire)) {
                hint::spin_loop();
            }
        }
    });
}

// Any of several flags: the first that is seen to be set, those before it being seen unset, n.
#[dpor::test]
fn any_of_several() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let flags = [const { AtomicBool::new(false) }; 3];
    threads(4, |i| match flags.get(i) {
        Some(flag) => flag.store(true, Release),
        None => {
            let found = loop {
                if let Some(found) = flags.iter().position(|flag| flag.load(Acquire)) {
                    break found;
                }
                hint::spin_loop();
            };
            assert!(found < 3);
        }
    });
}

// How many of several flags are set, all being looked at each time.
#[dpor::test]
fn count_of_several() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let flags = [const { AtomicBool::new(false) }; 3];
    threads(4, |i| match flags.get(i) {
        Some(flag) => flag.store(true, Release),
        // Two of three are seen to be set, or all.
        None => wait_until(|| flags.iter().filter(|flag| flag.load(Acquire)).count() >= 2),
    });
}

// Two locations in one iteration. For a sum of both to be 2, both must have been seen.
#[dpor::test]
fn sum_of_two() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| wait_while(|| x.load(Acquire) + y.load(Acquire) < 2));
        scope.spawn(|| x.store(1, Release));
        scope.spawn(|| y.store(1, Release));
    });
}

// One of two: the second is looked at only where the first is not there.
#[dpor::test]
fn either_of_two() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (x, y) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| wait_while(|| !x.load(Acquire) && !y.load(Acquire)));
        scope.spawn(|| x.store(true, Release));
        scope.spawn(|| y.store(true, Release));
    });
}

// The location that is waited for depends on another: which one that is, is read in each iteration.
#[dpor::test]
fn through_a_pointer() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let cells = [const { AtomicU32::new(0) }; 2];
    let current = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| wait_while(|| cells[current.load(Acquire)].load(Acquire) == 0));
        scope.spawn(|| current.store(1, Release));
        scope.spawn(|| cells[1].store(1, Release));
    });
}

// A loop that waits in a loop that goes on: one flag after the other.
#[dpor::test]
fn one_after_the_other() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let flags = [const { AtomicBool::new(false) }; 3];
    threads(4, |i| match flags.get(i) {
        Some(flag) => flag.store(true, Release),
        None => {
            for flag in &flags {
                while !flag.load(Acquire) {
                    hint::spin_loop();
                }
            }
        }
    });
}

// A loop that waits in a loop that waits: first until something is there, then until it can be taken. A worker that has
// seen something may find that it is gone. Of two items each worker takes one: in which order, and for the second whether
// it has seen both or one of them. Where attempts that fail are not left out, it may also have tried to take the first.
#[dpor::test]
fn wait_and_take() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    // LEVELS: off 6 stale 6 in-place 6 full 4
    let items = AtomicUsize::new(2);
    let take = || {
        loop {
            let mut seen = items.load(Acquire);
            while seen == 0 {
                hint::spin_loop();
                seen = items.load(Acquire);
            }
            if items.try_update(AcqRel, Acquire, |items| items.checked_sub(1)).is_ok() {
                break;
            }
        }
    };
    two(take, take);
    assert_eq!(items.into_inner(), 0);
}

// Two threads take turns, three times each.
#[dpor::test]
fn turns() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (turn, counter) = (AtomicUsize::new(0), Plain::new(0));
    let play = |me: usize| {
        for _ in 0..3 {
            while turn.load(Acquire) != me {
                hint::spin_loop();
            }
            counter.write(counter.read() + 1);
            turn.store(1 - me, Release);
        }
    };
    two(|| play(0), || play(1));
    assert_eq!(counter.into_inner(), 6);
}

// A pipeline: each stage waits for the one before.
#[dpor::test]
fn stages() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let stage = AtomicUsize::new(0);
    let trail = Plain::new(Vec::new());
    threads(4, |i| {
        while stage.load(Acquire) < i {
            thread::yield_now();
        }
        unsafe { (*trail.get()).push(i) };
        stage.store(i + 1, Release);
    });
    assert_eq!(trail.into_inner(), [0, 1, 2, 3]);
}

// A box that is taken out as soon as it is there.
#[dpor::test]
fn taken_by_swap() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let mailbox = AtomicPtr::<u32>::new(ptr::null_mut());
    let receive = || {
        loop {
            let letter = mailbox.swap(ptr::null_mut(), Acquire);
            if !letter.is_null() {
                break unsafe { *Box::from_raw(letter) };
            }
            hint::spin_loop();
        }
    };
    let ((), letter) = two(|| mailbox.store(Box::into_raw(Box::new(7)), Release), receive);
    assert_eq!(letter, 7);
}

// A mutex that is locked to look: the lock is taken by turns, and only the last look counts. The thread that waits comes
// second.
#[dpor::test]
fn under_a_mutex() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let slot = Mutex::new(None);
    let receive = || {
        loop {
            if let Some(value) = slot.lock().unwrap().take() {
                break value;
            }
            thread::yield_now();
        }
    };
    let ((), value) = two(|| *slot.lock().unwrap() = Some(7), receive);
    assert_eq!(value, 7);
}
