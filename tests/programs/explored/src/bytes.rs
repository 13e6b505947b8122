//! Races are told byte by byte: neighbours do not race, accesses that overlap do.

use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering::*};
use std::thread;

use crate::support::{Plain, Pointer, two};

#[dpor::test]
fn neighbouring_bytes() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    static BYTES: Plain<[u8; 4]> = Plain::new([0; 4]);
    two(|| unsafe { (*BYTES.get())[1] = 1 }, || unsafe { (*BYTES.get())[2] = 2 });
    assert_eq!(unsafe { *BYTES.get() }, [0, 1, 2, 0]);
}

#[dpor::test]
fn neighbouring_fields() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    struct Pair {
        first: u16,
        second: u64,
    }
    let mut pair = Pair { first: 1, second: 2 };
    let Pair { first, second } = &mut pair;
    two(|| *first += 1, || *second += 1);
    assert_eq!((pair.first, pair.second), (2, 3));
}

#[dpor::test]
fn halves_of_a_slice() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let mut numbers = [5, 3, 4, 2, 9, 1, 0, 7];
    let (left, right) = numbers.split_at_mut(3);
    two(|| left.sort(), || right.sort());
    assert_eq!(numbers, [3, 4, 5, 0, 1, 2, 7, 9]);
}

#[dpor::test]
fn chunks_of_a_vector() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let mut numbers: Vec<u8> = (0..7).collect();
    thread::scope(|scope| {
        for chunk in numbers.chunks_mut(3) {
            scope.spawn(|| chunk.reverse());
        }
    });
    assert_eq!(numbers, [2, 1, 0, 5, 4, 3, 6]);
}

#[dpor::test]
fn overlapping_halves() {
    let mut numbers = [0_u8; 8];
    let start = Pointer::new(&raw mut numbers[0]);
    thread::scope(|scope| {
        scope.spawn(move || unsafe {
            ptr::write_bytes(start.get(), 1, 5); // ERROR: data-race
        });
        scope.spawn(move || unsafe {
            ptr::write_bytes(start.get().add(4), 2, 4); // ERROR: data-race
        });
    });
}

#[dpor::test]
fn word_and_one_of_its_bytes() {
    let mut word = 0_u32;
    let pointer = Pointer::new(&raw mut word);
    thread::scope(|scope| {
        scope.spawn(move || unsafe {
            *pointer.get().cast::<u8>().add(3) = 1; // ERROR: data-race
        });
        scope.spawn(move || unsafe {
            *pointer.get() = 2; // ERROR: data-race
        });
    });
}

#[dpor::test]
fn bytes_of_a_word() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let mut word = 0_u32;
    let bytes = Pointer::new((&raw mut word).cast::<u8>());
    let write = |at: usize| move || unsafe { *bytes.get().add(at) = at as u8 + 1 };
    two(write(0), write(3));
    assert_eq!(word, u32::from_le_bytes([1, 0, 0, 4]));
}

/// With three bytes between its fields.
#[derive(Clone, Copy)]
#[repr(C)]
struct Padded {
    small: u8,
    large: u32,
}

// What one thread does with a field does not concern the other field, nor the bytes between them.
#[dpor::test]
fn fields_and_padding() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let mut padded = Padded { small: 1, large: 2 };
    let pointer = Pointer::new(&raw mut padded);
    let small = move || unsafe { (*pointer.get()).small += 1 };
    let between = move || unsafe {
        pointer.get().cast::<u8>().add(1).write(7);
        (*pointer.get()).large += 1;
    };
    two(small, between);
    assert_eq!((padded.small, padded.large), (2, 3));
}

#[dpor::test]
fn copy_of_a_struct_and_a_field() {
    let mut padded = Padded { small: 1, large: 2 };
    let pointer = Pointer::new(&raw mut padded);
    thread::scope(|scope| {
        scope.spawn(move || {
            let copy = unsafe { *pointer.get() }; // ERROR: data-race
            assert_eq!(copy.small, 1);
        });
        scope.spawn(move || unsafe {
            (*pointer.get()).large = 3; // ERROR: data-race
        });
    });
}

// An access of no bytes races with nothing.
#[dpor::test]
fn no_bytes() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let mut number = 1_u32;
    let pointer = Pointer::new(&raw mut number);
    let write_nothing = move || unsafe {
        ptr::copy(pointer.get().add(1), pointer.get(), 0);
        *pointer.get().cast::<()>() = ();
        ptr::write_bytes(pointer.get(), 7, 0);
    };
    two(write_nothing, move || unsafe { *pointer.get() = 2 });
    assert_eq!(number, 2);
}

#[dpor::test]
fn atomics_beside_plain_bytes() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    #[derive(Default)]
    struct Mixed {
        counter: AtomicU8,
        plain: Plain<u8>,
        other: AtomicU16,
    }
    let mixed = Mixed::default();
    let count = || mixed.counter.fetch_add(1, Relaxed);
    let count_and_write = || {
        mixed.counter.fetch_add(1, Relaxed);
        unsafe { *mixed.plain.get() = 7 };
        mixed.other.store(9, Relaxed);
    };
    two(count, count_and_write);
    assert_eq!((mixed.counter.into_inner(), mixed.plain.into_inner(), mixed.other.into_inner()), (2, 7, 9));
}

// A copy of a struct reads the atomic in it too, and that not atomically.
#[dpor::test]
fn copy_of_a_struct_with_an_atomic() {
    #[repr(C)]
    struct Counted {
        count: AtomicU32,
        value: u32,
    }
    let mut counted = Counted { count: AtomicU32::new(1), value: 2 };
    let pointer = Pointer::new(&raw mut counted);
    thread::scope(|scope| {
        scope.spawn(move || unsafe {
            (*pointer.get()).count.fetch_add(1, Relaxed); // ERROR: data-race
        });
        scope.spawn(move || {
            let copy = unsafe { ptr::read(pointer.get()) }; // ERROR: data-race
            assert_eq!(copy.value, 2);
        });
    });
}

// One thread uses a word as an atomic of 32 bits, another half of it as one of 16, at the same time.
#[dpor::test]
fn atomics_of_two_sizes() {
    let word = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            word.store(1, Relaxed); // ERROR: mixed-size-race
        });
        scope.spawn(|| {
            let half = unsafe { AtomicU16::from_ptr(word.as_ptr().cast()) };
            half.store(2, Relaxed); // ERROR: mixed-size-race
        });
    });
}

// The same in turns is fine.
#[dpor::test]
fn atomics_of_two_sizes_in_turns() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let word = AtomicU32::new(0);
    thread::scope(|scope| _ = scope.spawn(|| word.store(0x0003_0001, Relaxed)));
    thread::scope(|scope| {
        scope.spawn(|| {
            let half = unsafe { AtomicU16::from_ptr(word.as_ptr().cast()) };
            assert_eq!(half.swap(2, Relaxed), 1);
        });
    });
    assert_eq!(word.into_inner(), 0x0003_0002);
}
