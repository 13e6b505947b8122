//! Functions that the machine itself provides: allocation, threads, time, output, and what the C library and the
//! operating system do for the standard library.
//!
//! Arguments come in registers, one each, in the order given; results go to `dst` (and the register after it where
//! there are two). C functions keep their C meaning, errors in `errno` included.

use serde::{Deserialize, Serialize};

/// A function of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Builtin {
    // The Rust allocator
    /// `(size, align) -> ptr`
    Alloc,
    /// `(size, align) -> ptr`
    AllocZeroed,
    /// `(ptr, size, align)`: size and alignment must be those of the allocation.
    Dealloc,
    /// `(ptr, old_size, align, new_size) -> ptr`: always moves.
    Realloc,

    // The C allocator
    /// `(size) -> ptr`
    Malloc,
    /// `(count, size) -> ptr`
    Calloc,
    /// `(ptr, size) -> ptr`
    CRealloc,
    /// `(ptr)`: null does nothing.
    Free,
    /// `(align, size) -> ptr`
    AlignedAlloc,
    /// `(out, align, size) -> i32`
    PosixMemalign,

    // C strings and memory
    /// `(ptr, byte, len) -> ptr`
    Memchr,
    /// `(ptr, byte, len) -> ptr`
    Memrchr,
    /// `(ptr) -> len`
    Strlen,
    /// `(errno, buf, len) -> i32`: writes what an error number means.
    StrError,

    // Threads
    /// `(out, attr, start, arg) -> i32`: the new thread runs `start(arg)`.
    PthreadCreate,
    /// `(thread, out) -> i32`: blocks until the thread has ended.
    PthreadJoin,
    /// `(thread) -> i32`
    PthreadDetach,
    /// `() -> thread`
    PthreadSelf,
    /// `(out, destructor) -> i32`
    PthreadKeyCreate,
    /// `(key) -> i32`
    PthreadKeyDelete,
    /// `(key, value) -> i32`
    PthreadSetSpecific,
    /// `(key) -> value`
    PthreadGetSpecific,
    /// `() -> i32`: a hint that other threads should run.
    SchedYield,
    /// `()`: a hint that the thread spins.
    SpinLoop,
    /// `(address, bytes)`: `lock not` of x86, but for its being a fence.
    Invert,
    /// `(counter)`: `Backoff::spin` of crossbeam-utils.
    BackoffSpin,
    /// `(counter)`: `Backoff::snooze` of crossbeam-utils.
    BackoffSnooze,
    /// `(counter) -> bool`: `Backoff::is_completed` of crossbeam-utils.
    BackoffIsCompleted,
    /// `(request, remaining) -> i32`
    Nanosleep,
    /// `(clock, flags, request, remaining) -> i32`
    ClockNanosleep,
    /// `(clock, out) -> i32`: time advances with each call, the same in every execution.
    ClockGettime,
    /// `(number, arguments...) -> i64`: `futex` (wait, wake), `getrandom`, `getpid`, `gettid`; others are unsupported.
    Syscall,

    // The standard library's synchronization. A word is an atomic of 32 bits. Tests, what is done then, and what is
    // waited for are numbered as in `cargo-dpor/overlay/std/src/sys/sync/checker.rs`.
    /// `(word, wait, test, value, then, operand, limit) -> u32`: waits until the word passes the test, and updates it.
    Await,
    /// `(word, order, test, value, operand) -> u32`: adds the operand if the word passes the test.
    TryAdd,
    /// `(word, wait, test, value, acquire, keepers) -> u32`: waits until the word has passed the test.
    Reach,
    /// `(word) -> u32`: clears one of the bits that are set, and gives it.
    Pick,
    /// `(keepers)`: one of those who may still change a word leaves.
    Leave,
    /// `() -> u32`: the bit that stands for the thread.
    ThreadBit,
    /// `() -> bool`: whether the thread wakes up without a reason.
    Spurious,
    /// `(question) -> bool`: whether threads ask this, so that others have to do more to answer it.
    Asked,
    /// `(question)`: the thread is about to ask that.
    Ask,
    /// `()`: the standard library may have parked the thread.
    Parked,
    /// `(nanoseconds)`: so much time has passed.
    Elapse,
    /// `(reason, len)`: ends the check as unsupported.
    Unsupported,

    // The process
    /// `() -> ptr`: the thread's `errno`.
    ErrnoLocation,
    /// `(fd, buf, len) -> isize`: standard output and error are captured; other files are unsupported.
    Write,
    /// `(fd, iov, count) -> isize`
    Writev,
    /// `(buf, len)`: captured standard output.
    Print,
    /// `(buf, len)`: captured standard error.
    Eprint,
    /// `(name) -> ptr`: the value of an environment variable, or null.
    Getenv,
    /// `() -> environ`: where the pointer to all variables is.
    Environ,
    /// `() -> (count, arguments)`: those of the command line.
    Args,
    /// `() -> ptr`: the name of the test, for the thread that runs it; null for others.
    TestName,
    /// `(path, flags, …) -> i32`: there are no files; what the system says of itself in some is not there, others are
    /// unsupported.
    Open,
    /// `(name) -> i64`: `sysconf` for the page size and the number of processors.
    Sysconf,
    /// `(buf, len, flags) -> isize`: deterministic bytes.
    Getrandom,
    /// `() -> (u64, u64)`: the seeds of hash maps.
    HashSeeds,
    /// `()`: ends the process abnormally.
    Abort,
    /// `(code)`: ends the process.
    Exit,

    // Panics
    /// `(message, message_len, file, file_len, line, column)`: the default hook reports a panic.
    PanicMessage,
    /// `(exception)`: starts to unwind; does not return.
    Raise,

    // The dpor crate
    /// `(n) -> usize`: a choice in `0..n`.
    Choose,
    /// `(cond)`: the execution is of no interest where `cond` is 0.
    Assume,
    /// `(label, label_len)`: the execution has come to a label.
    Cover,
    /// `(end, max_executions, milliseconds)`: a model begins, or ends where `end` is not 0.
    Model,
    /// `() -> usize`: waits until all other threads have ended; one that was not joined, or 0.
    Gather,
    /// `(thread)`: joins a thread that `Gather` gave.
    JoinGathered,

    // Promises to the compiler: nothing happens where they are kept
    /// `(ptr, count, size, align)`: a reference to so many elements is made of the pointer.
    CheckReference,
    /// `(ptr, count, size, direction)`: a pointer is moved by so many elements: up (0), down (1), or by a signed
    /// number (2).
    CheckOffset,
    /// `(a, b, size, unsigned)`: the distance between two pointers is computed, in elements.
    CheckDistance,
    /// `(ptr, len)`: a value is there that must be initialized.
    CheckInitialized,
    /// `(ptr, signature, converts) -> other`: a function is called that must have this signature, an index into the
    /// messages of the program, or any where there is no such message. The result is 1 where it takes plain values
    /// for what may be uninitialized, and the call can convert them; otherwise that is not supported.
    CheckFunction,
}
