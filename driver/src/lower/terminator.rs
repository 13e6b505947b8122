//! Terminators: jumps, switches, assertions, drops, the ends of functions.

use dpor_engine::program::{BinOp, Op, PlaceId, Reg, Unwind, Width};
use rustc_attr_ir::lang_items::LangItem;
use rustc_middle::mir::{self, AssertKind, BasicBlock, TerminatorKind, UnwindAction, UnwindTerminateReason};
use rustc_middle::ty::{self, Instance};
use rustc_span::Spanned;

use super::operand::{Atom, Value};
use super::place::Spot;
use super::{LocalPlace, Lowering};
use crate::emit::{Emitter, Label};
use crate::repr::{Prim, Repr};

/// Code that runs rarely.
pub struct Cold<'tcx> {
    label: Label,
    kind: ColdKind<'tcx>,
}

enum ColdKind<'tcx> {
    /// An assertion of the compiler failed.
    Assert { msg: mir::AssertMessage<'tcx>, source_info: mir::SourceInfo, unwind: UnwindAction },
    /// A panic must not leave this function.
    Terminate { reason: UnwindTerminateReason, place: PlaceId },
}

impl<'tcx> Lowering<'_, 'tcx> {
    pub(super) fn terminator(&mut self, terminator: &mir::Terminator<'tcx>, next: Option<BasicBlock>) {
        match &terminator.kind {
            TerminatorKind::Goto { target, .. } => self.goto(*target, next),
            TerminatorKind::SwitchInt { discr, targets } => self.switch(discr, targets, next),
            TerminatorKind::Return => self.return_value(),
            TerminatorKind::UnwindResume => self.emit.op(Op::Resume),
            TerminatorKind::UnwindTerminate(reason) => self.terminate(*reason),
            TerminatorKind::Unreachable => self.unreachable("code was reached that is marked as unreachable"),
            TerminatorKind::Drop { place, target, unwind, .. } => {
                self.drop(*place, *unwind);
                self.goto(*target, next);
            }
            TerminatorKind::Call { func, args, destination, target, unwind, fn_span, .. } => {
                // The callee sees the place of its name, not the start of the expression.
                let source_info = mir::SourceInfo { span: *fn_span, ..terminator.source_info };
                self.call(func, args, *destination, *target, *unwind, source_info);
                match target {
                    Some(target) => self.goto(*target, next),
                    None => self.unreachable("a function that does not return returned"),
                }
            }
            TerminatorKind::TailCall { func, args, .. } if self.tail_call(func, args) => {}
            TerminatorKind::TailCall { func, args, .. } => {
                let destination = mir::Place::return_place();
                self.end_locals(args);
                self.call(func, args, destination, None, UnwindAction::Continue, terminator.source_info);
                self.return_value();
            }
            TerminatorKind::Assert { cond, expected, msg, target, unwind } => {
                self.assert(cond, *expected, msg, *unwind, terminator.source_info);
                self.goto(*target, next);
            }
            TerminatorKind::InlineAsm { template, operands, targets, .. } => match targets.first() {
                Some(target) if self.assembly(template, operands) => self.goto(*target, next),
                _ => self.unsupported("inline assembly"),
            },
            TerminatorKind::Yield { .. } | TerminatorKind::CoroutineDrop => {
                self.unsupported("a coroutine that was not lowered to a state machine");
            }
            TerminatorKind::FalseEdge { real_target, .. } | TerminatorKind::FalseUnwind { real_target, .. } => {
                self.goto(*real_target, next);
            }
        }
    }

    /// Ends the scopes of all variables before a tail call, which no pointer to them survives. What is passed has to stay.
    fn end_locals(&mut self, args: &[Spanned<mir::Operand<'tcx>>]) {
        let kept = self.always_live();
        for local in self.body.local_decls.indices().filter(|local| !kept.contains(*local)) {
            let is_passed = args.iter().any(|arg| arg.node.place().is_some_and(|place| place.local == local));
            if let (LocalPlace::Slot(offset), false) = (self.locals[local], is_passed) {
                self.emit.op(Op::StorageDead { offset, size: self.slot_sizes[local] });
            }
        }
    }

    fn goto(&mut self, target: BasicBlock, next: Option<BasicBlock>) {
        if next != Some(target) {
            self.emit.jump(self.blocks[target]);
        }
    }

    fn switch(&mut self, discr: &mir::Operand<'tcx>, targets: &mir::SwitchTargets, next: Option<BasicBlock>) {
        let (prim, atom) = self.scalar_operand(discr);
        let src = self.prim_register(prim, atom);
        let otherwise = targets.otherwise();
        let Some(ty) = prim.int_ty() else {
            return self.wide_switch(src, targets, next);
        };
        let cases: Vec<_> = targets.iter().collect();
        match cases[..] {
            [] => self.goto(otherwise, next),
            [(0, zero)] if next == Some(otherwise) => self.emit.jump_if_not(src, self.blocks[zero]),
            [(0, zero)] => {
                self.emit.jump_if(src, self.blocks[otherwise]);
                self.goto(zero, next);
            }
            [(value, target)] if i32::try_from(value).is_ok() => {
                self.emit.jump_cmp_imm(BinOp::Eq, ty, src, value as i32, self.blocks[target]);
                self.goto(otherwise, next);
            }
            _ => {
                let cases = cases.into_iter().map(|(value, target)| (value as u64, self.blocks[target])).collect();
                self.emit.switch(src, cases, self.blocks[otherwise]);
            }
        }
    }

    /// A switch on a 128-bit number: one comparison after the other.
    fn wide_switch(&mut self, src: Reg, targets: &mir::SwitchTargets, next: Option<BasicBlock>) {
        let wide = Prim { size: 16, ..Prim::USIZE };
        let equal = self.emit.register();
        for (value, target) in targets.iter() {
            let value = self.prim_register(wide, Atom::Imm(value));
            self.emit.op(Op::Bin128 { op: BinOp::Eq, signed: false, dst: equal, a: src, b: value });
            self.emit.jump_if(equal, self.blocks[target]);
        }
        self.goto(targets.otherwise(), next);
    }

    fn return_value(&mut self) {
        if let (LocalPlace::Slot(_) | LocalPlace::Pointer(_), true) = (self.locals[mir::RETURN_PLACE], self.results > 0)
        {
            let spot = self.spot(mir::Place::return_place());
            match self.load(spot) {
                Value::One(prim, atom) => self.atom_into(prim, atom, Reg(0)),
                Value::Two(a, b, _, first, second) => {
                    self.atom_into(a, first, Reg(0));
                    self.atom_into(b, second, Reg(a.registers()));
                }
                _ => {}
            }
        }
        if let (LocalPlace::Slot(src), Some(dst)) = (self.locals[mir::RETURN_PLACE], self.moved_to) {
            let layout = self.local_layout(mir::RETURN_PLACE);
            let (size, align) = (layout.size.bytes() as u32, layout.align.abi.bytes().trailing_zeros() as u8);
            self.emit.op(Op::CopyFromSlot { align, dst, src, size });
        }
        self.emit.op(Op::Return);
    }

    /// What a call does when the callee unwinds.
    pub(super) fn unwind(&mut self, action: UnwindAction) -> Unwind {
        match action {
            UnwindAction::Continue => Unwind::CONTINUE,
            UnwindAction::Unreachable => Unwind::UNREACHABLE,
            UnwindAction::Cleanup(block) => Emitter::cleanup(self.blocks[block]),
            UnwindAction::Terminate(reason) => {
                let label = self.emit.label();
                self.cold.push(Cold { label, kind: ColdKind::Terminate { reason, place: self.emit.place } });
                Emitter::cleanup(label)
            }
        }
    }

    fn terminate(&mut self, reason: UnwindTerminateReason) {
        self.lang_call(reason.lang_item(), &[], Unwind::UNREACHABLE);
    }

    /// Calls a function of the standard library that does not return.
    fn lang_call(&mut self, item: LangItem, args: &[Reg], unwind: Unwind) {
        let def_id = self.tcx.require_lang_item(item, self.span);
        let func = self.builder.function(Instance::mono(self.tcx, def_id));
        let args = self.emit.list(args);
        let dst = self.emit.register();
        self.emit.op(Op::Call { func, args, dst, unwind });
        self.unreachable("a function that does not return returned");
    }

    fn assert(
        &mut self,
        cond: &mir::Operand<'tcx>,
        expected: bool,
        msg: &mir::AssertMessage<'tcx>,
        unwind: UnwindAction,
        source_info: mir::SourceInfo,
    ) {
        if !self.tcx.sess.overflow_checks() && msg.is_optional_overflow_check() {
            return;
        }
        let cond = self.operand_register(cond);
        let label = self.emit.label();
        if expected {
            self.emit.jump_if_not(cond, label);
        } else {
            self.emit.jump_if(cond, label);
        }
        self.cold.push(Cold { label, kind: ColdKind::Assert { msg: msg.clone(), source_info, unwind } });
    }

    pub(super) fn cold_code(&mut self) {
        while let Some(cold) = self.cold.pop() {
            self.emit.bind(cold.label);
            let mark = self.emit.mark();
            match cold.kind {
                ColdKind::Assert { msg, source_info, unwind } => {
                    self.set_place(source_info.span);
                    self.assertion_failed(&msg, source_info, unwind);
                }
                ColdKind::Terminate { reason, place } => {
                    self.emit.place = place;
                    self.terminate(reason);
                }
            }
            self.release(mark);
        }
    }

    fn assertion_failed(&mut self, msg: &mir::AssertMessage<'tcx>, source_info: mir::SourceInfo, unwind: UnwindAction) {
        let mut args = Vec::new();
        let item = match msg {
            AssertKind::BoundsCheck { len, index } => {
                args.push(self.operand_register(index));
                args.push(self.operand_register(len));
                LangItem::PanicBoundsCheck
            }
            AssertKind::MisalignedPointerDereference { required, found } => {
                args.push(self.operand_register(required));
                args.push(self.operand_register(found));
                LangItem::PanicMisalignedPointerDereference
            }
            AssertKind::InvalidEnumConstruction(source) => {
                let (prim, atom) = self.scalar_operand(source);
                let src = self.prim_register(prim, atom);
                let wide = self.convert_int(prim, src, Prim { size: 16, ..Prim::USIZE });
                args.extend([wide, Reg(wide.0 + 1)]);
                LangItem::PanicInvalidEnumConstruction
            }
            AssertKind::NullPointerDereference => LangItem::PanicNullPointerDereference,
            AssertKind::NullReferenceConstructed => LangItem::PanicNullReferenceConstructed,
            other => other.panic_function(),
        };
        args.push(self.caller_location(source_info));
        let unwind = self.unwind(unwind);
        self.lang_call(item, &args, unwind);
    }

    /// The location that `#[track_caller]` functions called here see.
    pub(super) fn caller_location(&mut self, source_info: mir::SourceInfo) -> Reg {
        let tcx = self.tcx;
        let mut here = None;
        let inherited = self.body.caller_location_span(source_info, self.caller_location.map(Some), tcx, |span| {
            here = Some(span);
            None
        });
        if let Some(reg) = inherited {
            return reg;
        }
        let span = here.unwrap_or(source_info.span);
        let layout = self.layout(tcx.caller_location_ty());
        let value = self.const_value(tcx.span_as_caller_location(span), layout);
        let (prim, atom) = self.scalar(value, layout);
        self.prim_register(prim, atom)
    }

    fn drop(&mut self, place: mir::Place<'tcx>, unwind: UnwindAction) {
        let ty = self.mono(place.ty(self.body, self.tcx).ty);
        let glue = Instance::resolve_drop_glue(self.tcx, ty);
        if matches!(glue.def, ty::InstanceKind::Shim(ty::ShimKind::DropGlue(_, None))) {
            return;
        }
        let spot = self.spot(place);
        let place = match spot {
            Spot::Memory(place) => place,
            // A type without bytes that has a destructor.
            Spot::Nothing(layout) | Spot::Registers(_, _, layout) => self.temporary(layout),
        };
        let addr = self.addr_register(place.addr);
        self.drop_at(ty, glue, addr, place.meta, unwind);
    }

    /// Runs the destructor of the value at an address.
    pub(super) fn drop_at(
        &mut self,
        ty: ty::Ty<'tcx>,
        glue: Instance<'tcx>,
        addr: Reg,
        meta: Option<Reg>,
        unwind: UnwindAction,
    ) {
        let unwind = self.unwind(unwind);
        let dst = self.emit.register();
        if let (ty::Dynamic(..), Some(vtable)) = (ty.kind(), meta) {
            let ptr = self.emit.register();
            self.emit.load(Width::W64, 3, ptr, vtable, 0);
            let nothing = self.emit.label();
            self.emit.jump_if_not(ptr, nothing);
            let args = self.emit.list(&[addr]);
            self.emit.op(Op::CallPtr { ptr, args, dst, results: 0, unwind });
            self.emit.bind(nothing);
            return;
        }
        let func = self.builder.function(glue);
        let args = match meta {
            Some(meta) => self.emit.list(&[addr, meta]),
            None => self.emit.list(&[addr]),
        };
        self.emit.op(Op::Call { func, args, dst, unwind });
    }

    /// A value in registers for the result of a call: the registers themselves where the place is in registers.
    pub(super) fn result_registers(&mut self, spot: &Spot<'tcx>) -> Reg {
        match super::rvalue::target_register(spot) {
            Some(reg) => reg,
            None => {
                let count = match self.repr(spot.layout()) {
                    Repr::Zst | Repr::Memory => 1,
                    repr => repr.registers(),
                };
                self.emit.registers(count)
            }
        }
    }
}
