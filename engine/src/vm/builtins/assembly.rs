//! Instructions that inline assembly has.

use crate::program::{AtomicWidth, Ordering, RmwOp};
use crate::vm::action::Action;
use crate::vm::atomics;
use crate::vm::code::CallSite;
use crate::vm::context::{Context, Flow};
use crate::vm::failure::Fault;

use super::{Checked, register};

/// Inverts an integer in memory, in one step. Whoever wants a fence does so to a local variable, which nobody else
/// sees: then it is not an event, and a loop with such a fence waits like one with another.
pub fn invert(context: &mut Context, site: &CallSite) -> Checked<Flow> {
    let [address, bytes] = context.args(site);
    let Some(width) = AtomicWidth::from_bytes(bytes) else {
        return Err(Fault::unsupported("`lock not` of this size").into());
    };
    let operand = u128::MAX >> (128 - 8 * width.bytes());
    let action = Action::Rmw { op: RmwOp::Xor, address, width, ordering: Ordering::Relaxed, operand };
    if context.space().is_nobody_elses(address, bytes)? {
        atomics::perform(&mut context.space(), action)?;
        return Ok(Flow::Continue);
    }
    Ok(context.stop(action, register(site)))
}
