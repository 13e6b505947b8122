//! Time: a clock that advances by itself. Each thread has its own, so that it does not depend on what others do meanwhile;
//! a new thread begins with that of its parent, and whoever joins a thread is no earlier than that.

use crate::program::Builtin;
use crate::vm::action::{Action, Timeout};
use crate::vm::code::Site;
use crate::vm::context::{Context, Flow};

use super::{Checked, errno, register};

const SECOND: u64 = 1_000_000_000;
/// What each look at the clock takes.
const TICK: u64 = 1_000;
/// `CLOCK_REALTIME`: the clock that counts from 1970.
const REALTIME: u64 = 0;
/// When runs begin: on 1 January 2026.
const START_REALTIME: u64 = 1_767_225_600 * SECOND;
/// When runs begin on the other clocks.
const START_MONOTONIC: u64 = 1_000 * SECOND;
/// `TIMER_ABSTIME`
const ABSOLUTE: u64 = 1;

pub fn call(context: &mut Context, builtin: Builtin, site: &Site) -> Checked<Flow> {
    match builtin {
        Builtin::ClockGettime => {
            let [clock, out] = context.args(site);
            context.thread.clock = context.thread.clock.saturating_add(TICK);
            context.thread.time_was_asked += 1;
            let now = context.thread.clock.saturating_add(start(clock));
            let mut space = context.space();
            space.write_u64(out, now / SECOND)?;
            space.write_u64(out.wrapping_add(8), now % SECOND)?;
            context.give(site, 0)
        }
        Builtin::Nanosleep => {
            let [request] = context.args(site);
            sleep(context, site, 0, false, request)
        }
        _ => {
            let [clock, flags, request] = context.args(site);
            sleep(context, site, clock, flags & ABSOLUTE != 0, request)
        }
    }
}

fn start(clock: u64) -> u64 {
    if clock == REALTIME { START_REALTIME } else { START_MONOTONIC }
}

/// Time passes, and others may run.
fn sleep(context: &mut Context, site: &Site, clock: u64, absolute: bool, request: u64) -> Checked<Flow> {
    let Some(nanoseconds) = timespec(context, request)? else { return context.give(site, errno::EINVAL) };
    let now = &mut context.thread.clock;
    if absolute {
        *now = (*now).max(nanoseconds.saturating_sub(start(clock)));
    } else {
        *now = now.saturating_add(nanoseconds);
    }
    Ok(context.stop(Action::Yield, register(site)))
}

/// A `timespec`, in nanoseconds. `None`: it is not valid.
fn timespec(context: &mut Context, address: u64) -> Checked<Option<u64>> {
    let mut space = context.space();
    let (seconds, nanoseconds) = (space.read_u64(address)?, space.read_u64(address.wrapping_add(8))?);
    if seconds > i64::MAX as u64 || nanoseconds >= SECOND {
        return Ok(None);
    }
    Ok(Some(seconds.saturating_mul(SECOND).saturating_add(nanoseconds)))
}

/// When a futex wait ends by itself. `Err` inside: the time is not valid.
pub fn futex_timeout(
    context: &mut Context,
    address: u64,
    absolute: bool,
    realtime: bool,
) -> Checked<Result<Option<Timeout>, ()>> {
    if address == 0 {
        return Ok(Ok(None));
    }
    let Some(nanoseconds) = timespec(context, address)? else { return Ok(Err(())) };
    let clock = if realtime { REALTIME } else { 1 };
    Ok(Ok(Some(match absolute {
        true => Timeout::At(nanoseconds.saturating_sub(start(clock))),
        false => Timeout::After(nanoseconds),
    })))
}
