//! A program prepared for running: its constants as allocations, its functions as [`Code`].
//!
//! An image is made once per program and shared by all runs, on all threads of the checker. Functions are translated
//! when they are first called.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use crate::program::address::{GLOBAL_REGION, GRANULE_BITS, REGION_BITS};
use crate::program::{FuncId, PlaceId, Program};

use super::code::{Callee, Code, Inst};
use super::memory::{Alloc, AllocKind};
use super::prepare::{self, Effort};
use super::thread::ThreadId;

/// A program, ready to run.
#[derive(Debug)]
pub struct Image {
    pub program: Arc<Program>,
    pub(super) globals: Globals,
    code: Vec<OnceLock<Box<Code>>>,
    effort: Effort,
}

/// The statics and constants of a program.
#[derive(Debug)]
pub(super) struct Globals {
    allocs: Vec<Alloc>,
    /// By granule of the region: one more than the index of the allocation that covers it, or zero.
    granules: Vec<u32>,
}

impl Image {
    /// Prepares a program.
    pub fn new(program: &Arc<Program>) -> Arc<Image> {
        Image::with_effort(program, Effort::Full)
    }

    /// Prepares a program, with more or less effort to make it fast. It runs the same either way.
    pub fn with_effort(program: &Arc<Program>, effort: Effort) -> Arc<Image> {
        let code = program.functions.iter().map(|_| OnceLock::new()).collect();
        Arc::new(Image { program: Arc::clone(program), globals: Globals::new(program), code, effort })
    }

    /// The image of a program: the one made last, if it is of the same program.
    pub fn of(program: &Arc<Program>) -> Arc<Image> {
        static LAST: Mutex<Option<(Weak<Program>, Arc<Image>)>> = Mutex::new(None);
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, image)) = &*last
            && of.as_ptr() == Arc::as_ptr(program)
        {
            return Arc::clone(image);
        }
        let image = Image::new(program);
        *last = Some((Arc::downgrade(program), Arc::clone(&image)));
        image
    }

    /// A function as it runs.
    #[inline(always)]
    pub(super) fn code(&self, func: FuncId) -> &Code {
        match self.code[func.0 as usize].get() {
            Some(code) => code,
            None => self.translate(func),
        }
    }

    /// The functions that an instruction comes from, and where in them it is, the innermost first. `pc` is that of the
    /// instruction after it.
    pub(super) fn scopes(&self, func: FuncId, pc: u32) -> impl Iterator<Item = (FuncId, PlaceId)> + use<'_> {
        let code = self.code(func);
        let at = (pc as usize).saturating_sub(1);
        let scope = code.scope_of.get(at).copied().unwrap_or(0);
        let place = code.places.get(at).copied().unwrap_or(self.program.function(func).place);
        let mut next = Some((scope, place));
        std::iter::from_fn(move || {
            let (scope, place) = next?;
            let scope = code.scopes[usize::from(scope)];
            next = scope.parent;
            Some((scope.func, place))
        })
    }

    /// The innermost place outside of the standard library; where there is none, the innermost place.
    pub(super) fn shown_place(&self, func: FuncId, pc: u32) -> PlaceId {
        let is_shown = |func: FuncId| self.program.function(func).origin.is_shown();
        let shown = self.scopes(func, pc).find(|(func, _)| is_shown(*func));
        shown.or(self.scopes(func, pc).next()).map_or(PlaceId(0), |(_, place)| place)
    }

    /// The instructions of a function, for people.
    pub fn listing(&self, func: FuncId) -> String {
        let code = self.code(func);
        let line = |(pc, inst)| {
            let callee = match inst {
                &Inst::Call { site } => match code.sites[site as usize].callee {
                    Callee::Func(callee) => &*self.program.function(callee).name,
                    Callee::Pointer(_) | Callee::Builtin(_) => "",
                },
                _ => "",
            };
            format!("{pc:4} {inst:?} {callee}\n")
        };
        code.insts.iter().enumerate().map(line).collect()
    }

    #[cold]
    fn translate(&self, func: FuncId) -> &Code {
        self.code[func.0 as usize].get_or_init(|| Box::new(prepare::prepare(&self.program, func, self.effort)))
    }
}

impl Globals {
    fn new(program: &Program) -> Globals {
        let mut globals = Globals { allocs: Vec::with_capacity(program.globals.len()), granules: Vec::new() };
        for global in &program.globals {
            let kind = if global.mutable { AllocKind::Static } else { AllocKind::Constant };
            let size = global.bytes.len() as u64;
            let alloc = Alloc::new(global.address, size, global.align, kind, ThreadId::MAIN, PlaceId(0));
            globals.insert(alloc.with_data(&global.bytes, &global.uninit));
        }
        globals
    }

    fn insert(&mut self, alloc: Alloc) {
        let first = granule(alloc.base);
        let last = granule(alloc.base + alloc.size.saturating_sub(1));
        self.allocs.push(alloc);
        if self.granules.len() <= last {
            self.granules.resize(last + 1, 0);
        }
        self.granules[first..=last].fill(self.allocs.len() as u32);
    }

    /// The allocation of that number.
    #[inline(always)]
    pub fn alloc(&self, index: u32) -> Option<&Alloc> {
        self.allocs.get(index as usize)
    }

    /// The number of the allocation that covers the granule of an address.
    pub fn find(&self, address: u64) -> Option<u32> {
        if address >> REGION_BITS != GLOBAL_REGION {
            return None;
        }
        self.granules.get(granule(address))?.checked_sub(1)
    }
}

fn granule(address: u64) -> usize {
    ((address & ((1 << REGION_BITS) - 1)) >> GRANULE_BITS) as usize
}
