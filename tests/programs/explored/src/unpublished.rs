//! Atomics in memory that a thread publishes: what it has stored there before is no event as long as nobody can have
//! read anything else, and is one where somebody can.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::*};

use crate::support::two;

/// A variable on the heap that is never freed, and where it is.
fn variable() -> (&'static AtomicUsize, *mut AtomicUsize) {
    let address = Box::into_raw(Box::new(AtomicUsize::new(0)));
    (unsafe { &*address }, address)
}

unsafe fn free(address: *mut AtomicUsize) {
    drop(unsafe { Box::from_raw(address) });
}

// Nothing was published, or the last of what was stored before is read.
#[dpor::test]
fn stored_before_a_release() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let published = AtomicPtr::default();
    two(
        || {
            let (variable, address) = variable();
            variable.store(1, Relaxed);
            variable.store(2, Release);
            assert_eq!(variable.load(Acquire), 2);
            published.store(address, Release);
        },
        || {
            if let Some(variable) = unsafe { published.load(Acquire).as_ref() } {
                assert_eq!(variable.load(Relaxed), 2);
            }
        },
    );
    unsafe { free(published.into_inner()) };
}

// What is stored after it was published may be read or not.
#[dpor::test]
fn stored_after_it_was_published() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let published = AtomicPtr::default();
    two(
        || {
            let (variable, address) = variable();
            variable.store(1, Relaxed);
            published.store(address, Release);
            variable.store(2, Relaxed);
        },
        || {
            if let Some(variable) = unsafe { published.load(Acquire).as_ref() } {
                assert_ne!(variable.load(Relaxed), 0);
            }
        },
    );
    unsafe { free(published.into_inner()) };
}

// Another thread knows of the allocation, but not of what came after it. It has read that nothing is ready, or nothing
// published; or it reads the variable, and what was stored there is new to it.
#[dpor::test]
fn published_without_a_release() {
    // COUNT: rc11 4 sc 3 tso 3 pso 4
    let (ready, published) = (AtomicUsize::new(0), AtomicPtr::default());
    two(
        || {
            let (variable, address) = variable();
            ready.store(1, Release);
            variable.store(1, Relaxed);
            published.store(address, Relaxed);
        },
        || {
            if ready.load(Acquire) == 1
                && let Some(variable) = unsafe { published.load(Relaxed).as_ref() }
            {
                variable.load(Relaxed);
            }
        },
    );
    unsafe { free(published.into_inner()) };
}

#[dpor::test]
fn an_old_value_is_read() {
    // MODELS: rc11 pso
    let (ready, published) = (AtomicUsize::new(0), AtomicPtr::default());
    let ((), read) = two(
        || {
            let (variable, address) = variable();
            ready.store(1, Release);
            variable.store(1, Relaxed);
            published.store(address, Relaxed);
        },
        || match ready.load(Acquire) {
            1 => unsafe { published.load(Relaxed).as_ref() }.map(|variable| variable.load(Relaxed)),
            _ => None,
        },
    );
    unsafe { free(published.into_inner()) };
    assert_ne!(read, Some(0)); // ERROR: panic
}

// The address does not look like one. Nothing was published; or one of two values is read.
#[dpor::test]
fn published_in_disguise() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let published = AtomicUsize::new(0);
    two(
        || {
            let (variable, address) = variable();
            variable.store(1, Relaxed);
            published.store(!address.expose_provenance(), Release);
            variable.store(2, Relaxed);
        },
        || match published.load(Acquire) {
            0 => {}
            disguised => {
                let address = std::ptr::with_exposed_provenance_mut::<AtomicUsize>(!disguised);
                assert_ne!(unsafe { &*address }.load(Relaxed), 0);
            }
        },
    );
    unsafe { free(std::ptr::with_exposed_provenance_mut(!published.into_inner())) };
}

// With a tag in its upper bits.
#[dpor::test]
fn published_with_a_tag() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    const TAG: usize = 1 << 60;
    let published = AtomicUsize::new(0);
    two(
        || {
            let (variable, address) = variable();
            variable.store(1, Relaxed);
            published.store(address.expose_provenance() | TAG, Release);
            variable.store(2, Relaxed);
        },
        || match published.load(Acquire) {
            0 => {}
            tagged => {
                let address = std::ptr::with_exposed_provenance_mut::<AtomicUsize>(tagged & !TAG);
                assert_ne!(unsafe { &*address }.load(Relaxed), 0);
            }
        },
    );
    unsafe { free(std::ptr::with_exposed_provenance_mut(published.into_inner() & !TAG)) };
}

// What is published points to another block.
#[dpor::test]
fn published_with_what_points_to_it() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let published: AtomicPtr<*mut AtomicUsize> = AtomicPtr::default();
    two(
        || {
            let (variable, address) = variable();
            variable.store(1, Relaxed);
            published.store(Box::into_raw(Box::new(address)), Release);
            variable.store(2, Relaxed);
        },
        || {
            if let Some(address) = unsafe { published.load(Acquire).as_ref() } {
                assert_ne!(unsafe { &**address }.load(Relaxed), 0);
            }
        },
    );
    let address = unsafe { Box::from_raw(published.into_inner()) };
    unsafe { free(*address) };
}

// Updates are events from the start, and so is what follows. Nothing was published, or the other thread's update comes
// last.
#[dpor::test]
fn updated_before() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let published = AtomicPtr::default();
    two(
        || {
            let (variable, address) = variable();
            variable.store(1, Relaxed);
            assert_eq!(variable.fetch_add(1, Relaxed), 1);
            variable.store(5, Relaxed);
            assert_eq!(variable.load(Relaxed), 5);
            published.store(address, Release);
        },
        || {
            if let Some(variable) = unsafe { published.load(Acquire).as_ref() } {
                assert_eq!(variable.fetch_add(1, Relaxed), 5);
            }
        },
    );
    unsafe { free(published.into_inner()) };
}

#[dpor::test]
fn freed_while_another_reads() {
    let published = AtomicPtr::default();
    two(
        || {
            let (variable, address) = variable();
            variable.store(1, Relaxed);
            published.store(address, Release);
            unsafe { free(address) };
        },
        || {
            if let Some(variable) = unsafe { published.load(Acquire).as_ref() } {
                variable.load(Relaxed); // ERROR: use-after-free
            }
        },
    );
}
