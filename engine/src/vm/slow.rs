//! Instructions that need the whole machine: visible actions, thread-locals, large locals, special returns.

use crate::program::{AtomicWidth, RmwOp};
use crate::verdict::ErrorKind;

use super::action::{Action, Answer, Stop};
use super::builtins;
use super::code::Inst;
use super::context::{Context, Flow};
use super::failure::Fault;
use super::frame::FrameKind;
use super::interp::pointed_to;
use super::memory::{AllocKind, Sharing};
use super::thread::{BigSlot, Pending, Reply};
use super::trap::{Checked, Trap};
use super::{answer, atomics, threads, unwind};

impl Context<'_> {
    /// Stops at a visible action.
    pub fn stop(&mut self, action: Action, reply: Reply) -> Flow {
        self.thread.pending = Some(Pending { action, reply });
        Flow::Stop(Stop::Action(action))
    }

    fn wide(&self, width: AtomicWidth, register: u8) -> u128 {
        let low = u128::from(self.get(usize::from(register)));
        if width == AtomicWidth::W128 { low | u128::from(self.get(usize::from(register) + 1)) << 64 } else { low }
    }
}

fn value_reply(width: AtomicWidth, dst: u8) -> Reply {
    if width == AtomicWidth::W128 { Reply::Pair(u16::from(dst)) } else { Reply::Register(u16::from(dst)) }
}

/// Runs the active instruction of the thread.
pub fn run(context: &mut Context) -> Checked<Flow> {
    let get = |context: &Context, register: u8| context.get(usize::from(register));
    let inst = context.inst();
    if context.frame().quiet && is_atomic(&inst) {
        return quiet_atomic(context);
    }
    match inst {
        Inst::AtomicLoad { width, ordering, dst, ptr } => {
            let address = get(context, ptr);
            Ok(context.stop(Action::Load { address, width, ordering }, value_reply(width, dst)))
        }
        Inst::AtomicStore { width, ordering, ptr, src } => {
            let (address, value) = (get(context, ptr), context.wide(width, src));
            Ok(context.stop(Action::Store { address, width, ordering, value }, Reply::None))
        }
        Inst::AtomicRmw { op, width, ordering, dst, ptr, src } => {
            let (address, operand) = (get(context, ptr), context.wide(width, src));
            Ok(context.stop(Action::Rmw { op, address, width, ordering, operand }, value_reply(width, dst)))
        }
        Inst::AtomicCas { site } => Ok(cas(context, site)),
        Inst::Fence { ordering } => Ok(context.stop(Action::Fence { ordering }, Reply::None)),
        Inst::BigSlot { dst, align, size } => big_slot(context, dst, align, size),
        Inst::BigSlotDead { slot } => big_slot_dead(context, slot),
        Inst::ThreadLocal { dst, index } => {
            let address = thread_local(context, index)?;
            context.set(usize::from(dst), address);
            Ok(Flow::Continue)
        }
        Inst::CatchUnwind { dst, try_fn, data, catch_fn } => {
            let func = pointed_to(context.image, get(context, try_fn), 1)?;
            let arg = get(context, data);
            context.call(func, &[arg], FrameKind::Try { dst, data, catch_fn })?;
            Ok(Flow::Continue)
        }
        Inst::Return => return_slow(context),
        Inst::Resume => unwind::resume(context),
        Inst::Builtin { site } => builtins::call(context, site),
        Inst::Unreachable { kind, message } => Err(Fault::new(kind, message_text(context, message)).into()),
        Inst::Unsupported { message } => Err(Fault::unsupported(message_text(context, message)).into()),
        inst => Err(Fault::new(ErrorKind::UndefinedBehavior, format!("{inst:?} is not for the machine to run")).into()),
    }
}

fn is_atomic(inst: &Inst) -> bool {
    matches!(
        inst,
        Inst::AtomicLoad { .. }
            | Inst::AtomicStore { .. }
            | Inst::AtomicRmw { .. }
            | Inst::AtomicCas { .. }
            | Inst::Fence { .. }
    )
}

/// An atomic of the standard library's own bookkeeping: done in memory at once, unless its value is in the graph.
fn quiet_atomic(context: &mut Context) -> Checked<Flow> {
    if let Some(frame) = context.thread.frames.last_mut() {
        frame.quiet = false;
    }
    let flow = run(context);
    if let Some(frame) = context.thread.frames.last_mut() {
        frame.quiet = true;
    }
    let flow = flow?;
    if let Some(pending) = context.thread.pending
        && let Some((address, width)) = pending.action.accessed()
        && context.space().is_in_graph(address, u64::from(width.bytes()))?
    {
        return Ok(flow);
    }
    if let Some(pending) = context.thread.pending.take() {
        let answer = atomics::perform(&mut context.space(), pending.action)?;
        count_quietly(context, pending.action);
        answer::complete(context, pending, answer)?;
    }
    Ok(Flow::Continue)
}

/// Remembers what a thread has added to a counter in a block of the standard library's own that threads share: by what is
/// in the counter, nobody could tell, since others count there, too. After something else than an addition, the thread is
/// in no state in which it was before.
fn count_quietly(context: &mut Context, action: Action) {
    let Some((address, _)) = action.accessed() else { return };
    let block = context.heap.find(address, &context.image.globals);
    if block.is_none_or(|block| block.sharing != Sharing::Exempt) {
        return;
    }
    let weight = address.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let counted = &mut context.thread.counted;
    *counted = match action {
        Action::Load { .. } => *counted,
        Action::Rmw { op: RmwOp::Add, operand, .. } => counted.wrapping_add(weight.wrapping_mul(operand as u64)),
        Action::Rmw { op: RmwOp::Sub, operand, .. } => counted.wrapping_sub(weight.wrapping_mul(operand as u64)),
        _ => counted.wrapping_mul(weight).wrapping_add(1),
    };
}

/// Nobody else sees what a thread does while it is alone: its atomics are done in memory at once, as long as the
/// program is explored and it does not have to wait.
pub fn act_alone(context: &mut Context, flow: Flow) -> Checked<Flow> {
    let Flow::Stop(Stop::Action(action)) = flow else { return Ok(flow) };
    if !context.heap.alone {
        return act_unseen(context, flow, action);
    }
    if !is_local(&action) {
        return Ok(flow);
    }
    if is_probe(context.thread.idle) {
        context.thread.idle += 1;
        return Ok(flow);
    }
    let answer = atomics::perform(&mut context.space(), action)?;
    if let (Action::Await { test, .. } | Action::Reach { test, .. }, Answer::Value(value)) = (action, answer)
        && !test.passes(value as u64)
    {
        return Ok(flow);
    }
    context.thread.idle = if has_effect(action, answer) { 0 } else { context.thread.idle + 1 };
    if let Some(pending) = context.thread.pending.take() {
        answer::complete(context, pending, answer)?;
    }
    Ok(Flow::Continue)
}

/// Nor does anybody see what it does to memory that it has not published.
fn act_unseen(context: &mut Context, flow: Flow, action: Action) -> Checked<Flow> {
    let Some(answer) = context.space().perform_unseen(action)? else { return Ok(flow) };
    if let Some(pending) = context.thread.pending.take() {
        answer::complete(context, pending, answer)?;
    }
    Ok(Flow::Continue)
}

/// Whether a thread that has made so many actions in a row without an effect shows the next one to whoever explores: it
/// may be in a loop that waits.
fn is_probe(idle: u32) -> bool {
    const FIRST: u32 = 1 << 12;
    const LENGTH: u32 = 128;
    idle >= FIRST && idle - (1 << idle.ilog2()) < LENGTH
}

/// Whether an action has changed anything.
fn has_effect(action: Action, answer: Answer) -> bool {
    match (action, answer) {
        (Action::Rmw { op, width, operand, .. }, Answer::Value(old)) => {
            op.apply(8 * width.bytes(), old, operand) != old
        }
        (Action::Cas { new, .. }, Answer::Cas { old, success }) => success && new != old,
        (Action::Try { test, then, .. }, Answer::Value(old)) => atomics::updated(old, test, then).is_some(),
        (Action::Load { .. } | Action::Fence { .. }, _) => false,
        _ => true,
    }
}

/// Whether an action only concerns memory.
fn is_local(action: &Action) -> bool {
    action.accessed().is_some() || matches!(action, Action::Fence { .. } | Action::Leave { .. })
}

fn message_text(context: &Context, message: u32) -> String {
    context.image.program.messages.get(message as usize).cloned().unwrap_or_default()
}

fn cas(context: &mut Context, site: u32) -> Flow {
    let site = context.code().cas_sites[site as usize];
    let action = Action::Cas {
        address: context.get(usize::from(site.ptr)),
        width: site.width,
        success: site.success,
        failure: site.failure,
        weak: site.weak,
        expected: context.wide(site.width, site.expected),
        new: context.wide(site.width, site.new),
    };
    let reply = Reply::Cas { at: u16::from(site.dst), wide: site.width == AtomicWidth::W128 };
    context.stop(action, reply)
}

fn big_slot_dead(context: &mut Context, slot: u8) -> Checked<Flow> {
    let (depth, address) = (context.thread.frames.len() as u32 - 1, context.get(usize::from(slot)));
    let is_it = |slot: &BigSlot| slot.depth == depth && slot.address == address;
    if let Some(index) = context.thread.big_slots.iter().position(is_it) {
        context.thread.big_slots.remove(index);
        let place = context.place();
        context.space().drop_block(address, place)?;
    }
    Ok(Flow::Continue)
}

fn big_slot(context: &mut Context, dst: u8, align: u8, size: u32) -> Checked<Flow> {
    let depth = context.thread.frames.len() as u32 - 1;
    let place = context.place();
    let before = context.thread.big_slots.iter().position(|slot| slot.depth == depth && slot.site == size);
    if let Some(index) = before {
        let slot = context.thread.big_slots.remove(index);
        context.space().drop_block(slot.address, place)?;
    }
    let bytes = context.code().consts[size as usize];
    let address = context.alloc(bytes, 1 << align, AllocKind::Local)?.ok_or_else(too_large)?;
    context.thread.big_slots.push(BigSlot { depth, site: size, address });
    if let Some(frame) = context.thread.frames.last_mut() {
        frame.big_slots = true;
    }
    context.set(usize::from(dst), address);
    Ok(Flow::Continue)
}

#[cold]
fn too_large() -> Box<Trap> {
    Fault::new(ErrorKind::Abort, "stack overflow: a local variable does not fit on the stack").into()
}

/// The address of the thread's copy of a thread-local.
fn thread_local(context: &mut Context, index: u32) -> Checked<u64> {
    let at = index as usize;
    if let Some(address) = context.thread.thread_locals.get(at).copied()
        && address != 0
    {
        return Ok(address);
    }
    let image = context.image;
    let local = &image.program.thread_locals[at];
    let size = local.bytes.len() as u64;
    let address = context.alloc(size, local.align, AllocKind::ThreadLocal)?.ok_or_else(too_large)?;
    let mut space = context.space();
    space.write(address, &local.bytes)?;
    for (start, end) in &local.uninit {
        space.deinit(address + u64::from(*start), u64::from(end - start))?;
    }
    if context.thread.thread_locals.len() <= at {
        context.thread.thread_locals.resize(at + 1, 0);
    }
    context.thread.thread_locals[at] = address;
    Ok(address)
}

/// A return that does more than going on in the caller.
fn return_slow(context: &mut Context) -> Checked<Flow> {
    let results = u16::from(context.code().results);
    let values: Vec<u64> = (0..results).map(|index| context.get(usize::from(index))).collect();
    let Some(frame) = context.pop_frame()? else { return threads::returned(context, 0) };
    match frame.kind {
        FrameKind::Plain => {
            for (index, value) in (0..results).zip(values) {
                context.set(super::code::physical(frame.dst + index), value);
            }
        }
        FrameKind::Try { dst, .. } => context.set(usize::from(dst), 0),
        FrameKind::Catch { dst } => context.set(usize::from(dst), 1),
        FrameKind::Root => return threads::returned(context, values.first().copied().unwrap_or(0)),
    }
    Ok(Flow::Continue)
}
