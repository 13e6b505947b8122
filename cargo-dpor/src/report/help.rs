//! Better orderings, as the compiler shows what it suggests: the changed lines.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Patch, Renderer, Snippet};

use super::human::count;
use super::source::Sources;
use crate::advice::{Advice, Change};
use crate::style::Style;

/// The names that orderings have in the source.
const ORDERINGS: [&str; 5] = ["Relaxed", "Release", "Acquire", "AcqRel", "SeqCst"];

/// The advice, as text.
pub fn render(advice: &Advice, sources: &mut Sources, style: Style) -> String {
    let (titles, groups): (Vec<String>, Vec<&[Change]>) = match advice {
        Advice::Stronger(groups) => {
            let title = |(at, changes): (usize, &Vec<Change>)| stronger_title(changes.len(), at, groups.len());
            (groups.iter().enumerate().map(title).collect(), groups.iter().map(Vec::as_slice).collect())
        }
        Advice::Weaker(changes) => (vec![weaker_title(changes.len())], vec![changes]),
        Advice::NotOrderings => {
            (vec!["stronger orderings do not help: the test fails with the strongest, too".into()], vec![&[]])
        }
        Advice::AsWeakAsCanBe => (vec!["no ordering could be weaker with this test still passing".into()], vec![&[]]),
        Advice::OutOfTime => {
            (vec!["whether other orderings would do could not be found out in time".into()], vec![&[]])
        }
    };
    groups.iter().flat_map(|group| group.iter()).for_each(|change| sources.read(&change.site.place.file));
    let shown = titles.iter().zip(groups).map(|(title, changes)| {
        let title = Level::HELP.secondary_title(title.as_str());
        Group::with_title(title).elements(elements(changes, sources))
    });
    let groups: Vec<Group> = shown.collect();
    let renderer = if style.enabled() { Renderer::styled() } else { Renderer::plain() };
    renderer.term_width(style.width()).render(&groups).to_string() + "\n"
}

fn stronger_title(changes: usize, at: usize, groups: usize) -> String {
    let with = if changes == 1 { "this ordering".to_owned() } else { format!("these {changes} orderings") };
    match (at, groups) {
        (0, 1) => format!("with {with} the test passes"),
        (0, _) => format!("with {with} the test passes"),
        _ => format!("it also passes with {with} instead"),
    }
}

fn weaker_title(changes: usize) -> String {
    let could = count(changes as u64, "ordering");
    format!("{could} could be weaker with this test still passing (which says nothing about other uses of this code)")
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

/// Changes whose ordering is written down as a patch, others as a remark at their place.
fn in_file<'a>(file: &'a str, changes: &'a [Change], sources: &'a Sources) -> Vec<Element<'a>> {
    let here: Vec<&Change> = changes.iter().filter(|change| change.site.place.file == file).collect();
    let Some(text) = sources.text(file) else {
        return here.iter().map(|change| origin(change)).collect();
    };
    let mut elements = Vec::new();
    let patches: Vec<Patch> =
        here.iter().filter_map(|change| Some(Patch::new(written(change, sources)?, change.to.name()))).collect();
    if !patches.is_empty() {
        elements.push(Element::Suggestion(Snippet::source(text).path(file).patches(patches)));
    }
    let elsewhere = here.iter().filter(|change| written(change, sources).is_none());
    let annotations = elsewhere.filter_map(|change| {
        let label = format!("`{}` instead of `{}`", change.to.name(), change.from.map_or("?", |from| from.name()));
        Some(AnnotationKind::Primary.span(sources.span(&change.site.place)?).label(label))
    });
    let annotations: Vec<_> = annotations.collect();
    if !annotations.is_empty() {
        elements.push(Element::Cause(Snippet::source(text).path(file).annotations(annotations)));
    }
    elements
}

fn origin(change: &Change) -> Element<'_> {
    let place = &change.site.place;
    let origin = Origin::path(place.file.as_str()).line(place.line as usize).char_column(place.column as usize);
    Element::Origin(origin)
}

/// The bytes of an ordering in the source, where it is written down at the call.
fn written(change: &Change, sources: &Sources) -> Option<Range<usize>> {
    let text = sources.text(&change.site.place.file)?;
    let start = sources.span(&change.site.place)?.start;
    let argument = argument(&text[start..], &change.site.method, change.site.argument())?;
    let words = text[start + argument.start..start + argument.end].trim_end();
    let name = words.rsplit("::").next()?.trim();
    let from = start + argument.start + words.rfind(name)?;
    (ORDERINGS.contains(&name) && change.from.is_some_and(|order| order.name() == name))
        .then(|| from..from + name.len())
}

/// The bytes of an argument of the first call of a method in a text.
fn argument(text: &str, method: &str, index: usize) -> Option<Range<usize>> {
    let called = text.match_indices(method).find(|(at, _)| {
        let before = text[..*at].chars().next_back();
        text[at + method.len()..].starts_with('(') && before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
    });
    let open = called?.0 + method.len() + 1;
    let (mut depth, mut number, mut start) = (0, 0, open);
    for (at, character) in text[open..].char_indices() {
        let at = open + at;
        let ends = depth == 0 && matches!(character, ',' | ')');
        if ends && number == index {
            return Some(start..at);
        }
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return None,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                number += 1;
                start = at + 1;
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_found() {
        let found =
            |text: &str, method, index| argument(text, method, index).map(|range| text[range].trim().to_owned());
        assert_eq!(found("self.x.load(Relaxed).y", "load", 0).as_deref(), Some("Relaxed"));
        assert_eq!(found("X.store(f(1, 2), Ordering::Release)", "store", 1).as_deref(), Some("Ordering::Release"));
        let cas = "HEAD\n    .compare_exchange(\n        a, [b, c], AcqRel,\n        Acquire,\n    )";
        assert_eq!(found(cas, "compare_exchange", 3).as_deref(), Some("Acquire"));
        assert_eq!(found("reload(x).load(y)", "load", 0).as_deref(), Some("y"));
        assert_eq!(found("a.load()", "load", 1), None);
    }
}
