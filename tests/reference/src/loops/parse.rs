//! Programs from text, as [`show`](super::show) writes them.

use std::str::FromStr;

use dpor_engine::graph::{MemOrder, Test};

use super::program::{ATOMICS, Body, Cas, Cond, Loc, Program, Reg, Stmt, Update, Val};

/// A line that is not part of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub String);

impl FromStr for Program {
    type Err = Unreadable;

    /// Reads a program; lines that begin with `#` do not count.
    fn from_str(text: &str) -> Result<Program, Unreadable> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut reader = Reader { threads: Vec::new(), open: Vec::new() };
        for line in lines {
            reader.line(line).ok_or_else(|| Unreadable(line.to_owned()))?;
        }
        Ok(Program { threads: reader.threads })
    }
}

/// Reads lines, one after the other.
struct Reader {
    threads: Vec<Body>,
    /// The blocks that have begun and not ended, with the condition where there is one.
    open: Vec<(Option<Cond>, Vec<Stmt>)>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Option<()> {
        if line.starts_with("thread ") {
            self.threads.push(Body::default());
        } else if let Some(results) = line.strip_prefix("return ") {
            self.threads.last_mut()?.results = results.split(", ").map(reg).collect::<Option<_>>()?;
        } else if line == "loop {" {
            self.open.push((None, Vec::new()));
        } else if let Some(text) = line.strip_prefix("if ") {
            self.open.push((Some(cond(text.strip_suffix(" {")?)?), Vec::new()));
        } else if line == "}" {
            let stmt = match self.open.pop()? {
                (Some(cond), then) => Stmt::If { cond, then },
                (None, body) => Stmt::Loop { body },
            };
            self.add(stmt)?;
        } else {
            self.add(stmt(line)?)?;
        }
        Some(())
    }

    fn add(&mut self, stmt: Stmt) -> Option<()> {
        match self.open.last_mut() {
            Some((_, block)) => block.push(stmt),
            None => self.threads.last_mut()?.stmts.push(stmt),
        }
        Some(())
    }
}

fn stmt(line: &str) -> Option<Stmt> {
    if line == "break" {
        return Some(Stmt::Break);
    }
    if let Some(text) = line.strip_prefix("assert ") {
        return Some(Stmt::Assert { cond: cond(text)? });
    }
    if let Some(text) = line.strip_prefix("D = ") {
        return Some(Stmt::Write { val: val(text)? });
    }
    let (target, text) = line.split_once(" = ").unwrap_or(("", line));
    if text == "D" {
        return Some(Stmt::Read { reg: reg(target)? });
    }
    match text.strip_suffix(')') {
        Some(text) => call(target, text),
        None => Some(Stmt::Set { reg: reg(target)?, val: val(text)? }),
    }
}

/// A fence, or an access: `X.load(Relaxed`, with the name of what it sets.
fn call(target: &str, text: &str) -> Option<Stmt> {
    let (name, arguments) = text.split_once('(')?;
    let arguments: Vec<&str> = arguments.split(", ").collect();
    if let ("fence", [order]) = (name, &arguments[..]) {
        return Some(Stmt::Fence { order: ordering(order)? });
    }
    let (atomic, method) = name.split_once('.')?;
    let loc = ATOMICS.iter().position(|name| *name == atomic)? as Loc;
    match (method, &arguments[..]) {
        ("load", [order]) => Some(Stmt::Load { reg: reg(target)?, loc, order: ordering(order)? }),
        ("store", [value, order]) => Some(Stmt::Store { loc, val: val(value)?, order: ordering(order)? }),
        ("compare_exchange", [expected, new, order, failure]) => {
            let (old, done) = target.strip_prefix('(')?.strip_suffix(')')?.split_once(", ")?;
            let (expected, new) = (val(expected)?, val(new)?);
            let cas = Cas { old: reg(old)?, done: reg(done)?, loc, expected, new };
            Some(Stmt::Cas { cas, order: ordering(order)?, failure: ordering(failure)? })
        }
        (method, [value, order]) => {
            let update = match method {
                "fetch_add" => Update::Add,
                "fetch_sub" => Update::Sub,
                "swap" => Update::Swap,
                _ => return None,
            };
            Some(Stmt::Update { reg: reg(target)?, loc, update, val: val(value)?, order: ordering(order)? })
        }
        _ => None,
    }
}

fn reg(text: &str) -> Option<Reg> {
    text.strip_prefix('r')?.parse().ok()
}

fn val(text: &str) -> Option<Val> {
    match text.split_once(" + ") {
        Some((name, more)) => Some(Val::Sum(reg(name)?, more.parse().ok()?)),
        None => reg(text).map(|reg| Val::Sum(reg, 0)).or_else(|| text.parse().ok().map(Val::Const)),
    }
}

fn cond(text: &str) -> Option<Cond> {
    let words: Vec<&str> = text.split(' ').collect();
    let number = |text: &str| text.parse().ok();
    let test = match words[1..] {
        ["==", value] => Test::Is(number(value)?),
        ["!=", value] => Test::IsNot(number(value)?),
        ["<", value] => Test::Below(number(value)?),
        [">=", value] => Test::AtLeast(number(value)?),
        ["&", bits, "==", "0"] => Test::Clear(number(bits)?),
        _ => return None,
    };
    Some(Cond { reg: reg(words[0])?, test })
}

fn ordering(text: &str) -> Option<MemOrder> {
    use MemOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    [Relaxed, Acquire, Release, AcqRel, SeqCst].into_iter().find(|order| format!("{order:?}") == text)
}

#[cfg(test)]
mod tests {
    use super::super::generate;
    use super::super::random::Random;

    #[test]
    fn what_is_shown_can_be_read() {
        for number in 0..2_000 {
            let program = generate::program(&mut Random::nth(1, number));
            assert_eq!(program.to_string().parse(), Ok(program));
        }
    }
}
