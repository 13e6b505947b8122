//! The standard library's own bookkeeping: what it does for itself is not the user's concurrency.
//!
//! Spawning a thread counts thread ids and reference counts, panicking counts panics, reading the environment takes a
//! lock. None of that may add executions, so atomics in these functions, and in functions of the standard library that
//! they call, are done in memory at once. Code of the user that they call back is visible as ever.

use rustc_hir::def_id::DefId;
use rustc_middle::ty::print::{with_no_trimmed_paths, with_no_visible_paths};
use rustc_middle::ty::{self, Instance, Ty};

use crate::program::ProgramBuilder;

/// Modules whose functions are bookkeeping.
const MODULES: [&str; 11] = [
    "std::thread::",
    "std::sys::thread::",
    "std::sys::thread_local::",
    "std::sys::pal::",
    "std::sys::env::",
    "std::sys::random::",
    "std::env::",
    "std::panicking::",
    "std::rt::",
    "std::io::stdio::",
    "std_detect::",
];

impl<'tcx> ProgramBuilder<'tcx> {
    /// Whether a function is bookkeeping of the standard library.
    pub fn is_bookkeeping(&self, instance: Instance<'tcx>) -> bool {
        match instance.def {
            ty::InstanceKind::Item(def_id) => self.in_bookkeeping_module(def_id),
            // Dropping a thread handle and the like.
            ty::InstanceKind::Shim(ty::ShimKind::DropGlue(_, Some(ty))) => self.is_bookkeeping_type(ty),
            _ => false,
        }
    }

    fn is_bookkeeping_type(&self, ty: Ty<'tcx>) -> bool {
        matches!(ty.kind(), ty::Adt(def, _) if self.in_bookkeeping_module(def.did()))
    }

    fn in_bookkeeping_module(&self, def_id: DefId) -> bool {
        if !matches!(self.tcx.crate_name(def_id.krate).as_str(), "std" | "std_detect") {
            return false;
        }
        let path = with_no_visible_paths!(with_no_trimmed_paths!(self.tcx.def_path_str(def_id)));
        // Methods of a trait's implementation print as `<std::thread::Thread as Clone>::clone`.
        let path = path.trim_start_matches('<');
        MODULES.iter().any(|module| path.starts_with(module))
    }
}
