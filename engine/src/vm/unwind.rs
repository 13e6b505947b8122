//! Unwinding: an exception leaves frames until cleanup code or a handler takes it.

use crate::program::Unwind;
use crate::verdict::ErrorKind;

use super::code::Inst;
use super::context::{Context, Flow};
use super::failure::{Failure, FailureKind, Fault};
use super::frame::FrameKind;
use super::interp::pointed_to;
use super::note::NoteKind;
use super::thread::ThreadId;
use super::trap::Checked;

/// Starts to unwind at the active instruction.
pub fn raise(context: &mut Context, exception: u64) -> Checked<Flow> {
    unwind(context, exception)
}

/// Goes on unwinding at the end of cleanup code.
pub fn resume(context: &mut Context) -> Checked<Flow> {
    let depth = context.thread.frames.len() as u32 - 1;
    let Some((_, exception)) = context.thread.exceptions.pop_if(|(of, _)| *of == depth) else {
        return Err(Fault::undefined("unwinding is resumed without a panic").into());
    };
    match leave_frame(context, exception)? {
        Left::Caller => unwind(context, exception),
        Left::Handler => Ok(Flow::Continue),
    }
}

/// Unwinds from the active call of the active frame on.
fn unwind(context: &mut Context, exception: u64) -> Checked<Flow> {
    loop {
        let unwind = call_unwind(context);
        if unwind == Unwind::UNREACHABLE {
            return Err(Fault::undefined("a function unwinds that must not").into());
        }
        if let Some(pc) = unwind.target() {
            let depth = context.thread.frames.len() as u32 - 1;
            // One that unwinds, and one more that its cleanup code must not let out.
            if let [.., (one, _), (other, _)] = context.thread.exceptions[..]
                && (one, other) == (depth, depth)
            {
                return Err(Fault::undefined("cleanup code unwinds again and again").into());
            }
            context.thread.exceptions.push((depth, exception));
            if let Some(frame) = context.thread.frames.last_mut() {
                frame.pc = pc;
            }
            return Ok(Flow::Continue);
        }
        if let Left::Handler = leave_frame(context, exception)? {
            return Ok(Flow::Continue);
        }
    }
}

/// What the active call of the active frame does when its callee unwinds.
fn call_unwind(context: &Context) -> Unwind {
    match context.inst() {
        Inst::Call { site } | Inst::CallPtr { site } | Inst::Builtin { site } => {
            context.code().sites[site as usize].unwind
        }
        _ => Unwind::CONTINUE,
    }
}

/// Where an exception went.
enum Left {
    Caller,
    Handler,
}

fn leave_frame(context: &mut Context, exception: u64) -> Checked<Left> {
    let kind = context.frame().kind;
    if kind == FrameKind::Root {
        return Err(uncaught(context).into());
    }
    context.pop_frame()?;
    let depth = context.thread.frames.len() as u32;
    while context.thread.exceptions.pop_if(|(of, _)| *of >= depth).is_some() {}
    let FrameKind::Try { dst, data, catch_fn } = kind else { return Ok(Left::Caller) };
    let (data, catch_fn) = (context.get(usize::from(data)), context.get(usize::from(catch_fn)));
    let handler = pointed_to(context.image, catch_fn, 2)?;
    context.call(handler, &[data, exception], FrameKind::Catch { dst })?;
    Ok(Left::Handler)
}

/// Nothing takes the exception.
#[cold]
fn uncaught(context: &Context) -> Fault {
    let message = context.thread.panic.as_ref().map(|panic| panic.message.clone());
    match (context.thread.id, &message) {
        (ThreadId::MAIN, Some(message)) => Fault::new(ErrorKind::Panic, message),
        (thread @ ThreadId::MAIN, None) => {
            Fault::new(ErrorKind::Panic, "panic").note(NoteKind::Resumes, None, Some(thread))
        }
        _ => Fault::new(
            ErrorKind::Abort,
            format!("a panic leaves the start function of a thread: {}", message.unwrap_or_default()),
        ),
    }
}

/// A failure for a panic: where it was raised, not where it was found that nobody catches it.
pub fn locate_panic(context: &Context, mut failure: Box<Failure>) -> Box<Failure> {
    if failure.kind == FailureKind::Error(ErrorKind::Panic)
        && let Some(panic) = &context.thread.panic
    {
        failure.stack.clone_from(&panic.stack);
        failure.location = Some(panic.location.clone());
    }
    failure
}
