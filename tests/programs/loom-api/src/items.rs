//! Every public item of loom 0.7.2, by name and by signature.

use loom::sync::atomic::*;

/// Atomics: all have these methods.
macro_rules! atomic {
    ($name:ident, $value:ty, [$($operation:ident)*]) => {{
        let _: fn($value) -> $name = $name::new;
        let _: unsafe fn(&$name) -> $value = $name::unsync_load;
        let _: fn($name) -> $value = $name::into_inner;
        let _: fn(&$name, Ordering) -> $value = $name::load;
        let _: fn(&$name, $value, Ordering) = $name::store;
        let _: fn(&$name, $value, Ordering) -> $value = $name::swap;
        let _: fn(&$name, $value, $value, Ordering) -> $value = $name::compare_and_swap;
        type Exchange = fn(&$name, $value, $value, Ordering, Ordering) -> Result<$value, $value>;
        let _: [Exchange; 2] = [$name::compare_exchange, $name::compare_exchange_weak];
        let _: fn(&$name, Ordering, Ordering, fn($value) -> Option<$value>) -> Result<$value, $value> =
            $name::fetch_update;
        let _: &[fn(&$name, $value, Ordering) -> $value] = &[$($name::$operation),*];
        let _: fn() -> $name = Default::default;
        let _: fn($value) -> $name = From::from;
        is_debug::<$name>();
    }};
}

macro_rules! integers {
    ($($name:ident $value:ty,)*) => {
        $(
            atomic!($name, $value,
                [fetch_add fetch_sub fetch_and fetch_nand fetch_or fetch_xor fetch_max fetch_min]);
            assert_eq!($name::new(3).with_mut(|value| *value + 1), 4);
        )*
    };
}

fn is_debug<T: std::fmt::Debug>() {}
fn is_send_and_sync<T: Send + Sync>() {}

#[dpor::test]
fn atomics() {
    integers! {
        AtomicU8 u8, AtomicU16 u16, AtomicU32 u32, AtomicU64 u64, AtomicUsize usize,
        AtomicI8 i8, AtomicI16 i16, AtomicI32 i32, AtomicI64 i64, AtomicIsize isize,
    }
    atomic!(AtomicBool, bool, [fetch_and fetch_nand fetch_or fetch_xor]);
    type AtomicPtr = loom::sync::atomic::AtomicPtr<u8>;
    atomic!(AtomicPtr, *mut u8, []);
    assert!(AtomicPtr::default().with_mut(|pointer| pointer.is_null()));
    loom::sync::atomic::fence(Ordering::SeqCst);
    loom::sync::atomic::spin_loop_hint();
}

#[dpor::test]
fn allocation() {
    use loom::alloc::{Layout, Track, alloc, alloc_zeroed, dealloc};
    let layout = Layout::new::<u32>();
    unsafe {
        dealloc(alloc(layout), layout);
        dealloc(alloc_zeroed(layout), layout);
    }
    let mut tracked: Track<u32> = Track::new(1);
    *tracked.get_mut() += 1;
    assert_eq!(*tracked.get_ref(), 2);
    assert_eq!(tracked.into_inner(), 2);
    is_debug::<Track<u8>>();
}

#[dpor::test]
fn cells() {
    use loom::cell::{Cell, ConstPtr, MutPtr, UnsafeCell};
    let cell = UnsafeCell::new(1);
    cell.with_mut(|pointer| unsafe { *pointer += 1 });
    assert_eq!(cell.with(|pointer| unsafe { *pointer }), 2);
    let pointer: ConstPtr<i32> = cell.get();
    assert_eq!(unsafe { *pointer.deref() } + pointer.with(|pointer| unsafe { *pointer }), 4);
    let pointer: MutPtr<i32> = cell.get_mut();
    unsafe { *pointer.deref() += 1 };
    pointer.with(|pointer| unsafe { *pointer += 1 });
    assert_eq!(cell.into_inner(), 4);
    let _: (UnsafeCell<u8>, UnsafeCell<u8>) = (Default::default(), 1.into());
    is_debug::<(UnsafeCell<u8>, ConstPtr<u8>, MutPtr<u8>)>();
    let cell: Cell<u32> = Cell::new(1);
    cell.set(2);
    cell.swap(&Cell::default());
    assert_eq!((cell.replace(3), cell.get(), cell.take(), cell.clone().into_inner()), (0, 3, 3, 0));
    assert!(Cell::from(1) == Cell::from(1) && Cell::from(1) < Cell::from(2));
    let _: fn(&Cell<u8>, &Cell<u8>) -> std::cmp::Ordering = Ord::cmp;
    is_debug::<Cell<u8>>();
}

#[dpor::test]
fn futures() {
    use loom::future::{AtomicWaker, block_on};
    assert_eq!(block_on(async { 1 }), 1);
    let waker = AtomicWaker::new();
    waker.register(std::task::Waker::noop().clone());
    waker.register_by_ref(std::task::Waker::noop());
    waker.wake();
    assert!(waker.take_waker().is_none());
    let _: AtomicWaker = Default::default();
    is_debug::<AtomicWaker>();
    is_send_and_sync::<AtomicWaker>();
}

#[dpor::test]
fn hints() {
    loom::hint::spin_loop();
    let _: unsafe fn() -> ! = loom::hint::unreachable_unchecked;
}

loom::lazy_static! {
    static ref PRIVATE: u32 = 1;
    /// With an attribute.
    pub static ref PUBLIC: u32 = 2;
    pub(crate) static ref RESTRICTED: AtomicUsize = AtomicUsize::new(3);
}

#[dpor::test]
fn lazy_statics() {
    use loom::lazy_static::{AccessError, Lazy, panicking, yield_now};
    assert_eq!((*PRIVATE, *PUBLIC, RESTRICTED.load(Ordering::Relaxed)), (1, 2, 3));
    let _: fn(&'static Lazy<u8>) -> &'static u8 = Lazy::get;
    is_debug::<(Lazy<u8>, AccessError)>();
    yield_now();
    assert!(!panicking());
}

#[dpor::test]
fn models() {
    use loom::model::Builder;
    let mut builder = Builder::new();
    builder.max_threads = 3;
    builder.max_branches = 100;
    builder.max_permutations = None;
    builder.max_duration = None;
    builder.preemption_bound = Some(2);
    builder.checkpoint_interval = 10;
    builder.expect_explicit_explore = true;
    (builder.location, builder.log) = (true, true);
    builder.checkpoint_file("file").check(|| {});
    assert_eq!(builder.checkpoint_file.as_deref(), Some(std::path::Path::new("file")));
    let _: Builder = Default::default();
    is_debug::<Builder>();
    loom::model(|| {
        loom::stop_exploring();
        loom::explore();
        loom::skip_branch();
    });
    loom::model::model(|| {});
    let _: usize = loom::MAX_THREADS;
}

#[dpor::test]
fn arcs() {
    use loom::sync::Arc;
    let mut arc: Arc<u32> = Arc::new(1);
    *Arc::get_mut(&mut arc).unwrap() = 2;
    let other = arc.clone();
    assert!(Arc::ptr_eq(&arc, &other) && Arc::strong_count(&arc) == 2);
    let pointer = Arc::into_raw(other);
    assert_eq!(pointer, Arc::as_ptr(&arc));
    unsafe {
        Arc::increment_strong_count(pointer);
        Arc::decrement_strong_count(pointer);
        drop(Arc::from_raw(pointer));
    }
    assert_eq!(Arc::try_unwrap(arc).unwrap(), 2);
    let unsized_: Arc<dyn Fn() -> u32> = Arc::from_std(std::sync::Arc::new(|| 3));
    assert_eq!(unsized_(), 3);
    let _: std::pin::Pin<Arc<u32>> = Arc::pin(4);
    let arc: Arc<u32> = Default::default();
    let (_, _): (&u32, &u32) = (arc.as_ref(), std::borrow::Borrow::borrow(&arc));
    let _: Arc<u32> = 5.into();
    is_debug::<Arc<u32>>();
    is_send_and_sync::<Arc<u32>>();
}

#[dpor::test]
fn locks() {
    use loom::sync::{
        Barrier, Condvar, LockResult, Mutex, MutexGuard, Notify, RwLock, RwLockReadGuard, RwLockWriteGuard,
        TryLockResult, WaitTimeoutResult,
    };
    let mut mutex: Mutex<u32> = Mutex::new(1);
    let result: LockResult<MutexGuard<'_, u32>> = mutex.lock();
    *result.unwrap() += 1;
    let result: TryLockResult<MutexGuard<'_, u32>> = mutex.try_lock();
    assert_eq!(*result.unwrap(), 2);
    *mutex.get_mut().unwrap() += 1;
    assert_eq!(mutex.into_inner().unwrap(), 3);
    let (_, _): (Mutex<u32>, Mutex<u32>) = (Default::default(), 1.into());
    let mut lock: RwLock<u32> = RwLock::new(1);
    let result: LockResult<RwLockReadGuard<'_, u32>> = lock.read();
    assert_eq!(*result.unwrap() + *lock.try_read().unwrap(), 2);
    let result: LockResult<RwLockWriteGuard<'_, u32>> = lock.write();
    *result.unwrap() += 1;
    *lock.try_write().unwrap() += 1;
    *lock.get_mut().unwrap() += 1;
    assert_eq!(lock.into_inner().unwrap(), 4);
    let (_, _): (RwLock<u32>, RwLock<u32>) = (Default::default(), 1.into());
    let condvar: Condvar = Default::default();
    condvar.notify_one();
    Condvar::new().notify_all();
    let _: fn(&'static Condvar, MutexGuard<'static, u8>) -> LockResult<MutexGuard<'static, u8>> = Condvar::wait;
    type Timed<'a> = LockResult<(MutexGuard<'a, u8>, WaitTimeoutResult)>;
    let _: fn(&'static Condvar, MutexGuard<'static, u8>, std::time::Duration) -> Timed<'static> = Condvar::wait_timeout;
    let _: fn(&WaitTimeoutResult) -> bool = WaitTimeoutResult::timed_out;
    let notify = Notify::new();
    notify.notify();
    notify.wait();
    let _: Notify = Default::default();
    let _: std::sync::BarrierWaitResult = Barrier::new(1).wait();
    is_debug::<(Mutex<u8>, MutexGuard<'_, u8>, RwLock<u8>, RwLockReadGuard<'_, u8>, RwLockWriteGuard<'_, u8>)>();
    is_debug::<(Condvar, WaitTimeoutResult, Notify, Barrier)>();
}

#[dpor::test]
fn channels() {
    use loom::sync::mpsc::{Receiver, Sender, channel};
    let (sender, receiver): (Sender<u32>, Receiver<u32>) = channel();
    let other: Sender<u32> = sender.clone();
    let _: Result<(), std::sync::mpsc::SendError<u32>> = other.send(1);
    let _: Result<u32, std::sync::mpsc::RecvError> = receiver.recv();
    let _: Result<u32, std::sync::mpsc::TryRecvError> = receiver.try_recv();
    type Timed = Result<u32, std::sync::mpsc::RecvTimeoutError>;
    let _: fn(&Receiver<u32>, std::time::Duration) -> Timed = Receiver::recv_timeout;
    is_debug::<(Sender<u32>, Receiver<u32>)>();
}

loom::thread_local! {
    static LOCAL: std::cell::Cell<u32> = std::cell::Cell::new(1);
    pub(crate) static OTHER: String = String::from("2")
}

#[dpor::test]
fn threads() {
    use loom::thread::{
        AccessError, Builder, JoinHandle, LocalKey, Thread, ThreadId, current, panicking, park, spawn, yield_now,
    };
    let thread: JoinHandle<u32> = spawn(|| 1);
    let _: &Thread = thread.thread();
    let _: std::thread::Result<u32> = thread.join();
    // What is not `Send` can be moved to a thread.
    spawn(|| std::rc::Rc::new(2)).join().unwrap();
    let builder: Builder = Builder::new().name("name".to_owned()).stack_size(1 << 16);
    let thread: std::io::Result<JoinHandle<()>> = builder.spawn(|| assert_eq!(current().name(), Some("name")));
    thread.unwrap().join().unwrap();
    let _: ThreadId = current().id();
    current().unpark();
    park();
    yield_now();
    assert!(!panicking());
    let _: &LocalKey<String> = &OTHER;
    LOCAL.with(|local| local.set(local.get() + 1));
    let local: Result<u32, AccessError> = LOCAL.try_with(|local| local.get());
    assert_eq!(local.unwrap() + OTHER.with(|other| other.len()) as u32, 3);
    is_debug::<(Builder, JoinHandle<u8>, LocalKey<u8>, Thread, ThreadId, AccessError)>();
    let _: fn(&AccessError, &mut std::fmt::Formatter<'_>) -> std::fmt::Result = std::fmt::Display::fmt;
    is_send_and_sync::<JoinHandle<std::rc::Rc<u8>>>();
}
