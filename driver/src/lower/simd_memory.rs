//! Vectors and memory: accesses that a mask selects, and vectors of pointers.
//!
//! A lane that is not selected accesses a temporary of the frame instead.

use dpor_engine::program::{BinOp, IntTy, Op, Reg};
use rustc_abi::{Align, Size};
use rustc_middle::mir;
use rustc_middle::ty::{Instance, SimdAlign};

use super::Lowering;
use super::operand::{Atom, Value};
use super::place::{Addr, Spot};
use super::simd::Vector;
use crate::repr::Repr;

impl<'tcx> Lowering<'_, 'tcx> {
    /// `None` where it is not an operation of these, or not on these types.
    pub(super) fn simd_memory(
        &mut self,
        name: &str,
        instance: Instance<'tcx>,
        args: &[&mir::Operand<'tcx>],
        spot: Spot<'tcx>,
    ) -> Option<()> {
        match name {
            "simd_gather" => self.gather(args, spot),
            "simd_scatter" => self.scatter(args),
            "simd_masked_load" => self.masked_load(instance, args, spot),
            "simd_masked_store" => self.masked_store(instance, args),
            "simd_arith_offset" => self.offset_lanes(args, spot),
            // Pointers are addresses.
            "simd_cast_ptr" | "simd_expose_provenance" | "simd_with_exposed_provenance" => {
                let vector = self.vector_operand(args[0])?;
                self.finish_vector(vector, spot)
            }
            _ => None,
        }
    }

    fn gather(&mut self, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        let (values, pointers, mask) = self.three_vectors(args)?;
        let result = self.result_vector(spot)?;
        for lane in 0..result.lanes {
            let mark = self.emit.mark();
            let pointer = self.load_lane(pointers, lane);
            let value = self.selected_load(values, mask, lane, pointer, values.element.align.abi);
            self.store_lane(result, lane, value);
            self.emit.release(mark);
        }
        self.finish_vector(result, spot)
    }

    fn scatter(&mut self, args: &[&mir::Operand<'tcx>]) -> Option<()> {
        let (values, pointers, mask) = self.three_vectors(args)?;
        let spare = self.temporary_bytes(values.element.size.bytes(), values.element.align.abi.bytes());
        for lane in 0..values.lanes {
            let mark = self.emit.mark();
            let pointer = self.load_lane(pointers, lane);
            self.selected_store(values, mask, lane, pointer, values.element.align.abi, spare);
            self.emit.release(mark);
        }
        Some(())
    }

    fn masked_load(&mut self, instance: Instance<'tcx>, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        let mask = self.vector_operand(args[0])?;
        let pointer = self.operand_register(args[1]);
        let values = self.vector_operand(args[2])?;
        let align = vector_alignment(instance, values);
        self.require_aligned(pointer, align);
        let result = self.result_vector(spot)?;
        for lane in 0..result.lanes {
            let mark = self.emit.mark();
            let offset = lane * values.element.size.bytes();
            let address = self.emit.register();
            self.emit.add_imm(address, pointer, offset as i64);
            let align = align.restrict_for_offset(Size::from_bytes(offset));
            let value = self.selected_load(values, mask, lane, address, align);
            self.store_lane(result, lane, value);
            self.emit.release(mark);
        }
        self.finish_vector(result, spot)
    }

    fn masked_store(&mut self, instance: Instance<'tcx>, args: &[&mir::Operand<'tcx>]) -> Option<()> {
        let mask = self.vector_operand(args[0])?;
        let pointer = self.operand_register(args[1]);
        let values = self.vector_operand(args[2])?;
        let align = vector_alignment(instance, values);
        self.require_aligned(pointer, align);
        let spare = self.temporary_bytes(values.element.size.bytes(), align.bytes());
        for lane in 0..values.lanes {
            let mark = self.emit.mark();
            let offset = lane * values.element.size.bytes();
            let address = self.emit.register();
            self.emit.add_imm(address, pointer, offset as i64);
            let align = align.restrict_for_offset(Size::from_bytes(offset));
            self.selected_store(values, mask, lane, address, align, spare);
            self.emit.release(mark);
        }
        Some(())
    }

    fn three_vectors(&mut self, args: &[&mir::Operand<'tcx>]) -> Option<(Vector<'tcx>, Vector<'tcx>, Vector<'tcx>)> {
        Some((self.vector_operand(args[0])?, self.vector_operand(args[1])?, self.vector_operand(args[2])?))
    }

    /// What is at the address where the mask is set, or else the lane itself.
    fn selected_load(
        &mut self,
        values: Vector<'tcx>,
        mask: Vector<'tcx>,
        lane: u64,
        pointer: Reg,
        align: Align,
    ) -> Reg {
        let own = self.load_lane(values, lane);
        let spare = self.temporary_bytes(values.element.size.bytes(), align.bytes());
        self.store_prim(values.prim, spare, align, own);
        let address = self.selected_address(mask, lane, pointer, spare);
        let value = self.emit.register();
        self.load_prim(values.prim, Addr::register(address), align, value);
        value
    }

    fn selected_store(
        &mut self,
        values: Vector<'tcx>,
        mask: Vector<'tcx>,
        lane: u64,
        pointer: Reg,
        align: Align,
        spare: Addr,
    ) {
        let value = self.load_lane(values, lane);
        let address = self.selected_address(mask, lane, pointer, spare);
        self.store_prim(values.prim, Addr::register(address), align, value);
    }

    fn selected_address(&mut self, mask: Vector<'tcx>, lane: u64, pointer: Reg, spare: Addr) -> Reg {
        let cond = self.load_lane(mask, lane);
        let spare = self.addr_register(spare);
        let dst = self.emit.register();
        self.emit.op(Op::Select { dst, cond, a: pointer, b: spare });
        dst
    }

    fn offset_lanes(&mut self, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        let (pointers, offsets) = (self.vector_operand(args[0])?, self.vector_operand(args[1])?);
        let pointee = pointers.element.ty.builtin_deref(true)?;
        let size = self.layout(pointee).size.bytes();
        let result = self.result_vector(spot)?;
        for lane in 0..result.lanes {
            let mark = self.emit.mark();
            let (pointer, offset) = (self.load_lane(pointers, lane), self.load_lane(offsets, lane));
            let dst = self.emit.register();
            self.index(dst, pointer, offset, size);
            self.store_lane(result, lane, dst);
            self.emit.release(mark);
        }
        self.finish_vector(result, spot)
    }

    /// Lanes of the first vector where the bit is set, of the second where it is not.
    pub(super) fn select_by_bits(&mut self, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) -> Option<()> {
        let (value, layout) = self.operand(args[0]);
        let (yes, no) = (self.vector_operand(args[1])?, self.vector_operand(args[2])?);
        let bits = match (self.repr(layout), value) {
            (Repr::One(prim), Value::One(_, atom)) => self.prim_register(prim, atom),
            _ => {
                // An array of bytes.
                let place = self.in_memory(value, layout);
                let padded = self.temporary_bytes(8, 8);
                let zero = self.atom_register(Atom::Imm(0));
                self.store_prim(crate::repr::Prim::USIZE, padded, Align::from_bytes(8).ok()?, zero);
                self.copy_memory(padded, place.addr, layout.size.bytes().min(8), Align::ONE);
                let bits = self.emit.register();
                self.load_prim(crate::repr::Prim::USIZE, padded, Align::from_bytes(8).ok()?, bits);
                bits
            }
        };
        let result = self.result_vector(spot)?;
        if result.lanes > 64 {
            return None;
        }
        self.require_no_more_bits(bits, result.lanes);
        for lane in 0..result.lanes {
            let mark = self.emit.mark();
            let cond = self.emit.register();
            let ty = IntTy::U64;
            self.emit.op(Op::BinImm { op: BinOp::Shr, ty, dst: cond, a: bits, imm: lane as i32 });
            self.emit.op(Op::BinImm { op: BinOp::And, ty, dst: cond, a: cond, imm: 1 });
            let (a, b) = (self.load_lane(yes, lane), self.load_lane(no, lane));
            self.emit.op(Op::Select { dst: a, cond, a, b });
            self.store_lane(result, lane, a);
            self.emit.release(mark);
        }
        self.finish_vector(result, spot)
    }

    /// A mask has no bits beyond those of the lanes.
    fn require_no_more_bits(&mut self, bits: Reg, lanes: u64) {
        if lanes >= 64 {
            return;
        }
        let (rest, ty) = (self.emit.register(), IntTy::U64);
        self.emit.op(Op::BinImm { op: BinOp::Shr, ty, dst: rest, a: bits, imm: lanes as i32 });
        self.emit.op(Op::BinImm { op: BinOp::Eq, ty, dst: rest, a: rest, imm: 0 });
        self.require(rest, "a mask has bits beyond those of the lanes");
    }
}

/// The alignment that the last parameter of an access asks for.
fn vector_alignment<'tcx>(instance: Instance<'tcx>, vector: Vector<'tcx>) -> Align {
    let alignment = instance.args[3].expect_const().to_branch()[0].to_leaf().to_simd_alignment();
    match alignment {
        SimdAlign::Unaligned => Align::ONE,
        SimdAlign::Element => vector.element.align.abi,
        SimdAlign::Vector => vector.place.layout.align.abi,
    }
}
