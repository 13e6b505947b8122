//! Values: constants, what a place holds, and how they are stored.

use dpor_engine::program::{Op, Reg};
use rustc_middle::mir::interpret::{AllocId, GlobalAlloc, Scalar, alloc_range};
use rustc_middle::mir::{self, ConstValue};
use rustc_middle::ty::layout::TyAndLayout;
use rustc_middle::ty::print::with_no_trimmed_paths;

use super::Lowering;
use super::analyze::Part;
use super::place::{Addr, Base, MemPlace, Spot};
use crate::emit::{Address, FrameMemory};
use crate::repr::{Prim, Repr};

/// One scalar: in a register (or two for 128 bits), or known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atom {
    Register(Reg),
    Imm(u128),
    /// Known when it is known where things are in the program.
    Address(Address),
}

impl Atom {
    /// What is so far from where a function or a global begins. There is nothing at address zero.
    pub fn address(base: u64, offset: u64) -> Atom {
        match base {
            0 => Atom::Imm(offset.into()),
            _ => Atom::Address(Address { base, offset }),
        }
    }
}

/// A value that was computed.
#[derive(Clone, Copy, Debug)]
pub enum Value<'tcx> {
    Zst,
    One(Prim, Atom),
    /// Two scalars, the offset of the second.
    Two(Prim, Prim, u64, Atom, Atom),
    /// In memory that nobody changes until the value is used.
    Memory(MemPlace<'tcx>),
    /// An unsized value: its address and its metadata.
    Unsized(Reg, Reg),
}

impl<'tcx> Lowering<'_, 'tcx> {
    /// The value of an operand and its layout.
    pub(super) fn operand(&mut self, operand: &mir::Operand<'tcx>) -> (Value<'tcx>, TyAndLayout<'tcx>) {
        match operand {
            mir::Operand::Copy(place) | mir::Operand::Move(place) => {
                let spot = self.spot(*place);
                let layout = spot.layout();
                self.access_promises(*place, layout);
                self.overwritten_promises(*place);
                (self.load(spot), layout)
            }
            mir::Operand::Constant(constant) => self.constant(constant),
            mir::Operand::RuntimeChecks(checks) => {
                let layout = self.layout(self.tcx.types.bool);
                let Repr::One(prim) = self.repr(layout) else { return (Value::Zst, layout) };
                (Value::One(prim, Atom::Imm(u128::from(checks.value(self.tcx.sess)))), layout)
            }
        }
    }

    /// The value of an operand that is one scalar.
    pub(super) fn scalar_operand(&mut self, operand: &mir::Operand<'tcx>) -> (Prim, Atom) {
        let (value, layout) = self.operand(operand);
        self.scalar(value, layout)
    }

    /// A value as one scalar; a value in memory (a union, say) is loaded.
    pub(super) fn scalar(&mut self, value: Value<'tcx>, layout: TyAndLayout<'tcx>) -> (Prim, Atom) {
        match value {
            Value::One(prim, atom) | Value::Two(prim, _, _, atom, _) => (prim, atom),
            Value::Memory(place) => {
                let prim = Prim { size: layout.size.bytes().next_power_of_two().min(16) as u8, ..Prim::USIZE };
                let dst = self.emit.registers(prim.registers());
                self.load_prim(prim, place.addr, place.align, dst);
                (prim, Atom::Register(dst))
            }
            Value::Zst | Value::Unsized(..) => (Prim::USIZE, Atom::Imm(0)),
        }
    }

    /// The scalar in a register.
    pub(super) fn operand_register(&mut self, operand: &mir::Operand<'tcx>) -> Reg {
        let (prim, atom) = self.scalar_operand(operand);
        self.prim_register(prim, atom)
    }

    /// An atom of up to 64 bits in a register.
    pub(super) fn atom_register(&mut self, atom: Atom) -> Reg {
        self.prim_register(Prim::USIZE, atom)
    }

    /// An atom in a register (the first of two for 128 bits).
    pub(super) fn prim_register(&mut self, prim: Prim, atom: Atom) -> Reg {
        match atom {
            Atom::Register(reg) => reg,
            Atom::Imm(_) | Atom::Address(_) => {
                let dst = self.emit.registers(prim.registers());
                self.atom_into(prim, atom, dst);
                dst
            }
        }
    }

    /// Moves an atom to registers.
    pub(super) fn atom_into(&mut self, prim: Prim, atom: Atom, dst: Reg) {
        let wide = prim.size == 16;
        match atom {
            Atom::Register(src) if src == dst => {}
            Atom::Register(src) if wide => self.emit.op(Op::Mov2 { dst, src }),
            Atom::Register(src) => self.emit.mov(dst, src),
            Atom::Imm(value) => {
                self.emit.imm(dst, value as u64);
                if wide {
                    self.emit.imm(Reg(dst.0 + 1), (value >> 64) as u64);
                }
            }
            Atom::Address(address) => {
                self.emit.address(dst, address);
                if wide {
                    self.emit.imm(Reg(dst.0 + 1), 0);
                }
            }
        }
    }

    /// The value at a place.
    pub(super) fn load(&mut self, spot: Spot<'tcx>) -> Value<'tcx> {
        match spot {
            Spot::Nothing(_) => Value::Zst,
            Spot::Registers(Part::Nothing, ..) => Value::Zst,
            Spot::Registers(Part::Scalar(prim, _), reg, _) => Value::One(prim, Atom::Register(reg)),
            Spot::Registers(Part::Both(a, b, offset), reg, _) => {
                Value::Two(a, b, offset, Atom::Register(reg), Atom::Register(Reg(reg.0 + a.registers())))
            }
            Spot::Memory(place) => self.load_memory(place),
        }
    }

    fn load_memory(&mut self, place: MemPlace<'tcx>) -> Value<'tcx> {
        if !place.layout.is_sized() {
            let addr = self.addr_register(place.addr);
            let meta = place.meta.unwrap_or(addr);
            return Value::Unsized(addr, meta);
        }
        match self.repr(place.layout) {
            Repr::Zst => Value::Zst,
            Repr::Memory => Value::Memory(place),
            Repr::One(prim) => {
                let dst = self.emit.registers(prim.registers());
                self.load_prim(prim, place.addr, place.align, dst);
                self.check_valid(prim, dst, place.layout);
                Value::One(prim, Atom::Register(dst))
            }
            Repr::Two(a, b, offset) => {
                let dst = self.emit.registers(a.registers() + b.registers());
                let second = Reg(dst.0 + a.registers());
                self.load_prim(a, place.addr, place.align, dst);
                let align = place.align.restrict_for_offset(rustc_abi::Size::from_bytes(offset));
                self.load_prim(b, place.addr.plus(offset), align, second);
                self.check_valid(a, dst, place.layout);
                self.check_valid(b, second, place.layout);
                Value::Two(a, b, offset, Atom::Register(dst), Atom::Register(second))
            }
        }
    }

    /// Checks a scalar that came from memory.
    pub(super) fn check_valid(&mut self, prim: Prim, reg: Reg, layout: TyAndLayout<'tcx>) {
        if let Some((start, end)) = prim.range {
            let name = with_no_trimmed_paths!(layout.ty.to_string());
            self.emit.check_range(reg, start as u64, end as u64, &name);
        }
    }

    /// Stores a value at a place.
    pub(super) fn store(&mut self, value: Value<'tcx>, spot: Spot<'tcx>) {
        match spot {
            Spot::Nothing(_) => {}
            Spot::Registers(part, dst, layout) => self.store_registers(value, part, dst, layout),
            Spot::Memory(place) => self.store_memory(value, place),
        }
    }

    fn store_registers(&mut self, value: Value<'tcx>, part: Part, dst: Reg, layout: TyAndLayout<'tcx>) {
        match (part, value) {
            (Part::Scalar(to, _), Value::One(_, atom)) => self.atom_into(to, atom, dst),
            (Part::Both(to_a, to_b, _), Value::Two(_, _, _, a, b)) => {
                let second = Reg(dst.0 + to_a.registers());
                // The second source may be where the first one goes.
                if b == Atom::Register(dst) && a != b {
                    let saved = self.emit.registers(to_b.registers());
                    self.atom_into(to_b, b, saved);
                    self.atom_into(to_a, a, dst);
                    self.atom_into(to_b, Atom::Register(saved), second);
                } else {
                    self.atom_into(to_a, a, dst);
                    self.atom_into(to_b, b, second);
                }
            }
            // The same bytes under another type.
            (_, Value::Zst | Value::Unsized(..)) => {}
            (part, value) => {
                let place = self.temporary(layout);
                self.store_memory(value, place);
                let loaded = self.load_memory(place);
                if !matches!(loaded, Value::Memory(_)) {
                    self.store_registers(loaded, part, dst, layout);
                }
            }
        }
    }

    pub(super) fn store_memory(&mut self, value: Value<'tcx>, place: MemPlace<'tcx>) {
        match value {
            Value::Zst | Value::Unsized(..) => {}
            Value::One(prim, atom) => {
                let src = self.prim_register(prim, atom);
                self.store_prim(prim, place.addr, place.align, src);
            }
            Value::Two(a, b, offset, first, second) => {
                let (first, second) = (self.prim_register(a, first), self.prim_register(b, second));
                self.store_prim(a, place.addr, place.align, first);
                let align = place.align.restrict_for_offset(rustc_abi::Size::from_bytes(offset));
                self.store_prim(b, place.addr.plus(offset), align, second);
            }
            Value::Memory(from) => {
                let align = place.align.min(from.align);
                self.copy_memory(place.addr, from.addr, from.layout.size.bytes(), align);
            }
        }
    }

    /// Memory of the frame for one statement.
    pub(super) fn temporary(&mut self, layout: TyAndLayout<'tcx>) -> MemPlace<'tcx> {
        let (size, align) = (layout.size.bytes(), layout.align.abi);
        let addr = self.temporary_bytes(size, align.bytes());
        MemPlace { addr, meta: None, layout, align }
    }

    pub(super) fn temporary_bytes(&mut self, size: u64, align: u64) -> Addr {
        if let Some(at) = self.free_temporaries.iter().position(|free| (free.0, free.1) == (size, align)) {
            let free = self.free_temporaries.swap_remove(at);
            self.used_temporaries.push(free);
            return Addr::slot(free.2);
        }
        match self.emit.frame_memory(size, align, true, "") {
            FrameMemory::Slot(offset) => {
                self.used_temporaries.push((size, align, offset));
                Addr::slot(offset)
            }
            FrameMemory::Big(reg) => {
                self.emit.op(Op::BigSlot { dst: reg, size, align: align.trailing_zeros() as u8 });
                Addr::register(reg)
            }
        }
    }

    /// The value in memory: stored in a temporary if it is in registers.
    pub(super) fn in_memory(&mut self, value: Value<'tcx>, layout: TyAndLayout<'tcx>) -> MemPlace<'tcx> {
        if let Value::Memory(place) = value {
            return place;
        }
        let place = self.temporary(layout);
        self.store_memory(value, place);
        place
    }

    fn constant(&mut self, constant: &mir::ConstOperand<'tcx>) -> (Value<'tcx>, TyAndLayout<'tcx>) {
        let const_ = self.mono(constant.const_);
        let layout = self.layout(const_.ty());
        let value = const_.eval(self.tcx, super::place::typing_env(), constant.span);
        match value {
            Ok(value) => (self.const_value(value, layout), layout),
            Err(_) => {
                self.unsupported("a constant whose evaluation failed");
                (self.undefined(layout), layout)
            }
        }
    }

    /// Some value, where none will be used.
    pub(super) fn undefined(&mut self, layout: TyAndLayout<'tcx>) -> Value<'tcx> {
        match self.repr(layout) {
            Repr::Zst => Value::Zst,
            Repr::One(prim) => Value::One(prim, Atom::Imm(0)),
            Repr::Two(a, b, offset) => Value::Two(a, b, offset, Atom::Imm(0), Atom::Imm(0)),
            Repr::Memory => Value::Memory(self.temporary(layout)),
        }
    }

    pub(super) fn const_value(&mut self, value: ConstValue, layout: TyAndLayout<'tcx>) -> Value<'tcx> {
        match value {
            ConstValue::ZeroSized => Value::Zst,
            ConstValue::Scalar(scalar) => {
                if let Scalar::Ptr(pointer, _) = scalar {
                    self.check_defined(pointer.provenance.alloc_id());
                }
                let atom = self.builder.scalar_atom(scalar);
                match self.repr(layout) {
                    Repr::One(prim) => Value::One(prim, atom),
                    Repr::Zst => Value::Zst,
                    _ => {
                        let prim = Prim { size: scalar.size().bytes() as u8, ..Prim::USIZE };
                        let place = self.temporary(layout);
                        self.store_memory(Value::One(prim, atom), place);
                        Value::Memory(place)
                    }
                }
            }
            ConstValue::Slice { alloc_id, meta } => {
                self.check_defined(alloc_id);
                let address = self.builder.allocation_address(alloc_id);
                match self.repr(layout) {
                    Repr::Two(a, b, offset) => {
                        Value::Two(a, b, offset, Atom::address(address, 0), Atom::Imm(meta.into()))
                    }
                    _ => self.undefined(layout),
                }
            }
            ConstValue::Indirect { alloc_id, offset } => self.indirect_constant(alloc_id, offset.bytes(), layout),
        }
    }

    /// What is in a static that no crate defines is not known.
    fn check_defined(&mut self, id: AllocId) {
        if let Some(symbol) = self.builder.missing_symbol(id) {
            self.unsupported(format!("foreign static `{symbol}`"));
        }
    }

    fn indirect_constant(&mut self, alloc_id: AllocId, offset: u64, layout: TyAndLayout<'tcx>) -> Value<'tcx> {
        self.check_defined(alloc_id);
        match self.repr(layout) {
            Repr::Zst => Value::Zst,
            Repr::One(prim) => Value::One(prim, self.constant_atom(alloc_id, offset, prim)),
            Repr::Two(a, b, b_offset) => {
                let first = self.constant_atom(alloc_id, offset, a);
                let second = self.constant_atom(alloc_id, offset + b_offset, b);
                Value::Two(a, b, b_offset, first, second)
            }
            Repr::Memory => {
                let address = self.builder.allocation_address(alloc_id);
                let addr = Addr { base: Base::of(address), offset: offset as i64 };
                Value::Memory(MemPlace { addr, meta: None, layout, align: layout.align.abi })
            }
        }
    }

    /// A scalar of a constant in memory.
    fn constant_atom(&mut self, alloc_id: AllocId, offset: u64, prim: Prim) -> Atom {
        let GlobalAlloc::Memory(allocation) = self.tcx.global_alloc(alloc_id) else {
            return Atom::Imm(0);
        };
        let size = rustc_abi::Size::from_bytes(prim.size);
        let range = alloc_range(rustc_abi::Size::from_bytes(offset), size);
        let is_pointer = allocation.inner().provenance().get_ptr(range.start).is_some();
        match allocation.inner().read_scalar(&self.tcx, range, is_pointer) {
            Ok(scalar) => self.builder.scalar_atom(scalar),
            // The unused part of an enum.
            Err(_) => Atom::Imm(0),
        }
    }
}
