//! An execution as a graph to be drawn.

use std::collections::BTreeMap;

use dpor_engine::trace::{End, Names, Place, Step, Thread, Trace};
use serde::Serialize;

use crate::finding::Finding;
use crate::report::{Description, Sources, TestResult, describe_in_parts, distinct, ending, file_of};

/// All that a picture shows.
#[derive(Debug, Serialize)]
pub struct Graph {
    pub test: String,
    package: String,
    model: String,
    pub kind: String,
    message: String,
    remarks: Vec<String>,
    pub threads: Vec<Lane>,
    /// In an order in which they can happen.
    pub events: Vec<Event>,
    pub edges: Edges,
    /// The text of the files that events are in.
    files: BTreeMap<String, String>,
}

/// A thread.
#[derive(Debug, Serialize)]
pub struct Lane {
    pub number: u16,
    pub name: String,
    /// The event that spawned it.
    spawned_by: Option<String>,
}

/// A step, or the error, or what raced with it.
#[derive(Debug, Serialize)]
pub struct Event {
    pub id: String,
    pub step: Option<u32>,
    pub thread: u16,
    /// All of it.
    pub text: String,
    /// What is done.
    pub what: String,
    /// Where, and how.
    more: String,
    /// The file, as it is called in the report.
    file: Option<String>,
    /// The file, as it can be read.
    #[serde(skip)]
    path: Option<String>,
    line: Option<u32>,
    pub bad: bool,
}

/// Which event leads to which.
#[derive(Debug, Serialize)]
pub struct Edges {
    /// Who reads what somebody has written.
    pub rf: Vec<(String, String)>,
    /// Who overwrites what.
    pub co: Vec<(String, String)>,
    /// Who synchronizes with whom.
    pub sw: Vec<(String, String)>,
}

fn id(step: u32) -> String {
    format!("s{step}")
}

impl Graph {
    pub fn new(result: &TestResult, finding: &Finding, trace: &Trace, sources: &mut Sources) -> Graph {
        let names = Names::of(trace);
        let mut events: Vec<Event> = trace.steps.iter().map(|step| Event::step(step, &names)).collect();
        add_others(trace, &mut events);
        add_error(trace, finding, &mut events);
        add_waits(trace, &mut events);
        say_where(&mut events);
        Graph {
            test: result.test.name.clone(),
            package: result.binary.id(),
            model: result.settings.model.to_string(),
            kind: finding.kind.name().to_owned(),
            message: finding.problem.message.clone(),
            remarks: trace.remarks.iter().map(|remark| remark.message.clone()).collect(),
            threads: trace.threads.iter().map(lane).collect(),
            files: files(&events, sources),
            edges: edges(trace),
            events,
        }
    }
}

impl Event {
    fn step(step: &Step, names: &Names) -> Event {
        let Description { what, how } = describe_in_parts(step, names);
        Event {
            id: id(step.number),
            step: Some(step.number),
            thread: step.thread.0,
            text: format!("{what}{how}"),
            more: how.trim_start().to_owned(),
            what,
            file: step.place.as_ref().map(|place| file_of(place).to_owned()),
            path: step.place.as_ref().map(|place| place.location.file.clone()),
            line: step.place.as_ref().map(|place| place.location.line),
            bad: false,
        }
    }

    fn other(id: &str, thread: u16, what: &str, place: Option<&Place>) -> Event {
        Event {
            id: id.to_owned(),
            step: None,
            thread,
            text: what.to_owned(),
            what: what.to_owned(),
            more: String::new(),
            file: place.map(|place| file_of(place).to_owned()),
            path: place.map(|place| place.location.file.clone()),
            line: place.map(|place| place.location.line),
            bad: true,
        }
    }
}

/// Puts before what is said of each event where it is: the line, and the file where there are several.
fn say_where(events: &mut [Event]) {
    let mut files: Vec<String> = events.iter().filter_map(|event| event.file.clone()).collect();
    files.sort_unstable();
    files.dedup();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    for event in events {
        let place = match (&event.file, event.line) {
            (Some(file), Some(line)) if files.len() > 1 => format!("{}:{line}", distinct(file, &files)),
            (_, Some(line)) => format!("line {line}"),
            (_, None) => String::new(),
        };
        event.more = format!("{place} {}", event.more).trim().to_owned();
    }
}

/// The other side of the error, and panics of other threads, each after the last step of its thread before it.
fn add_others(trace: &Trace, events: &mut Vec<Event>) {
    let panics = trace.panics.iter().enumerate().map(|(at, panic)| (format!("panic{at}"), panic));
    for (id, other) in trace.racing.iter().map(|racing| ("racing".to_owned(), racing)).chain(panics) {
        let place = Place { location: other.location.clone(), function: None, via: None };
        let thread = trace.threads.iter().find(|thread| thread.number == other.thread);
        let before = other.after.or(thread.and_then(|thread| thread.spawned_by));
        let is_before = |event: &Event| before.is_some() && event.step == before;
        let at = events.iter().position(is_before).map_or(0, |at| at + 1);
        events.insert(at, Event::other(&id, other.thread.0, &other.what.to_string(), Some(&place)));
    }
}

/// The error, at the end of its thread, before what is done while a panic unwinds it.
fn add_error(trace: &Trace, finding: &Finding, events: &mut Vec<Event>) {
    let Some(failed) = trace.threads.iter().find(|thread| thread.end == End::Failed) else { return };
    let unwinds = |step: &&Step| step.unwinding && step.thread == failed.number;
    let first = trace.steps.iter().find(unwinds).map(|step| step.number);
    let at = first.and_then(|first| events.iter().position(|event| event.step == Some(first))).unwrap_or(events.len());
    events.insert(at, Event::other("error", failed.number.0, finding.kind.name(), failed.place.as_ref()));
}

/// What threads wait for, where none has failed.
fn add_waits(trace: &Trace, events: &mut Vec<Event>) {
    if trace.threads.iter().any(|thread| thread.end == End::Failed) {
        return;
    }
    for thread in trace.threads.iter().filter(|thread| matches!(thread.end, End::Waits(_))) {
        let what = ending(thread).unwrap_or_default();
        events.push(Event::other(&format!("end{}", thread.number.0), thread.number.0, &what, thread.place.as_ref()));
    }
}

fn lane(thread: &Thread) -> Lane {
    Lane { number: thread.number.0, name: thread.number.to_string(), spawned_by: thread.spawned_by.map(id) }
}

fn edges(trace: &Trace) -> Edges {
    let rf = trace.steps.iter().filter_map(|step| Some((id(step.read?.from?), id(step.number))));
    let co = trace.co.iter().flat_map(|writes| writes.windows(2).map(|pair| (id(pair[0]), id(pair[1]))));
    let sw = trace.sw.iter().map(|(from, to)| (id(*from), id(*to)));
    let known = |pair: &(String, String)| {
        let is_step = |name: &str| trace.steps.iter().any(|step| id(step.number) == name);
        is_step(&pair.0) && is_step(&pair.1)
    };
    Edges { rf: rf.filter(known).collect(), co: co.filter(known).collect(), sw: sw.filter(known).collect() }
}

fn files(events: &[Event], sources: &mut Sources) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for (file, path) in events.iter().filter_map(|event| event.file.as_ref().zip(event.path.as_ref())) {
        sources.read(path);
        if let Some(text) = sources.text(path) {
            files.insert(file.clone(), text.to_owned());
        }
    }
    files
}
