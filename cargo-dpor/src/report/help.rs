//! Better orderings, as the compiler shows what it suggests: the changed lines.

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Patch, Renderer, Snippet};

use dpor_engine::verdict::Location;

use super::human::count;
use super::names;
use super::source::Sources;
use crate::advice::{Advice, Change, ORDERINGS, What};
use crate::style::Style;

/// The advice, as text.
pub fn render(advice: &Advice, sources: &mut Sources, style: Style) -> String {
    let titles = titles(advice);
    let groups: Vec<&[Change]> = match advice {
        Advice::Stronger(groups) => groups.iter().map(Vec::as_slice).collect(),
        Advice::Weaker(changes) => vec![changes],
        _ => vec![&[]],
    };
    let other = if let Advice::AnotherError(other) = advice { other.location.as_ref() } else { None };
    let files = groups.iter().flat_map(|group| group.iter()).map(|change| &change.site.place);
    files.chain(other).for_each(|place| sources.read(&place.file));
    let shown = titles.iter().zip(groups).map(|(title, changes)| {
        let title = Level::HELP.secondary_title(title.as_str());
        Group::with_title(title).elements(elements(changes, sources)).elements(other.map(|place| cause(place, sources)))
    });
    let groups: Vec<Group> = shown.collect();
    let renderer = if style.enabled() { Renderer::styled() } else { Renderer::plain() };
    let text = renderer.term_width(style.width()).render(&groups).to_string() + "\n";
    let changes: Vec<&Change> = changes(advice);
    text.split_inclusive('\n').map(|line| with_mark(line, &changes, sources)).collect()
}

/// What is said of each group of changes; of none, why there is none.
fn titles(advice: &Advice) -> Vec<String> {
    let title = match advice {
        Advice::Stronger(groups) => {
            return groups.iter().enumerate().map(|(at, changes)| stronger_title(changes, at)).collect();
        }
        Advice::Weaker(changes) => weaker_title(changes.len()),
        Advice::NotOrderings => {
            "stronger orderings do not help: the test fails even if all of them are `SeqCst`".to_owned()
        }
        Advice::AnotherError(other) => {
            format!("stronger orderings are not enough: if all of them are `SeqCst`, the test fails with {other}")
        }
        Advice::AsWeakAsCanBe => "no constant ordering can be weaker: this test fails if any of them is".to_owned(),
        Advice::NoOrderings => {
            "no ordering can be weaker: outside of the standard library, all of them are `Relaxed`".to_owned()
        }
        Advice::OutOfTime => {
            "the search for a small change that fixes the test ran out of time (`--timeout` sets the limit)".to_owned()
        }
    };
    vec![title]
}

/// The place of an error that is left.
fn cause<'a>(place: &'a Location, sources: &'a Sources) -> Element<'a> {
    let path = names::short_file(&place.file);
    match (sources.text(&place.file), sources.span(place)) {
        (Some(text), Some(span)) => {
            let here = AnnotationKind::Primary.span(span);
            Element::Cause(Snippet::source(text).path(path).annotation(here))
        }
        _ => Element::Origin(Origin::path(path).line(place.line as usize).char_column(place.column as usize)),
    }
}

/// All changes of some advice.
fn changes(advice: &Advice) -> Vec<&Change> {
    match advice {
        Advice::Stronger(groups) => groups.iter().flatten().collect(),
        Advice::Weaker(changes) => changes.iter().collect(),
        _ => Vec::new(),
    }
}

/// A line of a suggestion, marked as what it is where a fence is inserted: that is a new line, and the one beside it is
/// as it was.
fn with_mark(line: &str, changes: &[&Change], sources: &Sources) -> String {
    let visible = console::strip_ansi_codes(line);
    let is_marked = |(number, _): &(&str, &str)| number.trim().parse::<u32>().is_ok();
    let Some((_, code)) = visible.split_once(" ~ ").filter(is_marked) else { return line.to_owned() };
    let fences = changes.iter().filter(|change| matches!(change.what, What::Fence { .. }));
    let mark =
        fences.flat_map(|change| change.edits.iter().map(move |edit| (change, edit))).find_map(|(change, edit)| {
            let text = sources.text(&change.site.place.file)?;
            let start = text[..edit.range.start].rfind('\n').map_or(0, |at| at + 1);
            let beside = text[start..].lines().next()?;
            match code.trim() {
                code if code == edit.text.trim() => Some("+"),
                code if code == beside.trim() => Some("|"),
                _ => None,
            }
        });
    mark.map_or_else(|| line.to_owned(), |mark| line.replacen('~', mark, 1))
}

fn stronger_title(changes: &[Change], at: usize) -> String {
    let with = with(changes);
    let own = if changes.iter().any(|change| change.own) { " (this is in the test itself)" } else { "" };
    match at {
        0 => format!("the test passes with {with}{own}"),
        _ => format!("the test also passes with {with} instead{own}"),
    }
}

/// What the changes are.
fn with(changes: &[Change]) -> String {
    let all = |is: fn(&What) -> bool| changes.iter().all(|change| is(&change.what));
    let number = changes.len();
    let orderings = all(|what| matches!(what, What::Ordering { .. }));
    let fences = all(|what| matches!(what, What::Fence { .. }));
    match changes {
        [Change { what: What::Swap { .. }, .. }] => "a `swap` instead of the `store`".to_owned(),
        [Change { what: What::Strong, .. }] => "a `compare_exchange` that does not fail spuriously".to_owned(),
        [_] if orderings => "this ordering".to_owned(),
        [_] => "this fence".to_owned(),
        _ if orderings => format!("these {number} orderings"),
        _ if fences => format!("these {number} fences"),
        _ => format!("these {number} changes"),
    }
}

fn weaker_title(changes: usize) -> String {
    let could = count(changes as u64, "ordering");
    format!("{could} can be weaker: this test still passes (other uses of the code may need them)")
}

/// The changes, by file.
fn elements<'a>(changes: &'a [Change], sources: &'a Sources) -> Vec<Element<'a>> {
    let mut files: Vec<&str> = Vec::new();
    for change in changes {
        if !files.contains(&change.site.place.file.as_str()) {
            files.push(&change.site.place.file);
        }
    }
    files.into_iter().flat_map(|file| in_file(file, changes, sources)).collect()
}

/// Changes as patches; of an ordering that is not written down at the call, what it has to be there.
fn in_file<'a>(file: &'a str, changes: &'a [Change], sources: &'a Sources) -> Vec<Element<'a>> {
    let here: Vec<&Change> = changes.iter().filter(|change| change.site.place.file == file).collect();
    let Some(text) = sources.text(file) else {
        return here.iter().map(|change| origin(change)).collect();
    };
    let (written, elsewhere): (Vec<&Change>, Vec<&Change>) =
        here.into_iter().partition(|change| is_written(change, text));
    let mut elements = Vec::new();
    let edits = written.iter().flat_map(|change| &change.edits);
    let patches: Vec<Patch> = edits.map(|edit| Patch::new(edit.range.clone(), edit.text.as_str())).collect();
    if !patches.is_empty() {
        elements.push(Element::Suggestion(Snippet::source(text).path(names::short_file(file)).patches(patches)));
    }
    let annotations = elsewhere.iter().filter_map(|change| {
        let What::Ordering { from, to, .. } = change.what else { return None };
        let label = format!("`{}` instead of `{}`", to.name(), from.name());
        let argument = change.edits.first().map(|edit| edit.range.clone());
        let span = argument.or_else(|| sources.span(&change.site.place))?;
        Some(AnnotationKind::Primary.span(span).label(label))
    });
    let annotations: Vec<_> = annotations.collect();
    if !annotations.is_empty() {
        elements.push(Element::Cause(Snippet::source(text).path(names::short_file(file)).annotations(annotations)));
    }
    elements
}

/// Whether the changed line says all: an ordering that comes from elsewhere may be used elsewhere, too.
fn is_written(change: &Change, text: &str) -> bool {
    let is_ordering = |text: &str| ORDERINGS.iter().any(|order| order.name() == text);
    match change.what {
        What::Ordering { .. } => {
            !change.edits.is_empty()
                && change.edits.iter().all(|edit| text.get(edit.range.clone()).is_some_and(is_ordering))
        }
        _ => true,
    }
}

fn origin(change: &Change) -> Element<'_> {
    let place = &change.site.place;
    let origin =
        Origin::path(names::short_file(&place.file)).line(place.line as usize).char_column(place.column as usize);
    Element::Origin(origin)
}
