//! Memory that another thread frees, or has not initialized yet; and other errors that only some executions have.

use std::cell::Cell;
use std::hint::unreachable_unchecked;
use std::mem::MaybeUninit;
use std::panic;
use std::process;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::support::{Plain, Pointer, two};

#[dpor::test]
fn freed_while_it_is_read() {
    let pointer = Pointer::boxed(5);
    let thread = thread::spawn(move || {
        unsafe { *pointer.get() } // ERROR: use-after-free
    });
    drop(unsafe { Box::from_raw(pointer.get()) });
    thread.join().unwrap();
}

// The memory is freed before the flag is set: who sees the flag comes too late for sure.
#[dpor::test]
fn read_after_it_was_freed() {
    let (pointer, freed) = (Pointer::boxed(5), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            drop(unsafe { Box::from_raw(pointer.get()) });
            freed.store(true, Release);
        });
        if freed.load(Acquire) {
            assert_eq!(unsafe { *pointer.get() }, 5); // ERROR: use-after-free
        }
    });
}

// Freed by whoever comes after the last read: the flag is seen, or it is not and the thread is joined first.
#[dpor::test]
fn freed_after_it_was_read() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (pointer, done) = (Pointer::boxed(5), AtomicBool::new(false));
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            assert_eq!(unsafe { *pointer.get() }, 5);
            done.store(true, Release);
        });
        if !done.load(Acquire) {
            thread.join().unwrap();
        }
        drop(unsafe { Box::from_raw(pointer.get()) });
    });
}

#[dpor::test]
fn local_of_a_thread_that_has_ended() {
    let pointer = thread::spawn(|| {
        let mut local = 5;
        Pointer::new(&raw mut local)
    });
    let pointer = pointer.join().unwrap();
    assert_eq!(unsafe { *pointer.get() }, 5); // ERROR: use-after-free
}

#[dpor::test]
fn local_of_a_thread_that_waits() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut local = 5;
            let pointer = Pointer::new(&raw mut local);
            thread::scope(|scope| _ = scope.spawn(move || unsafe { *pointer.get() += 1 }));
            assert_eq!(local, 6);
        });
    });
}

// The function returns as soon as the flag is set, though the thread reads its local afterwards.
#[dpor::test]
fn local_of_a_function_that_returns() {
    static READY: AtomicBool = AtomicBool::new(false);
    fn start() -> thread::JoinHandle<u32> {
        let mut local = 5;
        let pointer = Pointer::new(&raw mut local);
        let thread = thread::spawn(move || {
            READY.store(true, Release);
            unsafe { *pointer.get() } // ERROR: use-after-free
        });
        dpor::assume(READY.load(Acquire));
        thread
    }
    start().join().unwrap();
}

// The same with the local of an iteration.
#[dpor::test]
fn local_of_an_iteration_that_is_over() {
    static READY: AtomicBool = AtomicBool::new(false);
    let mut threads = Vec::new();
    for i in 0..2 {
        let mut local = i;
        let pointer = Pointer::new(&raw mut local);
        if i == 0 {
            threads.push(thread::spawn(move || {
                READY.store(true, Release);
                unsafe { *pointer.get() } // ERROR: use-after-free
            }));
            dpor::assume(READY.load(Acquire));
        }
    }
    threads.into_iter().for_each(|thread| _ = thread.join().unwrap());
}

// Read before the flag is set, it is there.
#[dpor::test]
fn local_read_in_time() {
    // COUNT: rc11 1+1 sc 1+1 tso 1+1 pso 1+1
    static READY: AtomicBool = AtomicBool::new(false);
    fn start() -> thread::JoinHandle<()> {
        let mut local = 5;
        let pointer = Pointer::new(&raw mut local);
        let thread = thread::spawn(move || {
            assert_eq!(unsafe { *pointer.get() }, 5);
            READY.store(true, Release);
        });
        dpor::assume(READY.load(Acquire));
        thread
    }
    start().join().unwrap();
}

// On the heap: freed as soon as the flag is set, read afterwards.
#[dpor::test]
fn freed_when_the_flag_is_set() {
    let (pointer, ready) = (Pointer::boxed(5), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            ready.store(true, Release);
            assert_eq!(unsafe { *pointer.get() }, 5); // ERROR: use-after-free
        });
        dpor::assume(ready.load(Acquire));
        drop(unsafe { Box::from_raw(pointer.get()) }); // ERROR: use-after-free
    });
}

// It is read before the flag is set, but nothing tells the thread that frees it so.
#[dpor::test]
fn freed_when_a_relaxed_flag_is_set() {
    let (pointer, done) = (Pointer::boxed(5), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(unsafe { *pointer.get() }, 5); // ERROR: data-race
            done.store(true, Relaxed);
        });
        dpor::assume(done.load(Acquire));
        drop(unsafe { Box::from_raw(pointer.get()) }); // ERROR: data-race
    });
}

// The same with a local, written by the thread.
#[dpor::test]
fn local_written_before_a_relaxed_flag_is_set() {
    static DONE: AtomicBool = AtomicBool::new(false);
    fn start() -> thread::JoinHandle<()> {
        let mut local = 5;
        let pointer = Pointer::new(&raw mut local);
        let thread = thread::spawn(move || {
            unsafe { *pointer.get() = 6 }; // ERROR: data-race
            DONE.store(true, Release);
        });
        dpor::assume(DONE.load(Relaxed));
        thread
    } // ERROR: data-race
    start().join().unwrap();
}

// A panic leaves the function while the thread still reads.
#[dpor::test]
fn local_of_a_function_that_panics() {
    static READY: AtomicBool = AtomicBool::new(false);
    fn start() {
        let mut local = 5;
        let pointer = Pointer::new(&raw mut local);
        thread::spawn(move || {
            READY.store(true, Release);
            unsafe { *pointer.get() } // ERROR: use-after-free
        });
        dpor::assume(READY.load(Acquire));
        panic!("{:p}", &local);
    }
    assert!(panic::catch_unwind(start).is_err());
}

// A local that is too large for the frame.
#[dpor::test]
fn large_local_of_a_function_that_returns() {
    static READY: AtomicBool = AtomicBool::new(false);
    fn start() -> thread::JoinHandle<u8> {
        let mut local = [5; 100_000];
        let pointer = Pointer::new(&raw mut local[99_999]);
        let thread = thread::spawn(move || {
            READY.store(true, Release);
            unsafe { *pointer.get() } // ERROR: use-after-free
        });
        dpor::assume(READY.load(Acquire));
        thread
    }
    start().join().unwrap();
}

// A thread-local of a thread that ends.
#[dpor::test]
fn thread_local_of_a_thread_that_ends() {
    thread_local!(static LOCAL: Cell<u32> = const { Cell::new(5) });
    static PLACE: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());
    static READY: AtomicBool = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            PLACE.store(LOCAL.with(Cell::as_ptr), Release);
            dpor::assume(READY.load(Acquire));
        });
        let pointer = PLACE.load(Acquire);
        dpor::assume(!pointer.is_null());
        READY.store(true, Release);
        assert_eq!(unsafe { *pointer }, 5); // ERROR: use-after-free
    });
}

// The vector moved to a larger block when the other thread pushed.
#[dpor::test]
fn element_of_a_vector_that_grew() {
    let mut numbers = Vec::with_capacity(1);
    numbers.push(5);
    let first = Pointer::new(&raw mut numbers[0]);
    let mut numbers = thread::spawn(move || {
        numbers.push(6);
        numbers
    })
    .join()
    .unwrap();
    numbers[0] = unsafe { *first.get() }; // ERROR: use-after-free
}

// Both threads free the same box.
#[dpor::test]
fn freed_twice() {
    let pointer = Pointer::boxed(5);
    let free = move || {
        drop(unsafe { Box::from_raw(pointer.get()) }); // ERROR: double-free
    };
    two(free, free);
}

// The one that takes the pointer out frees what it points to.
#[dpor::test]
fn freed_by_whoever_takes_it() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let place = AtomicPtr::new(Box::into_raw(Box::new(5)));
    let free = || {
        let taken = place.swap(ptr::null_mut(), AcqRel);
        if !taken.is_null() {
            drop(unsafe { Box::from_raw(taken) });
        }
    };
    two(free, free);
}

// Taken out by a load and a store, it may be taken out twice.
#[dpor::test]
fn taken_twice() {
    let place = AtomicPtr::new(Box::into_raw(Box::new(5)));
    let free = || {
        let taken = place.load(SeqCst);
        if !taken.is_null() {
            place.store(ptr::null_mut(), SeqCst);
            drop(unsafe { Box::from_raw(taken) }); // ERROR: double-free
        }
    };
    two(free, free);
}

// Two threads install a box; the one that comes too late forgets its own.
#[dpor::test]
fn loser_of_a_race_leaks() {
    static PLACE: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());
    let install = |value| {
        let new = Box::into_raw(Box::new(value)); // ERROR: memory-leak
        _ = PLACE.compare_exchange(ptr::null_mut(), new, AcqRel, Acquire);
    };
    two(|| install(1), || install(2));
}

// Freed by the loser: either of the two wins.
#[dpor::test]
fn loser_of_a_race_frees() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    static PLACE: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());
    let install = |value| {
        let new = Box::into_raw(Box::new(value));
        if let Err(winner) = PLACE.compare_exchange(ptr::null_mut(), new, AcqRel, Acquire) {
            drop(unsafe { Box::from_raw(new) });
            assert_ne!(unsafe { *winner }, value);
        }
    };
    two(|| install(1), || install(2));
}

// A store that overwrites a pointer nobody else has.
#[dpor::test]
fn overwritten_pointer() {
    static PLACE: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());
    let install = |value| {
        let new = Box::into_raw(Box::new(value)); // ERROR: memory-leak
        PLACE.store(new, Release);
    };
    two(|| install(1), || install(2));
}

// The static had the pointer before there was another thread.
#[dpor::test]
fn pointer_taken_out_of_a_static() {
    static PLACE: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());
    PLACE.store(Box::into_raw(Box::new(1)), Relaxed); // ERROR: memory-leak
    thread::scope(|scope| _ = scope.spawn(|| PLACE.store(ptr::null_mut(), Relaxed)));
}

// Two nodes that refer to each other; each was linked by another thread.
#[dpor::test]
fn cycle_of_references() {
    #[derive(Default)]
    struct Node {
        next: Mutex<Option<Arc<Node>>>,
    }
    let first = Arc::new(Node::default()); // ERROR: memory-leak
    let second = Arc::new(Node::default());
    let link = |from: &Arc<Node>, to: &Arc<Node>| {
        *from.next.lock().unwrap() = Some(to.clone());
    };
    two(|| link(&first, &second), || link(&second, &first));
}

// The thread fills the slot only if it finds the flag unset.
#[dpor::test]
fn slot_that_was_not_filled() {
    let (busy, slot) = (AtomicBool::new(false), Plain::new(MaybeUninit::<u32>::uninit()));
    thread::scope(|scope| {
        scope.spawn(|| {
            if !busy.load(Relaxed) {
                unsafe { (*slot.get()).write(1) };
            }
        });
        busy.store(true, Relaxed);
    });
    let value = unsafe { slot.into_inner().assume_init() }; // ERROR: uninitialized-read
    assert_eq!(value, 1);
}

// An atomic in memory that nobody has initialized yet.
#[dpor::test]
fn atomic_not_initialized() {
    let slot = Plain::new(MaybeUninit::<AtomicU8>::uninit());
    thread::scope(|scope| {
        scope.spawn(|| unsafe { (*slot.get()).assume_init_ref() }.store(1, Relaxed));
        let seen = unsafe { (*slot.get()).assume_init_ref() }.load(Relaxed); // ERROR: uninitialized-read
        assert_eq!(seen, 1);
    });
}

// Filled before the flag is set: it is seen or not.
#[dpor::test]
fn slot_that_was_filled() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (filled, slot) = (AtomicBool::new(false), Plain::new(MaybeUninit::<u32>::uninit()));
    thread::scope(|scope| {
        scope.spawn(|| {
            unsafe { (*slot.get()).write(1) };
            filled.store(true, Release);
        });
        if filled.load(Acquire) {
            assert_eq!(unsafe { (*slot.get()).assume_init_read() }, 1);
        }
    });
}

// The length grows before the element is there; who sees it too early reads nothing sensible, and races with the write.
#[dpor::test]
fn length_before_element() {
    let (len, slot) = (AtomicUsize::new(0), Plain::new(MaybeUninit::<u32>::uninit()));
    thread::scope(|scope| {
        scope.spawn(|| {
            len.store(1, Release);
            unsafe { (*slot.get()).as_mut_ptr().write(1) }; // ERROR: data-race
        });
        if len.load(Acquire) == 1 {
            assert_eq!(unsafe { *(*slot.get()).as_ptr() }, 1); // ERROR: data-race
        }
    });
}

// Both threads see room for one more element.
#[dpor::test]
fn pushed_beyond_the_end() {
    let mut numbers = Box::new([0_u32; 1]);
    let start = Pointer::new(numbers.as_mut_ptr());
    let len = AtomicUsize::new(0);
    let push = || {
        if len.load(SeqCst) < 1 {
            let at = len.fetch_add(1, SeqCst);
            unsafe { *start.get().add(at) = 1 }; // ERROR: out-of-bounds
        }
    };
    two(push, push);
}

#[dpor::test]
fn pushed_within_the_bounds() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let mut numbers = Box::new([0_u32; 1]);
    let start = Pointer::new(numbers.as_mut_ptr());
    let len = AtomicUsize::new(0);
    let push = || {
        let at = len.fetch_add(1, SeqCst);
        if at < 1 {
            unsafe { *start.get().add(at) = 1 };
        }
    };
    two(push, push);
    assert_eq!(*numbers, [1]);
}

#[dpor::test]
fn index_out_of_bounds() {
    let (len, numbers) = (AtomicUsize::new(1), [7]);
    let ((), last) = two(|| len.store(2, Relaxed), || len.load(Relaxed) - 1);
    assert_eq!(numbers[last], 7); // ERROR: panic
}

#[dpor::test]
fn pointer_not_there_yet() {
    static PLACE: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());
    static NUMBER: u32 = 5;
    thread::scope(|scope| {
        scope.spawn(|| PLACE.store((&raw const NUMBER).cast_mut(), Release));
        let number = unsafe { *PLACE.load(Acquire) }; // ERROR: null-pointer
        assert_eq!(number, 5);
    });
}

#[dpor::test]
fn pointer_there_or_not() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    static PLACE: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());
    static NUMBER: u32 = 5;
    thread::scope(|scope| {
        scope.spawn(|| PLACE.store((&raw const NUMBER).cast_mut(), Release));
        let number = unsafe { PLACE.load(Acquire).as_ref() };
        assert!(number.is_none_or(|number| *number == 5));
    });
}

// Another thread has put a tag on the pointer.
#[dpor::test]
fn tagged_pointer_used_as_it_is() {
    let mut number = 5_u32;
    let place = AtomicPtr::new(&raw mut number);
    thread::scope(|scope| {
        scope.spawn(|| _ = place.fetch_or(1, Relaxed));
        let number = unsafe { *place.load(Relaxed) }; // ERROR: misaligned
        assert_eq!(number, 5);
    });
}

#[dpor::test]
fn tagged_pointer_freed_as_it_is() {
    let place = AtomicPtr::new(Box::into_raw(Box::new(5_u64)));
    thread::scope(|scope| {
        scope.spawn(|| _ = place.fetch_byte_add(8, Relaxed));
        drop(unsafe { Box::from_raw(place.load(Relaxed)) }); // ERROR: invalid-free
    });
}

#[dpor::test]
fn tag_taken_off() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let place = AtomicPtr::new(Box::into_raw(Box::new(5_u64)));
    thread::scope(|scope| {
        scope.spawn(|| _ = place.fetch_or(1, Relaxed));
        let pointer = place.load(Relaxed).map_addr(|address| address & !1);
        assert_eq!(*unsafe { Box::from_raw(pointer) }, 5);
    });
}

// Two increments make a number that is no `bool`.
#[dpor::test]
fn neither_true_nor_false() {
    let number = AtomicU8::new(0);
    two(|| number.fetch_add(1, Relaxed), || number.fetch_add(number.load(Relaxed), Relaxed));
    let flag = unsafe { *number.as_ptr().cast::<bool>() }; // ERROR: undefined-behavior
    assert!(flag);
}

// It was thought that one of the two loads sees a store.
#[dpor::test]
fn thought_unreachable() {
    // MODELS: rc11 tso pso
    let (x, y) = (AtomicBool::new(false), AtomicBool::new(false));
    let look = |mine: &AtomicBool, other: &AtomicBool| {
        mine.store(true, Relaxed);
        other.load(Relaxed)
    };
    if let (false, false) = two(|| look(&x, &y), || look(&y, &x)) {
        unsafe { unreachable_unchecked() } // ERROR: undefined-behavior
    }
}

#[dpor::test]
fn aborted_if_too_late() {
    let ready = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| ready.store(true, Relaxed));
        if !ready.load(Relaxed) {
            process::abort(); // ERROR: abort
        }
    });
}

// The destructor panics while a panic of the other thread's making unwinds.
#[dpor::test]
fn panic_while_unwinding() {
    struct Impatient;
    impl Drop for Impatient {
        fn drop(&mut self) {
            assert!(!thread::panicking());
        }
    }
    let ready = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| ready.store(true, Relaxed));
        let _impatient = Impatient;
        assert!(ready.load(Relaxed));
        // ERROR: abort
    });
}

// A local of which there is a raw pointer is somewhere else in each iteration. That makes no difference to a loop that
// waits: it ends when the flag is set.
#[dpor::test]
fn raw_pointer_in_a_loop_that_waits() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    static SET: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| SET.store(true, Release));
    loop {
        let mut seen = false;
        let pointer = &raw mut seen;
        unsafe { *pointer = SET.load(Acquire) };
        if seen {
            break;
        }
    }
    thread.join().unwrap();
}

// Threads that have pointers to the locals of iterations that are over.
#[dpor::test(expect = "use-after-free")]
fn locals_of_iterations_in_other_threads() {
    let mut threads = Vec::new();
    for number in 0..2 {
        let local = AtomicUsize::new(number);
        let pointer = Pointer::new((&raw const local).cast_mut());
        threads.push(thread::spawn(move || unsafe { (*pointer.get()).load(Relaxed) }));
    }
    threads.into_iter().for_each(|thread| _ = thread.join().unwrap());
}

// A pointer to the local of the first iteration, two iterations later.
#[dpor::test(expect = "use-after-free")]
fn local_of_the_first_iteration() {
    let mut pointers = Vec::new();
    while pointers.len() < 3 {
        let local = pointers.len();
        pointers.push(&raw const local);
    }
    assert_eq!(unsafe { *pointers[0] }, 0);
}
