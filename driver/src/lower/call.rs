//! Calls: how arguments and results are passed.

use dpor_engine::program::{Op, Origin, Reg, Unwind, Width};
use rustc_abi::ExternAbi;
use rustc_hir::def::DefKind;
use rustc_index::bit_set::DenseBitSet;
use rustc_middle::mir::{self, BasicBlock, Local, UnwindAction};
use rustc_middle::ty::layout::TyAndLayout;
use rustc_middle::ty::print::with_no_trimmed_paths;
use rustc_middle::ty::{self, Instance, Ty};
use rustc_span::Spanned;

use super::analyze::Part;
use super::operand::{Atom, Value};
use super::place::{Addr, MemPlace, Spot, typing_env};
use super::{LocalPlace, Lowering};
use crate::foreign::Foreign;
use crate::repr::{Prim, Repr};

/// How one argument arrives.
#[derive(Clone, Debug)]
enum Arrival {
    Nothing,
    Registers(Reg),
    Pointer(Reg),
    Unsized(Reg, Reg),
    /// The fields of a tuple, one by one.
    Spread(Vec<Arrival>),
}

/// How the arguments of a function arrive.
pub(super) struct Arguments {
    /// Where the result goes, if it is in memory.
    pub(super) sret: Reg,
    arrivals: Vec<(Local, Arrival, bool)>,
}

impl Arguments {
    /// Where the argument can stay.
    pub(super) fn place(&self, local: Local) -> Option<LocalPlace> {
        let (_, arrival, stays) = self.arrivals.iter().find(|(argument, ..)| *argument == local)?;
        match *arrival {
            Arrival::Pointer(reg) => Some(LocalPlace::Pointer(reg)),
            Arrival::Unsized(reg, meta) => Some(LocalPlace::Unsized(reg, meta)),
            Arrival::Registers(reg) if *stays => Some(LocalPlace::Registers(reg)),
            Arrival::Nothing if *stays => Some(LocalPlace::Zst),
            _ => None,
        }
    }
}

impl<'tcx> Lowering<'_, 'tcx> {
    /// Assigns the registers in which the arguments arrive.
    pub(super) fn argument_registers(&mut self, result: Repr, in_memory: &DenseBitSet<Local>) -> Arguments {
        let sret = if result == Repr::Memory { self.parameter() } else { Reg(0) };
        let mut arrivals = Vec::new();
        for local in self.body.args_iter() {
            let layout = self.local_layout(local);
            let arrival = if self.body.spread_arg == Some(local) {
                let fields = layout.fields.count();
                let fields = (0..fields).map(|i| layout.field(&self.builder.layouts, i)).collect::<Vec<_>>();
                Arrival::Spread(fields.into_iter().map(|field| self.arrival(field)).collect())
            } else {
                self.arrival(layout)
            };
            arrivals.push((local, arrival, !in_memory.contains(local)));
        }
        if self.instance.def.requires_caller_location(self.tcx) {
            self.caller_location = Some(self.parameter());
        }
        Arguments { sret, arrivals }
    }

    fn parameter(&mut self) -> Reg {
        self.params += 1;
        self.emit.register()
    }

    fn arrival(&mut self, layout: TyAndLayout<'tcx>) -> Arrival {
        if !layout.is_sized() {
            return Arrival::Unsized(self.parameter(), self.parameter());
        }
        match self.repr(layout) {
            Repr::Zst => Arrival::Nothing,
            Repr::Memory => Arrival::Pointer(self.parameter()),
            repr => {
                self.params += repr.registers();
                Arrival::Registers(self.emit.registers(repr.registers()))
            }
        }
    }

    /// Moves arguments to where their locals live.
    pub(super) fn place_arguments(&mut self, arguments: &Arguments, in_memory: &DenseBitSet<Local>) {
        for (local, arrival, _) in &arguments.arrivals {
            let spot = self.spot((*local).into());
            match arrival {
                Arrival::Registers(reg) if in_memory.contains(*local) => self.store_arrival(*reg, spot),
                Arrival::Spread(fields) => {
                    for (index, field) in fields.iter().enumerate() {
                        let to = self.field_spot(spot, index);
                        match field {
                            Arrival::Registers(reg) => self.store_arrival(*reg, to),
                            Arrival::Pointer(reg) => {
                                let layout = to.layout();
                                let from = MemPlace {
                                    addr: Addr::register(*reg),
                                    meta: None,
                                    layout,
                                    align: layout.align.abi,
                                };
                                self.store(Value::Memory(from), to);
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn store_arrival(&mut self, reg: Reg, to: Spot<'tcx>) {
        let value = match self.repr(to.layout()) {
            Repr::One(prim) => Value::One(prim, Atom::Register(reg)),
            Repr::Two(a, b, offset) => {
                Value::Two(a, b, offset, Atom::Register(reg), Atom::Register(Reg(reg.0 + a.registers())))
            }
            _ => return,
        };
        self.store(value, to);
    }

    pub(super) fn call(
        &mut self,
        func: &mir::Operand<'tcx>,
        args: &[Spanned<mir::Operand<'tcx>>],
        destination: mir::Place<'tcx>,
        target: Option<BasicBlock>,
        unwind: UnwindAction,
        source_info: mir::SourceInfo,
    ) {
        let callee = self.mono(func.ty(self.body, self.tcx));
        let untuple = callee.fn_sig(self.tcx).abi() == ExternAbi::RustCall;
        match *callee.kind() {
            ty::FnDef(def_id, generics) => {
                let Some(generics) = generics.no_bound_vars() else {
                    return self.unsupported(format!("calling `{callee}`"));
                };
                let instance = Instance::expect_resolve(self.tcx, typing_env(), def_id, generics, source_info.span);
                self.call_instance(instance, args, untuple, destination, target, unwind, source_info);
            }
            _ if callee.fn_sig(self.tcx).c_variadic() => self.unsupported("calling a C-variadic function pointer"),
            _ => {
                let ptr = self.operand_register(func);
                let converts = self.signature_promise(ptr, callee);
                let spot = self.spot(destination);
                let mut list = self.result_pointer(&spot);
                let unwind = self.unwind(unwind);
                let (other, done) = (self.emit.label(), self.emit.label());
                if let Some(converts) = converts {
                    self.emit.jump_if_not(converts, other);
                    let mut list = list.clone();
                    self.plain_arguments(args, &mut list);
                    self.finish_call(Callee::Pointer(ptr), list, spot, unwind);
                    self.emit.jump(done);
                }
                self.emit.bind(other);
                self.arguments(args, untuple, &mut list);
                self.finish_call(Callee::Pointer(ptr), list, spot, unwind);
                self.emit.bind(done);
                self.check_result(spot);
            }
        }
    }

    /// A function that is called through a pointer may have another idea of what its result can be.
    fn check_result(&mut self, spot: Spot<'tcx>) {
        if !self.is_known {
            return;
        }
        match spot {
            Spot::Registers(Part::Scalar(prim, _), reg, layout) => self.check_valid(prim, reg, layout),
            // Loading a scalar checks it.
            Spot::Memory(place) if matches!(self.repr(place.layout), Repr::One(_)) => _ = self.load(spot),
            _ => {}
        }
        self.reference_result(spot);
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a call terminator")]
    fn call_instance(
        &mut self,
        instance: Instance<'tcx>,
        args: &[Spanned<mir::Operand<'tcx>>],
        untuple: bool,
        destination: mir::Place<'tcx>,
        target: Option<BasicBlock>,
        unwind: UnwindAction,
        source_info: mir::SourceInfo,
    ) {
        let mut instance = instance;
        match instance.def {
            ty::InstanceKind::Intrinsic(_) => {
                let operands: Vec<_> = args.iter().map(|arg| &arg.node).collect();
                if self.intrinsic(instance, &operands, destination, unwind, source_info) {
                    return;
                }
                // Its fallback body, as an ordinary function.
                instance = Instance::new_raw(instance.def_id(), instance.args);
            }
            ty::InstanceKind::LlvmIntrinsic(def_id) => {
                let operands: Vec<_> = args.iter().map(|arg| &arg.node).collect();
                return self.llvm_intrinsic(def_id, &operands, destination);
            }
            ty::InstanceKind::Shim(ty::ShimKind::DropGlue(_, None)) => return self.call_promises(instance, args),
            ty::InstanceKind::Virtual(_, index) => {
                let location = instance.def.requires_caller_location(self.tcx).then_some(source_info);
                return self.virtual_call(index, args, untuple, destination, unwind, location);
            }
            _ => {}
        }
        let def_id = instance.def_id();
        if matches!(instance.def, ty::InstanceKind::Item(_)) && self.tcx.is_foreign_item(def_id) {
            match self.builder.foreign(def_id) {
                Foreign::Function(definition) => instance = definition,
                foreign => return self.foreign_call(foreign, args, destination, target, unwind),
            }
        }
        if self.is_c_variadic(instance) {
            let name = with_no_trimmed_paths!(self.tcx.def_path_str(instance.def_id()));
            return self.unsupported(format!("calling the C-variadic function `{name}`"));
        }
        if self.is_known && self.builder.origin(instance.def_id()) == Origin::Std {
            self.describe_call(args, destination);
        }
        self.call_promises(instance, args);
        self.feature_promises(instance.def_id());
        let spot = self.spot(destination);
        let mut list = self.result_pointer(&spot);
        self.arguments(args, untuple, &mut list);
        if instance.def.requires_caller_location(self.tcx) {
            list.push(self.caller_location(source_info));
        }
        let unwind = self.unwind(unwind);
        self.finish_call(Callee::Instance(instance), list, spot, unwind);
        self.result_promises(instance, spot);
    }

    /// Whether a function takes any number of arguments, which is not lowered.
    fn is_c_variadic(&self, instance: Instance<'tcx>) -> bool {
        let def_id = instance.def_id();
        matches!(self.tcx.def_kind(def_id), DefKind::Fn | DefKind::AssocFn)
            && self.tcx.fn_sig(def_id).skip_binder().c_variadic()
    }

    /// Begins the function anew where it calls itself at its end; false where it does not.
    pub(super) fn tail_call(&mut self, func: &mir::Operand<'tcx>, args: &[Spanned<mir::Operand<'tcx>>]) -> bool {
        let ty::FnDef(def_id, generics) = *self.mono(func.ty(self.body, self.tcx)).kind() else { return false };
        let Some(generics) = generics.no_bound_vars() else { return false };
        let instance = Instance::expect_resolve(self.tcx, typing_env(), def_id, generics, self.span);
        if instance != self.instance || self.body.spread_arg.is_some() || self.caller_location.is_some() {
            return false;
        }
        // All arguments before any of them is changed: each may be made of the others.
        let values: Vec<_> = args.iter().map(|arg| self.operand(&arg.node)).collect();
        let copies: Vec<_> = values
            .into_iter()
            .map(|(value, layout)| match value {
                Value::Memory(place) => {
                    let copy = self.temporary(layout);
                    self.copy_memory(copy.addr, place.addr, layout.size.bytes(), place.align);
                    (Value::Memory(copy), layout)
                }
                value => (self.copied(value), layout),
            })
            .collect();
        // Where the result goes comes before the arguments.
        let mut param =
            u16::from(self.results) + u16::from(self.repr(self.local_layout(mir::RETURN_PLACE)) == Repr::Memory);
        for (value, layout) in copies {
            match value {
                // The memory of the argument is the function's own.
                Value::Memory(from) => {
                    let to = Addr::register(Reg(param));
                    self.copy_memory(to, from.addr, layout.size.bytes(), layout.align.abi);
                    param += 1;
                }
                value => {
                    let mut list = Vec::new();
                    self.argument(value, layout, true, &mut list);
                    for reg in list {
                        self.emit.mov(Reg(param), reg);
                        param += 1;
                    }
                }
            }
        }
        self.emit.jump(self.start);
        true
    }

    /// A value in registers of its own.
    fn copied(&mut self, value: Value<'tcx>) -> Value<'tcx> {
        let mut copy = |prim: Prim, atom: Atom| {
            let dst = self.emit.registers(prim.registers());
            self.atom_into(prim, atom, dst);
            Atom::Register(dst)
        };
        match value {
            Value::One(prim, atom) => Value::One(prim, copy(prim, atom)),
            Value::Two(a, b, offset, first, second) => {
                let first = copy(a, first);
                Value::Two(a, b, offset, first, copy(b, second))
            }
            other => other,
        }
    }

    /// Says what a call of the library may allocate, and what that is called.
    fn describe_call(&mut self, args: &[Spanned<mir::Operand<'tcx>>], destination: mir::Place<'tcx>) {
        let name = destination.as_local().map(|local| self.local_name(local)).unwrap_or_default();
        let result = self.mono(destination.ty(self.body, self.tcx).ty);
        let arguments: Vec<_> = args.iter().map(|arg| self.mono(arg.node.ty(self.body, self.tcx))).collect();
        self.builder.describe_call(self.emit.place, result, &name, &arguments);
    }

    /// The pointer through which the callee writes a result in memory.
    fn result_pointer(&mut self, spot: &Spot<'tcx>) -> Vec<Reg> {
        match spot {
            Spot::Memory(place) if self.repr(place.layout) == Repr::Memory => vec![self.addr_register(place.addr)],
            _ => Vec::new(),
        }
    }

    fn arguments(&mut self, args: &[Spanned<mir::Operand<'tcx>>], untuple: bool, list: &mut Vec<Reg>) {
        let (first, tuple) = match (untuple, args.split_last()) {
            (true, Some((tuple, first))) => (first, Some(tuple)),
            _ => (args, None),
        };
        for arg in first {
            let (value, layout) = self.operand(&arg.node);
            self.argument(value, layout, matches!(arg.node, mir::Operand::Move(_)), list);
        }
        if let Some(tuple) = tuple {
            let moved = matches!(tuple.node, mir::Operand::Move(_));
            let (value, layout) = self.operand(&tuple.node);
            self.tuple_arguments(value, layout, moved, list);
        }
    }

    fn tuple_arguments(&mut self, value: Value<'tcx>, layout: TyAndLayout<'tcx>, moved: bool, list: &mut Vec<Reg>) {
        let spot = self.value_spot(value, layout);
        for index in 0..layout.fields.count() {
            let field = self.field_spot(spot, index);
            let layout = field.layout();
            let value = self.load(field);
            self.argument(value, layout, moved, list);
        }
    }

    /// A value as something that has fields.
    fn value_spot(&mut self, value: Value<'tcx>, layout: TyAndLayout<'tcx>) -> Spot<'tcx> {
        match value {
            Value::Zst | Value::Unsized(..) => Spot::Nothing(layout),
            Value::Memory(place) => Spot::Memory(place),
            Value::One(prim, atom) => {
                let reg = self.prim_register(prim, atom);
                Spot::Registers(Part::Scalar(prim, 0), reg, layout)
            }
            Value::Two(a, b, offset, first, second) => {
                let reg = self.emit.registers(a.registers() + b.registers());
                self.atom_into(a, first, reg);
                self.atom_into(b, second, Reg(reg.0 + a.registers()));
                Spot::Registers(Part::Both(a, b, offset), reg, layout)
            }
        }
    }

    /// Appends the registers that pass one argument.
    pub(super) fn argument(&mut self, value: Value<'tcx>, layout: TyAndLayout<'tcx>, moved: bool, list: &mut Vec<Reg>) {
        match value {
            Value::Zst => {}
            Value::One(prim, atom) => {
                let reg = self.prim_register(prim, atom);
                list.extend((0..prim.registers()).map(|i| Reg(reg.0 + i)));
            }
            Value::Two(a, b, _, first, second) => {
                for (prim, atom) in [(a, first), (b, second)] {
                    let reg = self.prim_register(prim, atom);
                    list.extend((0..prim.registers()).map(|i| Reg(reg.0 + i)));
                }
            }
            Value::Memory(place) => {
                // The callee owns what it gets: the original where it was moved, else a copy.
                let owned = if moved && place.align >= layout.align.abi {
                    place
                } else {
                    let copy = self.temporary(layout);
                    self.store_memory(value, copy);
                    copy
                };
                list.push(self.addr_register(owned.addr));
            }
            Value::Unsized(addr, meta) => list.extend([addr, meta]),
        }
    }

    /// Calls through a vtable: the first argument is (a struct around) a pointer with one.
    fn virtual_call(
        &mut self,
        index: usize,
        args: &[Spanned<mir::Operand<'tcx>>],
        untuple: bool,
        destination: mir::Place<'tcx>,
        unwind: UnwindAction,
        location: Option<mir::SourceInfo>,
    ) {
        let Some((receiver, rest)) = args.split_first() else {
            return self.unsupported("a call through a vtable without a receiver");
        };
        let spot = self.spot(destination);
        let mut list = self.result_pointer(&spot);
        let (value, layout) = self.operand(&receiver.node);
        let (data, vtable) = match value {
            Value::Two(_, _, _, data, vtable) => (self.atom_register(data), self.atom_register(vtable)),
            Value::Unsized(data, vtable) => (data, vtable),
            _ => return self.unsupported(format!("a call through a vtable on `{}`", layout.ty)),
        };
        list.push(data);
        self.arguments(rest, untuple, &mut list);
        if let Some(location) = location {
            list.push(self.caller_location(location));
        }
        let ptr = self.emit.register();
        self.emit.load(Width::W64, 3, ptr, vtable, index as i32 * 8);
        let unwind = self.unwind(unwind);
        self.finish_call(Callee::Pointer(ptr), list, spot, unwind);
    }

    fn finish_call(&mut self, callee: Callee<'tcx>, list: Vec<Reg>, spot: Spot<'tcx>, unwind: Unwind) {
        let dst = self.result_registers(&spot);
        let args = self.emit.list(&list);
        match callee {
            Callee::Pointer(ptr) => {
                let results = self.repr(spot.layout()).registers() as u8;
                self.emit.op(Op::CallPtr { ptr, args, dst, results, unwind });
            }
            Callee::Instance(instance) => {
                let func = self.builder.function(instance);
                self.emit.op(Op::Call { func, args, dst, unwind });
            }
        }
        if let Spot::Memory(_) = spot {
            self.store_arrival(dst, spot);
        }
    }

    /// Calls an instance with values in registers; its results go to `dst`.
    pub(super) fn call_with_registers(
        &mut self,
        instance: Instance<'tcx>,
        args: &[Reg],
        dst: Reg,
        unwind: UnwindAction,
    ) {
        let func = self.builder.function(instance);
        let args = self.emit.list(args);
        let unwind = self.unwind(unwind);
        self.emit.op(Op::Call { func, args, dst, unwind });
    }

    fn foreign_call(
        &mut self,
        foreign: Foreign<'tcx>,
        args: &[Spanned<mir::Operand<'tcx>>],
        destination: mir::Place<'tcx>,
        target: Option<BasicBlock>,
        unwind: UnwindAction,
    ) {
        let spot = self.spot(destination);
        let mut list = Vec::new();
        self.arguments(args, false, &mut list);
        let unwind = self.unwind(unwind);
        let dst = self.result_registers(&spot);
        self.foreign_body(foreign, &list, dst, spot.layout(), unwind);
        if target.is_some() && matches!(spot, Spot::Memory(_)) {
            self.store_arrival(dst, spot);
        }
    }

    /// The code of a foreign function.
    pub(super) fn foreign_body(
        &mut self,
        foreign: Foreign<'tcx>,
        list: &[Reg],
        dst: Reg,
        result: TyAndLayout<'tcx>,
        unwind: Unwind,
    ) {
        crate::foreign::emit_body(self.builder, &mut self.emit, foreign, list, dst, result, unwind);
    }

    /// The type that a wide pointer points to.
    pub(super) fn pointee(&self, ty: Ty<'tcx>) -> Ty<'tcx> {
        ty.builtin_deref(true).unwrap_or(ty)
    }
}

enum Callee<'tcx> {
    Pointer(Reg),
    Instance(Instance<'tcx>),
}
