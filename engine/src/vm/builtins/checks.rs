//! Promises that code makes to the compiler: whoever does not keep them has undefined behaviour, whatever comes of it.

use crate::program::Builtin;
use crate::program::address::code_index;
use crate::vm::code::CallSite;
use crate::vm::context::{Context, Flow};
use crate::vm::failure::Fault;

use super::Checked;

/// How [`Builtin::CheckOffset`] counts: up, down, or as a signed number says.
const UP: u64 = 0;
const DOWN: u64 = 1;

/// What signatures have before what may be uninitialized.
const WRAPPER: &str = "maybe ";

pub fn call(context: &mut Context, builtin: Builtin, site: &CallSite) -> Checked<Flow> {
    match builtin {
        Builtin::CheckReference => {
            let [address, count, size, align] = context.args(site);
            let bytes = u64::try_from(u128::from(count) * u128::from(size)).unwrap_or(u64::MAX);
            context.space().check_reference(address, bytes, align)?;
        }
        Builtin::CheckOffset => {
            let [address, count, size, direction] = context.args(site);
            let count = match direction {
                UP => i128::from(count),
                DOWN => -i128::from(count),
                _ => i128::from(count as i64),
            };
            context.space().check_offset(address, count.saturating_mul(size.into()))?;
        }
        Builtin::CheckDistance => {
            let [a, b, size, unsigned] = context.args(site);
            context.space().check_distance(a, b, size, unsigned != 0)?;
        }
        Builtin::CheckInitialized => {
            let [address, len] = context.args(site);
            context.space().check_initialized(address, len)?;
        }
        _ => {
            let [address, signature, converts] = context.args(site);
            let other = check_function(context, address, signature, converts != 0)?;
            return context.give(site, other.into());
        }
    }
    Ok(Flow::Continue)
}

/// A function pointer must point to a function, and that must be of its type where the call says which that is. True
/// where the function takes plain values for what the pointer's type says may be uninitialized, and the call can see
/// to that.
fn check_function(context: &Context, address: u64, signature: u64, converts: bool) -> Checked<bool> {
    let program = &context.image.program;
    let index = code_index(address).map(|index| index as usize).filter(|index| *index < program.functions.len());
    let Some(index) = index else {
        return Err(Fault::undefined(format!(
            "a function pointer is created from {address:#x}, which is not a function"
        ))
        .into());
    };
    let text = |number: u32| program.messages.get(number as usize).map(String::as_str);
    let of_function = program.signatures.get(index).copied().flatten().and_then(text);
    let of_call = u32::try_from(signature).ok().and_then(text);
    match (of_function, of_call) {
        (Some(function), Some(call)) if function != call => {
            let name = &program.functions[index].name;
            let message = format!("call of `{name}` through a pointer of another type: {call} instead of {function}");
            match without_wrappers(call) == without_wrappers(function) {
                true if converts && !function.contains(WRAPPER) => Ok(true),
                true => Err(Fault::unsupported(message).into()),
                false => Err(Fault::undefined(message).into()),
            }
        }
        _ => Ok(false),
    }
}

/// What may be uninitialized is passed in another way than what may not, here but not in Rust.
fn without_wrappers(signature: &str) -> String {
    signature.replace(WRAPPER, "")
}
