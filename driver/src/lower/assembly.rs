//! Inline assembly: the few instructions that Rust code uses where the language has nothing of the kind, or nothing as
//! fast.

use dpor_engine::program::{AtomicWidth, Builtin, Op, Ordering};
use rustc_ast::InlineAsmTemplatePiece;
use rustc_middle::mir::{self, InlineAsmOperand};

use super::Lowering;

/// What a template does.
enum Meaning {
    /// Nothing.
    Nothing,
    /// It tells the processor that the thread waits.
    Pause,
    /// It orders everything before it with everything after it.
    Fence,
    /// It inverts the memory that the operand points to, in one step, and is a fence.
    Invert(usize, AtomicWidth),
}

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
            (Some(Meaning::Invert(at, width)), _) => {
                let Some(InlineAsmOperand::In { value, .. }) = operands.get(at) else { return false };
                self.invert(value, width);
                self.full_fence();
            }
            _ => return false,
        }
        true
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
        _ => {}
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

fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut code = String::new();
    while let Some((before, after)) = rest.split_once("/*") {
        code.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    code + rest
}
