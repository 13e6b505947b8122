//! Data races, and synchronization that prevents them.

use std::alloc::{self, Layout};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering, Ordering::*, fence};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

use crate::support::{Plain, Pointer};

#[derive(Default)]
struct Shared {
    data: Plain<u32>,
    ready: AtomicBool,
}

impl Shared {
    fn write(&self, value: u32) {
        unsafe { *self.data.get() = value };
    }
}

// Published with release and acquire: the flag is seen or not.
#[dpor::test]
fn published() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    publish(Release, Acquire);
}

#[dpor::test(expect = "data-race")]
fn published_with_a_relaxed_load() {
    publish(Release, Relaxed);
}

// Whatever the machine does: the language orders nothing here, so the race is there under every model.
#[dpor::test]
fn published_with_a_relaxed_store() {
    publish(Relaxed, Acquire);
}

fn publish(store: Ordering, load: Ordering) {
    static SHARED: Shared = Shared { data: Plain::new(0), ready: AtomicBool::new(false) };
    let thread = thread::spawn(move || {
        SHARED.write(1);
        SHARED.ready.store(true, store);
    });
    if SHARED.ready.load(load) {
        let data = unsafe { *SHARED.data.get() }; // ERROR: data-race
        assert_eq!(data, 1);
    }
    thread.join().unwrap();
    assert_eq!(unsafe { *SHARED.data.get() }, 1);
}

#[dpor::test]
fn published_with_fences() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    publish_with_fences(Release, Acquire);
}

#[dpor::test(expect = "data-race")]
fn published_without_the_release_fence() {
    publish_with_fences(Acquire, Acquire);
}

#[dpor::test]
fn published_without_the_acquire_fence() {
    publish_with_fences(Release, Release);
}

fn publish_with_fences(first: Ordering, then: Ordering) {
    let shared = Shared::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            shared.write(1);
            fence(first);
            shared.ready.store(true, Relaxed);
        });
        scope.spawn(|| {
            if shared.ready.load(Relaxed) {
                fence(then);
                unsafe { *shared.data.get() = 2 }; // ERROR: data-race
            }
        });
    });
}

// The fence stands before the load: it orders nothing that comes after.
#[dpor::test]
fn acquire_fence_too_early() {
    let shared = Shared::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            shared.write(1);
            shared.ready.store(true, Release);
        });
        scope.spawn(|| {
            fence(Acquire);
            if shared.ready.load(Relaxed) {
                unsafe { *shared.data.get() = 2 }; // ERROR: data-race
            }
        });
    });
}

// The release sequence of a store ends with a later store of the same thread (as in C++20; in C++11 it went on).
#[dpor::test]
fn release_sequence_ends_with_a_store() {
    after_release(|flag| flag.store(2, Relaxed));
}

fn after_release(then: fn(&AtomicU8)) {
    let (shared, flag) = (Shared::default(), AtomicU8::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            shared.write(1);
            flag.store(1, Release);
            then(&flag);
        });
        scope.spawn(|| {
            if flag.load(Acquire) == 2 {
                unsafe { *shared.data.get() = 2 }; // ERROR: data-race
            }
        });
    });
}

// It goes on through a read-modify-write: the load sees 0, 1 or 2.
#[dpor::test]
fn release_sequence_goes_on() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    after_release(|flag| _ = flag.swap(2, Relaxed));
}

// A failed compare-exchange has the failure ordering: relaxed, it acquires nothing.
#[dpor::test]
fn failed_exchange_relaxed() {
    exchange_or_look(Relaxed);
}

fn exchange_or_look(failure: Ordering) {
    let (shared, owner) = (Shared::default(), AtomicU8::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            shared.write(1);
            owner.store(1, Release);
        });
        scope.spawn(|| {
            if owner.compare_exchange(0, 2, AcqRel, failure).is_err() {
                unsafe { *shared.data.get() = 2 }; // ERROR: data-race
            }
        });
    });
}

// The exchange succeeds, before the store; or it fails.
#[dpor::test]
fn failed_exchange_acquire() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    exchange_or_look(Acquire);
}

#[dpor::test]
fn two_writes() {
    let shared = Arc::new(Shared::default());
    let other = shared.clone();
    let thread = thread::spawn(move || {
        unsafe { *other.data.get() = 1 }; // ERROR: data-race
    });
    unsafe { *shared.data.get() = 2 }; // ERROR: data-race
    thread.join().unwrap();
}

#[dpor::test]
fn write_and_read() {
    let mut number = 1;
    let pointer = Pointer::new(&raw mut number);
    thread::scope(|scope| {
        scope.spawn(move || {
            unsafe { *pointer.get() = 2 }; // ERROR: data-race
        });
        assert_ne!(unsafe { *pointer.get() }, 0); // ERROR: data-race
    });
}

// Reads alone race with nothing.
#[dpor::test]
fn two_reads() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let mut number = 1;
    let pointer = Pointer::new(&raw mut number);
    thread::scope(|scope| {
        scope.spawn(move || unsafe { assert_eq!(*pointer.get(), 1) });
        scope.spawn(move || unsafe { assert_eq!(*pointer.get(), 1) });
    });
    number += 1;
    assert_eq!(number, 2);
}

// The first of two readers is forgotten by nobody.
#[dpor::test]
fn two_reads_and_a_write() {
    let mut number = 1;
    let pointer = Pointer::new(&raw mut number);
    thread::scope(|scope| {
        let first = scope.spawn(move || unsafe { *pointer.get() });
        scope.spawn(move || unsafe { *pointer.get() }); // ERROR: data-race
        first.join().unwrap();
        unsafe { *pointer.get() = 2 }; // ERROR: data-race
    });
}

#[dpor::test]
fn borrowed_from_the_stack() {
    let shared = Shared::default();
    let shared = &shared;
    thread::scope(|scope| {
        scope.spawn(move || {
            unsafe { *shared.data.get() += 1 }; // ERROR: data-race
        });
        unsafe { *shared.data.get() += 1 }; // ERROR: data-race
    });
}

#[dpor::test]
fn static_mut() {
    static mut COUNTER: u32 = 0;
    let thread = thread::spawn(|| unsafe {
        COUNTER += 1; // ERROR: data-race
    });
    unsafe { COUNTER += 1 }; // ERROR: data-race
    thread.join().unwrap();
}

// Before the thread is spawned, in it, and after it is joined: all ordered.
#[dpor::test]
fn static_mut_in_turns() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    static mut COUNTER: u32 = 0;
    unsafe { COUNTER += 1 };
    thread::spawn(|| unsafe { COUNTER += 1 }).join().unwrap();
    unsafe { COUNTER += 1 };
    assert_eq!(unsafe { COUNTER }, 3);
}

#[dpor::test]
fn atomic_write_and_plain_read() {
    let number = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            number.store(1, SeqCst); // ERROR: data-race
        });
        assert_ne!(unsafe { *number.as_ptr() }, 7); // ERROR: data-race
    });
}

#[dpor::test]
fn atomic_read_and_plain_write() {
    let number = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            number.load(SeqCst); // ERROR: data-race
        });
        unsafe { *number.as_ptr() = 1 }; // ERROR: data-race
    });
}

// An atomic read and a plain read do not conflict.
#[dpor::test]
fn atomic_read_and_plain_read() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let number = AtomicU32::new(5);
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(number.load(Relaxed), 5));
        assert_eq!(unsafe { *number.as_ptr() }, 5);
    });
}

#[dpor::test]
fn handed_over_and_back() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let numbers = vec![1, 2, 3];
    let thread = thread::spawn(move || {
        let mut numbers = numbers;
        numbers.push(4);
        numbers
    });
    assert_eq!(thread.join().unwrap(), [1, 2, 3, 4]);
}

// The last store in coherence order is what plain code sees after the threads have ended, whichever it is; what plain
// code writes is what atomics see then. Of the two orders of the stores, one is assumed.
#[dpor::test]
fn plain_accesses_to_an_atomic() {
    // COUNT: rc11 1+1 sc 1+1 tso 1+1 pso 1+1
    let mut number = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| number.store(1, Relaxed));
        scope.spawn(|| number.store(2, Relaxed));
    });
    let last = *number.get_mut();
    assert!(last == 1 || last == 2);
    dpor::assume(last == 1);
    *number.get_mut() = 7;
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(number.load(Relaxed), 7));
    });
    assert_eq!(number.into_inner(), 7);
}

// One of the accesses is not protected.
#[dpor::test]
fn one_access_without_the_lock() {
    let (lock, shared) = (Mutex::new(()), Shared::default());
    thread::scope(|scope| {
        scope.spawn(|| {
            let _guard = lock.lock().unwrap();
            unsafe { *shared.data.get() = 1 }; // ERROR: data-race
        });
        scope.spawn(|| {
            drop(lock.lock().unwrap());
            unsafe { *shared.data.get() = 2 }; // ERROR: data-race
        });
    });
}

#[dpor::test]
fn two_different_locks() {
    let (locks, shared) = ([Mutex::new(()), Mutex::new(())], Shared::default());
    let write = |at: usize| {
        let _guard = locks[at].lock().unwrap();
        unsafe { *shared.data.get() = 1 }; // ERROR: data-race
    };
    thread::scope(|scope| {
        scope.spawn(|| write(0));
        scope.spawn(|| write(1));
    });
}

// Two critical sections, in either order.
#[dpor::test]
fn one_lock() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (lock, shared) = (Mutex::new(()), Shared::default());
    let write = |value| {
        let _guard = lock.lock().unwrap();
        shared.write(value);
    };
    thread::scope(|scope| {
        scope.spawn(|| write(1));
        scope.spawn(|| write(2));
    });
    assert_ne!(shared.data.into_inner(), 0);
}

// Two readers hold the lock at a time, and both write.
#[dpor::test]
fn writes_under_a_read_lock() {
    let (lock, shared) = (RwLock::new(()), Shared::default());
    let write = || {
        let _guard = lock.read().unwrap();
        unsafe { *shared.data.get() += 1 }; // ERROR: data-race
    };
    thread::scope(|scope| {
        scope.spawn(write);
        scope.spawn(write);
    });
}

// Initialized once, as was believed: the first look at the flag must acquire what the initialization released.
#[dpor::test]
fn double_checked_locking_relaxed() {
    double_checked_locking(Relaxed);
}

fn double_checked_locking(first_look: Ordering) {
    let (lock, shared) = (Mutex::new(()), Shared::default());
    let get = || {
        if !shared.ready.load(first_look) {
            let _guard = lock.lock().unwrap();
            if !shared.ready.load(Relaxed) {
                shared.write(42);
                shared.ready.store(true, Release);
            }
        }
        unsafe { *shared.data.get() } // ERROR: data-race
    };
    thread::scope(|scope| {
        let other = scope.spawn(get);
        assert_eq!(get(), 42);
        assert_eq!(other.join().unwrap(), 42);
    });
}

// Whoever has the lock first initializes. The other one either sees that at the first look, or waits for the lock (and
// sees it at the second look): two executions for each of the two.
#[dpor::test]
fn double_checked_locking_acquire() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    double_checked_locking(Acquire);
}

// The writer of a seqlock whose data are plain races with its readers, even with those that notice and try again.
#[dpor::test]
fn seqlock_with_plain_data() {
    let (version, shared) = (AtomicUsize::new(0), Shared::default());
    thread::scope(|scope| {
        scope.spawn(|| {
            version.store(1, Relaxed);
            fence(Release);
            unsafe { *shared.data.get() = 1 }; // ERROR: data-race
            version.store(2, Release);
        });
        let before = version.load(Acquire);
        let data = unsafe { *shared.data.get() }; // ERROR: data-race
        fence(Acquire);
        if before % 2 == 0 && version.load(Relaxed) == before {
            assert_eq!(data as usize, before / 2);
        }
    });
}

// With relaxed atomics for data, a reader that sees the same even version twice has seen a consistent state. The
// first load of the version sees 0, 1 or 2. After 2, all is determined. After 1, both data are old or new, except that
// under SC and TSO new data come in order; that is not derived here.
#[dpor::test]
fn seqlock_with_atomic_data() {
    let (version, data) = (AtomicUsize::new(0), [const { AtomicUsize::new(0) }; 2]);
    thread::scope(|scope| {
        scope.spawn(|| {
            version.store(1, Relaxed);
            fence(Release);
            data[0].store(1, Relaxed);
            data[1].store(1, Relaxed);
            version.store(2, Release);
        });
        let before = version.load(Acquire);
        let seen = data.each_ref().map(|data| data.load(Relaxed));
        fence(Acquire);
        if before % 2 == 0 && version.load(Relaxed) == before {
            assert_eq!(seen, [before / 2; 2]);
        }
    });
}

// The same without the fence before the second look at the version: what was read may be newer than that. Only RC11
// lets loads be reordered.
#[dpor::test]
fn seqlock_without_the_acquire_fence() {
    // MODELS: rc11
    let (version, data) = (AtomicUsize::new(0), [const { AtomicUsize::new(0) }; 2]);
    thread::scope(|scope| {
        scope.spawn(|| {
            version.store(1, Relaxed);
            fence(Release);
            data[0].store(1, Relaxed);
            data[1].store(1, Relaxed);
            version.store(2, Release);
        });
        let before = version.load(Acquire);
        let seen = data.each_ref().map(|data| data.load(Relaxed));
        if before % 2 == 0 && version.load(Relaxed) == before {
            assert_eq!(seen, [before / 2; 2]); // ERROR: panic
        }
    });
}

// Peterson's algorithm, with one attempt instead of waiting. It needs SeqCst: weaker orderings let both threads in,
// except under SC.
#[dpor::test]
fn peterson_release_acquire() {
    // MODELS: rc11 tso pso
    peterson(Release, Acquire);
}

fn peterson(store: Ordering, load: Ordering) {
    let shared = Shared::default();
    let wants = [AtomicBool::new(false), AtomicBool::new(false)];
    let turn = AtomicUsize::new(0);
    let attempt = |me: usize| {
        let other = 1 - me;
        wants[me].store(true, store);
        turn.store(other, store);
        if !wants[other].load(load) || turn.load(load) == me {
            unsafe { *shared.data.get() += 1 }; // ERROR: data-race
        }
        wants[me].store(false, store);
    };
    thread::scope(|scope| {
        scope.spawn(|| attempt(0));
        scope.spawn(|| attempt(1));
    });
}

#[dpor::test]
fn peterson_seq_cst() {
    peterson(SeqCst, SeqCst);
}

// A counter of references whose decrements are relaxed: the last one frees what another thread has just read.
#[dpor::test]
fn relaxed_reference_count() {
    count_references(Relaxed);
}

fn count_references(order: Ordering) {
    struct Counted {
        references: AtomicUsize,
        data: Plain<u32>,
    }
    let pointer = Pointer::boxed(Counted { references: AtomicUsize::new(2), data: Plain::new(0) });
    let release = move || {
        let counted = unsafe { &*pointer.get() };
        assert_eq!(unsafe { *counted.data.get() }, 0);
        if counted.references.fetch_sub(1, order) == 1 {
            drop(unsafe { Box::from_raw(pointer.get()) }); // ERROR: data-race
        }
    };
    let thread = thread::spawn(release);
    release();
    thread.join().unwrap();
}

// Either of the two is the last one.
#[dpor::test]
fn reference_count() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    count_references(AcqRel);
}

// The destructor writes, while the other thread still reads.
#[dpor::test]
fn destructor_that_writes() {
    struct Cleared(Pointer<u32>);
    impl Drop for Cleared {
        fn drop(&mut self) {
            unsafe { *self.0.get() = 0 }; // ERROR: data-race
        }
    }
    let mut number = 1;
    let pointer = Pointer::new(&raw mut number);
    let cleared = Cleared(pointer);
    thread::scope(|scope| {
        scope.spawn(move || drop(cleared));
        assert_ne!(unsafe { *pointer.get() }, 2); // ERROR: data-race
    });
}

// The two threads push to the same vector behind a pointer: they race for its length.
#[dpor::test]
fn vector_pushed_to_twice() {
    let mut numbers: Vec<u32> = Vec::with_capacity(4);
    let pointer = Pointer::new(&raw mut numbers);
    let push = move || {
        unsafe { (*pointer.get()).push(1) }; // ERROR: data-race
    };
    thread::scope(|scope| {
        scope.spawn(push);
        scope.spawn(push);
    });
}

// A spinlock that is tried once, with both orderings as they must be: both get it, one after the other, or one does
// not.
#[dpor::test]
fn lock_tried_once() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    try_lock(Acquire, Release);
}

#[dpor::test(expect = "data-race")]
fn lock_that_does_not_acquire() {
    try_lock(Relaxed, Release);
}

#[dpor::test]
fn lock_that_does_not_release() {
    try_lock(Acquire, Relaxed);
}

fn try_lock(lock: Ordering, unlock: Ordering) {
    let (locked, shared) = (AtomicBool::new(false), Shared::default());
    let attempt = || {
        if !locked.swap(true, lock) {
            unsafe { *shared.data.get() += 1 }; // ERROR: data-race
            locked.store(false, unlock);
        }
    };
    thread::scope(|scope| {
        scope.spawn(attempt);
        scope.spawn(attempt);
    });
}

// Memory that is published as it should be is there, or it is not.
#[dpor::test]
fn zeroed_memory_published() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    publish_zeroed(Release, Acquire, |numbers| unsafe { numbers.cast::<u32>().read() });
}

// Atomic accesses are no exception: they, too, must come after the allocation.
#[dpor::test(expect = "data-race")]
fn zeroed_memory_loaded() {
    publish_zeroed(Relaxed, Acquire, |numbers| unsafe { (*numbers)[0].load(Relaxed) });
}

// To allocate is to write: zeroed memory must be published like any other. Miri and GenMC say the same.
#[dpor::test]
fn zeroed_memory_read() {
    publish_zeroed(Relaxed, Relaxed, |numbers| unsafe {
        numbers.cast::<u32>().read() // ERROR: data-race
    });
}

/// A thread publishes zeroed memory, and this one reads from it, if it is there already.
fn publish_zeroed(store: Ordering, load: Ordering, read: fn(*const [AtomicU32; 4]) -> u32) {
    static SLOT: AtomicPtr<[AtomicU32; 4]> = AtomicPtr::new(ptr::null_mut());
    let thread = thread::spawn(move || SLOT.store(zeroed(), store));
    let numbers = SLOT.load(load);
    if !numbers.is_null() {
        assert_eq!(read(numbers), 0);
    }
    thread.join().unwrap();
    drop(unsafe { Box::from_raw(SLOT.load(Relaxed)) });
}

/// Memory that the allocator has zeroed: nobody writes to it.
fn zeroed<T>() -> *mut T {
    unsafe { alloc::alloc_zeroed(Layout::new::<T>()).cast() } // ERROR: data-race
}

// Nor may others write to memory that is allocated for them, unless they know that it is.
#[dpor::test(expect = "data-race")]
fn allocated_memory_written_by_another() {
    static SLOT: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());
    let thread = thread::spawn(|| SLOT.store(Box::into_raw(Box::<u32>::new_uninit()).cast(), Relaxed));
    let number = SLOT.load(Relaxed);
    if !number.is_null() {
        unsafe { number.write(1) };
    }
    thread.join().unwrap();
    drop(unsafe { Box::from_raw(SLOT.load(Relaxed)) });
}

// A vector that grows is in new memory.
#[dpor::test(expect = "data-race")]
fn grown_memory() {
    static SLOT: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());
    let thread = thread::spawn(|| {
        let mut numbers = vec![0; 2];
        numbers.resize(50, 0);
        SLOT.store(numbers.leak().as_mut_ptr(), Relaxed);
    });
    let numbers = SLOT.load(Relaxed);
    if !numbers.is_null() {
        assert_eq!(unsafe { *numbers.add(40) }, 0);
    }
    thread.join().unwrap();
}

// The same with a local.
#[dpor::test(expect = "data-race")]
fn local_published_relaxed() {
    static SLOT: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());
    static DONE: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| {
        let mut number = 0;
        SLOT.store(&raw mut number, Relaxed);
        while !DONE.load(Acquire) {
            std::hint::spin_loop();
        }
    });
    let number = SLOT.load(Relaxed);
    if !number.is_null() {
        assert_eq!(unsafe { *number }, 0);
    }
    DONE.store(true, Release);
    thread.join().unwrap();
}
