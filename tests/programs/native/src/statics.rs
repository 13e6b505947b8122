//! Statics and thread-locals, with interior mutability and destructors.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, Once, OnceLock, RwLock};
use std::thread;

static COUNTER: AtomicUsize = AtomicUsize::new(10);
static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static TABLE: LazyLock<BTreeMap<&str, u32>> = LazyLock::new(|| {
    println!("table is built");
    BTreeMap::from([("one", 1), ("two", 2)])
});
static LIMIT: OnceLock<u64> = OnceLock::new();
static SETTINGS: RwLock<(u8, &str)> = RwLock::new((1, "start"));
static PRIMES: [u8; 5] = [2, 3, 5, 7, 11];
static POINTERS: [&u8; 2] = [&PRIMES[1], &PRIMES[4]];

#[dpor::test]
fn atomics() {
    println!("{} {}", COUNTER.fetch_add(5, Ordering::SeqCst), COUNTER.load(Ordering::SeqCst));
    println!("{} {}", COUNTER.swap(3, Ordering::SeqCst), COUNTER.fetch_sub(4, Ordering::Relaxed));
    println!("{:?}", COUNTER.compare_exchange(usize::MAX, 8, Ordering::AcqRel, Ordering::Acquire));
    println!("{:?}", COUNTER.compare_exchange(7, 9, Ordering::AcqRel, Ordering::Acquire));
    println!("{:?}", COUNTER.try_update(Ordering::SeqCst, Ordering::SeqCst, |n| (n < 9).then_some(n * 2)));
    let flags = AtomicU8::new(0b1100);
    println!("{:b} {:b}", flags.fetch_and(0b0110, Ordering::SeqCst), flags.fetch_or(1, Ordering::SeqCst));
    println!("{:b} {:b}", flags.fetch_xor(0xff, Ordering::SeqCst), flags.fetch_nand(0b11, Ordering::SeqCst));
    let signed = AtomicI64::new(-5);
    println!("{} {}", signed.fetch_max(3, Ordering::SeqCst), signed.fetch_min(-9, Ordering::SeqCst));
    println!("{} {:b} {COUNTER:?}", signed.into_inner(), flags.into_inner());
    let once = AtomicBool::new(false);
    println!("{} {}", once.swap(true, Ordering::SeqCst), once.fetch_not(Ordering::SeqCst));
    let mut value = 5;
    let pointer = AtomicPtr::new(&mut value);
    // SAFETY: the pointer is that of `value`, which lives and is not used otherwise.
    unsafe { *pointer.load(Ordering::Acquire) += 1 };
    println!("{value}");
}

#[dpor::test]
fn locks_in_statics() {
    NAMES.lock().unwrap().push("first".into());
    {
        let mut names = NAMES.lock().unwrap();
        names.push("second".into());
        println!("{names:?} {:?}", NAMES.try_lock().is_err());
    }
    println!("{:?}", NAMES.lock().unwrap().drain(..).collect::<Vec<_>>());
    SETTINGS.write().unwrap().1 = "changed";
    let (a, b) = (SETTINGS.read().unwrap(), SETTINGS.read().unwrap());
    println!("{a:?} {}", b.1);
}

#[dpor::test]
fn lazy_statics() {
    println!("before");
    println!("{:?} {:?}", TABLE.get("two"), TABLE.len());
    println!("{} {}", LIMIT.get_or_init(|| 70), LIMIT.get_or_init(|| 80));
    println!("{:?} {:?}", LIMIT.set(90), LIMIT.get());
    static ONCE: Once = Once::new();
    for _ in 0..3 {
        ONCE.call_once(|| println!("only once"));
    }
    println!("{} {:?}", ONCE.is_completed(), POINTERS.map(|p| p + 1));
    println!("{}", std::ptr::eq(POINTERS[0], &PRIMES[1]));
}

fn next_id() -> u32 {
    static NEXT: Mutex<u32> = Mutex::new(100);
    let mut next = NEXT.lock().unwrap();
    *next += 1;
    *next
}

#[dpor::test]
fn function_statics() {
    println!("{} {} {}", next_id(), next_id(), next_id());
    fn generic<T: Default + std::fmt::Debug>() -> String {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        format!("{:?} {}", T::default(), CALLS.fetch_add(1, Ordering::Relaxed))
    }
    println!("{} {}", generic::<u8>(), generic::<String>());
}

struct Local(&'static str);

impl Drop for Local {
    fn drop(&mut self) {
        println!("thread-local {} dropped", self.0);
    }
}

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static LOG: RefCell<Vec<String>> = RefCell::default();
    static FIRST: Local = const { Local("first") };
    static SECOND: RefCell<Option<Local>> = const { RefCell::new(None) };
}

fn nested(n: u32) -> u32 {
    DEPTH.set(DEPTH.get() + 1);
    LOG.with_borrow_mut(|log| log.push(format!("enter {n}")));
    let result = if n == 0 { DEPTH.get() } else { nested(n - 1) };
    DEPTH.with(|depth| depth.set(depth.get() - 1));
    result
}

#[dpor::test]
fn thread_locals() {
    println!("{} {}", nested(3), DEPTH.get());
    println!("{:?}", LOG.take());
    DEPTH.set(50);
    let other = thread::spawn(|| (DEPTH.get(), LOG.with_borrow(Vec::len))).join().unwrap();
    println!("{other:?} {}", DEPTH.get());
}

#[dpor::test]
fn thread_local_destructors() {
    let handle = thread::spawn(|| {
        FIRST.with(|local| println!("uses {}", local.0));
        SECOND.set(Some(Local("second")));
        println!("{:?}", SECOND.take().map(|local| local.0));
        SECOND.set(Some(Local("third")));
        "thread ends"
    });
    println!("{}", handle.join().unwrap());
}

/// Symbols that other modules, crates or languages define.
mod foreign {
    unsafe extern "C" {
        pub static SHARED_NUMBER: u32;
        pub static mut SHARED_CELL: u64;
    }
}

#[unsafe(no_mangle)]
static SHARED_NUMBER: u32 = 42;
#[unsafe(export_name = "SHARED_CELL")]
static mut CELL: u64 = 1;
// SAFETY: it is what it is declared as.
static THROUGH: &u32 = unsafe { &foreign::SHARED_NUMBER };

#[dpor::test]
fn statics_of_the_same_symbol_are_the_same() {
    // SAFETY: they are what they are declared as, and there is one thread.
    unsafe {
        println!("{} {THROUGH}", foreign::SHARED_NUMBER);
        foreign::SHARED_CELL = 2;
        println!("{}", (&raw const CELL).read());
    }
}

static mut BUFFER: &mut [u8] = &mut [0; 16];
static mut NESTED: &mut &mut [u32; 2] = &mut &mut [1, 2];

#[dpor::test]
fn what_mutable_statics_point_to_can_change() {
    // SAFETY: there is one thread.
    unsafe {
        BUFFER[3] = 7;
        NESTED[1] += 1;
        println!("{} {} {}", BUFFER[3], BUFFER[4], NESTED[1]);
    }
}
