//! Time: a clock that advances by itself. Each thread has its own, so that it does not depend on what others do
//! meanwhile.
//!
//! What something depends on is not later than that, even where it does not happen before it: a value that was read with a
//! relaxed load may be a time. So a new thread begins with the time of its parent; and if threads ask what time it is,
//! each remembers when it was how late, and catches up with those that it depends on before time passes for itself.

use crate::program::Builtin;
use crate::vm::action::{Action, Timeout};
use crate::vm::code::CallSite;
use crate::vm::context::{Context, Flow};
use crate::vm::memory::Observable;

use super::words::{knows, learn};
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

pub fn call(context: &mut Context, builtin: Builtin, site: &CallSite) -> Checked<Flow> {
    match builtin {
        Builtin::ClockGettime => {
            let [clock, out] = context.args(site);
            if !context.heap.alone {
                learn(context, Observable::Clock)?;
            }
            pass(context, TICK);
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

/// Time passes for the thread.
pub fn pass(context: &mut Context, nanoseconds: u64) {
    let known = knows(context, Observable::Clock);
    if known {
        catch_up(context);
    }
    let thread = &mut *context.thread;
    thread.clock = thread.clock.saturating_add(nanoseconds);
    let Some(tracking) = context.heap.tracking.as_deref().filter(|_| known) else { return };
    match thread.times.last_mut() {
        Some((events, time)) if *events == tracking.events => *time = thread.clock,
        _ => thread.times.push((tracking.events, thread.clock)),
    }
}

/// It is not earlier than when that happened which this depends on. On a fixed schedule, that is all there was.
fn catch_up(context: &mut Context) {
    let thread = &mut *context.thread;
    let Some(tracking) = context.heap.tracking.as_deref() else {
        let others = context.threads.iter().flatten().map(|other| other.clock);
        thread.clock = others.fold(thread.clock, u64::max);
        return;
    };
    let objects = &mut context.heap.objects;
    (objects.log.unique, objects.log.clocks) = (true, true);
    let before = |seen: &Vec<u32>, index: usize| seen.get(index).copied().unwrap_or(0);
    for (index, other) in objects.others.iter().enumerate() {
        let seen = before(&tracking.clock, index).max(before(&tracking.causes, index));
        let times = other.as_ref().map_or(&[][..], |other| &other.thread.times);
        let earlier = times.partition_point(|(events, _)| *events < seen);
        if let Some((_, time)) = times[..earlier].last() {
            thread.clock = thread.clock.max(*time);
        }
    }
}

/// Time passes, and others may run.
fn sleep(context: &mut Context, site: &CallSite, clock: u64, absolute: bool, request: u64) -> Checked<Flow> {
    let Some(nanoseconds) = timespec(context, request)? else { return context.give(site, errno::EINVAL) };
    if absolute {
        let left = nanoseconds.saturating_sub(start(clock)).saturating_sub(context.thread.clock);
        pass(context, left);
    } else {
        pass(context, nanoseconds);
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
