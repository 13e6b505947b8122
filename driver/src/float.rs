//! Operations on floats: which instruction does what an intrinsic or a function of the C library is for.

use dpor_engine::program::{F128BinOp, F128UnOp, FloatBinOp, FloatTy, FloatUnOp, Op, Reg};

/// Why there is no instruction.
pub const OTHER_FLOAT: &str = "floats of a format other than `f16`, `f32`, `f64` and `f128`";

/// A format that the machine computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// In one register.
    Small(FloatTy),
    /// `f128`, in two.
    Quad,
}

/// An operation on floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatOperation {
    Un(FloatUnOp),
    Bin(FloatBinOp),
    /// To the power of an `i32`.
    Powi,
    /// Times two to the power of an `i32`.
    Scale,
    MulAdd,
}

impl FloatOperation {
    /// The instruction for it, with the (first) registers of its arguments; `None` where there is none for the format.
    pub fn instruction(self, format: Format, args: &[Reg], dst: Reg) -> Option<Op> {
        use FloatOperation::{Bin, MulAdd, Powi, Scale, Un};
        use Format::{Quad, Small};
        Some(match (self, format, args) {
            (Un(op), Small(ty), &[src, ..]) => Op::FloatUn { op, ty, dst, src },
            (Un(op), Quad, &[src, ..]) => Op::F128Un { op: quad_un(op)?, dst, src },
            (Bin(op), Small(ty), &[a, b, ..]) => Op::FloatBin { op, ty, dst, a, b },
            (Bin(op), Quad, &[a, b, ..]) => Op::F128Bin { op: quad_bin(op)?, dst, a, b },
            (Powi, Small(ty), &[src, exp, ..]) => Op::FloatPowi { ty, dst, src, exp },
            (Powi, Quad, &[src, exp, ..]) => Op::F128Powi { dst, src, exp },
            (Scale, Small(ty), &[src, exp, ..]) => Op::FloatScale { ty, dst, src, exp },
            (Scale, Quad, &[src, exp, ..]) => Op::F128Scale { dst, src, exp },
            (MulAdd, Small(ty), &[a, b, c, ..]) => Op::FloatMulAdd { ty, dst, a, b, c },
            (MulAdd, Quad, &[a, b, c, ..]) => Op::F128MulAdd { dst, a, b, c },
            _ => return None,
        })
    }

    /// The operation of an intrinsic.
    pub fn of_intrinsic(name: &str) -> Option<FloatOperation> {
        use FloatOperation::{Bin, MulAdd, Powi, Un};
        let base = ["f16", "f32", "f64", "f128"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
        Some(match base.trim_end_matches('_') {
            "round_ties_even" => Un(FloatUnOp::RoundTiesEven),
            "minimum_number_nsz" => Bin(FloatBinOp::Min),
            "maximum_number_nsz" => Bin(FloatBinOp::Max),
            "minimum" => Bin(FloatBinOp::Minimum),
            "maximum" => Bin(FloatBinOp::Maximum),
            "fadd_fast" | "fadd_algebraic" => Bin(FloatBinOp::Add),
            "fsub_fast" | "fsub_algebraic" => Bin(FloatBinOp::Sub),
            "fmul_fast" | "fmul_algebraic" => Bin(FloatBinOp::Mul),
            "fdiv_fast" | "fdiv_algebraic" => Bin(FloatBinOp::Div),
            "frem_fast" | "frem_algebraic" => Bin(FloatBinOp::Rem),
            "powi" => Powi,
            "fmuladd" => MulAdd,
            base => return FloatOperation::common(base),
        })
    }

    /// The operation of a function of the C library.
    pub fn of_function(name: &str) -> Option<(FloatOperation, Format)> {
        let suffixes = [
            ("", Format::Small(FloatTy::F64)),
            ("f", Format::Small(FloatTy::F32)),
            ("f16", Format::Small(FloatTy::F16)),
            ("f128", Format::Quad),
        ];
        suffixes.iter().find_map(|(suffix, format)| {
            let base = name.strip_suffix(suffix)?;
            Some((FloatOperation::in_library(base)?, *format))
        })
    }

    fn in_library(base: &str) -> Option<FloatOperation> {
        use FloatOperation::{Bin, Scale, Un};
        Some(match base {
            "tan" => Un(FloatUnOp::Tan),
            "asin" => Un(FloatUnOp::Asin),
            "acos" => Un(FloatUnOp::Acos),
            "atan" => Un(FloatUnOp::Atan),
            "sinh" => Un(FloatUnOp::Sinh),
            "cosh" => Un(FloatUnOp::Cosh),
            "tanh" => Un(FloatUnOp::Tanh),
            "asinh" => Un(FloatUnOp::Asinh),
            "acosh" => Un(FloatUnOp::Acosh),
            "atanh" => Un(FloatUnOp::Atanh),
            "cbrt" => Un(FloatUnOp::Cbrt),
            "expm1" => Un(FloatUnOp::ExpM1),
            "log1p" => Un(FloatUnOp::Ln1p),
            "tgamma" => Un(FloatUnOp::Gamma),
            "erf" => Un(FloatUnOp::Erf),
            "erfc" => Un(FloatUnOp::Erfc),
            // The mode of rounding is always the default one.
            "rint" | "nearbyint" | "roundeven" => Un(FloatUnOp::RoundTiesEven),
            "atan2" => Bin(FloatBinOp::Atan2),
            "hypot" => Bin(FloatBinOp::Hypot),
            "fmod" => Bin(FloatBinOp::Rem),
            "fdim" => Bin(FloatBinOp::Dim),
            "fmin" => Bin(FloatBinOp::Min),
            "fmax" => Bin(FloatBinOp::Max),
            "fminimum" => Bin(FloatBinOp::Minimum),
            "fmaximum" => Bin(FloatBinOp::Maximum),
            "ldexp" | "scalbn" => Scale,
            base => return FloatOperation::common(base),
        })
    }

    /// What has the same name as an intrinsic and as a function.
    fn common(base: &str) -> Option<FloatOperation> {
        use FloatOperation::{Bin, MulAdd, Un};
        Some(match base {
            "sqrt" => Un(FloatUnOp::Sqrt),
            "sin" => Un(FloatUnOp::Sin),
            "cos" => Un(FloatUnOp::Cos),
            "exp" => Un(FloatUnOp::Exp),
            "exp2" => Un(FloatUnOp::Exp2),
            "log" => Un(FloatUnOp::Ln),
            "log2" => Un(FloatUnOp::Log2),
            "log10" => Un(FloatUnOp::Log10),
            "floor" => Un(FloatUnOp::Floor),
            "ceil" => Un(FloatUnOp::Ceil),
            "trunc" => Un(FloatUnOp::Trunc),
            "round" => Un(FloatUnOp::Round),
            "fabs" => Un(FloatUnOp::Abs),
            "pow" => Bin(FloatBinOp::Pow),
            "copysign" => Bin(FloatBinOp::CopySign),
            "fma" => MulAdd,
            _ => return None,
        })
    }
}

fn quad_bin(op: FloatBinOp) -> Option<F128BinOp> {
    Some(match op {
        FloatBinOp::Add => F128BinOp::Add,
        FloatBinOp::Sub => F128BinOp::Sub,
        FloatBinOp::Mul => F128BinOp::Mul,
        FloatBinOp::Div => F128BinOp::Div,
        FloatBinOp::Rem => F128BinOp::Rem,
        FloatBinOp::Eq => F128BinOp::Eq,
        FloatBinOp::Ne => F128BinOp::Ne,
        FloatBinOp::Lt => F128BinOp::Lt,
        FloatBinOp::Le => F128BinOp::Le,
        FloatBinOp::Gt => F128BinOp::Gt,
        FloatBinOp::Ge => F128BinOp::Ge,
        FloatBinOp::Min => F128BinOp::Min,
        FloatBinOp::Max => F128BinOp::Max,
        FloatBinOp::Minimum => F128BinOp::Minimum,
        FloatBinOp::Maximum => F128BinOp::Maximum,
        FloatBinOp::CopySign => F128BinOp::CopySign,
        FloatBinOp::Dim => F128BinOp::Dim,
        FloatBinOp::Pow | FloatBinOp::Atan2 | FloatBinOp::Hypot => return None,
    })
}

fn quad_un(op: FloatUnOp) -> Option<F128UnOp> {
    Some(match op {
        FloatUnOp::Neg => F128UnOp::Neg,
        FloatUnOp::Abs => F128UnOp::Abs,
        FloatUnOp::Sqrt => F128UnOp::Sqrt,
        FloatUnOp::Floor => F128UnOp::Floor,
        FloatUnOp::Ceil => F128UnOp::Ceil,
        FloatUnOp::Trunc => F128UnOp::Trunc,
        FloatUnOp::Round => F128UnOp::Round,
        FloatUnOp::RoundTiesEven => F128UnOp::RoundTiesEven,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_by_name() {
        let un = |op, format| Some((FloatOperation::Un(op), format));
        let small = Format::Small;
        assert_eq!(FloatOperation::of_function("erf"), un(FloatUnOp::Erf, small(FloatTy::F64)));
        assert_eq!(FloatOperation::of_function("erff"), un(FloatUnOp::Erf, small(FloatTy::F32)));
        assert_eq!(FloatOperation::of_function("floorf16"), un(FloatUnOp::Floor, small(FloatTy::F16)));
        assert_eq!(FloatOperation::of_function("sqrtf128"), un(FloatUnOp::Sqrt, Format::Quad));
        assert_eq!(FloatOperation::of_function("ldexpf"), Some((FloatOperation::Scale, small(FloatTy::F32))));
        assert_eq!(FloatOperation::of_function("minimum"), None);
        assert_eq!(FloatOperation::of_intrinsic("minimumf128"), Some(FloatOperation::Bin(FloatBinOp::Minimum)));
        assert_eq!(
            FloatOperation::of_intrinsic("round_ties_even_f16"),
            Some(FloatOperation::Un(FloatUnOp::RoundTiesEven))
        );
        assert_eq!(FloatOperation::of_intrinsic("hypot"), None);
    }
}
