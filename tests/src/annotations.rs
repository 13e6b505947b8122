//! What the comments in programs say must be found.
//!
//! A comment belongs to the test above it.
//!
//! - `// ERROR: kind`: an error of that kind, in this line where the comment follows code, else in the next one. Where there
//!   are two such comments, as with data races, the error is in one of the lines and a note to it names the other.
//! - `// OUTCOME: name`: another outcome.
//! - `// MODELS: model …`: the error, or outcome, is there under these models only; under others the test passes.
//! - `// COUNT: model n …`: so many executions, none of them blocked; `n+m` where `m` more are blocked, `n+?` where some are
//!   that need not be; `n..` where more are explored than need be.
//! - `// READS-FROM: model n …`: the same under reads-from equivalence.
//! - `// SYMMETRY: model n …`: the same where threads that are alike are explored in one order.
//! - `// COMMUTE: model n …`: the same where updates that commute are explored in one order.
//! - `// LEVELS: level n …`: the same under RC11 at a level of `--await`, an error counting as an execution.
//!
//! A test without any of the first two passes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use dpor_engine::explore::{Config, Equivalence};

/// What a test must come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    Passed,
    /// An error of this kind, in one of these lines.
    Error {
        kind: String,
        lines: Vec<u32>,
    },
    /// Another outcome.
    Outcome(String),
}

/// How many executions a test has under a model, or at a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    pub of: String,
    pub executions: u64,
    /// None where any number will do.
    pub blocked: Option<u64>,
    /// Whether there may be more.
    pub at_least: bool,
}

impl Count {
    /// Whether these numbers of executions, and of blocked ones, are as they must be.
    pub fn is(&self, executions: u64, blocked: u64) -> bool {
        let enough = if self.at_least { self.executions <= executions } else { self.executions == executions };
        enough && self.blocked.is_none_or(|wanted| wanted == blocked)
    }
}

/// All that is said about a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The file that the test is in.
    pub file: String,
    pub expected: Expected,
    /// The models under which that is expected, where they are not all.
    pub models: Option<Vec<String>>,
    pub counts: Vec<Count>,
    /// The counts under reads-from equivalence.
    pub reads_from: Vec<Count>,
    /// The counts where threads that are alike are explored in one order.
    pub symmetric: Vec<Count>,
    /// The counts where updates that commute are explored in one order.
    pub commuting: Vec<Count>,
    pub levels: Vec<Count>,
}

impl Annotation {
    /// What the test must come to under a model.
    pub fn under(&self, model: &str) -> &Expected {
        match &self.models {
            Some(models) if models.iter().all(|name| name != model) => &Expected::Passed,
            _ => &self.expected,
        }
    }

    /// How many executions it must have under a model, where that is said.
    pub fn count(&self, model: &str, equivalence: Equivalence) -> Option<&Count> {
        let counts = match equivalence {
            Equivalence::Trace => &self.counts,
            Equivalence::ReadsFrom => &self.reads_from,
        };
        counts.iter().find(|count| count.of == model)
    }

    /// How many it must have under a model if threads that are alike, or updates that commute, are explored in one order.
    pub fn reduced_count(&self, model: &str, config: &Config) -> Option<&Count> {
        let counts = if config.symmetry { &self.symmetric } else { &self.commuting };
        counts.iter().find(|count| count.of == model)
    }

    /// How many executions it must have at a level, where that is said.
    pub fn level(&self, level: &str) -> Option<&Count> {
        self.levels.iter().find(|count| count.of == level)
    }
}

/// What is said about all tests in the modules of a library, by the test's name.
pub fn read(directory: &Path) -> BTreeMap<String, Annotation> {
    let mut tests = BTreeMap::new();
    for entry in fs::read_dir(directory.join("src")).expect("a directory of sources") {
        let path = entry.expect("an entry").path();
        let module = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        let source = fs::read_to_string(&path).expect("a source file");
        for (test, annotation) in parse(&source, &format!("src/{module}.rs")) {
            tests.insert(format!("{module}::{test}"), annotation);
        }
    }
    tests
}

fn parse(source: &str, file: &str) -> Vec<(String, Annotation)> {
    let mut tests: Vec<(String, Annotation)> = Vec::new();
    let mut named = true;
    for (line, number) in source.lines().zip(1..) {
        if line.starts_with("#[dpor::test") {
            let (file, expected) = (file.to_owned(), Expected::Passed);
            let annotation = Annotation {
                file,
                expected,
                models: None,
                counts: vec![],
                reads_from: vec![],
                symmetric: vec![],
                commuting: vec![],
                levels: vec![],
            };
            tests.push((String::new(), annotation));
            named = false;
            continue;
        }
        let Some((name, annotation)) = tests.last_mut() else { continue };
        annotate(annotation, line, number);
        if let Some(signature) = line.strip_prefix("fn ")
            && !named
        {
            *name = signature.split('(').next().unwrap_or_default().to_owned();
            named = true;
        }
    }
    tests
}

/// Adds what a line says.
fn annotate(annotation: &mut Annotation, line: &str, number: u32) {
    if let Some((code, kind)) = line.split_once("// ERROR: ") {
        let line = if code.trim().is_empty() { number + 1 } else { number };
        let mut lines = match &mut annotation.expected {
            Expected::Error { kind: other, lines } if other == kind => std::mem::take(lines),
            Expected::Passed => Vec::new(),
            other => panic!("{other:?}, and another error in line {number}"),
        };
        lines.push(line);
        annotation.expected = Expected::Error { kind: kind.to_owned(), lines };
    } else if let Some((_, outcome)) = line.split_once("// OUTCOME: ") {
        annotation.expected = Expected::Outcome(outcome.to_owned());
    } else if let Some((_, models)) = line.split_once("// MODELS: ") {
        annotation.models = Some(models.split_whitespace().map(str::to_owned).collect());
    } else if let Some((_, text)) = line.split_once("// COUNT: ") {
        annotation.counts = counts(text);
    } else if let Some((_, text)) = line.split_once("// READS-FROM: ") {
        annotation.reads_from = counts(text);
    } else if let Some((_, text)) = line.split_once("// SYMMETRY: ") {
        annotation.symmetric = counts(text);
    } else if let Some((_, text)) = line.split_once("// COMMUTE: ") {
        annotation.commuting = counts(text);
    } else if let Some((_, text)) = line.split_once("// LEVELS: ") {
        annotation.levels = counts(text);
    }
}

fn counts(text: &str) -> Vec<Count> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.chunks(2).map(|pair| count(pair[0], pair[1])).collect()
}

fn count(of: &str, numbers: &str) -> Count {
    let number = |text: &str| text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    let at_least = numbers.strip_suffix("..");
    let (executions, blocked) = match at_least {
        Some(least) => (least, "?"),
        None => numbers.split_once('+').unwrap_or((numbers, "0")),
    };
    let blocked = (blocked != "?").then(|| number(blocked));
    Count { of: of.to_owned(), executions: number(executions), blocked, at_least: at_least.is_some() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(source: &str) -> Vec<(String, Expected)> {
        parse(source, "").into_iter().map(|(name, annotation)| (name, annotation.expected)).collect()
    }

    #[test]
    fn comments_belong_to_the_test_above() {
        let source = "#[dpor::test]\nfn first() {\n    helper();\n}\n\nfn helper() {\n    bad(); // ERROR: abort\n}\n\n\
                      #[dpor::test(expect = \"panic\")]\n#[allow(x)]\nfn second() {}\n\n\
                      #[dpor::test]\nfn third() {\n    // ERROR: panic\n    if bad() {}\n    bad(); // ERROR: panic\n}\n";
        let error = |kind: &str, lines: &[u32]| Expected::Error { kind: kind.into(), lines: lines.into() };
        let wanted =
            [("first", error("abort", &[7])), ("second", Expected::Passed), ("third", error("panic", &[17, 18]))];
        assert_eq!(expected(source), wanted.map(|(name, expected)| (name.to_owned(), expected)));
    }

    #[test]
    fn errors_are_under_some_models_and_counts_differ() {
        let source = "#[dpor::test]\nfn test() {\n    // MODELS: rc11 tso\n    // COUNT: sc 3 pso 4+12\n    // OUTCOME: x\n\
             // READS-FROM: sc 2\n// LEVELS: off 1+2 stale 1+? in-place 8..\n}\n";
        let (_, test) = parse(source, "src/a.rs").pop().unwrap();
        assert_eq!(*test.under("tso"), Expected::Outcome("x".into()));
        assert_eq!(*test.under("sc"), Expected::Passed);
        let trace = |model| test.count(model, Equivalence::Trace);
        assert_eq!(trace("rc11"), None);
        assert_eq!(trace("pso"), Some(&Count { of: "pso".into(), executions: 4, blocked: Some(12), at_least: false }));
        assert!(trace("sc").is_some_and(|count| count.is(3, 0) && !count.is(3, 1)));
        assert_eq!(test.count("sc", Equivalence::ReadsFrom).map(|count| count.executions), Some(2));
        assert!(test.level("off").is_some_and(|count| count.is(1, 2) && !count.is(1, 0)));
        assert!(test.level("stale").is_some_and(|count| count.is(1, 0) && count.is(1, 5)));
        assert!(test.level("in-place").is_some_and(|count| count.is(8, 9) && !count.is(7, 0)));
        assert_eq!(test.level("full"), None);
    }
}
