//! Programs that were explored wrongly once: those of `known.txt`, which are separated by blank lines.

use super::compare::{Setup, axiomatic, compare_with};
use super::difference::Difference;
use super::enumerate::enumerate;
use super::program::Program;
use crate::soak::Verdict;
use dpor_engine::explore::{AwaitLevel, Equivalence};
use dpor_engine::model::MemoryModel;

/// Each of them has fewer executions, and beginnings of executions, than this.
const MOST: usize = 100_000;

/// All of them.
pub fn programs() -> Vec<Program> {
    let texts = include_str!("known.txt").split("\n\n").filter(|text| text.contains("thread"));
    texts.map(|text| text.parse().unwrap_or_else(|error| panic!("{error:?}"))).collect()
}

/// What is wrong with each of them, in some model, at some level, and with one of the equivalences.
pub fn differences() -> Vec<Difference> {
    let programs = programs();
    let wrong = |program: &Program| {
        let mut models = MemoryModel::ALL.into_iter().flat_map(|model| [(model, 2), (model, 3)]);
        models.find_map(|(model, bound)| wrong(program, model, bound))
    };
    programs.iter().filter_map(wrong).collect()
}

/// What is wrong with a program under a model.
fn wrong(program: &Program, model: MemoryModel, bound: u32) -> Option<Difference> {
    let expected = enumerate(program, axiomatic(model), bound, MOST).expect("a small program");
    let levels = AwaitLevel::ALL.into_iter().flat_map(|level| Equivalence::ALL.map(|equivalence| (level, equivalence)));
    let setups = levels.flat_map(|(level, equivalence)| {
        let setup = |(workers, share_rounds)| Setup { model, bound, level, equivalence, workers, share_rounds };
        [(1, true), (2, true), (1, false)].map(setup)
    });
    setups.into_iter().find_map(|setup| match compare_with(program, setup, &expected) {
        Verdict::Agrees => None,
        Verdict::TooLarge => panic!("a small program is too large:\n{program}"),
        Verdict::Differs(wrong) => Some(Difference { setup, program: program.clone(), wrong }),
    })
}
