//! Threads: creation, joining, thread-specific data; system calls.

use crate::program::Builtin;
use crate::vm::action::Action;
use crate::vm::code::{CallSite, physical};
use crate::vm::context::{Context, Flow};
use crate::vm::failure::Fault;
use crate::vm::interp::pointed_to;
use crate::vm::thread::{Reply, ThreadId};
use crate::vm::threads;
use crate::vm::world::Key;

use super::{Checked, errno, futex, process};

const SYS_GETPID: u64 = 39;
const SYS_GETTID: u64 = 186;
const SYS_FUTEX: u64 = 202;
const SYS_GETRANDOM: u64 = 318;

pub fn call(context: &mut Context, builtin: Builtin, site: &CallSite) -> Checked<Flow> {
    match builtin {
        Builtin::PthreadCreate => create(context, site),
        Builtin::PthreadJoin => join(context, site),
        Builtin::PthreadDetach => detach(context, site),
        Builtin::PthreadSelf => context.give(site, handle(context.thread.id)),
        Builtin::PthreadKeyCreate => {
            let [out, destructor] = context.args(site);
            let keys = context.world.keys.get_mut();
            // Key 0 is left out: C allows it, but nobody expects it.
            if keys.is_empty() {
                keys.push(None);
            }
            keys.push(Some(Key { destructor }));
            let key = (keys.len() - 1) as u32;
            context.space().write(out, &key.to_le_bytes())?;
            context.give(site, 0)
        }
        Builtin::PthreadKeyDelete => {
            let [key] = context.args(site);
            if let Some(key) = context.world.keys.get_mut().get_mut(key as usize) {
                *key = None;
            }
            context.give(site, 0)
        }
        Builtin::PthreadSetSpecific => {
            let [key, value] = context.args(site);
            if !matches!(context.world.keys.get().get(key as usize), Some(Some(_))) {
                return context.give(site, errno::EINVAL);
            }
            let specifics = &mut context.thread.specifics;
            if specifics.len() <= key as usize {
                specifics.resize(key as usize + 1, 0);
            }
            specifics[key as usize] = value;
            context.give(site, 0)
        }
        Builtin::PthreadGetSpecific => {
            let [key] = context.args(site);
            let value = context.thread.specifics.get(key as usize).copied().unwrap_or(0);
            context.give(site, value)
        }
        _ => syscall(context, site),
    }
}

/// What C calls the thread.
pub fn handle(id: ThreadId) -> u64 {
    u64::from(id.0) + 1
}

fn thread_of(handle: u64) -> Option<ThreadId> {
    Some(ThreadId(u16::try_from(handle.checked_sub(1)?).ok()?))
}

fn create(context: &mut Context, site: &CallSite) -> Checked<Flow> {
    let [out, _attributes, start, arg] = context.args(site);
    threads::check_room(context)?;
    pointed_to(context.image, start, 1)?;
    Ok(context.stop(Action::Spawn, Reply::Spawn { at: physical(site.dst) as u16, out, start, arg }))
}

fn join(context: &mut Context, site: &CallSite) -> Checked<Flow> {
    let [thread, out] = context.args(site);
    let Some(id) = thread_of(thread) else { return context.give(site, errno::ESRCH) };
    if id == context.thread.id {
        return context.give(site, errno::EDEADLK);
    }
    if !context.exists(id) {
        return context.give(site, errno::ESRCH);
    }
    let status = context.world.status(id).get();
    if status.detached || status.joined {
        return context.give(site, errno::EINVAL);
    }
    Ok(context.stop(Action::Join { thread: id }, Reply::Join { at: physical(site.dst) as u16, out }))
}

fn detach(context: &mut Context, site: &CallSite) -> Checked<Flow> {
    let [thread] = context.args(site);
    let Some(id) = thread_of(thread) else { return context.give(site, errno::ESRCH) };
    if !context.exists(id) {
        return context.give(site, errno::ESRCH);
    }
    context.world.status(id).get_mut().detached = true;
    context.give(site, 0)
}

fn syscall(context: &mut Context, site: &CallSite) -> Checked<Flow> {
    let [number, a, b, c, ..] = context.args::<7>(site);
    match number {
        SYS_FUTEX => futex::call(context, site),
        SYS_GETPID => context.give(site, 1),
        SYS_GETTID => {
            let id = handle(context.thread.id);
            context.give(site, id)
        }
        SYS_GETRANDOM => {
            process::fill_random(context, a, b)?;
            let _ = c;
            context.give(site, b)
        }
        _ => Err(Fault::unsupported(format!("system call {}", syscall_name(number))).into()),
    }
}

/// The name of a system call of Linux on x86-64; of those that programs are not likely to make, the number.
fn syscall_name(number: u64) -> String {
    let name = match number {
        0 => "read",
        1 => "write",
        2 => "open",
        3 => "close",
        9 => "mmap",
        10 => "mprotect",
        11 => "munmap",
        14 => "rt_sigprocmask",
        16 => "ioctl",
        24 => "sched_yield",
        28 => "madvise",
        35 => "nanosleep",
        41 => "socket",
        56 => "clone",
        57 => "fork",
        59 => "execve",
        60 => "exit",
        62 => "kill",
        63 => "uname",
        72 => "fcntl",
        157 => "prctl",
        203 => "sched_setaffinity",
        204 => "sched_getaffinity",
        228 => "clock_gettime",
        230 => "clock_nanosleep",
        231 => "exit_group",
        234 => "tgkill",
        257 => "openat",
        281 => "epoll_pwait",
        290 => "eventfd2",
        291 => "epoll_create1",
        293 => "pipe2",
        309 => "getcpu",
        324 => "membarrier",
        334 => "rseq",
        425 => "io_uring_setup",
        435 => "clone3",
        _ => return number.to_string(),
    };
    format!("`{name}`")
}
