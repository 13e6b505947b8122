//! JUnit's XML, as CI systems read it: a suite for each target, a case for each test and model.
//!
//! It is one document. Where it goes to a file, the file has the document about the tests so far as soon as one ends:
//! a check that is killed has left what it found.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write, stdout};
use std::os::fd::AsFd;
use std::time::Duration;

use dpor_engine::verdict::Outcome;
use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus, TestSuite};

use super::execution::Extent;
use super::explanation;
use super::printable::for_xml;
use super::source::Sources;
use super::{Details, Report, Summary, TestResult, list_names};
use crate::finding::FindingKind;
use crate::select::Selection;
use crate::style::Style;

/// Where a document goes.
pub enum Destination<W> {
    /// The last one goes there.
    Stream(W),
    /// Each goes to the same place, in place of the one before.
    File { file: File, start: u64 },
}

impl Destination<io::Stdout> {
    /// The standard output, which may be a file.
    pub fn stdout() -> Destination<io::Stdout> {
        let file = stdout().as_fd().try_clone_to_owned().map(File::from);
        let file = file.and_then(|file| file.metadata().map(|metadata| (file, metadata)));
        match file {
            Ok((file, metadata)) if metadata.is_file() => Destination::File { file, start: metadata.len() },
            _ => Destination::Stream(stdout()),
        }
    }
}

impl<W: Write> Destination<W> {
    fn replace(&mut self, text: &str) -> io::Result<()> {
        match self {
            Destination::Stream(out) => {
                out.write_all(text.as_bytes())?;
                out.flush()
            }
            Destination::File { file, start } => {
                file.set_len(*start)?;
                file.seek(SeekFrom::Start(*start))?;
                file.write_all(text.as_bytes())
            }
        }
    }
}

pub struct Junit<W> {
    out: Destination<W>,
    sources: Sources,
    trace: Extent,
    suites: Vec<(TestSuite, Duration)>,
}

impl<W: Write> Junit<W> {
    pub fn new(out: Destination<W>, sources: Sources, details: Details) -> Junit<W> {
        Junit { out, sources, trace: details.trace, suites: Vec::new() }
    }

    /// All of it.
    fn document(&self, duration: Duration) -> io::Result<String> {
        let mut report = quick_junit::Report::new("cargo-dpor");
        report.set_time(duration);
        for (suite, time) in &self.suites {
            let mut suite = suite.clone();
            suite.set_time(*time);
            report.add_test_suite(suite);
        }
        let xml = report.to_string().map_err(io::Error::other)?;
        Ok(without_skipped(&xml))
    }

    fn suite(&mut self, name: &str) -> &mut (TestSuite, Duration) {
        let known = self.suites.iter().position(|(suite, _)| suite.name.as_str() == name);
        let at = known.unwrap_or_else(|| {
            self.suites.push((TestSuite::new(name), Duration::ZERO));
            self.suites.len() - 1
        });
        &mut self.suites[at]
    }

    fn case(&mut self, result: &TestResult) -> TestCase {
        let mut case = TestCase::new(name(result), self.status(result));
        case.set_classname(result.binary.id()).set_time(result.duration);
        let failing = result.verdict.findings.iter().find_map(|finding| finding.execution.as_ref());
        if let Some(execution) = failing {
            let output = &execution.output;
            case.set_system_out(for_xml(&output.stdout)).set_system_err(for_xml(&output.stderr));
        }
        case
    }

    /// What was not explored entirely has not passed.
    fn status(&mut self, result: &TestResult) -> TestCaseStatus {
        let kind = match result.verdict.outcome {
            Outcome::Passed => return TestCaseStatus::success(),
            Outcome::Ignored => return ignored(result),
            Outcome::Failed => NonSuccessKind::Failure,
            Outcome::Incomplete | Outcome::Unsupported => NonSuccessKind::Error,
        };
        let mut status = TestCaseStatus::non_success(kind);
        if let Some(first) = result.verdict.findings.first() {
            status.set_type(first.kind.name()).set_message(message(first.kind, &first.problem.message));
        }
        let texts = result.verdict.findings.iter();
        let texts = texts.map(|finding| explanation::render(finding, &mut self.sources, self.trace, Style::plain()));
        let text = texts.collect::<Vec<_>>().join("\n");
        status.set_description(for_xml(&text));
        status
    }
}

/// What a test is called: with its model, where there are several.
fn name(result: &TestResult) -> String {
    match result.several_models {
        true => format!("{} ({})", result.test.name, result.settings.model),
        false => result.test.name.clone(),
    }
}

/// How a test was checked. Only suites have properties in the schema, so the test is part of the name.
fn properties(result: &TestResult) -> Vec<Property> {
    let (name, stats) = (name(result), &result.stats);
    let property = |key: &str, value: &str| Property::new(format!("{name}: {key}"), value);
    let mut properties = vec![
        property("model", result.settings.model.name()),
        property("executions", &stats.executions.to_string()),
        property("blocked", &stats.blocked.to_string()),
    ];
    properties.extend(result.cached.then(|| property("cached", "true")));
    properties
}

/// The report without the attribute of its root that is not in the schema.
fn without_skipped(xml: &str) -> String {
    let root = xml.find("<testsuites").unwrap_or(xml.len());
    let end = xml[root..].find('>').map_or(xml.len(), |end| root + end);
    let Some(start) = xml[root..end].find(" skipped=\"").map(|start| root + start) else { return xml.to_owned() };
    let value = start + " skipped=\"".len();
    let after = xml[value..end].find('"').map_or(end, |quote| value + quote + 1);
    format!("{}{}", &xml[..start], &xml[after..])
}

fn message(kind: FindingKind, message: &str) -> String {
    format!("{}: {}", kind.name(), for_xml(message))
}

fn ignored(result: &TestResult) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    if let Some(reason) = result.test.config.ignore.as_ref().filter(|reason| !reason.is_empty()) {
        status.set_message(for_xml(reason));
    }
    status
}

impl<W: Write> Report for Junit<W> {
    fn list(&mut self, selection: &Selection) -> io::Result<()> {
        match &mut self.out {
            Destination::Stream(out) => list_names(out, selection),
            Destination::File { file, .. } => list_names(file, selection),
        }
    }

    fn begin(&mut self, _: &Selection) -> io::Result<()> {
        Ok(())
    }

    fn test(&mut self, result: &TestResult) -> io::Result<()> {
        let case = self.case(result);
        let (suite, time) = self.suite(&result.binary.id());
        suite.add_test_case(case);
        suite.add_properties(properties(result));
        *time += result.duration;
        if let Destination::File { .. } = self.out {
            let so_far = self.suites.iter().map(|(_, time)| time).sum();
            let text = self.document(so_far)?;
            self.out.replace(&text)?;
        }
        Ok(())
    }

    fn replayed(&mut self, result: &TestResult) -> io::Result<()> {
        self.test(result)?;
        self.end(&Summary { duration: result.duration, ..Summary::default() })
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        let text = self.document(summary.duration)?;
        self.out.replace(&text)
    }
}
