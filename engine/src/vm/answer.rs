//! Completing a pending action: the answer goes where the thread wants it.

use super::action::{Action, Answer};
use super::builtins::{futex_goes_on, handle};
use super::context::Context;
use super::thread::{Pending, Reply, ThreadId};
use super::trap::{Checked, Halt};
use super::{Vm, threads};

impl Vm {
    /// Completes the pending action of a thread, which can run on then.
    pub fn answer(&mut self, id: ThreadId, answer: Answer) -> Result<(), Halt> {
        self.with_thread(id, |context, _| {
            let Some(pending) = context.thread.pending.take() else { return Ok(()) };
            complete(context, pending, answer).map_err(|trap| context.halt(*trap))
        })
    }
}

pub fn complete(context: &mut Context, pending: Pending, answer: Answer) -> Checked<()> {
    if pending.action == Action::End {
        threads::end(context.thread);
        return Ok(());
    }
    let value = match answer {
        Answer::Value(value) | Answer::Cas { old: value, .. } => value,
        Answer::Done => 0,
    };
    match pending.reply {
        Reply::None => {}
        Reply::Postponed => context.thread.pending = context.thread.postponed.pop(),
        Reply::Register(at) => context.set(usize::from(at), value as u64),
        Reply::Wake(at) => {
            context.set(usize::from(at), value as u64);
            context.thread.woken |= value != 0;
        }
        Reply::Pair(at) => set_pair(context, at, value),
        Reply::Cas { at, wide } => {
            let success = matches!(answer, Answer::Cas { success: true, .. });
            if wide {
                set_pair(context, at, value);
            } else {
                context.set(usize::from(at), value as u64);
            }
            context.set(usize::from(at) + if wide { 2 } else { 1 }, u64::from(success));
        }
        Reply::Futex(call) => futex_goes_on(context, call, value as u32)?,
        Reply::Spawn { at, out, start, arg } => {
            let child = ThreadId(value as u16);
            threads::spawn(context, child, start, arg)?;
            context.space().write_u64(out, handle(child))?;
            context.set(usize::from(at), 0);
        }
        Reply::Join { at, out } => {
            join(context, pending.action, out)?;
            context.set(usize::from(at), 0);
        }
    }
    Ok(())
}

fn set_pair(context: &mut Context, at: u16, value: u128) {
    context.set(usize::from(at), value as u64);
    context.set(usize::from(at) + 1, (value >> 64) as u64);
}

fn join(context: &mut Context, action: Action, out: u64) -> Checked<()> {
    let Action::Join { thread } = action else { return Ok(()) };
    let status = context.world.status(thread).get_mut();
    status.joined = true;
    let result = status.result;
    context.thread.joined += 1;
    if out != 0 {
        context.space().write_u64(out, result)?;
    }
    Ok(())
}
