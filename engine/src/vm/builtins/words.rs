//! What the standard library's synchronization is made of: waiting for words to pass tests.
//!
//! In the standard library's own bookkeeping nothing visible happens while a lock is held, so that it is always free.

use crate::graph::{Test, Then};
use crate::program::{Builtin, Ordering};
use crate::vm::action::{Action, Answer, Wait};
use crate::vm::atomics;
use crate::vm::code::{CallSite, physical};
use crate::vm::context::{Context, Flow};
use crate::vm::failure::Fault;
use crate::vm::memory;
use crate::vm::thread::{Reply, ThreadId};
use crate::vm::trap::Trap;

use super::{Checked, register, time};

/// How many threads a word has bits for.
const BITS: u16 = 32;

/// Where the questions begin whether a thread relies on `membarrier`.
const RELIES: u64 = 32;

pub fn call(context: &mut Context, builtin: Builtin, site: &CallSite) -> Checked<Flow> {
    match builtin {
        Builtin::Await => {
            let [address, wait, test, value, then, operand, limit] = context.args(site);
            let (wait, test, then) = (wait_of(wait)?, test_of(test, value)?, then_of(then, operand, limit)?);
            act(context, site, Action::Await { address, wait, test, then })
        }
        Builtin::TryAdd => {
            let [address, order, test, value, operand] = context.args(site);
            let (ordering, failure) = match order {
                0 => (Ordering::Acquire, Ordering::Relaxed),
                _ => (Ordering::SeqCst, Ordering::SeqCst),
            };
            let (test, then) = (test_of(test, value)?, Then::Add(operand));
            act(context, site, Action::Try { address, ordering, failure, test, then })
        }
        Builtin::Reach => {
            let [address, wait, test, value, acquire, keepers] = context.args(site);
            let (wait, test, acquire) = (wait_of(wait)?, test_of(test, value)?, acquire != 0);
            act(context, site, Action::Reach { address, wait, acquire, test, keepers })
        }
        Builtin::Pick => {
            let [address] = context.args(site);
            act(context, site, Action::Pick { address })
        }
        Builtin::Leave => {
            let [keepers] = context.args(site);
            Ok(context.stop(Action::Leave { keepers }, Reply::None))
        }
        Builtin::Unsupported => {
            let [reason, len] = context.args(site);
            let reason = context.space().read_vec(reason, len)?;
            Err(Fault::unsupported(String::from_utf8_lossy(&reason)).into())
        }
        _ => ask(context, builtin, site),
    }
}

/// Functions that are no actions.
fn ask(context: &mut Context, builtin: Builtin, site: &CallSite) -> Checked<Flow> {
    let value = match builtin {
        Builtin::ThreadBit if context.thread.id.0 < BITS => 1 << context.thread.id.0,
        Builtin::ThreadBit => {
            return Err(Fault::unsupported("a condition variable on which thread 32 or a later one waits").into());
        }
        Builtin::Spurious if context.options.spurious && !context.thread.woken => {
            return Ok(context.stop(Action::Choose { n: 2 }, Reply::Wake(physical(site.dst) as u16)));
        }
        Builtin::Spurious => 0,
        Builtin::Asked => {
            let [question] = context.args(site);
            u64::from(knows(context, question_of(context, question)?))
        }
        Builtin::Parked => {
            context.thread.parked = true;
            0
        }
        Builtin::Elapse => {
            let [nanoseconds] = context.args(site);
            time::pass(context, nanoseconds);
            0
        }
        _ => {
            let [question] = context.args(site);
            let question = question_of(context, question)?;
            if question == memory::Observable::Barrier && context.options.store_buffers {
                // The update that stands for a compiler fence would empty the buffer.
                return Err(Fault::unsupported("`membarrier` under a memory model with store buffers").into());
            }
            if may_matter(context, question) {
                learn(context, question)?;
            }
            0
        }
    };
    context.give(site, value)
}

/// Whether the answer to a question depends on other threads, or on what was done before.
fn may_matter(context: &mut Context, question: memory::Observable) -> bool {
    match question {
        memory::Observable::Hook => !context.is_alone(),
        memory::Observable::Token(_) => context.thread.parked,
        _ => true,
    }
}

fn question_of(context: &Context, number: u64) -> Checked<memory::Observable> {
    Ok(match number {
        0 => memory::Observable::Disconnection,
        1 => memory::Observable::Writers,
        2 => memory::Observable::Hook,
        3 => memory::Observable::Token(context.thread.id),
        4 => memory::Observable::End,
        5 => memory::Observable::Result,
        6 => memory::Observable::Payload,
        7 => memory::Observable::Count,
        8 => memory::Observable::Barrier,
        RELIES..64 => memory::Observable::Relies(ThreadId((number - RELIES) as u16)),
        _ => return Err(unknown()),
    })
}

/// Whether exploring knows of this, so that it is modelled. On a fixed schedule everything is.
pub fn knows(context: &Context, site: memory::Observable) -> bool {
    context.heap.tracking.as_ref().is_none_or(|tracking| tracking.tracked.contains(site))
}

/// Exploring must know of this.
pub fn learn(context: &mut Context, site: memory::Observable) -> Checked<()> {
    if knows(context, site) {
        return Ok(());
    }
    Err(Trap::learn(site))
}

/// Stops at an action on a word, or does it at once in the standard library's bookkeeping.
fn act(context: &mut Context, site: &CallSite, action: Action) -> Checked<Flow> {
    if !context.frame().quiet {
        return Ok(context.stop(action, register(site)));
    }
    let value = match atomics::perform(&mut context.space(), action)? {
        Answer::Value(value) => value as u64,
        _ => 0,
    };
    match action {
        Action::Await { address, test, then: Then::Set(new), .. } if !test.passes(value) => {
            context.space().write(address, &(new as u32).to_le_bytes())?;
        }
        Action::Await { test, .. } | Action::Reach { test, .. } if !test.passes(value) => {
            return Err(Fault::unsupported("waiting for another thread inside the standard library").into());
        }
        _ => {}
    }
    context.give(site, value)
}

fn test_of(number: u64, value: u64) -> Checked<Test> {
    Ok(match number {
        0 => Test::Is(value),
        1 => Test::IsNot(value),
        2 => Test::Below(value),
        3 => Test::AtLeast(value),
        4 => Test::Clear(value),
        _ => return Err(unknown()),
    })
}

fn then_of(number: u64, operand: u64, limit: u64) -> Checked<Then> {
    Ok(match number {
        0 => Then::Read,
        1 => Then::Set(operand),
        2 => Then::Add(operand),
        3 => Then::Replace { test: Test::AtLeast(limit), new: operand },
        _ => return Err(unknown()),
    })
}

fn wait_of(number: u64) -> Checked<Wait> {
    Wait::from_number(number).ok_or_else(unknown)
}

#[cold]
fn unknown() -> Box<Trap> {
    Fault::unsupported("the synchronization of a different version of the standard library").into()
}
