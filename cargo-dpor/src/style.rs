//! Colors, where they are wanted.

use std::env;
use std::fmt::Display;
use std::io::{IsTerminal, stderr, stdout};
use std::ops::RangeInclusive;

use anstyle::{AnsiColor, Color, Effects};
use console::Term;

use crate::args::ColorChoice;

/// Whether to write colors, and which for what.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    enabled: bool,
    width: usize,
}

/// The width that reports are made for where nothing is known of the terminal.
const WIDTH: usize = 100;
/// Narrower or wider than this, reports are not made.
const WIDTHS: RangeInclusive<usize> = 50..=160;
/// The colors of threads.
const THREADS: [AnsiColor; 6] =
    [AnsiColor::Cyan, AnsiColor::Magenta, AnsiColor::Yellow, AnsiColor::Green, AnsiColor::Blue, AnsiColor::White];

impl Style {
    pub fn for_stdout(choice: ColorChoice) -> Style {
        Style { enabled: decide(choice, stdout().is_terminal()), width: width(&Term::stdout()) }
    }

    pub fn for_stderr(choice: ColorChoice) -> Style {
        Style { enabled: decide(choice, stderr().is_terminal()), width: width(&Term::stderr()) }
    }

    /// Without colors.
    pub fn plain() -> Style {
        Style { enabled: false, width: WIDTH }
    }

    pub fn enabled(self) -> bool {
        self.enabled
    }

    /// How many columns there are.
    pub fn width(self) -> usize {
        self.width
    }

    /// What cargo's `--color` is to be.
    pub fn cargo_choice(self) -> &'static str {
        if self.enabled { "always" } else { "never" }
    }

    /// A word of cargo's column of words: `    Checking`.
    pub fn status(self, word: &str) -> String {
        self.paint(format_args!("{word:>12}"), AnsiColor::Green)
    }

    /// A word of the same column for what did not go well.
    pub fn bad_status(self, word: &str) -> String {
        self.paint(format_args!("{word:>12}"), AnsiColor::Red)
    }

    /// A word of the same column for what was left undone.
    pub fn dull_status(self, word: &str) -> String {
        self.paint(format_args!("{word:>12}"), AnsiColor::Yellow)
    }

    pub fn good(self, text: impl Display) -> String {
        self.paint(text, AnsiColor::Green)
    }

    pub fn error(self, text: impl Display) -> String {
        self.paint(text, AnsiColor::Red)
    }

    pub fn warning(self, text: impl Display) -> String {
        self.paint(text, AnsiColor::Yellow)
    }

    /// Line numbers and the lines around an excerpt.
    pub fn frame(self, text: impl Display) -> String {
        self.paint(text, AnsiColor::Blue)
    }

    /// What a thread does.
    pub fn thread(self, number: u16, text: impl Display) -> String {
        let color = THREADS[usize::from(number) % THREADS.len()];
        self.apply(text, anstyle::Style::new().fg_color(Some(Color::Ansi(color))))
    }

    /// What is there for orientation.
    pub fn dim(self, text: impl Display) -> String {
        self.apply(text, anstyle::Style::new().effects(Effects::DIMMED))
    }

    pub fn bold(self, text: impl Display) -> String {
        self.apply(text, anstyle::Style::new().bold())
    }

    fn paint(self, text: impl Display, color: AnsiColor) -> String {
        self.apply(text, anstyle::Style::new().bold().fg_color(Some(Color::Ansi(color))))
    }

    fn apply(self, text: impl Display, style: anstyle::Style) -> String {
        let text = text.to_string();
        if self.enabled && !text.trim().is_empty() { format!("{style}{text}{style:#}") } else { text }
    }
}

/// How many columns a terminal has, as `COLUMNS` or the terminal itself says.
fn width(terminal: &Term) -> usize {
    let named = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let actual = || terminal.size_checked().map(|(_, columns)| usize::from(columns));
    named.or_else(actual).map_or(WIDTH, |columns: usize| columns.clamp(*WIDTHS.start(), *WIDTHS.end()))
}

fn decide(choice: ColorChoice, terminal: bool) -> bool {
    let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if set("CLICOLOR_FORCE") => true,
        ColorChoice::Auto => terminal && !env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
    }
}
