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

/// What is known of a loop holds for all callers of the function that has it.
#[test]
fn a_loop_is_learned_once_for_all_callers() {
    let explored = Explored::of(&Package::new("waiting"));
    let restarts = |name: &str| {
        let test = explored.tests().iter().find(|test| test.name == name).expect("a test of this name");
        explored.check(test, MemoryModel::Rc11, 1).restarts.len()
    };
    let (one, four) = (
        restarts("confirmations::four_counters_at_one_place"),
        restarts("confirmations::four_counters_at_four_places"),
    );
    assert!(four <= one, "{four} restarts for four callers, {one} for one");
}
