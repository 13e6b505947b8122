//! Finds the tests of a crate: the markers that `#[dpor::test]` leaves and, where they are asked for, the descriptions
//! that `#[test]` leaves for the test harness.

use std::collections::{HashMap, HashSet};

use dpor_engine::program::{ConfigError, ShouldPanic, Test, TestConfig};
use rustc_abi::Size;
use rustc_attr_ir::find_attr;
use rustc_hir::def::DefKind;
use rustc_hir::def_id::{DefId, LocalDefId};
use rustc_middle::mir::ConstValue;
use rustc_middle::mir::interpret::{AllocId, GlobalAlloc, alloc_range};
use rustc_middle::ty::print::with_no_trimmed_paths;
use rustc_middle::ty::{self, Instance, TyCtxt};
use rustc_span::Symbol;

use crate::lower::layout_of;
use crate::program::ProgramBuilder;

/// A test as its marker describes it.
struct Marker<'tcx> {
    name: String,
    config: String,
    entry: Instance<'tcx>,
}

impl<'tcx> ProgramBuilder<'tcx> {
    /// Finds the tests marked as ours, and queues what they run.
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

    /// Finds the other tests of the crate, and queues what they run.
    pub fn collect_plain_tests(&mut self) {
        let Some(run) = self.find_item(&["test", "dpor_run"]) else { return };
        let ours: HashSet<String> = self.program.tests.iter().map(|test| test.name.clone()).collect();
        for test in plain_tests(self.tcx).into_iter().filter(|test| !ours.contains(&test.name)) {
            let closure = self.tcx.type_of(test.closure).instantiate_identity().skip_norm_wip();
            let args = self.tcx.mk_args(&[closure.into()]);
            let entry = self.function(Instance::new_raw(run, args));
            let place = self.place(self.tcx.def_ident_span(test.function).unwrap_or(self.tcx.def_span(test.function)));
            let config = attributes(self.tcx, test.function);
            self.program.tests.push(Test { name: test.name, dpor: false, config, entry, place });
        }
    }
}

/// A `#[test]`: the function, and the closure without arguments that runs it for the harness.
struct PlainTest {
    /// Its path, as the harness prints it.
    name: String,
    function: LocalDefId,
    closure: LocalDefId,
}

/// The functions with `#[test]`. Each has a static of the same name beside it, with a closure that calls it.
fn plain_tests(tcx: TyCtxt<'_>) -> Vec<PlainTest> {
    let mut functions: HashMap<(DefId, Symbol), LocalDefId> = HashMap::new();
    let mut closures: HashMap<DefId, LocalDefId> = HashMap::new();
    let mut descriptions: Vec<(LocalDefId, Symbol)> = Vec::new();
    for id in tcx.hir_body_owners() {
        match tcx.def_kind(id) {
            DefKind::Fn => {
                functions.insert((tcx.parent(id.to_def_id()), tcx.item_name(id)), id);
            }
            DefKind::Closure if takes_nothing(tcx, id) => {
                closures.insert(tcx.parent(id.to_def_id()), id);
            }
            DefKind::Static { .. } => descriptions.extend(described_test(tcx, id).map(|name| (id, name))),
            _ => {}
        }
    }
    let test = |(id, name): (LocalDefId, Symbol)| {
        let function = *functions.get(&(tcx.parent(id.to_def_id()), tcx.item_name(id)))?;
        Some(PlainTest { name: name.to_string(), function, closure: *closures.get(&id.to_def_id())? })
    };
    descriptions.into_iter().filter_map(test).collect()
}

/// The name of the test that a static describes. The harness sees only those in modules.
fn described_test(tcx: TyCtxt<'_>, id: LocalDefId) -> Option<Symbol> {
    let in_module = tcx.def_kind(tcx.parent(id.to_def_id())) == DefKind::Mod;
    in_module.then(|| find_attr!(tcx, id, RustcTestMarker(name) => *name)).flatten()
}

/// Whether a closure is called without arguments: those of tests are, those of benchmarks are not.
fn takes_nothing(tcx: TyCtxt<'_>, closure: LocalDefId) -> bool {
    tcx.hir_body_owned_by(closure).params.is_empty()
}

/// What the attributes of a test say.
fn attributes(tcx: TyCtxt<'_>, function: LocalDefId) -> TestConfig {
    let text = |reason: Option<Symbol>| reason.map(|reason| reason.to_string()).unwrap_or_default();
    let expected = find_attr!(tcx, function, ShouldPanic { reason } => text(*reason));
    let should_panic = expected.map(|expected| ShouldPanic { expected });
    let ignore = find_attr!(tcx, function, Ignore { reason, .. } => text(*reason));
    TestConfig { should_panic, ignore, ..TestConfig::default() }
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
