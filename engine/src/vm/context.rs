//! The whole machine from the side of the thread that runs: what slow instructions and builtins work on.

use crate::program::{FuncId, PlaceId};

use super::code::{CallSite, Code, Inst};
use super::failure::{Failure, Fault, StackFrame};
use super::frame::{Frame, FrameKind};
use super::image::Image;
use super::interp;
use super::memory::{AllocError, AllocKind, Heap, MAX_BLOCK, Observable, Request, Sharing, Space};
use super::thread::{Thread, ThreadId};
use super::trap::{Checked, Halt, Trap};
use super::watch::Watch;
use super::world::World;
use super::{RunOptions, Stop};

/// Before blocks of so many bytes, limits are looked at.
const LARGE: u64 = 1 << 20;

/// What an instruction of the machine leads to.
pub enum Flow {
    /// The thread goes on.
    Continue,
    /// The thread stops.
    Stop(Stop),
}

/// The machine, and the thread that runs.
pub struct Context<'a> {
    pub thread: &'a mut Thread,
    /// The other threads; none of them while the program is explored.
    pub threads: &'a mut Vec<Option<Box<Thread>>>,
    pub heap: &'a mut Heap,
    pub world: &'a mut World,
    pub image: &'a Image,
    pub options: &'a RunOptions,
    pub watch: &'a mut Watch,
}

impl<'a> Context<'a> {
    /// Memory, as the thread sees it.
    pub fn space(&mut self) -> Space<'_> {
        let mut space = Space::new(self.thread.id, &mut self.thread.stack, self.heap, self.threads, self.image);
        if space.tracking
            && let Some(frame) = self.thread.frames.last()
        {
            space.enter_frame(&self.thread.frames, frame.user, frame.quiet);
            space.pc = frame.pc;
        }
        space
    }

    /// The frame that is active. There is one.
    pub fn frame(&self) -> &Frame {
        self.thread.frames.last().expect("a running thread has a frame")
    }

    /// The code that is active.
    pub fn code(&self) -> &'a Code {
        self.image.code(self.frame().func)
    }

    /// The instruction that is active.
    pub fn inst(&self) -> Inst {
        self.code().insts[self.frame().pc as usize - 1]
    }

    /// A register of the active frame, by its place in the window.
    pub fn get(&self, place: usize) -> u64 {
        self.thread.registers[self.frame().base as usize + place]
    }

    /// Writes a register of the active frame.
    pub fn set(&mut self, place: usize, value: u64) {
        let base = self.frame().base as usize;
        self.thread.registers[base + place] = value;
    }

    /// The arguments of a call.
    pub fn args<const N: usize>(&self, site: &CallSite) -> [u64; N] {
        std::array::from_fn(|index| site.args.get(index).map_or(0, |place| self.get(usize::from(*place))))
    }

    /// Where the code is that reports point into: for the record of who allocates and frees.
    pub fn place(&self) -> PlaceId {
        let user = self.thread.frames.last().map_or(0, |frame| frame.user);
        match self.thread.frames.get(user as usize) {
            Some(frame) => self.image.shown_place(frame.func, frame.pc),
            None => self.thread.entry.map_or(PlaceId(0), |entry| self.image.program.function(entry).place),
        }
    }

    /// Allocates for the thread. `None`: there is no memory of that size.
    pub fn alloc(&mut self, size: u64, align: u64, kind: AllocKind) -> Checked<Option<u64>> {
        if (LARGE..=MAX_BLOCK).contains(&size) {
            self.make_room(size)?;
        }
        let place = self.place();
        let quiet = self.thread.frames.last().is_some_and(|frame| frame.quiet);
        let sharing = self.sharing(place, quiet);
        let address = match self.heap.alloc(self.thread.id, Request { size, align, kind, place, sharing, quiet }) {
            Ok(alloc) => alloc.base,
            Err(AllocError::TooLarge) => return Ok(None),
            Err(AllocError::Exhausted) => return Err(Fault::limit("the thread has made too many allocations").into()),
        };
        if sharing == Sharing::Tracked {
            self.space().track_alloc(address, size)?;
        }
        Ok(Some(address))
    }

    /// Takes no large block where the check is over, or would be with it: a few instructions can take all memory.
    #[cold]
    fn make_room(&self, size: u64) -> Checked<()> {
        // Every byte has a shadow.
        if self.options.is_over() || !self.options.budget.allows(2 * size) {
            return Err(Fault::limit(format!("there is no memory for a block of {size} bytes")).into());
        }
        Ok(())
    }

    /// Who will access what is allocated at a place.
    fn sharing(&self, place: PlaceId, quiet: bool) -> Sharing {
        let Some(tracking) = self.heap.tracking.as_deref() else { return Sharing::Private };
        match quiet {
            true if tracking.tracked.contains(Observable::Quiet(place)) => Sharing::Exempt,
            false if tracking.tracked.contains(Observable::Place(place)) => Sharing::Tracked,
            _ => Sharing::Private,
        }
    }

    /// Calls a function.
    pub fn call(&mut self, func: FuncId, args: &[u64], kind: FrameKind) -> Checked<()> {
        push_call(self.image, self.thread, self.heap, func, args, kind)
    }

    /// Leaves the active frame: its memory goes.
    pub fn pop_frame(&mut self) -> Checked<Option<Frame>> {
        let place = self.place();
        let Some(&frame) = self.thread.frames.last() else { return Ok(None) };
        if frame.memory
            && let Some(address) = self.thread.stack.pop()
        {
            self.space().drop_block(address, place)?;
        }
        if frame.big_slots {
            let depth = self.thread.frames.len() as u32 - 1;
            while let Some(slot) = self.thread.big_slots.pop_if(|slot| slot.depth >= depth) {
                self.space().drop_block(slot.address, place)?;
            }
        }
        self.thread.frames.pop();
        Ok(Some(frame))
    }

    /// Whether the thread has come back to where it was, and has done nothing in between.
    pub fn is_circle(&mut self) -> bool {
        self.watch.is_circle(self.thread, self.heap, self.world, self.image)
    }

    /// The failure of the running thread.
    pub fn failure(&self, fault: Fault) -> Box<Failure> {
        Failure::new(fault, &self.image.program, self.thread.id, stack_trace(self.image, self.thread))
    }

    /// What a trap is to the running thread, where the instruction cannot be run again.
    pub fn halt(&self, trap: Trap) -> Halt {
        Halt::new(trap, &self.image.program, self.thread.id, stack_trace(self.image, self.thread))
    }

    /// Whether there is no other thread whose steps could come before or after those of this one: it has joined all.
    pub fn is_alone(&mut self) -> bool {
        let objects = &mut self.heap.objects;
        objects.log.unique = true;
        let others = objects.others.iter().flatten().count().max(self.threads.iter().flatten().count() + 1) - 1;
        others <= usize::from(self.thread.joined)
    }

    /// Whether there is a thread with that number.
    pub fn exists(&self, id: ThreadId) -> bool {
        let explored = self.heap.objects.others.get(id.index()).is_some_and(Option::is_some);
        id == self.thread.id || explored || self.threads.get(id.index()).is_some_and(Option::is_some)
    }
}

/// Pushes a frame for a call that the machine itself makes.
pub fn push_call(
    image: &Image,
    thread: &mut Thread,
    heap: &mut Heap,
    func: FuncId,
    args: &[u64],
    kind: FrameKind,
) -> Checked<()> {
    let callee = image.code(func);
    if usize::from(callee.params) != args.len() {
        return Err(interp::wrong_arguments(image, func, args.len()));
    }
    let base = thread.frames.last().map_or(0, |frame| frame.base + frame.registers);
    interp::reserve(&mut thread.registers, base, callee.registers);
    let first = base as usize + usize::from(callee.results);
    thread.registers[first..first + args.len()].copy_from_slice(args);
    interp::push(&mut thread.frames, &mut thread.stack, heap, thread.id, callee, base, 0, kind)
}

/// The active functions of a thread, the innermost first.
pub fn stack_trace(image: &Image, thread: &Thread) -> Vec<StackFrame> {
    /// More frames than this at each end are left out.
    const MAX_SHOWN: usize = 100;
    let count = thread.frames.len();
    let shown = |(index, _): &(usize, &Frame)| *index < MAX_SHOWN || *index + MAX_SHOWN >= count;
    let frames = thread.frames.iter().rev().enumerate().filter(shown);
    let functions = frames.flat_map(|(_, frame)| image.scopes(frame.func, frame.pc));
    functions.map(|(func, place)| stack_frame(image, func, place)).collect()
}

/// A function at a place, for people.
fn stack_frame(image: &Image, func: FuncId, place: PlaceId) -> StackFrame {
    let function = image.program.function(func);
    StackFrame { function: function.name.clone(), origin: function.origin, location: image.program.location(place) }
}
