//! The options of one test, as its `#[dpor::test(…)]` and its other attributes give them.
//!
//! The macro writes them as lines `key=value`, with `\n` and `\\` escaped in values; see the `dpor` crate.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::verdict::ErrorKind;

/// The options that a test itself sets; the command line decides the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestConfig {
    pub model: Option<String>,
    pub buffer_bound: Option<u32>,
    pub equivalence: Option<String>,
    /// The error that the test must have.
    pub expect: Option<ErrorKind>,
    pub unroll: Option<u32>,
    pub max_executions: Option<u64>,
    pub spurious: Option<bool>,
    /// The errors that are accepted, with commas between them.
    pub allow: Option<String>,
    pub should_panic: Option<ShouldPanic>,
    /// The reason why the test is ignored, empty where none is given.
    pub ignore: Option<String>,
}

/// `#[should_panic]`, with the text that the message must contain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShouldPanic {
    pub expected: String,
}

/// The options of a test cannot be read: the `dpor` crate and the checker do not fit together.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("cannot read the option `{line}` of a test: use the version of the `dpor` crate that belongs to cargo-dpor")]
pub struct ConfigError {
    line: String,
}

impl TestConfig {
    /// Reads the lines that the macro wrote.
    pub fn parse(text: &str) -> Result<TestConfig, ConfigError> {
        let mut config = TestConfig::default();
        for line in text.lines() {
            config.set(line).ok_or_else(|| ConfigError { line: line.to_owned() })?;
        }
        Ok(config)
    }

    fn set(&mut self, line: &str) -> Option<()> {
        let (key, value) = line.split_once('=')?;
        let value = unescape(value);
        match key {
            "model" => self.model = Some(value),
            "buffer_bound" => self.buffer_bound = Some(value.parse().ok()?),
            "equivalence" => self.equivalence = Some(value),
            "expect" => self.expect = Some(ErrorKind::from_name(&value)?),
            "unroll" => self.unroll = Some(value.parse().ok()?),
            "max_executions" => self.max_executions = Some(value.parse().ok()?),
            "spurious" => self.spurious = Some(value.parse().ok()?),
            "allow" => self.allow = Some(value),
            "should_panic" => self.should_panic = Some(ShouldPanic { expected: value }),
            "ignore" => self.ignore = Some(value),
            _ => return None,
        }
        Some(())
    }
}

fn unescape(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some(other) => text.push(other),
                None => {}
            },
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_macro_writes() {
        let config =
            TestConfig::parse("model=tso\nbuffer_bound=2\nexpect=data-race\nshould_panic=a\\nb\\\\\nignore=").unwrap();
        assert_eq!(config.model.as_deref(), Some("tso"));
        assert_eq!(config.buffer_bound, Some(2));
        assert_eq!(config.expect, Some(ErrorKind::DataRace));
        assert_eq!(config.should_panic.unwrap().expected, "a\nb\\");
        assert_eq!(config.ignore.as_deref(), Some(""));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        assert!(TestConfig::parse("speed=9").is_err());
        assert!(TestConfig::parse("unroll=many").is_err());
        assert!(TestConfig::parse("nonsense").is_err());
    }
}
