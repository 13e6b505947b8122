//! Errors that are accepted: what their authors call intended.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Failure, FailureKind, StackFrame};
use crate::verdict::{ErrorKind, Location};

/// Errors of a kind that are accepted: all of them, or those that have a text in the name of an active function, or
/// in the place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowed {
    pub kind: ErrorKind,
    pub pattern: Option<String>,
}

/// The text names no errors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no errors: expected the kind of an error, or `KIND in PATTERN`, as in `data-race in seqlock::`")]
pub struct UnknownErrors(String);

impl FromStr for Allowed {
    type Err = UnknownErrors;

    /// `KIND`, `KIND=PATTERN` or `KIND in PATTERN`.
    fn from_str(text: &str) -> Result<Allowed, UnknownErrors> {
        let parts = text.split_once('=').or_else(|| text.split_once(" in "));
        let (kind, pattern) = parts.map_or((text, None), |(kind, pattern)| (kind, Some(pattern.trim().to_owned())));
        let kind = ErrorKind::from_name(kind.trim()).filter(|_| pattern.as_deref() != Some(""));
        kind.map(|kind| Allowed { kind, pattern }).ok_or_else(|| UnknownErrors(text.to_owned()))
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pattern {
            Some(pattern) => write!(f, "{} in {pattern}", self.kind.name()),
            None => f.write_str(self.kind.name()),
        }
    }
}

impl Allowed {
    /// Those in a list with commas between them.
    pub fn list(text: &str) -> Result<Vec<Allowed>, UnknownErrors> {
        text.split(',').map(|part| part.trim().parse()).collect()
    }

    /// Whether a failure is one of these errors.
    pub fn covers(&self, failure: &Failure) -> bool {
        let places = failure.location.iter().chain(failure.notes.iter().filter_map(|note| note.location.as_ref()));
        failure.kind == FailureKind::Error(self.kind) && self.fits(&failure.stack, places)
    }

    /// Whether an error of this kind is one of these that a thread with this stack runs into.
    pub fn covers_kind(&self, kind: ErrorKind, stack: &[StackFrame]) -> bool {
        self.kind == kind && self.fits(stack, stack.iter().map(|frame| &frame.location))
    }

    fn fits<'a>(&self, stack: &[StackFrame], mut places: impl Iterator<Item = &'a Location>) -> bool {
        let Some(pattern) = &self.pattern else { return true };
        stack.iter().any(|frame| frame.function.contains(pattern))
            || places.any(|place| format!("{}:{}", place.file, place.line).contains(pattern))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Origin;

    #[test]
    fn kinds_with_and_without_a_pattern_are_read() {
        let all = Allowed { kind: ErrorKind::MemoryLeak, pattern: None };
        assert_eq!("memory-leak".parse(), Ok(all.clone()));
        let some = Allowed { kind: ErrorKind::DataRace, pattern: Some("seqlock::".to_owned()) };
        assert_eq!("data-race in seqlock::".parse(), Ok(some.clone()));
        assert_eq!("data-race=seqlock::".parse(), Ok(some.clone()));
        assert_eq!(some.to_string().parse(), Ok(some.clone()));
        assert_eq!(Allowed::list("memory-leak, data-race in seqlock::"), Ok(vec![all, some]));
        for text in ["", "leak", "data-race in ", "data-race=", "in seqlock::", "memory-leak,"] {
            assert!(Allowed::list(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_pattern_is_in_the_name_of_a_function_or_in_the_place() {
        let location = Location { file: "src/seqlock.rs".into(), line: 7, column: 1 };
        let function = "crate::seqlock::read".to_owned();
        let stack = [StackFrame { function, origin: Origin::User, location }];
        let covers = |text: &str| text.parse::<Allowed>().unwrap().covers_kind(ErrorKind::DataRace, &stack);
        assert!(covers("data-race") && covers("data-race in seqlock::") && covers("data-race in src/seqlock.rs:7"));
        assert!(!covers("data-race in other::") && !covers("panic") && !covers("memory-leak in seqlock::"));
    }
}
