//! How a value of a type is held: in registers or in memory.
//!
//! A type that the compiler itself treats as one or two scalars lives in registers, everything else in memory. Unions
//! and other data that may be uninitialized stay in memory, where every byte knows whether it is initialized; the
//! exception is the payload of an enum such as `Option<usize>`, whose unused half may be read as zero.

use dpor_engine::program::{FloatTy, IntTy, Width};
use rustc_abi::{BackendRepr, Float, Primitive, Scalar, Variants};
use rustc_middle::ty::layout::{LayoutCx, TyAndLayout};
use rustc_middle::ty::{self, TyCtxt};

use crate::float::Format;

/// What a scalar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Int {
        signed: bool,
    },
    Pointer,
    F16,
    F32,
    F64,
    F128,
    /// A format that the machine does not compute with.
    OtherFloat,
}

/// One scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prim {
    /// In bytes: 1, 2, 4, 8 or 16.
    pub size: u8,
    pub kind: Kind,
    /// The valid values, where not all are.
    pub range: Option<(u128, u128)>,
    /// Whether it may be the unused part of an enum, not initialized in memory.
    pub padding: bool,
}

impl Prim {
    pub const USIZE: Prim = Prim { size: 8, kind: Kind::Int { signed: false }, range: None, padding: false };

    /// How many registers it takes.
    pub fn registers(self) -> u16 {
        if self.size == 16 { 2 } else { 1 }
    }

    /// Its width, unless it has 128 bits.
    pub fn width(self) -> Option<Width> {
        Width::from_bytes(u64::from(self.size))
    }

    pub fn signed(self) -> bool {
        self.kind == Kind::Int { signed: true }
    }

    /// The integer type of up to 64 bits that it is (pointers are `u64`).
    pub fn int_ty(self) -> Option<IntTy> {
        Some(IntTy { width: self.width()?, signed: self.signed() })
    }

    /// The floating-point type of up to 64 bits that it is.
    pub fn float_ty(self) -> Option<FloatTy> {
        match self.kind {
            Kind::F16 => Some(FloatTy::F16),
            Kind::F32 => Some(FloatTy::F32),
            Kind::F64 => Some(FloatTy::F64),
            _ => None,
        }
    }

    /// The format of a float that the machine computes with.
    pub fn format(self) -> Option<Format> {
        match self.kind {
            Kind::F128 => Some(Format::Quad),
            _ => self.float_ty().map(Format::Small),
        }
    }

    pub fn is_float(self) -> bool {
        !matches!(self.kind, Kind::Int { .. } | Kind::Pointer)
    }

    fn new(cx: &LayoutCx<'_>, scalar: Scalar, padding: bool) -> Prim {
        let primitive = scalar.primitive();
        let size = primitive.size(cx);
        let kind = match primitive {
            Primitive::Int(_, signed) => Kind::Int { signed },
            Primitive::Pointer(_) => Kind::Pointer,
            Primitive::Float(Float::F16) => Kind::F16,
            Primitive::Float(Float::F32) => Kind::F32,
            Primitive::Float(Float::F64) => Kind::F64,
            Primitive::Float(Float::F128) => Kind::F128,
            Primitive::Float(_) => Kind::OtherFloat,
        };
        let range = match scalar {
            Scalar::Initialized { valid_range, .. }
                if matches!(kind, Kind::Int { .. }) && size.bytes() <= 8 && !valid_range.is_full_for(size) =>
            {
                Some((valid_range.start, valid_range.end))
            }
            _ => None,
        };
        Prim { size: size.bytes() as u8, kind, range, padding }
    }
}

/// How a value is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repr {
    Zst,
    One(Prim),
    /// Two scalars; the offset of the second.
    Two(Prim, Prim, u64),
    Memory,
}

impl Repr {
    pub fn of<'tcx>(cx: &LayoutCx<'tcx>, layout: TyAndLayout<'tcx>) -> Repr {
        if layout.is_zst() {
            return Repr::Zst;
        }
        match layout.backend_repr {
            BackendRepr::Scalar(scalar @ Scalar::Initialized { .. }) => Repr::One(Prim::new(cx, scalar, false)),
            BackendRepr::ScalarPair { a: a @ Scalar::Initialized { .. }, b, b_offset } => {
                let padding = matches!(b, Scalar::Union { .. });
                if padding && !payload_is_initialized(cx, layout) {
                    return Repr::Memory;
                }
                Repr::Two(Prim::new(cx, a, false), Prim::new(cx, b, padding), b_offset.bytes())
            }
            _ => Repr::Memory,
        }
    }

    /// How many registers it takes.
    pub fn registers(self) -> u16 {
        match self {
            Repr::Zst | Repr::Memory => 0,
            Repr::One(a) => a.registers(),
            Repr::Two(a, b, _) => a.registers() + b.registers(),
        }
    }
}

/// Whether each variant of an enum that has the second scalar at all has it initialized: so for `Option<u32>`, not for
/// `Option<MaybeUninit<u32>>`.
fn payload_is_initialized<'tcx>(cx: &LayoutCx<'tcx>, layout: TyAndLayout<'tcx>) -> bool {
    match layout.ty.kind() {
        ty::Adt(def, _) if def.is_union() => return false,
        ty::Adt(..) | ty::Tuple(..) | ty::Closure(..) | ty::Coroutine(..) => {}
        _ => return false,
    }
    let fields_are = |variant: TyAndLayout<'tcx>| {
        (0..variant.fields.count()).all(|i| {
            let field = variant.field(cx, i);
            field.is_zst()
                || match field.backend_repr {
                    BackendRepr::Scalar(Scalar::Initialized { .. }) => true,
                    BackendRepr::ScalarPair { b: Scalar::Initialized { .. }, .. } => true,
                    BackendRepr::ScalarPair { .. } => payload_is_initialized(cx, field),
                    _ => false,
                }
        })
    };
    match &layout.variants {
        Variants::Multiple { variants, .. } => {
            variants.indices().all(|index| fields_are(layout.for_variant(cx, index)))
        }
        _ => fields_are(layout),
    }
}

/// The layouts of types after monomorphization.
pub fn layout_cx(tcx: TyCtxt<'_>) -> LayoutCx<'_> {
    LayoutCx::new(tcx, ty::TypingEnv::fully_monomorphized())
}
