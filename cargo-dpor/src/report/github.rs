//! For GitHub's workflows: the text for people, and an annotation at the line of each error.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use dpor_engine::verdict::Location;

use super::human::Human;
use super::names;
use super::printable::{WithoutCommands, for_terminal};
use super::{Report, Summary, TestResult};
use crate::finding::Finding;
use crate::select::Selection;

pub struct Github<W: Write> {
    human: Human<WithoutCommands<W>>,
    root: PathBuf,
    /// The directory that GitHub's paths are relative to.
    repository: Option<PathBuf>,
}

impl<W: Write> Github<W> {
    pub fn new(human: Human<WithoutCommands<W>>, root: &Path, repository: Option<PathBuf>) -> Github<W> {
        Github { human, root: root.to_owned(), repository }
    }

    fn annotate(&mut self, finding: &Finding, result: &TestResult) -> io::Result<()> {
        let problem = &finding.problem;
        let mut properties = Vec::new();
        if let Some((file, Location { line, column, .. })) = self.nearest(finding, result) {
            properties.push(format!("file={},line={line},col={column}", escape_property(&file)));
        }
        let title = format!("{}: {} ({})", finding.kind.name(), result.test.name, result.settings.model);
        properties.push(format!("title={}", escape_property(&title)));
        let elsewhere = problem.location.as_ref().filter(|place| self.within(&place.file).is_none());
        let elsewhere = elsewhere.map(|place| format!("\nin {}:{}", names::short_file(&place.file), place.line));
        let notes = problem.notes.iter().map(|note| match &note.location {
            Some(place) => format!("\n{}:{}: {}", self.path(&place.file), place.line, note.message),
            None => format!("\n{}", note.message),
        });
        let message = format!("{}{}{}", problem.message, elsewhere.unwrap_or_default(), notes.collect::<String>());
        self.human.out().command(&format!("::error {}::{}", properties.join(","), escape_message(&message)))
    }

    /// The place of an error in the repository: where an error in a dependency was called from, or else the test.
    fn nearest(&self, finding: &Finding, result: &TestResult) -> Option<(String, Location)> {
        let location = finding.problem.location.clone()?;
        let callers = finding.problem.stack.iter().map(|frame| frame.location.clone());
        let test = std::iter::once_with(|| result.binary.program.location(result.test.place));
        let mut places = std::iter::once(location.clone()).chain(callers).chain(test);
        let nearest = places.find_map(|place| Some((self.within(&place.file)?, place)));
        nearest.or_else(|| Some((names::short_file(&location.file).to_owned(), location.clone())))
    }

    /// A path as it is in the repository, if it is there. Without a repository, that is the workspace.
    fn within(&self, file: &str) -> Option<String> {
        let whole = self.root.join(file);
        let within = match &self.repository {
            Some(repository) => whole.strip_prefix(repository).ok()?,
            None => whole.strip_prefix(&self.root).ok()?,
        };
        Some(within.display().to_string())
    }

    /// A path as it is in the repository, or else as reports call it.
    fn path(&self, file: &str) -> String {
        self.within(file).unwrap_or_else(|| names::short_file(file).to_owned())
    }
}

/// As GitHub wants it in messages.
fn escape_message(text: &str) -> String {
    for_terminal(text).replace('%', "%25").replace('\n', "%0A")
}

/// As GitHub wants it in properties.
fn escape_property(text: &str) -> String {
    escape_message(text).replace(':', "%3A").replace(',', "%2C")
}

impl<W: Write> Report for Github<W> {
    fn list(&mut self, selection: &Selection) -> io::Result<()> {
        self.human.list(selection)
    }

    fn begin(&mut self, selection: &Selection) -> io::Result<()> {
        self.human.begin(selection)
    }

    fn test(&mut self, result: &TestResult) -> io::Result<()> {
        self.human.test(result)?;
        for finding in &result.verdict.findings {
            self.annotate(finding, result)?;
        }
        Ok(())
    }

    fn replayed(&mut self, result: &TestResult) -> io::Result<()> {
        self.human.replayed(result)?;
        for finding in &result.verdict.findings {
            self.annotate(finding, result)?;
        }
        Ok(())
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        self.human.end(summary)
    }
}

#[cfg(test)]
mod tests {
    use dpor_engine::verdict::Outcome;

    use super::*;
    use crate::finding::Frame;
    use crate::report::{Details, Sources, fixture};
    use crate::style::Style;
    use dpor_engine::program::Origin;

    /// An error in a dependency is annotated where the repository calls it, and says where it is.
    #[test]
    fn errors_in_dependencies_are_at_the_nearest_line() {
        let (binary, test) = (fixture::binary(), fixture::test(""));
        let mut finding = fixture::finding();
        let registry = "/home/me/.cargo/registry/src/example.org-1949cf8c6b5b557f/spin-0.5.1/src/rw_lock.rs";
        let place = Location { file: registry.into(), line: 361, column: 9 };
        let inner = Frame { function: "spin::drop".into(), origin: Origin::Dependency, location: place.clone() };
        finding.problem.location = Some(place);
        finding.problem.stack.insert(0, inner);
        let result = fixture::result(&binary, &test, Outcome::Failed, vec![finding]);
        let mut out = Vec::new();
        let root = Path::new("/home/me/repository");
        let human = Human::new(
            WithoutCommands::new(&mut out),
            Style::plain(),
            Sources::new(root.to_owned()),
            Details::default(),
        );
        Github::new(human, root, Some(root.into())).test(&result).unwrap();
        let text = String::from_utf8(out).unwrap();
        let annotation = text.lines().last().unwrap();
        assert!(annotation.starts_with("::error file=src/lib.rs,line=41,col=13,"), "{annotation}");
        assert!(annotation.contains("%0Ain spin-0.5.1/src/rw_lock.rs:361"), "{annotation}");
    }

    #[test]
    fn annotations_are_at_the_line_in_the_repository() {
        let (binary, test) = (fixture::binary(), fixture::test("model=tso"));
        let mut finding = fixture::finding();
        finding.problem.message = "100% gone,\nfor good: yes".into();
        let result = fixture::result(&binary, &test, Outcome::Failed, vec![finding]);
        let mut out = Vec::new();
        let root = Path::new("/home/me/repository/crates/stack");
        let human = Human::new(
            WithoutCommands::new(&mut out),
            Style::plain(),
            Sources::new(root.to_owned()),
            Details::default(),
        );
        Github::new(human, root, Some("/home/me/repository".into())).test(&result).unwrap();
        let text = String::from_utf8(out).unwrap();
        let annotation = text.lines().last().unwrap();
        assert_eq!(
            annotation,
            "::error file=crates/stack/src/lib.rs,line=41,col=13,title=use-after-free%3A tests%3A%3Apops (tso)\
             ::100%25 gone,%0Afor good: yes%0Acrates/stack/src/lib.rs:40: freed here"
        );
    }
}
