//! The rustc driver of cargo-dpor: it compiles a crate as rustc does and, for the test targets of the selected packages,
//! lowers the tests and everything they reach to a [`dpor_engine::program::Program`].
//!
//! Cargo runs it as `RUSTC_WRAPPER`. This is the only crate that uses the compiler's crates.

#![feature(rustc_private)]
#![forbid(unsafe_code)]

extern crate rustc_abi;
extern crate rustc_ast;
extern crate rustc_attr_ir;
extern crate rustc_driver;
extern crate rustc_hir;
extern crate rustc_index;
extern crate rustc_interface;
extern crate rustc_middle;
extern crate rustc_mir_dataflow;
extern crate rustc_session;
extern crate rustc_span;
extern crate rustc_target;

mod bookkeeping;
mod debug;
mod emit;
mod float;
mod foreign;
mod globals;
mod intercept;
mod lower;
mod program;
mod repr;
mod tests;

use std::path::PathBuf;
use std::process::ExitCode;

use rustc_driver::{Callbacks, Compilation, catch_with_exit_code};
use rustc_interface::interface::{Compiler, Config};
use rustc_middle::mir;
use rustc_middle::ty::{self, Instance, TyCtxt};
use rustc_span::Symbol;

use crate::lower::Lowering;
use crate::program::ProgramBuilder;

/// What a crate for the target is compiled with, so that its MIR is complete and close to the source.
const FLAGS: [&str; 9] = [
    "-Zalways-encode-mir",
    "-Zmir-opt-level=1",
    "-Zinline-mir=no",
    // Places that are only mentioned stay, and values that are looked at for nothing.
    "-Zmir-preserve-ub",
    // The ends of scopes stay, so that a pointer to a local that is no more is noticed; and so do copies of values
    // without a size, which have an address and a type.
    "-Zmir-enable-passes=-RemoveStorageMarkers,-RemoveZsts",
    "-Zub-checks=no",
    "-Cpanic=unwind",
    // By this a program knows that it is checked.
    "--cfg=dpor",
    "--check-cfg=cfg(dpor)",
];

/// Set where every `#[test]` is to be lowered, not only every `#[dpor::test]`.
const ALL_TESTS: &str = "DPOR_ALL_TESTS";

/// Runs the driver with the arguments that cargo gives to a compiler wrapper: the compiler, then its arguments.
pub fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().collect();
    // cargo passes the path of the compiler that it would have run.
    if args.len() > 1 && args[1].ends_with("rustc") {
        args.remove(1);
    }
    // Build scripts and procedural macros have no `--target`: they run on the host, with the stock library.
    let for_target = args.iter().any(|arg| arg == "--target" || arg.starts_with("--target="));
    let mut callbacks = Lower { output: None };
    if let (true, Ok(sysroot)) = (for_target, std::env::var("DPOR_SYSROOT")) {
        args.extend(["--sysroot".to_owned(), sysroot]);
        args.extend(FLAGS.map(str::to_owned));
        // What the crate's own compiler accepts is not refused for the lints of this one.
        if !args.iter().any(|arg| arg.starts_with("--cap-lints")) {
            args.push("--cap-lints=warn".to_owned());
        }
        callbacks.output = output(&args);
    }
    let exit_code = catch_with_exit_code(|| rustc_driver::compiler_entrypoint(&args, &mut callbacks));
    if args.iter().any(|arg| arg == "-vV") {
        println!("{}", identity());
    }
    exit_code
}

/// A line for `rustc -vV` that changes with the driver: cargo then compiles everything anew.
fn identity() -> String {
    let modified = std::env::current_exe()
        .and_then(|path| path.metadata())
        .and_then(|metadata| metadata.modified())
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    format!("dpor: {} {}", env!("CARGO_PKG_VERSION"), modified.map_or(0, |time| time.as_nanos()))
}

/// Where the program goes: beside the metadata of a test target of a package under check.
fn output(args: &[String]) -> Option<PathBuf> {
    let primary = std::env::var_os("CARGO_PRIMARY_PACKAGE").is_some();
    if !primary || !args.iter().any(|arg| arg == "--test") {
        return None;
    }
    let value = |name: &str| {
        let at = args.iter().position(|arg| arg == name)?;
        args.get(at + 1)
    };
    let extra =
        args.iter().find_map(|arg| arg.strip_prefix("extra-filename=").or(arg.strip_prefix("-Cextra-filename=")));
    let name = value("--crate-name")?;
    let dir = value("--out-dir")?;
    Some(PathBuf::from(dir).join(format!("lib{name}{}.dpor", extra.unwrap_or(""))))
}

struct Lower {
    output: Option<PathBuf>,
}

impl Callbacks for Lower {
    fn config(&mut self, config: &mut Config) {
        if self.output.is_some() {
            // Cargo compiles anew where the variable is not what it was.
            config.track_state = Some(Box::new(|sess| {
                let value = std::env::var(ALL_TESTS).ok().map(|value| Symbol::intern(&value));
                sess.env_depinfo.borrow_mut().insert((Symbol::intern(ALL_TESTS), value));
            }));
        }
    }

    fn after_analysis<'tcx>(&mut self, _compiler: &Compiler, tcx: TyCtxt<'tcx>) -> Compilation {
        if let Some(output) = &self.output {
            let mut builder = ProgramBuilder::new(tcx);
            if let Some(path) = builder.missing_in_std() {
                tcx.dcx().fatal(format!(
                    "the standard library has no `{path}`: cargo-dpor was built for a different toolchain"
                ));
            }
            if let Err(error) = builder.collect_tests() {
                tcx.dcx().fatal(error.to_string());
            }
            if std::env::var_os(ALL_TESTS).is_some() {
                builder.collect_plain_tests();
            }
            lower_all(&mut builder);
            tcx.dcx().abort_if_errors();
            debug::finish(&mut builder.program.debug);
            if let Err(error) = builder.program.save(output) {
                tcx.dcx().fatal(format!("cannot write {}: {error}", output.display()));
            }
        }
        Compilation::Continue
    }
}

/// Lowers everything in the queue, and what that puts into it.
fn lower_all(builder: &mut ProgramBuilder<'_>) {
    while let Some((id, instance)) = builder.queue.pop() {
        builder.current = Some(id);
        lower_instance(builder, id, instance);
    }
}

fn lower_instance<'tcx>(
    builder: &mut ProgramBuilder<'tcx>,
    id: dpor_engine::program::FuncId,
    instance: Instance<'tcx>,
) {
    let tcx = builder.tcx;
    if builder.intercept(id, instance) {
        return;
    }
    if let ty::InstanceKind::Item(def_id) = instance.def
        && tcx.is_foreign_item(def_id)
    {
        return builder.foreign_function(id, instance);
    }
    let body = tcx.instance_mir(instance.def);
    let body = instance.instantiate_mir_and_normalize_erasing_regions(
        tcx,
        ty::TypingEnv::fully_monomorphized(),
        ty::EarlyBinder::bind(tcx, body.clone()),
    );
    evaluate_required(tcx, &body);
    builder.note_signature(id, instance);
    Lowering::lower(builder, id, instance, &body);
}

/// Evaluates the constants that a function needs, used or not: an assertion among them that fails is an error, which
/// the evaluation reports.
fn evaluate_required<'tcx>(tcx: TyCtxt<'tcx>, body: &mir::Body<'tcx>) {
    for constant in body.required_consts() {
        let _ = constant.const_.eval(tcx, ty::TypingEnv::fully_monomorphized(), constant.span);
    }
}
