//! Runs a few operations on given registers, and gives what is in others afterwards.

use crate::program::{Builtin, Op, Reg, Width};
use crate::vm::Failure;

use super::asm::{Asm, r};

/// Where registers of the far variant begin: beyond what an instruction can name.
const FAR: u16 = 300;

/// Runs operations with the registers set as `inputs` say (register 0 up), and gives the registers of `outputs`.
/// `build` makes the operations; the function that it gets numbers the registers.
///
/// Done twice, with registers that instructions can name and with others that they cannot: both must agree.
pub fn compute(
    inputs: &[u64],
    outputs: &[u16],
    build: impl Fn(&dyn Fn(u16) -> Reg) -> Vec<Op>,
) -> Result<Vec<u64>, Box<Failure>> {
    let near = compute_from(0, inputs, outputs, &build(&|register| r(register + 1)));
    let far = compute_from(FAR, inputs, outputs, &build(&|register| r(register + 1 + FAR)));
    // The pair of registers that lies on both sides of the limit.
    let edge = crate::vm::code::NEAR_REGISTERS - 3;
    let mixed = compute_from(edge, inputs, outputs, &build(&|register| r(register + 1 + edge)));
    assert_eq!(near, far, "near and far registers differ");
    assert_eq!(near, mixed, "near and mixed registers differ");
    near
}

fn compute_from(shift: u16, inputs: &[u64], outputs: &[u16], ops: &[Op]) -> Result<Vec<u64>, Box<Failure>> {
    let size = 8 * outputs.len() as u16;
    let run = Asm::new().run(|f| {
        f.registers(shift + 40);
        let slot = f.slot("out", size, true);
        for (register, value) in (0..).zip(inputs) {
            f.imm(shift + 1 + register, *value);
        }
        f.ops(ops.iter().copied());
        for (index, register) in (0..).zip(outputs) {
            f.op(Op::StoreSlot { width: Width::W64, src: r(shift + 1 + register), offset: slot + 8 * index });
        }
        f.op(Op::SlotAddr { dst: r(0), offset: slot }).imm(shift + 39, u64::from(size));
        f.builtin(Builtin::Print, &[0, shift + 39], 0).ret();
    });
    match run.failure {
        Some(mut failure) => {
            // The places of the variants differ.
            failure.location = None;
            failure.stack.clear();
            Err(Box::new(failure))
        }
        None => Ok(run.output.all().chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()),
    }
}

/// The one result of operations that cannot fail.
pub fn one(inputs: &[u64], build: impl Fn(&dyn Fn(u16) -> Reg) -> Vec<Op>) -> u64 {
    compute(inputs, &[10], build).expect("operations that do not fail")[0]
}
