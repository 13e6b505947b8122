//! From the functions of a program to the code that the interpreter runs.
//!
//! A function becomes a [`body::Body`], which is made smaller: registers are shared where there are many ([`compact`]),
//! small functions are inlined ([`inline`]), copies and
//! constants are propagated ([`propagate`]), what nobody reads goes and comparisons move into jumps ([`liveness`]).
//! Then [`translate`] chooses instructions by type, keeps tables beside the code, and moves registers that an
//! instruction cannot name in and out.
//!
//! No access to memory, no check and no visible action is ever removed or moved, and every instruction keeps the place
//! and the functions that it comes from: what a run reports does not depend on any of this.

mod body;
mod compact;
mod inline;
mod liveness;
mod operands;
mod propagate;
mod select;
mod translate;

use crate::program::{FuncId, Program};

use super::code::{Code, NEAR_REGISTERS};
use body::Body;
pub use body::falls_through;
use liveness::Liveness;
pub use liveness::Set;
pub use operands::visit;

/// How much is done before a function runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Operations become instructions one by one.
    Plain,
    /// All there is.
    Full,
}

/// Prepares a function for running.
pub fn prepare(program: &Program, func: FuncId, effort: Effort) -> Code {
    if effort == Effort::Plain {
        return translate::translate(program, func, &Body::new(program, func), &[], None);
    }
    let mut body = inline::inline(program, func);
    if body.registers >= NEAR_REGISTERS {
        return translate::translate(program, func, &body, &[], None);
    }
    for _ in 0..2 {
        propagate::propagate(program, &mut body);
        liveness::remove_unreachable(&mut body);
        liveness::remove_jumps(&mut body);
        liveness::remove_dead(program, &mut body);
        liveness::forward_results(program, &mut body);
    }
    liveness::fuse_comparisons(program, &mut body);
    let overflow_jumps = liveness::overflow_jumps(program, &body);
    let liveness = Liveness::new(program, &body);
    translate::translate(program, func, &body, &overflow_jumps, Some(&liveness))
}
