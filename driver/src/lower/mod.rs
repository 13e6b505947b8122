//! Lowers the MIR of one instance to the code of one function.
//!
//! Conventions. A local whose type is one or two scalars, and whose address nobody takes, lives in registers; others
//! live in the frame. Arguments of one or two scalars are passed in registers, others by the address of a copy that the
//! callee owns (for a moved operand: of the original). A result in memory is written through a pointer that is the
//! first argument. Functions with `#[track_caller]` get the caller's location as a hidden last argument. The tupled
//! arguments of `extern "rust-call"` functions are passed one by one.

mod analyze;
mod arith;
mod assembly;
mod atomic;
mod call;
mod cast;
mod dead;
mod discriminant;
mod intrinsic;
mod operand;
mod place;
mod promises;
mod renewed;
mod rvalue;
mod simd;
mod simd_memory;
mod statement;
mod suspects;
mod terminator;
mod unsize;

pub use operand::Atom;

use dpor_engine::program::{FuncId, Op, Origin, Reg};
use dpor_engine::verdict::ErrorKind;
use rustc_index::IndexVec;
use rustc_middle::mir::{self, BasicBlock, Local, TerminatorKind};
use rustc_middle::ty::layout::TyAndLayout;
use rustc_middle::ty::{self, Instance, Ty, TyCtxt, TypeFoldable};
use rustc_span::Span;

use crate::emit::{Emitter, FrameMemory, Label};
use crate::program::ProgramBuilder;
use crate::repr::Repr;

/// Where a local lives.
#[derive(Clone, Copy, Debug)]
enum LocalPlace {
    Zst,
    /// In registers from this one on.
    Registers(Reg),
    /// In the frame.
    Slot(u16),
    /// In memory, whose address is in the register.
    Pointer(Reg),
    /// Unsized, in memory: its address and its metadata.
    Unsized(Reg, Reg),
}

/// The lowering of one function.
pub struct Lowering<'b, 'tcx> {
    builder: &'b mut ProgramBuilder<'tcx>,
    tcx: TyCtxt<'tcx>,
    id: FuncId,
    instance: Instance<'tcx>,
    /// Whether it is not the standard library's: what it calls things is of interest.
    is_known: bool,
    body: &'b mir::Body<'tcx>,
    emit: Emitter,
    locals: IndexVec<Local, LocalPlace>,
    /// Locals in the frame: size, for storage statements.
    slot_sizes: IndexVec<Local, u16>,
    /// Locals in memory of their own: size and alignment, for storage statements.
    big_locals: IndexVec<Local, Option<(u64, u64)>>,
    blocks: IndexVec<BasicBlock, Label>,
    /// Where the arguments have arrived.
    start: Label,
    /// What is dead where loops begin.
    dead: dead::DeadAtLoops,
    /// Pointers that are looked at more closely.
    suspects: suspects::Suspects,
    /// Whether references are looked at that may dangle.
    may_dangle: bool,
    /// Where the result goes, if it is made in the frame first.
    moved_to: Option<Reg>,
    /// The hidden argument of `#[track_caller]` functions.
    caller_location: Option<Reg>,
    /// Temporaries in the frame (size, alignment, offset): of the current statement, and of earlier ones.
    used_temporaries: Vec<(u64, u64, u16)>,
    free_temporaries: Vec<(u64, u64, u16)>,
    /// Code that runs rarely, emitted at the end.
    cold: Vec<terminator::Cold<'tcx>>,
    span: Span,
    params: u16,
    results: u8,
}

impl<'b, 'tcx> Lowering<'b, 'tcx> {
    /// Lowers `instance`, whose (monomorphic) MIR is `body`.
    pub fn lower(
        builder: &'b mut ProgramBuilder<'tcx>,
        id: FuncId,
        instance: Instance<'tcx>,
        body: &'b mir::Body<'tcx>,
    ) {
        let place = builder.place(body.span);
        let name = builder.function_name(instance);
        let origin = builder.origin(instance.def_id());
        let tcx = builder.tcx;
        let span = body.span;
        let mut emit = Emitter::new(place);
        let blocks = body.basic_blocks.indices().map(|_| emit.label()).collect();
        let start = emit.label();
        let mut lowering = Lowering {
            builder,
            tcx,
            id,
            instance,
            is_known: origin != Origin::Std,
            body,
            emit,
            locals: IndexVec::new(),
            slot_sizes: IndexVec::new(),
            big_locals: IndexVec::new(),
            blocks,
            start,
            dead: Default::default(),
            suspects: suspects::Suspects::none(),
            may_dangle: false,
            moved_to: None,
            caller_location: None,
            used_temporaries: Vec::new(),
            free_temporaries: Vec::new(),
            cold: Vec::new(),
            span,
            params: 0,
            results: 0,
        };
        lowering.prologue();
        lowering.blocks();
        lowering.cold_code();
        let Lowering { builder, emit, params, results, .. } = lowering;
        let mut function = emit.finish(name.clone(), origin, params, results, place);
        if let Some(function) = &mut function {
            function.quiet = builder.quiet(instance);
        }
        builder.set_function(id, function, &name, span);
    }

    fn mono<T: TypeFoldable<TyCtxt<'tcx>>>(&self, value: T) -> T {
        self.instance.instantiate_mir_and_normalize_erasing_regions(
            self.tcx,
            ty::TypingEnv::fully_monomorphized(),
            ty::EarlyBinder::bind(self.tcx, value),
        )
    }

    fn layout(&self, ty: Ty<'tcx>) -> TyAndLayout<'tcx> {
        layout_of(self.tcx, ty)
    }

    fn repr(&self, layout: TyAndLayout<'tcx>) -> Repr {
        Repr::of(&self.builder.layouts, layout)
    }

    fn local_layout(&self, local: Local) -> TyAndLayout<'tcx> {
        self.layout(self.body.local_decls[local].ty)
    }

    /// Gives every local its place and moves the arguments there.
    fn prologue(&mut self) {
        self.suspects = self.suspects();
        let in_memory = self.locals_in_memory();
        self.dead = self.dead_at_loops(&in_memory);
        let return_layout = self.local_layout(mir::RETURN_PLACE);
        let return_repr = if return_layout.is_sized() { self.repr(return_layout) } else { Repr::Memory };
        self.results = return_repr.registers() as u8;
        let result = self.emit.registers(return_repr.registers());
        let arguments = self.argument_registers(return_repr, &in_memory);

        let names = self.local_names();
        let always_live = self.always_live();
        let renewed = self.renewed_locals();
        for local in self.body.local_decls.indices() {
            self.slot_sizes.push(0);
            self.big_locals.push(None);
            let layout = self.local_layout(local);
            let place = if local == mir::RETURN_PLACE {
                match return_repr {
                    Repr::Memory if self.is_result_moved(&self.dead) => {
                        self.moved_to = Some(arguments.sret);
                        self.memory_local(local, layout, true, &names[local])
                    }
                    Repr::Memory => LocalPlace::Pointer(arguments.sret),
                    _ if in_memory.contains(local) => self.memory_local(local, layout, true, &names[local]),
                    Repr::Zst => LocalPlace::Zst,
                    _ => LocalPlace::Registers(result),
                }
            } else if let Some(argument) = arguments.place(local) {
                argument
            } else {
                let repr = if layout.is_sized() { self.repr(layout) } else { Repr::Memory };
                match repr {
                    Repr::Zst if !in_memory.contains(local) => LocalPlace::Zst,
                    Repr::One(_) | Repr::Two(..) if !in_memory.contains(local) => {
                        LocalPlace::Registers(self.emit.registers(repr.registers()))
                    }
                    _ if renewed.contains(local) && layout.is_sized() && !layout.is_zst() => {
                        self.renewed_local(local, layout)
                    }
                    _ => self.memory_local(local, layout, always_live.contains(local), &names[local]),
                }
            };
            self.locals.push(place);
        }
        self.emit.bind(self.start);
        self.place_arguments(&arguments, &in_memory);
        for local in self.body.args_iter() {
            let layout = self.local_layout(local);
            if layout.is_uninhabited() {
                self.unreachable(format!("a function is called with a value of the uninhabited type `{}`", layout.ty));
            }
        }
    }

    /// A local in memory: in the frame or, if it is large, on its own.
    fn memory_local(&mut self, local: Local, layout: TyAndLayout<'tcx>, live: bool, name: &str) -> LocalPlace {
        let (size, align) = (layout.size.bytes(), layout.align.abi.bytes());
        match self.emit.frame_memory(size, align, live, name) {
            FrameMemory::Slot(offset) => {
                self.slot_sizes[local] = size as u16;
                if self.is_known && !name.is_empty() {
                    self.builder.describe_slot(self.id, offset, layout.ty);
                }
                LocalPlace::Slot(offset)
            }
            FrameMemory::Big(reg) => {
                self.big_locals[local] = Some((size, align));
                // Alive from the start in any case: a register always holds something.
                self.emit.op(Op::BigSlot { dst: reg, size, align: align.trailing_zeros() as u8 });
                LocalPlace::Pointer(reg)
            }
        }
    }

    /// A local in memory of its own, while it is alive.
    fn renewed_local(&mut self, local: Local, layout: TyAndLayout<'tcx>) -> LocalPlace {
        self.big_locals[local] = Some((layout.size.bytes(), layout.align.abi.bytes()));
        let reg = self.emit.register();
        self.emit.imm(reg, 0);
        LocalPlace::Pointer(reg)
    }

    /// The user's name of a local, empty if it has none.
    fn local_name(&self, local: Local) -> String {
        let is_it = |info: &&mir::VarDebugInfo<'tcx>| match info.value {
            mir::VarDebugInfoContents::Place(place) => place.as_local() == Some(local),
            mir::VarDebugInfoContents::Const(_) => false,
        };
        self.body.var_debug_info.iter().find(is_it).map(|info| info.name.to_string()).unwrap_or_default()
    }

    /// The user's names of locals.
    fn local_names(&self) -> IndexVec<Local, String> {
        let mut names = IndexVec::from_elem(String::new(), &self.body.local_decls);
        for info in &self.body.var_debug_info {
            if let mir::VarDebugInfoContents::Place(place) = info.value
                && let Some(local) = place.as_local()
            {
                names[local] = info.name.to_string();
            }
        }
        names
    }

    fn blocks(&mut self) {
        let order: Vec<BasicBlock> = mir::traversal::reverse_postorder(self.body).map(|(block, _)| block).collect();
        let first = self.blocks[mir::START_BLOCK];
        if order.first() != Some(&mir::START_BLOCK) {
            self.emit.jump(first);
        }
        for (position, &block) in order.iter().enumerate() {
            let next = order.get(position + 1).copied();
            self.emit.bind(self.blocks[block]);
            self.forget_dead(block);
            self.block(block, next);
        }
    }

    fn block(&mut self, block: BasicBlock, next: Option<BasicBlock>) {
        let data = &self.body.basic_blocks[block];
        for statement in &data.statements {
            self.set_place(statement.source_info.span);
            let mark = self.emit.mark();
            self.statement(statement);
            self.release(mark);
        }
        let terminator = data.terminator();
        self.set_place(terminator.source_info.span);
        if let TerminatorKind::Call { fn_span, .. } = terminator.kind {
            self.emit.place = self.builder.call_place(terminator.source_info.span, fn_span);
        }
        let mark = self.emit.mark();
        self.terminator(terminator, next);
        self.release(mark);
    }

    /// Frees the registers taken since `mark`, and all temporaries.
    fn release(&mut self, mark: u32) {
        self.emit.release(mark);
        self.free_temporaries.append(&mut self.used_temporaries);
    }

    fn set_place(&mut self, span: Span) {
        self.span = span;
        self.emit.place = self.builder.place(span);
    }

    /// Reaching this ends the check as unsupported.
    fn unsupported(&mut self, reason: impl Into<String>) {
        let message = self.builder.message(reason);
        self.emit.op(Op::Unsupported { message });
    }

    /// Reaching this is undefined behaviour.
    fn unreachable(&mut self, reason: impl Into<String>) {
        self.error(ErrorKind::UndefinedBehavior, reason);
    }

    /// Reaching this is an error of the program.
    fn error(&mut self, kind: ErrorKind, reason: impl Into<String>) {
        let message = self.builder.message(reason);
        self.emit.op(Op::Unreachable { kind, message });
    }
}

/// The layout of a type after monomorphization.
pub fn layout_of<'tcx>(tcx: TyCtxt<'tcx>, ty: Ty<'tcx>) -> TyAndLayout<'tcx> {
    let env = ty::TypingEnv::fully_monomorphized();
    match tcx.layout_of(env.as_query_input(ty)) {
        Ok(layout) => layout,
        Err(error) => tcx.dcx().fatal(format!("cannot compute the layout of `{ty}`: {error}")),
    }
}
