//! Colors, where they are wanted.

use std::env;
use std::fmt::Display;
use std::io::{IsTerminal, stderr, stdout};

use anstyle::{AnsiColor, Color};

use crate::args::ColorChoice;

/// Whether to write colors, and which for what.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    enabled: bool,
}

impl Style {
    pub fn for_stdout(choice: ColorChoice) -> Style {
        Style { enabled: decide(choice, stdout().is_terminal()) }
    }

    pub fn for_stderr(choice: ColorChoice) -> Style {
        Style { enabled: decide(choice, stderr().is_terminal()) }
    }

    #[cfg(test)]
    pub fn plain() -> Style {
        Style { enabled: false }
    }

    pub fn enabled(self) -> bool {
        self.enabled
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

    pub fn bold(self, text: impl Display) -> String {
        self.apply(text, anstyle::Style::new().bold())
    }

    fn paint(self, text: impl Display, color: AnsiColor) -> String {
        self.apply(text, anstyle::Style::new().bold().fg_color(Some(Color::Ansi(color))))
    }

    fn apply(self, text: impl Display, style: anstyle::Style) -> String {
        if self.enabled { format!("{style}{text}{style:#}") } else { text.to_string() }
    }
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
