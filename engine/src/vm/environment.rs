//! The environment variables that a program sees, and which of them it has asked for: what a check comes to does not depend
//! on the others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::program::Digest;

/// Environment variables. Copies note together what is asked for.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: Arc<BTreeMap<String, String>>,
    asked: Arc<Mutex<Questions>>,
}

/// What was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Questions {
    /// For all variables, at once.
    all: bool,
    /// For variables by their names, whether or not they are set.
    names: BTreeSet<String>,
}

impl From<BTreeMap<String, String>> for Environment {
    fn from(variables: BTreeMap<String, String>) -> Environment {
        Environment { variables: Arc::new(variables), asked: Arc::default() }
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Environment {
        variables.into_iter().collect::<BTreeMap<_, _>>().into()
    }
}

impl Environment {
    fn asked(&self) -> MutexGuard<'_, Questions> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut asked = self.asked();
        if !asked.names.contains(name) {
            asked.names.insert(name.to_owned());
        }
        self.variables.get(name).map(String::as_str)
    }

    /// All variables, sorted.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.asked().all = true;
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// What was asked for so far.
    pub fn questions(&self) -> Questions {
        self.asked().clone()
    }

    /// What the answers to some questions are: others if and only if something would be answered in another way.
    pub fn answers(&self, questions: &Questions) -> Digest {
        let named: Vec<_> = questions.names.iter().map(|name| (name, self.variables.get(name))).collect();
        Digest::of_data(&(named, questions.all.then_some(&*self.variables)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Environment::from(variables.iter().map(own).collect::<BTreeMap<_, _>>())
    }

    #[test]
    fn answers_depend_on_what_was_asked() {
        let one = environment(&[("A", "1"), ("B", "2")]);
        assert_eq!((one.clone().get("A"), one.get("C")), (Some("1"), None));
        let questions = one.questions();
        let same = |variables: &[(&str, &str)]| environment(variables).answers(&questions) == one.answers(&questions);
        assert!(same(&[("A", "1")]) && same(&[("A", "1"), ("B", "3"), ("D", "4")]));
        assert!(!same(&[("A", "2")]) && !same(&[]) && !same(&[("A", "1"), ("C", "")]));
        assert_eq!(one.all().count(), 2);
        let questions = one.questions();
        let same = |variables: &[(&str, &str)]| environment(variables).answers(&questions) == one.answers(&questions);
        assert!(same(&[("A", "1"), ("B", "2")]) && !same(&[("A", "1"), ("B", "2"), ("D", "4")]));
    }
}
