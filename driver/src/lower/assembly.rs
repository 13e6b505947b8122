//! Inline assembly: the few instructions that Rust code uses where the language has nothing of the kind, or nothing as
//! fast.

use dpor_engine::program::{AtomicWidth, Builtin, Op, Ordering, Reg, Unwind};
use rustc_ast::InlineAsmTemplatePiece;
use rustc_middle::mir::{self, InlineAsmOperand};
use rustc_target::asm::InlineAsmRegOrRegClass;

use super::Lowering;
use super::operand::{Atom, Value};
use crate::foreign::emit_provided;
use crate::repr::Repr;

/// What a template does.
enum Meaning {
    /// Nothing.
    Nothing,
    /// It tells the processor that the thread waits.
    Pause,
    /// It orders everything before it with everything after it.
    Fence,
    /// It exchanges the memory that the first operand points to with the second one, and is a fence.
    Exchange,
    /// It inverts the memory that the operand points to, in one step, and is a fence.
    Invert(usize, AtomicWidth),
    /// It asks the processor what it can do.
    Cpuid,
    /// It calls the operating system.
    SystemCall,
}

/// The registers of the arguments of a system call.
const ARGUMENTS: [&str; 6] = ["di", "si", "dx", "r10", "r8", "r9"];

impl<'tcx> Lowering<'_, 'tcx> {
    /// Lowers assembly; false where it is not known.
    pub(super) fn assembly(
        &mut self,
        template: &[InlineAsmTemplatePiece],
        operands: &[InlineAsmOperand<'tcx>],
    ) -> bool {
        match (meaning(template), operands) {
            (Some(Meaning::Nothing), _) => self.pass_through(operands),
            (Some(Meaning::Pause), []) => self.builtin(Builtin::SpinLoop, &[]),
            (Some(Meaning::Fence), []) => self.full_fence(),
            // Nobody knows what is exchanged, so that it makes no difference whether it is.
            (Some(Meaning::Exchange), [InlineAsmOperand::In { .. }, InlineAsmOperand::Out { place: None, .. }]) => {
                self.full_fence();
            }
            (Some(Meaning::Invert(at, width)), _) => {
                let Some(InlineAsmOperand::In { value, .. }) = operands.get(at) else { return false };
                self.invert(value, width);
                self.full_fence();
            }
            // No processor features beyond the target's own: code takes its portable paths.
            (Some(Meaning::Cpuid), _) => self.clear_outputs(operands),
            (Some(Meaning::SystemCall), _) => return self.system_call(operands),
            _ => return false,
        }
        true
    }

    /// Everything that comes out is 0.
    fn clear_outputs(&mut self, operands: &[InlineAsmOperand<'tcx>]) {
        for operand in operands {
            let (InlineAsmOperand::Out { place: Some(place), .. }
            | InlineAsmOperand::InOut { out_place: Some(place), .. }) = operand
            else {
                continue;
            };
            let zero = self.emit.register();
            self.emit.imm(zero, 0);
            self.output(*place, zero);
        }
    }

    /// A system call: its number and its result are in `rax`. False where that is not so.
    fn system_call(&mut self, operands: &[InlineAsmOperand<'tcx>]) -> bool {
        let Some(function) = self.builder.provided("syscall_instruction") else { return false };
        let mut list = Vec::new();
        for name in ["ax"].into_iter().chain(ARGUMENTS) {
            let register = match input(operands, name) {
                Some(value) => self.operand_register(value),
                None => {
                    let zero = self.emit.register();
                    self.emit.imm(zero, 0);
                    zero
                }
            };
            list.push(register);
        }
        let dst = self.emit.register();
        emit_provided(self.builder, &mut self.emit, function, &list, dst, Unwind::CONTINUE);
        for operand in operands {
            if let InlineAsmOperand::InOut { reg, out_place: Some(place), .. } = operand
                && is_register(reg, "ax")
            {
                self.output(*place, dst);
            }
        }
        true
    }

    /// Stores a scalar that comes out.
    fn output(&mut self, place: mir::Place<'tcx>, register: Reg) {
        let spot = self.spot(place);
        if let Repr::One(prim) = self.repr(spot.layout()) {
            self.store(Value::One(prim, Atom::Register(register)), spot);
        }
    }

    /// What goes in comes out.
    fn pass_through(&mut self, operands: &[InlineAsmOperand<'tcx>]) {
        for operand in operands {
            if let InlineAsmOperand::InOut { in_value, out_place: Some(place), .. } = operand {
                let (value, _) = self.operand(in_value);
                let spot = self.spot(*place);
                self.store(value, spot);
            }
        }
    }

    fn full_fence(&mut self) {
        self.emit.op(Op::Fence { ordering: Ordering::SeqCst });
    }

    fn invert(&mut self, pointer: &mir::Operand<'tcx>, width: AtomicWidth) {
        let ptr = self.operand_register(pointer);
        let bytes = self.emit.register();
        self.emit.imm(bytes, u64::from(width.bytes()));
        self.builtin(Builtin::Invert, &[ptr, bytes]);
    }
}

/// What a template means, if that is known.
fn meaning(template: &[InlineAsmTemplatePiece]) -> Option<Meaning> {
    let pieces = template.iter().map(|piece| match piece {
        InlineAsmTemplatePiece::String(text) => text.to_string(),
        InlineAsmTemplatePiece::Placeholder { operand_idx, .. } => format!("{{{operand_idx}}}"),
    });
    let code = without_comments(&pieces.collect::<String>());
    match code.trim() {
        "" | "nop" => return Some(Meaning::Nothing),
        "pause" => return Some(Meaning::Pause),
        "mfence" => return Some(Meaning::Fence),
        "xchg qword ptr [{0}], {1}" => return Some(Meaning::Exchange),
        "syscall" => return Some(Meaning::SystemCall),
        _ => {}
    }
    if is_cpuid(&code) {
        return Some(Meaning::Cpuid);
    }
    let (size, operand) = code.trim().strip_prefix("lock not ")?.split_once(" ptr [{")?;
    let width = match size {
        "byte" => AtomicWidth::W8,
        "word" => AtomicWidth::W16,
        "dword" => AtomicWidth::W32,
        "qword" => AtomicWidth::W64,
        _ => return None,
    };
    Some(Meaning::Invert(operand.strip_suffix("}]")?.parse().ok()?, width))
}

/// Whether code does nothing but `cpuid`, and keeps `rbx`, which the compiler needs.
fn is_cpuid(code: &str) -> bool {
    let keeps = |line: &str| (line.starts_with("mov ") || line.starts_with("xchg ")) && line.contains("rbx");
    let mut lines = code.lines().map(str::trim);
    lines.clone().any(|line| line == "cpuid") && lines.all(|line| line == "cpuid" || keeps(line))
}

/// What goes into a register.
fn input<'a, 'tcx>(operands: &'a [InlineAsmOperand<'tcx>], name: &str) -> Option<&'a mir::Operand<'tcx>> {
    operands.iter().find_map(|operand| match operand {
        InlineAsmOperand::In { reg, value } | InlineAsmOperand::InOut { reg, in_value: value, .. } => {
            is_register(reg, name).then_some(value)
        }
        _ => None,
    })
}

fn is_register(reg: &InlineAsmRegOrRegClass, name: &str) -> bool {
    matches!(reg, InlineAsmRegOrRegClass::Reg(reg) if reg.name() == name)
}

fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut code = String::new();
    while let Some((before, after)) = rest.split_once("/*") {
        code.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    code + rest
}
