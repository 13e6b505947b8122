//! Functions of the standard library, and a few of other crates, that the machine provides in another way, found by
//! their path.
//!
//! Each replaces a whole function. A path that does not exist in the standard library would silently not be
//! intercepted, nor would a module that is not there count as bookkeeping, so every one of them is looked up first.

use dpor_engine::program::{Builtin, FuncId, Op, Origin, Reg, Unwind};
use rustc_hir::def::DefKind;
use rustc_hir::def_id::DefId;
use rustc_middle::ty::print::{with_no_trimmed_paths, with_no_visible_paths};
use rustc_middle::ty::{self, Instance, Ty};

use crate::bookkeeping;
use crate::emit::{Emitter, FrameMemory};
use crate::lower::layout_of;
use crate::program::ProgramBuilder;
use crate::repr::Repr;

/// What replaces a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Replacement {
    /// A function of the machine with the same arguments and results.
    Builtin(Builtin),
    /// Returns a number.
    Constant(u64),
    /// Returns a struct in memory that is all zeros.
    Zeros,
    /// The default panic hook: records the message.
    PanicHook,
    /// `print!` and `eprint!`: formats and captures.
    Print(Builtin),
}

const REPLACEMENTS: &[(&str, Replacement)] = &[
    ("dpor::choose", Replacement::Builtin(Builtin::Choose)),
    ("dpor::assume", Replacement::Builtin(Builtin::Assume)),
    ("dpor::__rt::cover", Replacement::Builtin(Builtin::Cover)),
    ("dpor::checking", Replacement::Constant(1)),
    ("dpor::__rt::boundary", Replacement::Builtin(Builtin::Model)),
    ("dpor::__rt::unjoined", Replacement::Builtin(Builtin::Gather)),
    ("dpor::__rt::join", Replacement::Builtin(Builtin::JoinGathered)),
    // No processor features beyond the target's own: code takes its portable paths.
    ("core::core_arch::x86::cpuid::__cpuid_count", Replacement::Zeros),
    // No limit by control groups: those are files.
    ("std::sys::thread::unix::cgroups::quota", Replacement::Constant(u64::MAX)),
    ("crossbeam_utils::backoff::Backoff::spin", Replacement::Builtin(Builtin::BackoffSpin)),
    ("crossbeam_utils::backoff::Backoff::snooze", Replacement::Builtin(Builtin::BackoffSnooze)),
    ("crossbeam_utils::backoff::Backoff::is_completed", Replacement::Builtin(Builtin::BackoffIsCompleted)),
    ("core::hint::spin_loop", Replacement::Builtin(Builtin::SpinLoop)),
    ("std::sys::random::hashmap_random_keys", Replacement::Builtin(Builtin::HashSeeds)),
    ("std::sys::env::unix::environ", Replacement::Builtin(Builtin::Environ)),
    ("std::sys::args::unix::imp::argc_argv", Replacement::Builtin(Builtin::Args)),
    ("std::panicking::default_hook", Replacement::PanicHook),
    ("std::io::stdio::_print", Replacement::Print(Builtin::Print)),
    ("std::io::stdio::_eprint", Replacement::Print(Builtin::Eprint)),
];

/// The trait behind `==` of slices.
const SLICE_EQUALITY: &str = "core::slice::cmp::SlicePartialEq";

impl<'tcx> ProgramBuilder<'tcx> {
    /// The first function to be replaced, or module of its bookkeeping, that the standard library does not have.
    pub fn missing_in_std(&self) -> Option<&'static str> {
        let is_in_std = |path: &&str| !path.starts_with("dpor::") && !path.starts_with("crossbeam_utils::");
        let in_std = REPLACEMENTS.iter().map(|(path, _)| *path).filter(is_in_std);
        let in_std = in_std.chain([SLICE_EQUALITY]).chain(bookkeeping::modules());
        in_std.into_iter().find(|path| self.find_item(&path.split("::").collect::<Vec<_>>()).is_none())
    }

    /// Writes the replacement of a function; false where there is none.
    pub fn intercept(&mut self, id: FuncId, instance: Instance<'tcx>) -> bool {
        let ty::InstanceKind::Item(def_id) = instance.def else { return false };
        let krate = self.tcx.crate_name(def_id.krate);
        if !matches!(krate.as_str(), "core" | "std" | "dpor" | "crossbeam_utils") {
            return false;
        }
        if krate.as_str() == "core" && self.compares_units(instance) {
            self.replace(id, instance, Replacement::Constant(1));
            return true;
        }
        let path = with_no_visible_paths!(with_no_trimmed_paths!(self.tcx.def_path_str(def_id)));
        let Some(&(_, replacement)) = REPLACEMENTS.iter().find(|(name, _)| *name == path) else { return false };
        if krate.as_str() == "crossbeam_utils" && !self.is_backoff(instance) {
            return false;
        }
        self.replace(id, instance, replacement);
        true
    }

    /// Whether a function compares slices of `()`, which are equal: there can be as many as there are numbers.
    fn compares_units(&self, method: Instance<'tcx>) -> bool {
        let def_id = method.def_id();
        if self.tcx.opt_item_name(def_id).is_none_or(|name| name.as_str() != "equal_same_length") {
            return false;
        }
        let path = with_no_visible_paths!(with_no_trimmed_paths!(self.tcx.def_path_str(def_id)));
        path.contains(&format!(" as {SLICE_EQUALITY}<"))
            && method.args.types().count() == 2
            && method.args.types().all(|ty| ty.is_unit())
    }

    /// Whether a method is of a struct that is nothing but a counter of 32 bits.
    fn is_backoff(&self, method: Instance<'tcx>) -> bool {
        let sig = method.ty(self.tcx, ty::TypingEnv::fully_monomorphized()).fn_sig(self.tcx);
        let sig = self.tcx.instantiate_bound_regions_with_erased(sig);
        let receiver = sig.inputs().first().and_then(|input| input.builtin_deref(true));
        receiver.is_some_and(|ty| self.field_offset(ty, "step") == Some(0) && layout_of(self.tcx, ty).size.bytes() == 4)
    }

    fn replace(&mut self, id: FuncId, instance: Instance<'tcx>, replacement: Replacement) {
        let span = self.tcx.def_span(instance.def_id());
        let place = self.place(span);
        let mut emit = Emitter::new(place);
        let sig = instance.ty(self.tcx, ty::TypingEnv::fully_monomorphized()).fn_sig(self.tcx);
        let sig = self.tcx.instantiate_bound_regions_with_erased(sig);
        let result = layout_of(self.tcx, sig.output());
        let result_repr = Repr::of(&self.layouts, result);
        let results = result_repr.registers();
        // Registers of the parameters follow those of the results; a result in memory is written through the first.
        let mut first = Reg(results + u16::from(result_repr == Repr::Memory));
        let mut params = Vec::new();
        for &input in sig.inputs() {
            let repr = Repr::of(&self.layouts, layout_of(self.tcx, input));
            let count = if repr == Repr::Memory { 1 } else { repr.registers() };
            params.extend((0..count).map(|i| Reg(first.0 + i)));
            first = Reg(first.0 + count);
        }
        if instance.def.requires_caller_location(self.tcx) {
            first = Reg(first.0 + 1);
        }
        let param_count = first.0 - results;
        emit.registers(first.0);
        let dst = if results == 0 { emit.register() } else { Reg(0) };
        match replacement {
            Replacement::Builtin(builtin) => {
                let args = emit.list(&params);
                emit.op(Op::Builtin { builtin, args, dst, unwind: Unwind::CONTINUE });
            }
            Replacement::Constant(value) => emit.imm(dst, value),
            Replacement::Zeros => {
                let (value, len) = (emit.register(), emit.register());
                emit.imm(value, 0);
                emit.imm(len, result.size.bytes());
                emit.op(Op::Fill { align: 0, dst: Reg(results), value, len });
            }
            Replacement::PanicHook => self.panic_hook(&mut emit, sig.inputs()[0], params[0]),
            Replacement::Print(builtin) => self.print(&mut emit, &params, builtin),
        }
        emit.op(Op::Return);
        let name = self.function_name(instance);
        let function = emit.finish(name.clone(), Origin::Std, param_count, results as u8, place);
        self.set_function(id, function, &name, span);
    }

    /// Reads message and location from a `&PanicHookInfo` and reports them.
    fn panic_hook(&mut self, emit: &mut Emitter, info_ref: Ty<'tcx>, info: Reg) {
        let Some(info_ty) = info_ref.builtin_deref(true) else { return };
        let (Some(payload), Some(location)) =
            (self.field_offset(info_ty, "payload"), self.field_offset(info_ty, "location"))
        else {
            return self.missing(emit, "the fields of `PanicHookInfo`");
        };
        let Some(payload_as_str) = self.find_std(&["panicking", "payload_as_str"]) else {
            return self.missing(emit, "`std::panicking::payload_as_str`");
        };
        let pair = emit.registers(2);
        let width = dpor_engine::program::Width::W64;
        emit.load(width, 3, pair, info, payload as i32);
        emit.load(width, 3, Reg(pair.0 + 1), info, payload as i32 + 8);
        let text = emit.registers(2);
        let func = self.function(payload_as_str);
        let args = emit.list(&[pair, Reg(pair.0 + 1)]);
        emit.op(Op::Call { func, args, dst: text, unwind: Unwind::CONTINUE });
        let place = emit.register();
        emit.load(width, 3, place, info, location as i32);
        let parts = self.location_parts(emit, place);
        let args = emit.list(&[text, Reg(text.0 + 1), parts[0], parts[1], parts[2], parts[3]]);
        let dst = emit.register();
        emit.op(Op::Builtin { builtin: Builtin::PanicMessage, args, dst, unwind: Unwind::CONTINUE });
    }

    /// File (address and length), line and column of a `&core::panic::Location`.
    fn location_parts(&mut self, emit: &mut Emitter, location: Reg) -> [Reg; 4] {
        let regs = emit.registers(4);
        let parts = [0, 1, 2, 3].map(|i| Reg(regs.0 + i));
        let ty = self.tcx.caller_location_ty().builtin_deref(true);
        let offsets = ty.and_then(|ty| {
            let file = self.field_offset(ty, "filename").or_else(|| self.field_offset(ty, "file"))?;
            Some((file, self.field_offset(ty, "line")?, self.field_offset(ty, "col")?))
        });
        let Some((file, line, column)) = offsets else {
            self.missing(emit, "the fields of `core::panic::Location`");
            return parts;
        };
        use dpor_engine::program::Width;
        emit.load(Width::W64, 3, parts[0], location, file as i32);
        emit.load(Width::W64, 3, parts[1], location, file as i32 + 8);
        emit.load(Width::W32, 2, parts[2], location, line as i32);
        emit.load(Width::W32, 2, parts[3], location, column as i32);
        parts
    }

    /// Formats the arguments to a string, captures it, drops it.
    fn print(&mut self, emit: &mut Emitter, params: &[Reg], builtin: Builtin) {
        let instances = (|| {
            let format = self.find(&["alloc", "fmt", "format"])?;
            let string = self.lang_string()?;
            Some((format, string))
        })();
        let Some((format, string)) = instances else { return self.missing(emit, "`alloc::fmt::format`") };
        let layout = layout_of(self.tcx, string);
        let memory = emit.frame_memory(layout.size.bytes(), layout.align.abi.bytes(), true, "");
        let slot = match memory {
            FrameMemory::Slot(offset) => {
                let reg = emit.register();
                emit.op(Op::SlotAddr { dst: reg, offset });
                reg
            }
            FrameMemory::Big(reg) => reg,
        };
        let mut args = vec![slot];
        args.extend_from_slice(params);
        let dst = emit.registers(2);
        let func = self.function(format);
        let args = emit.list(&args);
        emit.op(Op::Call { func, args, dst, unwind: Unwind::CONTINUE });
        let Some(as_bytes) = self.string_as_bytes(string) else { return self.missing(emit, "`String::as_bytes`") };
        let func = self.function(as_bytes);
        let args = emit.list(&[slot]);
        emit.op(Op::Call { func, args, dst, unwind: Unwind::CONTINUE });
        let args = emit.list(&[dst, Reg(dst.0 + 1)]);
        let ignored = emit.register();
        emit.op(Op::Builtin { builtin, args, dst: ignored, unwind: Unwind::CONTINUE });
        let glue = Instance::resolve_drop_glue(self.tcx, string);
        let func = self.function(glue);
        let args = emit.list(&[slot]);
        emit.op(Op::Call { func, args, dst: ignored, unwind: Unwind::CONTINUE });
    }

    fn missing(&mut self, emit: &mut Emitter, what: &str) {
        let message = self.message(format!("a standard library without {what}"));
        emit.op(Op::Unsupported { message });
    }

    /// The offset of a field of a struct.
    fn field_offset(&self, ty: Ty<'tcx>, name: &str) -> Option<u64> {
        let ty::Adt(def, _) = ty.kind() else { return None };
        let index = def.non_enum_variant().fields.iter().position(|field| field.name.as_str() == name)?;
        Some(layout_of(self.tcx, ty).fields.offset(index).bytes())
    }

    fn lang_string(&self) -> Option<Ty<'tcx>> {
        let def_id = self.tcx.lang_items().string()?;
        Some(Ty::new_adt(self.tcx, self.tcx.adt_def(def_id), ty::GenericArgs::empty()))
    }

    fn string_as_bytes(&self, string: Ty<'tcx>) -> Option<Instance<'tcx>> {
        let ty::Adt(def, _) = string.kind() else { return None };
        let method = self
            .tcx
            .inherent_impls(def.did())
            .iter()
            .flat_map(|id| self.tcx.associated_items(*id).in_definition_order())
            .find(|item| item.opt_name().is_some_and(|name| name.as_str() == "as_bytes"))?;
        Some(self.mono(method.def_id))
    }

    fn find_std(&self, path: &[&str]) -> Option<Instance<'tcx>> {
        let full: Vec<&str> = std::iter::once("std").chain(path.iter().copied()).collect();
        self.find(&full)
    }

    /// A function by its path: the crate, modules, its name.
    fn find(&self, path: &[&str]) -> Option<Instance<'tcx>> {
        Some(self.mono(self.find_item(path)?))
    }

    /// What has this path: the crate, modules, its name.
    pub fn find_item(&self, path: &[&str]) -> Option<DefId> {
        let (krate, rest) = path.split_first()?;
        let krate = self.tcx.crates(()).iter().find(|id| self.tcx.crate_name(**id).as_str() == *krate)?;
        let mut def_id = krate.as_def_id();
        for name in rest {
            def_id = self.child(def_id, name)?;
        }
        Some(def_id)
    }

    /// An item of a module, or a method of a type.
    fn child(&self, parent: DefId, name: &str) -> Option<DefId> {
        if let DefKind::Struct | DefKind::Enum = self.tcx.def_kind(parent) {
            let impls = self.tcx.inherent_impls(parent).iter();
            let mut methods = impls.flat_map(|id| self.tcx.associated_items(*id).in_definition_order());
            return methods
                .find(|item| item.opt_name().is_some_and(|item| item.as_str() == name))
                .map(|item| item.def_id);
        }
        let child = self.tcx.module_children(parent).iter().find(|child| child.ident.name.as_str() == name)?;
        child.res.opt_def_id()
    }
}
