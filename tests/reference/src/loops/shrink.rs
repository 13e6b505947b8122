//! Makes a program smaller, as long as something is still wrong with it.

use dpor_engine::graph::MemOrder;

use super::program::{Program, Stmt, Val};

/// The smallest program found that is still wrong: nothing can be taken from it, or made weaker or simpler, at one
/// place.
pub fn shrink(program: &Program, is_wrong: impl Fn(&Program) -> bool) -> Program {
    let mut smallest = program.clone();
    while let Some(smaller) =
        smaller(&smallest).into_iter().find(|program| program.is_well_formed() && is_wrong(program))
    {
        smallest = smaller;
    }
    smallest
}

/// All programs that are smaller at one place, those without a thread first.
fn smaller(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    for id in 0..program.threads.len() {
        let mut without = program.clone();
        without.threads.remove(id);
        all.push(without);
    }
    for (id, body) in program.threads.iter().enumerate() {
        for stmts in smaller_blocks(&body.stmts) {
            let mut other = program.clone();
            other.threads[id].stmts = stmts;
            all.push(other);
        }
        for index in 0..body.results.len() {
            let mut other = program.clone();
            other.threads[id].results.remove(index);
            all.push(other);
        }
    }
    all
}

/// All blocks that are smaller at one place, those without a statement first.
fn smaller_blocks(stmts: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut all = Vec::new();
    for at in 0..stmts.len() {
        let replaced = |by: Vec<Stmt>| {
            let mut block = stmts.to_vec();
            block.splice(at..=at, by);
            block
        };
        all.push(replaced(Vec::new()));
        all.extend(simpler(&stmts[at]).into_iter().map(replaced));
    }
    all
}

/// What a statement may be replaced with.
fn simpler(stmt: &Stmt) -> Vec<Vec<Stmt>> {
    let mut all = match stmt {
        Stmt::If { then, .. } => vec![then.clone()],
        Stmt::Loop { body } => vec![without_breaks(body)],
        _ => Vec::new(),
    };
    match stmt {
        Stmt::If { cond, then } => {
            all.extend(smaller_blocks(then).into_iter().map(|then| vec![Stmt::If { cond: *cond, then }]));
        }
        Stmt::Loop { body } => all.extend(smaller_blocks(body).into_iter().map(|body| vec![Stmt::Loop { body }])),
        _ => all.extend(weaker(stmt).into_iter().map(|stmt| vec![stmt])),
    }
    all
}

/// The statements of a loop that is gone.
fn without_breaks(stmts: &[Stmt]) -> Vec<Stmt> {
    let keep = |stmt: &Stmt| match stmt {
        Stmt::Break => None,
        Stmt::If { cond, then } => Some(Stmt::If { cond: *cond, then: without_breaks(then) }),
        other => Some(other.clone()),
    };
    stmts.iter().filter_map(keep).collect()
}

/// The same access, relaxed, or of the value 1, or simply a store.
fn weaker(stmt: &Stmt) -> Vec<Stmt> {
    let mut all = Vec::new();
    if let Stmt::Update { loc, val, order, .. } = *stmt {
        let order = if order == MemOrder::SeqCst { order } else { MemOrder::Relaxed };
        all.push(Stmt::Store { loc, val, order });
    }
    let mut relaxed = stmt.clone();
    match &mut relaxed {
        Stmt::Load { order, .. } | Stmt::Store { order, .. } | Stmt::Update { order, .. } => *order = MemOrder::Relaxed,
        Stmt::Cas { order, failure, .. } => (*order, *failure) = (MemOrder::Relaxed, MemOrder::Relaxed),
        _ => {}
    }
    let mut plainer = stmt.clone();
    match &mut plainer {
        Stmt::Store { val, .. } | Stmt::Update { val, .. } | Stmt::Write { val } => *val = Val::Const(1),
        _ => {}
    }
    all.extend([relaxed, plainer].into_iter().filter(|other| other != stmt));
    all
}
