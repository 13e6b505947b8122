//! How threads begin and end.

use crate::program::PlaceId;
use crate::program::address::MAX_THREADS;

use super::action::Action;
use super::context::{Context, Flow, push_call};
use super::failure::Fault;
use super::frame::FrameKind;
use super::interp::pointed_to;
use super::memory::{Stack, Table};
use super::thread::{Phase, Reply, Thread, ThreadId};
use super::trap::Checked;

/// How often the destructor of a key can run again because another one set the value anew.
const DESTRUCTOR_ROUNDS: u32 = 4;

/// Checks that there can be one more thread.
pub fn check_room(context: &mut Context) -> Checked<()> {
    let objects = &mut context.heap.objects;
    let count = objects.others.len().max(context.threads.len());
    // Elsewhere nobody counts the threads.
    objects.log.unique |= count >= MAX_THREADS / 2;
    match count < MAX_THREADS {
        true => Ok(()),
        false => Err(Fault::limit(format!("an execution has at most {MAX_THREADS} threads")).into()),
    }
}

/// Creates a thread that will run `start(arg)`.
pub fn spawn(context: &mut Context, id: ThreadId, start: u64, arg: u64) -> Checked<()> {
    let func = pointed_to(context.image, start, 1)?;
    context.heap.publish_all(context.thread.id, &context.image.globals);
    let mut thread = Thread::new(id);
    *context.heap.table(id) = Table::default();
    (context.thread.alone, context.heap.alone) = (false, false);
    thread.entry = Some(func);
    thread.spawned_at = Some(context.place());
    thread.clock = context.thread.clock;
    push_call(context.image, &mut thread, context.heap, func, &[arg], FrameKind::Root)?;
    if context.threads.len() <= id.index() {
        context.threads.resize_with(id.index() + 1, || None);
    }
    context.threads[id.index()] = Some(Box::new(thread));
    Ok(())
}

/// The first function of the thread, or a destructor, has returned.
pub fn returned(context: &mut Context, result: u64) -> Checked<Flow> {
    if context.thread.phase == Phase::Running {
        if result != 0 {
            context.world.status(context.thread.id).get_mut().result = result;
        }
        context.thread.phase = Phase::Destructors;
    }
    if let Some((destructor, value)) = next_destructor(context) {
        let func = pointed_to(context.image, destructor, 1)?;
        context.thread.destructors_run += 1;
        context.call(func, &[value], FrameKind::Root)?;
        return Ok(Flow::Continue);
    }
    free_locals(context)?;
    context.heap.publish_all(context.thread.id, &context.image.globals);
    let explored = context.heap.tracking.is_some();
    leave_nothing(context.thread, explored);
    Ok(context.stop(Action::End, Reply::None))
}

/// The next value of a key that has a destructor; the value is taken.
fn next_destructor(context: &mut Context) -> Option<(u64, u64)> {
    let keys = context.world.keys.get();
    if context.thread.destructors_run >= DESTRUCTOR_ROUNDS * keys.len() as u32 {
        return None;
    }
    for (value, key) in context.thread.specifics.iter_mut().zip(keys) {
        if let Some(key) = key
            && key.destructor != 0
            && *value != 0
        {
            return Some((key.destructor, std::mem::take(value)));
        }
    }
    None
}

fn free_locals(context: &mut Context) -> Checked<()> {
    let id = context.thread.id;
    let place = context.thread.entry.map_or(PlaceId(0), |entry| context.image.program.function(entry).place);
    let errno = std::mem::take(&mut context.thread.errno);
    let locals = std::mem::take(&mut context.thread.thread_locals);
    // The main thread's live as long as the program: statics may point to them.
    if id != ThreadId::MAIN {
        for address in locals.into_iter().chain([errno]).filter(|address| *address != 0) {
            context.space().drop_block(address, place)?;
        }
    }
    Ok(())
}

/// The thread will run no more: all threads that ended alike are the same. It is remembered whether it panicked, and
/// when time passed for it.
fn leave_nothing(thread: &mut Thread, explored: bool) {
    let Thread { id, spawned_at, entry, .. } = *thread;
    let (mut stack, panic) = (Stack::new(id), thread.panic.take());
    let times = std::mem::take(&mut thread.times);
    // On a fixed schedule, others catch up with it.
    let clock = if explored { 0 } else { thread.clock };
    stack.end();
    *thread = Thread { id, spawned_at, entry, stack, panic, times, clock, ..Thread::default() };
}

/// The thread is no more.
pub fn end(thread: &mut Thread) {
    thread.phase = Phase::Ended;
}
