//! What the source calls things: the types of variables, and what calls allocate.

use dpor_engine::program::{
    BlockType, DebugInfo, Field, FuncId, Origin, PlaceId, Shape, SlotType, StaticType, TypeInfo, TypeRef, ValueKind,
};
use rustc_hir::def::DefKind;
use rustc_hir::def_id::DefId;
use rustc_middle::ty::layout::TyAndLayout;
use rustc_middle::ty::{self, AdtDef, GenericArgsRef, Ty};
use rustc_span::sym;

use crate::program::ProgramBuilder;

/// How deep inside of types of the library blocks are looked for.
const MAX_DEPTH: usize = 3;

/// A block of memory that a type owns: of what, and whether of any number of these.
#[derive(Clone, Copy)]
struct Owned<'tcx> {
    ty: Ty<'tcx>,
    many: bool,
}

impl<'tcx> ProgramBuilder<'tcx> {
    /// A type as reports know it; none where it has no size.
    fn type_ref(&mut self, ty: Ty<'tcx>) -> Option<TypeRef> {
        if let Some(known) = self.types.get(&ty) {
            return Some(*known);
        }
        let layout = self.tcx.layout_of(ty::TypingEnv::fully_monomorphized().as_query_input(ty)).ok()?;
        if !layout.is_sized() {
            return None;
        }
        let shape = self.shape(layout);
        let library = match ty.kind() {
            ty::Adt(adt, _) => self.origin(adt.did()) == Origin::Std,
            _ => false,
        };
        let info = TypeInfo { name: self.type_name(ty), size: layout.size.bytes(), library, shape };
        let reference = TypeRef(self.program.debug.types.len() as u32);
        self.program.debug.types.push(info);
        self.types.insert(ty, reference);
        Some(reference)
    }

    fn shape(&mut self, layout: TyAndLayout<'tcx>) -> Shape {
        if let Some(atomic) = self.atomic(layout.ty) {
            return Shape::Value(value_kind(atomic));
        }
        match *layout.ty.kind() {
            ty::Adt(adt, _) if adt.is_box() => Shape::Value(ValueKind::Pointer),
            ty::Adt(adt, _) if adt.is_struct() => {
                let names = adt.non_enum_variant().fields.iter().map(|field| field.name.to_string());
                self.fields(layout, names.collect())
            }
            ty::Adt(adt, args) if self.tcx.is_lang_item(adt.did(), rustc_attr_ir::LangItem::MaybeUninit) => {
                match self.type_ref(args.type_at(0)) {
                    Some(ty) => Shape::Fields(vec![Field { name: "value".to_owned(), offset: 0, ty }]),
                    None => Shape::Value(ValueKind::Unknown),
                }
            }
            ty::Tuple(fields) => {
                let names = (0..fields.len()).map(|index| index.to_string()).collect();
                self.fields(layout, names)
            }
            ty::Closure(def_id, _) => {
                let names = self.tcx.closure_saved_names_of_captured_variables(def_id);
                self.fields(layout, names.iter().map(|name| name.to_string()).collect())
            }
            ty::Array(element, _) => self.type_ref(element).map_or(Shape::Value(ValueKind::Unknown), Shape::Elements),
            _ => Shape::Value(value_kind(layout.ty)),
        }
    }

    fn fields(&mut self, layout: TyAndLayout<'tcx>, names: Vec<String>) -> Shape {
        let mut fields = Vec::new();
        for (index, name) in names.into_iter().enumerate().take(layout.fields.count()) {
            let field = layout.field(&self.layouts, index);
            if let Some(ty) = self.type_ref(field.ty).filter(|_| !field.is_zst()) {
                fields.push(Field { name, offset: layout.fields.offset(index).bytes(), ty });
            }
        }
        Shape::Fields(fields)
    }

    /// What an atomic holds.
    fn atomic(&mut self, ty: Ty<'tcx>) -> Option<Ty<'tcx>> {
        let ty::Adt(adt, args) = *ty.kind() else { return None };
        let is_atomic = self.is_named(adt.did(), "Atomic") && self.origin(adt.did()) == Origin::Std;
        if is_atomic { args.types().next() } else { None }
    }

    fn is_named(&self, def_id: DefId, name: &str) -> bool {
        self.tcx.item_name(def_id).as_str() == name
    }

    /// A short name: `Node` for `stack::Node<u8>`, `AtomicBool` for what that is.
    fn type_name(&mut self, ty: Ty<'tcx>) -> String {
        if let Some(value) = self.atomic(ty) {
            let name = if value.is_any_ptr() { "ptr".to_owned() } else { value.to_string() };
            return format!("Atomic{}{}", name[..1].to_uppercase(), &name[1..]);
        }
        match *ty.kind() {
            // The library's box around what is counted.
            ty::Adt(adt, args) if self.is_counted(adt) => {
                args.types().next().map(|inner| self.type_name(inner)).unwrap_or_default()
            }
            ty::Adt(adt, _) => self.tcx.item_name(adt.did()).to_string(),
            ty::Closure(..) => "closure".to_owned(),
            _ => String::new(),
        }
    }

    fn is_counted(&mut self, adt: AdtDef<'tcx>) -> bool {
        let named = self.is_named(adt.did(), "ArcInner") || self.is_named(adt.did(), "RcInner");
        named && self.origin(adt.did()) == Origin::Std
    }

    /// A local of a function is in its frames.
    pub fn describe_slot(&mut self, function: FuncId, offset: u16, ty: Ty<'tcx>) {
        if let Some(ty) = self.type_ref(ty) {
            self.program.debug.slots.push(SlotType { function, offset, ty });
        }
    }

    /// A static is at an address.
    pub fn describe_static(&mut self, def_id: DefId, address: u64) {
        // What an initializer points to is a static without a type of its own.
        if matches!(self.tcx.def_kind(def_id), DefKind::Static { nested: true, .. }) {
            return;
        }
        let ty = self.tcx.type_of(def_id).instantiate_identity().skip_norm_wip();
        let ty =
            self.tcx.normalize_erasing_regions(ty::TypingEnv::fully_monomorphized(), ty::Unnormalized::new_wip(ty));
        if let Some(ty) = self.type_ref(ty) {
            self.program.debug.statics.push(StaticType { address, ty });
        }
    }

    /// A call of the library may allocate what its result and its arguments own.
    pub fn describe_call(&mut self, place: PlaceId, result: Ty<'tcx>, name: &str, arguments: &[Ty<'tcx>]) {
        for owned in self.owned(result, 0) {
            self.add_block(place, owned, name);
        }
        for argument in arguments {
            for owned in self.owned(argument.peel_refs(), 0).into_iter().filter(|owned| owned.many) {
                self.add_block(place, owned, "");
            }
        }
    }

    fn add_block(&mut self, place: PlaceId, owned: Owned<'tcx>, name: &str) {
        let Some(ty) = self.type_ref(owned.ty) else { return };
        let block = BlockType { place, ty, many: owned.many, name: name.to_owned() };
        self.program.debug.blocks.push(block);
    }

    /// The blocks that a type of the library owns.
    fn owned(&mut self, ty: Ty<'tcx>, depth: usize) -> Vec<Owned<'tcx>> {
        if let ty::Tuple(types) = ty.kind() {
            return types.iter().flat_map(|ty| self.owned(ty, depth)).collect();
        }
        if let (ty::RawPtr(pointee, _), 1..) = (ty.kind(), depth) {
            return vec![Owned { ty: *pointee, many: false }];
        }
        let ty::Adt(adt, args) = *ty.kind() else { return Vec::new() };
        if depth > MAX_DEPTH || self.origin(adt.did()) != Origin::Std {
            return Vec::new();
        }
        if let Some(inner) = ty.boxed_ty() {
            return vec![match *inner.kind() {
                ty::Slice(element) => Owned { ty: element, many: true },
                _ => Owned { ty: inner, many: false },
            }];
        }
        if self.tcx.is_diagnostic_item(sym::Vec, adt.did()) || self.is_named(adt.did(), "VecDeque") {
            return args.types().next().map(|ty| Owned { ty, many: true }).into_iter().collect();
        }
        if self.tcx.is_diagnostic_item(sym::Arc, adt.did()) || self.tcx.is_diagnostic_item(sym::Rc, adt.did()) {
            return self.counted(adt, args).into_iter().collect();
        }
        let env = ty::TypingEnv::fully_monomorphized();
        let fields = adt.all_fields().map(|field| self.tcx.normalize_erasing_regions(env, field.ty(self.tcx, args)));
        let fields: Vec<Ty> = fields.collect();
        fields.into_iter().flat_map(|ty| self.owned(ty, depth + 1)).collect()
    }

    /// What an `Arc` or an `Rc` points to.
    fn counted(&mut self, adt: AdtDef<'tcx>, args: GenericArgsRef<'tcx>) -> Option<Owned<'tcx>> {
        let pointer = adt.non_enum_variant().fields.iter().next()?.ty(self.tcx, args);
        let pointer = self.tcx.normalize_erasing_regions(ty::TypingEnv::fully_monomorphized(), pointer);
        let ty::Adt(_, args) = *pointer.kind() else { return None };
        Some(Owned { ty: args.types().next()?, many: false })
    }
}

/// How a value of a type is written.
fn value_kind(ty: Ty<'_>) -> ValueKind {
    match ty.kind() {
        ty::Bool => ValueKind::Bool,
        ty::Char => ValueKind::Char,
        ty::Int(int) => ValueKind::Signed(int.bit_width().unwrap_or(64) as u8),
        ty::Uint(_) => ValueKind::Unsigned,
        ty::RawPtr(..) | ty::Ref(..) | ty::FnPtr(..) => ValueKind::Pointer,
        _ => ValueKind::Unknown,
    }
}

/// Puts everything in order, and each thing once.
pub fn finish(debug: &mut DebugInfo) {
    debug.slots.sort_by_key(|slot| (slot.function, slot.offset));
    debug.statics.sort_by_key(|entry| entry.address);
    debug.blocks.sort_by_key(|block| (block.place, block.many, block.name.is_empty(), block.ty));
    debug.blocks.dedup();
}
