//! Writes random programs as Rust.
//!
//! Each program is a test whose threads access a few atomics, and which panics in the end with what has come of it:
//! with another panic, at another place, for each of many outcomes, so that an exploration that goes on after errors
//! finds them all.

use dpor_reference::loops::random::Random;

use super::primitives;
use super::profile::{Loop, Profile, Shape};

/// How many outcomes are told apart.
const OUTCOMES: usize = 127;

const HEAD: &str = "//! Random programs.
#![cfg(test)]
#![allow(warnings, reason = \"programs are generated\")]

use std::cell::UnsafeCell;
use std::hint::{black_box, spin_loop};
use std::sync::atomic::Ordering::*;
use std::sync::atomic::*;
use std::thread;

struct Node {
    a: AtomicU32,
    next: AtomicPtr<Node>,
}

struct Cell(UnsafeCell<u32>);
unsafe impl Sync for Cell {}

impl Cell {
    #[inline(never)]
    fn get(&self) -> u32 {
        unsafe { *self.0.get() }
    }

    #[inline(never)]
    fn set(&self, value: u32) {
        unsafe { *self.0.get() = value }
    }
}
";

/// A library with the tests `p0`, `p1`, and so on.
pub fn library(programs: &[String]) -> String {
    let arms: String = (0..OUTCOMES).map(|code| format!("        {code} => panic!(\"outcome {code}\"),\n")).collect();
    let outcome =
        format!("\nfn outcome(code: u32) {{\n    match code % {OUTCOMES} {{\n{arms}        _ => (),\n    }}\n}}\n");
    let tests =
        programs.iter().enumerate().map(|(number, body)| format!("\n#[dpor::test]\nfn p{number}() {{\n{body}}}\n"));
    [HEAD.to_owned(), primitives::HEAD.to_owned(), outcome].into_iter().chain(tests).collect()
}

/// The body of a program.
pub fn program(profile: Profile, random: &mut Random) -> String {
    let Some(shape) = profile.shape() else { return primitives::program(random) };
    let (threads, count) = (random.one_of(shape.threads), random.one_of(shape.count));
    let (atomics, racy) = (random.one_of(shape.atomics), random.percent(shape.racy));
    let mut loops = vec![false; threads];
    (0..count).for_each(|_| loops[random.below(threads)] = true);
    let mut writer = Writer { random, shape, atomics, racy, registers: 0 };
    let mut text = String::new();
    for name in ["X", "Y", "Z", "L", "M"] {
        text += &format!("    static {name}: AtomicU32 = AtomicU32::new(0);\n");
    }
    text += "    static P: AtomicPtr<Node> = AtomicPtr::new(std::ptr::null_mut());\n";
    text += "    static D: Cell = Cell(UnsafeCell::new(0));\n";
    for (id, has_loop) in loops.iter().enumerate() {
        let lines: String = writer.thread(*has_loop).iter().map(|line| format!("        {line}\n")).collect();
        text += &format!(
            "    let t{id} = thread::spawn(|| {{\n        let mut acc = 0_u32;\n{lines}        acc\n    }});\n"
        );
    }
    text += "    let mut code = 0_u32;\n";
    for id in 0..threads {
        text += &format!("    code = code.wrapping_mul(37).wrapping_add(t{id}.join().unwrap());\n");
    }
    for name in ["X", "Y", "L"] {
        text += &format!("    code = code.wrapping_mul(11).wrapping_add({name}.load(Relaxed));\n");
    }
    let walk = "code = code.wrapping_mul(7).wrapping_add(n.a.load(Relaxed)); p = n.next.load(Relaxed);";
    text +=
        &format!("    let mut p = P.load(Relaxed);\n    while let Some(n) = unsafe {{ p.as_ref() }} {{ {walk} }}\n");
    text + "    outcome(code);\n"
}

struct Writer<'a> {
    random: &'a mut Random,
    shape: Shape,
    atomics: &'static [&'static str],
    racy: bool,
    registers: u32,
}

impl Writer<'_> {
    fn one_of(&mut self, of: &[&'static str]) -> &'static str {
        self.random.one_of(of)
    }

    fn atomic(&mut self) -> &'static str {
        self.random.one_of(self.atomics)
    }

    fn value(&mut self) -> u32 {
        self.random.one_of(&[1, 1, 2, 3])
    }

    fn load_order(&mut self) -> &'static str {
        self.one_of(&["Relaxed", "Relaxed", "Acquire", "SeqCst"])
    }

    fn store_order(&mut self) -> &'static str {
        self.one_of(&["Relaxed", "Relaxed", "Release", "SeqCst"])
    }

    fn update_order(&mut self) -> &'static str {
        self.one_of(&["Relaxed", "Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"])
    }

    fn register(&mut self) -> String {
        self.registers += 1;
        format!("r{}", self.registers)
    }

    fn load(&mut self) -> String {
        format!("{}.load({})", self.atomic(), self.load_order())
    }

    /// The statements of a thread, with a loop somewhere or without.
    fn thread(&mut self, has_loop: bool) -> Vec<String> {
        let count = self.random.one_of(self.shape.statements);
        let mut lines: Vec<String> = (0..count).map(|_| self.statement()).collect();
        if has_loop {
            let kind = self.random.one_of(self.shape.loops);
            let at = self.random.below(lines.len() + 1);
            let text = self.repeat(kind);
            lines.insert(at, text);
        }
        if lines.is_empty() { vec![self.statement()] } else { lines }
    }

    fn statement(&mut self) -> String {
        if !self.random.percent(15) {
            return self.access();
        }
        let (load, value) = (self.load(), self.random.below(3));
        format!("if {load} == {value} {{ {} }}", self.access())
    }

    fn access(&mut self) -> String {
        if self.racy && self.random.percent(25) {
            return self.plain();
        }
        let (atomic, value) = (self.atomic(), self.value());
        let (load, store, update) = (self.load_order(), self.store_order(), self.update_order());
        match self.random.below(20) {
            0..7 => format!("{atomic}.store({value}, {store});"),
            7..12 => format!("acc = acc * 4 + {atomic}.load({load});"),
            12..15 => format!("acc = acc * 4 + {atomic}.fetch_add(1, {update});"),
            15..17 => format!("acc = acc * 4 + {atomic}.swap({value}, {update});"),
            17..19 => {
                let expected = self.random.below(2);
                let call = format!("{atomic}.compare_exchange({expected}, {value}, {update}, {load})");
                format!("acc = acc * 4 + {call}.is_ok() as u32;")
            }
            _ => format!("fence({});", self.one_of(&["SeqCst", "Acquire", "Release"])),
        }
    }

    fn plain(&mut self) -> String {
        match self.random.below(2) {
            0 => format!("D.set({});", self.value()),
            _ => "black_box(D.get());".to_owned(),
        }
    }

    /// What a loop may do besides: it reads.
    fn extra(&mut self) -> String {
        match self.random.below(10) {
            0..2 if self.racy => "black_box(D.get());".to_owned(),
            0..5 => "spin_loop();".to_owned(),
            5 => "thread::yield_now();".to_owned(),
            6 => format!("black_box({});", self.load()),
            7 => format!("fence({});", self.one_of(&["SeqCst", "Acquire"])),
            _ => String::new(),
        }
    }

    /// What is done with a lock held, or after a loop.
    fn section(&mut self) -> String {
        match self.random.below(10) {
            0..6 if self.racy => "D.set(D.get() + 1);".to_owned(),
            0..6 => self.access(),
            _ => String::new(),
        }
    }

    /// Whether a loop goes on, having read this.
    fn goes_on(&mut self, name: &str) -> String {
        match self.random.below(4) {
            0 => format!("{name} == 0"),
            1 => format!("{name} != {}", self.value()),
            2 => format!("{name} & 1 == 0"),
            _ => format!("{name} < 2"),
        }
    }

    fn lock(&mut self) -> &'static str {
        self.one_of(&["L.swap(1, Acquire) == 0", "L.compare_exchange(0, 1, Acquire, Relaxed).is_ok()"])
    }

    fn unlock(&mut self) -> String {
        format!("L.store(0, {});", self.one_of(&["Release", "Release", "Release", "Relaxed", "SeqCst"]))
    }

    fn repeat(&mut self, kind: Loop) -> String {
        match kind {
            Loop::Await | Loop::AwaitBoth | Loop::AwaitValue | Loop::AwaitUpdate | Loop::AwaitBounded => {
                self.wait(kind)
            }
            Loop::SwapLock | Loop::LookLock | Loop::Ticket => self.take_lock(kind),
            Loop::Look | Loop::TryLook | Loop::Announce | Loop::Reader | Loop::Writer | Loop::LookFirst => {
                self.take_back(kind)
            }
            Loop::BackOff | Loop::BackOffUsed | Loop::BackOffCas => self.back_off(kind),
            Loop::Attempt | Loop::Retry | Loop::AttemptUsed | Loop::AttemptsBounded | Loop::FetchUpdate => {
                self.attempt(kind)
            }
            Loop::Push => self.push(),
            Loop::Peek => self.peek(),
        }
    }

    fn wait(&mut self, kind: Loop) -> String {
        let (load, goes_on, extra) = (self.load(), self.goes_on("a"), self.extra());
        match kind {
            Loop::AwaitBoth => {
                let (other, goes_on_too, or) = (self.load(), self.goes_on("b"), self.one_of(&["&&", "||"]));
                format!("while {{ let a = {load}; let b = {other}; {goes_on} {or} {goes_on_too} }} {{ {extra} }}")
            }
            Loop::AwaitValue => {
                let r = self.register();
                format!(
                    "let {r} = loop {{ let a = {load}; if !({goes_on}) {{ break a }} {extra} }}; acc = acc * 4 + {r};"
                )
            }
            Loop::AwaitUpdate => {
                let update =
                    self.one_of(&["fetch_add(0", "fetch_or(0", "fetch_or(2", "fetch_max(1", "swap(1", "swap(2"]);
                let (atomic, order) = (self.atomic(), self.update_order());
                format!("while {{ let a = {atomic}.{update}, {order}); {goes_on} }} {{ {extra} }}")
            }
            Loop::AwaitBounded => {
                format!(
                    "for i in 0..2_u32 {{ let a = {load}; if !({goes_on}) {{ acc = acc * 4 + i; break }} {extra} }}"
                )
            }
            _ => format!("while {{ let a = {load}; {goes_on} }} {{ {extra} }}"),
        }
    }

    fn take_lock(&mut self, kind: Loop) -> String {
        let (extra, section, unlock) = (self.extra(), self.section(), self.unlock());
        match kind {
            Loop::Ticket => {
                let (update, load, store) = (self.update_order(), self.load_order(), self.store_order());
                let take = format!("let t = L.fetch_add(1, {update}); while M.load({load}) != t {{ {extra} }}");
                format!("{take} {section} M.store(t + 1, {store});")
            }
            Loop::LookLock => {
                let inner = format!("while L.load(Relaxed) == 1 {{ {extra} }}");
                let take = format!("while L.compare_exchange(0, 1, Acquire, Relaxed).is_err() {{ {inner} }}");
                format!("{take} {section} {unlock}")
            }
            _ => {
                let order = self.one_of(&["Acquire", "Acquire", "Relaxed", "SeqCst"]);
                format!("while L.swap(1, {order}) == 1 {{ {extra} }} {section} {unlock}")
            }
        }
    }

    fn take_back(&mut self, kind: Loop) -> String {
        let (load, goes_on, extra, section) = (self.load(), self.goes_on("a"), self.extra(), self.section());
        let (one, two, three) = (self.update_order(), self.update_order(), self.update_order());
        let (unlock, unlock_again) = (self.unlock(), self.unlock());
        let look = format!("let a = {load}; if !({goes_on}) {{ {section} {unlock} break }}");
        match kind {
            Loop::Look => format!("loop {{ while L.swap(1, Acquire) == 1 {{}} {look} {extra} {unlock_again} }}"),
            Loop::TryLook => {
                let lock = self.lock();
                format!("loop {{ if {lock} {{ {look} {unlock_again} }} }}")
            }
            Loop::Announce => {
                let back = match self.random.below(4) {
                    0 => "L.store(0, Release);".to_owned(),
                    1 => "L.fetch_and(0, Release);".to_owned(),
                    _ => format!("L.fetch_sub(1, {two});"),
                };
                let body = format!("L.fetch_add(1, {one}); let a = {load}; if !({goes_on}) {{ break }} {back} {extra}");
                format!("loop {{ {body} }} {section} L.fetch_sub(1, {three});")
            }
            Loop::Reader => {
                let back = self.one_of(&["Release", "Relaxed"]);
                let body = format!(
                    "let a = L.fetch_add(2, Acquire); if a & 1 == 0 {{ break }} L.fetch_sub(2, {back}); {extra}"
                );
                format!("loop {{ {body} }} {section} L.fetch_sub(2, Release);")
            }
            Loop::Writer => {
                let take = format!("while L.compare_exchange(0, 1, Acquire, Relaxed).is_err() {{ {extra} }}");
                format!("{take} {section} L.fetch_and(!1, Release);")
            }
            _ => {
                let body = self.write_and_take_back(&extra);
                format!("while {{ let a = {load}; {goes_on} }} {{ {body} }}")
            }
        }
    }

    fn write_and_take_back(&mut self, extra: &str) -> String {
        let (one, two, store) = (self.update_order(), self.update_order(), self.store_order());
        match self.random.below(6) {
            0 => format!("L.fetch_add(2, {one}); {extra} L.fetch_sub(2, {two});"),
            1 => format!("let o = L.swap(1, {one}); {extra} L.store(o, {store});"),
            2 => format!("if L.swap(1, {one}) == 0 {{ {extra} L.store(0, {store}); }}"),
            3 => {
                let failure = self.load_order();
                format!("if L.compare_exchange(0, 1, {one}, {failure}).is_ok() {{ {extra} L.store(0, {store}); }}")
            }
            4 => format!("L.fetch_or(1, {one}); L.fetch_and(!1, {two});"),
            _ => format!("L.fetch_add(1, {one}); {extra} L.fetch_sub(1, {two});"),
        }
    }

    fn back_off(&mut self, kind: Loop) -> String {
        let (load, goes_on, extra) = (self.load(), self.goes_on("a"), self.extra());
        let (cap, value) = (1 + self.random.below(3), self.value());
        let count = format!("if n < {cap} {{ n += 1; }}");
        match kind {
            Loop::BackOffCas => {
                let (atomic, expected, new) = (self.atomic(), self.random.below(2), self.value());
                let (order, failure) = (self.update_order(), self.load_order());
                let used = self.one_of(&["acc = acc * 4 + n; break", "break", ""]);
                let cas = format!("{atomic}.compare_exchange({expected}, {new}, {order}, {failure})");
                let body = format!("if a == {value} {{ {used} }} {count} {extra}");
                format!("let mut n = 0_u32; while let Err(a) = {cas} {{ {body} }}")
            }
            Loop::BackOffUsed => {
                let used = self.one_of(&[
                    "acc = acc * 4 + q;",
                    "if a == 2 { acc = acc * 4 + n }",
                    "if a == 3 { acc += n + q }",
                ]);
                let seen = match self.random.below(3) {
                    0 => format!("q = {};", self.load()),
                    1 => "if a > 0 { q = a; }".to_owned(),
                    _ => String::new(),
                };
                let body = format!("let a = {load}; if !({goes_on}) {{ {used} break }} {count} {seen}");
                format!("let mut n = 0_u32; let mut q = 0_u32; loop {{ {body} for _ in 0..n {{ spin_loop() }} }}")
            }
            _ => {
                let used = match self.random.below(5) {
                    0 => "acc = acc * 4 + n;".to_owned(),
                    1 | 2 => format!("if a == {value} {{ acc = acc * 4 + n; }}"),
                    _ => String::new(),
                };
                let body = format!("let a = {load}; if !({goes_on}) {{ {used} break }} {count}");
                format!("let mut n = 0_u32; loop {{ {body} for _ in 0..n {{ spin_loop() }} {extra} }}")
            }
        }
    }

    fn attempt(&mut self, kind: Loop) -> String {
        let (atomic, other, extra) = (self.atomic(), self.load(), self.extra());
        let (order, failure, load) = (self.update_order(), self.load_order(), self.load_order());
        let new = self.one_of(&["r + 1", "r * 2 + 1", "3", "r ^ 1"]);
        let weak = self.one_of(&["", "_weak"]);
        let cas = |new: &str| format!("{atomic}.compare_exchange{weak}(r, {new}, {order}, {failure})");
        let counts = self.random.percent(40);
        let (count, counted) = if counts { ("k += 1;", "acc = acc * 4 + k;") } else { ("", "") };
        match kind {
            Loop::Retry => {
                let begin = format!("let mut k = 0_u32; let mut r = {atomic}.load({load});");
                let body = format!("r = now; {count} {extra}");
                format!("{begin} while let Err(now) = {} {{ {body} }} acc = acc * 4 + r; {counted}", cas(new))
            }
            Loop::AttemptUsed => {
                let new = self.one_of(&["r + 1", "r * 2 + 1", "3", "r ^ 1", "q"]);
                let kept =
                    self.one_of(&["if q == 0 { k += 1; }", "if r == 1 { k += 1; }", "k = q;", "k = r;", "k += 1;", ""]);
                let looks = format!("let q = {other}; let r = {atomic}.load({load});");
                let tries = format!("if {}.is_ok() {{ acc = acc * 4 + r; break }}", cas(new));
                format!("let mut k = 0_u32; loop {{ {looks} {tries} {kept} {extra} }} acc = acc * 4 + k;")
            }
            Loop::AttemptsBounded => {
                let (leave, value) = (self.one_of(&["break", "break", ""]), self.value());
                let stop = if self.random.percent(40) { format!("if r == {value} {{ break }}") } else { String::new() };
                let tries = format!("if {}.is_ok() {{ k += i + 1; {leave} }}", cas("r + 1"));
                let looks = format!("let r = {atomic}.load({load}); {stop}");
                format!("let mut k = 0_u32; for i in 0..2_u32 {{ {looks} {tries} {extra} }} acc = acc * 4 + k;")
            }
            Loop::FetchUpdate => {
                let next = self.one_of(&["Some(r + 1)", "(r == 0).then_some(2)", "(r < 2).then_some(r + 1)"]);
                format!("acc = acc * 4 + {atomic}.fetch_update({order}, {failure}, |r| {next}).is_ok() as u32;")
            }
            _ => {
                let mid = if self.random.percent(30) { self.extra() } else { String::new() };
                let tries = format!("if {}.is_ok() {{ acc = acc * 4 + r; break }}", cas(new));
                let body = format!("let r = {atomic}.load({load}); {mid} {tries} {count} {extra}");
                format!("let mut k = 0_u32; loop {{ {body} }} {counted}")
            }
        }
    }

    fn push(&mut self) -> String {
        let (load, failure, store, value) = (self.load_order(), self.load_order(), self.store_order(), self.value());
        let order = self.one_of(&["Release", "Release", "AcqRel", "SeqCst", "Relaxed"]);
        let node = "Box::leak(Box::new(Node { a: AtomicU32::new(0), next: AtomicPtr::default() }))";
        let before = match self.random.below(4) {
            0 => format!("n.a.store({value}, {store});"),
            1 => self.access(),
            2 => format!("n.a.store({value}, Relaxed); {} n.a.store(6, Relaxed);", self.access()),
            _ => String::new(),
        };
        let mid = self.one_of(&[
            "",
            "",
            "n.a.store(k, Relaxed);",
            "n.a.store(n.a.load(Relaxed) + 1, Relaxed);",
            "if !r.is_null() { n.a.store(9, Release); }",
            "acc += n.a.fetch_add(1, Relaxed);",
        ]);
        let after = match self.random.below(4) {
            0 => format!("n.a.store(5, {});", self.store_order()),
            1 => format!("acc = acc * 4 + n.a.load({});", self.load_order()),
            _ => String::new(),
        };
        let (count, counted) = if self.random.percent(30) { ("k += 1;", "acc = acc * 4 + k;") } else { ("", "") };
        let extra = self.extra();
        let tries =
            format!("if P.compare_exchange(r, n as *const Node as *mut Node, {order}, {failure}).is_ok() {{ break }}");
        let body = format!("let r = P.load({load}); n.next.store(r, {store}); {mid} {tries} {count} {extra}");
        format!("let n: &Node = {node}; {before} let mut k = 0_u32; loop {{ {body} }} {counted} {after}")
    }

    fn peek(&mut self) -> String {
        let order = self.one_of(&["Acquire", "Acquire", "SeqCst", "Relaxed"]);
        let (load, store, update) = (self.load_order(), self.store_order(), self.update_order());
        let more = match self.random.below(4) {
            0 => format!("n.a.store(7, {store});"),
            1 => "acc = acc * 4 + n.next.load(Relaxed).is_null() as u32;".to_owned(),
            2 => format!("acc = acc * 4 + n.a.fetch_add(1, {update});"),
            _ => String::new(),
        };
        let look = format!("acc = acc * 4 + n.a.load({load}); {more}");
        format!("if let Some(n) = unsafe {{ P.load({order}).as_ref() }} {{ {look} }}")
    }
}
