//! Atomic intrinsics.

use dpor_engine::program::{AtomicWidth, Op, Ordering, Reg, RmwOp, Unwind};
use rustc_middle::mir;
use rustc_middle::ty::{AtomicOrdering, Instance};

use super::Lowering;
use super::operand::{Atom, Value};
use super::place::Spot;
use crate::foreign::emit_provided;
use crate::repr::{Prim, Repr};

impl<'tcx> Lowering<'_, 'tcx> {
    /// Lowers an atomic intrinsic; false where it is none.
    pub(super) fn atomic_intrinsic(
        &mut self,
        name: &str,
        instance: Instance<'tcx>,
        args: &[&mir::Operand<'tcx>],
        spot: Spot<'tcx>,
    ) -> bool {
        match name {
            "atomic_fence" => {
                let ordering = self.ordering(instance, 0);
                self.emit.op(Op::Fence { ordering });
            }
            "atomic_singlethreadfence" => self.compiler_fence(instance),
            "atomic_load" => self.atomic_load(instance, args, spot),
            "atomic_store" => self.atomic_store(instance, args),
            "atomic_cxchg" => self.atomic_cas(instance, args, spot, false),
            "atomic_cxchgweak" => self.atomic_cas(instance, args, spot, true),
            "atomic_xchg" => self.atomic_rmw(RmwOp::Xchg, instance, 1, args, spot),
            "atomic_xadd" => self.atomic_rmw(RmwOp::Add, instance, 2, args, spot),
            "atomic_xsub" => self.atomic_rmw(RmwOp::Sub, instance, 2, args, spot),
            "atomic_and" => self.atomic_rmw(RmwOp::And, instance, 2, args, spot),
            "atomic_nand" => self.atomic_rmw(RmwOp::Nand, instance, 2, args, spot),
            "atomic_or" => self.atomic_rmw(RmwOp::Or, instance, 2, args, spot),
            "atomic_xor" => self.atomic_rmw(RmwOp::Xor, instance, 2, args, spot),
            "atomic_max" => self.atomic_rmw(RmwOp::Max, instance, 1, args, spot),
            "atomic_min" => self.atomic_rmw(RmwOp::Min, instance, 1, args, spot),
            "atomic_umax" => self.atomic_rmw(RmwOp::UMax, instance, 1, args, spot),
            "atomic_umin" => self.atomic_rmw(RmwOp::UMin, instance, 1, args, spot),
            _ => return false,
        }
        true
    }

    /// A compiler fence orders nothing between threads, unless another one calls `membarrier`.
    fn compiler_fence(&mut self, instance: Instance<'tcx>) {
        if self.ordering(instance, 0) == Ordering::SeqCst
            && let Some(function) = self.builder.provided("compiler_fence")
        {
            let dst = self.emit.register();
            emit_provided(self.builder, &mut self.emit, function, &[], dst, Unwind::CONTINUE);
        }
    }

    fn ordering(&self, instance: Instance<'tcx>, index: usize) -> Ordering {
        let value = instance.args.const_at(index).to_value();
        match value.to_branch()[0].to_leaf().to_atomic_ordering() {
            AtomicOrdering::Relaxed => Ordering::Relaxed,
            AtomicOrdering::Release => Ordering::Release,
            AtomicOrdering::Acquire => Ordering::Acquire,
            AtomicOrdering::AcqRel => Ordering::AcqRel,
            AtomicOrdering::SeqCst => Ordering::SeqCst,
        }
    }

    /// The scalar that the access is about.
    fn accessed(&self, instance: Instance<'tcx>) -> Option<(Prim, AtomicWidth)> {
        let layout = self.layout(instance.args.type_at(0));
        let Repr::One(prim) = self.repr(layout) else { return None };
        Some((prim, AtomicWidth::from_bytes(prim.size.into())?))
    }

    fn value_register(&mut self, operand: &mir::Operand<'tcx>) -> Reg {
        let (prim, atom) = self.scalar_operand(operand);
        self.prim_register(prim, atom)
    }

    fn atomic_load(&mut self, instance: Instance<'tcx>, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>) {
        let Some((_, width)) = self.accessed(instance) else {
            return self.unsupported("an atomic access of this size");
        };
        let ordering = self.ordering(instance, 1);
        let ptr = self.operand_register(args[0]);
        let dst = self.result_registers(&spot);
        self.emit.op(Op::AtomicLoad { width, ordering, dst, ptr });
        self.store_result(dst, spot);
    }

    fn atomic_store(&mut self, instance: Instance<'tcx>, args: &[&mir::Operand<'tcx>]) {
        let Some((_, width)) = self.accessed(instance) else {
            return self.unsupported("an atomic access of this size");
        };
        let ordering = self.ordering(instance, 1);
        let ptr = self.operand_register(args[0]);
        let src = self.value_register(args[1]);
        self.emit.op(Op::AtomicStore { width, ordering, ptr, src });
    }

    fn atomic_rmw(
        &mut self,
        op: RmwOp,
        instance: Instance<'tcx>,
        ordering: usize,
        args: &[&mir::Operand<'tcx>],
        spot: Spot<'tcx>,
    ) {
        let Some((_, width)) = self.accessed(instance) else {
            return self.unsupported("an atomic access of this size");
        };
        let ordering = self.ordering(instance, ordering);
        let ptr = self.operand_register(args[0]);
        let src = self.value_register(args[1]);
        let dst = self.result_registers(&spot);
        self.emit.op(Op::AtomicRmw { op, width, ordering, dst, ptr, src });
        self.store_result(dst, spot);
    }

    fn atomic_cas(&mut self, instance: Instance<'tcx>, args: &[&mir::Operand<'tcx>], spot: Spot<'tcx>, weak: bool) {
        let Some((prim, width)) = self.accessed(instance) else {
            return self.unsupported("an atomic access of this size");
        };
        let (success, failure) = (self.ordering(instance, 1), self.ordering(instance, 2));
        let ptr = self.operand_register(args[0]);
        let expected = self.value_register(args[1]);
        let new = self.value_register(args[2]);
        let dst = self.emit.registers(prim.registers() + 1);
        self.emit.op(Op::AtomicCas { width, success, failure, weak, dst, ptr, expected, new });
        let flag = Reg(dst.0 + prim.registers());
        let old = Value::One(prim, Atom::Register(dst));
        let done = Value::One(Prim { size: 1, ..Prim::USIZE }, Atom::Register(flag));
        let (first, second) = (self.field_spot(spot, 0), self.field_spot(spot, 1));
        self.store(old, first);
        self.store(done, second);
    }

    /// Stores a result that is in registers, if its place is not those.
    pub(super) fn store_result(&mut self, dst: Reg, spot: Spot<'tcx>) {
        if let (Spot::Memory(_), Repr::One(prim)) = (spot, self.repr(spot.layout())) {
            self.store(Value::One(prim, Atom::Register(dst)), spot);
        }
    }
}
