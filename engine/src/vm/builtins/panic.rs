//! Panics: their report, and the start of unwinding.

use crate::program::Builtin;
use crate::verdict::Location;
use crate::vm::code::CallSite;
use crate::vm::context::{Context, Flow, stack_trace};
use crate::vm::thread::{PanicReport, ThreadId};
use crate::vm::unwind;
use crate::vm::world::Stream;

use super::Checked;

pub fn call(context: &mut Context, builtin: Builtin, site: &CallSite) -> Checked<Flow> {
    if builtin == Builtin::Raise {
        let [exception] = context.args(site);
        return unwind::raise(context, exception);
    }
    report(context, site)?;
    Ok(Flow::Continue)
}

/// Prints a panic as the default hook does, and remembers it.
fn report(context: &mut Context, site: &CallSite) -> Checked<()> {
    let [message, message_len, file, file_len, line, column] = context.args(site);
    let message = text(context, message, message_len)?;
    let file = text(context, file, file_len)?;
    let (line, column) = (line as u32, column as u32);
    let name = if context.thread.id == ThreadId::MAIN { "main" } else { "<unnamed>" };
    let report = format!("\nthread '{name}' panicked at {file}:{line}:{column}:\n{message}\n");
    context.world.output.get_mut().write(Stream::Stderr, report.as_bytes());
    let stack = stack_trace(context.image, context.thread);
    let location = Location { file, line, column };
    context.thread.panic = Some(Box::new(PanicReport { message, location, stack }));
    Ok(())
}

fn text(context: &mut Context, address: u64, len: u64) -> Checked<String> {
    let bytes = context.space().read_vec(address, len)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
