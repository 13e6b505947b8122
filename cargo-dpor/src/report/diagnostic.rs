//! An error as the compiler would show it: the message, the source with all places marked, and notes.

use annotate_snippets::{Annotation, AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use dpor_engine::trace::{Remark, Trace};
use dpor_engine::verdict::{ErrorKind, Location};
use dpor_engine::vm::{Role, ThreadId};

use super::names;
use super::printable::for_terminal;
use super::source::Sources;
use crate::finding::{Finding, FindingKind, Note};
use crate::style::Style;

/// A place that is shown.
#[derive(PartialEq)]
struct Shown {
    place: Location,
    label: String,
    primary: bool,
}

/// All of an error but its execution.
pub fn render(finding: &Finding, sources: &mut Sources, style: Style) -> String {
    let problem = &finding.problem;
    let (mut shown, mut notes) = arrange(finding);
    let trace = finding.execution.as_ref().map(|execution| &execution.trace);
    let remarks: Vec<(&Remark, Vec<Shown>)> = trace
        .map(|trace| trace.remarks.iter().map(|remark| (remark, marked(remark, trace))).collect())
        .unwrap_or_default();
    for shown in shown.iter().chain(remarks.iter().flat_map(|(_, shown)| shown)) {
        sources.read(&shown.place.file);
    }
    notes.extend(without_source(&mut shown, sources));
    let level = if finding.kind == FindingKind::Covered { Level::NOTE } else { Level::ERROR };
    let title = level.primary_title(problem.message.as_str()).id(finding.kind.name());
    let mut main = title.elements(snippets(&shown, sources));
    let notes: Vec<_> = notes.iter().map(|note| for_terminal(note)).collect();
    for note in &notes {
        main = main.element(Level::NOTE.message(&**note));
    }
    let mut groups = vec![main];
    for (remark, shown) in &remarks {
        let title = Level::NOTE.secondary_title(remark.message.as_str());
        groups.push(Group::with_title(title).elements(snippets(shown, sources)));
    }
    let renderer = if style.enabled() { Renderer::styled() } else { Renderer::plain() };
    renderer.term_width(style.width()).render(&groups).to_string() + "\n"
}

/// The places to mark, the first of which is the error's, and the notes that have none of their own.
fn arrange(finding: &Finding) -> (Vec<Shown>, Vec<String>) {
    let (problem, mut shown, mut notes) = (&finding.problem, Vec::new(), Vec::new());
    let label = label(finding);
    if let Some(place) = &problem.location {
        shown.push(Shown { place: place.clone(), label: label.clone(), primary: true });
    }
    for note in problem.notes.iter().filter(|note| note.message != label) {
        match &note.location {
            Some(place) if problem.location.as_ref() != Some(place) => {
                let new = Shown { place: place.clone(), label: note.message.clone(), primary: false };
                if !shown.contains(&new) {
                    shown.push(new);
                }
            }
            Some(_) => notes.push(format!("{} (at the same place)", note.message)),
            None => notes.push(note.message.clone()),
        }
    }
    (shown, notes)
}

/// Takes out the places that cannot be shown: what is said of them.
fn without_source(shown: &mut Vec<Shown>, sources: &Sources) -> Vec<String> {
    let is_bare = |shown: &Shown| !shown.primary && sources.span(&shown.place).is_none();
    let bare = shown.extract_if(.., |shown| is_bare(shown)).map(|shown| {
        let Location { file, line, column } = &shown.place;
        format!("{}: {}:{line}:{column}", shown.label, names::short_file(file))
    });
    bare.collect()
}

/// What is said of the error's own place: a note that is about it, or else the thread.
fn label(Finding { kind, problem, .. }: &Finding) -> String {
    let leaks = *kind == FindingKind::Error(ErrorKind::MemoryLeak);
    let is_about = |note: &&Note| {
        let waits = matches!(note.role, Role::Blocked | Role::Spins) && note.thread == problem.thread;
        let mine = leaks || waits || problem.thread.is_none();
        mine && note.location.is_some() && note.location == problem.location
    };
    let note = problem.notes.iter().find(is_about).map(|note| note.message.clone());
    let thread = problem.thread.map(|thread| format!("in {}", ThreadId(thread).phrase()));
    note.or(thread).unwrap_or_default()
}

/// The places of the steps that a remark is about.
fn marked(remark: &Remark, trace: &Trace) -> Vec<Shown> {
    let mut marked: Vec<Shown> = Vec::new();
    for mark in &remark.marks {
        let Some(place) = trace.step(mark.step).and_then(|step| step.place.as_ref()) else { continue };
        let library = place.via.as_deref().filter(|via| !names::is_atomic_method(via));
        let label = match library {
            Some(library) => format!("in `{}`: {}", names::short_function(library), mark.label),
            None => mark.label.clone(),
        };
        let new = Shown { place: place.location.clone(), label, primary: true };
        if !marked.contains(&new) {
            marked.push(new);
        }
    }
    marked
}

/// The places, by file; those without a source as they are.
fn snippets<'a>(shown: &'a [Shown], sources: &'a Sources) -> Vec<Element<'a>> {
    let mut files: Vec<&str> = Vec::new();
    for shown in shown {
        if !files.contains(&shown.place.file.as_str()) {
            files.push(&shown.place.file);
        }
    }
    files.into_iter().flat_map(|file| in_file(file, shown, sources)).collect()
}

fn in_file<'a>(file: &'a str, shown: &'a [Shown], sources: &'a Sources) -> Vec<Element<'a>> {
    let here = || shown.iter().filter(move |shown| shown.place.file == file);
    let Some(text) = sources.text(file).filter(|_| here().all(|shown| sources.span(&shown.place).is_some())) else {
        let origin = |shown: &'a Shown| {
            let Location { line, column, .. } = shown.place;
            Element::Origin(Origin::path(names::short_file(file)).line(line as usize).char_column(column as usize))
        };
        return here().map(origin).collect();
    };
    let annotations = here().filter_map(|shown| annotation(shown, sources));
    vec![Element::Cause(Snippet::source(text).path(names::short_file(file)).annotations(annotations))]
}

fn annotation<'a>(shown: &'a Shown, sources: &Sources) -> Option<Annotation<'a>> {
    let kind = if shown.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
    Some(kind.span(sources.span(&shown.place)?).label(shown.label.as_str()))
}
