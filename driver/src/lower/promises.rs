//! Promises that unsafe code makes to the compiler, checked where the code of users and of dependencies makes them:
//! what references are made of, how far pointers are moved, which functions are called, what values are made of
//! bytes.
//!
//! The standard library makes very many of them in safe code, and keeps them: there, they are not checked.

use dpor_engine::program::address::{GLOBAL_REGION, REGION_BITS};
use dpor_engine::program::{BinOp, Builtin, IntTy, Op, Reg, Unwind, Width};
use dpor_engine::verdict::ErrorKind;
use rustc_abi::{Align, BackendRepr, FieldsShape, TagEncoding, Variants};
use rustc_hir::def_id::DefId;
use rustc_middle::mir;
use rustc_middle::ty::layout::TyAndLayout;
use rustc_middle::ty::print::with_no_trimmed_paths;
use rustc_middle::ty::{self, Instance, Ty};
use rustc_span::Spanned;

use super::Lowering;
use super::operand::{Atom, Value};
use super::place::{Addr, Base, MemPlace, Spot, typing_env};
use crate::repr::{Kind, Prim, Repr};

/// Of larger values only so many parts are looked at.
const MAX_PARTS: u32 = 64;
/// Longer arrays are looked at in a loop.
const MAX_UNROLLED: i32 = 4;
/// Where there is no signature to compare with.
const ANY_SIGNATURE: u64 = u64::MAX;

const NO_PROVENANCE: &str = "a pointer is used that was made of an integer, without provenance";

/// What every vtable has, in bytes: the destructor, the size and the alignment.
const VTABLE_HEADER: u64 = 24;

/// What a function of the standard library is promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promise {
    /// The pointer stays in what it points into: moved up, down, or by a signed number, of elements or of bytes.
    Offset { direction: u64, bytes: bool },
    /// Both pointers point into the same.
    Distance { unsigned: bool, bytes: bool },
    /// The pointer can become a reference.
    Reference { nullable: bool },
    /// So many elements are there.
    Slice,
    /// What two pointers point to does not overlap: one value each, or so many.
    Swap { counted: bool },
    /// The pointer is not null.
    NonNull,
    /// The result is a part of what is there, if it is more than one element.
    Part,
    /// The result is a value of its type.
    Value,
    /// The result may be any bytes.
    AnyBytes,
}

impl<'tcx> Lowering<'_, 'tcx> {
    /// Checks what is promised with a call of the standard library.
    pub(super) fn call_promises(&mut self, instance: Instance<'tcx>, args: &[Spanned<mir::Operand<'tcx>>]) {
        let Some(promise) = self.promise(instance) else { return };
        let Some(ty) = instance.args.types().next() else { return };
        let layout = self.layout(ty);
        let element = |bytes: bool| if bytes { 1 } else { layout.size.bytes() };
        let mut arg = |index: usize| args.get(index).map(|arg| self.operand_register(&arg.node));
        match promise {
            Promise::Offset { direction, bytes } if bytes || layout.is_sized() => {
                let (Some(pointer), Some(count)) = (arg(0), arg(1)) else { return };
                self.check(Builtin::CheckOffset, &[pointer, count], &[element(bytes), direction]);
                let moved = args[0].node.place().and_then(|place| place.as_local());
                if moved.is_some_and(|local| self.suspects.unfounded.contains(local)) && element(bytes) != 0 {
                    let done = self.emit.label();
                    self.emit.jump_if_not(count, done);
                    self.unreachable(NO_PROVENANCE);
                    self.emit.bind(done);
                }
            }
            Promise::Distance { unsigned, bytes } if bytes || layout.is_sized() => {
                let (Some(a), Some(b)) = (arg(0), arg(1)) else { return };
                self.check(Builtin::CheckDistance, &[a, b], &[element(bytes), u64::from(unsigned)]);
            }
            Promise::Slice => {
                let (Some(pointer), Some(count)) = (arg(0), arg(1)) else { return };
                let align = layout.align.abi.bytes();
                self.check(Builtin::CheckReference, &[pointer, count], &[layout.size.bytes(), align]);
            }
            Promise::Swap { counted } => {
                let count = counted.then(|| arg(2)).flatten();
                let (Some(a), Some(b)) = (arg(0), arg(1)) else { return };
                self.check_swap(a, b, count, layout);
            }
            Promise::Reference { .. } if !layout.is_sized() => {
                let Some((value, pointer)) = args.first().map(|arg| self.operand(&arg.node)) else { return };
                if let (Value::Two(a, b, _, address, meta), false) = (value, pointer.ty.is_ref()) {
                    let (address, meta) = (self.prim_register(a, address), self.prim_register(b, meta));
                    self.check_wide_reference(address, meta, ty);
                }
            }
            Promise::Reference { nullable } => {
                let Some(mut pointer) = arg(0) else { return };
                // The methods of `NonNull` take a reference to it.
                if args.first().is_some_and(|arg| self.mono(arg.node.ty(self.body, self.tcx)).is_ref()) {
                    let inner = self.emit.register();
                    self.emit.load(Width::W64, 3, inner, pointer, 0);
                    pointer = inner;
                }
                let done = self.emit.label();
                if nullable {
                    self.emit.jump_if_not(pointer, done);
                }
                self.check_reference(pointer, layout);
                self.emit.bind(done);
            }
            Promise::NonNull => {
                let Some(pointer) = arg(0) else { return };
                let done = self.emit.label();
                self.emit.jump_if(pointer, done);
                self.error(ErrorKind::UndefinedBehavior, "a `NonNull` is created from a null pointer");
                self.emit.bind(done);
            }
            Promise::AnyBytes if layout.is_sized() && self.is_validated(layout) => {
                let message = format!("a value of type `{ty}` is made of uninitialized memory");
                self.error(ErrorKind::UninitializedRead, message);
            }
            Promise::Offset { .. } | Promise::Distance { .. } | Promise::Part | Promise::Value | Promise::AnyBytes => {}
        }
    }

    /// Checks what a call of the standard library has made.
    pub(super) fn result_promises(&mut self, instance: Instance<'tcx>, spot: Spot<'tcx>) {
        match self.promise(instance) {
            Some(Promise::Value) if spot.layout().is_sized() => {
                let value = self.load(spot);
                self.check_value(value, spot.layout());
            }
            // Where it is one element, the library assumes that the index is in bounds.
            Some(Promise::Part) if matches!(self.repr(spot.layout()), Repr::Two(..)) => self.reference_result(spot),
            _ => {}
        }
    }

    /// Checks a result that is a reference.
    pub(super) fn reference_result(&mut self, spot: Spot<'tcx>) {
        if is_reference(spot.layout().ty) {
            let value = self.load(spot);
            self.check_pointer(value, spot.layout());
        }
    }

    /// Checks a place that is named and not accessed: a part of what a pointer points to must be there.
    pub(super) fn mention_promises(&mut self, place: mir::Place<'tcx>) {
        if self.is_known && self.is_behind_raw_pointer(place) {
            let spot = self.spot(place);
            self.field_promises(place, &spot);
        } else if place.is_indirect() {
            self.overwritten_promises(place.local.into());
        }
    }

    /// Checks a pointer whose bytes may have been written through another one.
    pub(super) fn overwritten_promises(&mut self, place: mir::Place<'tcx>) {
        let is_overwritten = self.is_known && self.suspects.overwritten.contains(place.local);
        if is_overwritten && !place.is_indirect() {
            let spot = self.spot(place.local.into());
            let layout = spot.layout();
            let value = self.load(spot);
            self.check_value(value, layout);
        }
    }

    /// Checks an access through a pointer that never was anything but an integer.
    fn provenance_promises(&mut self, place: mir::Place<'tcx>, accessed: TyAndLayout<'tcx>) {
        let is_through = place.projection.first() == Some(&mir::PlaceElem::Deref)
            && !place.projection[1..].contains(&mir::PlaceElem::Deref);
        if is_through && self.suspects.unfounded.contains(place.local) && accessed.is_sized() && !accessed.is_zst() {
            self.unreachable(NO_PROVENANCE);
        }
    }

    /// Checks a copy from memory to memory: the two are the same, or have nothing in common.
    pub(super) fn assignment_promises(&mut self, value: Value<'tcx>, spot: &Spot<'tcx>) {
        let (true, Value::Memory(from), Spot::Memory(to)) = (self.is_known, value, spot) else { return };
        if let (Base::Register(_), Base::Register(_)) = (from.addr.base, to.addr.base) {
            let (a, b) = (self.addr_register(to.addr), self.addr_register(from.addr));
            let (size, apart) = (self.atom_register(Atom::Imm(to.layout.size.bytes().into())), self.emit.label());
            let other = self.emit.register();
            self.emit.op(Op::Bin { op: BinOp::Ne, ty: IntTy::U64, dst: other, a, b });
            self.emit.jump_if_not(other, apart);
            self.require_apart(a, b, size, "an assignment copies a value to a place that it overlaps");
            self.emit.bind(apart);
        }
    }

    /// Checks two places whose values are exchanged.
    pub(super) fn check_swap(&mut self, a: Reg, b: Reg, count: Option<Reg>, layout: TyAndLayout<'tcx>) {
        let place = |pointer| MemPlace { addr: Addr::register(pointer), meta: None, layout, align: layout.align.abi };
        let size = match count {
            Some(count) => self.times(count, layout.size.bytes()),
            None => {
                self.validate(place(a), &mut MAX_PARTS.clone());
                self.validate(place(b), &mut MAX_PARTS.clone());
                self.atom_register(Atom::Imm(layout.size.bytes().into()))
            }
        };
        self.require_apart(a, b, size, "what is swapped overlaps");
    }

    /// So many bytes at one address are none of those at the other.
    fn require_apart(&mut self, a: Reg, b: Reg, size: Reg, message: &str) {
        let [ahead, behind] = [(); 2].map(|()| self.emit.register());
        for (dst, a, b) in [(ahead, a, b), (behind, b, a)] {
            self.emit.op(Op::Bin { op: BinOp::Sub, ty: IntTy::U64, dst, a, b });
            self.emit.op(Op::Bin { op: BinOp::Ge, ty: IntTy::U64, dst, a: dst, b: size });
        }
        self.emit.op(Op::Bin { op: BinOp::And, ty: IntTy::U64, dst: ahead, a: ahead, b: behind });
        self.require(ahead, message);
    }

    /// Checks a value that was made of bytes.
    fn check_value(&mut self, value: Value<'tcx>, layout: TyAndLayout<'tcx>) {
        match value {
            Value::One(prim, atom) if layout.ty.is_fn_ptr() => {
                let pointer = self.prim_register(prim, atom);
                self.check(Builtin::CheckFunction, &[pointer], &[ANY_SIGNATURE, 0]);
            }
            Value::One(..) | Value::Two(..) if is_reference(layout.ty) => self.check_pointer(value, layout),
            Value::Two(_, b, _, _, vtable) if layout.ty.is_raw_ptr() => {
                let tail = pointee(layout.ty).map(|pointee| self.tcx.struct_tail_for_codegen(pointee, typing_env()));
                if tail.is_some_and(|tail| tail.is_trait()) {
                    let vtable = self.prim_register(b, vtable);
                    self.check_vtable(vtable);
                }
            }
            Value::One(..) | Value::Two(..) if self.is_more_than_ranges(layout) => {
                let place = self.in_memory(value, layout);
                self.validate(place, &mut MAX_PARTS.clone());
            }
            Value::Memory(place) => self.validate(place, &mut MAX_PARTS.clone()),
            Value::Zst | Value::One(..) | Value::Two(..) | Value::Unsized(..) => {}
        }
    }

    /// Whether not all is said about the scalars of a value by their ranges.
    fn is_more_than_ranges(&self, layout: TyAndLayout<'tcx>) -> bool {
        let ty = layout.ty;
        if ty.is_union() || ty.is_raw_ptr() || layout.is_zst() {
            return false;
        }
        let fields = match layout.fields {
            FieldsShape::Arbitrary { ref offsets, .. } => offsets.len(),
            _ => 0,
        };
        matches!(self.repr(layout), Repr::One(prim) if prim.kind == Kind::Pointer)
            || is_reference(ty)
            || ty.is_char()
            || ty.is_enum()
            || (0..fields).any(|index| self.is_more_than_ranges(layout.field(&self.builder.layouts, index)))
    }

    fn promise(&self, instance: Instance<'tcx>) -> Option<Promise> {
        let def_id = instance.def_id();
        if !self.is_known || !matches!(self.tcx.crate_name(def_id.krate).as_str(), "core" | "alloc") {
            return None;
        }
        let name = self.tcx.opt_item_name(def_id)?;
        let promise = promise(name.as_str())?;
        promise.1.contains(&self.module(def_id).as_str()).then_some(promise.0)
    }

    /// The module of a function or of its type: `ptr::const_ptr`
    fn module(&self, def_id: DefId) -> String {
        let path = self.tcx.def_path(def_id);
        let names: Vec<String> = path
            .data
            .iter()
            .map_while(|part| match part.data {
                rustc_hir::definitions::DefPathData::TypeNs(name) => Some(name.to_string()),
                _ => None,
            })
            .filter(|name| name.starts_with(char::is_lowercase))
            .collect();
        names.join("::")
    }

    /// Checks a reference that is made of a place behind a raw pointer.
    pub(super) fn reference_promises(
        &mut self,
        place: mir::Place<'tcx>,
        value: Value<'tcx>,
        pointer: TyAndLayout<'tcx>,
    ) {
        if self.is_known && self.is_behind_raw_pointer(place) {
            self.check_pointer(value, pointer);
            if let Some(pointee) = pointee(pointer.ty) {
                self.provenance_promises(place, self.layout(pointee));
            }
        }
    }

    /// Checks a value that is copied from behind a raw pointer, or from a union.
    pub(super) fn copy_promises(&mut self, from: mir::Place<'tcx>, destination: mir::Place<'tcx>) {
        if !self.is_known || !(self.is_behind_raw_pointer(from) || self.is_in_union(from)) {
            return;
        }
        let spot = self.spot(destination);
        let layout = spot.layout();
        if layout.is_uninhabited() {
            self.unreachable(format!("a value of the uninhabited type `{}` is copied", layout.ty));
        } else if layout.is_zst() {
            self.access_promises(from, layout);
        } else if layout.is_sized() {
            let value = self.load(spot);
            self.check_value(value, layout);
        }
    }

    /// Checks that a pointer is aligned for what it points to, where only a part of that is accessed, or nothing.
    pub(super) fn access_promises(&mut self, place: mir::Place<'tcx>, accessed: TyAndLayout<'tcx>) {
        if !self.is_known || !self.is_behind_raw_pointer(place) {
            return;
        }
        self.provenance_promises(place, accessed);
        let Some(pointer) = self.last_pointer(place) else { return };
        let Some(pointee) = pointer.ty(self.body, self.tcx).ty.builtin_deref(true) else { return };
        let align = self.layout(self.mono(pointee)).align.abi;
        if align > accessed.align.abi || accessed.is_zst() && align.bytes() > 1 {
            let address = self.operand_register(&mir::Operand::Copy(pointer));
            self.require_aligned(address, align);
        }
    }

    /// An address must be a multiple.
    pub(super) fn require_aligned(&mut self, address: Reg, align: Align) {
        let (fine, rest) = (self.emit.label(), self.emit.register());
        let mask = self.atom_register(Atom::Imm((align.bytes() - 1).into()));
        self.emit.op(Op::Bin { op: BinOp::And, ty: IntTy::U64, dst: rest, a: address, b: mask });
        self.emit.jump_if_not(rest, fine);
        let message = format!("access through a pointer that is not a multiple of {}", align.bytes());
        self.error(ErrorKind::Misaligned, message);
        self.emit.bind(fine);
    }

    /// Checks a raw pointer to a part of a place behind another: both must point into the same.
    pub(super) fn field_promises(&mut self, place: mir::Place<'tcx>, spot: &Spot<'tcx>) {
        let Spot::Memory(MemPlace { addr: addr @ Addr { base: Base::Register(base), offset }, .. }) = *spot else {
            return;
        };
        if !self.is_known || !self.is_behind_raw_pointer(place) {
            return;
        }
        let is_index = |elem: &mir::PlaceElem<'tcx>| matches!(elem, mir::ProjectionElem::Index(_));
        let after = place.projection.iter().rev().take_while(|elem| *elem != mir::ProjectionElem::Deref);
        match self.last_pointer(place).filter(|_| after.into_iter().any(|elem| is_index(&elem))) {
            Some(pointer) => {
                let start = self.operand_register(&mir::Operand::Copy(pointer));
                let end = self.addr_register(addr);
                let distance = self.emit.register();
                self.emit.op(Op::Bin { op: BinOp::Sub, ty: IntTy::U64, dst: distance, a: end, b: start });
                self.check(Builtin::CheckOffset, &[start, distance], &[1, 2]);
            }
            None => {
                self.check(Builtin::CheckOffset, &[base], &[offset as u64, 1, 2]);
            }
        }
    }

    /// The pointer that a place is behind, the last where there are several.
    fn last_pointer(&self, place: mir::Place<'tcx>) -> Option<mir::Place<'tcx>> {
        let mut derefs = place.iter_projections().filter(|(_, elem)| matches!(elem, mir::ProjectionElem::Deref));
        derefs.next_back().map(|(base, _)| base.to_place(self.tcx))
    }

    fn is_in_union(&self, place: mir::Place<'tcx>) -> bool {
        place.iter_projections().any(|(base, _)| base.ty(self.body, self.tcx).ty.is_union())
    }

    fn is_behind_raw_pointer(&self, place: mir::Place<'tcx>) -> bool {
        let mut derefs = place.iter_projections().filter(|(_, elem)| matches!(elem, mir::ProjectionElem::Deref));
        derefs.next_back().is_some_and(|(base, _)| self.mono(base.ty(self.body, self.tcx).ty).is_raw_ptr())
    }

    /// Checks what a transmutation has made.
    pub(super) fn transmute_promises(&mut self, value: Value<'tcx>, from: TyAndLayout<'tcx>, to: TyAndLayout<'tcx>) {
        if !self.is_known {
            return;
        }
        match (value, to.ty.kind()) {
            (_, ty::FnPtr(..)) if from.ty.is_fn() => {}
            (Value::One(..) | Value::Two(..), _) if to.ty.is_any_ptr() || to.ty.is_box() => {
                self.check_traits(value, from.ty, to.ty);
                self.check_value(value, to);
                if from.ty.is_integral() && is_reference(to.ty) {
                    self.require_empty(value, to.ty);
                }
            }
            _ => self.check_value(value, to),
        }
    }

    /// A reference that was made of an integer has no provenance: what it refers to has no bytes.
    fn require_empty(&mut self, value: Value<'tcx>, ty: Ty<'tcx>) {
        let Some(pointee) = pointee(ty) else { return };
        let (done, layout) = (self.emit.label(), self.layout(pointee));
        match value {
            _ if layout.is_sized() && layout.is_zst() => {}
            Value::Two(_, b, _, _, length) if pointee.is_slice() || pointee.is_str() => {
                let length = self.prim_register(b, length);
                self.emit.jump_if_not(length, done);
                self.unreachable(NO_PROVENANCE);
            }
            _ if layout.is_sized() => self.unreachable(NO_PROVENANCE),
            _ => {}
        }
        self.emit.bind(done);
    }

    /// A vtable must be one, and that of one trait is not that of another.
    fn check_traits(&mut self, value: Value<'tcx>, from: Ty<'tcx>, to: Ty<'tcx>) {
        let is_dynamic = |ty: Ty<'tcx>| pointee(ty).is_some_and(|pointee| pointee.is_trait());
        if let (Value::Two(_, b, _, _, vtable), false, true) = (value, is_dynamic(from), is_dynamic(to)) {
            let vtable = self.prim_register(b, vtable);
            self.check_vtable(vtable);
        }
        let predicates = |ty: Ty<'tcx>| match *pointee(ty)?.kind() {
            ty::Dynamic(predicates, _) => Some(predicates),
            _ => None,
        };
        let (Some(one), Some(other)) = (predicates(from), predicates(to)) else { return };
        let is_other = one.principal() != other.principal() && other.principal().is_some()
            || !one.projection_bounds().eq(other.projection_bounds());
        if is_other {
            let name = |ty| with_no_trimmed_paths!(pointee(ty).unwrap_or(ty).to_string());
            self.unreachable(format!("the vtable of `{}` becomes that of `{}`", name(from), name(to)));
        }
    }

    /// Checks a reference or a box.
    fn check_pointer(&mut self, value: Value<'tcx>, pointer: TyAndLayout<'tcx>) {
        let Some(pointee) = pointee(pointer.ty) else { return };
        let layout = self.layout(pointee);
        match value {
            // What may dangle is aligned, and not null.
            Value::One(_, address) | Value::Two(_, _, _, address, _) if self.may_dangle => {
                let address = self.atom_register(address);
                let align = if layout.is_sized() { layout.align.abi.bytes() } else { 1 };
                self.check(Builtin::CheckReference, &[address], &[1, 0, align]);
            }
            Value::One(prim, atom) if layout.is_sized() => {
                let address = self.prim_register(prim, atom);
                if layout.is_uninhabited() {
                    self.unreachable(format!("a reference to the uninhabited type `{pointee}` is created"));
                }
                self.check_reference(address, layout);
            }
            Value::Two(a, b, _, address, meta) => {
                let (address, meta) = (self.prim_register(a, address), self.prim_register(b, meta));
                self.check_wide_reference(address, meta, pointee);
            }
            _ => {}
        }
    }

    /// Checks a reference to something whose size its metadata says.
    fn check_wide_reference(&mut self, address: Reg, meta: Reg, pointee: Ty<'tcx>) {
        let element = match *pointee.kind() {
            ty::Slice(element) => Some(element),
            ty::Str => Some(self.tcx.types.u8),
            _ => None,
        };
        if let Some(element) = element.map(|element| self.layout(element)) {
            let (size, align) = (element.size.bytes(), element.align.abi.bytes());
            self.check(Builtin::CheckReference, &[address, meta], &[size, align]);
            return;
        }
        match self.tcx.struct_tail_for_codegen(pointee, typing_env()).kind() {
            ty::Dynamic(..) => self.check_vtable(meta),
            ty::Slice(_) | ty::Str => {}
            _ => return,
        }
        let (size, align) = self.size_and_align(pointee, Some(meta));
        let one = self.atom_register(Atom::Imm(1));
        self.check(Builtin::CheckReference, &[address, one, size, align], &[]);
    }

    fn check_vtable(&mut self, vtable: Reg) {
        self.check(Builtin::CheckReference, &[vtable], &[1, VTABLE_HEADER, 8]);
        // The compiler makes them, and programs cannot.
        let (region, bits) = (self.emit.register(), self.atom_register(Atom::Imm(REGION_BITS.into())));
        self.emit.op(Op::Bin { op: BinOp::Shr, ty: IntTy::U64, dst: region, a: vtable, b: bits });
        let global = self.atom_register(Atom::Imm(GLOBAL_REGION.into()));
        self.emit.op(Op::Bin { op: BinOp::Eq, ty: IntTy::U64, dst: region, a: region, b: global });
        self.require(region, "a pointer to a trait object has something else in place of a vtable");
    }

    fn check_reference(&mut self, address: Reg, layout: TyAndLayout<'tcx>) {
        let (size, align) = (layout.size.bytes(), layout.align.abi.bytes());
        self.check(Builtin::CheckReference, &[address], &[1, size, align]);
    }

    /// Checks that a function which is called through a pointer is one of the pointer's type. Where the call may have
    /// to convert arguments, the register says whether it has to.
    pub(super) fn signature_promise(&mut self, pointer: Reg, ty: Ty<'tcx>) -> Option<Reg> {
        if !self.is_known || !ty.is_fn_ptr() {
            return None;
        }
        let signature = self.builder.signature(ty)?;
        let sig = self.tcx.instantiate_bound_regions_with_erased(ty.fn_sig(self.tcx));
        let converts = sig.inputs().iter().any(|input| self.plain_layout(*input).is_some());
        let number = self.emit.register();
        self.emit.message(number, signature);
        let other = self.check(Builtin::CheckFunction, &[pointer, number], &[converts.into()]);
        converts.then_some(other)
    }

    /// The scalar that a type is, where values of the type may be uninitialized.
    fn plain_layout(&self, ty: Ty<'tcx>) -> Option<TyAndLayout<'tcx>> {
        let (plain, maybe) = self.builder.without_wrappers(ty);
        let layout = self.layout(plain);
        (maybe && matches!(self.repr(layout), Repr::One(_) | Repr::Two(..))).then_some(layout)
    }

    /// The arguments of a call, as plain values where they may be uninitialized.
    pub(super) fn plain_arguments(&mut self, args: &[Spanned<mir::Operand<'tcx>>], list: &mut Vec<Reg>) {
        for arg in args {
            let (value, layout) = self.operand(&arg.node);
            let (value, layout) = match self.plain_layout(layout.ty) {
                Some(plain) => {
                    let place = MemPlace { layout: plain, ..self.in_memory(value, layout) };
                    (self.load(Spot::Memory(place)), plain)
                }
                None => (value, layout),
            };
            self.argument(value, layout, matches!(arg.node, mir::Operand::Move(_)), list);
        }
    }

    /// A function may use instructions only that the processor has, which here has none but the target's.
    pub(super) fn feature_promises(&mut self, callee: DefId) {
        if !self.is_known || !self.tcx.def_kind(callee).has_codegen_attrs() {
            return;
        }
        let features = &self.tcx.codegen_fn_attrs(callee).target_features;
        let available = &self.tcx.sess.internal_target_features;
        if let Some(missing) = features.iter().find(|feature| !available.contains(&feature.name)) {
            let name = with_no_trimmed_paths!(self.tcx.def_path_str(callee));
            self.unreachable(format!("`{name}` needs the processor feature `{}`, which there is not", missing.name));
        }
    }

    fn check(&mut self, builtin: Builtin, registers: &[Reg], numbers: &[u64]) -> Reg {
        let mut list = registers.to_vec();
        list.extend(numbers.iter().map(|number| self.atom_register(Atom::Imm((*number).into()))));
        let args = self.emit.list(&list);
        let dst = self.emit.register();
        self.emit.op(Op::Builtin { builtin, args, dst, unwind: Unwind::CONTINUE });
        dst
    }

    /// Checks that memory has a value of its type, as far as types of scalars say: initialized, and one of the valid
    /// ones.
    fn validate(&mut self, place: MemPlace<'tcx>, parts: &mut u32) {
        let ty = place.layout.ty;
        if *parts == 0 || place.layout.is_zst() || ty.is_union() || matches!(ty.kind(), ty::Coroutine(..)) {
            return;
        }
        let may_dangle = self.may_dangle;
        self.may_dangle |= ty.is_like_maybe_dangling();
        self.validate_parts(place, parts);
        self.may_dangle = may_dangle;
    }

    fn validate_parts(&mut self, place: MemPlace<'tcx>, parts: &mut u32) {
        let ty = place.layout.ty;
        match (&place.layout.fields, &place.layout.variants) {
            _ if is_reference(ty) && self.repr(place.layout) != Repr::Memory => {
                *parts -= 1;
                let mark = self.emit.mark();
                let value = self.load(Spot::Memory(place));
                self.check_pointer(value, place.layout);
                self.emit.release(mark);
            }
            _ if matches!(self.repr(place.layout), Repr::One(_)) && !ty.is_enum() => {
                *parts -= 1;
                self.validate_scalar(place);
                if self.wraps(place.layout) {
                    self.validate_fields(place, parts);
                }
            }
            (_, Variants::Multiple { .. }) => {
                *parts -= 1;
                let ty = self.discriminant_ty(place.layout);
                let discriminant = self.discriminant(Spot::Memory(place), ty);
                self.validate_variants(place, discriminant, parts);
            }
            (FieldsShape::Array { count, .. }, _) => self.validate_elements(place, *count, parts),
            (FieldsShape::Arbitrary { .. }, Variants::Single { .. }) if !ty.is_box() => {
                self.validate_fields(place, parts);
            }
            (FieldsShape::Arbitrary { .. }, _) if ty.is_box() => self.validate_box(place, parts),
            _ => {}
        }
    }

    /// A box with an allocator that has fields: the pointer comes first.
    fn validate_box(&mut self, place: MemPlace<'tcx>, parts: &mut u32) {
        let Some(pointee) = pointee(place.layout.ty) else { return };
        *parts -= 1;
        let layout = self.layout(pointee);
        match self.load_pointer_parts(place, layout) {
            (address, None) if !self.may_dangle => {
                let address = self.addr_register(address);
                self.check_reference(address, layout);
            }
            (address, Some(meta)) if !self.may_dangle => {
                let address = self.addr_register(address);
                self.check_wide_reference(address, meta, pointee);
            }
            _ => {}
        }
        let allocator = self.field(place, 1);
        self.validate(allocator, parts);
    }

    fn validate_fields(&mut self, place: MemPlace<'tcx>, parts: &mut u32) {
        for index in 0..place.layout.fields.count() {
            let field = self.field(place, index);
            self.validate(field, parts);
        }
    }

    /// Whether a struct has a reference or an enum in it, about which its own range does not say all.
    fn wraps(&self, layout: TyAndLayout<'tcx>) -> bool {
        let fields = match layout.fields {
            FieldsShape::Arbitrary { ref offsets, .. } if !layout.ty.is_union() => offsets.len(),
            _ => 0,
        };
        let fields = (0..fields).map(|index| layout.field(&self.builder.layouts, index));
        fields.into_iter().any(|field| is_reference(field.ty) || field.ty.is_enum() || self.wraps(field))
    }

    /// A value of an enum is of one of its variants, and has the fields of that.
    fn validate_variants(&mut self, place: MemPlace<'tcx>, discriminant: Value<'tcx>, parts: &mut u32) {
        let (Variants::Multiple { variants, .. }, Value::One(prim, atom)) = (&place.layout.variants, discriminant)
        else {
            return;
        };
        if prim.size > 8 {
            return;
        }
        let src = self.prim_register(prim, atom);
        let (done, wrong) = (self.emit.label(), self.emit.label());
        let labels: Vec<_> = variants.indices().map(|variant| (variant, self.emit.label())).collect();
        let value = |variant| self.discriminant_value(place.layout.ty, variant, prim) as u64;
        let cases = labels.iter().map(|(variant, label)| (value(*variant), *label)).collect();
        self.emit.switch(src, cases, wrong);
        self.emit.bind(wrong);
        self.unreachable(format!("the discriminant is not one of a variant of `{}`", place.layout.ty));
        for (variant, label) in labels {
            self.emit.bind(label);
            let variant = self.downcast(place, variant);
            self.validate_fields(variant, parts);
            self.emit.jump(done);
        }
        self.emit.bind(done);
    }

    fn validate_elements(&mut self, place: MemPlace<'tcx>, count: u64, parts: &mut u32) {
        let element = place.layout.field(&self.builder.layouts, 0);
        if element.ty.is_integral() || element.ty.is_floating_point() {
            *parts -= 1;
            let address = self.addr_register(place.addr);
            self.check(Builtin::CheckInitialized, &[address], &[place.layout.size.bytes()]);
            return;
        }
        if !self.is_validated(element) {
            return;
        }
        let Some(last) = i32::try_from(count).ok().filter(|count| *count > MAX_UNROLLED) else {
            for index in 0..count {
                let element = self.constant_element(place, index);
                self.validate(element, parts);
            }
            return;
        };
        let (index, next) = (self.emit.register(), self.emit.label());
        self.emit.imm(index, 0);
        self.emit.bind(next);
        let element = self.element(place, index);
        self.validate(element, parts);
        self.emit.op(Op::BinImm { op: BinOp::Add, ty: IntTy::U64, dst: index, a: index, imm: 1 });
        self.emit.jump_cmp_imm(BinOp::Lt, IntTy::U64, index, last, next);
    }

    /// Whether there is anything about a value of a type that can be wrong.
    fn is_validated(&self, layout: TyAndLayout<'tcx>) -> bool {
        let ty = layout.ty;
        if layout.is_zst() || ty.is_union() || matches!(ty.kind(), ty::Coroutine(..)) {
            return false;
        }
        match (&layout.fields, &layout.variants) {
            (FieldsShape::Array { .. }, _) => self.is_validated(layout.field(&self.builder.layouts, 0)),
            (FieldsShape::Arbitrary { offsets, .. }, Variants::Single { .. }) if !ty.is_box() => {
                (0..offsets.len()).any(|index| self.is_validated(layout.field(&self.builder.layouts, index)))
            }
            _ => true,
        }
    }

    /// Loading a scalar checks it.
    fn validate_scalar(&mut self, place: MemPlace<'tcx>) {
        let mark = self.emit.mark();
        if let Value::One(prim, Atom::Register(reg)) = self.load(Spot::Memory(place)) {
            let range = match (place.layout.ty.kind(), place.layout.backend_repr) {
                (ty::Char, _) => Some((0xe000, 0xd7ff)),
                (_, BackendRepr::Scalar(scalar)) if prim.kind == Kind::Pointer => {
                    (!scalar.valid_range(&self.builder.layouts).contains(0)).then_some((1, u64::MAX))
                }
                _ => None,
            };
            if let Some((start, end)) = range.filter(|_| prim.size <= 8) {
                let name = with_no_trimmed_paths!(place.layout.ty.to_string());
                self.emit.check_range(reg, start, end, &name);
            }
        }
        self.emit.release(mark);
    }
}

impl<'tcx> crate::program::ProgramBuilder<'tcx> {
    /// How functions of a type are called, as text; none where that is not known.
    pub fn signature(&mut self, ty: Ty<'tcx>) -> Option<u32> {
        let sig = self.tcx.instantiate_bound_regions_with_erased(ty.fn_sig(self.tcx));
        if sig.c_variadic() || sig.abi() == rustc_abi::ExternAbi::RustCall {
            return None;
        }
        let sig =
            self.tcx.normalize_erasing_regions(ty::TypingEnv::fully_monomorphized(), ty::Unnormalized::new_wip(sig));
        let inputs: Vec<String> = sig.inputs().iter().map(|ty| self.passed_as(*ty)).collect();
        let output = self.passed_as(sig.output());
        let abi = sig.abi().as_str().replace("-unwind", "");
        Some(self.message(format!("extern {abi:?} fn({}) -> {output}", inputs.join(", "))))
    }

    /// The type that a type is nothing but, and whether values may be uninitialized.
    fn without_wrappers(&self, ty: Ty<'tcx>) -> (Ty<'tcx>, bool) {
        let (mut ty, mut maybe) = (ty, false);
        while let ty::Adt(adt, args) = *ty.kind()
            && adt.repr().transparent()
            && !adt.is_enum()
        {
            let env = ty::TypingEnv::fully_monomorphized();
            let fields =
                adt.all_fields().map(|field| self.tcx.normalize_erasing_regions(env, field.ty(self.tcx, args)));
            let Some(inner) = fields.into_iter().find(|ty| !crate::lower::layout_of(self.tcx, *ty).is_zst()) else {
                break;
            };
            maybe |= adt.is_union();
            ty = inner;
        }
        (ty, maybe)
    }

    /// How a value of a type is passed. What is nothing but another type is passed like that; other structs, tuples
    /// and arrays only like themselves.
    fn passed_as(&self, ty: Ty<'tcx>) -> String {
        let (ty, maybe) = self.without_wrappers(ty);
        let maybe = if maybe { "maybe " } else { "" };
        let layout = crate::lower::layout_of(self.tcx, ty);
        let passed = match Repr::of(&self.layouts, layout) {
            Repr::Zst if layout.is_1zst() && !ty.is_array() && !is_c(ty) => "nothing".to_owned(),
            Repr::One(prim) if prim.kind == Kind::Pointer && ty.is_any_ptr() => scalar(prim),
            Repr::One(prim) if ty.is_numeric() || ty.is_char() || self.is_like_a_scalar(ty, layout) => scalar(prim),
            Repr::Two(..) if ty.is_any_ptr() || ty.is_box() => self.wide_pointer(ty),
            _ => with_no_trimmed_paths!(ty.to_string()),
        };
        format!("{maybe}{passed}")
    }

    /// Whether a type is a scalar under another name: a function pointer, a box, an enum with numbers, or an
    /// `Option` of something that is never zero.
    fn is_like_a_scalar(&self, ty: Ty<'tcx>, layout: TyAndLayout<'tcx>) -> bool {
        match *ty.kind() {
            ty::FnPtr(..) | ty::Pat(..) => true,
            ty::Adt(adt, _) if adt.is_box() => true,
            ty::Adt(adt, _) if adt.is_enum() => {
                let repr = adt.repr();
                (repr.c() || repr.int.is_some()) && adt.is_payloadfree()
                    || matches!(layout.variants, Variants::Multiple { tag_encoding: TagEncoding::Niche { .. }, .. })
            }
            _ => false,
        }
    }

    /// A pointer with metadata.
    fn wide_pointer(&self, ty: Ty<'tcx>) -> String {
        let tail = pointee(ty).map(|pointee| self.tcx.struct_tail_for_codegen(pointee, typing_env()));
        match tail.map(|tail| (tail, tail.kind())) {
            Some((tail, ty::Dynamic(..))) => with_no_trimmed_paths!(format!("a pointer to `{tail}`")),
            _ => "a pointer with a length".to_owned(),
        }
    }
}

/// Whether a type is laid out as in C.
fn is_c(ty: Ty<'_>) -> bool {
    matches!(ty.kind(), ty::Adt(adt, _) if adt.repr().c())
}

/// Whether a type is a reference or a box.
fn is_reference(ty: Ty<'_>) -> bool {
    ty.is_ref() || ty.is_box()
}

fn scalar(prim: Prim) -> String {
    match prim.kind {
        Kind::Pointer => "a pointer".to_owned(),
        Kind::Int { .. } => format!("{} bits", 8 * u32::from(prim.size)),
        _ => format!("f{}", 8 * u32::from(prim.size)),
    }
}

/// What functions of this name are promised, and in which modules.
fn promise(name: &str) -> Option<(Promise, &'static [&'static str])> {
    const POINTERS: &[&str] = &["ptr::const_ptr", "ptr::mut_ptr", "ptr::non_null"];
    let offset = |direction, bytes| Some((Promise::Offset { direction, bytes }, POINTERS));
    let distance = |unsigned, bytes| Some((Promise::Distance { unsigned, bytes }, POINTERS));
    match name {
        "add" => offset(0, false),
        "sub" => offset(1, false),
        "offset" => offset(2, false),
        "byte_add" => offset(0, true),
        "byte_sub" => offset(1, true),
        "byte_offset" => offset(2, true),
        "offset_from" => distance(false, false),
        "offset_from_unsigned" => distance(true, false),
        "byte_offset_from" => distance(false, true),
        "byte_offset_from_unsigned" => distance(true, true),
        "as_ref" | "as_mut" => Some((Promise::Reference { nullable: true }, POINTERS)),
        "as_ref_unchecked" | "as_mut_unchecked" => Some((Promise::Reference { nullable: false }, POINTERS)),
        "drop_in_place" => Some((Promise::Reference { nullable: false }, &["ptr"])),
        "swap" => Some((Promise::Swap { counted: false }, &["mem"])),
        "swap_nonoverlapping" => Some((Promise::Swap { counted: true }, &["ptr"])),
        "from_raw_parts" | "from_raw_parts_mut" => Some((Promise::Slice, &["slice::raw"])),
        "get_unchecked" | "get_unchecked_mut" => Some((Promise::Part, &["slice", "str"])),
        "from_size_align_unchecked" => Some((Promise::Value, &["alloc::layout"])),
        "new_unchecked" => Some((Promise::NonNull, &["ptr::non_null"])),
        "assume_init" | "assume_init_read" => Some((Promise::Value, &["mem::maybe_uninit"])),
        "read" | "read_unaligned" | "read_volatile" => {
            Some((Promise::Value, &["ptr", "ptr::const_ptr", "ptr::mut_ptr", "ptr::non_null"]))
        }
        "uninitialized" => Some((Promise::AnyBytes, &["mem"])),
        "transmute_copy" => Some((Promise::Value, &["mem"])),
        _ => None,
    }
}

/// What a reference or a box points to.
fn pointee<'tcx>(ty: Ty<'tcx>) -> Option<Ty<'tcx>> {
    ty.builtin_deref(true).or_else(|| ty.boxed_ty())
}
