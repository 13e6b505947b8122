//! Constants, statics and vtables: allocations of the compiler's own interpreter become globals with final addresses.

use dpor_engine::program::{Global, Pointer, ThreadLocal};
use rustc_abi::Size;
use rustc_hir::def::DefKind;
use rustc_hir::def_id::DefId;
use rustc_middle::mir::interpret::{AllocId, ConstAllocation, GlobalAlloc, Scalar, alloc_range};
use rustc_middle::ty::print::with_no_trimmed_paths;
use rustc_middle::ty::{self, Instance, Ty};

use crate::lower::Atom;
use crate::program::ProgramBuilder;

/// What tells one constant from another.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Constant {
    contents: Contents,
    align: u64,
}

/// What is in an allocation.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Contents {
    bytes: Vec<u8>,
    uninit: Vec<(u32, u32)>,
    pointers: Vec<Pointer>,
}

impl<'tcx> ProgramBuilder<'tcx> {
    /// A constant scalar.
    pub fn scalar_atom(&mut self, scalar: Scalar) -> Atom {
        match scalar {
            Scalar::Int(int) => Atom::Imm(int.to_bits(int.size())),
            Scalar::Ptr(pointer, _) => {
                let (provenance, offset) = pointer.into_raw_parts();
                Atom::address(self.allocation_address(provenance.alloc_id()), offset.bytes())
            }
        }
    }

    /// The address of what the compiler knows as `id`.
    pub fn allocation_address(&mut self, id: AllocId) -> u64 {
        if let Some(&address) = self.allocations.get(&id) {
            return address;
        }
        match self.tcx.global_alloc(id) {
            GlobalAlloc::Function { instance } => self.function_address(instance),
            GlobalAlloc::VTable(ty, predicates) => self.vtable(ty, predicates.principal()),
            GlobalAlloc::Static(def_id) => self.static_address(def_id),
            // The bytes of a type id are the offset; there is nothing to point to.
            GlobalAlloc::TypeId { .. } => 0,
            GlobalAlloc::Memory(allocation) if allocation.inner().mutability.is_mut() => {
                let (index, address) = self.reserve(allocation);
                self.allocations.insert(id, address);
                self.fill(index, allocation, String::new());
                address
            }
            GlobalAlloc::Memory(allocation) => {
                // Only mutable memory can point back to itself: the contents come first.
                let contents = self.contents(allocation);
                let address = self.constant(Constant { contents, align: allocation.inner().align.bytes() });
                if let Some(symbol) = self.missing_in(allocation) {
                    self.missing.insert(address, symbol);
                }
                self.allocations.insert(id, address);
                address
            }
        }
    }

    /// The address of a constant. Equal constants have the same, as in compiled programs, where they are merged.
    fn constant(&mut self, constant: Constant) -> u64 {
        if let Some(&address) = self.constants.get(&constant) {
            return address;
        }
        let Constant { contents: Contents { bytes, uninit, pointers }, align } = constant.clone();
        let (index, address) = self.reserve_global(bytes.len() as u64, align);
        self.constants.insert(constant, address);
        self.set_global(index, Global { address, align, bytes, uninit, pointers, mutable: false, name: String::new() });
        address
    }

    /// The address of the vtable of `ty` for a trait.
    pub fn vtable(&mut self, ty: Ty<'tcx>, principal: Option<ty::PolyExistentialTraitRef<'tcx>>) -> u64 {
        let principal = principal.map(|principal| self.tcx.instantiate_bound_regions_with_erased(principal));
        let id = self.tcx.vtable_allocation((ty, principal));
        self.allocation_address(id)
    }

    /// The address of a static.
    pub fn static_address(&mut self, def_id: DefId) -> u64 {
        if let Some(&address) = self.statics.get(&def_id) {
            return address;
        }
        if self.tcx.is_foreign_item(def_id) || self.has_extern_linkage(def_id) {
            let name = self.symbol_name(def_id);
            let address = match self.static_definition(&name) {
                Some(definition) => self.static_address(definition),
                None => self.foreign_static(def_id, name),
            };
            self.statics.insert(def_id, address);
            return address;
        }
        let Ok(allocation) = self.tcx.eval_static_initializer(def_id) else {
            return 0;
        };
        let (index, address) = self.reserve(allocation);
        self.statics.insert(def_id, address);
        self.describe_static(def_id, address);
        let name = with_no_trimmed_paths!(self.tcx.def_path_str(def_id));
        self.fill(index, allocation, name);
        address
    }

    fn has_extern_linkage(&self, def_id: DefId) -> bool {
        matches!(self.tcx.def_kind(def_id), DefKind::Static { .. })
            && self.tcx.codegen_fn_attrs(def_id).import_linkage.is_some()
    }

    /// A static that no crate defines. A weak symbol is null then; using any other is not supported.
    fn foreign_static(&mut self, def_id: DefId, symbol: String) -> u64 {
        let ty = self.tcx.type_of(def_id).instantiate_identity().skip_norm_wip();
        let (size, align) = match self.tcx.layout_of(ty::TypingEnv::fully_monomorphized().as_query_input(ty)) {
            Ok(layout) if layout.is_sized() => (layout.size.bytes(), layout.align.abi.bytes()),
            _ => (0, 1),
        };
        let (index, address) = self.reserve_global(size, align);
        if !self.has_extern_linkage(def_id) {
            self.missing.insert(address, symbol);
        }
        let name = with_no_trimmed_paths!(self.tcx.def_path_str(def_id));
        let bytes = vec![0; size as usize];
        let (uninit, pointers) = (Vec::new(), Vec::new());
        self.set_global(index, Global { address, align, bytes, uninit, pointers, mutable: true, name });
        address
    }

    /// The index of a thread-local static.
    pub fn thread_local(&mut self, def_id: DefId) -> u32 {
        if let Some(&index) = self.thread_locals.get(&def_id) {
            return index;
        }
        let index = self.program.thread_locals.len() as u32;
        self.thread_locals.insert(def_id, index);
        let name = with_no_trimmed_paths!(self.tcx.def_path_str(def_id));
        let (bytes, uninit, pointers) = (Vec::new(), Vec::new(), Vec::new());
        self.program.thread_locals.push(ThreadLocal { align: 1, bytes, uninit, pointers, name });
        if let Ok(allocation) = self.tcx.eval_static_initializer(def_id) {
            let Contents { bytes, uninit, pointers } = self.contents(allocation);
            let thread_local = &mut self.program.thread_locals[index as usize];
            thread_local.align = allocation.inner().align.bytes();
            thread_local.bytes = bytes;
            thread_local.uninit = uninit;
            thread_local.pointers = pointers;
        }
        index
    }

    /// The address of a text.
    pub fn text(&mut self, text: &str) -> u64 {
        let contents = Contents { bytes: text.as_bytes().to_vec(), uninit: Vec::new(), pointers: Vec::new() };
        self.constant(Constant { contents, align: 1 })
    }

    fn reserve(&mut self, allocation: ConstAllocation<'tcx>) -> (usize, u64) {
        let inner = allocation.inner();
        self.reserve_global(inner.size().bytes(), inner.align.bytes())
    }

    fn fill(&mut self, index: usize, allocation: ConstAllocation<'tcx>, name: String) {
        let Contents { bytes, uninit, pointers } = self.contents(allocation);
        let inner = allocation.inner();
        let address = self.program.globals[index].address;
        if let Some(symbol) = self.missing_in(allocation) {
            self.missing.insert(address, symbol);
        }
        let mutable = inner.mutability.is_mut();
        self.set_global(index, Global { address, align: inner.align.bytes(), bytes, uninit, pointers, mutable, name });
    }

    /// A symbol that no crate defines, and that an allocation points to.
    fn missing_in(&mut self, allocation: ConstAllocation<'tcx>) -> Option<String> {
        if self.missing.is_empty() {
            return None;
        }
        let targets: Vec<AllocId> =
            allocation.inner().provenance().ptrs().iter().map(|(_, provenance)| provenance.alloc_id()).collect();
        targets.into_iter().find_map(|id| self.missing_symbol(id))
    }

    /// A symbol that no crate defines, where an allocation is that of the symbol or points to it.
    pub fn missing_symbol(&mut self, id: AllocId) -> Option<String> {
        let address = self.allocation_address(id);
        self.missing.get(&address).cloned()
    }

    /// The bytes of an allocation with final addresses in the place of pointers, and what is not initialized.
    fn contents(&mut self, allocation: ConstAllocation<'tcx>) -> Contents {
        let inner = allocation.inner();
        let len = inner.len();
        let mut bytes = inner.inspect_with_uninit_and_ptr_outside_interpreter(0..len).to_vec();
        let mut pointers = Vec::new();
        for &(offset, provenance) in inner.provenance().ptrs().iter() {
            let at = offset.bytes_usize()..offset.bytes_usize() + 8;
            let mut addend = [0; 8];
            addend.copy_from_slice(&bytes[at.clone()]);
            let base = self.allocation_address(provenance.alloc_id());
            // What has no address is its offset.
            pointers.extend((base != 0).then_some(Pointer { at: offset.bytes() as u32, base }));
            bytes[at].copy_from_slice(&base.wrapping_add(u64::from_le_bytes(addend)).to_le_bytes());
        }
        let mut uninit = Vec::new();
        for chunk in inner.init_mask().range_as_init_chunks(alloc_range(Size::ZERO, Size::from_bytes(len))) {
            if !chunk.is_init() {
                let range = chunk.range();
                uninit.push((range.start.bytes() as u32, range.end.bytes() as u32));
            }
        }
        Contents { bytes, uninit, pointers }
    }

    /// An instance of a function that is not generic.
    pub fn mono(&self, def_id: DefId) -> Instance<'tcx> {
        Instance::mono(self.tcx, def_id)
    }
}
