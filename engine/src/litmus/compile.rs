//! Turns litmus tests into litmus programs.

use super::code::{BinOp, Code, Instr, Operand, Reg};
use super::format::{Expr, FormatError, LitmusTest, Op, Rmw};
use super::machine::Litmus;
use crate::graph::{Loc, MemOrder, RmwOp, ThreadId, Value};
use crate::program::address::MAX_THREADS;
use std::collections::BTreeMap;

/// What a final state lists.
#[derive(Clone, Copy, Debug)]
pub(super) enum Observed {
    Register(ThreadId, Reg),
    Location(Loc),
}

/// A test as a program, with what is to be observed of it.
#[derive(Debug)]
pub(super) struct Compiled {
    pub program: Litmus,
    pub observed: Vec<Observed>,
    pub init: Vec<Value>,
}

/// Compiles a test.
pub(super) fn compile(test: &LitmusTest) -> Result<Compiled, FormatError> {
    if test.threads.len() > MAX_THREADS {
        return Err(FormatError::TooManyThreads(test.threads.len()));
    }
    let locations: BTreeMap<&str, Loc> =
        test.init.keys().enumerate().map(|(i, name)| (name.as_str(), Loc::new(i))).collect();
    let init: Vec<Value> = test.init.values().map(|&v| v as Value).collect();
    let mut codes = Vec::new();
    let mut registers = Vec::new();
    for (number, ops) in test.threads.iter().enumerate() {
        let mut compiler = Compiler { code: Code::new(), registers: BTreeMap::new(), locations: &locations };
        compiler.ops(ops)?;
        if compiler.code.registers == u16::MAX {
            return Err(FormatError::TooLarge(number));
        }
        codes.push(compiler.code);
        registers.push(compiler.registers);
    }
    let observed: Vec<Observed> =
        test.observed.iter().map(|name| observe(name, &registers, &locations)).collect::<Result<_, _>>()?;
    let watched = observed.iter().filter_map(|observed| match *observed {
        Observed::Location(loc) => Some(loc),
        Observed::Register(..) => None,
    });
    let program = Litmus::new(codes, init.clone()).watching(watched.collect());
    Ok(Compiled { program, observed, init })
}

fn unknown(what: &'static str, name: &str) -> FormatError {
    FormatError::Unknown { what, name: name.to_owned() }
}

fn observe(
    name: &str,
    registers: &[BTreeMap<String, Reg>],
    locations: &BTreeMap<&str, Loc>,
) -> Result<Observed, FormatError> {
    let Some((thread, register)) = name.split_once(':') else {
        return locations.get(name).map(|&loc| Observed::Location(loc)).ok_or_else(|| unknown("location", name));
    };
    let thread: usize = thread.parse().map_err(|_| unknown("thread", name))?;
    let of_thread = registers.get(thread).ok_or_else(|| unknown("thread", name))?;
    let reg = of_thread.get(register).ok_or_else(|| unknown("register", name))?;
    Ok(Observed::Register(ThreadId::new(thread), *reg))
}

struct Compiler<'a> {
    code: Code,
    registers: BTreeMap<String, Reg>,
    locations: &'a BTreeMap<&'a str, Loc>,
}

impl Compiler<'_> {
    fn ops(&mut self, ops: &[Op]) -> Result<(), FormatError> {
        ops.iter().try_for_each(|op| self.op(op))
    }

    fn op(&mut self, op: &Op) -> Result<(), FormatError> {
        match op {
            Op::Load { loc, ord, reg } => {
                let (place, reg) = (self.loc(loc)?.into(), self.reg(reg));
                self.code.push(Instr::Load { reg, place, order: *ord });
            }
            Op::Store { loc, ord, val } => {
                let (loc, value) = (self.loc(loc)?, self.expr(val)?);
                self.code.store(loc, value, *ord);
            }
            Op::Fence { ord } => self.code.fence(*ord),
            Op::Let { reg, val } => {
                let value = self.expr(val)?;
                let reg = self.reg(reg);
                self.code.set(reg, value);
            }
            Op::If { cond, then, otherwise } => self.branch(cond, then, otherwise)?,
            Op::Rmw(rmw) => self.rmw(rmw)?,
        }
        Ok(())
    }

    fn branch(&mut self, cond: &Expr, then: &[Op], otherwise: &[Op]) -> Result<(), FormatError> {
        let condition = self.expr(cond)?;
        let to_else = self.code.unless(condition);
        self.ops(then)?;
        let to_end = self.code.jump();
        self.code.land(to_else);
        self.ops(otherwise)?;
        self.code.land(to_end);
        Ok(())
    }

    fn rmw(&mut self, rmw: &Rmw) -> Result<(), FormatError> {
        match rmw {
            Rmw::Add { loc, ord, reg, val } => self.fetch(RmwOp::Add, loc, *ord, reg, val),
            Rmw::Xchg { loc, ord, reg, val } => self.fetch(RmwOp::Xchg, loc, *ord, reg, val),
            Rmw::Cas { loc, ord, ord_fail, reg, ok, expected, desired } => {
                let place = self.loc(loc)?.into();
                let (expected, new) = (self.expr(expected)?, self.expr(desired)?);
                let reg = self.reg(reg);
                let ok = match ok {
                    Some(name) => self.reg(name),
                    None => self.code.register(),
                };
                self.code.push(Instr::Cas {
                    reg,
                    ok,
                    place,
                    expected,
                    new,
                    order: *ord,
                    failure: *ord_fail,
                    weak: false,
                });
                Ok(())
            }
        }
    }

    fn fetch(&mut self, op: RmwOp, loc: &str, order: MemOrder, reg: &str, val: &Expr) -> Result<(), FormatError> {
        let (place, operand) = (self.loc(loc)?.into(), self.expr(val)?);
        let reg = self.reg(reg);
        self.code.push(Instr::Rmw { reg, place, op, operand, order });
        Ok(())
    }

    fn loc(&self, name: &str) -> Result<Loc, FormatError> {
        self.locations.get(name).copied().ok_or_else(|| unknown("location", name))
    }

    fn reg(&mut self, name: &str) -> Reg {
        if let Some(&reg) = self.registers.get(name) {
            return reg;
        }
        let reg = if self.code.registers < u16::MAX { self.code.register() } else { Reg(0) };
        self.registers.insert(name.to_owned(), reg);
        reg
    }

    fn expr(&mut self, expr: &Expr) -> Result<Operand, FormatError> {
        Ok(match expr {
            Expr::Number(n) => Operand::Const(*n as Value),
            Expr::Register(name) => Operand::Reg(self.reg(name)),
            Expr::Binary { bin, a, b } => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                let reg = if self.code.registers < u16::MAX { self.code.register() } else { Reg(0) };
                self.code.push(Instr::Bin { reg, op: operator(bin)?, a, b });
                Operand::Reg(reg)
            }
        })
    }
}

fn operator(name: &str) -> Result<BinOp, FormatError> {
    Ok(match name {
        "+" => BinOp::Add,
        "-" => BinOp::Sub,
        "^" => BinOp::Xor,
        "&" => BinOp::And,
        "|" => BinOp::Or,
        "==" => BinOp::Eq,
        "!=" => BinOp::Ne,
        other => return Err(unknown("operator", other)),
    })
}
