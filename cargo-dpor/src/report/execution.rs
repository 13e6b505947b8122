//! A failing execution for people: a column for each thread, a line for each step, in one possible interleaving.
//!
//! ```text
//! execution in src/lib.rs: one column per thread; one possible interleaving
//!         main                            thread 1
//! #1  30  spawn thread 1
//! #2  31  │                               store ready := true (Release)
//! #3  35  load ready = true (Acquire) ← #2
//!     36  the error
//! ```

use std::collections::HashSet;
use std::fmt::Write;

use dpor_engine::graph::MemOrder;
use dpor_engine::trace::{Deed, End, Names, Place, Racing, Read, Step, Thread, Trace, Waits};
use dpor_engine::vm::{ThreadId, Wait, held};

use super::names;
use crate::style::Style;

/// The last column has at least this many characters.
const LAST_COLUMN: usize = 46;
/// Columns are at most this far apart.
const FAR_APART: usize = 36;
/// Below this, columns have short headings.
const NARROW: usize = 9;

/// How much of an execution is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Extent {
    /// What matters for the error.
    #[default]
    Relevant,
    /// Everything.
    Full,
}

/// The execution, as lines.
pub fn render(trace: &Trace, extent: Extent, style: Style) -> String {
    let shown = match extent {
        Extent::Relevant => trace.relevant(),
        Extent::Full => trace.steps.iter().map(|step| step.number).collect(),
    };
    Table::new(trace, &shown, extent, style).render()
}

/// A line of the table.
struct Row {
    number: Option<u32>,
    thread: ThreadId,
    place: String,
    text: String,
    error: bool,
}

struct Table<'t> {
    trace: &'t Trace,
    names: Names<'t>,
    style: Style,
    /// The threads that have columns.
    threads: Vec<ThreadId>,
    rows: Vec<Row>,
    /// The files that places are in.
    files: Vec<String>,
    left_out: usize,
    extent: Extent,
}

impl<'t> Table<'t> {
    fn new(trace: &'t Trace, shown: &HashSet<u32>, extent: Extent, style: Style) -> Table<'t> {
        let steps: Vec<&Step> = trace.steps.iter().filter(|step| shown.contains(&step.number)).collect();
        let ends =
            trace.threads.iter().filter(|thread| ending(thread).is_some()).filter_map(|thread| thread.place.as_ref());
        let mut files: Vec<&str> = steps.iter().filter_map(|step| step.place.as_ref()).chain(ends).map(file).collect();
        files.extend(trace.racing.iter().chain(&trace.panics).map(|other| names::short_file(&other.location.file)));
        files.sort_unstable();
        files.dedup();
        let files = files.into_iter().map(str::to_owned).collect();
        let names = Names::of(trace);
        let left_out = trace.steps.len() - steps.len();
        let mut table = Table { trace, names, style, threads: Vec::new(), rows: Vec::new(), files, left_out, extent };
        table.rows = table.arrange(&steps);
        let has_row = |thread: &&Thread| table.rows.iter().any(|row| row.thread == thread.number);
        table.threads = trace.threads.iter().filter(has_row).map(|thread| thread.number).collect();
        table
    }

    /// The lines: steps, with the error before what is done while its panic unwinds the thread, and at the end what
    /// threads wait for.
    fn arrange(&self, steps: &[&Step]) -> Vec<Row> {
        let mut rows = Vec::new();
        let failed = self.trace.threads.iter().find(|thread| thread.end == End::Failed);
        let unwinds = |step: &&Step| step.unwinding && failed.is_some_and(|failed| failed.number == step.thread);
        let mut error_at = steps.iter().position(unwinds);
        for (at, step) in steps.iter().enumerate() {
            if error_at == Some(at) {
                rows.extend(failed.and_then(|thread| self.end(thread)));
            }
            let text = self.describe(step);
            let place = self.place(step.place.as_ref());
            rows.push(Row { number: Some(step.number), thread: step.thread, place, text, error: false });
        }
        self.trace.racing.iter().chain(&self.trace.panics).for_each(|other| self.add_other(other, &mut rows));
        for thread in &self.trace.threads {
            if thread.end == End::Failed && error_at.take().is_some() {
                continue;
            }
            rows.extend(self.end(thread));
        }
        rows
    }

    /// The other side of an error, or another panic, after the steps of its thread that come before it.
    fn add_other(&self, racing: &Racing, rows: &mut Vec<Row>) {
        let before = |row: &Row| row.number.is_some_and(|number| racing.after.is_some_and(|after| number <= after));
        let spawned = |row: &Row| {
            let spawn = self.trace.threads.iter().find(|thread| thread.number == racing.thread);
            row.number.is_some() && row.number == spawn.and_then(|thread| thread.spawned_by)
        };
        let mine = |row: &Row| row.thread == racing.thread && before(row);
        let at = rows.iter().rposition(|row| mine(row) || spawned(row)).map_or(0, |at| at + 1);
        let place = self.place(Some(&Place { location: racing.location.clone(), function: None, via: None }));
        let text = racing.what.to_string();
        rows.insert(at, Row { number: None, thread: racing.thread, place, text, error: true });
    }

    /// What is said of a thread after its last step.
    fn end(&self, thread: &Thread) -> Option<Row> {
        let text = ending(thread)?;
        let fails = self.trace.threads.iter().any(|thread| thread.end == End::Failed);
        if self.extent == Extent::Relevant && fails && thread.end != End::Failed {
            return None;
        }
        let place = self.place(thread.place.as_ref());
        Some(Row { number: None, thread: thread.number, place, text, error: thread.end == End::Failed })
    }

    fn place(&self, place: Option<&Place>) -> String {
        let Some(place) = place else { return String::new() };
        match &self.files[..] {
            [_] => place.location.line.to_string(),
            all => {
                let all: Vec<&str> = all.iter().map(String::as_str).collect();
                format!("{}:{}", names::distinct(file(place), &all), place.location.line)
            }
        }
    }

    fn render(&self) -> String {
        let mut text = self.heading();
        let numbers = self.rows.iter().filter_map(|row| row.number).max().unwrap_or(0).to_string().len() + 1;
        let places = self.rows.iter().map(|row| row.place.chars().count()).max().unwrap_or(0);
        let margin = numbers + places + 4;
        let room = self.style.width().saturating_sub(margin + LAST_COLUMN);
        let apart = (room / self.threads.len().saturating_sub(1).max(1)).clamp(3, FAR_APART);
        let grid = Grid { numbers, places, margin, apart, width: self.style.width(), columns: self.threads.len() };
        let mut headings = String::new();
        for (at, thread) in self.threads.iter().enumerate() {
            let name = match (thread.0, apart < NARROW && self.threads.len() > 1) {
                (0, _) if apart < "main ".len() && self.threads.len() > 1 => "m".to_owned(),
                (0, _) => "main".to_owned(),
                (number, true) => format!("t{number}"),
                (number, false) => format!("thread {number}"),
            };
            let used = headings.chars().count();
            headings += &format!("{}{name}", " ".repeat(grid.start(at).saturating_sub(used)));
        }
        writeln!(text, "{}", self.style.bold(headings)).expect("strings take all");
        for row in &self.rows {
            text += &self.row(row, &grid);
        }
        self.legend(&mut text);
        text
    }

    fn heading(&self) -> String {
        let of_file = if let [file] = &self.files[..] { format!(" in {file}") } else { String::new() };
        let word = format!("execution{of_file}");
        let about = "one column per thread; one possible interleaving";
        let mut text = match word.len() + 2 + about.len() <= self.style.width() {
            true => format!("{}: {about}\n", self.style.bold(word)),
            false => format!("{}\n", self.style.bold(word)),
        };
        if self.left_out > 0 {
            let (left_out, all) = (self.left_out, self.trace.steps.len());
            writeln!(text, "({left_out} of {all} steps left out: `--trace full` shows all)").expect("strings take all");
        }
        text
    }

    fn row(&self, row: &Row, grid: &Grid) -> String {
        let at = self.threads.iter().position(|thread| *thread == row.thread).unwrap_or(0);
        let Grid { numbers, places, .. } = *grid;
        let label = row.number.map(|number| format!("#{number}")).unwrap_or_default();
        let mut text = String::new();
        for (number, line) in wrap(&row.text, grid.room(at)).into_iter().enumerate() {
            let (label, place) = if number == 0 { (label.as_str(), row.place.as_str()) } else { ("", "") };
            let lane = |column: usize| if column.is_multiple_of(grid.apart) && grid.columns > 1 { '│' } else { ' ' };
            let lanes: String = (0..at * grid.apart).map(lane).collect();
            let line = if number == 0 { line } else { format!("  {line}") };
            let what = if row.error { self.style.error(&line) } else { self.style.thread(row.thread.0, &line) };
            let label = self.style.frame(format_args!("{label:>numbers$}"));
            let place = self.style.dim(format_args!("{place:>places$}"));
            writeln!(text, "{label}  {place}  {}{what}", self.style.dim(&lanes)).expect("strings take all");
        }
        text
    }

    fn legend(&self, text: &mut String) {
        let about = self.trace.about.as_ref().map(|variable| self.names.variable(variable));
        let used: String = self.rows.iter().map(|row| &row.text).chain(&about).map(|text| format!("{text} ")).collect();
        for block in self.names.blocks() {
            if !used.contains(block.name.as_str()) {
                continue;
            }
            let at = block
                .allocated
                .as_ref()
                .map(|at| format!(", allocated at {}:{}:{}", names::short_file(&at.file), at.line, at.column));
            let name = &block.name;
            writeln!(text, "{name}: {} bytes on the heap{}", block.size, at.unwrap_or_default())
                .expect("strings take all");
        }
    }

    fn describe(&self, step: &Step) -> String {
        describe(step, &self.names)
    }
}

/// Where columns are.
struct Grid {
    /// How wide numbers and places are.
    numbers: usize,
    places: usize,
    /// What comes before the first column.
    margin: usize,
    apart: usize,
    width: usize,
    columns: usize,
}

impl Grid {
    fn start(&self, column: usize) -> usize {
        self.margin + column * self.apart
    }

    /// How many characters of text a line of a column has.
    fn room(&self, column: usize) -> usize {
        self.width.saturating_sub(self.start(column)).max(24)
    }
}

/// Breaks a text into lines, at spaces; all but the first have two characters less.
fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    // What a value comes from stays together.
    let text = text.replace("← ", "←\u{a0}");
    for word in text.split(' ') {
        let first = lines.len() == 1;
        let line = lines.last_mut().expect("there is always a line");
        let room = if first { room } else { room - 2 };
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > room {
            lines.push(word.to_owned());
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines.iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

/// The file that a place is in.
pub fn file(place: &Place) -> &str {
    names::short_file(&place.location.file)
}

/// What is said of a thread that has not ended.
pub fn ending(thread: &Thread) -> Option<String> {
    Some(match &thread.end {
        End::Ended | End::Stopped => return None,
        End::Exited => "ends the program".to_owned(),
        End::Failed => "the error".to_owned(),
        End::Waits(Waits::Assumption) => "an assumption does not hold".to_owned(),
        End::Waits(Waits::InLoop) => "spins forever".to_owned(),
        End::Waits(Waits::For { wait, holders }) => {
            let threads: Vec<ThreadId> = holders.iter().map(|holder| holder.thread).collect();
            let since: Vec<String> =
                holders.iter().filter_map(|holder| holder.since).map(|step| format!("#{step}")).collect();
            let since = if since.is_empty() { String::new() } else { format!(" since {}", since.join(" and ")) };
            match held(*wait, thread.number, &threads) {
                Some(held) => format!("blocked: {held}{since}"),
                None => format!("blocked: {wait}"),
            }
        }
    })
}

/// What a step does, in two parts: what is done to which variable, and how.
pub struct Description {
    pub what: String,
    /// The ordering, the write that a read reads from, the function of a library. Begins with a space unless it is empty.
    pub how: String,
}

/// What a step does.
pub fn describe(step: &Step, names: &Names) -> String {
    let Description { what, how } = describe_in_parts(step, names);
    what + &how
}

/// What a step does, in parts.
pub fn describe_in_parts(step: &Step, names: &Names) -> Description {
    let (what, how) = (what(step, names), how(step));
    match (how.is_empty(), library(step).unwrap_or_default()) {
        // Without an ordering and a source, the function says what is done.
        (true, library) => Description { what: what + &library, how },
        (false, library) => Description { what, how: how + &library },
    }
}

/// The ordering of a step, and where it reads from.
fn how(step: &Step) -> String {
    let order = step.ordering.map(|order: MemOrder| format!(" ({})", order.name())).unwrap_or_default();
    let from = step.read.map(source).unwrap_or_default();
    match &step.deed {
        Deed::Load | Deed::Rmw { .. } | Deed::Cas { .. } => order + &from,
        Deed::Store | Deed::Fence => order,
        Deed::PlainRead => " (not atomic)".to_owned() + &from,
        Deed::PlainWrite => " (not atomic)".to_owned(),
        Deed::Await { wait: Wait::Scope } => String::new(),
        Deed::Await { .. } | Deed::TryLock | Deed::EnterQueue | Deed::Try | Deed::Receive { .. } => from,
        Deed::Spawn { .. } | Deed::Join { .. } | Deed::Unlock | Deed::LeaveQueue | Deed::WaitOn => String::new(),
        Deed::Notify { .. } | Deed::Send { .. } | Deed::TakeTurn { .. } | Deed::Disconnect => String::new(),
        Deed::Disconnected { sends: true } => from,
        Deed::Disconnected { sends: false } => String::new(),
        Deed::Unpark { .. } | Deed::Leave | Deed::BeginModel | Deed::EndModel | Deed::Choose { .. } => String::new(),
    }
}

/// What a step does to which variable, with which values.
fn what(step: &Step, names: &Names) -> String {
    let variable = step.variable.as_ref().map(|variable| names.variable(variable)).unwrap_or_default();
    // What the program calls it: not what is inside of a type of the standard library.
    let known = step.variable.clone().map(|variable| names.known(variable)).unwrap_or_default();
    let written = step.written.map(|value| names.value(step, value)).unwrap_or_default();
    let read = step.read.map(|read| names.value(step, read.value)).unwrap_or_default();
    match &step.deed {
        Deed::Load => format!("load {variable} = {read}"),
        Deed::Store => format!("store {variable} := {written}"),
        Deed::Rmw { method } => format!("{method} {variable}: {read} → {written}"),
        Deed::Cas { expected, weak, .. } => {
            let name = if *weak { "compare_exchange_weak" } else { "compare_exchange" };
            match (step.written.is_some(), step.read.map(|read| read.value) == Some(*expected)) {
                (true, _) => format!("{name} {variable}: {read} → {written}"),
                (false, true) => format!("{name} {variable} = {read}, fails spuriously"),
                (false, false) => {
                    format!("{name} {variable} = {read}, not {}", names.value(step, *expected))
                }
            }
        }
        Deed::PlainRead => format!("read {variable} = {read}"),
        Deed::PlainWrite => format!("write {variable} := {written}"),
        Deed::Fence => "fence".to_owned(),
        Deed::Spawn { thread } => format!("spawn {thread}"),
        Deed::Join { thread } => format!("join {thread}"),
        Deed::Await { wait: Wait::Mutex } => format!("lock {variable}"),
        Deed::Await { wait: Wait::ReadLock } => format!("read-lock {variable}"),
        Deed::Await { wait: Wait::WriteLock } => format!("write-lock {variable}"),
        Deed::Await { wait: Wait::Notification } => format!("notified through {known}"),
        Deed::Await { wait: Wait::Token } => "unparked".to_owned(),
        Deed::Await { wait: Wait::Scope } => "join the threads of the scope".to_owned(),
        Deed::Await { wait } => format!("{}: {variable} = {read}", has_come(*wait)),
        Deed::TryLock if step.written.is_some() => format!("try_lock {variable}: locked"),
        Deed::TryLock => format!("try_lock {variable}: would block"),
        Deed::Unlock => format!("unlock {variable}"),
        Deed::EnterQueue => format!("lock the futex queue of {variable}"),
        Deed::LeaveQueue => format!("unlock the futex queue of {variable}"),
        Deed::Try if step.written.is_some() => format!("update {variable}: {read} → {written}"),
        Deed::Try => format!("read {variable} = {read}, without an update"),
        Deed::WaitOn => format!("wait on {known}"),
        Deed::Notify { all, woken } => {
            let name = if *all { "notify_all" } else { "notify_one" };
            let woken: Vec<String> = woken.iter().map(|thread| thread.name()).collect();
            match woken.is_empty() {
                true => format!("{name} {known}: no thread is waiting"),
                false => format!("{name} {known}: wakes {}", woken.join(" and ")),
            }
        }
        Deed::Send { message } => format!("send message {message}"),
        Deed::TakeTurn { message } => format!("start to receive message {message}"),
        Deed::Receive { message } => format!("receive message {message}"),
        Deed::Disconnect => "disconnect the channel".to_owned(),
        Deed::Disconnected { sends: true } => "send: the receiver is gone".to_owned(),
        Deed::Disconnected { sends: false } => "receive: all senders are gone".to_owned(),
        Deed::Unpark { thread: Some(thread) } => format!("unpark {}", thread.name()),
        Deed::Unpark { thread: None } => "unpark a thread".to_owned(),
        Deed::Leave => "drop a sender".to_owned(),
        Deed::BeginModel => "begin the model".to_owned(),
        Deed::EndModel => "end the model".to_owned(),
        Deed::Choose { n, value } => format!("choose({n}) = {value}"),
    }
}

/// The function of a library that something was done in, if that says more than the step does.
fn library(step: &Step) -> Option<String> {
    let is_lock = |wait: Wait| matches!(wait, Wait::Mutex | Wait::ReadLock | Wait::WriteLock);
    let says_it_all = match &step.deed {
        Deed::Await { wait } => {
            is_lock(*wait) || matches!(wait, Wait::Scope | Wait::Notification | Wait::Token | Wait::Barrier)
        }
        Deed::Spawn { .. } | Deed::Join { .. } | Deed::Choose { .. } | Deed::TryLock | Deed::Unlock => true,
        Deed::Send { .. } | Deed::TakeTurn { .. } | Deed::Receive { .. } | Deed::Disconnect | Deed::Unpark { .. } => {
            true
        }
        Deed::WaitOn | Deed::Notify { .. } | Deed::BeginModel | Deed::EndModel => true,
        Deed::Leave | Deed::Disconnected { .. } => true,
        _ => false,
    };
    let via = step.place.as_ref().and_then(|place| place.via.as_deref()).filter(|via| !names::is_atomic_method(via));
    via.filter(|_| !says_it_all).map(|via| format!(" [{}]", names::short_function(via)))
}

/// What a thread has waited for.
fn has_come(wait: Wait) -> &'static str {
    match wait {
        Wait::Mutex | Wait::ReadLock | Wait::WriteLock => "locked",
        Wait::Notification => "notified",
        Wait::Initialization => "initialized",
        Wait::Token => "unparked",
        Wait::Barrier => "all threads reached the barrier",
        Wait::Message => "waited for a message",
        Wait::Room => "waited for room in the channel",
        Wait::Time => "slept",
        Wait::Scope => "all threads of the scope finished",
        Wait::Epoll => "woken at the epoll",
        Wait::Eventfd => "read from the eventfd",
        Wait::Wake => "woken",
        Wait::End(_) => "finished",
        Wait::Others => "all other threads finished",
    }
}

fn source(read: Read) -> String {
    read.from.map_or_else(|| " ← init".to_owned(), |step| format!(" ← #{step}"))
}

#[cfg(test)]
mod tests {
    use dpor_engine::program::{Part, ValueKind};
    use dpor_engine::verdict::Location;
    use dpor_engine::vm::{Object, Variable};

    use super::*;

    fn place(line: u32, via: Option<&str>) -> Option<Place> {
        let location = Location { file: "src/lib.rs".into(), line, column: 5 };
        Some(Place { location, function: None, via: via.map(str::to_owned) })
    }

    fn step(number: u32, thread: u16, deed: Deed) -> Step {
        Step {
            number,
            thread: ThreadId(thread),
            deed,
            place: place(10 * number, None),
            variable: None,
            ordering: None,
            read: None,
            written: None,
            unwinding: false,
        }
    }

    fn thread(number: u16, end: End) -> Thread {
        let spawned_by = (number > 0).then_some(1);
        Thread { number: ThreadId(number), spawned_by, end, place: place(99, None) }
    }

    /// A part of a block that is called `node`.
    fn node(path: &str, kind: ValueKind) -> Option<Variable> {
        let allocated = place(3, None).map(|place| place.location);
        let object = Object::Heap { address: 0x1000, size: 24, allocated, name: "node".into() };
        let part = Part { path: path.into(), kind, ..Part::default() };
        Some(Variable { object, offset: 8, part: Some(part) })
    }

    fn trace() -> Trace {
        Trace {
            threads: vec![thread(0, End::Failed), thread(1, End::Ended)],
            steps: vec![
                step(1, 0, Deed::Spawn { thread: ThreadId(1) }),
                Step {
                    variable: node(".ready", ValueKind::Bool),
                    written: Some(1),
                    ordering: Some(MemOrder::Release),
                    ..step(2, 1, Deed::Store)
                },
                Step {
                    variable: node(".ready", ValueKind::Bool),
                    read: Some(Read { value: 1, from: Some(2) }),
                    ordering: Some(MemOrder::Acquire),
                    ..step(3, 0, Deed::Load)
                },
            ],
            ..Trace::default()
        }
    }

    #[test]
    fn each_thread_has_a_column() {
        let expected = "\
execution in src/lib.rs: one column per thread; one possible interleaving
        main                                thread 1
#1  10  spawn thread 1
#2  20  │                                   store node.ready := true (Release)
#3  30  load node.ready = true (Acquire) ← #2
    99  the error
node: 24 bytes on the heap, allocated at src/lib.rs:3:5
";
        assert_eq!(render(&trace(), Extent::Full, Style::plain()), expected);
    }

    #[test]
    fn a_panic_comes_before_what_it_unwinds() {
        let mut trace = trace();
        trace.steps.push(Step { unwinding: true, ..step(4, 0, Deed::Fence) });
        let text = render(&trace, Extent::Full, Style::plain());
        assert!(text.contains("    99  the error\n#4  40  fence\n"), "{text}");
        let text = render(&trace, Extent::Relevant, Style::plain());
        assert!(
            text.contains("(1 of 4 steps left out: `--trace full` shows all)\n") && !text.contains("fence"),
            "{text}"
        );
    }

    #[test]
    fn an_update_says_what_it_read_and_wrote() {
        let trace = Trace::default();
        let names = Names::of(&trace);
        let cas = |read, written| Step {
            variable: Some(Variable { object: Object::Static { name: "a::TOP".into() }, offset: 0, part: None }),
            read: Some(Read { value: read, from: None }),
            written,
            ordering: Some(MemOrder::Relaxed),
            ..step(1, 0, Deed::Cas { expected: 0, new: 7, weak: true })
        };
        let describe = |step| describe(&step, &names);
        assert_eq!(describe(cas(0, Some(7))), "compare_exchange_weak TOP: 0 → 7 (Relaxed) ← init");
        assert_eq!(describe(cas(3, None)), "compare_exchange_weak TOP = 3, not 0 (Relaxed) ← init");
        assert_eq!(describe(cas(0, None)), "compare_exchange_weak TOP = 0, fails spuriously (Relaxed) ← init");
        let drop = "<std::sync::Arc<u8> as std::ops::Drop>::drop";
        assert_eq!(describe(Step { place: place(1, Some(drop)), ..step(1, 0, Deed::Fence) }), "fence [Arc::drop]");
    }

    #[test]
    fn long_texts_are_broken_and_stay_in_their_column() {
        let text = "compare_exchange node.head: null → &node.next (Release) ← #12";
        let lines = wrap(text, 40);
        assert_eq!(lines, ["compare_exchange node.head: null →", "&node.next (Release) ← #12"]);
        assert!(wrap("a b", 40) == ["a b"] && wrap("", 40) == [""]);
    }
}
