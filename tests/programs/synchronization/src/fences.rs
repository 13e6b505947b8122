//! Releasing something is an update in the library: where updates empty the store buffer, so does this.
//!
//! Each thread stores while it has something, releases it, and looks for the store of the other: store buffering. The
//! language allows that neither sees the other; on x86, where all updates are full fences, that cannot be.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, Once, RwLock};
use std::thread;

/// Runs two threads, each of which stores to a number of its own and looks at that of the other afterwards, and says
/// what they saw. `within` runs what it is given while the thread has something of its own.
fn store_buffering(within: impl Fn(usize, &dyn Fn()) + Sync) -> [u32; 2] {
    let numbers = [AtomicU32::new(0), AtomicU32::new(0)];
    let side = |own: usize| {
        within(own, &|| numbers[own].store(1, Relaxed));
        numbers[1 - own].load(Relaxed)
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| side(1));
        [side(0), other.join().unwrap()]
    })
}

#[dpor::test]
fn mutexes() {
    // MODELS: rc11
    let locks = [Mutex::new(()), Mutex::new(())];
    let seen = store_buffering(|own, store| {
        let _guard = locks[own].lock().unwrap();
        store();
    });
    assert_ne!(seen, [0, 0]); // ERROR: panic
}

#[dpor::test]
fn write_locks() {
    // MODELS: rc11
    let locks = [RwLock::new(()), RwLock::new(())];
    let seen = store_buffering(|own, store| {
        let _guard = locks[own].write().unwrap();
        store();
    });
    assert_ne!(seen, [0, 0]); // ERROR: panic
}

#[dpor::test]
fn read_locks() {
    // MODELS: rc11
    let locks = [RwLock::new(()), RwLock::new(())];
    let seen = store_buffering(|own, store| {
        let _guard = locks[own].read().unwrap();
        store();
    });
    assert_ne!(seen, [0, 0]); // ERROR: panic
}

#[dpor::test]
fn initialization() {
    // MODELS: rc11
    let once = [Once::new(), Once::new()];
    let seen = store_buffering(|own, store| once[own].call_once(store));
    assert_ne!(seen, [0, 0]); // ERROR: panic
}

// To find something initialized is a load, which orders nothing.
#[dpor::test]
fn initialized_before() {
    // MODELS: rc11 tso pso
    static ONCE: Once = Once::new();
    ONCE.call_once(|| ());
    let seen = store_buffering(|_, store| {
        store();
        ONCE.call_once(|| ());
    });
    assert_ne!(seen, [0, 0]); // ERROR: panic
}

// Who finds the lock taken when trying to read, or to write, has but looked: the library loads before it tries.
#[dpor::test]
fn attempts_to_read_in_vain() {
    // MODELS: rc11 tso pso
    let lock = RwLock::new(());
    let _guard = lock.write().unwrap();
    let seen = store_buffering(|_, store| {
        store();
        assert!(lock.try_read().is_err());
    });
    assert_ne!(seen, [0, 0]); // ERROR: panic
}

#[dpor::test]
fn attempts_to_write_in_vain() {
    // MODELS: rc11 tso pso
    let lock = RwLock::new(());
    let _guard = lock.read().unwrap();
    let seen = store_buffering(|_, store| {
        store();
        assert!(lock.try_write().is_err());
    });
    assert_ne!(seen, [0, 0]); // ERROR: panic
}

// An attempt that succeeds is an update.
#[dpor::test]
fn attempts_to_read() {
    // MODELS: rc11
    let locks = [RwLock::new(()), RwLock::new(())];
    let seen = store_buffering(|own, store| {
        store();
        assert!(locks[own].try_read().is_ok());
    });
    assert_ne!(seen, [0, 0]); // ERROR: panic
}

// To lock a mutex is to compare and swap, which is an update to the machine even if it fails.
#[dpor::test]
fn attempts_to_lock_in_vain() {
    // MODELS: rc11
    let lock = Mutex::new(());
    let _guard = lock.lock().unwrap();
    let seen = store_buffering(|_, store| {
        store();
        assert!(lock.try_lock().is_err());
    });
    assert_ne!(seen, [0, 0]); // ERROR: panic
}
