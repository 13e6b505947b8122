//! Where leaving out iterations could go wrong: what is waited for comes and goes, comes back as the same value, is
//! written by several threads at once, or is not all that an iteration depends on.

use std::hint;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::*};
use std::thread;

use crate::support::{Plain, Pointer, threads, two};

/// Waits until a location has a value that will do, and says which.
fn wait_for(location: &AtomicUsize, will_do: impl Fn(usize) -> bool) -> usize {
    loop {
        let value = location.load(Acquire);
        if will_do(value) {
            return value;
        }
        hint::spin_loop();
    }
}

// Any of three values will do, and each is seen in some execution.
#[dpor::test]
fn any_value_that_will_do() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let x = AtomicUsize::new(0);
    two(|| wait_for(&x, |x| x != 0), || [1, 2, 3].map(|value| x.store(value, Release)));
}

#[dpor::test]
fn first_value_that_will_do() {
    let x = AtomicUsize::new(0);
    let (seen, _) = two(|| wait_for(&x, |x| x != 0), || [1, 2, 3].map(|value| x.store(value, Release)));
    assert_ne!(seen, 1); // ERROR: panic
}

#[dpor::test]
fn middle_value_that_will_do() {
    let x = AtomicUsize::new(0);
    let (seen, _) = two(|| wait_for(&x, |x| x != 0), || [1, 2, 3].map(|value| x.store(value, Release)));
    assert_ne!(seen, 2); // ERROR: panic
}

#[dpor::test]
fn last_value_that_will_do() {
    let x = AtomicUsize::new(0);
    let (seen, _) = two(|| wait_for(&x, |x| x != 0), || [1, 2, 3].map(|value| x.store(value, Release)));
    assert_ne!(seen, 3); // ERROR: panic
}

// It comes, goes, and comes again, and may be seen either time.
#[dpor::test]
fn comes_twice() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let x = AtomicUsize::new(0);
    two(|| wait_for(&x, |x| x == 1), || [1, 0, 1].map(|value| x.store(value, Release)));
}

// What was published with it differs.
#[dpor::test]
fn comes_twice_with_something_else() {
    let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let wait = || {
        wait_for(&x, |x| x == 1);
        y.load(Relaxed)
    };
    let write = || {
        x.store(1, Release);
        x.store(0, Relaxed);
        y.store(5, Relaxed);
        x.store(1, Release);
    };
    let (seen, ()) = two(wait, write);
    assert_eq!(seen, 5); // ERROR: panic
}

// It comes and goes: in some execution it is missed.
#[dpor::test]
fn comes_and_goes() {
    dpor::assume(dpor::checking());
    let x = AtomicUsize::new(0);
    let wait = || {
        // ERROR: non-termination
        while x.load(Acquire) != 1 {
            hint::spin_loop();
        }
    };
    two(wait, || [1, 0].map(|value| x.store(value, Release)));
}

// In some execution it is not missed.
#[dpor::test]
fn comes_and_goes_and_comes_back_by_another() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (x, go) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| wait_for(&x, |x| x == 1));
        scope.spawn(|| {
            x.store(1, Release);
            x.store(0, Release);
            go.store(true, Release);
        });
        scope.spawn(|| {
            while !go.load(Acquire) {
                hint::spin_loop();
            }
            x.store(1, Release);
        });
    });
}

// Two that are equal, then differ, then are equal again.
#[dpor::test]
fn differ_for_a_while() {
    dpor::assume(dpor::checking());
    let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let wait = || {
        // ERROR: non-termination
        while x.load(Acquire) == y.load(Acquire) {
            hint::spin_loop();
        }
    };
    two(wait, || [&x, &y].map(|one| one.store(1, Release)));
}

// Both announce themselves before they wait for the other: 1.
#[dpor::test]
fn wait_for_each_other() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let meet = |mine: &AtomicUsize, other: &AtomicUsize| {
        mine.store(1, Release);
        wait_for(other, |other| other == 1);
    };
    two(|| meet(&x, &y), || meet(&y, &x));
}

// Both wait before they announce themselves.
#[dpor::test]
fn wait_for_each_other_first() {
    dpor::assume(dpor::checking());
    let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let meet = |mine: &AtomicUsize, other: &AtomicUsize| {
        // ERROR: non-termination
        while other.load(Acquire) == 0 {
            hint::spin_loop();
        }
        mine.store(1, Release);
    };
    two(|| meet(&x, &y), || meet(&y, &x));
}

// Three that wait for the next one in a circle, one of which begins.
#[dpor::test]
fn wait_in_a_circle() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let flags = [const { AtomicUsize::new(0) }; 3];
    threads(3, |i| {
        if i == 1 {
            flags[1].store(1, Release);
            wait_for(&flags[0], |flag| flag == 1);
        } else {
            wait_for(&flags[(i + 2) % 3], |flag| flag == 1);
            flags[i].store(1, Release);
        }
    });
}

// The one that waits has read something else before, from before what it waits for.
#[dpor::test]
fn old_value_before_waiting() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let wait = || {
        let before = y.load(Relaxed);
        wait_for(&x, |x| x == 1);
        (before, y.load(Relaxed))
    };
    let write = || {
        y.store(1, Relaxed);
        x.store(1, Release);
    };
    let ((before, after), ()) = two(wait, write);
    assert!(before <= after && after == 1);
}

// What comes after the wait fails only where the wait has ended with the second of two values.
#[dpor::test]
fn failure_behind_the_wait() {
    let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let wait = || {
        let seen = wait_for(&x, |x| x > 0);
        y.store(seen, Relaxed);
    };
    let write = || {
        x.store(1, Release);
        let early = y.load(Relaxed);
        x.store(2, Release);
        early
    };
    let ((), early) = two(wait, write);
    let late = y.into_inner();
    assert!(early == 1 || late == 1); // ERROR: panic
}

// Without an acquire, what was written before the flag need not be seen after it.
#[dpor::test]
fn waits_relaxed() {
    let (flag, value) = (AtomicBool::new(false), Plain::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !flag.load(Relaxed) {
                hint::spin_loop();
            }
            assert!(unsafe { *value.get() } < 2); // ERROR: data-race
        });
        scope.spawn(|| {
            unsafe { *value.get() = 1 }; // ERROR: data-race
            flag.store(true, Release);
        });
    });
}

#[dpor::test]
fn waits_relaxed_for_an_atomic() {
    // MODELS: rc11
    let (flag, value) = (AtomicBool::new(false), AtomicUsize::new(0));
    let wait = || {
        while !flag.load(Relaxed) {
            hint::spin_loop();
        }
        value.load(Relaxed)
    };
    let publish = || {
        value.store(1, Relaxed);
        flag.store(true, Release);
    };
    let (seen, ()) = two(wait, publish);
    assert_eq!(seen, 1); // ERROR: panic
}

// A fence after the loop does what an acquire would have done.
#[dpor::test]
fn waits_relaxed_before_a_fence() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (flag, value) = (AtomicBool::new(false), Plain::new(0));
    let wait = || {
        while !flag.load(Relaxed) {
            hint::spin_loop();
        }
        std::sync::atomic::fence(Acquire);
        value.read()
    };
    let publish = || {
        value.write(1);
        flag.store(true, Release);
    };
    assert_eq!(two(wait, publish).0, 1);
}

// Where an iteration before the last has seen 1, the value is visible; but none need have.
#[dpor::test]
fn acquired_by_an_iteration_before() {
    let (stage, value) = (AtomicUsize::new(0), Plain::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while stage.load(Acquire) != 2 {
                hint::spin_loop();
            }
            assert!(unsafe { *value.get() } < 2); // ERROR: data-race
        });
        scope.spawn(|| {
            unsafe { *value.get() = 1 }; // ERROR: data-race
            stage.store(1, Release);
        });
        scope.spawn(|| {
            while stage.load(Relaxed) != 1 {
                hint::spin_loop();
            }
            stage.store(2, Relaxed);
        });
    });
}

// Stores by two threads that do not know of each other, in either order; the third sees one of them: 4.
#[dpor::test]
fn unordered_writes() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let x = AtomicUsize::new(0);
    threads(3, |i| match i {
        0 => _ = wait_for(&x, |x| x != 0),
        _ => x.store(i, Release),
    });
}

// n stores in any order, of which one is seen: n!·n.
#[dpor::test]
fn three_unordered_writes() {
    // COUNT: rc11 18 sc 18 tso 18 pso 18
    let x = AtomicUsize::new(0);
    threads(4, |i| match i {
        0 => _ = wait_for(&x, |x| x != 0),
        _ => x.store(i, Release),
    });
}

// Only one of them will do, and it may be overwritten before it is seen.
#[dpor::test]
fn unordered_writes_of_which_one_will_do() {
    dpor::assume(dpor::checking());
    let x = AtomicUsize::new(0);
    threads(3, |i| match i {
        0 => {
            // ERROR: non-termination
            while x.load(Acquire) != 2 {
                hint::spin_loop();
            }
        }
        _ => x.store(i, Release),
    });
}

// Two that wait for different ones of unordered writes, in sequence: by then the order is known. At `full` more are explored than
// need be.
#[dpor::test]
fn unordered_writes_seen_twice() {
    // COUNT: rc11 6.. sc 6.. tso 6.. pso 6..
    // LEVELS: off 6+2 stale 6+2 in-place 6
    let x = AtomicUsize::new(0);
    threads(3, |i| match i {
        0 => {
            let first = wait_for(&x, |x| x != 0);
            let second = x.load(Acquire);
            assert!(first != 0 && second != 0);
        }
        _ => x.store(i, Release),
    });
}

// Read-modify-writes that are not ordered otherwise: the third waits for the sum.
#[dpor::test]
fn unordered_additions() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let x = AtomicUsize::new(0);
    threads(4, |i| match i {
        0 => _ = wait_for(&x, |x| x == 6),
        _ => _ = x.fetch_add(i, Release),
    });
}

// A sum that is there only in some orders: 1 + 3 before 2, or 3 + 1 before 2.
#[dpor::test]
fn sum_that_comes_in_some_orders() {
    dpor::assume(dpor::checking());
    let x = AtomicUsize::new(0);
    threads(4, |i| match i {
        0 => {
            // ERROR: non-termination
            while x.load(Acquire) != 4 {
                hint::spin_loop();
            }
        }
        _ => _ = x.fetch_add(i, Release),
    });
}

// The top of a stack is the same as before, and yet what is below it is not: a node that was popped is there again.
#[dpor::test]
fn same_value_in_another_place() {
    struct Node {
        next: AtomicPtr<Node>,
        pops: AtomicUsize,
    }
    let node = |next| Node { next: AtomicPtr::new(next), pops: AtomicUsize::new(0) };
    let below = node(ptr::null_mut());
    let above = node(ptr::from_ref(&below).cast_mut());
    let head = AtomicPtr::new(ptr::from_ref(&above).cast_mut());
    let pop = || {
        loop {
            let first = unsafe { head.load(Acquire).as_ref() }?;
            let next = first.next.load(Relaxed);
            if head.compare_exchange(ptr::from_ref(first).cast_mut(), next, AcqRel, Relaxed).is_ok() {
                first.pops.fetch_add(1, Relaxed);
                return Some(first);
            }
        }
    };
    let push = |node: &Node| {
        loop {
            let first = head.load(Relaxed);
            node.next.store(first, Relaxed);
            if head.compare_exchange(first, ptr::from_ref(node).cast_mut(), Release, Relaxed).is_ok() {
                break;
            }
        }
    };
    let pop_two_and_push_one = || {
        let first = pop();
        pop();
        if let Some(first) = first {
            first.pops.store(0, Relaxed);
            push(first);
        }
    };
    two(|| _ = pop(), pop_two_and_push_one);
    while pop().is_some() {}
    assert!(below.pops.into_inner() <= 1); // ERROR: panic
}

// A number that is taken away and put back in the meantime: the compare-exchange succeeds, though something has
// happened after what was read before it.
#[dpor::test]
fn same_number_again() {
    let (x, happened) = (AtomicUsize::new(1), AtomicBool::new(false));
    let take_and_put_back = || {
        x.store(2, Relaxed);
        happened.store(true, Relaxed);
        x.store(1, Release);
    };
    let confirm = || {
        loop {
            let seen = x.load(Acquire);
            let before = happened.load(Relaxed);
            if x.compare_exchange(seen, seen + 10, AcqRel, Relaxed).is_ok() {
                return before;
            }
        }
    };
    let ((), before) = two(take_and_put_back, confirm);
    let confirmed_last = x.into_inner() == 11;
    assert!(before || !confirmed_last); // ERROR: panic
}

// The same, where the failures in between matter to nobody. The last iteration loads 1, 2 or 1 again, and its
// compare-exchange finds that or, for the first, the last: 4.
#[dpor::test]
fn same_number_again_for_nobody() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    // READS-FROM: rc11 4.. sc 4.. tso 4.. pso 4..
    let x = AtomicUsize::new(1);
    let change = || {
        x.store(2, Relaxed);
        x.store(1, Relaxed);
    };
    let confirm = || {
        loop {
            let seen = x.load(Relaxed);
            if x.compare_exchange(seen, seen + 10, Relaxed, Relaxed).is_ok() {
                break;
            }
        }
    };
    two(change, confirm);
}

// A node that is freed and allocated again may have the same address; here it never has, and what is freed is found.
#[dpor::test]
fn freed_between_load_and_confirmation() {
    dpor::assume(dpor::checking());
    let head = AtomicPtr::new(Box::into_raw(Box::new(0)));
    let replace = || {
        let new = Box::into_raw(Box::new(1));
        loop {
            let seen = head.load(Acquire);
            unsafe { *new = *seen + 1 }; // ERROR: use-after-free
            if head.compare_exchange(seen, new, AcqRel, Relaxed).is_ok() {
                drop(unsafe { Box::from_raw(seen) }); // ERROR: use-after-free
                break;
            }
        }
    };
    two(replace, replace);
    drop(unsafe { Box::from_raw(head.into_inner()) });
}

// The failed exchange gives what is there now without synchronising with it.
#[dpor::test]
fn goes_on_without_acquiring() {
    let head = AtomicPtr::new(Box::into_raw(Box::new(1)));
    let replace = || {
        let new = Box::into_raw(Box::new(0));
        let mut seen = head.load(Acquire);
        loop {
            unsafe { *new = *seen + 1 }; // ERROR: data-race
            match head.compare_exchange(seen, new, AcqRel, Relaxed) {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        Pointer(seen)
    };
    let (Pointer(first), Pointer(second)) = two(replace, replace);
    for node in [first, second, head.into_inner()] {
        drop(unsafe { Box::from_raw(node) });
    }
}

// A thread that waits for a lock which is never contended when it looks first must still be able to come second.
#[dpor::test]
fn order_of_critical_sections() {
    let (lock, log) = (AtomicBool::new(false), Plain::new(Vec::new()));
    threads(3, |i| {
        while lock.swap(true, Acquire) {
            hint::spin_loop();
        }
        unsafe { (*log.get()).push(i) };
        lock.store(false, Release);
    });
    assert_ne!(log.into_inner(), [2, 1, 0]); // ERROR: panic
}

// An iteration that reads two locations: what it has seen of the first may be old when it sees the second.
#[dpor::test]
fn torn_between_two_reads() {
    let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let wait = || {
        loop {
            let seen = (x.load(Acquire), y.load(Acquire));
            if seen != (0, 0) {
                return seen;
            }
        }
    };
    let write = || {
        x.store(1, Release);
        y.store(1, Release);
    };
    let (seen, ()) = two(wait, write);
    assert_ne!(seen, (0, 1)); // ERROR: panic
}

// Two waits of the same thread, the second for more: 1 and then 2 or 3, 2 and then 2 or 3, 3 and then 3.
#[dpor::test]
fn early_and_late() {
    // COUNT: rc11 5 sc 5 tso 5 pso 5
    let x = AtomicUsize::new(0);
    let wait = || (wait_for(&x, |x| x >= 1), wait_for(&x, |x| x >= 2));
    let ((first, second), _) = two(wait, || [1, 2, 3].map(|value| x.store(value, Release)));
    assert!(first <= second);
}

// A reader announces itself before it looks whether somebody writes, and takes that back: who sees the announcement
// beside the writer's mark sees something that is there in between only.
#[dpor::test(unroll = 2)]
fn announcement_that_is_taken_back() {
    const WRITER: usize = 1;
    const READER: usize = 2;
    let lock = AtomicUsize::new(WRITER);
    let read = || {
        while lock.fetch_add(READER, Acquire) & WRITER != 0 {
            lock.fetch_sub(READER, Release);
        }
    };
    let look = || {
        let seen = lock.load(Relaxed);
        lock.fetch_sub(WRITER, Release);
        seen
    };
    let ((), seen) = two(read, look);
    assert_ne!(seen, WRITER + READER); // ERROR: panic
}

// The same, where nobody looks: the reader comes in when the writer is gone.
#[dpor::test]
fn announcement_that_nobody_minds() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let lock = AtomicUsize::new(1);
    let read = || {
        while lock.fetch_add(2, Acquire) & 1 != 0 {
            lock.fetch_sub(2, Release);
        }
    };
    two(read, || _ = lock.fetch_sub(1, Release));
}
