//! Foreign functions: what the machine provides for a symbol that Rust code declares but does not define.

use std::collections::HashMap;

use dpor_engine::program::{BinOp, Builtin, FloatTy, FloatUnOp, IntTy, Op, Origin, Reg, Unwind, Width};
use dpor_engine::verdict::ErrorKind;
use rustc_abi::ExternAbi;
use rustc_hir::def::{DefKind, Res};
use rustc_hir::def_id::{DefId, LOCAL_CRATE};
use rustc_middle::ty::layout::TyAndLayout;
use rustc_middle::ty::{Instance, TypingEnv};

use crate::emit::Emitter;
use crate::float::{FloatOperation, Format};
use crate::program::ProgramBuilder;
use crate::repr::Repr;

/// Definitions of symbols, by name.
#[derive(Default)]
pub struct Symbols {
    functions: HashMap<String, DefId>,
    statics: HashMap<String, DefId>,
}

/// What stands behind a foreign function.
#[derive(Clone, Debug)]
pub enum Foreign<'tcx> {
    /// A definition in Rust, in this crate or another.
    Function(Instance<'tcx>),
    /// A function of the C library that our standard library defines. A crate that declares it as variadic may leave out
    /// arguments at its end.
    Provided(Instance<'tcx>),
    /// A function of the machine.
    Builtin(Builtin),
    /// Nothing to be done; the result is fixed.
    Constant(u64),
    /// `memcpy(dst, src, len)`
    Copy {
        overlapping: bool,
    },
    /// `memset(dst, byte, len)`
    Fill,
    /// `memcmp(a, b, len)`
    Compare,
    Float(FloatOperation, Format),
    /// `lgamma_r(x, &mut sign)`
    LnGamma(FloatTy),
    /// `frexp(x, &mut exponent)`
    Split(FloatTy),
    /// Not declared as it is defined, and why.
    Misdeclared(String),
    /// Not known.
    Unknown(String),
}

impl<'tcx> ProgramBuilder<'tcx> {
    /// What stands behind a foreign function.
    pub fn foreign(&mut self, def_id: DefId) -> Foreign<'tcx> {
        let foreign = self.foreign_definition(def_id);
        // The standard library's declarations are right.
        if self.origin(def_id) == Origin::Std {
            return foreign;
        }
        match self.misdeclared(def_id, &foreign) {
            Some(reason) => Foreign::Misdeclared(reason),
            None => foreign,
        }
    }

    fn foreign_definition(&mut self, def_id: DefId) -> Foreign<'tcx> {
        if Some(def_id) != self.tcx.lang_items().panic_impl()
            && self.tcx.item_name(def_id).as_str() == "panic_impl"
            && let Some(handler) = self.tcx.lang_items().panic_impl()
        {
            return Foreign::Function(self.mono(handler));
        }
        let name = self.symbol_name(def_id);
        let name = match name.as_str() {
            "dlsym" => "dpor_dlsym",
            name => name,
        };
        if name.starts_with("__rust_") && name.contains("alloc") {
            if let Some(definition) = self.definition(name) {
                // `#[global_allocator]`
                return Foreign::Function(self.mono(definition));
            }
            if self.tcx.crates(()).iter().any(|krate| self.tcx.has_global_allocator(*krate)) {
                return Foreign::Unknown(format!("{name}` of a dependency with `#[global_allocator]"));
            }
        }
        if let Some(foreign) = known(name) {
            return foreign;
        }
        if PROVIDED.contains(&name)
            && let Some(function) = self.provided(name)
        {
            return Foreign::Provided(function);
        }
        match self.definition(name) {
            Some(definition) => Foreign::Function(self.mono(definition)),
            None if self.static_definition(name).is_some() => {
                Foreign::Misdeclared(format!("`{name}` is declared as a function and defined as a static"))
            }
            None => Foreign::Unknown(name.to_owned()),
        }
    }

    /// A function that our standard library defines for the machine.
    pub fn provided(&mut self, name: &str) -> Option<Instance<'tcx>> {
        let definition = self.definition(&format!("dpor_{name}"))?;
        Some(self.mono(definition))
    }

    /// What is wrong with the declaration of a foreign function, if anything is.
    fn misdeclared(&mut self, def_id: DefId, foreign: &Foreign<'tcx>) -> Option<String> {
        let declared = self.tcx.type_of(def_id).instantiate_identity().skip_norm_wip();
        let name = self.symbol_name(def_id);
        if let Foreign::Function(instance) = foreign {
            let defined = instance.ty(self.tcx, TypingEnv::fully_monomorphized());
            let [declared, defined] = [declared, defined].map(|ty| self.signature(ty));
            let [declared, defined] = [declared, defined].map(|number| self.program.messages.get(number? as usize));
            return (declared != defined).then(|| {
                let [declared, defined] = [declared, defined].map(|text| text.map_or("C-variadic", String::as_str));
                format!("`{name}` is declared as {declared} and defined as {defined}")
            });
        }
        let count = parameters(&name).filter(|_| !matches!(foreign, Foreign::Unknown(_) | Foreign::Misdeclared(_)))?;
        let sig = declared.fn_sig(self.tcx);
        if !matches!(sig.abi(), ExternAbi::C { .. } | ExternAbi::System { .. }) {
            return Some(format!("the function `{name}` of the C library is declared as extern {}", sig.abi()));
        }
        let found = sig.inputs().skip_binder().len();
        (found != count).then(|| format!("`{name}` has {count} parameters and is declared with {found}"))
    }

    /// The symbol of a foreign item.
    pub fn symbol_name(&self, def_id: DefId) -> String {
        let name = self.tcx.codegen_fn_attrs(def_id).symbol_name.unwrap_or_else(|| self.tcx.item_name(def_id));
        name.to_string()
    }

    /// The function that defines a symbol.
    fn definition(&mut self, name: &str) -> Option<DefId> {
        self.symbols().functions.get(name).copied()
    }

    /// The static that defines a symbol.
    pub fn static_definition(&mut self, name: &str) -> Option<DefId> {
        self.symbols().statics.get(name).copied()
    }

    fn symbols(&mut self) -> &Symbols {
        if self.symbols.is_none() {
            let mut symbols = Symbols::default();
            for &krate in self.tcx.crates(()) {
                let crate_name = self.tcx.crate_name(krate);
                if !matches!(crate_name.as_str(), "core" | "alloc" | "libc" | "std_detect") {
                    self.collect_symbols(krate.as_def_id(), &mut symbols, 0);
                }
            }
            for id in self.tcx.hir_crate_items(()).definitions() {
                self.note_symbol(id.to_def_id(), &mut symbols);
            }
            self.symbols = Some(symbols);
        }
        self.symbols.get_or_insert_default()
    }

    fn collect_symbols(&self, module: DefId, symbols: &mut Symbols, depth: usize) {
        if depth > 16 || module.krate == LOCAL_CRATE {
            return;
        }
        for child in self.tcx.module_children(module) {
            match child.res {
                Res::Def(DefKind::Mod, id) if id.krate == module.krate && self.tcx.opt_parent(id) == Some(module) => {
                    self.collect_symbols(id, symbols, depth + 1);
                }
                Res::Def(DefKind::Fn | DefKind::Static { .. }, id) if id.krate == module.krate => {
                    self.note_symbol(id, symbols)
                }
                _ => {}
            }
        }
    }

    fn note_symbol(&self, id: DefId, symbols: &mut Symbols) {
        let known = match self.tcx.def_kind(id) {
            DefKind::Fn => &mut symbols.functions,
            DefKind::Static { nested: false, .. } => &mut symbols.statics,
            _ => return,
        };
        if self.tcx.is_foreign_item(id) {
            return;
        }
        let attrs = self.tcx.codegen_fn_attrs(id);
        if attrs.contains_extern_indicator() && attrs.import_linkage.is_none() {
            known.insert(self.symbol_name(id), id);
        }
    }
}

/// Emits the code of a foreign function: arguments in `list`, the result to `dst`.
pub fn emit_body<'tcx>(
    builder: &mut ProgramBuilder<'tcx>,
    emit: &mut Emitter,
    foreign: Foreign<'tcx>,
    list: &[Reg],
    dst: Reg,
    result: TyAndLayout<'tcx>,
    unwind: Unwind,
) {
    let arg = |index: usize| list.get(index).copied().unwrap_or(dst);
    match foreign {
        Foreign::Builtin(builtin) => {
            let args = emit.list(list);
            emit.op(Op::Builtin { builtin, args, dst, unwind });
            cut_to_type(builder, emit, dst, result);
        }
        Foreign::Constant(value) => {
            emit.imm(dst, value);
            cut_to_type(builder, emit, dst, result);
        }
        Foreign::Copy { overlapping } => {
            let (to, src, len) = (arg(0), arg(1), arg(2));
            emit.op(if overlapping {
                Op::CopyOverlapping { align: 0, dst: to, src, len }
            } else {
                Op::CopyNonOverlapping { align: 0, dst: to, src, len }
            });
            emit.mov(dst, to);
        }
        Foreign::Fill => {
            emit.op(Op::Fill { align: 0, dst: arg(0), value: arg(1), len: arg(2) });
            emit.mov(dst, arg(0));
        }
        Foreign::Compare => emit.op(Op::Compare { dst, a: arg(0), b: arg(1), len: arg(2) }),
        Foreign::Float(operation, format) => {
            // The first register of each.
            let args: Vec<Reg> = match format {
                Format::Quad => list.iter().copied().step_by(2).collect(),
                Format::Small(_) => list.to_vec(),
            };
            match operation.instruction(format, &args, dst) {
                Some(op) => emit.op(op),
                None => {
                    let message = builder.message("a function of the C library on `f128`".to_owned());
                    emit.op(Op::Unsupported { message });
                }
            }
        }
        Foreign::Split(ty) => {
            let exponent = emit.register();
            let int = IntTy { width: Width::W32, signed: true };
            emit.op(Op::FloatUn { op: FloatUnOp::Exponent, ty, dst: exponent, src: arg(0) });
            emit.op(Op::FloatToInt { from: ty, to: int, dst: exponent, src: exponent });
            emit.op(Op::Store { width: Width::W32, align: 2, base: arg(1), src: exponent, offset: 0 });
            emit.op(Op::FloatUn { op: FloatUnOp::Significand, ty, dst, src: arg(0) });
        }
        Foreign::LnGamma(ty) => {
            // The sign is that of the gamma function.
            let gamma = emit.register();
            emit.op(Op::FloatUn { op: FloatUnOp::Gamma, ty, dst: gamma, src: arg(0) });
            let (shift, width) = if ty == FloatTy::F32 { (31, Width::W32) } else { (63, Width::W64) };
            let int = IntTy { width, signed: false };
            emit.op(Op::BinImm { op: BinOp::Shr, ty: int, dst: gamma, a: gamma, imm: shift });
            let sign = emit.register();
            emit.imm(sign, 1);
            emit.op(Op::BinImm { op: BinOp::Shl, ty: IntTy::U64, dst: gamma, a: gamma, imm: 1 });
            emit.op(Op::Bin { op: BinOp::Sub, ty: IntTy::U64, dst: sign, a: sign, b: gamma });
            emit.op(Op::Store { width: Width::W32, align: 2, base: arg(1), src: sign, offset: 0 });
            emit.op(Op::FloatUn { op: FloatUnOp::LnGamma, ty, dst, src: arg(0) });
        }
        Foreign::Misdeclared(reason) => {
            let message = builder.message(reason);
            emit.op(Op::Unreachable { kind: ErrorKind::UndefinedBehavior, message });
        }
        Foreign::Unknown(name) => {
            let message = builder.message(format!("foreign function `{name}`"));
            emit.op(Op::Unsupported { message });
        }
        Foreign::Function(instance) => {
            let func = builder.function(instance);
            let args = emit.list(list);
            emit.op(Op::Call { func, args, dst, unwind });
        }
        Foreign::Provided(instance) => emit_provided(builder, emit, instance, list, dst, unwind),
    }
}

/// Calls a function that our standard library defines. What the caller leaves out is 0.
pub fn emit_provided<'tcx>(
    builder: &mut ProgramBuilder<'tcx>,
    emit: &mut Emitter,
    instance: Instance<'tcx>,
    list: &[Reg],
    dst: Reg,
    unwind: Unwind,
) {
    let sig = instance.ty(builder.tcx, TypingEnv::fully_monomorphized()).fn_sig(builder.tcx);
    let count = sig.inputs().skip_binder().len();
    let mut list: Vec<Reg> = list.iter().copied().take(count).collect();
    while list.len() < count {
        let zero = emit.register();
        emit.imm(zero, 0);
        list.push(zero);
    }
    let func = builder.function(instance);
    let args = emit.list(&list);
    emit.op(Op::Call { func, args, dst, unwind });
}

fn cut_to_type<'tcx>(builder: &ProgramBuilder<'tcx>, emit: &mut Emitter, dst: Reg, layout: TyAndLayout<'tcx>) {
    if let Repr::One(prim) = Repr::of(&builder.layouts, layout)
        && let Some(width) = prim.width()
        && width != Width::W64
    {
        emit.op(Op::Cast { from: IntTy::U64, to: width, dst, src: dst });
    }
}

/// Functions of the C library that our standard library defines, with `dpor_` before their names
/// (`cargo-dpor/overlay/std/src/sys/sync/checker/files.rs`). Their parameters are scalars.
const PROVIDED: [&str; 13] = [
    "epoll_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "eventfd",
    "timerfd_create",
    "timerfd_settime",
    "socketpair",
    "read",
    "write",
    "close",
    "fcntl",
    "syscall",
];

/// Functions of the C library, the unwinder and the allocator.
fn known<'tcx>(name: &str) -> Option<Foreign<'tcx>> {
    if let Some(builtin) = builtin(name) {
        return Some(Foreign::Builtin(builtin));
    }
    if let Some((operation, format)) = FloatOperation::of_function(name) {
        return Some(Foreign::Float(operation, format));
    }
    Some(match name {
        "lgamma_r" => Foreign::LnGamma(FloatTy::F64),
        "lgammaf_r" => Foreign::LnGamma(FloatTy::F32),
        "frexp" => Foreign::Split(FloatTy::F64),
        "frexpf" => Foreign::Split(FloatTy::F32),
        "memcpy" => Foreign::Copy { overlapping: false },
        "memmove" => Foreign::Copy { overlapping: true },
        "memset" => Foreign::Fill,
        "memcmp" | "bcmp" => Foreign::Compare,
        // The stack and the name of a thread are of no interest.
        "pthread_attr_init"
        | "pthread_attr_destroy"
        | "pthread_attr_setstacksize"
        | "pthread_attr_setguardsize"
        | "pthread_setname_np"
        | "pthread_getattr_np"
        | "sigaltstack"
        | "signal"
        | "sigaction"
        | "pthread_atfork"
        | "munmap"
        | "mprotect"
        | "__rust_no_alloc_shim_is_unstable_v2"
        | "_Unwind_DeleteException" => Foreign::Constant(0),
        // Answered as if the process could not tell: callers have another way.
        "sched_getaffinity" => Foreign::Constant(u64::MAX),
        // The numbers of signals that programs may use, as on Linux.
        "__libc_current_sigrtmin" => Foreign::Constant(34),
        "__libc_current_sigrtmax" => Foreign::Constant(64),
        "getpid" => Foreign::Constant(1),
        "gettid" => Foreign::Constant(1),
        _ => return None,
    })
}

/// How many parameters a function of the C library has.
fn parameters(name: &str) -> Option<usize> {
    Some(match name {
        "__errno_location" | "abort" | "getpid" | "gettid" | "pthread_self" | "sched_yield" => 0,
        "malloc" | "free" | "strlen" | "exit" | "_exit" | "getenv" | "sysconf" => 1,
        "close" | "epoll_create" | "epoll_create1" => 1,
        "eventfd" | "timerfd_create" => 2,
        "epoll_ctl" | "epoll_wait" | "timerfd_settime" | "socketpair" => 4,
        "pthread_detach" | "pthread_getspecific" | "pthread_key_delete" => 1,
        "calloc" | "realloc" | "aligned_alloc" | "nanosleep" | "clock_gettime" => 2,
        "pthread_join" | "pthread_key_create" | "pthread_setspecific" => 2,
        "memcpy" | "memmove" | "memset" | "memcmp" | "bcmp" | "memchr" | "memrchr" => 3,
        "posix_memalign" | "read" | "write" | "writev" | "getrandom" => 3,
        "pthread_create" | "clock_nanosleep" => 4,
        _ => return None,
    })
}

fn builtin(name: &str) -> Option<Builtin> {
    Some(match name {
        "__rust_alloc" => Builtin::Alloc,
        "__rust_alloc_zeroed" => Builtin::AllocZeroed,
        "__rust_dealloc" => Builtin::Dealloc,
        "__rust_realloc" => Builtin::Realloc,
        "malloc" => Builtin::Malloc,
        "calloc" => Builtin::Calloc,
        "realloc" => Builtin::CRealloc,
        "free" => Builtin::Free,
        "aligned_alloc" => Builtin::AlignedAlloc,
        "posix_memalign" => Builtin::PosixMemalign,
        "memchr" => Builtin::Memchr,
        "memrchr" => Builtin::Memrchr,
        "strlen" => Builtin::Strlen,
        "__xpg_strerror_r" => Builtin::StrError,
        "pthread_create" => Builtin::PthreadCreate,
        "pthread_join" => Builtin::PthreadJoin,
        "pthread_detach" => Builtin::PthreadDetach,
        "pthread_self" => Builtin::PthreadSelf,
        "pthread_key_create" => Builtin::PthreadKeyCreate,
        "pthread_key_delete" => Builtin::PthreadKeyDelete,
        "pthread_setspecific" => Builtin::PthreadSetSpecific,
        "pthread_getspecific" => Builtin::PthreadGetSpecific,
        "sched_yield" => Builtin::SchedYield,
        "nanosleep" => Builtin::Nanosleep,
        "clock_nanosleep" => Builtin::ClockNanosleep,
        "clock_gettime" => Builtin::ClockGettime,
        "dpor_system_call" => Builtin::Syscall,
        "__errno_location" => Builtin::ErrnoLocation,
        "dpor_write_stream" => Builtin::Write,
        "writev" => Builtin::Writev,
        "getenv" => Builtin::Getenv,
        "open" | "open64" => Builtin::Open,
        "sysconf" => Builtin::Sysconf,
        "getrandom" => Builtin::Getrandom,
        "abort" | "__rust_alloc_error_handler" => Builtin::Abort,
        "exit" | "_exit" => Builtin::Exit,
        "_Unwind_RaiseException" => Builtin::Raise,
        "dpor_await" => Builtin::Await,
        "dpor_try_add" => Builtin::TryAdd,
        "dpor_reach" => Builtin::Reach,
        "dpor_pick" => Builtin::Pick,
        "dpor_leave" => Builtin::Leave,
        "dpor_thread_bit" => Builtin::ThreadBit,
        "dpor_spurious" => Builtin::Spurious,
        "dpor_asked" => Builtin::Asked,
        "dpor_ask" => Builtin::Ask,
        "dpor_parked" => Builtin::Parked,
        "dpor_choose" => Builtin::Choose,
        "dpor_elapse" => Builtin::Elapse,
        "dpor_test_name" => Builtin::TestName,
        "dpor_unsupported" => Builtin::Unsupported,
        _ => return None,
    })
}

impl<'tcx> ProgramBuilder<'tcx> {
    /// A foreign function as a function of the program: for pointers to it.
    pub fn foreign_function(&mut self, id: dpor_engine::program::FuncId, instance: Instance<'tcx>) {
        use rustc_middle::ty;
        let def_id = instance.def_id();
        let span = self.tcx.def_span(def_id);
        let place = self.place(span);
        let mut emit = Emitter::new(place);
        let sig = instance.ty(self.tcx, ty::TypingEnv::fully_monomorphized()).fn_sig(self.tcx);
        let sig = self.tcx.instantiate_bound_regions_with_erased(sig);
        let result = crate::lower::layout_of(self.tcx, sig.output());
        let results = Repr::of(&self.layouts, result).registers();
        let mut params = 0;
        for &input in sig.inputs() {
            let repr = Repr::of(&self.layouts, crate::lower::layout_of(self.tcx, input));
            params += if repr == Repr::Memory { 1 } else { repr.registers() };
        }
        emit.registers(results + params);
        let list: Vec<Reg> = (results..results + params).map(Reg).collect();
        let dst = emit.registers(2);
        let foreign = self.foreign(def_id);
        emit_body(self, &mut emit, foreign, &list, dst, result, Unwind::CONTINUE);
        match results {
            0 => {}
            1 => emit.mov(Reg(0), dst),
            _ => emit.op(Op::Mov2 { dst: Reg(0), src: dst }),
        }
        emit.op(Op::Return);
        let name = self.function_name(instance);
        let origin = self.origin(def_id);
        let function = emit.finish(name.clone(), origin, params, results as u8, place);
        self.set_function(id, function, &name, span);
    }
}
