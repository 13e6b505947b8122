//! Forgetting what no function will read again, so that states of a thread that behave alike look alike.

use super::action::Action;
use super::image::Image;
use super::thread::Thread;

/// Clears the registers of a thread that has stopped whose values are not read any more.
pub fn forget_dead(thread: &mut Thread, image: &Image) {
    let pending = thread.postponed.first().or(thread.pending.as_ref()).map(|pending| pending.action);
    let again = match pending {
        Some(action) => runs_again(&action),
        None => true,
    };
    let innermost = thread.frames.len().saturating_sub(1);
    for (depth, frame) in thread.frames.iter().enumerate() {
        if depth == innermost && again {
            continue;
        }
        let Some(live) = image.code(frame.func).live_at(frame.pc) else { continue };
        let registers = &mut thread.registers[frame.base as usize..][..frame.registers as usize];
        for (number, register) in registers.iter_mut().enumerate() {
            if !live.contains(number as u16) {
                *register = 0;
            }
        }
    }
}

/// Whether an instruction is run again once its action is answered: it needs all that it needed before.
fn runs_again(action: &Action) -> bool {
    matches!(action, Action::PlainLoad { .. } | Action::PlainStore { .. } | Action::End)
}
