//! Intrinsics: what the compiler would otherwise generate code for itself.

use dpor_engine::program::{
    BinOp, Builtin, FloatBinOp, FloatTy, FloatUnOp, IntTy, Op, OverflowOp, Reg, UnOp, Unwind, Width,
};
use rustc_abi::Align;
use rustc_attr_ir::lang_items::LangItem;
use rustc_middle::mir::{self, UnwindAction};
use rustc_middle::ty::layout::{TyAndLayout, ValidityRequirement};
use rustc_middle::ty::{self, Instance, Ty};

use super::Lowering;
use super::operand::{Atom, Value};
use super::place::{Addr, MemPlace, Spot, typing_env};
use super::unsize::{VTABLE_ALIGN, VTABLE_SIZE};
use crate::float::FloatOperation;
use crate::repr::{Prim, Repr};

type Args<'a, 'tcx> = &'a [&'a mir::Operand<'tcx>];

impl<'tcx> Lowering<'_, 'tcx> {
    /// Lowers a call of an intrinsic; false where its fallback body is to be called.
    pub(super) fn intrinsic(
        &mut self,
        instance: Instance<'tcx>,
        args: Args<'_, 'tcx>,
        destination: mir::Place<'tcx>,
        unwind: UnwindAction,
        source_info: mir::SourceInfo,
    ) -> bool {
        let name = self.tcx.item_name(instance.def_id());
        let name = name.as_str();
        if let Some(requirement) = ValidityRequirement::from_intrinsic(self.tcx.item_name(instance.def_id())) {
            self.assert_valid(requirement, instance.args.type_at(0), unwind);
            return true;
        }
        let spot = self.spot(destination);
        if self.atomic_intrinsic(name, instance, args, spot)
            || self.memory_intrinsic(name, instance, args, spot)
            || self.integer_intrinsic(name, args, spot)
            || self.float_intrinsic(name, args, spot)
        {
            return true;
        }
        if name.starts_with("simd_") {
            self.simd_intrinsic(name, instance, args, spot);
            return true;
        }
        match name {
            "abort_immediate" | "breakpoint" => self.builtin(Builtin::Abort, &[]),
            "unreachable" => self.unreachable("`unreachable_unchecked` was reached"),
            "cold_path" => {}
            "caller_location" => {
                let location = self.caller_location(source_info);
                self.store_scalar(location, spot);
            }
            "black_box" => {
                let (value, _) = self.operand(args[0]);
                self.store(value, spot);
            }
            "catch_unwind" => {
                let [try_fn, data, catch_fn] = [0, 1, 2].map(|i| self.operand_register(args[i]));
                let dst = self.result_registers(&spot);
                self.emit.op(Op::CatchUnwind { dst, try_fn, data, catch_fn });
                self.store_result(dst, spot);
            }
            "size_of_val" | "align_of_val" => {
                let (value, _) = self.operand(args[0]);
                let meta = match value {
                    Value::Two(_, _, _, _, meta) => Some(self.atom_register(meta)),
                    _ => None,
                };
                let (size, align) = self.size_and_align(instance.args.type_at(0), meta);
                self.store_scalar(if name == "size_of_val" { size } else { align }, spot);
            }
            "vtable_size" | "vtable_align" => {
                let vtable = self.operand_register(args[0]);
                let dst = self.emit.register();
                let offset = if name == "vtable_size" { VTABLE_SIZE } else { VTABLE_ALIGN };
                self.emit.load(Width::W64, 3, dst, vtable, offset);
                self.store_scalar(dst, spot);
            }
            "is_val_statically_known" => {
                let dst = self.emit.register();
                self.emit.imm(dst, 0);
                self.store_scalar(dst, spot);
            }
            "typed_swap_nonoverlapping" => {
                if self.is_known {
                    let [a, b] = [0, 1].map(|i| self.operand_register(args[i]));
                    self.check_swap(a, b, None, self.layout(instance.args.type_at(0)));
                }
                return false;
            }
            "va_arg" | "va_copy" | "va_end" => self.unsupported("a function with C-variadic arguments"),
            _ => {
                let overridden =
                    self.tcx.intrinsic(instance.def_id()).is_some_and(|intrinsic| intrinsic.must_be_overridden);
                if overridden {
                    self.unsupported(format!("intrinsic `{name}`"));
                }
                return overridden;
            }
        }
        true
    }

    pub(super) fn builtin(&mut self, builtin: Builtin, args: &[Reg]) {
        let args = self.emit.list(args);
        let dst = self.emit.register();
        self.emit.op(Op::Builtin { builtin, args, dst, unwind: Unwind::CONTINUE });
    }

    /// Stores a scalar in a register as the result.
    pub(super) fn store_scalar(&mut self, src: Reg, spot: Spot<'tcx>) {
        match self.repr(spot.layout()) {
            Repr::One(prim) => self.store(Value::One(prim, Atom::Register(src)), spot),
            _ => self.store(Value::One(Prim::USIZE, Atom::Register(src)), spot),
        }
    }

    /// `assert_inhabited` and the like: panics where a type does not allow what is about to happen.
    fn assert_valid(&mut self, requirement: ValidityRequirement, ty: Ty<'tcx>, unwind: UnwindAction) {
        let query = (requirement, typing_env().as_query_input(ty));
        if self.tcx.check_validity_requirement(query).unwrap_or(true) {
            return;
        }
        let layout = self.layout(ty);
        let message = if layout.is_uninhabited() {
            format!("attempted to instantiate uninhabited type `{ty}`")
        } else if requirement == ValidityRequirement::Zero {
            format!("attempted to zero-initialize type `{ty}`, which is invalid")
        } else {
            format!("attempted to leave type `{ty}` uninitialized, which is invalid")
        };
        let address = self.builder.text(&message);
        let text = self.atom_register(Atom::address(address, 0));
        let len = self.atom_register(Atom::Imm(message.len() as u128));
        let def_id = self.tcx.require_lang_item(LangItem::PanicNounwind, self.span);
        let dst = self.emit.register();
        self.call_with_registers(Instance::mono(self.tcx, def_id), &[text, len], dst, unwind);
    }

    fn memory_intrinsic(
        &mut self,
        name: &str,
        instance: Instance<'tcx>,
        args: Args<'_, 'tcx>,
        spot: Spot<'tcx>,
    ) -> bool {
        let ty = || instance.args.type_at(0);
        match name {
            "arith_offset" => {
                let base = self.operand_register(args[0]);
                let count = self.operand_register(args[1]);
                let dst = self.emit.register();
                self.index(dst, base, count, self.layout(ty()).size.bytes());
                self.store_scalar(dst, spot);
            }
            "ptr_mask" => {
                let (ptr, mask) = (self.operand_register(args[0]), self.operand_register(args[1]));
                let dst = self.emit.register();
                self.emit.op(Op::Bin { op: BinOp::And, ty: IntTy::U64, dst, a: ptr, b: mask });
                self.store_scalar(dst, spot);
            }
            "ptr_offset_from" | "ptr_offset_from_unsigned" => self.offset_from(ty(), args, spot),
            "copy" => {
                let [src, dst, count] = [0, 1, 2].map(|i| self.operand_register(args[i]));
                self.copy_elements(ty(), dst, src, count, true);
            }
            "copy_nonoverlapping" => {
                let [src, dst, count] = [0, 1, 2].map(|i| self.operand_register(args[i]));
                self.copy_elements(ty(), dst, src, count, false);
            }
            "volatile_copy_memory" | "volatile_copy_nonoverlapping_memory" => {
                let [dst, src, count] = [0, 1, 2].map(|i| self.operand_register(args[i]));
                self.copy_elements(ty(), dst, src, count, name == "volatile_copy_memory");
            }
            "write_bytes" | "volatile_set_memory" => {
                let [dst, value, count] = [0, 1, 2].map(|i| self.operand_register(args[i]));
                let layout = self.layout(ty());
                let len = self.times(count, layout.size.bytes());
                let align = layout.align.abi.bytes().trailing_zeros() as u8;
                self.emit.op(Op::Fill { align, dst, value, len });
            }
            "volatile_load" | "unaligned_volatile_load" | "read_via_copy" => {
                let place = self.pointee_place(args[0], ty(), name != "unaligned_volatile_load");
                let value = self.load(Spot::Memory(place));
                self.store(value, spot);
            }
            "volatile_store" | "unaligned_volatile_store" | "nontemporal_store" | "write_via_move" => {
                let place = self.pointee_place(args[0], ty(), name != "unaligned_volatile_store");
                let (value, _) = self.operand(args[1]);
                self.store_memory(value, place);
            }
            "compare_bytes" => {
                let [a, b, len] = [0, 1, 2].map(|i| self.operand_register(args[i]));
                let dst = self.emit.register();
                self.emit.op(Op::Compare { dst, a, b, len });
                self.store_scalar(dst, spot);
            }
            "raw_eq" => self.raw_eq(ty(), args, spot),
            _ => return false,
        }
        true
    }

    fn pointee_place(&mut self, pointer: &mir::Operand<'tcx>, ty: Ty<'tcx>, aligned: bool) -> MemPlace<'tcx> {
        let ptr = self.operand_register(pointer);
        let layout = self.layout(ty);
        let align = if aligned { layout.align.abi } else { Align::ONE };
        MemPlace { addr: Addr::register(ptr), meta: None, layout, align }
    }

    fn offset_from(&mut self, ty: Ty<'tcx>, args: Args<'_, 'tcx>, spot: Spot<'tcx>) {
        let (a, b) = (self.operand_register(args[0]), self.operand_register(args[1]));
        let size = self.layout(ty).size.bytes();
        let dst = self.emit.register();
        let int = IntTy { width: Width::W64, signed: true };
        self.emit.op(Op::Bin { op: BinOp::Sub, ty: int, dst, a, b });
        if size > 1 {
            let size = self.atom_register(Atom::Imm(size.into()));
            self.emit.op(Op::Bin { op: BinOp::Div, ty: int, dst, a: dst, b: size });
        }
        self.store_scalar(dst, spot);
    }

    fn raw_eq(&mut self, ty: Ty<'tcx>, args: Args<'_, 'tcx>, spot: Spot<'tcx>) {
        let (a, b) = (self.operand_register(args[0]), self.operand_register(args[1]));
        let len = self.atom_register(Atom::Imm(self.layout(ty).size.bytes().into()));
        let dst = self.emit.register();
        self.emit.op(Op::Compare { dst, a, b, len });
        self.emit.op(Op::BinImm { op: BinOp::Eq, ty: IntTy { width: Width::W32, signed: false }, dst, a: dst, imm: 0 });
        self.store_scalar(dst, spot);
    }

    fn integer_intrinsic(&mut self, name: &str, args: Args<'_, 'tcx>, spot: Spot<'tcx>) -> bool {
        let unary = |op| Some((op, true));
        let op = match name {
            "ctpop" => unary(UnOp::CountOnes),
            "ctlz" | "ctlz_nonzero" => unary(UnOp::LeadingZeros),
            "cttz" | "cttz_nonzero" => unary(UnOp::TrailingZeros),
            "bswap" => Some((UnOp::SwapBytes, false)),
            "bitreverse" => Some((UnOp::ReverseBits, false)),
            _ => None,
        };
        if let Some((op, counts)) = op {
            let (prim, atom) = self.scalar_operand(args[0]);
            let src = self.prim_register(prim, atom);
            if name.ends_with("_nonzero") {
                self.require_nonzero(prim, src, name);
            }
            let dst = self.emit.registers(if counts { 1 } else { prim.registers() });
            match prim.int_ty() {
                Some(ty) => self.emit.op(Op::Un { op, ty, dst, src }),
                None => self.emit.op(Op::Un128 { op, dst, src }),
            }
            self.store_scalar(dst, spot);
            return true;
        }
        match name {
            "saturating_add" => self.saturating(OverflowOp::Add, args, spot),
            "saturating_sub" => self.saturating(OverflowOp::Sub, args, spot),
            "exact_div" => self.exact_div(args, spot),
            "unchecked_div" => self.plain_binary(mir::BinOp::Div, args, spot),
            "unchecked_rem" => self.plain_binary(mir::BinOp::Rem, args, spot),
            "three_way_compare" => self.plain_binary(mir::BinOp::Cmp, args, spot),
            "wrapping_add" => self.plain_binary(mir::BinOp::Add, args, spot),
            "wrapping_sub" => self.plain_binary(mir::BinOp::Sub, args, spot),
            "wrapping_mul" => self.plain_binary(mir::BinOp::Mul, args, spot),
            "add_with_overflow" => self.plain_binary(mir::BinOp::AddWithOverflow, args, spot),
            "sub_with_overflow" => self.plain_binary(mir::BinOp::SubWithOverflow, args, spot),
            "mul_with_overflow" => self.plain_binary(mir::BinOp::MulWithOverflow, args, spot),
            "discriminant_value" => {
                let pointee = self.pointee(self.mono(args[0].ty(self.body, self.tcx)));
                let place = self.pointee_place(args[0], pointee, true);
                let ty = self.discriminant_ty(place.layout);
                let value = self.discriminant(Spot::Memory(place), ty);
                self.store(value, spot);
            }
            _ => return false,
        }
        true
    }

    fn plain_binary(&mut self, op: mir::BinOp, args: Args<'_, 'tcx>, spot: Spot<'tcx>) {
        let value = self.binary(op, args[0], args[1], None, spot.layout());
        self.store(value, spot);
    }

    /// Addition and subtraction that stop at the ends of the type.
    fn saturating(&mut self, op: OverflowOp, args: Args<'_, 'tcx>, spot: Spot<'tcx>) {
        let (prim, a) = self.scalar_operand(args[0]);
        let (_, b) = self.scalar_operand(args[1]);
        let result = self.saturate(op, prim, a, b);
        self.store(Value::One(prim, Atom::Register(result)), spot);
    }

    pub(super) fn saturate(&mut self, op: OverflowOp, prim: Prim, a: Atom, b: Atom) -> Reg {
        let (a, b) = (self.prim_register(prim, a), self.prim_register(prim, b));
        let dst = self.emit.registers(prim.registers());
        let flag = self.emit.register();
        let bits = 8 * u32::from(prim.size);
        let all = u128::MAX >> (128 - bits);
        let limit = if !prim.signed() {
            self.prim_register(prim, Atom::Imm(if op == OverflowOp::Add { all } else { 0 }))
        } else {
            // The sign of `a` tells at which end: MAX for positive, MIN for negative.
            let max = self.prim_register(prim, Atom::Imm(all >> 1));
            let min = self.prim_register(prim, Atom::Imm((all >> 1) + 1));
            let zero = self.prim_register(prim, Atom::Imm(0));
            let negative = self.emit.register();
            let limit = self.emit.registers(prim.registers());
            match prim.int_ty() {
                Some(ty) => {
                    self.emit.op(Op::Bin { op: BinOp::Lt, ty, dst: negative, a, b: zero });
                    self.emit.op(Op::Select { dst: limit, cond: negative, a: min, b: max });
                }
                None => {
                    self.emit.op(Op::Bin128 { op: BinOp::Lt, signed: true, dst: negative, a, b: zero });
                    self.emit.op(Op::Select128 { dst: limit, cond: negative, a: min, b: max });
                }
            }
            limit
        };
        match prim.int_ty() {
            Some(ty) => {
                self.emit.op(Op::BinOverflow { op, ty, dst, flag, a, b });
                self.emit.op(Op::Select { dst, cond: flag, a: limit, b: dst });
            }
            None => {
                self.emit.op(Op::BinOverflow128 { op, signed: prim.signed(), dst, flag, a, b });
                self.emit.op(Op::Select128 { dst, cond: flag, a: limit, b: dst });
            }
        }
        dst
    }

    /// What is left of a float without its fraction must be a number of the type.
    pub(super) fn check_fits(&mut self, from: Prim, src: Reg, to: Prim) {
        let Some(ty) = from.float_ty() else { return };
        let bits = 8 * i32::from(to.size);
        let (least, end) = match to.signed() {
            true => (-power_of_two(bits - 1), power_of_two(bits - 1)),
            false => (0.0, power_of_two(bits)),
        };
        let [whole, fits, below] = [(); 3].map(|()| self.emit.register());
        self.emit.op(Op::FloatUn { op: FloatUnOp::Trunc, ty, dst: whole, src });
        let least = self.atom_register(Atom::Imm(float_bits(ty, least).into()));
        let end = self.atom_register(Atom::Imm(float_bits(ty, end).into()));
        self.emit.op(Op::FloatBin { op: FloatBinOp::Ge, ty, dst: fits, a: whole, b: least });
        self.emit.op(Op::FloatBin { op: FloatBinOp::Lt, ty, dst: below, a: whole, b: end });
        self.emit.op(Op::Bin { op: BinOp::And, ty: IntTy::U64, dst: fits, a: fits, b: below });
        self.require(fits, "unchecked conversion of a float that is out of range for the integer type");
    }

    /// A register must not be zero.
    pub(super) fn require(&mut self, cond: Reg, otherwise: &str) {
        let fine = self.emit.label();
        self.emit.jump_if(cond, fine);
        self.unreachable(otherwise);
        self.emit.bind(fine);
    }

    /// The operand of an intrinsic that must not be zero.
    fn require_nonzero(&mut self, prim: Prim, src: Reg, name: &str) {
        let mut any = src;
        if prim.size == 16 {
            any = self.emit.register();
            self.emit.op(Op::Bin { op: BinOp::Or, ty: IntTy::U64, dst: any, a: src, b: Reg(src.0 + 1) });
        }
        self.require(any, &format!("`{name}` of zero"));
    }

    /// A division must leave nothing.
    fn exact_div(&mut self, args: Args<'_, 'tcx>, spot: Spot<'tcx>) {
        let rest = self.binary(mir::BinOp::Rem, args[0], args[1], None, spot.layout());
        if let Value::One(prim, atom) = rest {
            let mut rest = self.prim_register(prim, atom);
            if prim.size == 16 {
                let low = rest;
                rest = self.emit.register();
                self.emit.op(Op::Bin { op: BinOp::Or, ty: IntTy::U64, dst: rest, a: low, b: Reg(low.0 + 1) });
            }
            let exact = self.emit.register();
            self.emit.op(Op::BinImm { op: BinOp::Eq, ty: IntTy::U64, dst: exact, a: rest, imm: 0 });
            self.require(exact, "exact division with a remainder");
        }
        self.plain_binary(mir::BinOp::Div, args, spot);
    }

    fn float_intrinsic(&mut self, name: &str, args: Args<'_, 'tcx>, spot: Spot<'tcx>) -> bool {
        if name == "float_to_int_unchecked" {
            let (from, atom) = self.scalar_operand(args[0]);
            let Repr::One(to) = self.repr(spot.layout()) else { return false };
            let src = self.prim_register(from, atom);
            self.check_fits(from, src, to);
            let dst = self.emit.registers(to.registers());
            self.float_cast(from, src, to, dst);
            self.store(Value::One(to, Atom::Register(dst)), spot);
            return true;
        }
        let Some(operation) = FloatOperation::of_intrinsic(name) else { return false };
        let Some(first) = args.first() else { return false };
        let Repr::One(prim) = self.repr(self.layout(self.mono(first.ty(self.body, self.tcx)))) else { return false };
        let regs: Vec<Reg> = args.iter().map(|arg| self.operand_register(arg)).collect();
        let dst = self.emit.registers(prim.registers());
        let operation_promises = name.ends_with("_fast");
        if operation_promises {
            regs.iter().for_each(|reg| self.require_finite(prim, *reg));
        }
        match prim.format().and_then(|format| operation.instruction(format, &regs, dst)) {
            Some(op) => self.emit.op(op),
            None => self.unsupported(format!("the operation `{name}` on floats of this format")),
        }
        if operation_promises {
            self.require_finite(prim, dst);
        }
        self.store_scalar(dst, spot);
        true
    }

    /// A float must be a number: only then is its distance to itself zero.
    fn require_finite(&mut self, prim: Prim, src: Reg) {
        let Some(ty) = prim.float_ty() else { return };
        let [distance, finite] = [(); 2].map(|()| self.emit.register());
        self.emit.op(Op::FloatBin { op: FloatBinOp::Sub, ty, dst: distance, a: src, b: src });
        self.emit.op(Op::FloatBin { op: FloatBinOp::Eq, ty, dst: finite, a: distance, b: distance });
        self.require(finite, "an operation on finite floats has an operand or a result that is not");
    }

    /// Intrinsics of LLVM, which the architecture-specific part of the standard library uses.
    pub(super) fn llvm_intrinsic(
        &mut self,
        def_id: rustc_hir::def_id::DefId,
        args: Args<'_, 'tcx>,
        destination: mir::Place<'tcx>,
    ) {
        let name = self.tcx.codegen_fn_attrs(def_id).symbol_name;
        let name = name.map_or_else(|| self.tcx.item_name(def_id).to_string(), |name| name.to_string());
        let spot = self.spot(destination);
        match name.as_str() {
            "llvm.x86.sse2.pause" => self.builtin(Builtin::SpinLoop, &[]),
            "llvm.x86.sse2.pmovmskb.128" | "llvm.x86.sse.movmsk.ps" | "llvm.x86.sse2.movmsk.pd" => {
                self.simd_sign_mask(args[0], spot);
            }
            _ => self.unsupported(format!("the processor instruction behind `{name}`")),
        }
    }

    /// The sizes of vector types.
    pub(super) fn vector(&self, layout: TyAndLayout<'tcx>) -> Option<(u64, TyAndLayout<'tcx>)> {
        match layout.ty.kind() {
            ty::Adt(def, _) if def.repr().simd() => {
                let (count, element) = layout.ty.simd_size_and_type(self.tcx);
                Some((count, self.layout(element)))
            }
            _ => None,
        }
    }
}

fn power_of_two(exponent: i32) -> f64 {
    2f64.powi(exponent)
}

/// A float as a number of another format: a power of two, or zero, or what is too large.
fn float_bits(ty: FloatTy, value: f64) -> u64 {
    match ty {
        FloatTy::F64 => value.to_bits(),
        FloatTy::F32 => u64::from((value as f32).to_bits()),
        FloatTy::F16 => {
            let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
            let exponent = value.abs().log2();
            match value {
                0.0 => sign,
                _ if exponent > 15.0 => sign | 0x7c00,
                _ => sign | ((exponent as u64 + 15) << 10),
            }
        }
    }
}
