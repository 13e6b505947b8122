//! Collects a program: functions by the instances they come from, globals, source places, messages.
//!
//! Functions are lowered one after the other from a queue; lowering one puts those it mentions into the queue.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use dpor_engine::program::address::{GLOBAL_REGION, code_address, place_in_region, region_address};
use dpor_engine::program::{FuncId, Function, Global, Op, Origin, Place, PlaceId, Program, Quiet, TypeRef};
use rustc_attr_ir::lang_items::LangItem;
use rustc_hir::def_id::{CrateNum, DefId, LOCAL_CRATE};
use rustc_middle::mir::interpret::AllocId;
use rustc_middle::ty::layout::LayoutCx;
use rustc_middle::ty::print::with_no_trimmed_paths;
use rustc_middle::ty::{self, Instance, Ty, TyCtxt};
use rustc_span::{RemapPathScopeComponents, Span};

use crate::emit::Emitter;
use crate::foreign::Symbols;
use crate::globals::Constant;
use crate::repr::layout_cx;

/// How much of the name of an instance is shown that is as deep as it may be.
const LONGEST_NAME: usize = 100;

/// The program while it is collected.
pub struct ProgramBuilder<'tcx> {
    pub tcx: TyCtxt<'tcx>,
    pub layouts: LayoutCx<'tcx>,
    pub program: Program,
    functions: HashMap<Instance<'tcx>, FuncId>,
    /// For each function the instance that it is, and the function that was the first to mention it.
    mentions: Vec<(Instance<'tcx>, Option<FuncId>)>,
    /// The function that is lowered.
    pub current: Option<FuncId>,
    pub queue: Vec<(FuncId, Instance<'tcx>)>,
    files: HashMap<String, u32>,
    places: HashMap<Place, PlaceId>,
    spans: HashMap<Span, PlaceId>,
    messages: HashMap<String, u32>,
    origins: HashMap<CrateNum, Origin>,
    pub(crate) types: HashMap<Ty<'tcx>, TypeRef>,
    pub(crate) allocations: HashMap<AllocId, u64>,
    pub(crate) constants: HashMap<Constant, u64>,
    pub(crate) statics: HashMap<DefId, u64>,
    /// The symbols that no crate defines, by the addresses that stand for them or for what points to them.
    pub(crate) missing: HashMap<u64, String>,
    pub(crate) thread_locals: HashMap<DefId, u32>,
    /// Definitions of symbols, by name.
    pub(crate) symbols: Option<Symbols>,
    next_granule: u64,
}

impl<'tcx> ProgramBuilder<'tcx> {
    pub fn new(tcx: TyCtxt<'tcx>) -> ProgramBuilder<'tcx> {
        ProgramBuilder {
            tcx,
            layouts: layout_cx(tcx),
            program: Program { crate_name: tcx.crate_name(LOCAL_CRATE).to_string(), ..Program::default() },
            functions: HashMap::new(),
            mentions: Vec::new(),
            current: None,
            queue: Vec::new(),
            files: HashMap::new(),
            places: HashMap::new(),
            spans: HashMap::new(),
            messages: HashMap::new(),
            origins: HashMap::new(),
            types: HashMap::new(),
            allocations: HashMap::new(),
            constants: HashMap::new(),
            statics: HashMap::new(),
            missing: HashMap::new(),
            thread_locals: HashMap::new(),
            symbols: None,
            next_granule: 1,
        }
    }

    /// The function of an instance, queued to be lowered if it is new.
    pub fn function(&mut self, instance: Instance<'tcx>) -> FuncId {
        let next = FuncId(self.program.functions.len() as u32);
        match self.functions.entry(instance) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                entry.insert(next);
                self.program.functions.push(placeholder());
                self.mentions.push((instance, self.current));
                self.queue.push((next, instance));
                self.check_recursion(instance);
                next
            }
        }
    }

    /// Ends the compilation where a function leads to ever more instances of itself, as the compiler does.
    fn check_recursion(&self, instance: Instance<'tcx>) {
        let def_id = instance.def_id();
        let limit = match self.tcx.is_lang_item(def_id, LangItem::DropGlue) {
            // Destructors are made of destructors: the compiler allows for more of these.
            true => 4 * self.tcx.recursion_limit().0,
            false => self.tcx.recursion_limit().0,
        };
        let mut depth = 0;
        let mut next = self.current;
        while let Some(function) = next {
            let (other, mentioned_by) = self.mentions[function.0 as usize];
            depth += usize::from(other.def_id() == def_id);
            next = mentioned_by;
        }
        if depth > limit {
            let name: String = instance.to_string().chars().take(LONGEST_NAME).collect();
            let text = format!("reached the recursion limit while instantiating `{name}…`");
            let mut error = self.tcx.dcx().struct_span_fatal(self.tcx.def_span(def_id), text);
            error.note(format!("`{}` is instantiated recursively with ever new types", self.tcx.def_path_str(def_id)));
            error.emit();
        }
    }

    /// Notes how a function is called, where it can be called through pointers.
    pub fn note_signature(&mut self, id: FuncId, instance: Instance<'tcx>) {
        if !matches!(instance.def, ty::InstanceKind::Item(_)) {
            return;
        }
        let ty = instance.ty(self.tcx, ty::TypingEnv::fully_monomorphized());
        if ty.is_fn() {
            let signature = self.signature(ty);
            let number = id.0 as usize;
            self.program.signatures.resize(self.program.signatures.len().max(number + 1), None);
            self.program.signatures[number] = signature;
        }
    }

    /// The address of the function of an instance.
    pub fn function_address(&mut self, instance: Instance<'tcx>) -> u64 {
        code_address(self.function(instance).0)
    }

    /// The path of an instance, with generic arguments.
    pub fn function_name(&self, instance: Instance<'tcx>) -> String {
        with_no_trimmed_paths!(instance.to_string())
    }

    /// Whose code a definition is.
    pub fn origin(&mut self, def_id: DefId) -> Origin {
        let tcx = self.tcx;
        *self.origins.entry(def_id.krate).or_insert_with(|| {
            if def_id.krate == LOCAL_CRATE {
                Origin::User
            } else if is_std_crate(tcx, def_id.krate) || is_for_tests(tcx, def_id.krate) {
                Origin::Std
            } else if is_workspace_crate(tcx, def_id.krate) {
                Origin::User
            } else {
                Origin::Dependency
            }
        })
    }

    /// The place of a span; in a macro, the place of its outermost use.
    pub fn place(&mut self, span: Span) -> PlaceId {
        if let Some(&place) = self.spans.get(&span) {
            return place;
        }
        let topmost = span.ctxt().outer_expn().expansion_cause().unwrap_or(span);
        let position = self.tcx.sess.source_map().lookup_char_pos(topmost.lo());
        let file = position.file.name.display(RemapPathScopeComponents::MACRO).to_string_lossy().into_owned();
        let file = self.file(file);
        let place = Place { file, line: position.line as u32, column: position.col_display as u32 + 1 };
        let next = PlaceId(self.program.places.len() as u32);
        let id = *self.places.entry(place).or_insert(next);
        if id == next {
            self.program.places.push(place);
        }
        self.spans.insert(span, id);
        id
    }

    /// The place of a call: that of the method, where it is on a line below the start of the expression.
    pub fn call_place(&mut self, call: Span, method: Span) -> PlaceId {
        let line = |span: Span| self.tcx.sess.source_map().lookup_char_pos(span.lo()).line;
        let is_below = method.ctxt() == call.ctxt() && line(method) > line(call);
        self.place(if is_below { method } else { call })
    }

    fn file(&mut self, name: String) -> u32 {
        let next = self.program.files.len() as u32;
        match self.files.entry(name) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                self.program.files.push(entry.key().clone());
                entry.insert(next);
                next
            }
        }
    }

    /// The index of a message.
    pub fn message(&mut self, text: impl Into<String>) -> u32 {
        let next = self.program.messages.len() as u32;
        match self.messages.entry(text.into()) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                self.program.messages.push(entry.key().clone());
                entry.insert(next);
                next
            }
        }
    }

    /// Reserves an address for a global; [`ProgramBuilder::set_global`] gives it its contents.
    pub fn reserve_global(&mut self, size: u64, align: u64) -> (usize, u64) {
        let (offset, next) = place_in_region(self.next_granule, size, align);
        self.next_granule = next;
        let address = region_address(GLOBAL_REGION, offset);
        let (bytes, uninit, pointers) = (Vec::new(), Vec::new(), Vec::new());
        let empty = Global { address, align, bytes, uninit, pointers, mutable: false, name: String::new() };
        self.program.globals.push(empty);
        (self.program.globals.len() - 1, address)
    }

    pub fn set_global(&mut self, index: usize, global: Global) {
        self.program.globals[index] = global;
    }

    /// Puts the lowered function in its place. One that does not fit the machine ends in an unsupported operation.
    pub fn set_function(&mut self, id: FuncId, function: Option<Function>, name: &str, span: Span) {
        let function = function.unwrap_or_else(|| {
            let place = self.place(span);
            let mut emitter = Emitter::new(place);
            let message = self.message(format!("function `{name}` needs more registers than the machine has"));
            emitter.op(Op::Unsupported { message });
            emitter.finish(name.to_owned(), Origin::User, 0, 0, place).unwrap_or_else(placeholder)
        });
        self.program.functions[id.0 as usize] = function;
    }
}

/// Whether a crate stands in for the standard library, with types of its own around those of the library.
pub fn is_drop_in(tcx: TyCtxt<'_>, krate: CrateNum) -> bool {
    matches!(tcx.crate_name(krate).as_str(), "loom" | "shuttle")
}

/// Whether a crate is one of ours that tests use: reports do not show its code.
fn is_for_tests(tcx: TyCtxt<'_>, krate: CrateNum) -> bool {
    is_drop_in(tcx, krate) || tcx.crate_name(krate).as_str() == "dpor"
}

/// Whether a crate comes with the standard library.
fn is_std_crate(tcx: TyCtxt<'_>, krate: CrateNum) -> bool {
    let sysroot = tcx.sess.opts.sysroot.path();
    tcx.used_crate_source(krate).paths().any(|path| path.starts_with(sysroot))
}

fn is_workspace_crate(tcx: TyCtxt<'_>, krate: CrateNum) -> bool {
    // Crates of a workspace are compiled from relative paths, those of a registry or the sysroot from absolute ones.
    let span = tcx.def_span(krate.as_def_id());
    let file = tcx.sess.source_map().lookup_char_pos(span.lo()).file.name.clone();
    let path = file.display(RemapPathScopeComponents::MACRO).to_string_lossy().into_owned();
    !path.starts_with('/')
}

fn placeholder() -> Function {
    Function {
        name: String::new(),
        origin: Origin::Std,
        quiet: Quiet::Inherited,
        registers: 0,
        params: 0,
        results: 0,
        frame_size: 0,
        slots: Vec::new(),
        code: Vec::new(),
        code_places: Vec::new(),
        lists: Vec::new(),
        switches: Vec::new(),
        ranges: Vec::new(),
        links: Vec::new(),
        place: PlaceId(0),
    }
}
