//! The standard library's own bookkeeping: what it does for itself is not the user's concurrency.
//!
//! Spawning a thread counts thread ids and reference counts, panicking counts panics, reading the environment takes a
//! lock. None of that may add executions, so atomics in these functions, and in functions of the standard library that
//! they call, are done in memory at once. Code of the user that they call back is visible as ever.

use dpor_engine::program::{Origin, Quiet};
use rustc_hir::def_id::DefId;
use rustc_middle::ty::print::{with_no_trimmed_paths, with_no_visible_paths};
use rustc_middle::ty::{self, Instance, Ty};

use crate::program::{ProgramBuilder, is_drop_in};

/// Modules whose functions are bookkeeping.
const MODULES: [&str; 13] = [
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
    "std::sync::mpmc::queue::",
    "std::sys::sync::checker::table::",
    "std_detect::",
];

/// In the crate that stands in for loom: who holds a waker of a thread. The rest of it is as visible as code of the user.
const WAKERS: &str = "loom::future::waker::";

/// Modules whose functions are what the user asked for, even where bookkeeping calls them: a thread that waits for a
/// message is found through a thread-local.
const VISIBLE: [&str; 4] =
    ["std::sync::mpmc::", "std::sync::mpsc::", "std::sys::sync::checker::", "std::sys::sync::thread_parking::"];

/// Modules among those of the bookkeeping that work on behalf of their caller: thread-locals are the user's data.
const INHERITED: [&str; 1] = ["std::thread::local::"];

/// All of these modules of the standard library.
pub fn modules() -> impl Iterator<Item = &'static str> {
    let modules = MODULES.into_iter().chain(VISIBLE).chain(INHERITED);
    modules.map(|prefix| prefix.trim_end_matches("::")).filter(|path| path.starts_with("std::"))
}

impl<'tcx> ProgramBuilder<'tcx> {
    /// Whether a function is bookkeeping of the standard library.
    pub fn quiet(&mut self, instance: Instance<'tcx>) -> Quiet {
        if self.origin(instance.def_id()) != Origin::Std {
            return Quiet::No;
        }
        match instance.def {
            ty::InstanceKind::Item(def_id) if is_drop_in(self.tcx, def_id.krate) => self.quiet_drop_in(def_id),
            ty::InstanceKind::Item(def_id) => self.quiet_module(def_id),
            // Dropping a thread handle and the like.
            ty::InstanceKind::Shim(ty::ShimKind::DropGlue(_, Some(ty))) => self.quiet_type(ty),
            _ => Quiet::Inherited,
        }
    }

    fn quiet_type(&self, ty: Ty<'tcx>) -> Quiet {
        match ty.kind() {
            ty::Adt(def, _) => self.quiet_module(def.did()),
            _ => Quiet::Inherited,
        }
    }

    fn quiet_drop_in(&self, def_id: DefId) -> Quiet {
        let path = with_no_visible_paths!(with_no_trimmed_paths!(self.tcx.def_path_str(def_id)));
        if path.starts_with(WAKERS) { Quiet::Yes } else { Quiet::No }
    }

    fn quiet_module(&self, def_id: DefId) -> Quiet {
        if !matches!(self.tcx.crate_name(def_id.krate).as_str(), "std" | "std_detect") {
            return Quiet::Inherited;
        }
        let path = with_no_visible_paths!(with_no_trimmed_paths!(self.tcx.def_path_str(def_id)));
        // Methods of a trait's implementation print as `<std::thread::Thread as Clone>::clone`.
        let path = path.trim_start_matches('<');
        let within = |modules: &[&str]| modules.iter().any(|module| path.starts_with(module));
        match (within(&MODULES), within(&VISIBLE)) {
            _ if within(&INHERITED) => Quiet::Inherited,
            (true, _) => Quiet::Yes,
            (false, true) => Quiet::No,
            (false, false) => Quiet::Inherited,
        }
    }
}
