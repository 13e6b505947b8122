//! Finds the tests of a crate: the markers that `#[dpor::test]` leaves.

use dpor_engine::program::{ConfigError, Test, TestConfig};
use rustc_abi::Size;
use rustc_hir::def::DefKind;
use rustc_hir::def_id::{DefId, LocalDefId};
use rustc_middle::mir::ConstValue;
use rustc_middle::mir::interpret::{AllocId, GlobalAlloc, alloc_range};
use rustc_middle::ty::print::with_no_trimmed_paths;
use rustc_middle::ty::{self, Instance, TyCtxt};

use crate::lower::layout_of;
use crate::program::ProgramBuilder;

/// A test as its marker describes it.
struct Marker<'tcx> {
    name: String,
    config: String,
    entry: Instance<'tcx>,
}

impl<'tcx> ProgramBuilder<'tcx> {
    /// Finds all tests and queues what they run.
    pub fn collect_tests(&mut self) -> Result<(), ConfigError> {
        let tcx = self.tcx;
        let markers: Vec<LocalDefId> = tcx.hir_body_owners().filter(|id| is_marker(tcx, *id)).collect();
        for id in markers {
            let Some(marker) = read_marker(tcx, id) else {
                let message = "cannot read this test: use the version of the `dpor` crate that belongs to cargo-dpor";
                tcx.dcx().span_fatal(tcx.def_span(id), message);
            };
            let config = TestConfig::parse(&marker.config)?;
            let place = self.place(tcx.def_span(id));
            let entry = self.function(marker.entry);
            let name = test_path(tcx, id.to_def_id(), &marker.name);
            self.program.tests.push(Test { name, dpor: true, config, entry, place });
        }
        Ok(())
    }
}

/// The path of a test as libtest prints it: without the crate.
fn test_path(tcx: TyCtxt<'_>, marker: DefId, name: &str) -> String {
    let module = with_no_trimmed_paths!(tcx.def_path_str(tcx.parent(marker)));
    let krate = tcx.crate_name(marker.krate);
    let module = if module == "crate" || module == krate.as_str() { String::new() } else { module };
    match module.strip_prefix("crate::").unwrap_or(&module) {
        "" => name.to_owned(),
        module => format!("{module}::{name}"),
    }
}

fn is_marker(tcx: TyCtxt<'_>, id: LocalDefId) -> bool {
    if !matches!(tcx.def_kind(id), DefKind::Const) {
        return false;
    }
    let ty = tcx.type_of(id).instantiate_identity().skip_norm_wip();
    let ty::Adt(def, _) = ty.kind() else { return false };
    tcx.item_name(def.did()).as_str() == "Marker" && tcx.crate_name(def.did().krate).as_str() == "dpor"
}

fn read_marker<'tcx>(tcx: TyCtxt<'tcx>, id: LocalDefId) -> Option<Marker<'tcx>> {
    let value = tcx.const_eval_poly(id.to_def_id()).ok()?;
    let ConstValue::Indirect { alloc_id, offset } = value else { return None };
    let ty = tcx.type_of(id).instantiate_identity().skip_norm_wip();
    let layout = layout_of(tcx, ty);
    let at = |field: usize| offset + layout.fields.offset(field);
    let name = read_text(tcx, alloc_id, at(0))?;
    let config = read_text(tcx, alloc_id, at(1))?;
    let (function, _) = read_pointer(tcx, alloc_id, at(2))?;
    let GlobalAlloc::Function { instance } = tcx.global_alloc(function) else { return None };
    Some(Marker { name, config, entry: instance })
}

fn read_pointer(tcx: TyCtxt<'_>, alloc_id: AllocId, offset: Size) -> Option<(AllocId, Size)> {
    let GlobalAlloc::Memory(allocation) = tcx.global_alloc(alloc_id) else { return None };
    let scalar = allocation.inner().read_scalar(&tcx, alloc_range(offset, Size::from_bytes(8)), true).ok()?;
    let pointer = scalar.to_pointer(&tcx);
    let (provenance, offset) = pointer.into_raw_parts();
    Some((provenance?.alloc_id(), offset))
}

fn read_text(tcx: TyCtxt<'_>, alloc_id: AllocId, offset: Size) -> Option<String> {
    let GlobalAlloc::Memory(allocation) = tcx.global_alloc(alloc_id) else { return None };
    let len_at = alloc_range(offset + Size::from_bytes(8), Size::from_bytes(8));
    let len = allocation.inner().read_scalar(&tcx, len_at, false).ok()?.to_target_usize(&tcx).discard_err()?;
    if len == 0 {
        return Some(String::new());
    }
    let (text, start) = read_pointer(tcx, alloc_id, offset)?;
    let GlobalAlloc::Memory(allocation) = tcx.global_alloc(text) else { return None };
    let start = start.bytes_usize();
    let bytes = allocation.inner().inspect_with_uninit_and_ptr_outside_interpreter(start..start + len as usize);
    String::from_utf8(bytes.to_vec()).ok()
}
