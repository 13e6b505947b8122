//! The files of the operating system that reactors are made of: epoll, eventfd, timerfd, and sockets on which nothing
//! ever arrives. See the checker's documentation (`docs/synchronization.md`, "Reactors").
//!
//! An instance of epoll watches at most one eventfd, the waker, and one timerfd: whoever waits at it waits for a word of
//! the waker. Everything is done as in the kernel in one respect: a thread that writes to an eventfd need not know who
//! watches it.
//!
//! The functions give what system calls give: a result, or the negative number of an error.

use super::barriers::membarrier;
use super::table::Kept;
use super::{
    dpor_ask, dpor_asked, dpor_await, dpor_elapse, dpor_system_call, dpor_try_add, dpor_write_stream, finite, order,
    question, table, test, then, unsupported, wait,
};
use crate::ffi::{c_int, c_long, c_uint};
use crate::sync::atomic::Atomic;
use crate::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use crate::time::Duration;
use crate::{ptr, slice};

const EAGAIN: isize = 11;
const EBADF: isize = 9;
const EEXIST: isize = 17;
const EINVAL: isize = 22;
const ENOENT: isize = 2;
const EPERM: isize = 1;

/// The flag of descriptors that do not block, in every call that makes one.
const NONBLOCK: i32 = 0o4000;
const CLOEXEC: i32 = 0o2000000;
const EFD_SEMAPHORE: i32 = 1;
const TFD_TIMER_ABSTIME: i32 = 1;
const AF_UNIX: i32 = 1;
const CLOCK_MONOTONIC: i32 = 1;

const EPOLLIN: u32 = 1;
const EPOLLPRI: u32 = 2;
const EPOLLERR: u32 = 8;
const EPOLLHUP: u32 = 0x10;
const EPOLLRDHUP: u32 = 0x2000;
const EPOLLONESHOT: u32 = 1 << 30;
const EPOLLET: u32 = 1 << 31;
/// What never happens to files that nobody closes at the other end.
const NEVER: u32 = EPOLLPRI | EPOLLERR | EPOLLHUP | EPOLLRDHUP;
const ADD: i32 = 1;
const DEL: i32 = 2;
const MOD: i32 = 3;

const SECOND: u64 = 1_000_000_000;
/// The largest number that may be written to an eventfd: no test writes so often that the sum is too large for a word.
const MAX_WRITTEN: u64 = 4096;

/// What descriptors stand for.
pub(super) struct File {
    /// How many descriptors of it are open.
    pub(super) descriptors: Kept<u32>,
    nonblocking: bool,
    kind: Kind,
}

enum Kind {
    Event(Event),
    Timer(Timer),
    Epoll(Epoll),
    /// One end of a pair of sockets.
    Socket,
}

struct Event {
    semaphore: bool,
    /// The sum of what was written and not read yet, if somebody asks for that.
    count: Atomic<u32>,
    /// Whether something was written since epoll has told of it.
    written: Atomic<u32>,
    /// Whether it was ever watched.
    watched: Kept<bool>,
}

struct Timer {
    /// When it is over, in nanoseconds of its clock; 0 if it is not set.
    deadline: Atomic<u64>,
}

struct Epoll {
    /// Which thread made it: the only one that may add to what is watched.
    owner: u32,
    waker: Watch,
    timer: Watch,
    sockets: Kept<[i32; SOCKETS]>,
}

/// How many sockets an instance of epoll can watch.
const SOCKETS: usize = 8;

/// One file that epoll watches.
struct Watch {
    file: Kept<Option<Watched>>,
    /// For which events, if it is watched for one only: zero after that.
    armed: Atomic<u32>,
}

#[derive(Clone, Copy)]
struct Watched {
    descriptor: i32,
    file: &'static File,
    /// What is watched for, and how.
    events: u32,
    data: u64,
}

/// `struct epoll_event` of x86-64.
#[repr(C, packed)]
pub(super) struct EpollEvent {
    events: u32,
    data: u64,
}

#[repr(C)]
pub(super) struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

impl Timespec {
    fn from(nanoseconds: u64) -> Timespec {
        Timespec { seconds: (nanoseconds / SECOND) as i64, nanoseconds: (nanoseconds % SECOND) as i64 }
    }

    /// In nanoseconds; none where it is not valid.
    fn nanoseconds(&self) -> Option<u64> {
        let (seconds, nanoseconds) = (u64::try_from(self.seconds).ok()?, u64::try_from(self.nanoseconds).ok()?);
        if nanoseconds < SECOND { Some(seconds.saturating_mul(SECOND).saturating_add(nanoseconds)) } else { None }
    }
}

#[repr(C)]
pub(super) struct Itimerspec {
    interval: Timespec,
    value: Timespec,
}

/// Opens a descriptor of a new file.
fn open(flags: i32, kind: Kind) -> isize {
    if flags & !(NONBLOCK | CLOEXEC) != 0 {
        return -EINVAL;
    }
    let file = Box::leak(Box::new(File { descriptors: Kept::new(0), nonblocking: flags & NONBLOCK != 0, kind }));
    table::open(file) as isize
}

fn eventfd(initial: u32, flags: i32) -> isize {
    if initial > MAX_WRITTEN as u32 {
        unsupported("an eventfd that counts beyond 4096");
    }
    let event = Event {
        semaphore: flags & EFD_SEMAPHORE != 0,
        count: Atomic::<u32>::new(initial),
        written: Atomic::<u32>::new((initial > 0) as u32),
        watched: Kept::new(false),
    };
    open(flags & !EFD_SEMAPHORE, Kind::Event(event))
}

impl Event {
    fn write(&self, bytes: &[u8]) -> isize {
        let Some(Ok(bytes)) = bytes.get(..8).map(<[u8; 8]>::try_from) else { return -EINVAL };
        match u64::from_ne_bytes(bytes) {
            u64::MAX => return -EINVAL,
            value if value > MAX_WRITTEN => unsupported("an eventfd that counts beyond 4096"),
            0 => {}
            value => {
                if dpor_asked(question::COUNT) {
                    self.count.fetch_add(value as u32, Release);
                }
                self.written.fetch_or(1, Release);
            }
        }
        8
    }

    fn read(&self, nonblocking: bool, bytes: &mut [u8]) -> isize {
        let Some(bytes) = bytes.get_mut(..8) else { return -EINVAL };
        dpor_ask(question::COUNT);
        let (then, operand) = if self.semaphore { (then::ADD, u32::MAX) } else { (then::SET, 0) };
        let found = match nonblocking {
            false => dpor_await(&self.count, wait::EVENTFD, test::IS_NOT, 0, then, operand, 0),
            true if self.semaphore => dpor_try_add(&self.count, order::SEQ_CST, test::IS_NOT, 0, operand),
            true => self.count.swap(0, AcqRel),
        };
        if found == 0 {
            return -EAGAIN;
        }
        let value: u64 = if self.semaphore { 1 } else { found.into() };
        bytes.copy_from_slice(&value.to_ne_bytes());
        8
    }

    /// Waits until there is something to tell.
    fn wait(&self, edge: bool) {
        if edge {
            while dpor_await(&self.written, wait::EPOLL, test::IS_NOT, 0, then::SET, 0, 0) == 0 || self.is_empty() {}
        } else {
            dpor_ask(question::COUNT);
            dpor_await(&self.count, wait::EPOLL, test::IS_NOT, 0, then::READ, 0, 0);
        }
    }

    /// Whether there is something to tell.
    fn poll(&self, edge: bool) -> bool {
        if edge {
            self.written.swap(0, Acquire) != 0 && !self.is_empty()
        } else {
            dpor_ask(question::COUNT);
            self.count.load(Acquire) != 0
        }
    }

    /// Whether everything has been read: if nobody ever reads, that is not so.
    fn is_empty(&self) -> bool {
        dpor_asked(question::COUNT) && self.count.load(Acquire) == 0
    }
}

fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is written there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}

fn timerfd_create(clock: i32, flags: i32) -> isize {
    if clock != CLOCK_MONOTONIC {
        unsupported("a timerfd of a clock other than `CLOCK_MONOTONIC`");
    }
    open(flags, Kind::Timer(Timer { deadline: Atomic::<u64>::new(0) }))
}

impl Timer {
    fn set(&self, flags: i32, value: &Itimerspec) -> isize {
        let (Some(interval), Some(time)) = (value.interval.nanoseconds(), value.value.nanoseconds()) else {
            return -EINVAL;
        };
        let deadline = match time {
            0 => 0,
            _ if interval != 0 => unsupported("a timerfd that fires more than once"),
            time if flags & TFD_TIMER_ABSTIME != 0 => time,
            time => now().saturating_add(time),
        };
        self.deadline.swap(deadline, AcqRel);
        0
    }

    /// How long it takes until it is over, if it is set.
    fn left(&self) -> Option<u64> {
        match self.deadline.load(Acquire) {
            0 => None,
            deadline => Some(deadline.saturating_sub(now())),
        }
    }

    fn read(&self, nonblocking: bool, bytes: &mut [u8]) -> isize {
        let Some(bytes) = bytes.get_mut(..8) else { return -EINVAL };
        match self.left() {
            None if nonblocking => return -EAGAIN,
            None => unsupported("waiting for a timerfd that is not set"),
            Some(0) => {}
            Some(_) if nonblocking => return -EAGAIN,
            Some(left) => dpor_elapse(left),
        }
        self.deadline.swap(0, AcqRel);
        bytes.copy_from_slice(&1u64.to_ne_bytes());
        8
    }
}

fn socketpair(domain: i32, kind: i32, protocol: i32, ends: *mut c_int) -> isize {
    if domain != AF_UNIX || protocol != 0 {
        unsupported("sockets other than pairs of Unix sockets");
    }
    for end in 0..2 {
        let descriptor = open(kind & NONBLOCK, Kind::Socket);
        // SAFETY: that of the caller.
        unsafe { *ends.add(end) = descriptor as c_int };
    }
    0
}

impl Watch {
    fn new() -> Watch {
        Watch { file: Kept::new(None), armed: Atomic::<u32>::new(0) }
    }

    /// What is watched here, and is still to be told of. A file that is closed is not watched any more.
    fn armed(&self) -> Option<Watched> {
        let watched = self.file.get().filter(|watched| watched.file.descriptors.get() > 0)?;
        let events = if watched.is_once() { self.armed.load(Acquire) } else { watched.events };
        if events & EPOLLIN != 0 { Some(watched) } else { None }
    }

    fn set(&self, watched: Option<Watched>) {
        self.file.set(watched);
        if let Some(watched) = watched
            && watched.is_once()
        {
            self.armed.swap(watched.events, AcqRel);
        }
    }

    /// Watches for something again.
    fn modify(&self, watched: Watched, events: u32, data: u64) -> isize {
        if !watched.is_once() || events & EPOLLONESHOT == 0 || data != watched.data || events & EPOLLET != 0 {
            unsupported("`EPOLL_CTL_MOD`, except with `EPOLLONESHOT` for what was added with it");
        }
        self.armed.swap(events, AcqRel);
        0
    }

    /// There is something to tell: whether nobody else has done so.
    fn tell(&self, watched: Watched) -> Option<u64> {
        if !watched.is_once() || self.armed.swap(0, AcqRel) & EPOLLIN != 0 { Some(watched.data) } else { None }
    }
}

impl Watched {
    fn is_once(&self) -> bool {
        self.events & EPOLLONESHOT != 0
    }
}

fn epoll_create(flags: i32) -> isize {
    let sockets = Kept::new([-1; SOCKETS]);
    let (owner, waker, timer) = (table::own_index(), Watch::new(), Watch::new());
    open(flags, Kind::Epoll(Epoll { owner, waker, timer, sockets }))
}

impl Epoll {
    /// Where a file is watched.
    fn watch(&self, file: &File) -> Option<&Watch> {
        match file.kind {
            Kind::Event(_) => Some(&self.waker),
            Kind::Timer(_) => Some(&self.timer),
            Kind::Epoll(_) => unsupported("an epoll that watches an epoll"),
            Kind::Socket => None,
        }
    }

    fn control(&self, operation: i32, descriptor: i32, file: &'static File, event: *const EpollEvent) -> isize {
        let (events, data) = match operation {
            DEL => (0, 0),
            // SAFETY: that of the caller.
            _ => unsafe { ((*event).events, (*event).data) },
        };
        if events & !(EPOLLIN | NEVER | EPOLLET | EPOLLONESHOT) != 0 {
            unsupported("watching with epoll for other events than `EPOLLIN`");
        }
        if operation != MOD && self.owner != table::own_index() {
            unsupported("`epoll_ctl` in another thread than the one that created the epoll");
        }
        let Some(watch) = self.watch(file) else { return self.control_socket(operation, descriptor) };
        let watched = watch.file.get();
        match (operation, watched) {
            (ADD, Some(watched)) if watched.descriptor == descriptor => -EEXIST,
            (ADD, Some(_)) => unsupported("an epoll that watches more than one eventfd, or timerfd"),
            (ADD, None) => {
                file.watch();
                if events & EPOLLET != 0 && events & EPOLLONESHOT != 0 {
                    unsupported("watching with `EPOLLET | EPOLLONESHOT`");
                }
                watch.set(Some(Watched { descriptor, file, events, data }));
                0
            }
            (MOD, Some(watched)) if watched.descriptor == descriptor => watch.modify(watched, events, data),
            (DEL, Some(watched)) if watched.descriptor == descriptor => {
                watch.set(None);
                0
            }
            (MOD | DEL, _) => -ENOENT,
            _ => -EINVAL,
        }
    }

    /// Nothing ever happens to sockets. They are remembered only to say whether they are watched.
    fn control_socket(&self, operation: i32, descriptor: i32) -> isize {
        let mut sockets = self.sockets.get();
        let known = sockets.iter().position(|known| *known == descriptor);
        match (operation, known) {
            (ADD, Some(_)) => return -EEXIST,
            (ADD, None) => match sockets.iter_mut().find(|known| **known == -1) {
                Some(free) => *free = descriptor,
                None => unsupported("an epoll that watches more than 8 sockets"),
            },
            (DEL, Some(index)) => sockets[index] = -1,
            (MOD, Some(_)) => {}
            (MOD | DEL, None) => return -ENOENT,
            _ => return -EINVAL,
        }
        self.sockets.set(sockets);
        0
    }

    /// Waits for so many nanoseconds, if there is a limit. What there is to tell goes to `told`, which has room for one
    /// or two.
    fn wait(&self, limit: Option<u64>, told: &mut Told) {
        loop {
            let waker = self.waker.armed();
            let timer = self.timer.armed();
            let left = timer.and_then(|timer| match &timer.file.kind {
                Kind::Timer(timer) => timer.left(),
                _ => None,
            });
            let time = match (limit, left) {
                (Some(limit), Some(left)) => Some(limit.min(left)),
                (limit, left) => limit.or(left),
            };
            if let Some(waker) = waker
                && waker.is_ready(time.is_none())
                && let Some(data) = self.waker.tell(waker)
            {
                told.push(data);
            } else if waker.is_none() && time.is_none() {
                unsupported("waiting at an epoll that watches nothing");
            }
            if told.is_empty()
                && let Some(time) = time
            {
                dpor_elapse(time);
            }
            // Its time is over now, or was before.
            if let Some(timer) = timer
                && let Some(left) = left
                && (left == 0 || told.is_empty() && time == Some(left))
                && told.has_room()
                && let Some(data) = self.timer.tell(timer)
            {
                told.push(data);
            }
            if !told.is_empty() || time.is_some() {
                return;
            }
        }
    }
}

impl Watched {
    /// Whether there is something to tell of the waker; if `waits`, it waits until that is so.
    fn is_ready(&self, waits: bool) -> bool {
        let Kind::Event(event) = &self.file.kind else { return false };
        let edge = self.events & EPOLLET != 0;
        if waits {
            event.wait(edge);
        }
        waits || event.poll(edge)
    }
}

impl File {
    /// Epoll watches it from now on.
    fn watch(&self) {
        if let Kind::Event(event) = &self.kind {
            if event.watched.get() {
                unsupported("an eventfd that epoll watches twice");
            }
            event.watched.set(true);
        }
    }
}

/// Where `epoll_wait` writes what it has to tell.
struct Told {
    out: *mut EpollEvent,
    room: usize,
    count: usize,
}

impl Told {
    fn push(&mut self, data: u64) {
        // SAFETY: there is room for so many.
        unsafe { self.out.add(self.count).write(EpollEvent { events: EPOLLIN, data }) };
        self.count += 1;
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn has_room(&self) -> bool {
        self.count < self.room
    }
}

fn epoll_wait(epoll: i32, out: *mut EpollEvent, room: i32, limit: Option<Duration>) -> isize {
    let room = match usize::try_from(room) {
        Ok(room) if room > 0 => room,
        _ => return -EINVAL,
    };
    match table::find(epoll).map(|file| &file.kind) {
        Some(Kind::Epoll(epoll)) => {
            let mut told = Told { out, room, count: 0 };
            epoll.wait(limit.and_then(finite), &mut told);
            told.count as isize
        }
        Some(_) => -EINVAL,
        None => -EBADF,
    }
}

/// A time limit in milliseconds: none where it is negative.
fn milliseconds(limit: i32) -> Option<Duration> {
    u64::try_from(limit).ok().map(Duration::from_millis)
}

fn epoll_ctl(epoll: i32, operation: i32, descriptor: i32, event: *const EpollEvent) -> isize {
    match (table::find(epoll), table::find(descriptor)) {
        (Some(File { kind: Kind::Epoll(epoll), .. }), Some(file)) => epoll.control(operation, descriptor, file, event),
        // Standard input and output: files are not watched.
        (Some(_), None) if (0..3).contains(&descriptor) => -EPERM,
        (Some(_), Some(_)) => -EINVAL,
        _ => -EBADF,
    }
}

fn timerfd_settime(descriptor: i32, flags: i32, new: &Itimerspec, old: *mut Itimerspec) -> isize {
    match table::find(descriptor).map(|file| &file.kind) {
        Some(Kind::Timer(timer)) => {
            let left = if old.is_null() { None } else { timer.left().map(|left| left.max(1)) };
            let result = timer.set(flags, new);
            if result >= 0 && !old.is_null() {
                let (interval, value) = (Timespec::from(0), Timespec::from(left.unwrap_or(0)));
                // SAFETY: that of the caller.
                unsafe { old.write(Itimerspec { interval, value }) };
            }
            result
        }
        Some(_) => -EINVAL,
        None => -EBADF,
    }
}

fn read(descriptor: i32, bytes: &mut [u8]) -> isize {
    match table::find(descriptor) {
        Some(File { nonblocking, kind, .. }) => match kind {
            Kind::Event(event) => event.read(*nonblocking, bytes),
            Kind::Timer(timer) => timer.read(*nonblocking, bytes),
            Kind::Epoll(_) => -EINVAL,
            Kind::Socket if *nonblocking => -EAGAIN,
            Kind::Socket => unsupported("reading from a socket"),
        },
        None if (0..3).contains(&descriptor) => unsupported("reading from standard input"),
        None => -EBADF,
    }
}

fn write(descriptor: i32, bytes: *const u8, len: usize) -> isize {
    match table::find(descriptor).map(|file| &file.kind) {
        // SAFETY: that of the caller.
        Some(Kind::Event(event)) => event.write(unsafe { slice::from_raw_parts(bytes, len) }),
        Some(Kind::Socket) => unsupported("writing to a socket"),
        Some(_) => -EINVAL,
        None => dpor_write_stream(descriptor, bytes, len),
    }
}

fn close(descriptor: i32) -> isize {
    if (0..3).contains(&descriptor) {
        unsupported("closing standard input, output or error");
    }
    match table::close(descriptor) {
        Some(File { descriptors, kind: Kind::Socket, .. }) if descriptors.get() == 0 => unsupported("closing a socket"),
        Some(_) => 0,
        None => -EBADF,
    }
}

const F_DUPFD: i32 = 0;
const F_GETFD: i32 = 1;
const F_SETFD: i32 = 2;
const F_GETFL: i32 = 3;
const F_SETFL: i32 = 4;
const F_DUPFD_CLOEXEC: i32 = 1030;

fn fcntl(descriptor: i32, command: i32, argument: u64) -> isize {
    let Some(file) = table::find(descriptor) else {
        return if (0..3).contains(&descriptor) {
            unsupported("`fcntl` of standard input, output or error")
        } else {
            -EBADF
        };
    };
    let flags = if file.nonblocking { NONBLOCK | 2 } else { 2 };
    match command {
        F_DUPFD | F_DUPFD_CLOEXEC => table::open(file) as isize,
        F_GETFD => 1,
        F_SETFD => 0,
        F_GETFL => flags as isize,
        F_SETFL if argument as i32 & NONBLOCK == flags & NONBLOCK => 0,
        F_SETFL => unsupported("changing whether a file blocks"),
        _ => unsupported("this command of `fcntl`"),
    }
}

/// The functions of the C library, which the checker calls by their names after `dpor_`.
mod c {
    use super::*;

    /// As functions of the C library give it: errors are in `errno`.
    fn result(result: isize) -> isize {
        if result >= 0 {
            return result;
        }
        // SAFETY: it is there.
        unsafe { *libc::__errno_location() = -result as c_int };
        -1
    }

    #[unsafe(no_mangle)]
    extern "C" fn dpor_epoll_create(_size: c_int) -> c_int {
        result(epoll_create(0)) as c_int
    }

    #[unsafe(no_mangle)]
    extern "C" fn dpor_epoll_create1(flags: c_int) -> c_int {
        result(epoll_create(flags)) as c_int
    }

    #[unsafe(no_mangle)]
    extern "C" fn dpor_epoll_ctl(epoll: c_int, operation: c_int, file: c_int, event: *const EpollEvent) -> c_int {
        result(epoll_ctl(epoll, operation, file, event)) as c_int
    }

    #[unsafe(no_mangle)]
    extern "C" fn dpor_epoll_wait(epoll: c_int, out: *mut EpollEvent, room: c_int, limit: c_int) -> c_int {
        result(epoll_wait(epoll, out, room, milliseconds(limit))) as c_int
    }

    #[unsafe(no_mangle)]
    extern "C" fn dpor_eventfd(initial: c_uint, flags: c_int) -> c_int {
        result(eventfd(initial, flags)) as c_int
    }

    #[unsafe(no_mangle)]
    extern "C" fn dpor_timerfd_create(clock: c_int, flags: c_int) -> c_int {
        result(timerfd_create(clock, flags)) as c_int
    }

    #[unsafe(no_mangle)]
    extern "C" fn dpor_timerfd_settime(timer: c_int, flags: c_int, new: &Itimerspec, old: *mut Itimerspec) -> c_int {
        result(timerfd_settime(timer, flags, new, old)) as c_int
    }

    #[unsafe(no_mangle)]
    extern "C" fn dpor_socketpair(domain: c_int, kind: c_int, protocol: c_int, ends: *mut c_int) -> c_int {
        result(socketpair(domain, kind, protocol, ends)) as c_int
    }

    #[unsafe(no_mangle)]
    extern "C" fn dpor_read(file: c_int, bytes: *mut u8, len: usize) -> isize {
        // SAFETY: that of the caller.
        result(read(file, unsafe { slice::from_raw_parts_mut(bytes, len) }))
    }

    #[unsafe(no_mangle)]
    extern "C" fn dpor_write(file: c_int, bytes: *const u8, len: usize) -> isize {
        result(write(file, bytes, len))
    }

    #[unsafe(no_mangle)]
    extern "C" fn dpor_close(file: c_int) -> c_int {
        result(close(file)) as c_int
    }

    #[unsafe(no_mangle)]
    extern "C" fn dpor_fcntl(file: c_int, command: c_int, argument: u64) -> c_int {
        result(fcntl(file, command, argument)) as c_int
    }

    #[unsafe(no_mangle)]
    extern "C" fn dpor_syscall(number: c_long, a: u64, b: u64, c: u64, d: u64, e: u64, f: u64) -> c_long {
        match known(number, [a, b, c, d, e, f]) {
            Some(known) => result(known) as c_long,
            None => dpor_system_call(number, a, b, c, d, e, f),
        }
    }

    /// The instruction, not the function of the C library: an error is a negative number.
    #[unsafe(no_mangle)]
    extern "C" fn dpor_syscall_instruction(number: c_long, a: u64, b: u64, c: u64, d: u64, e: u64, f: u64) -> c_long {
        match known(number, [a, b, c, d, e, f]) {
            Some(known) => known as c_long,
            None => match dpor_system_call(number, a, b, c, d, e, f) {
                // SAFETY: it is there.
                -1 => -c_long::from(unsafe { *libc::__errno_location() }),
                result => result,
            },
        }
    }
}

/// A pointer that was an argument of a system call.
fn pointer<T>(address: u64) -> *mut T {
    ptr::with_exposed_provenance_mut(address as usize)
}

/// What a system call gives that is modelled here, by its number on x86-64.
fn known(number: c_long, [a, b, c, d, ..]: [u64; 6]) -> Option<isize> {
    let file = a as i32;
    Some(match number {
        // SAFETY: whoever makes the system call passes a buffer of this length.
        0 => read(file, unsafe { slice::from_raw_parts_mut(pointer(b), c as usize) }),
        1 => write(file, pointer(b), c as usize),
        3 => close(file),
        53 => socketpair(a as i32, b as i32, c as i32, pointer(d)),
        72 => fcntl(file, b as i32, c),
        213 => epoll_create(0),
        232 | 281 => epoll_wait(file, pointer(b), c as i32, milliseconds(d as i32)),
        233 => epoll_ctl(file, b as i32, c as i32, pointer(d)),
        283 => timerfd_create(a as i32, b as i32),
        284 => eventfd(a as u32, 0),
        // SAFETY: whoever makes the system call passes a pointer to a timer specification.
        286 => timerfd_settime(file, b as i32, unsafe { &*pointer(c) }, pointer(d)),
        290 => eventfd(a as u32, b as i32),
        291 => epoll_create(a as i32),
        324 => membarrier(a as i32, b as u32),
        // SAFETY: whoever makes the system call passes null or a pointer to a time.
        441 => match unsafe { pointer::<Timespec>(d).as_ref() }.map(Timespec::nanoseconds) {
            None => epoll_wait(file, pointer(b), c as i32, None),
            Some(Some(limit)) => epoll_wait(file, pointer(b), c as i32, Some(Duration::from_nanos(limit))),
            Some(None) => -EINVAL,
        },
        _ => return None,
    })
}
