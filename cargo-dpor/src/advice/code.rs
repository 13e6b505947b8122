//! Calls in the source, and how changes are written there.
//!
//! What is explored has a fence directly before or after an operation. In the source that is a line of its own, which is
//! the same only if nothing else happens in between: a fence is offered where the operation is the first thing that its
//! statement does, or the last one.

use std::ops::Range;

use dpor_engine::graph::MemOrder;
use dpor_engine::verdict::Location;
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, Expr, File, ItemUse, Stmt, UseTree};

use super::change::{AtomicCall, Edit, ORDERINGS, Side, What};

/// Methods of a result that only look at it.
const LOOKS: [&str; 4] = ["is_ok", "is_err", "is_null", "ok"];

/// A source file, parsed.
pub struct Code {
    text: String,
    file: File,
    /// All that is imported in it, as paths.
    imports: Vec<Vec<String>>,
}

/// A call, and the statements that it is in.
struct Call<'a> {
    expr: &'a Expr,
    /// The name of the method, or of the function.
    name: Range<usize>,
    receiver: Option<&'a Expr>,
    arguments: Vec<&'a Expr>,
    /// The outermost first.
    statements: Vec<&'a Stmt>,
}

impl Code {
    /// Nothing where the text is not Rust, as far as is known.
    pub fn parse(text: String) -> Option<Code> {
        // Offsets count from what the parser skips.
        let file =
            syn::parse_file(&text).ok().filter(|_| !text.starts_with(['\u{feff}', '#']) || text.starts_with("#["))?;
        let mut imports = Imports(Vec::new());
        imports.visit_file(&file);
        Some(Code { text, imports: imports.0, file })
    }

    /// How a change is made; nothing where it cannot be.
    pub fn edits(&self, site: &AtomicCall, what: What) -> Option<Vec<Edit>> {
        let call = self.call(&site.place, &site.method)?;
        match what {
            What::Ordering { which, to, .. } => {
                Some(vec![self.ordering_edit(call.arguments.get(site.argument(which))?, to)])
            }
            What::Fence { side, ordering } => Some(vec![self.fence_edit(&call, side, ordering)?]),
            What::Swap { to, .. } => {
                let prefix = if call.is_statement() { "" } else { "_ = " };
                let start = call.expr.span().byte_range().start;
                let insertion = (!prefix.is_empty()).then(|| Edit { range: start..start, text: prefix.to_owned() });
                let name = Edit { range: call.name.clone(), text: "swap".to_owned() };
                let ordering = self.ordering_edit(call.arguments.get(1)?, to);
                // What is not changed is no edit.
                let edits = insertion.into_iter().chain([name, ordering]);
                Some(edits.filter(|edit| self.text[edit.range.clone()] != edit.text).collect())
            }
            What::Strong => Some(vec![Edit { range: call.name, text: "compare_exchange".to_owned() }]),
        }
    }

    /// The first byte from there on that is not white space.
    pub fn skip_space(&self, from: usize) -> usize {
        let rest = &self.text[from..];
        from + rest.len() - rest.trim_start().len()
    }

    /// Another ordering as an argument. Of a path, the last part is another one, unless only the old one is imported.
    fn ordering_edit(&self, argument: &Expr, to: MemOrder) -> Edit {
        if let Expr::Path(path) = argument
            && let Some(last) = path.path.segments.last()
            && let Some(from) = ORDERINGS.iter().find(|order| last.ident == order.name())
        {
            let is_bare = path.path.segments.len() == 1;
            let is_imported = is_bare && self.imports_any(&[&["Ordering", from.name()]]);
            let text = if is_imported { self.ordering(to) } else { to.name().to_owned() };
            return Edit { range: last.ident.span().byte_range(), text };
        }
        Edit { range: argument.span().byte_range(), text: self.ordering(to) }
    }

    /// An ordering, as it can be written in this file.
    fn ordering(&self, order: MemOrder) -> String {
        let name = order.name();
        if self.imports_any(&[&["Ordering", "*"], &["Ordering", name]]) {
            name.to_owned()
        } else if self.imports_any(&[&["atomic", "Ordering"], &["atomic", "*"]]) {
            format!("Ordering::{name}")
        } else {
            format!("std::sync::atomic::Ordering::{name}")
        }
    }

    /// `fence`, as it can be written in this file.
    fn fence(&self) -> &'static str {
        if self.imports_any(&[&["atomic", "fence"], &["atomic", "*"]]) {
            "fence"
        } else if self.imports_any(&[&["sync", "atomic"]]) {
            "atomic::fence"
        } else {
            "std::sync::atomic::fence"
        }
    }

    fn imports_any(&self, ends: &[&[&str]]) -> bool {
        let ends_with = |path: &Vec<String>, end: &[&str]| {
            path.len() >= end.len() && path[path.len() - end.len()..].iter().zip(end).all(|(a, b)| a == b)
        };
        self.imports.iter().any(|path| ends.iter().any(|end| ends_with(path, end)))
    }

    /// A line with a fence.
    fn fence_edit(&self, call: &Call, side: Side, ordering: MemOrder) -> Option<Edit> {
        let statement = call.statements.iter().rev().find(|statement| self.begins_line(statement.span()))?;
        let range = statement.span().byte_range();
        let line = self.text[..range.start].rfind('\n').map_or(0, |at| at + 1);
        let indent = &self.text[line..range.start];
        let fence = format!("{}({});", self.fence(), self.ordering(ordering));
        let quiet = call.receiver.is_none_or(is_quiet) && call.arguments.iter().all(|argument| is_quiet(argument));
        match side {
            Side::Before if quiet && does_first(statement, call.expr) => {
                Some(Edit { range: range.start..range.start, text: format!("{fence}\n{indent}") })
            }
            Side::After if does_last(statement, call.expr) => {
                let end = range.end + self.text[range.end..].find('\n')?;
                // Nothing but a comment may follow on the line.
                let rest = self.text[range.end..end].trim();
                let edit = || Edit { range: end..end, text: format!("\n{indent}{fence}") };
                (rest.is_empty() || rest.starts_with("//")).then(edit)
            }
            _ => None,
        }
    }

    /// Whether there is nothing before it on its line.
    fn begins_line(&self, span: Span) -> bool {
        let start = span.byte_range().start;
        let line = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        self.text[line..start].trim().is_empty()
    }

    fn call(&self, place: &Location, method: &str) -> Option<Call<'_>> {
        let mut finder = Finder { place, method, statements: Vec::new(), found: None };
        finder.visit_file(&self.file);
        finder.found
    }
}

impl Call<'_> {
    /// Whether what it returns is not used.
    fn is_statement(&self) -> bool {
        matches!(self.statements.last(), Some(Stmt::Expr(expr, Some(_))) if is_same(expr, self.expr))
    }
}

fn is_same(a: &Expr, b: &Expr) -> bool {
    std::ptr::eq(a, b)
}

/// Whether an expression does nothing that another thread could see, as long as operators do what they look like.
fn is_quiet(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) | Expr::Lit(_) | Expr::Closure(_) => true,
        Expr::Field(field) => is_quiet(&field.base),
        Expr::Reference(reference) => is_quiet(&reference.expr),
        Expr::RawAddr(address) => is_quiet(&address.expr),
        Expr::Paren(paren) => is_quiet(&paren.expr),
        Expr::Cast(cast) => is_quiet(&cast.expr),
        Expr::Unary(unary) => is_quiet(&unary.expr),
        Expr::Index(index) => is_quiet(&index.expr) && is_quiet(&index.index),
        Expr::Binary(binary) => is_quiet(&binary.left) && is_quiet(&binary.right),
        _ => false,
    }
}

/// Whether nothing happens in a statement before the call.
fn does_first(statement: &Stmt, call: &Expr) -> bool {
    match statement {
        Stmt::Local(local) => local.init.as_ref().is_some_and(|init| comes_first(&init.expr, call)),
        Stmt::Expr(expr, _) => comes_first(expr, call),
        Stmt::Item(_) | Stmt::Macro(_) => false,
    }
}

/// Whether nothing happens in an expression before the call, and the call happens once.
fn comes_first(expr: &Expr, call: &Expr) -> bool {
    if is_same(expr, call) {
        return true;
    }
    let first_of =
        |parts: &[&Expr]| parts.iter().find(|part| !is_quiet(part)).is_some_and(|part| comes_first(part, call));
    match expr {
        Expr::Binary(binary) => first_of(&[&binary.left, &binary.right]) && !lazy_right(binary, call),
        Expr::MethodCall(method) => {
            let parts: Vec<&Expr> = std::iter::once(&*method.receiver).chain(&method.args).collect();
            first_of(&parts)
        }
        Expr::Call(function) => {
            let parts: Vec<&Expr> = std::iter::once(&*function.func).chain(&function.args).collect();
            first_of(&parts)
        }
        Expr::Assign(assign) => is_quiet(&assign.left) && comes_first(&assign.right, call),
        Expr::If(condition) => comes_first(&condition.cond, call),
        Expr::Match(choice) => comes_first(&choice.expr, call),
        Expr::Let(pattern) => comes_first(&pattern.expr, call),
        Expr::Unary(unary) => comes_first(&unary.expr, call),
        Expr::Paren(paren) => comes_first(&paren.expr, call),
        Expr::Field(field) => comes_first(&field.base, call),
        Expr::Reference(reference) => comes_first(&reference.expr, call),
        Expr::Cast(cast) => comes_first(&cast.expr, call),
        Expr::Try(attempt) => comes_first(&attempt.expr, call),
        Expr::Return(result) => result.expr.as_ref().is_some_and(|expr| comes_first(expr, call)),
        Expr::ForLoop(each) => comes_first(&each.expr, call),
        Expr::Unsafe(block) => first_in(&block.block, call),
        Expr::Block(block) => first_in(&block.block, call),
        _ => false,
    }
}

fn first_in(block: &Block, call: &Expr) -> bool {
    block.stmts.first().is_some_and(|statement| does_first(statement, call))
}

/// Whether the call is what comes after `&&` or `||`, which may not happen.
fn lazy_right(binary: &syn::ExprBinary, call: &Expr) -> bool {
    matches!(binary.op, syn::BinOp::And(_) | syn::BinOp::Or(_)) && !comes_first(&binary.left, call)
}

/// Whether nothing happens in a statement after the call, and the next statement follows.
fn does_last(statement: &Stmt, call: &Expr) -> bool {
    match statement {
        Stmt::Local(local) => {
            local.init.as_ref().is_some_and(|init| init.diverge.is_none() && comes_last(&init.expr, call))
        }
        Stmt::Expr(expr, Some(_)) => comes_last(expr, call),
        _ => false,
    }
}

/// Whether an expression is the call and what looks at its result.
fn comes_last(expr: &Expr, call: &Expr) -> bool {
    if is_same(expr, call) {
        return true;
    }
    match expr {
        Expr::MethodCall(method) => {
            LOOKS.iter().any(|look| method.method == look) && comes_last(&method.receiver, call)
        }
        Expr::Binary(binary) => is_quiet(&binary.right) && comes_last(&binary.left, call),
        Expr::Assign(assign) => is_quiet(&assign.left) && comes_last(&assign.right, call),
        Expr::Unary(unary) => comes_last(&unary.expr, call),
        Expr::Paren(paren) => comes_last(&paren.expr, call),
        Expr::Cast(cast) => comes_last(&cast.expr, call),
        Expr::Unsafe(block) => match block.block.stmts.as_slice() {
            [Stmt::Expr(expr, _)] => comes_last(expr, call),
            _ => false,
        },
        _ => false,
    }
}

/// Looks for the call at a place.
struct Finder<'a, 'f> {
    place: &'a Location,
    method: &'a str,
    statements: Vec<&'f Stmt>,
    found: Option<Call<'f>>,
}

impl Finder<'_, '_> {
    /// Whether a call is at the place: where it begins, or its name, if that is on a line below.
    fn is_here(&self, call: Span, name: Span) -> bool {
        let (call, name) = (call.start(), name.start());
        let start = if name.line > call.line { name } else { call };
        (start.line, start.column + 1) == (self.place.line as usize, self.place.column as usize)
    }
}

impl<'f> Visit<'f> for Finder<'_, 'f> {
    fn visit_stmt(&mut self, statement: &'f Stmt) {
        self.statements.push(statement);
        visit::visit_stmt(self, statement);
        self.statements.pop();
    }

    fn visit_expr(&mut self, expr: &'f Expr) {
        let (name, receiver, arguments) = match expr {
            Expr::MethodCall(call) => (Some(&call.method), Some(&*call.receiver), Some(&call.args)),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => (path.path.segments.last().map(|last| &last.ident), None, Some(&call.args)),
                _ => (None, None, None),
            },
            _ => (None, None, None),
        };
        if let (Some(name), Some(arguments)) = (name, arguments)
            && name == self.method
            && self.is_here(expr.span(), name.span())
        {
            let (arguments, statements) = (arguments.iter().collect(), self.statements.clone());
            self.found = Some(Call { expr, name: name.span().byte_range(), receiver, arguments, statements });
        }
        visit::visit_expr(self, expr);
    }
}

/// Collects what is imported.
struct Imports(Vec<Vec<String>>);

impl Imports {
    fn add(&mut self, tree: &UseTree, path: &[String]) {
        let with = |name: String| [path, &[name]].concat();
        match tree {
            UseTree::Path(part) => self.add(&part.tree, &with(part.ident.to_string())),
            UseTree::Name(name) => self.0.push(with(name.ident.to_string())),
            UseTree::Glob(_) => self.0.push(with("*".to_owned())),
            UseTree::Group(group) => group.items.iter().for_each(|item| self.add(item, path)),
            // It has another name here.
            _ => {}
        }
    }
}

impl<'f> Visit<'f> for Imports {
    fn visit_item_use(&mut self, item: &'f ItemUse) {
        self.add(&item.tree, &[]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
use std::sync::atomic::{AtomicBool, Ordering, fence};

fn f(a: &AtomicBool, order: Ordering) -> bool {
    a.store(true, Ordering::Relaxed);
    let b = a.load(order) == true; // why not
    if a.load(order) && a.swap(true, order) {
        g(|| a.store(false, order), a.load(order));
    }
    h().load(order);
    while a.load(order) {}
    match unsafe { a.swap(b, order) } { _ => a.store(b, order) }
    a.store(h(), order);
    a.load(order)
}

fn chain(a: &AtomicBool) {
    a
        .load(Ordering::Relaxed);
}
";

    /// The text with a change of the call at the start of a word in a line.
    fn changed(line: u32, at: &str, method: &str, what: What) -> Option<String> {
        let column = TEXT.lines().nth(line as usize - 1).unwrap().find(at).unwrap() as u32 + 1;
        let site = AtomicCall { place: Location { file: String::new(), line, column }, method: method.into() };
        let mut text = TEXT.to_owned();
        for edit in Code::parse(TEXT.to_owned()).unwrap().edits(&site, what)?.iter().rev() {
            text.replace_range(edit.range.clone(), &edit.text);
        }
        let new = text.lines().filter(|line| !TEXT.lines().any(|old| old == *line)).collect::<Vec<_>>();
        let at = text.lines().position(|line| new.contains(&line)).unwrap() + 1;
        Some(format!("{at} {}", new.join("\n").trim()))
    }

    fn fence(line: u32, at: &str, method: &str, side: Side) -> Option<String> {
        changed(line, at, method, What::Fence { side, ordering: MemOrder::SeqCst })
    }

    #[test]
    fn orderings_are_replaced() {
        let what = What::Ordering { which: 0, from: MemOrder::Relaxed, to: MemOrder::Release };
        assert_eq!(changed(4, "a.", "store", what).unwrap(), "4 a.store(true, Ordering::Release);");
        assert_eq!(changed(9, "h()", "load", what).unwrap(), "9 h().load(Ordering::Release);");
        assert_eq!(changed(9, "load", "load", what), None);
        assert_eq!(changed(18, "load", "load", what).unwrap(), "18 .load(Ordering::Release);");
        assert_eq!(changed(17, "a", "load", what), None);
    }

    #[test]
    fn orderings_that_are_not_imported_have_a_path() {
        let text =
            "use std::sync::atomic::{AtomicBool, Ordering::{Acquire, Relaxed}};\nfn f() {\n    A.load(Relaxed);\n}\n";
        let code = Code::parse(text.to_owned()).unwrap();
        let site = AtomicCall { place: Location { file: String::new(), line: 3, column: 5 }, method: "load".into() };
        let edit = |to| {
            let edits = code.edits(&site, What::Ordering { which: 0, from: MemOrder::Relaxed, to });
            edits.unwrap().swap_remove(0).text
        };
        assert_eq!(edit(MemOrder::Acquire), "Acquire");
        assert_eq!(edit(MemOrder::SeqCst), "std::sync::atomic::Ordering::SeqCst");
    }

    #[test]
    fn stores_become_swaps() {
        let what = What::Swap { from: MemOrder::Relaxed, to: MemOrder::AcqRel };
        assert_eq!(changed(4, "a.", "store", what).unwrap(), "4 a.swap(true, Ordering::AcqRel);");
        let closure = changed(7, "a.", "store", what).unwrap();
        assert!(closure.contains("g(|| _ = a.swap(false, Ordering::AcqRel), "), "{closure}");
        let arm = changed(11, "a.store", "store", what).unwrap();
        assert!(arm.contains("_ => _ = a.swap(b, Ordering::AcqRel) }"), "{arm}");
    }

    #[test]
    fn fences_are_lines_next_to_what_they_order() {
        let line = |number| Some(format!("{number} fence(Ordering::SeqCst);"));
        assert_eq!(fence(4, "a.", "store", Side::Before), line(4));
        assert_eq!(fence(4, "a.", "store", Side::After), line(5));
        assert_eq!((fence(5, "a.", "load", Side::Before), fence(5, "a.", "load", Side::After)), (line(5), line(6)));
        assert_eq!(fence(6, "a.load", "load", Side::Before), line(6));
        assert_eq!(fence(7, "a.load", "load", Side::Before), line(7));
        assert_eq!(fence(11, "a.swap", "swap", Side::Before), line(11));
        assert_eq!(fence(13, "a.", "load", Side::Before), line(13));
    }

    #[test]
    fn no_fence_is_offered_where_something_else_happens_or_it_may_not() {
        for (number, at, method) in [(6, "a.swap", "swap"), (7, "a.store", "store")] {
            assert_eq!(fence(number, at, method, Side::Before), None, "{number}");
        }
        assert_eq!(fence(9, "h()", "load", Side::Before), None);
        assert_eq!(fence(10, "a.", "load", Side::Before), None);
        assert_eq!(fence(12, "a.", "store", Side::Before), None);
        for (number, at) in [(6, "a.load"), (10, "a."), (13, "a.")] {
            assert_eq!(fence(number, at, "load", Side::After), None, "{number}");
        }
    }
}
