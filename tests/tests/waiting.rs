//! Programs that wait in loops: their numbers of executions, and the errors that only some of them have.

use dpor_engine::model::MemoryModel;
use dpor_tests::explored::Explored;
use dpor_tests::{Package, explored};

#[test]
fn executions_and_errors_are_as_expected() {
    explored::assert_as_annotated(&Package::new("waiting"));
}

#[test]
fn levels_differ_in_what_is_blocked_only() {
    explored::assert_levels_agree(&Package::new("waiting"));
}

#[test]
fn steps_that_are_remembered_are_those_that_would_be_made_anew() {
    let explored = Explored::of(&Package::new("waiting"));
    explored::assert_memory_makes_no_difference(&explored, &[MemoryModel::Rc11]);
}
