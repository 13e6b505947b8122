//! The functions of the machine: see [`Builtin`] for what each does.

mod alloc;
mod assembly;
mod backoff;
mod checks;
mod futex;
mod panic;
mod process;
mod strings;
mod sync;
mod time;
mod words;

pub use futex::{Call as FutexCall, go_on as futex_goes_on};
pub use sync::handle;

use crate::graph::{Boundary, Bounds};
use crate::program::Builtin;

use super::action::Action;
use super::code::{CallSite, Callee, physical};
use super::context::{Context, Flow};
use super::failure::{FailureKind, Fault};
use super::memory::AllocKind;
use super::thread::{Reply, ThreadId};
use super::trap::Checked;

/// The explorer lists what there is to choose from: with more than this, that alone can take all memory.
const MOST_CHOICES: u64 = 1 << 20;

/// Numbers of errors, as on Linux.
mod errno {
    pub const ENOENT: u64 = 2;
    pub const ESRCH: u64 = 3;
    pub const EAGAIN: u64 = 11;
    pub const ENOMEM: u64 = 12;
    pub const EINVAL: u64 = 22;
    pub const ERANGE: u64 = 34;
    pub const EDEADLK: u64 = 35;
    pub const ETIMEDOUT: u64 = 110;
}

/// Calls the builtin of a site of the active code.
pub fn call(context: &mut Context, site: u32) -> Checked<Flow> {
    let site = &context.code().sites[site as usize];
    let Callee::Builtin(builtin) = site.callee else { unreachable!("the site of a builtin") };
    match builtin {
        Builtin::Alloc
        | Builtin::AllocZeroed
        | Builtin::Dealloc
        | Builtin::Realloc
        | Builtin::Malloc
        | Builtin::Calloc
        | Builtin::CRealloc
        | Builtin::Free
        | Builtin::AlignedAlloc
        | Builtin::PosixMemalign => alloc::call(context, builtin, site),
        Builtin::Memchr | Builtin::Memrchr | Builtin::Strlen => strings::call(context, builtin, site),
        Builtin::StrError => strings::describe_error(context, site),
        Builtin::PthreadCreate
        | Builtin::PthreadJoin
        | Builtin::PthreadDetach
        | Builtin::PthreadSelf
        | Builtin::PthreadKeyCreate
        | Builtin::PthreadKeyDelete
        | Builtin::PthreadSetSpecific
        | Builtin::PthreadGetSpecific
        | Builtin::Syscall => sync::call(context, builtin, site),
        Builtin::Await
        | Builtin::TryAdd
        | Builtin::Reach
        | Builtin::Pick
        | Builtin::Leave
        | Builtin::ThreadBit
        | Builtin::Spurious
        | Builtin::Asked
        | Builtin::Ask
        | Builtin::Parked
        | Builtin::Elapse
        | Builtin::Unsupported => words::call(context, builtin, site),
        Builtin::SchedYield | Builtin::SpinLoop => {
            let reply = if builtin == Builtin::SpinLoop { Reply::None } else { register(site) };
            Ok(context.stop(Action::Yield, reply))
        }
        Builtin::Invert => assembly::invert(context, site),
        Builtin::BackoffSpin | Builtin::BackoffSnooze | Builtin::BackoffIsCompleted => {
            backoff::call(context, builtin, site)
        }
        Builtin::Nanosleep | Builtin::ClockNanosleep | Builtin::ClockGettime => time::call(context, builtin, site),
        Builtin::ErrnoLocation
        | Builtin::Write
        | Builtin::Writev
        | Builtin::Print
        | Builtin::Eprint
        | Builtin::Getenv
        | Builtin::Environ
        | Builtin::Args
        | Builtin::TestName
        | Builtin::Open
        | Builtin::Sysconf
        | Builtin::Getrandom
        | Builtin::HashSeeds
        | Builtin::Abort
        | Builtin::Exit => process::call(context, builtin, site),
        Builtin::CheckReference
        | Builtin::CheckOffset
        | Builtin::CheckDistance
        | Builtin::CheckInitialized
        | Builtin::CheckFunction => checks::call(context, builtin, site),
        Builtin::PanicMessage | Builtin::Raise => panic::call(context, builtin, site),
        Builtin::Choose => {
            let [n] = context.args(site);
            if n == 0 {
                return Err(Fault::undefined("`dpor::choose(0)`: there is nothing to choose from").into());
            }
            if n > MOST_CHOICES {
                let what = format!("`dpor::choose({n})`: at most {MOST_CHOICES} can be chosen from");
                return Err(Fault::unsupported(what).into());
            }
            Ok(context.stop(Action::Choose { n }, register(site)))
        }
        Builtin::Model => {
            let [end, executions, milliseconds] = context.args(site);
            let begin = Boundary::Begin(Bounds { executions, milliseconds });
            let boundary = if end == 0 { begin } else { Boundary::End };
            if context.thread.id != ThreadId::MAIN {
                return Err(Fault::unsupported("a model in a thread other than the main thread").into());
            }
            Ok(context.stop(Action::Model(boundary), Reply::None))
        }
        Builtin::Gather => Ok(context.stop(Action::Gather, register(site))),
        Builtin::JoinGathered => {
            let [thread] = context.args(site);
            let thread = u16::try_from(thread).map(ThreadId);
            match thread.ok().filter(|&thread| thread != context.thread.id && context.exists(thread)) {
                Some(thread) => Ok(context.stop(Action::Join { thread }, Reply::None)),
                None => Err(Fault::unsupported("joining a thread that does not exist").into()),
            }
        }
        Builtin::Assume => {
            let [cond] = context.args(site);
            Ok(context.stop(Action::Assume { holds: cond != 0 }, Reply::None))
        }
        Builtin::Cover => {
            let [label, len] = context.args(site);
            let label = context.space().read_vec(label, len)?;
            cover(context, &String::from_utf8_lossy(&label))?;
            Ok(Flow::Continue)
        }
    }
}

/// The execution has come to a label: ends it, where that is to be shown.
fn cover(context: &mut Context, label: &str) -> Checked<()> {
    if context.options.show_cover.as_deref() == Some(label) {
        return Err(Fault::new(FailureKind::Covered, format!("this execution reaches the label `{label}`")).into());
    }
    let place = context.world.covered.get().binary_search_by(|known| (**known).cmp(label));
    if let Err(place) = place {
        context.world.covered.get_mut().insert(place, label.into());
    }
    Ok(())
}

/// The answer goes to the result of the call.
fn register(site: &CallSite) -> Reply {
    Reply::Register(physical(site.dst) as u16)
}

impl Context<'_> {
    /// Gives the result of a builtin.
    fn give(&mut self, site: &CallSite, value: u64) -> Checked<Flow> {
        self.set(physical(site.dst), value);
        Ok(Flow::Continue)
    }

    /// The address of the thread's `errno`.
    pub fn errno_location(&mut self) -> Checked<u64> {
        if self.thread.errno == 0 {
            let Some(address) = self.alloc(4, 4, AllocKind::ThreadLocal)? else {
                return Err(Fault::limit("out of memory for errno").into());
            };
            self.space().write(address, &[0; 4])?;
            self.thread.errno = address;
        }
        Ok(self.thread.errno)
    }

    /// Sets the thread's `errno`.
    pub fn set_errno(&mut self, error: u64) -> Checked<()> {
        let address = self.errno_location()?;
        self.space().write(address, &(error as u32).to_le_bytes())
    }
}
