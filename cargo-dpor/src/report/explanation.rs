//! All there is to say of a finding, as text.

use std::fmt::Write;

use dpor_engine::program::Origin;

use super::diagnostic;
use super::execution::{self, Extent};
use super::human::count;
use super::names;
use super::source::Sources;
use crate::finding::{Execution, Finding, Frame, Problem};
use crate::style::Style;

/// The error, the active functions, the execution, and how to run it again.
pub fn render(finding: &Finding, sources: &mut Sources, extent: Extent, style: Style) -> String {
    let mut text = diagnostic::render(finding, sources, style);
    text += &stack(finding.kind.name(), &finding.problem, extent, style);
    if let Some(execution) = &finding.execution {
        text += &happened(execution, extent, style);
    }
    text
}

/// The active functions, unless the place of the error says it all: if one of them is outside of the standard library.
fn stack(kind: &str, problem: &Problem, extent: Extent, style: Style) -> String {
    let stack = shown_frames(&problem.stack, kind);
    if extent == Extent::Relevant && stack.iter().filter(|frame| frame.origin != Origin::Std).count() < 2 {
        return String::new();
    }
    let mut text = format!("{}:\n", style.bold("stack"));
    for line in fold(stack, extent) {
        writeln!(text, "{line}").expect("strings take all");
    }
    text
}

/// What happens in a failing execution. Where no thread does anything visible, the place says it all.
fn happened(execution: &Execution, extent: Extent, style: Style) -> String {
    if execution.trace.steps.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}", execution::render(&execution.trace, extent, style));
    if let Some(path) = &execution.replay {
        writeln!(text, "\n{}: cargo dpor replay {}", style.bold("replay"), path.display()).expect("strings take all");
    }
    if let Some(path) = &execution.picture {
        writeln!(text, "{}: {}", style.bold("report"), path.display()).expect("strings take all");
    }
    text
}

/// The stack without what every stack has: the library's way into the program and, for a panic, out of it.
fn shown_frames<'a>(stack: &'a [Frame], kind: &str) -> &'a [Frame] {
    let is_shown = |frame: &Frame| frame.origin != Origin::Std;
    let start = if kind == "panic" { stack.iter().position(is_shown).unwrap_or(0) } else { 0 };
    let end = stack.iter().rposition(is_shown).map_or(stack.len(), |last| last + 1);
    &stack[start..end]
}

/// A line for each function, but one for repetitions. Functions of the standard library in a row are one line, too, unless
/// everything is to be shown.
fn fold(stack: &[Frame], extent: Extent) -> Vec<String> {
    let hides = extent == Extent::Relevant;
    let same = |a: &Frame, b: &Frame| a == b || (hides && a.origin == Origin::Std && b.origin == Origin::Std);
    stack.chunk_by(same).map(|frames| line(frames, hides)).collect()
}

fn line(frames: &[Frame], hides: bool) -> String {
    let (frame, number) = (&frames[0], frames.len());
    let place = &frame.location;
    let repeated = match number {
        1 => String::new(),
        2..100 => format!(" ({number} times)"),
        // Of very deep stacks, the middle is missing.
        100.. | 0 => " (100 times or more)".to_owned(),
    };
    match frame.origin {
        Origin::Std if hides => format!("    ({} of the standard library)", count(number as u64, "function")),
        _ => {
            let function = names::without_arguments(&frame.function);
            let file = names::short_file(&place.file);
            format!("    {function} at {file}:{}:{}{repeated}", place.line, place.column)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture;

    fn frame(function: &str, origin: Origin) -> Frame {
        Frame { function: function.into(), origin, location: fixture::place(1) }
    }

    #[test]
    fn the_library_and_repetitions_are_one_line() {
        let stack = [
            frame("core::option::unwrap_failed", Origin::Std),
            frame("core::option::Option::<u8>::unwrap", Origin::Std),
            frame("pop", Origin::User),
            frame("pop", Origin::User),
            frame("std::panic::catch_unwind", Origin::Std),
            frame("tests::a", Origin::User),
        ];
        let expected = [
            "    (2 functions of the standard library)",
            "    pop at src/lib.rs:1:13 (2 times)",
            "    (1 function of the standard library)",
            "    tests::a at src/lib.rs:1:13",
        ];
        assert_eq!(fold(&stack, Extent::Relevant), expected);
        let all = fold(&stack, Extent::Full);
        assert_eq!((all.len(), all[1].as_str()), (5, "    core::option::Option::<u8>::unwrap at src/lib.rs:1:13"));
    }
}
