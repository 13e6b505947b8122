//! Assembly that is used as a fence: store buffering has one execution less with it, as with fences of the language, three of
//! four.

use std::arch::asm;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::support::two;

/// Whether one of two threads sees what the other has stored.
fn is_seen(fence: fn()) -> bool {
    let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
    let thread = |own: &AtomicU32, other: &AtomicU32| {
        own.store(1, Relaxed);
        fence();
        other.load(Relaxed)
    };
    let (a, b) = two(|| thread(&x, &y), || thread(&y, &x));
    a == 1 || b == 1
}

#[dpor::test]
fn memory_fence() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    assert!(is_seen(|| unsafe { asm!("mfence", options(nostack)) }));
}

#[dpor::test]
fn locked_instruction() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    assert!(is_seen(|| {
        let own = UnsafeCell::new(5u64);
        unsafe { asm!("lock not qword ptr [{0}]", in(reg) own.get(), options(nostack)) };
        assert_eq!(own.into_inner(), !5);
    }));
}

#[dpor::test]
fn locked_instruction_on_half_a_word() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    assert!(is_seen(|| {
        let own = UnsafeCell::new(5u64);
        unsafe { asm!("lock not dword ptr [{0}]", in(reg) own.get(), options(nostack)) };
        assert_eq!(own.into_inner(), 5 ^ 0xffff_ffff);
    }));
}

// Without a fence, both may read 0 in all models but SC.
#[dpor::test]
fn pause_is_no_fence() {
    // COUNT: sc 3
    // MODELS: rc11 tso pso
    assert!(is_seen(|| unsafe { asm!("pause", options(nomem, nostack)) })); // ERROR: panic
}
