//! Every execution can be written down and run again: it comes out the same, and a change of the program is noticed.

mod programs;

use dpor_engine::explore::{Config, Diverged, Ending, Equivalence, Observer, Schedule, explore_with, replay};
use dpor_engine::graph::{Graph, GraphKey};
use dpor_engine::litmus::{Litmus, LitmusState};
use dpor_engine::model::MemoryModel;
use dpor_reference::generate::{Loops, Shape, program};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

/// Writes down all full executions.
#[derive(Default)]
struct Schedules(Vec<(Schedule, GraphKey)>);

impl Observer<Litmus> for Schedules {
    fn full(&mut self, graph: &Graph, _: &LitmusState, _: Ending) {
        self.0.push((Schedule::of(graph), graph.key()));
    }
}

fn through_json(schedule: &Schedule) -> Schedule {
    serde_json::from_str(&serde_json::to_string(schedule).expect("plain data")).expect("what was written")
}

/// All executions of the program, and the one with an error if there is one, come out the same. Under reads-from
/// equivalence they do with the coherence order of their witness.
fn replays(program: &Litmus) -> Result<(), TestCaseError> {
    for (model, equivalence) in MemoryModel::ALL.into_iter().flat_map(|model| Equivalence::ALL.map(|e| (model, e))) {
        let config = Config { equivalence, ..Config::new(model) };
        let (report, observers) = explore_with(program, &config, None, Schedules::default);
        for (schedule, key) in observers.into_iter().flat_map(|observer| observer.0) {
            let mut seen = Vec::new();
            let replayed = replay(program, &through_json(&schedule), |_, _, id| seen.push(id.index())).unwrap();
            prop_assert_eq!(replayed.graph.key(), key);
            prop_assert!(replayed.failure.is_none());
            prop_assert_eq!(seen, (1..=schedule.len()).collect::<Vec<_>>());
        }
        for found in &report.errors {
            let replayed = replay(program, &through_json(&found.schedule()), |_, _, _| ()).unwrap();
            prop_assert_eq!(replayed.failure.as_ref(), Some(&found.failure));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn accesses_fences_and_branches(prog in program(Shape { events: 9, ..Shape::plain_atomics() })) {
        replays(&prog.litmus())?;
    }

    #[test]
    fn locks_choices_and_spawned_threads(
        prog in program(Shape { threads: 3, events: 8, spawned: true, waiting: true, ..Shape::plain_atomics() })
    ) {
        replays(&prog.litmus())?;
    }

    #[test]
    fn primitives_and_loops(
        prog in program(Shape {
            threads: 3, locations: 2, events: 8, primitives: true, loops: Loops::All, ..Shape::plain_atomics()
        })
    ) {
        replays(&prog.litmus())?;
    }

    #[test]
    fn data_races(prog in program(Shape { events: 8, plain: true, ..Shape::plain_atomics() })) {
        replays(&prog.litmus())?;
    }
}

#[test]
fn another_program_is_noticed() {
    let schedules = |program: &Litmus| {
        let (_, observers) = explore_with(program, &Config::new(MemoryModel::Rc11), None, Schedules::default);
        observers.into_iter().flat_map(|observer| observer.0).map(|(schedule, _)| schedule).collect::<Vec<_>>()
    };
    let recorded = schedules(&programs::inc(3)).pop().unwrap();
    assert_eq!(recorded.len(), 6);
    // The first event is not an update; there are not three threads; there is no event 7 to read from.
    let diverged = |program: &Litmus| replay(program, &recorded, |_, _, _| ()).map(|_| ()).unwrap_err();
    assert_eq!(diverged(&programs::ainc(3)), Diverged { event: 1 });
    assert_eq!(diverged(&programs::inc(2)), Diverged { event: 0 });
    let damaged = serde_json::to_string(&recorded).unwrap().replace("\"rf\":0", "\"rf\":7");
    let damaged: Schedule = serde_json::from_str(&damaged).unwrap();
    assert!(replay(&programs::inc(3), &damaged, |_, _, _| ()).is_err());
}

#[test]
fn an_execution_without_its_end_has_no_failure() {
    let report = explore_with(&programs::inc(2), &Config::new(MemoryModel::Rc11), None, Schedules::default).1;
    let (schedule, _) = &report[0].0[0];
    let mut json = serde_json::to_value(schedule).unwrap();
    json["events"].as_array_mut().unwrap().pop();
    let cut: Schedule = serde_json::from_value(json).unwrap();
    let replayed = replay(&programs::inc(2), &cut, |_, _, _| ()).unwrap();
    assert!(replayed.failure.is_none());
}
