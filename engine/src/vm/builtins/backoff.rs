//! `Backoff` of crossbeam-utils: a counter that slows a thread down which spins.
//!
//! If the program never asks how far it is, its steps make no difference, and are not counted: a loop that backs off is then in
//! the same state after each iteration. Otherwise it counts as the original does.

use crate::program::Builtin;
use crate::vm::action::Action;
use crate::vm::code::CallSite;
use crate::vm::context::{Context, Flow};
use crate::vm::memory;
use crate::vm::thread::Reply;

use super::Checked;
use super::words::{knows, learn};

/// Up to here `spin` counts.
const SPIN_LIMIT: u32 = 6;
/// Up to here `snooze` counts; beyond, it is completed.
const YIELD_LIMIT: u32 = 10;

pub fn call(context: &mut Context, builtin: Builtin, site: &CallSite) -> Checked<Flow> {
    let [counter] = context.args(site);
    if builtin == Builtin::BackoffIsCompleted {
        learn(context, memory::Observable::Backoff)?;
        let completed = step(context, counter)? > YIELD_LIMIT;
        return context.give(site, u64::from(completed));
    }
    if knows(context, memory::Observable::Backoff) {
        let (step, limit) =
            (step(context, counter)?, if builtin == Builtin::BackoffSpin { SPIN_LIMIT } else { YIELD_LIMIT });
        if step <= limit {
            context.space().write(counter, &(step + 1).to_le_bytes())?;
        }
    }
    Ok(context.stop(Action::Yield, Reply::None))
}

fn step(context: &mut Context, counter: u64) -> Checked<u32> {
    let mut bytes = [0; 4];
    context.space().read(counter, &mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}
