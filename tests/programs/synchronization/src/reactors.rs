//! What reactors wait with: epoll, eventfd, timerfd.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_uint};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::thread;
use std::time::{Duration, Instant};

unsafe extern "C" {
    fn eventfd(initial: c_uint, flags: c_int) -> c_int;
    fn epoll_create1(flags: c_int) -> c_int;
    fn epoll_ctl(epoll: c_int, operation: c_int, file: c_int, event: *const Event) -> c_int;
    fn epoll_wait(epoll: c_int, events: *mut Event, room: c_int, limit: c_int) -> c_int;
    fn timerfd_create(clock: c_int, flags: c_int) -> c_int;
    fn timerfd_settime(timer: c_int, flags: c_int, new: *const [[i64; 2]; 2], old: *mut [[i64; 2]; 2]) -> c_int;
}

const EPOLLIN: u32 = 1;
const EPOLLET: u32 = 1 << 31;
const EPOLL_CTL_ADD: c_int = 1;
const EFD_NONBLOCK: c_int = 0o4000;
const CLOCK_MONOTONIC: c_int = 1;

#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Event {
    events: u32,
    data: u64,
}

fn event(flags: c_int) -> File {
    unsafe { File::from_raw_fd(eventfd(0, flags)) }
}

fn wake(mut event: &File) {
    event.write_all(&1u64.to_ne_bytes()).unwrap();
}

fn read(mut event: &File) -> Option<u64> {
    let mut bytes = [0; 8];
    event.read_exact(&mut bytes).ok().map(|()| u64::from_ne_bytes(bytes))
}

struct Epoll(File);

impl Epoll {
    fn new() -> Epoll {
        Epoll(unsafe { File::from_raw_fd(epoll_create1(0)) })
    }

    fn watch(&self, file: &File, events: u32, data: u64) {
        let event = Event { events, data };
        assert_eq!(unsafe { epoll_ctl(self.0.as_raw_fd(), EPOLL_CTL_ADD, file.as_raw_fd(), &event) }, 0);
    }

    /// What is told of within so many milliseconds.
    fn wait(&self, limit: c_int) -> Vec<u64> {
        let mut events = [Event { events: 0, data: 0 }; 4];
        let count = unsafe { epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr(), 4, limit) };
        events[..usize::try_from(count).unwrap()].iter().map(|event| event.data).collect()
    }
}

/// Written by one thread, then read by another.
struct Shared(UnsafeCell<u32>);
unsafe impl Sync for Shared {}

// One thread waits for the other, and sees what it did before.
#[dpor::test]
fn reading_waits_for_a_write() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (event, shared) = (event(0), Shared(UnsafeCell::new(0)));
    let (event, shared) = (&event, &shared);
    thread::scope(|scope| {
        scope.spawn(move || {
            unsafe { *shared.0.get() = 1 };
            wake(event);
        });
        assert_eq!(read(event), Some(1));
        assert_eq!(unsafe { *shared.0.get() }, 1);
    });
}

// There is something to read, or not yet.
#[dpor::test]
fn reading_without_waiting() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let event = event(EFD_NONBLOCK);
    thread::scope(|scope| {
        scope.spawn(|| wake(&event));
        assert!(matches!(read(&event), None | Some(1)));
    });
}

#[dpor::test]
fn epoll_waits_for_its_waker() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (event, epoll, shared) = (event(EFD_NONBLOCK), Epoll::new(), Shared(UnsafeCell::new(0)));
    epoll.watch(&event, EPOLLIN | EPOLLET, 7);
    let (event, shared) = (&event, &shared);
    thread::scope(|scope| {
        scope.spawn(move || {
            unsafe { *shared.0.get() = 1 };
            wake(event);
        });
        assert_eq!(epoll.wait(-1), [7]);
        assert_eq!(unsafe { *shared.0.get() }, 1);
    });
}

// It is woken before the time is over, or not.
#[dpor::test]
fn epoll_waits_for_a_while() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (event, epoll) = (event(EFD_NONBLOCK), Epoll::new());
    epoll.watch(&event, EPOLLIN | EPOLLET, 7);
    thread::scope(|scope| {
        scope.spawn(|| wake(&event));
        let start = Instant::now();
        let told = epoll.wait(10);
        assert!(told == [7] || told.is_empty() && start.elapsed() >= Duration::from_millis(10));
    });
}

// Two writes are told of once or twice. Before the first wait there is the first write, or both; before the last one there
// is the second, too, or it is not told of.
#[dpor::test]
fn edges() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let (event, epoll) = (event(EFD_NONBLOCK), Epoll::new());
    epoll.watch(&event, EPOLLIN | EPOLLET, 7);
    thread::scope(|scope| {
        scope.spawn(|| {
            wake(&event);
            wake(&event);
        });
        assert_eq!(epoll.wait(-1), [7]);
        assert!(epoll.wait(0).len() <= 1);
    });
}

// It is the waker or the timer that comes first.
#[dpor::test]
fn timer_and_waker() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (event, epoll) = (event(EFD_NONBLOCK), Epoll::new());
    let timer = unsafe { File::from_raw_fd(timerfd_create(CLOCK_MONOTONIC, EFD_NONBLOCK)) };
    epoll.watch(&event, EPOLLIN | EPOLLET, 7);
    epoll.watch(&timer, EPOLLIN, 8);
    thread::scope(|scope| {
        scope.spawn(|| wake(&event));
        let start = Instant::now();
        let new = [[0, 0], [0, 1_000_000]];
        assert_eq!(unsafe { timerfd_settime(timer.as_raw_fd(), 0, &new, std::ptr::null_mut()) }, 0);
        let told = epoll.wait(-1);
        assert!(told == [7] || told == [8] && start.elapsed() >= Duration::from_millis(1));
    });
}

#[dpor::test(expect = "deadlock")]
fn never_written() {
    read(&event(0));
}

#[dpor::test(expect = "deadlock")]
fn never_told() {
    let (event, epoll) = (event(EFD_NONBLOCK), Epoll::new());
    epoll.watch(&event, EPOLLIN | EPOLLET, 7);
    epoll.wait(-1);
}

// A thread that waits for events is left when the main thread ends. It is blocked then.
#[dpor::test]
fn reactor_that_is_left() {
    // COUNT: rc11 0+1 sc 0+1 tso 0+1 pso 0+1
    thread::spawn(|| {
        let (event, epoll) = (event(EFD_NONBLOCK), Epoll::new());
        epoll.watch(&event, EPOLLIN | EPOLLET, 7);
        epoll.wait(-1);
    });
}

// But if the main thread waits for that one, both are blocked.
#[dpor::test(expect = "deadlock")]
fn reactor_that_is_joined() {
    let thread = thread::spawn(|| {
        let (event, epoll) = (event(EFD_NONBLOCK), Epoll::new());
        epoll.watch(&event, EPOLLIN | EPOLLET, 7);
        epoll.wait(-1);
    });
    thread.join().unwrap();
}
