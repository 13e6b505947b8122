//! Forgetting what no function will read again, so that states of a thread that behave alike look alike.

use super::image::Image;
use super::thread::Thread;

/// Clears the registers of a thread that has stopped in an action whose values are not read any more.
pub fn forget_dead(thread: &mut Thread, image: &Image) {
    for frame in &thread.frames {
        let code = image.code(frame.func);
        let Some(live) = code.live_at(frame.pc) else { continue };
        let registers = &mut thread.registers[frame.base as usize..][..frame.registers as usize];
        for (number, register) in registers.iter_mut().enumerate() {
            if !live.contains(number as u16) {
                *register = 0;
            }
        }
    }
}
