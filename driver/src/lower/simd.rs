//! Vectors: each operation is done lane by lane.

use dpor_engine::program::{BinOp, FloatBinOp, FloatUnOp, IntTy, Op, OverflowOp, Reg, UnOp, Width};
use rustc_abi::Align;
use rustc_middle::mir;
use rustc_middle::ty::Instance;
use rustc_middle::ty::layout::TyAndLayout;

use super::Lowering;
use super::arith::{bin_op, float_op};
use super::operand::{Atom, Value};
use super::place::{MemPlace, Spot};
use crate::float::FloatOperation;
use crate::repr::{Prim, Repr};

/// A vector in memory.
#[derive(Clone, Copy)]
pub(super) struct Vector<'tcx> {
    pub(super) place: MemPlace<'tcx>,
    pub(super) lanes: u64,
    pub(super) element: TyAndLayout<'tcx>,
    pub(super) prim: Prim,
}

impl<'tcx> Lowering<'_, 'tcx> {
    pub(super) fn simd_intrinsic(
        &mut self,
        name: &str,
        instance: Instance<'tcx>,
        args: &[&mir::Operand<'tcx>],
        spot: Spot<'tcx>,
    ) {
        let done = match float_lanes(name) {
            Some(operation) => self.float_lanes(operation, args, spot),
            None => self.try_simd(name, args, spot).or_else(|| self.simd_memory(name, instance, args, spot)),
        };
        if done.is_none() {
            self.unsupported(format!("vector operation `{name}`"));
        }
    }

    fn try_simd(&mut self, name: &str, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        match name {
            "simd_add" => self.lanewise(mir::BinOp::Add, args, spot),
            "simd_sub" => self.lanewise(mir::BinOp::Sub, args, spot),
            "simd_mul" => self.lanewise(mir::BinOp::Mul, args, spot),
            "simd_div" => self.lanewise(mir::BinOp::Div, args, spot),
            "simd_rem" => self.lanewise(mir::BinOp::Rem, args, spot),
            "simd_and" => self.lanewise(mir::BinOp::BitAnd, args, spot),
            "simd_or" => self.lanewise(mir::BinOp::BitOr, args, spot),
            "simd_xor" => self.lanewise(mir::BinOp::BitXor, args, spot),
            "simd_shl" => self.shift_lanes(mir::BinOp::Shl, args, spot),
            "simd_shr" => self.shift_lanes(mir::BinOp::Shr, args, spot),
            "simd_eq" => self.lane_comparison(mir::BinOp::Eq, args, spot),
            "simd_ne" => self.lane_comparison(mir::BinOp::Ne, args, spot),
            "simd_lt" => self.lane_comparison(mir::BinOp::Lt, args, spot),
            "simd_le" => self.lane_comparison(mir::BinOp::Le, args, spot),
            "simd_gt" => self.lane_comparison(mir::BinOp::Gt, args, spot),
            "simd_ge" => self.lane_comparison(mir::BinOp::Ge, args, spot),
            "simd_saturating_add" => self.saturating_lanes(OverflowOp::Add, args, spot),
            "simd_saturating_sub" => self.saturating_lanes(OverflowOp::Sub, args, spot),
            "simd_splat" => self.splat(args, spot),
            "simd_insert" | "simd_insert_dyn" => self.insert_lane(args, spot),
            "simd_extract" | "simd_extract_dyn" => self.extract_lane(args, spot),
            "simd_shuffle" => self.shuffle(args, spot),
            "simd_cast" => self.cast_lanes(args, spot, true),
            "simd_as" => self.cast_lanes(args, spot, false),
            "simd_bitmask" => {
                let mask = self.vector_operand(args[0])?;
                (0..mask.lanes).try_for_each(|lane| self.require_mask(mask, lane))?;
                self.simd_sign_mask(args[0], spot);
                Some(())
            }
            "simd_select" => self.select_lanes(args, spot),
            "simd_select_bitmask" => self.select_by_bits(args, spot),
            "simd_neg" => self.negate_lanes(args, spot),
            "simd_bitreverse" => self.unary_lanes(UnOp::ReverseBits, args, spot),
            "simd_funnel_shl" => self.funnel(BinOp::Shl, BinOp::Shr, args, spot),
            "simd_funnel_shr" => self.funnel(BinOp::Shr, BinOp::Shl, args, spot),
            "simd_bswap" => self.unary_lanes(UnOp::SwapBytes, args, spot),
            "simd_ctpop" => self.unary_lanes(UnOp::CountOnes, args, spot),
            "simd_ctlz" => self.unary_lanes(UnOp::LeadingZeros, args, spot),
            "simd_cttz" => self.unary_lanes(UnOp::TrailingZeros, args, spot),
            "simd_reduce_add_unordered" | "simd_reduce_add_ordered" => self.reduce(mir::BinOp::Add, args, spot),
            "simd_reduce_mul_unordered" | "simd_reduce_mul_ordered" => self.reduce(mir::BinOp::Mul, args, spot),
            "simd_reduce_and" => self.reduce(mir::BinOp::BitAnd, args, spot),
            "simd_reduce_or" => self.reduce(mir::BinOp::BitOr, args, spot),
            "simd_reduce_xor" => self.reduce(mir::BinOp::BitXor, args, spot),
            "simd_reduce_any" => self.reduce_bool(BinOp::Or, args, spot),
            "simd_reduce_all" => self.reduce_bool(BinOp::And, args, spot),
            "simd_reduce_max" => self.reduce_extreme(BinOp::Gt, args, spot),
            "simd_reduce_min" => self.reduce_extreme(BinOp::Lt, args, spot),
            _ => None,
        }
    }

    pub(super) fn vector_operand(&mut self, operand: &mir::Operand<'tcx>) -> Option<Vector<'tcx>> {
        let (value, layout) = self.operand(operand);
        let place = self.in_memory(value, layout);
        self.as_vector(place)
    }

    fn as_vector(&self, place: MemPlace<'tcx>) -> Option<Vector<'tcx>> {
        let (lanes, element) = self.vector(place.layout)?;
        match self.repr(element) {
            Repr::One(prim) if prim.size <= 8 => Some(Vector { place, lanes, element, prim }),
            _ => None,
        }
    }

    /// The vector that the result is, computed in a temporary: operands may be the destination.
    pub(super) fn result_vector(&mut self, spot: Spot<'tcx>) -> Option<Vector<'tcx>> {
        let temporary = self.temporary(spot.layout());
        self.as_vector(temporary)
    }

    pub(super) fn finish_vector(&mut self, vector: Vector<'tcx>, spot: Spot<'tcx>) -> Option<()> {
        self.store(Value::Memory(vector.place), spot);
        Some(())
    }

    fn lane_place(&self, vector: Vector<'tcx>, lane: u64) -> MemPlace<'tcx> {
        let size = vector.element.size.bytes();
        MemPlace {
            addr: vector.place.addr.plus(lane * size),
            meta: None,
            layout: vector.element,
            align: vector.element.align.abi,
        }
    }

    pub(super) fn load_lane(&mut self, vector: Vector<'tcx>, lane: u64) -> Reg {
        let place = self.lane_place(vector, lane);
        let dst = self.emit.register();
        self.load_prim(vector.prim, place.addr, place.align, dst);
        dst
    }

    pub(super) fn store_lane(&mut self, vector: Vector<'tcx>, lane: u64, src: Reg) {
        let place = self.lane_place(vector, lane);
        self.store_prim(vector.prim, place.addr, place.align, src);
    }

    fn binary_lane(&mut self, op: mir::BinOp, prim: Prim, a: Reg, b: Reg, dst: Reg) -> Option<()> {
        match prim.float_ty() {
            Some(ty) => {
                let op = float_op(op)?;
                self.emit.op(Op::FloatBin { op, ty, dst, a, b });
            }
            None => self.bin_into(bin_op(op)?, prim, Atom::Register(a), Atom::Register(b), dst),
        }
        Some(())
    }

    fn each_lane(
        &mut self,
        args: &[&mir::Operand<'tcx>],
        spot: Spot<'tcx>,
        mut lane_op: impl FnMut(&mut Self, Prim, Reg, Reg, Reg) -> Option<()>,
    ) -> Option<()> {
        let (a, b) = (self.vector_operand(args[0])?, self.vector_operand(args[1])?);
        let result = self.result_vector(spot)?;
        for lane in 0..result.lanes {
            let mark = self.emit.mark();
            let (x, y) = (self.load_lane(a, lane), self.load_lane(b, lane));
            let dst = self.emit.register();
            lane_op(self, a.prim, x, y, dst)?;
            self.store_lane(result, lane, dst);
            self.emit.release(mark);
        }
        self.finish_vector(result, spot)
    }

    fn lanewise(&mut self, op: mir::BinOp, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        self.each_lane(args, spot, |this, prim, a, b, dst| this.binary_lane(op, prim, a, b, dst))
    }

    /// By less than a lane has bits.
    fn shift_lanes(&mut self, op: mir::BinOp, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        self.each_lane(args, spot, |this, prim, a, b, dst| {
            this.require_shift(prim, b);
            this.binary_lane(op, prim, a, b, dst)
        })
    }

    fn require_shift(&mut self, prim: Prim, amount: Reg) {
        let Some(ty) = prim.int_ty() else { return };
        let fits = self.emit.register();
        let (ty, imm) = (IntTy { signed: false, ..ty }, 8 * i32::from(prim.size));
        self.emit.op(Op::BinImm { op: BinOp::Lt, ty, dst: fits, a: amount, imm });
        self.require(fits, "a lane of a vector is shifted by as many bits as it has, or more");
    }

    /// A lane of a mask is all ones or zero.
    pub(super) fn require_mask(&mut self, mask: Vector<'tcx>, lane: u64) -> Option<()> {
        let ty = IntTy { signed: false, ..mask.prim.int_ty()? };
        let mark = self.emit.mark();
        let next = self.load_lane(mask, lane);
        self.emit.op(Op::BinImm { op: BinOp::Add, ty, dst: next, a: next, imm: 1 });
        self.emit.op(Op::BinImm { op: BinOp::Lt, ty, dst: next, a: next, imm: 2 });
        self.require(next, "a lane of a mask is neither zero nor all ones");
        self.emit.release(mark);
        Some(())
    }

    /// All ones for true, zero for false.
    fn lane_comparison(&mut self, op: mir::BinOp, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        self.each_lane(args, spot, |this, prim, a, b, dst| {
            this.binary_lane(op, prim, a, b, dst)?;
            this.emit.op(Op::Un { op: UnOp::Neg, ty: IntTy::U64, dst, src: dst });
            Some(())
        })
    }

    fn saturating_lanes(&mut self, op: OverflowOp, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        self.each_lane(args, spot, |this, prim, a, b, dst| {
            let result = this.saturate(op, prim, Atom::Register(a), Atom::Register(b));
            this.emit.mov(dst, result);
            Some(())
        })
    }

    fn unary_lanes(&mut self, op: UnOp, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        let a = self.vector_operand(args[0])?;
        let result = self.result_vector(spot)?;
        let ty = a.prim.int_ty().filter(|_| !a.prim.is_float())?;
        for lane in 0..result.lanes {
            let mark = self.emit.mark();
            let src = self.load_lane(a, lane);
            let dst = self.emit.register();
            self.emit.op(Op::Un { op, ty, dst, src });
            self.store_lane(result, lane, dst);
            self.emit.release(mark);
        }
        self.finish_vector(result, spot)
    }

    fn splat(&mut self, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        let src = self.operand_register(args[0]);
        let result = self.result_vector(spot)?;
        for lane in 0..result.lanes {
            self.store_lane(result, lane, src);
        }
        self.finish_vector(result, spot)
    }

    fn insert_lane(&mut self, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        let vector = self.vector_operand(args[0])?;
        let index = self.operand_register(args[1]);
        let value = self.operand_register(args[2]);
        let result = self.result_vector(spot)?;
        self.store_memory(Value::Memory(vector.place), result.place);
        let base = self.addr_register(result.place.addr);
        let addr = self.emit.register();
        self.index(addr, base, index, vector.element.size.bytes());
        let place = super::place::Addr::register(addr);
        self.store_prim(vector.prim, place, vector.element.align.abi, value);
        self.finish_vector(result, spot)
    }

    fn extract_lane(&mut self, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        let vector = self.vector_operand(args[0])?;
        let index = self.operand_register(args[1]);
        let base = self.addr_register(vector.place.addr);
        let addr = self.emit.register();
        self.index(addr, base, index, vector.element.size.bytes());
        let dst = self.emit.register();
        self.load_prim(vector.prim, super::place::Addr::register(addr), vector.element.align.abi, dst);
        self.store(Value::One(vector.prim, Atom::Register(dst)), spot);
        Some(())
    }

    /// Lanes of two vectors in an order that a constant gives.
    fn shuffle(&mut self, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        let (a, b) = (self.vector_operand(args[0])?, self.vector_operand(args[1])?);
        let order = self.vector_operand(args[2]);
        let order = match order {
            Some(order) => order,
            None => {
                let (value, layout) = self.operand(args[2]);
                let place = self.in_memory(value, layout);
                let element = layout.field(&self.builder.layouts, 0);
                let Repr::One(prim) = self.repr(element) else { return None };
                Vector { place, lanes: super::rvalue::array_len(layout), element, prim }
            }
        };
        let result = self.result_vector(spot)?;
        // Both operands one after the other in memory: an index selects from either.
        let size = a.element.size.bytes();
        let both = self.temporary_bytes(2 * a.lanes * size, size);
        self.copy_memory(both, a.place.addr, a.lanes * size, a.element.align.abi);
        self.copy_memory(both.plus(a.lanes * size), b.place.addr, a.lanes * size, a.element.align.abi);
        let base = self.addr_register(both);
        for lane in 0..result.lanes {
            let mark = self.emit.mark();
            let index = self.load_lane(order, lane);
            let addr = self.emit.register();
            self.index(addr, base, index, size);
            let value = self.emit.register();
            self.load_prim(a.prim, super::place::Addr::register(addr), a.element.align.abi, value);
            self.store_lane(result, lane, value);
            self.emit.release(mark);
        }
        self.finish_vector(result, spot)
    }

    /// Where floats become integers, `exact` ones must fit.
    fn cast_lanes(&mut self, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>, exact: bool) -> Option<()> {
        let a = self.vector_operand(args[0])?;
        let result = self.result_vector(spot)?;
        for lane in 0..result.lanes {
            let mark = self.emit.mark();
            let src = self.load_lane(a, lane);
            if exact && a.prim.is_float() && !result.prim.is_float() {
                self.check_fits(a.prim, src, result.prim);
            }
            let value = if a.prim.is_float() || result.prim.is_float() {
                let dst = self.emit.register();
                self.float_cast(a.prim, src, result.prim, dst);
                dst
            } else {
                self.convert_int(a.prim, src, result.prim)
            };
            self.store_lane(result, lane, value);
            self.emit.release(mark);
        }
        self.finish_vector(result, spot)
    }

    /// Bit `i` of the result is the highest bit of lane `i`.
    pub(super) fn simd_sign_mask(&mut self, operand: &mir::Operand<'tcx>, spot: Spot<'tcx>) {
        let Some(vector) = self.vector_operand(operand).filter(|vector| vector.lanes <= 64) else {
            return self.unsupported("a bit mask of this vector type");
        };
        let mask = self.emit.register();
        self.emit.imm(mask, 0);
        for lane in 0..vector.lanes {
            let mark = self.emit.mark();
            let value = self.load_lane(vector, lane);
            let top = 8 * i32::from(vector.prim.size) - 1;
            let ty = IntTy::U64;
            self.emit.op(Op::BinImm { op: BinOp::Shr, ty, dst: value, a: value, imm: top });
            self.emit.op(Op::BinImm { op: BinOp::Shl, ty, dst: value, a: value, imm: lane as i32 });
            self.emit.op(Op::Bin { op: BinOp::Or, ty, dst: mask, a: mask, b: value });
            self.emit.release(mark);
        }
        self.store_mask(mask, spot);
    }

    fn store_mask(&mut self, mask: Reg, spot: Spot<'tcx>) {
        match self.repr(spot.layout()) {
            Repr::One(prim) => self.store(Value::One(prim, Atom::Register(mask)), spot),
            _ => {
                // An array of as many bytes as it takes.
                let addr = self.temporary_bytes(8, 8);
                self.store_prim(Prim::USIZE, addr, Align::EIGHT, mask);
                let bytes = MemPlace { addr, meta: None, layout: spot.layout(), align: Align::ONE };
                self.store(Value::Memory(bytes), spot);
            }
        }
    }

    fn select_lanes(&mut self, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        let mask = self.vector_operand(args[0])?;
        let (yes, no) = (self.vector_operand(args[1])?, self.vector_operand(args[2])?);
        let result = self.result_vector(spot)?;
        for lane in 0..result.lanes {
            let mark = self.emit.mark();
            self.require_mask(mask, lane)?;
            let cond = self.load_lane(mask, lane);
            let (a, b) = (self.load_lane(yes, lane), self.load_lane(no, lane));
            self.emit.op(Op::Select { dst: a, cond, a, b });
            self.store_lane(result, lane, a);
            self.emit.release(mark);
        }
        self.finish_vector(result, spot)
    }

    /// From left to right, after the second argument where there is one.
    fn reduce(&mut self, op: mir::BinOp, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        let vector = self.vector_operand(args[0])?;
        let total = self.emit.register();
        let mut lanes = 0..vector.lanes;
        let first = match args.get(1) {
            Some(start) => self.operand_register(start),
            None => self.load_lane(vector, lanes.next()?),
        };
        self.emit.mov(total, first);
        for lane in lanes {
            let mark = self.emit.mark();
            let value = self.load_lane(vector, lane);
            self.binary_lane(op, vector.prim, total, value, total)?;
            self.emit.release(mark);
        }
        self.store(Value::One(vector.prim, Atom::Register(total)), spot);
        Some(())
    }

    /// Whether any or all lanes are true (all ones).
    fn reduce_bool(&mut self, op: BinOp, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        let vector = self.vector_operand(args[0])?;
        (0..vector.lanes).try_for_each(|lane| self.require_mask(vector, lane))?;
        let total = self.load_lane(vector, 0);
        for lane in 1..vector.lanes {
            let mark = self.emit.mark();
            let value = self.load_lane(vector, lane);
            self.emit.op(Op::Bin { op, ty: IntTy::U64, dst: total, a: total, b: value });
            self.emit.release(mark);
        }
        self.emit.op(Op::BinImm {
            op: BinOp::And,
            ty: IntTy { width: Width::W8, signed: false },
            dst: total,
            a: total,
            imm: 1,
        });
        self.store_scalar(total, spot);
        Some(())
    }

    fn reduce_extreme(&mut self, better: BinOp, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        let vector = self.vector_operand(args[0])?;
        let best = self.load_lane(vector, 0);
        for lane in 1..vector.lanes {
            let mark = self.emit.mark();
            let value = self.load_lane(vector, lane);
            match vector.prim.float_ty() {
                Some(ty) => {
                    let op = if better == BinOp::Gt { FloatBinOp::Max } else { FloatBinOp::Min };
                    self.emit.op(Op::FloatBin { op, ty, dst: best, a: value, b: best });
                }
                None => {
                    let ty = vector.prim.int_ty().filter(|_| !vector.prim.is_float())?;
                    let wins = self.emit.register();
                    self.emit.op(Op::Bin { op: better, ty, dst: wins, a: value, b: best });
                    self.emit.op(Op::Select { dst: best, cond: wins, a: value, b: best });
                }
            }
            self.emit.release(mark);
        }
        self.store(Value::One(vector.prim, Atom::Register(best)), spot);
        Some(())
    }

    /// An operation on floats, lane by lane.
    fn float_lanes(&mut self, operation: FloatOperation, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        let vectors: Vec<Vector<'tcx>> = args.iter().map(|arg| self.vector_operand(arg)).collect::<Option<_>>()?;
        let result = self.result_vector(spot)?;
        let format = result.prim.format()?;
        for lane in 0..result.lanes {
            let mark = self.emit.mark();
            let values: Vec<Reg> = vectors.iter().map(|vector| self.load_lane(*vector, lane)).collect();
            let dst = self.emit.register();
            self.emit.op(operation.instruction(format, &values, dst)?);
            self.store_lane(result, lane, dst);
            self.emit.release(mark);
        }
        self.finish_vector(result, spot)
    }

    fn negate_lanes(&mut self, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        let is_float = self.vector(spot.layout()).is_some_and(|(_, element)| element.ty.is_floating_point());
        if is_float {
            self.float_lanes(FloatOperation::Un(FloatUnOp::Neg), args, spot)
        } else {
            self.unary_lanes(UnOp::Neg, args, spot)
        }
    }

    /// Shifts two lanes, one after the other, and keeps the half where the shift goes from.
    fn funnel(&mut self, towards: BinOp, back: BinOp, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        let [a, b, amounts] =
            [self.vector_operand(args[0])?, self.vector_operand(args[1])?, self.vector_operand(args[2])?];
        let result = self.result_vector(spot)?;
        let ty = IntTy { signed: false, ..result.prim.int_ty()? };
        let bits = 8 * i32::from(result.prim.size);
        // To the left the first is shifted and filled from the second, to the right the other way round.
        let (kept, filling) = if towards == BinOp::Shl { (a, b) } else { (b, a) };
        for lane in 0..result.lanes {
            let mark = self.emit.mark();
            let (kept, filling) = (self.load_lane(kept, lane), self.load_lane(filling, lane));
            let amount = self.load_lane(amounts, lane);
            self.require_shift(result.prim, amount);
            let rest = self.emit.register();
            self.emit.op(Op::Bin { op: towards, ty, dst: kept, a: kept, b: amount });
            // By the width less the amount, in two steps: for an amount of zero that is more than a shift can do.
            self.emit.op(Op::BinImm { op: BinOp::Xor, ty, dst: rest, a: amount, imm: bits - 1 });
            self.emit.op(Op::BinImm { op: back, ty, dst: filling, a: filling, imm: 1 });
            self.emit.op(Op::Bin { op: back, ty, dst: filling, a: filling, b: rest });
            self.emit.op(Op::Bin { op: BinOp::Or, ty, dst: kept, a: kept, b: filling });
            self.store_lane(result, lane, kept);
            self.emit.release(mark);
        }
        self.finish_vector(result, spot)
    }
}

/// Operations on vectors of floats that have an instruction for each lane.
fn float_lanes(name: &str) -> Option<FloatOperation> {
    use FloatOperation::{Bin, MulAdd, Un};
    Some(match name {
        "simd_fabs" => Un(FloatUnOp::Abs),
        "simd_ceil" => Un(FloatUnOp::Ceil),
        "simd_floor" => Un(FloatUnOp::Floor),
        "simd_round" => Un(FloatUnOp::Round),
        "simd_round_ties_even" => Un(FloatUnOp::RoundTiesEven),
        "simd_trunc" => Un(FloatUnOp::Trunc),
        "simd_fsqrt" => Un(FloatUnOp::Sqrt),
        "simd_fsin" => Un(FloatUnOp::Sin),
        "simd_fcos" => Un(FloatUnOp::Cos),
        "simd_fexp" => Un(FloatUnOp::Exp),
        "simd_fexp2" => Un(FloatUnOp::Exp2),
        "simd_flog" => Un(FloatUnOp::Ln),
        "simd_flog2" => Un(FloatUnOp::Log2),
        "simd_flog10" => Un(FloatUnOp::Log10),
        "simd_minimum_number_nsz" => Bin(FloatBinOp::Min),
        "simd_maximum_number_nsz" => Bin(FloatBinOp::Max),
        "simd_fma" | "simd_relaxed_fma" => MulAdd,
        _ => return None,
    })
}
