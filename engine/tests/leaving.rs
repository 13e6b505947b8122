//! Waiting until all who could still write have left: who leaves when makes no difference, but what they did before does.

use dpor_engine::explore::{Answer, Config, Ending, Observer, Program, explore_with};
use dpor_engine::graph::{Action, EventId, Graph, GraphKey, Loc, MemOrder, RmwOp, Test, ThreadId, Value, Width};
use dpor_engine::model::MemoryModel;

const KEEPERS: usize = 0;
const SENT: usize = 1;
const X: usize = 2;

/// Threads that do one thing after the other, whatever the answers.
struct Script {
    threads: Vec<Vec<Action>>,
}

#[derive(Clone)]
struct State {
    done: Vec<usize>,
    keepers: usize,
    /// What each thread got, in order.
    answers: Vec<Vec<Value>>,
}

impl Script {
    fn next(&self, state: &State, thread: ThreadId) -> Action {
        let index = thread.index();
        self.threads[index].get(state.done[index]).copied().unwrap_or(Action::End)
    }
}

impl Program for Script {
    type State = State;
    type Error = String;

    fn threads(&self) -> usize {
        self.threads.len()
    }

    fn initial(&self) -> State {
        let keepers = self.threads.iter().flatten().filter(|action| matches!(action, Action::Leave { .. })).count();
        State { done: vec![0; self.threads.len()], keepers, answers: vec![Vec::new(); self.threads.len()] }
    }

    fn start(&self, state: &mut State, thread: ThreadId, _: EventId, _: &Graph) -> Action {
        self.next(state, thread)
    }

    fn resume(&self, state: &mut State, thread: ThreadId, answer: Answer<'_>) -> Action {
        if let Action::Leave { .. } = self.next(state, thread) {
            state.keepers -= 1;
        }
        state.done[thread.index()] += 1;
        state.answers[thread.index()].push(answer.value);
        self.next(state, thread)
    }

    fn initial_value(&self, _: &State, _: Loc) -> Value {
        0
    }

    fn keepers(&self, state: &State, _: Loc) -> u32 {
        state.keepers as u32
    }

    fn error(&self, _: &State, _: &Graph, _: ThreadId) -> String {
        "no thread fails".to_owned()
    }
}

/// Collects all executions: the graphs, and the answers of the last thread.
#[derive(Default)]
struct Executions {
    keys: Vec<GraphKey>,
    answers: Vec<Vec<Value>>,
    blocked: usize,
}

impl Observer<Script> for Executions {
    fn full(&mut self, graph: &Graph, state: &State, ending: Ending) {
        self.keys.push(graph.key());
        self.answers.extend(state.answers.last().cloned());
        self.blocked += usize::from(ending == Ending::Blocked);
    }
}

/// The answers that the last thread gets, sorted, one entry for each execution: the same for any number of workers.
fn answers(threads: Vec<Vec<Action>>, model: MemoryModel) -> Vec<Vec<Value>> {
    let program = Script { threads };
    let run = |workers| {
        let config = Config { workers, ..Config::new(model) };
        let (report, observers) = explore_with(&program, &config, None, Executions::default);
        assert!(report.complete && report.errors.is_empty(), "{:?}", report.errors);
        let mut answers: Vec<_> = observers.iter().flat_map(|o| o.answers.clone()).collect();
        answers.sort();
        let keys: Vec<_> = observers.iter().flat_map(|o| &o.keys).collect();
        let twice = keys.iter().enumerate().any(|(index, key)| keys[..index].contains(key));
        assert!(!twice, "{model}: an execution was found twice");
        assert_eq!(observers.iter().map(|o| o.blocked).sum::<usize>(), 0);
        answers
    };
    let expected = run(1);
    for workers in [2, 4] {
        assert_eq!(run(workers), expected, "{model}, {workers} workers");
    }
    expected
}

fn loc(n: usize) -> Loc {
    Loc::new(n)
}

fn leave() -> Action {
    Action::Leave { keepers: loc(KEEPERS) }
}

fn send() -> Action {
    let (op, width, order) = (RmwOp::Add, Width::W64, MemOrder::AcqRel);
    Action::Rmw { loc: loc(SENT), order, op, width, operand: 1 }
}

/// Waits for so many messages, or until nobody sends any more.
fn receive(count: Value) -> Action {
    let (order, test) = (MemOrder::Acquire, Test::AtLeast(count));
    Action::Reach { loc: loc(SENT), order, test, keepers: Some(loc(KEEPERS)) }
}

fn store_x() -> Action {
    Action::Store { loc: loc(X), order: MemOrder::Relaxed, value: 1 }
}

fn load_x() -> Action {
    Action::Load { loc: loc(X), order: MemOrder::Relaxed }
}

/// Nobody sends anything: one execution, however many leave.
#[test]
fn the_order_of_leaving_does_not_matter() {
    for n in 1..=5 {
        for model in MemoryModel::ALL {
            let mut threads = vec![vec![leave()]; n];
            threads.push(vec![receive(1)]);
            assert_eq!(answers(threads, model), [[0]], "{n} keepers under {model}");
        }
    }
}

/// Who waits for what never comes sees all that those who left did before.
#[test]
fn what_was_done_before_leaving_is_seen() {
    for model in MemoryModel::ALL {
        let threads = vec![vec![leave()], vec![store_x(), leave()], vec![receive(1), load_x()]];
        assert_eq!(answers(threads, model), [[0, 1]], "{model}");
    }
}

/// What comes after leaving may be seen or not.
#[test]
fn what_was_done_after_leaving_may_be_seen() {
    for model in MemoryModel::ALL {
        let threads = vec![vec![leave(), store_x()], vec![leave()], vec![receive(1), load_x()]];
        assert_eq!(answers(threads, model), [[0, 0], [0, 1]], "{model}");
    }
}

/// n threads send a message each and leave: n! orders of the messages. Who waits for one message more gets to know that
/// there are no more.
#[test]
fn messages_come_in_any_order() {
    for (n, orders) in [(1, 1), (2, 2), (3, 6), (4, 24)] {
        for model in MemoryModel::ALL {
            let mut threads = vec![vec![send(), leave()]; n];
            threads.push((1..=n as Value + 1).map(receive).collect());
            let all: Vec<Value> = (1..=n as Value).chain([n as Value]).collect();
            assert_eq!(answers(threads, model), vec![all; orders], "{n} senders under {model}");
        }
    }
}

/// A thread that leaves cannot have read what is written only after all have left; but what it reads from others is seen
/// afterwards. Of two reads of x, by one who leaves and by who waits for that, the second does not see less: 3 ways.
#[test]
fn reads_before_leaving_are_revisited() {
    for model in MemoryModel::ALL {
        let threads = vec![vec![load_x(), leave()], vec![receive(1), store_x()]];
        assert_eq!(answers(threads, model).len(), 1, "{model}");
        let threads = vec![vec![store_x()], vec![load_x(), leave()], vec![receive(1), load_x()]];
        assert_eq!(answers(threads, model), [[0, 0], [0, 1], [0, 1]], "{model}");
        // In the other order of threads, the one who leaves comes first.
        let threads = vec![vec![load_x(), leave()], vec![store_x()], vec![receive(1), load_x()]];
        assert_eq!(answers(threads, model), [[0, 0], [0, 1], [0, 1]], "{model}");
    }
}
