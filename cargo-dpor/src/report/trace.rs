//! A failing execution for people: thread by thread, what each did where, with numbers that say in which order.
//!
//! ```text
//! trace: the steps of each thread, numbered in an order in which they can happen
//! main thread
//!     1  src/lib.rs:30:18  spawn thread 1
//!     4  src/lib.rs:35:8   load ready = true (Acquire) ← #3
//!        src/lib.rs:36:28  the error
//! thread 1, spawned by #1
//!     2  …
//! ```

use std::collections::HashMap;
use std::fmt::Write;

use dpor_engine::graph::{MemOrder, Value};
use dpor_engine::trace::{Deed, End, Holder, Place, Read, Step, Thread, Trace, Waits};
use dpor_engine::vm::{Object, Variable, Wait};

use super::names;
use crate::style::Style;

/// Reports are made for terminals of this width.
const COLUMNS: usize = 100;
/// A place that is longer loses its beginning.
const MAX_PLACE: usize = 44;
/// Of a thread with more steps than this, the last are shown.
const MAX_STEPS: usize = 40;

/// The whole trace, as lines.
pub fn render(trace: &Trace, style: Style) -> String {
    let blocks = Blocks::of(trace);
    let mut text =
        format!("{}: the steps of each thread, numbered in an order in which they can happen\n", style.bold("trace"));
    for thread in &trace.threads {
        render_thread(thread, trace, &blocks, style, &mut text);
    }
    for line in blocks.legend() {
        writeln!(text, "{line}").expect("strings take all");
    }
    text
}

fn render_thread(thread: &Thread, trace: &Trace, blocks: &Blocks, style: Style, text: &mut String) {
    let spawned = thread.spawned_by.map(|step| format!(", spawned by #{step}")).unwrap_or_default();
    writeln!(text, "{}{spawned}", style.bold(thread.number)).expect("strings take all");
    let steps: Vec<&Step> = trace.steps_of(thread.number).collect();
    let left_out = steps.len().saturating_sub(MAX_STEPS);
    let shown = &steps[left_out..];
    let end = ending(thread);
    let places = shown.iter().map(|step| step.place.as_ref()).chain([thread.place.as_ref()]);
    let width = places.map(|place| shown_place(place).chars().count()).max().unwrap_or(0);
    if steps.is_empty() && end.is_none() {
        writeln!(text, "{:>9}(no visible steps)", "").expect("strings take all");
    }
    if left_out > 0 {
        writeln!(text, "{:>7}  ({left_out} earlier steps are not shown)", "…").expect("strings take all");
    }
    // A panic comes before what is done while it unwinds the thread.
    let is_error = thread.end == End::Failed;
    let end_at =
        if is_error { shown.iter().rposition(|step| !step.unwinding).map_or(0, |at| at + 1) } else { shown.len() };
    let (before, after) = shown.split_at(end_at);
    let line = |step: &&Step| {
        let number = format!("#{}", step.number);
        let what = describe(step, blocks);
        Line { number: &number, place: shown_place(step.place.as_ref()), width, what: &what }.render(style)
    };
    text.extend(before.iter().map(line));
    if let Some(what) = end {
        let what = if is_error { style.error(what) } else { what };
        let line = Line { number: "", place: shown_place(thread.place.as_ref()), width, what: &what };
        text.push_str(&line.render(style));
    }
    text.extend(after.iter().map(line));
}

struct Line<'a> {
    number: &'a str,
    place: String,
    width: usize,
    what: &'a str,
}

impl Line<'_> {
    fn render(&self, style: Style) -> String {
        let Line { number, place, width, what } = self;
        format!("{}  {place:<width$}  {what}\n", style.frame(format_args!("{number:>7}")))
    }
}

/// What is said of a thread after its last step.
fn ending(thread: &Thread) -> Option<String> {
    Some(match &thread.end {
        End::Ended | End::Stopped => return None,
        End::Exited => "ends the program".to_owned(),
        End::Failed => "the error".to_owned(),
        End::Waits(Waits::Assumption) => "an assumption does not hold".to_owned(),
        End::Waits(Waits::InLoop) => "waits in a loop".to_owned(),
        End::Waits(Waits::For { wait, holders }) => {
            let got = |holder: &Holder| {
                let who = if holder.thread == thread.number { "it".to_owned() } else { holder.thread.phrase() };
                let since = holder.since.map_or_else(|| " has".to_owned(), |step| format!(" got in #{step}"));
                format!("{who}{since}")
            };
            let which = if holders.is_empty() { "" } else { ", which " };
            format!("waits {wait}{which}{}", holders.iter().map(got).collect::<Vec<_>>().join(" and "))
        }
    })
}

/// `src/lib.rs:12:5`, without its beginning where it is long.
fn shown_place(place: Option<&Place>) -> String {
    let Some(place) = place else { return String::new() };
    let at = &place.location;
    let whole = format!("{}:{}:{}", names::short_file(&at.file), at.line, at.column);
    let len = whole.chars().count();
    match len > MAX_PLACE {
        true => format!("…{}", whole.chars().skip(len + 1 - MAX_PLACE).collect::<String>()),
        false => whole,
    }
}

/// What a step does.
fn describe(step: &Step, blocks: &Blocks) -> String {
    let variable = step.variable.as_ref().map(|variable| blocks.name(variable)).unwrap_or_default();
    let written = step.written.map(value).unwrap_or_default();
    let read = step.read.map(|read| value(read.value)).unwrap_or_default();
    let order = step.ordering.map(|order| format!(" ({})", ordering(order))).unwrap_or_default();
    let from = step.read.map(source).unwrap_or_default();
    let text = match &step.deed {
        Deed::Load => format!("load {variable} = {read}{order}{from}"),
        Deed::Store => format!("store {variable} := {written}{order}"),
        Deed::Rmw { method } => format!("{method} {variable} = {read} := {written}{order}{from}"),
        Deed::Cas { expected, weak, .. } => {
            let name = if *weak { "compare_exchange_weak" } else { "compare_exchange" };
            match (step.written.is_some(), step.read.map(|read| read.value) == Some(*expected)) {
                (true, _) => format!("{name} {variable} = {read} := {written}{order}{from}"),
                (false, true) => format!("{name} {variable} = {read}, fails spuriously{order}{from}"),
                (false, false) => format!("{name} {variable} = {read}, not {}{order}{from}", value(*expected)),
            }
        }
        Deed::PlainRead => format!("read {variable} = {read} (not atomic){from}"),
        Deed::PlainWrite => format!("write {variable} := {written} (not atomic)"),
        Deed::Fence => format!("fence{order}"),
        Deed::Spawn { thread } => format!("spawn {thread}"),
        Deed::Join { thread } => format!("join {thread}"),
        Deed::Await { wait: Wait::Mutex } => format!("lock {variable}{from}"),
        Deed::Await { wait: Wait::ReadLock } => format!("lock {variable} to read{from}"),
        Deed::Await { wait: Wait::WriteLock } => format!("lock {variable} to write{from}"),
        Deed::Await { wait } => format!("{} at {variable} = {read}{from}", has_come(*wait)),
        Deed::TryLock if step.written.is_some() => format!("try to lock {variable}{from}"),
        Deed::TryLock => format!("try to lock {variable}, in vain{from}"),
        Deed::Unlock => format!("unlock {variable}"),
        Deed::EnterQueue => format!("enter the queue at {variable}{from}"),
        Deed::LeaveQueue => format!("leave the queue at {variable}"),
        Deed::Try if step.written.is_some() => format!("update {variable} = {read} := {written}{from}"),
        Deed::Try => format!("leave {variable} = {read} as it is{from}"),
        Deed::Notify => format!("notify one at {variable} = {read} := {written}{from}"),
        Deed::Leave => "leave".to_owned(),
        Deed::Choose { n, value } => format!("choose {value} of 0..{n}"),
    };
    with_library(text, step)
}

/// Adds the function of a library that something was done in, if that says more than the step does.
fn with_library(text: String, step: &Step) -> String {
    let is_lock = |wait: Wait| matches!(wait, Wait::Mutex | Wait::ReadLock | Wait::WriteLock);
    let says_it_all = matches!(step.deed, Deed::Await { wait } if is_lock(wait));
    let access = !says_it_all
        && matches!(
            step.deed,
            Deed::Load
                | Deed::Store
                | Deed::Rmw { .. }
                | Deed::Cas { .. }
                | Deed::PlainRead
                | Deed::PlainWrite
                | Deed::Fence
                | Deed::EnterQueue
                | Deed::LeaveQueue
                | Deed::Await { .. }
                | Deed::Try
                | Deed::Notify
                | Deed::Leave
        );
    let via = step.place.as_ref().and_then(|place| place.via.as_deref()).filter(|via| !names::is_atomic_method(via));
    match via {
        Some(via) if access => {
            let longer = format!("{text} [{}]", names::short_function(via));
            let place = shown_place(step.place.as_ref()).chars().count();
            if longer.chars().count() + place + 11 > COLUMNS { text } else { longer }
        }
        _ => text,
    }
}

/// What a thread has waited for.
fn has_come(wait: Wait) -> &'static str {
    match wait {
        Wait::Mutex | Wait::ReadLock | Wait::WriteLock => "locked",
        Wait::Notification => "notified",
        Wait::Initialization => "initialized",
        Wait::Token => "unparked",
        Wait::Barrier => "past the barrier",
        Wait::Message => "message",
        Wait::Room => "room",
        Wait::Wake => "woken",
        Wait::End(_) => "ended",
    }
}

fn source(read: Read) -> String {
    read.from.map_or_else(|| " ← init".to_owned(), |step| format!(" ← #{step}"))
}

fn ordering(order: MemOrder) -> &'static str {
    match order {
        MemOrder::NotAtomic => "not atomic",
        MemOrder::Relaxed => "Relaxed",
        MemOrder::Acquire => "Acquire",
        MemOrder::Release => "Release",
        MemOrder::AcqRel => "AcqRel",
        MemOrder::SeqCst => "SeqCst",
    }
}

/// Small numbers as they are, others as what they may be: addresses and bits.
fn value(value: Value) -> String {
    if value < 1 << 16 { value.to_string() } else { format!("{value:#x}") }
}

/// The blocks on the heap that a trace has accesses to, numbered as they come.
struct Blocks {
    numbers: HashMap<u64, usize>,
    described: Vec<String>,
}

impl Blocks {
    fn of(trace: &Trace) -> Blocks {
        let mut blocks = Blocks { numbers: HashMap::new(), described: Vec::new() };
        for variable in trace.steps.iter().filter_map(|step| step.variable.as_ref()) {
            if let Object::Heap { address, size, allocated } = &variable.object
                && !blocks.numbers.contains_key(address)
            {
                blocks.numbers.insert(*address, blocks.numbers.len() + 1);
                let at = allocated.as_ref().map(|at| format!(", allocated at {}:{}:{}", at.file, at.line, at.column));
                blocks.described.push(format!("{size} bytes on the heap{}", at.unwrap_or_default()));
            }
        }
        blocks
    }

    /// What a variable is called.
    fn name(&self, variable: &Variable) -> String {
        let object = match &variable.object {
            Object::Static { name } => names::last_segment(name).to_owned(),
            Object::Local { name, .. } if name.is_empty() => "temporary".to_owned(),
            Object::Local { name, .. } => name.clone(),
            Object::Heap { address, .. } => format!("block{}", self.numbers.get(address).copied().unwrap_or(0)),
            Object::Other { address } => format!("{address:#x}"),
        };
        if variable.offset == 0 { object } else { format!("{object}+{}", variable.offset) }
    }

    fn legend(&self) -> impl Iterator<Item = String> {
        self.described.iter().zip(1..).map(|(described, number)| format!("block{number}: {described}"))
    }
}

#[cfg(test)]
mod tests {
    use dpor_engine::verdict::Location;
    use dpor_engine::vm::ThreadId;

    use super::*;

    fn place(line: u32, via: Option<&str>) -> Option<Place> {
        let location = Location { file: "src/lib.rs".into(), line, column: 5 };
        Some(Place { location, function: None, via: via.map(str::to_owned) })
    }

    fn step(number: u32, thread: u16, deed: Deed) -> Step {
        let thread = ThreadId(thread);
        let place = place(10 * number, None);
        Step {
            number,
            thread,
            deed,
            place,
            variable: None,
            ordering: None,
            read: None,
            written: None,
            unwinding: false,
        }
    }

    fn variable(object: Object, offset: u64) -> Option<Variable> {
        Some(Variable { object, offset })
    }

    fn local() -> Object {
        Object::Local { name: "ready".into(), function: "f".into(), thread: 0 }
    }

    #[test]
    fn each_thread_has_its_steps() {
        let heap = Object::Heap { address: 0x1000, size: 24, allocated: place(3, None).map(|place| place.location) };
        let trace = Trace {
            threads: vec![
                Thread { number: ThreadId(0), spawned_by: None, end: End::Failed, place: place(41, None) },
                Thread { number: ThreadId(1), spawned_by: Some(1), end: End::Ended, place: None },
            ],
            steps: vec![
                step(1, 0, Deed::Spawn { thread: ThreadId(1) }),
                Step {
                    variable: variable(heap, 16),
                    written: Some(1),
                    ordering: Some(MemOrder::Release),
                    ..step(2, 1, Deed::Store)
                },
                Step {
                    variable: variable(local(), 0),
                    read: Some(Read { value: 0x12345, from: Some(2) }),
                    ordering: Some(MemOrder::Acquire),
                    ..step(3, 0, Deed::Load)
                },
            ],
        };
        let expected = "\
trace: the steps of each thread, numbered in an order in which they can happen
main thread
     #1  src/lib.rs:10:5  spawn thread 1
     #3  src/lib.rs:30:5  load ready = 0x12345 (Acquire) ← #2
         src/lib.rs:41:5  the error
thread 1, spawned by #1
     #2  src/lib.rs:20:5  store block1+16 := 1 (Release)
block1: 24 bytes on the heap, allocated at src/lib.rs:3:5
";
        assert_eq!(render(&trace, Style::plain()), expected);
    }

    #[test]
    fn a_panic_comes_before_what_it_unwinds() {
        let threads = vec![Thread { number: ThreadId(0), spawned_by: None, end: End::Failed, place: place(9, None) }];
        let steps = vec![step(1, 0, Deed::Fence), Step { unwinding: true, ..step(2, 0, Deed::Fence) }];
        let text = render(&Trace { threads, steps }, Style::plain());
        assert!(
            text.ends_with("10:5  fence\n         src/lib.rs:9:5   the error\n     #2  src/lib.rs:20:5  fence\n"),
            "{text}"
        );
    }

    #[test]
    fn an_update_says_what_it_read_and_wrote() {
        let blocks = Blocks::of(&Trace::default());
        let cas = |read, written| Step {
            variable: variable(Object::Static { name: "a::TOP".into() }, 0),
            read: Some(Read { value: read, from: None }),
            written,
            ordering: Some(MemOrder::Relaxed),
            ..step(1, 0, Deed::Cas { expected: 0, new: 7, weak: true })
        };
        let describe = |step| describe(&step, &blocks);
        assert_eq!(describe(cas(0, Some(7))), "compare_exchange_weak TOP = 0 := 7 (Relaxed) ← init");
        assert_eq!(describe(cas(3, None)), "compare_exchange_weak TOP = 3, not 0 (Relaxed) ← init");
        assert_eq!(describe(cas(0, None)), "compare_exchange_weak TOP = 0, fails spuriously (Relaxed) ← init");
    }

    #[test]
    fn the_function_of_a_library_is_named_where_there_is_room() {
        let blocks = Blocks::of(&Trace::default());
        let fence = |via: &str, line| Step { place: place(line, Some(via)), ..step(1, 0, Deed::Fence) };
        let drop = "<std::sync::Arc<u8> as std::ops::Drop>::drop";
        assert_eq!(describe(&fence(drop, 1), &blocks), "fence [Arc::drop]");
        assert_eq!(describe(&fence("std::sync::atomic::fence", 1), &blocks), "fence");
        assert_eq!(describe(&fence(&"x".repeat(80), 1), &blocks), "fence");
    }

    #[test]
    fn long_traces_and_places_are_cut() {
        let steps = (1..=50).map(|number| step(number, 0, Deed::Fence)).collect();
        let threads = vec![Thread { number: ThreadId(0), spawned_by: None, end: End::Ended, place: None }];
        let text = render(&Trace { threads, steps }, Style::plain());
        assert!(text.contains("      …  (10 earlier steps are not shown)\n    #11  src"), "{text}");
        assert_eq!(text.lines().count(), 43);
        let mut far = place(1, None).unwrap();
        far.location.file = format!("{}/src/lib.rs", "directory/".repeat(9));
        let shown = shown_place(Some(&far));
        assert!(shown.starts_with('…') && shown.ends_with("/src/lib.rs:1:5"), "{shown}");
        assert_eq!(shown.chars().count(), MAX_PLACE);
    }
}
