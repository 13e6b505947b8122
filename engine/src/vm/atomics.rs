//! Atomic accesses to memory: what they give when all threads see one memory, and whether they may be made at all.

use crate::graph::{Test, Then};
use crate::program::AtomicWidth;

use super::Vm;
use super::action::{Action, Answer};
use super::memory::{Access, Space};
use super::plain;
use super::thread::ThreadId;
use super::trap::{Checked, Halt};

impl Vm {
    /// Does the pending atomic access (or fence) of a thread in memory, and says what it gives. Other actions have no
    /// effect on memory and give [`Answer::Done`]. The action stays pending.
    pub fn perform(&mut self, id: ThreadId) -> Result<Answer, Halt> {
        let Some(action) = self.pending(id) else { return Ok(Answer::Done) };
        self.with_thread(id, |context, _| perform(&mut context.space(), action).map_err(|trap| context.halt(*trap)))
    }

    /// Does the pending atomic access of a thread in memory and answers it: [`Vm::perform`] and [`Vm::answer`] in one.
    pub fn perform_and_answer(&mut self, id: ThreadId) -> Result<(), Halt> {
        self.with_thread(id, |context, _| {
            let Some(pending) = context.thread.pending.take() else { return Ok(()) };
            let answer = perform(&mut context.space(), pending.action);
            answer
                .and_then(|answer| super::answer::complete(context, pending, answer))
                .map_err(|trap| context.halt(*trap))
        })
    }

    /// Writes to memory what the pending atomic access of a thread writes, given what it reads.
    pub fn record(&mut self, id: ThreadId, answer: Answer) -> Result<(), Halt> {
        let Some(action) = self.pending(id) else { return Ok(()) };
        self.with_thread(id, |context, _| {
            plain::record(&mut context.space(), action, answer).map_err(|trap| context.halt(*trap))
        })
    }

    /// Whether a 32-bit word that a thread waits on passes a test.
    pub fn passes(&mut self, id: ThreadId, address: u64, test: Test) -> Result<bool, Halt> {
        self.with_thread(id, |context, _| {
            let word = read(&mut context.space(), address, AtomicWidth::W32);
            word.map(|word| test.passes(word as u64)).map_err(|trap| context.halt(*trap))
        })
    }
}

/// Does an atomic access in memory.
pub fn perform(space: &mut Space, action: Action) -> Checked<Answer> {
    match action {
        Action::Load { address, width, .. } => Ok(Answer::Value(read(space, address, width)?)),
        Action::Store { address, width, value, .. } => {
            write(space, address, width, value)?;
            Ok(Answer::Done)
        }
        Action::Rmw { op, address, width, operand, .. } => {
            check_writable(space, address, width)?;
            let old = read(space, address, width)?;
            write(space, address, width, op.apply(8 * width.bytes(), old, operand))?;
            Ok(Answer::Value(old))
        }
        Action::Cas { address, width, expected, new, .. } => {
            check_writable(space, address, width)?;
            let old = read(space, address, width)?;
            let success = old == expected;
            if success {
                write(space, address, width, new)?;
            }
            Ok(Answer::Cas { old, success })
        }
        Action::Await { address, test, then, .. } | Action::Try { address, test, then, .. } => {
            let old = read(space, address, AtomicWidth::W32)?;
            if let Some(new) = updated(old, test, then) {
                write(space, address, AtomicWidth::W32, new)?;
            }
            Ok(Answer::Value(old))
        }
        Action::Reach { address, .. } => Ok(Answer::Value(read(space, address, AtomicWidth::W32)?)),
        Action::Pick { address } => {
            let old = read(space, address, AtomicWidth::W32)?;
            let bit = if old == 0 { 0 } else { 1 << old.trailing_zeros() };
            write(space, address, AtomicWidth::W32, old & !bit)?;
            Ok(Answer::Value(bit))
        }
        _ => Ok(Answer::Done),
    }
}

/// What a word becomes that is updated if it passes a test.
pub fn updated(old: u128, test: Test, then: Then) -> Option<u128> {
    let new = if test.passes(old as u64) { then.update(old as u64) } else { None };
    new.map(u128::from)
}

/// Checks that an atomic access may be made: the address is valid and aligned.
pub fn check(space: &mut Space, action: Action) -> Checked<()> {
    let Some((address, width)) = action.accessed() else { return Ok(()) };
    let access =
        if matches!(action, Action::Load { .. } | Action::Reach { .. }) { Access::Read } else { Access::Write };
    space.check_atomic(address, u64::from(width.bytes()), access)
}

/// Checks that what an atomic access reads is initialized, if it reads what memory has.
pub fn check_initialized(space: &mut Space, action: Action) -> Checked<()> {
    let Some((address, width)) = action.accessed() else { return Ok(()) };
    space.check_initialized(address, u64::from(width.bytes()))
}

fn check_align(space: &Space, address: u64, width: AtomicWidth, access: Access) -> Checked<()> {
    space.check_align(address, u64::from(width.bytes()) - 1, access)
}

fn check_writable(space: &mut Space, address: u64, width: AtomicWidth) -> Checked<()> {
    check_align(space, address, width, Access::Write)?;
    space.untracked_range_mut(address, u64::from(width.bytes())).map(|_| ())
}

fn read(space: &mut Space, address: u64, width: AtomicWidth) -> Checked<u128> {
    let low = u64::from(width.bytes()) - 1;
    Ok(u128::from(match width {
        AtomicWidth::W8 => space.load::<1>(address, low)?,
        AtomicWidth::W16 => space.load::<2>(address, low)?,
        AtomicWidth::W32 => space.load::<4>(address, low)?,
        AtomicWidth::W64 => space.load::<8>(address, low)?,
        AtomicWidth::W128 => {
            let (first, second) = (space.load::<8>(address, low)?, space.load::<8>(address.wrapping_add(8), 7)?);
            return Ok(u128::from(first) | u128::from(second) << 64);
        }
    }))
}

pub fn write(space: &mut Space, address: u64, width: AtomicWidth, value: u128) -> Checked<()> {
    let low = u64::from(width.bytes()) - 1;
    match width {
        AtomicWidth::W8 => space.store::<1>(address, value as u64, low),
        AtomicWidth::W16 => space.store::<2>(address, value as u64, low),
        AtomicWidth::W32 => space.store::<4>(address, value as u64, low),
        AtomicWidth::W64 => space.store::<8>(address, value as u64, low),
        AtomicWidth::W128 => {
            check_align(space, address, width, Access::Write)?;
            space.write(address, &value.to_le_bytes())
        }
    }
}
