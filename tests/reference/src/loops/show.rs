//! Programs as text.

use std::fmt::{self, Display, Formatter};

use dpor_engine::graph::Test;

use super::program::{ATOMICS, Body, Cas, Cond, Loc, Program, Stmt, Update, Val};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.threads.iter().enumerate().try_for_each(|(id, body)| write!(f, "thread {id}:\n{body}"))
    }
}

impl Display for Body {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        block(f, &self.stmts, 1)?;
        if self.results.is_empty() {
            return Ok(());
        }
        let results: Vec<String> = self.results.iter().map(|reg| format!("r{reg}")).collect();
        writeln!(f, "    return {}", results.join(", "))
    }
}

fn block(f: &mut Formatter<'_>, stmts: &[Stmt], depth: usize) -> fmt::Result {
    stmts.iter().try_for_each(|stmt| line(f, stmt, depth))
}

fn line(f: &mut Formatter<'_>, stmt: &Stmt, depth: usize) -> fmt::Result {
    let indent = "    ".repeat(depth);
    write!(f, "{indent}")?;
    match stmt {
        Stmt::Load { reg, loc, order } => writeln!(f, "r{reg} = {}.load({order:?})", name(*loc)),
        Stmt::Store { loc, val, order } => writeln!(f, "{}.store({val}, {order:?})", name(*loc)),
        Stmt::Update { reg, loc, update, val, order } => {
            let method = match update {
                Update::Add => "fetch_add",
                Update::Sub => "fetch_sub",
                Update::Swap => "swap",
            };
            writeln!(f, "r{reg} = {}.{method}({val}, {order:?})", name(*loc))
        }
        Stmt::Cas { cas: Cas { old, done, loc, expected, new }, order, failure } => {
            let call = format!("{}.compare_exchange({expected}, {new}, {order:?}, {failure:?})", name(*loc));
            writeln!(f, "(r{old}, r{done}) = {call}")
        }
        Stmt::Fence { order } => writeln!(f, "fence({order:?})"),
        Stmt::Read { reg } => writeln!(f, "r{reg} = D"),
        Stmt::Write { val } => writeln!(f, "D = {val}"),
        Stmt::Set { reg, val } => writeln!(f, "r{reg} = {val}"),
        Stmt::Assert { cond } => writeln!(f, "assert {cond}"),
        Stmt::Break => writeln!(f, "break"),
        Stmt::If { cond, then } => {
            writeln!(f, "if {cond} {{")?;
            block(f, then, depth + 1)?;
            writeln!(f, "{indent}}}")
        }
        Stmt::Loop { body } => {
            writeln!(f, "loop {{")?;
            block(f, body, depth + 1)?;
            writeln!(f, "{indent}}}")
        }
    }
}

fn name(loc: Loc) -> &'static str {
    ATOMICS[usize::from(loc)]
}

impl Display for Val {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Val::Const(value) => write!(f, "{value}"),
            Val::Sum(reg, 0) => write!(f, "r{reg}"),
            Val::Sum(reg, more) => write!(f, "r{reg} + {more}"),
        }
    }
}

impl Display for Cond {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let reg = self.reg;
        match self.test {
            Test::Is(value) => write!(f, "r{reg} == {value}"),
            Test::IsNot(value) => write!(f, "r{reg} != {value}"),
            Test::Below(value) => write!(f, "r{reg} < {value}"),
            Test::AtLeast(value) => write!(f, "r{reg} >= {value}"),
            Test::Clear(bits) => write!(f, "r{reg} & {bits} == 0"),
        }
    }
}
