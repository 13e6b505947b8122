//! Places: where a value is, and how its fields and elements are found.

use dpor_engine::program::{BinOp, IntTy, Op, Reg, Width};
use rustc_abi::{Align, FieldsShape, VariantIdx};
use rustc_middle::mir::{self, Local, PlaceElem};
use rustc_middle::ty::layout::TyAndLayout;
use rustc_middle::ty::{self, Ty};

use super::analyze::Part;
use super::operand::{Atom, Value};
use super::{LocalPlace, Lowering};
use crate::emit::Address;
use crate::repr::Prim;

/// Where memory starts.
#[derive(Clone, Copy, Debug)]
pub enum Base {
    /// At an offset of the frame.
    Slot(u16),
    /// At the address in a register.
    Register(Reg),
    /// At a number that the source has as an address.
    Absolute(u64),
    /// Where a function or a global begins.
    Linked(u64),
}

impl Base {
    /// Where a function or a global begins. There is nothing at address zero.
    pub fn of(address: u64) -> Base {
        if address == 0 { Base::Absolute(0) } else { Base::Linked(address) }
    }
}

/// An address: a base and an offset from it.
#[derive(Clone, Copy, Debug)]
pub struct Addr {
    pub base: Base,
    pub offset: i64,
}

impl Addr {
    pub fn register(reg: Reg) -> Addr {
        Addr { base: Base::Register(reg), offset: 0 }
    }

    pub fn slot(offset: u16) -> Addr {
        Addr { base: Base::Slot(offset), offset: 0 }
    }

    pub fn plus(self, offset: u64) -> Addr {
        Addr { base: self.base, offset: self.offset + offset as i64 }
    }
}

/// A place in memory with its type.
#[derive(Clone, Copy, Debug)]
pub struct MemPlace<'tcx> {
    pub addr: Addr,
    /// The metadata of an unsized place.
    pub meta: Option<Reg>,
    pub layout: TyAndLayout<'tcx>,
    /// What the place is aligned to: less than its type in packed structs.
    pub align: Align,
}

/// Where a value is.
#[derive(Clone, Copy, Debug)]
pub enum Spot<'tcx> {
    Nothing(TyAndLayout<'tcx>),
    /// In registers.
    Registers(Part, Reg, TyAndLayout<'tcx>),
    Memory(MemPlace<'tcx>),
}

impl<'tcx> Spot<'tcx> {
    pub fn layout(&self) -> TyAndLayout<'tcx> {
        match *self {
            Spot::Nothing(layout) | Spot::Registers(_, _, layout) => layout,
            Spot::Memory(place) => place.layout,
        }
    }
}

impl<'tcx> Lowering<'_, 'tcx> {
    /// The memory of a local, if that is where it lives.
    fn local_memory(&self, local: Local) -> Option<MemPlace<'tcx>> {
        let layout = self.local_layout(local);
        let (addr, meta) = match self.locals[local] {
            LocalPlace::Slot(offset) => (Addr::slot(offset), None),
            LocalPlace::Pointer(reg) => (Addr::register(reg), None),
            LocalPlace::Unsized(reg, meta) => (Addr::register(reg), Some(meta)),
            LocalPlace::Zst | LocalPlace::Registers(_) => return None,
        };
        Some(MemPlace { addr, meta, layout, align: layout.align.abi })
    }

    /// Where a place is.
    pub(super) fn spot(&mut self, place: mir::Place<'tcx>) -> Spot<'tcx> {
        let projection = place.projection.as_slice();
        let first_deref = projection.iter().position(|elem| *elem == PlaceElem::Deref);
        let base =
            mir::PlaceRef { local: place.local, projection: &projection[..first_deref.unwrap_or(projection.len())] };
        let mut memory = match (self.base_spot(base), first_deref) {
            (spot, None) => return spot,
            (spot, Some(_)) => {
                self.overwritten_promises(place.local.into());
                self.deref(spot)
            }
        };
        for elem in &projection[first_deref.map_or(0, |at| at + 1)..] {
            memory = match *elem {
                PlaceElem::Deref => self.deref(Spot::Memory(memory)),
                elem => self.project(memory, elem),
            };
        }
        Spot::Memory(memory)
    }

    /// Where a place without dereferences is.
    fn base_spot(&mut self, place: mir::PlaceRef<'tcx>) -> Spot<'tcx> {
        if let Some(mut memory) = self.local_memory(place.local) {
            for &elem in place.projection {
                memory = self.project(memory, elem);
            }
            return Spot::Memory(memory);
        }
        let (part, layout) = self.register_part(place).unwrap_or((Part::Nothing, self.local_layout(place.local)));
        match (part, self.locals[place.local]) {
            (Part::Scalar(prim, skip), LocalPlace::Registers(reg)) => {
                Spot::Registers(Part::Scalar(prim, 0), Reg(reg.0 + skip), layout)
            }
            (Part::Both(a, b, offset), LocalPlace::Registers(reg)) => {
                Spot::Registers(Part::Both(a, b, offset), reg, layout)
            }
            _ => Spot::Nothing(layout),
        }
    }

    /// What a pointer points to.
    fn deref(&mut self, pointer: Spot<'tcx>) -> MemPlace<'tcx> {
        let pointer_layout = pointer.layout();
        let pointee = pointee(pointer_layout.ty);
        let layout = self.layout(pointee);
        let value = self.load(pointer);
        let (addr, meta) = match value {
            Value::One(_, atom) => (self.atom_addr(atom), None),
            Value::Two(_, _, _, atom, meta) => (self.atom_addr(atom), Some(self.atom_register(meta))),
            // A box with an allocator that has fields: the pointer comes first.
            Value::Memory(place) => self.load_pointer_parts(place, layout),
            Value::Zst | Value::Unsized(..) => (Addr { base: Base::Absolute(0), offset: 0 }, None),
        };
        let meta = if layout.is_sized() { None } else { meta };
        MemPlace { addr, meta, layout, align: layout.align.abi }
    }

    pub(super) fn load_pointer_parts(
        &mut self,
        place: MemPlace<'tcx>,
        pointee: TyAndLayout<'tcx>,
    ) -> (Addr, Option<Reg>) {
        let data = self.emit.register();
        self.load_prim(Prim::USIZE, place.addr, place.align, data);
        if pointee.is_sized() {
            return (Addr::register(data), None);
        }
        let meta = self.emit.register();
        self.load_prim(Prim::USIZE, place.addr.plus(8), place.align, meta);
        (Addr::register(data), Some(meta))
    }

    pub(super) fn atom_addr(&mut self, atom: Atom) -> Addr {
        match atom {
            Atom::Register(reg) => Addr::register(reg),
            Atom::Imm(value) => Addr { base: Base::Absolute(value as u64), offset: 0 },
            Atom::Address(Address { base, offset }) => Addr { base: Base::Linked(base), offset: offset as i64 },
        }
    }

    /// A part of a place in memory.
    fn project(&mut self, place: MemPlace<'tcx>, elem: PlaceElem<'tcx>) -> MemPlace<'tcx> {
        match elem {
            PlaceElem::Field(field, _) => self.field(place, field.as_usize()),
            PlaceElem::Downcast(_, variant) => self.downcast(place, variant),
            PlaceElem::OpaqueCast(ty) | PlaceElem::UnwrapUnsafeBinder(ty) => {
                MemPlace { layout: self.layout(ty), ..place }
            }
            PlaceElem::Index(local) => {
                let index = self.local_register(local);
                self.element(place, index)
            }
            PlaceElem::ConstantIndex { offset, from_end: false, .. } => self.constant_element(place, offset),
            PlaceElem::ConstantIndex { offset, from_end: true, .. } => self.element_from_end(place, offset),
            PlaceElem::Subslice { from, to, from_end } => self.subslice(place, from, to, from_end),
            PlaceElem::Deref => self.deref(Spot::Memory(place)),
            PlaceElem::PhantomDeref => place,
        }
    }

    pub(super) fn downcast(&self, place: MemPlace<'tcx>, variant: VariantIdx) -> MemPlace<'tcx> {
        MemPlace { layout: place.layout.for_variant(&self.builder.layouts, variant), ..place }
    }

    pub(super) fn field(&mut self, place: MemPlace<'tcx>, field: usize) -> MemPlace<'tcx> {
        let offset = place.layout.fields.offset(field);
        let layout = place.layout.field(&self.builder.layouts, field);
        let align = place.align.restrict_for_offset(offset);
        if layout.is_sized() {
            let align = align.min(layout.align.abi.max(Align::ONE));
            return MemPlace { addr: place.addr.plus(offset.bytes()), meta: None, layout, align };
        }
        let dynamic = matches!(self.tcx.struct_tail_for_codegen(layout.ty, typing_env()).kind(), ty::Dynamic(..));
        if !dynamic || offset.bytes() == 0 && field_is_whole(place.layout, field) {
            return MemPlace { addr: place.addr.plus(offset.bytes()), meta: place.meta, layout, align };
        }
        self.dynamic_field(place, layout, offset.bytes())
    }

    /// A field of a type known at run time only: its offset depends on its alignment.
    fn dynamic_field(&mut self, place: MemPlace<'tcx>, layout: TyAndLayout<'tcx>, offset: u64) -> MemPlace<'tcx> {
        let meta = place.meta;
        let (_, field_align) = self.size_and_align(layout.ty, meta);
        let field_align = self.cap_to_packing(place.layout.ty, field_align);
        // offset rounded up: (offset + align - 1) & -align
        let mask = self.emit.register();
        self.emit.op(Op::Un { op: dpor_engine::program::UnOp::Neg, ty: IntTy::U64, dst: mask, src: field_align });
        let rounded = self.emit.register();
        self.emit.add_imm(rounded, field_align, offset as i64 - 1);
        self.emit.op(Op::Bin { op: BinOp::And, ty: IntTy::U64, dst: rounded, a: rounded, b: mask });
        let base = self.addr_register(place.addr);
        let addr = self.emit.register();
        self.emit.op(Op::Bin { op: BinOp::Add, ty: IntTy::U64, dst: addr, a: base, b: rounded });
        MemPlace { addr: Addr::register(addr), meta, layout, align: layout.align.abi }
    }

    fn element_layout(&self, place: &MemPlace<'tcx>) -> TyAndLayout<'tcx> {
        place.layout.field(&self.builder.layouts, 0)
    }

    pub(super) fn constant_element(&mut self, place: MemPlace<'tcx>, index: u64) -> MemPlace<'tcx> {
        let layout = self.element_layout(&place);
        let offset = layout.size * index;
        let align = place.align.restrict_for_offset(offset);
        MemPlace { addr: place.addr.plus(offset.bytes()), meta: None, layout, align }
    }

    pub(super) fn element(&mut self, place: MemPlace<'tcx>, index: Reg) -> MemPlace<'tcx> {
        let layout = self.element_layout(&place);
        let base = self.addr_register(place.addr);
        let addr = self.emit.register();
        self.index(addr, base, index, layout.size.bytes());
        MemPlace { addr: Addr::register(addr), meta: None, layout, align: place.align.min(layout.align.abi) }
    }

    /// `dst = base + index * scale`
    pub(super) fn index(&mut self, dst: Reg, base: Reg, index: Reg, scale: u64) {
        if let Ok(scale) = u32::try_from(scale) {
            self.emit.op(Op::Index { dst, base, index, scale });
        } else {
            let factor = self.emit.register();
            self.emit.imm(factor, scale);
            self.emit.op(Op::Bin { op: BinOp::Mul, ty: IntTy::U64, dst: factor, a: factor, b: index });
            self.emit.op(Op::Bin { op: BinOp::Add, ty: IntTy::U64, dst, a: base, b: factor });
        }
    }

    /// The number of elements of an array or slice.
    fn length(&mut self, place: &MemPlace<'tcx>) -> Reg {
        match (place.meta, &place.layout.fields) {
            (Some(meta), _) => meta,
            (None, FieldsShape::Array { count, .. }) => {
                let count = *count;
                let reg = self.emit.register();
                self.emit.imm(reg, count);
                reg
            }
            (None, _) => self.emit.register(),
        }
    }

    fn element_from_end(&mut self, place: MemPlace<'tcx>, offset: u64) -> MemPlace<'tcx> {
        let length = self.length(&place);
        let index = self.emit.register();
        self.emit.add_imm(index, length, -(offset as i64));
        self.element(place, index)
    }

    fn subslice(&mut self, place: MemPlace<'tcx>, from: u64, to: u64, from_end: bool) -> MemPlace<'tcx> {
        let element = self.element_layout(&place);
        let addr = place.addr.plus(element.size.bytes() * from);
        match place.layout.ty.kind() {
            ty::Array(inner, _) => {
                let FieldsShape::Array { count, .. } = place.layout.fields else {
                    return place;
                };
                let end = if from_end { count - to } else { to };
                let layout = self.layout(Ty::new_array(self.tcx, *inner, end - from));
                MemPlace { addr, meta: None, layout, align: element.align.abi }
            }
            _ => {
                let length = self.length(&place);
                let meta = self.emit.register();
                self.emit.add_imm(meta, length, -((from + to) as i64));
                MemPlace { addr, meta: Some(meta), ..place }
            }
        }
    }

    /// The value of a scalar local.
    fn local_register(&mut self, local: Local) -> Reg {
        let spot = self.spot(local.into());
        match self.load(spot) {
            Value::One(_, atom) => self.atom_register(atom),
            _ => self.emit.register(),
        }
    }

    /// An address as a number in a register.
    pub(super) fn addr_register(&mut self, addr: Addr) -> Reg {
        if let Addr { base: Base::Register(reg), offset: 0 } = addr {
            return reg;
        }
        let dst = self.emit.register();
        self.addr_into(addr, dst);
        dst
    }

    pub(super) fn addr_into(&mut self, addr: Addr, dst: Reg) {
        match addr.base {
            Base::Register(reg) => self.emit.add_imm(dst, reg, addr.offset),
            Base::Absolute(address) => self.emit.imm(dst, address.wrapping_add(addr.offset as u64)),
            Base::Linked(base) => self.emit.address(dst, Address { base, offset: addr.offset as u64 }),
            Base::Slot(slot) => self.emit.op(Op::SlotAddr { dst, offset: (i64::from(slot) + addr.offset) as u16 }),
        }
    }

    /// A base register and an offset that an instruction can hold.
    fn base_and_offset(&mut self, addr: Addr) -> (Reg, i32) {
        if let (Base::Register(reg), Ok(offset)) = (addr.base, i32::try_from(addr.offset)) {
            return (reg, offset);
        }
        (self.addr_register(addr), 0)
    }

    /// Loads a scalar.
    pub(super) fn load_prim(&mut self, prim: Prim, addr: Addr, align: Align, dst: Reg) {
        let Some(width) = prim.width() else {
            let half = Prim { size: 8, ..prim };
            // The first half is checked for the alignment of the whole.
            self.load_aligned(half, Width::W64, addr, log2_up_to(align, 16), dst);
            self.load_prim(half, addr.plus(8), align.min(EIGHT), Reg(dst.0 + 1));
            return;
        };
        self.load_aligned(prim, width, addr, log2(align, width), dst);
    }

    fn load_aligned(&mut self, prim: Prim, width: Width, addr: Addr, align: u8, dst: Reg) {
        match (addr.base, prim.padding) {
            (Base::Slot(slot), false) => {
                self.emit.op(Op::LoadSlot { width, dst, offset: (i64::from(slot) + addr.offset) as u16 });
            }
            (Base::Slot(slot), true) => {
                self.emit.op(Op::LoadSlotPadding { width, dst, offset: (i64::from(slot) + addr.offset) as u16 });
            }
            (_, false) => {
                let (base, offset) = self.base_and_offset(addr);
                self.emit.load(width, align, dst, base, offset);
            }
            (_, true) => {
                let (base, offset) = self.base_and_offset(addr);
                self.emit.op(Op::LoadPadding { width, align, dst, base, offset });
            }
        }
    }

    /// Stores a scalar.
    pub(super) fn store_prim(&mut self, prim: Prim, addr: Addr, align: Align, src: Reg) {
        let Some(width) = prim.width() else {
            self.store_aligned(Width::W64, addr, log2_up_to(align, 16), src);
            self.store_aligned(Width::W64, addr.plus(8), log2_up_to(align, 8), Reg(src.0 + 1));
            return;
        };
        self.store_aligned(width, addr, log2(align, width), src);
    }

    fn store_aligned(&mut self, width: Width, addr: Addr, align: u8, src: Reg) {
        if let Base::Slot(slot) = addr.base {
            self.emit.op(Op::StoreSlot { width, src, offset: (i64::from(slot) + addr.offset) as u16 });
        } else {
            let (base, offset) = self.base_and_offset(addr);
            self.emit.op(Op::Store { width, align, base, src, offset });
        }
    }

    /// Copies `size` bytes.
    pub(super) fn copy_memory(&mut self, dst: Addr, src: Addr, size: u64, align: Align) {
        let align = align.bytes().trailing_zeros() as u8;
        let Ok(size) = u32::try_from(size) else {
            let (dst, src) = (self.addr_register(dst), self.addr_register(src));
            let len = self.emit.register();
            self.emit.imm(len, size);
            self.emit.op(Op::CopyOverlapping { align, dst, src, len });
            return;
        };
        match (slot_offset(dst), slot_offset(src)) {
            (Some(dst), Some(src)) => self.emit.op(Op::CopySlots { dst, src, size }),
            (Some(dst), None) => {
                let src = self.addr_register(src);
                self.emit.op(Op::CopyToSlot { align, dst, src, size });
            }
            (None, Some(src)) => {
                let dst = self.addr_register(dst);
                self.emit.op(Op::CopyFromSlot { align, dst, src, size });
            }
            (None, None) => {
                let (dst, src) = (self.addr_register(dst), self.addr_register(src));
                self.emit.op(Op::Copy { align, dst, src, size });
            }
        }
    }
}

const EIGHT: Align = Align::EIGHT;

fn slot_offset(addr: Addr) -> Option<u16> {
    match addr.base {
        Base::Slot(slot) => Some((i64::from(slot) + addr.offset) as u16),
        _ => None,
    }
}

/// The alignment that an access is checked for: its own, or that of its place where that is less.
fn log2(align: Align, width: Width) -> u8 {
    log2_up_to(align, width.bytes())
}

fn log2_up_to(align: Align, most: u32) -> u8 {
    (align.bytes().trailing_zeros() as u8).min(most.trailing_zeros() as u8)
}

pub(super) fn typing_env<'tcx>() -> ty::TypingEnv<'tcx> {
    ty::TypingEnv::fully_monomorphized()
}

/// Whether a field at offset 0 is all there is.
fn field_is_whole(layout: TyAndLayout<'_>, field: usize) -> bool {
    field == 0 && layout.fields.count() == 1
}

fn pointee<'tcx>(ty: Ty<'tcx>) -> Ty<'tcx> {
    match ty.builtin_deref(true) {
        Some(pointee) => pointee,
        None => ty.boxed_ty().unwrap_or(ty),
    }
}
