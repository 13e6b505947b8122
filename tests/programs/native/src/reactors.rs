//! Epoll, eventfd and timerfd in one thread: what is told when, and which errors there are.
#![allow(clippy::undocumented_unsafe_blocks, reason = "system calls, as the C library declares them")]

use std::ffi::{c_int, c_uint};
use std::fs::File;
use std::io::{Error, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::time::{Duration, Instant};

unsafe extern "C" {
    fn eventfd(initial: c_uint, flags: c_int) -> c_int;
    fn epoll_create1(flags: c_int) -> c_int;
    fn epoll_ctl(epoll: c_int, operation: c_int, file: c_int, event: *const Event) -> c_int;
    fn epoll_wait(epoll: c_int, events: *mut Event, room: c_int, limit: c_int) -> c_int;
    fn timerfd_create(clock: c_int, flags: c_int) -> c_int;
    fn timerfd_settime(timer: c_int, flags: c_int, new: *const [[i64; 2]; 2], old: *mut [[i64; 2]; 2]) -> c_int;
    fn socketpair(domain: c_int, kind: c_int, protocol: c_int, ends: *mut [c_int; 2]) -> c_int;
    fn close(file: c_int) -> c_int;
    fn syscall(number: i64, ...) -> i64;
}

const EPOLLIN: u32 = 1;
const EPOLLONESHOT: u32 = 1 << 30;
const EPOLLET: u32 = 1 << 31;
const ADD: c_int = 1;
const DEL: c_int = 2;
const MOD: c_int = 3;
const SEMAPHORE: c_int = 1;
const NONBLOCK: c_int = 0o4000;
const CLOCK_MONOTONIC: c_int = 1;
const SYS_EVENTFD2: i64 = 290;

#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Event {
    events: u32,
    data: u64,
}

/// What a system call gives: a number or an error.
fn result(result: c_int) -> Result<c_int, Option<c_int>> {
    if result < 0 { Err(Error::last_os_error().raw_os_error()) } else { Ok(result) }
}

fn file(descriptor: c_int) -> File {
    // SAFETY: the descriptor was opened just before.
    unsafe { File::from_raw_fd(result(descriptor).unwrap()) }
}

fn event(initial: c_uint, flags: c_int) -> File {
    file(unsafe { eventfd(initial, flags) })
}

fn control(epoll: &File, operation: c_int, file: c_int, events: u32) -> Result<c_int, Option<c_int>> {
    result(unsafe { epoll_ctl(epoll.as_raw_fd(), operation, file, &Event { events, data: 7 }) })
}

fn wait(epoll: &File) -> Vec<(u32, u64)> {
    let mut events = [Event { events: 0, data: 0 }; 4];
    let count = result(unsafe { epoll_wait(epoll.as_raw_fd(), events.as_mut_ptr(), 4, 0) }).unwrap();
    events[..count as usize].iter().map(|event| (event.events, event.data)).collect()
}

fn write(mut file: &File, value: u64) -> Result<usize, Option<c_int>> {
    file.write(&value.to_ne_bytes()).map_err(|error| error.raw_os_error())
}

fn read(mut file: &File) -> Result<u64, Option<c_int>> {
    let mut bytes = [0; 8];
    file.read(&mut bytes).map(|_| u64::from_ne_bytes(bytes)).map_err(|error| error.raw_os_error())
}

#[dpor::test]
fn counters() {
    let count = event(3, NONBLOCK);
    println!("{:?} {:?}", read(&count), read(&count));
    println!("{:?} {:?} {:?} {:?}", write(&count, 2), write(&count, 5), read(&count), read(&count));
    println!("{:?} {:?}", write(&count, u64::MAX), (&count).write(&[1; 4]).map_err(|error| error.raw_os_error()));
    let semaphore = event(2, NONBLOCK | SEMAPHORE);
    println!("{:?} {:?} {:?}", read(&semaphore), read(&semaphore), read(&semaphore));
    let blocking = event(0, 0);
    println!("{:?} {:?}", write(&blocking, 4), read(&blocking));
    let copy = blocking.try_clone().unwrap();
    drop(blocking);
    println!("{:?} {:?}", write(&copy, 4), read(&copy));
    let direct = file(unsafe { syscall(SYS_EVENTFD2, 6, NONBLOCK) } as c_int);
    println!("{:?} {:?}", read(&direct), read(&direct));
    println!("{:?}", result(unsafe { close(12345) }));
}

#[dpor::test]
fn edges_levels_and_single_events() {
    for how in [EPOLLET, 0, EPOLLONESHOT] {
        let (epoll, waker) = (file(unsafe { epoll_create1(0) }), event(0, NONBLOCK));
        println!("{:?}", control(&epoll, MOD, waker.as_raw_fd(), EPOLLIN | how));
        println!("{:?}", control(&epoll, ADD, waker.as_raw_fd(), EPOLLIN | how));
        println!("{:?}", control(&epoll, ADD, waker.as_raw_fd(), EPOLLIN | how));
        println!("{:?}", wait(&epoll));
        println!("{:?} {:?} {:?}", write(&waker, 1), wait(&epoll), wait(&epoll));
        println!("{:?} {:?} {:?}", write(&waker, 1), wait(&epoll), wait(&epoll));
        if how == EPOLLONESHOT {
            println!("{:?} {:?}", control(&epoll, MOD, waker.as_raw_fd(), EPOLLIN | how), wait(&epoll));
        }
        println!("{:?} {:?}", read(&waker), wait(&epoll));
        println!("{:?} {:?}", write(&waker, 1), read(&waker));
        println!("{:?}", wait(&epoll));
        println!("{:?}", control(&epoll, DEL, waker.as_raw_fd(), 0));
        println!("{:?} {:?}", write(&waker, 1), wait(&epoll));
        println!("{:?}", control(&epoll, DEL, waker.as_raw_fd(), 0));
        println!("{:?} {:?}", control(&epoll, ADD, 12345, EPOLLIN), control(&waker, ADD, epoll.as_raw_fd(), EPOLLIN));
    }
    let (epoll, waker) = (file(unsafe { epoll_create1(0) }), event(5, NONBLOCK));
    println!("{:?} {:?}", control(&epoll, ADD, waker.as_raw_fd(), EPOLLIN | EPOLLET), wait(&epoll));
    write(&waker, 1).unwrap();
    drop(waker);
    println!("{:?}", wait(&epoll));
}

#[dpor::test]
fn timers() {
    let (epoll, timer) =
        (file(unsafe { epoll_create1(0) }), file(unsafe { timerfd_create(CLOCK_MONOTONIC, NONBLOCK) }));
    println!("{:?} {:?}", control(&epoll, ADD, timer.as_raw_fd(), EPOLLIN), wait(&epoll));
    println!("{:?}", read(&timer));
    let set = |seconds, nanoseconds| {
        let mut old = [[9; 2]; 2];
        let new = [[0, 0], [seconds, nanoseconds]];
        let set = result(unsafe { timerfd_settime(timer.as_raw_fd(), 0, &new, &mut old) });
        (set, old[0], old[1] == [0, 0])
    };
    println!("{:?} {:?} {:?}", set(0, 1_000_000), read(&timer), wait(&epoll));
    let (start, mut told) = (Instant::now(), [Event { events: 0, data: 0 }; 4]);
    println!("{}", unsafe { epoll_wait(epoll.as_raw_fd(), told.as_mut_ptr(), 4, -1) });
    println!("{}", start.elapsed() >= Duration::from_micros(900));
    println!("{:?} {:?} {:?} {:?}", wait(&epoll), read(&timer), read(&timer), wait(&epoll));
    println!("{:?} {:?} {:?}", set(1000, 0), set(0, 0), set(0, -1));
}

#[dpor::test]
fn sockets_on_which_nothing_arrives() {
    let mut ends = [0; 2];
    println!("{:?}", result(unsafe { socketpair(1, 1 | NONBLOCK, 0, &mut ends) }));
    let epoll = file(unsafe { epoll_create1(0) });
    println!("{:?} {:?}", control(&epoll, ADD, ends[0], EPOLLIN | EPOLLET), wait(&epoll));
    println!("{:?} {:?}", control(&epoll, ADD, ends[0], EPOLLIN), control(&epoll, DEL, ends[1], 0));
    // SAFETY: it stays open.
    let end = unsafe { File::from_raw_fd(ends[0]) };
    println!("{:?}", read(&end));
    let copy = end.try_clone().unwrap();
    std::mem::forget(end);
    println!("{:?} {:?}", read(&copy), control(&epoll, DEL, ends[0], 0));
}
