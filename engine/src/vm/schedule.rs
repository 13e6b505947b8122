//! One fixed schedule: always the thread with the lowest number that can run.
//!
//! Atomics are answered from memory. A thread goes on to its next action as soon as one is answered. One that yields, sleeps or has done very much without waiting lets the others
//! go first, so that a loop which waits for another thread ends. A wait with a timeout times out only when nothing else
//! can run. The run ends when all threads have ended.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::program::{FuncId, Program};
use crate::verdict::{ErrorKind, Outcome};

use super::action::{Action, Answer, Stop};
use super::failure::Failure;
use super::image::Image;
use super::leak;
use super::thread::ThreadId;
use super::trap::Halt;
use super::world::Output;
use super::{RunOptions, Vm};

/// After so many actions in a row a thread lets others run.
const SLICE: u32 = 20_000;

/// What a run gave.
#[derive(Clone, Debug)]
pub struct Run {
    pub outcome: Outcome,
    /// Why it did not pass.
    pub failure: Option<Failure>,
    /// What it printed.
    pub output: Output,
    /// How many steps it took.
    pub steps: u64,
}

/// Runs a function without arguments, such as the entry of a test.
pub fn run(program: &Arc<Program>, entry: FuncId, options: &RunOptions) -> Run {
    run_image(&Image::of(program), entry, options)
}

/// Runs a function of a prepared program.
pub fn run_image(image: &Arc<Image>, entry: FuncId, options: &RunOptions) -> Run {
    match Vm::new(image, entry, &Arc::new(options.clone())) {
        Ok(vm) => run_vm(vm),
        Err(halt) => {
            let failure = failure_of(halt);
            Run { outcome: failure.kind.outcome(), failure: Some(*failure), output: Output::default(), steps: 0 }
        }
    }
}

/// Runs a machine to its end.
pub(super) fn run_vm(vm: Vm) -> Run {
    let mut schedule = Schedule::new(vm);
    let result = schedule.run();
    let mut vm = schedule.vm;
    let failure = match result {
        Ok(End::Complete) if vm.options.check_leaks => leak::leaks(&vm, BTreeMap::new(), &vm.image),
        Ok(_) => None,
        Err(halt) => Some(failure_of(halt)),
    };
    Run {
        outcome: failure.as_ref().map_or(Outcome::Passed, |failure| failure.kind.outcome()),
        failure: failure.map(|failure| *failure),
        steps: vm.steps(),
        output: std::mem::take(vm.world.output.get_mut()),
    }
}

/// Why a run on a fixed schedule did not go on.
fn failure_of(halt: Halt) -> Box<Failure> {
    match halt {
        Halt::Failure(failure) => failure,
        Halt::Learn(site) => unreachable!("nothing is tracked on a fixed schedule, but {site:?} is to be"),
    }
}

/// How a run ended without failure.
enum End {
    /// All threads have ended.
    Complete,
    /// Before that, as the program wanted.
    Early,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    Joining(ThreadId),
    /// Until its action is possible: somebody must write the word at the address, or leave its queue, first.
    Word {
        address: u64,
        deadline: Option<u64>,
    },
    Ended,
}

struct Schedule {
    vm: Vm,
    states: Vec<State>,
    /// Threads that let others go first.
    yielded: Vec<bool>,
    /// Actions of the current thread in a row.
    slice: u32,
    /// The queues of futexes: who waits, and whether somebody has entered it.
    queues: BTreeMap<u64, (u32, bool)>,
}

impl Schedule {
    fn new(vm: Vm) -> Schedule {
        let states = vm.threads().map(|id| if vm.ended(id) { State::Ended } else { State::Ready }).collect::<Vec<_>>();
        let yielded = vec![false; states.len()];
        Schedule { vm, states, yielded, slice: 0, queues: BTreeMap::new() }
    }

    fn run(&mut self) -> Result<End, Halt> {
        loop {
            let Some(id) = self.next_ready() else {
                if self.states.iter().all(|state| *state == State::Ended) {
                    return Ok(End::Complete);
                }
                self.time_out()?;
                continue;
            };
            self.slice = 0;
            while self.states[id.index()] == State::Ready && !self.yielded[id.index()] {
                if let Some(end) = self.step(id)? {
                    return Ok(end);
                }
            }
        }
    }

    fn next_ready(&mut self) -> Option<ThreadId> {
        let ready = |index: &usize| self.states[*index] == State::Ready;
        if let Some(index) = (0..self.states.len()).filter(ready).find(|index| !self.yielded[*index]) {
            return Some(ThreadId(index as u16));
        }
        self.yielded.fill(false);
        (0..self.states.len()).find(|index| self.states[*index] == State::Ready).map(|index| ThreadId(index as u16))
    }

    /// Lets the next visible action of a thread happen, if it can, and runs the thread on to the one after it.
    fn step(&mut self, id: ThreadId) -> Result<Option<End>, Halt> {
        if self.vm.pending(id).is_none()
            && let Some(end) = self.run_on(id)?
        {
            return Ok(Some(end));
        }
        self.slice += 1;
        if self.slice == SLICE {
            self.yielded[id.index()] = true;
        }
        let Some(action) = self.vm.pending(id) else { return Ok(None) };
        if let Some(end) = self.act(id, action)? {
            return Ok(Some(end));
        }
        let goes_on = self.vm.pending(id).is_none() && self.states[id.index()] == State::Ready;
        if goes_on { self.run_on(id) } else { Ok(None) }
    }

    /// Runs a thread to its next visible action.
    fn run_on(&mut self, id: ThreadId) -> Result<Option<End>, Halt> {
        match self.vm.run_thread(id)? {
            Stop::Action(_) => Ok(None),
            Stop::Exit(0) => Ok(Some(End::Early)),
            Stop::Exit(code) => Err(self.exit_failure(id, code).into()),
        }
    }

    fn act(&mut self, id: ThreadId, action: Action) -> Result<Option<End>, Halt> {
        let answer = match action {
            Action::Await { address, test, .. } | Action::Reach { address, test, .. }
                if !self.vm.passes(id, address, test)? =>
            {
                self.states[id.index()] = State::Word { address, deadline: None };
                return Ok(None);
            }
            Action::Load { .. } | Action::Reach { .. } => return self.vm.perform_and_answer(id).map(|()| None),
            Action::Store { address, .. }
            | Action::Rmw { address, .. }
            | Action::Cas { address, .. }
            | Action::Await { address, .. }
            | Action::Try { address, .. }
            | Action::Pick { address } => {
                self.wake_word(address);
                return self.vm.perform_and_answer(id).map(|()| None);
            }
            Action::Fence { .. } | Action::PlainLoad { .. } | Action::PlainStore { .. } | Action::Leave { .. } => {
                Answer::Done
            }
            Action::Spawn => {
                let child = self.states.len();
                self.states.push(State::Ready);
                self.yielded.push(false);
                Answer::Value(child as u128)
            }
            Action::Join { thread } if self.states[thread.index()] != State::Ended => {
                self.states[id.index()] = State::Joining(thread);
                return Ok(None);
            }
            Action::Join { .. } => Answer::Done,
            Action::QueueEnter { word } => {
                let (waiting, entered) = self.queues.entry(word).or_default();
                if *entered {
                    self.states[id.index()] = State::Word { address: word, deadline: None };
                    return Ok(None);
                }
                *entered = true;
                Answer::Value(u128::from(*waiting))
            }
            Action::QueueLeave { word, waiting } => {
                self.queues.insert(word, (waiting, false));
                self.wake_word(word);
                Answer::Done
            }
            Action::QueueWait { word, bit, timeout } => {
                if self.queues.get(&word).is_some_and(|(waiting, _)| waiting & bit != 0) {
                    let deadline = timeout.map(|timeout| timeout.end(self.vm.clock(id)));
                    self.states[id.index()] = State::Word { address: word, deadline };
                    return Ok(None);
                }
                Answer::Done
            }
            Action::Yield | Action::Spin => {
                self.yielded[id.index()] = true;
                Answer::Done
            }
            Action::Gather | Action::Model(_) => {
                let is_other = |(index, state): (usize, &State)| index != id.index() && *state != State::Ended;
                if self.states.iter().enumerate().any(is_other) {
                    self.yielded[id.index()] = true;
                    return Ok(None);
                }
                Answer::Value(0)
            }
            Action::Choose { .. } => Answer::Value(0),
            Action::Assume { holds: true } => Answer::Done,
            Action::Assume { holds: false } => return Ok(Some(End::Early)),
            Action::End => return self.end(id).map(|()| None),
        };
        self.vm.answer(id, answer)?;
        Ok(None)
    }

    /// Lets threads try again that wait for the word at this address.
    fn wake_word(&mut self, written: u64) {
        for state in &mut self.states {
            if matches!(state, State::Word { address, .. } if *address == written) {
                *state = State::Ready;
            }
        }
    }

    fn end(&mut self, id: ThreadId) -> Result<(), Halt> {
        self.vm.answer(id, Answer::Done)?;
        self.states[id.index()] = State::Ended;
        for index in 0..self.states.len() {
            if self.states[index] == State::Joining(id) {
                self.release(ThreadId(index as u16), Answer::Done)?;
            }
        }
        Ok(())
    }

    fn release(&mut self, id: ThreadId, answer: Answer) -> Result<(), Halt> {
        self.states[id.index()] = State::Ready;
        self.vm.answer(id, answer)
    }

    /// Nothing can run: the first timeout passes, if there is one. The thread sees for itself whether it was in time.
    fn time_out(&mut self) -> Result<(), Halt> {
        let deadlines = self.states.iter().enumerate().filter_map(|(index, state)| match state {
            State::Word { deadline: Some(deadline), .. } => Some((*deadline, index)),
            _ => None,
        });
        let Some((_, index)) = deadlines.min() else { return Err(self.deadlock().into()) };
        self.release(ThreadId(index as u16), Answer::Done)
    }

    fn deadlock(&self) -> Box<Failure> {
        let left = self.vm.threads().filter(|id| self.states[id.index()] != State::Ended);
        let waiting = left.map(|thread| self.vm.waiting(thread)).collect();
        Box::new(Failure::deadlock(waiting))
    }

    fn exit_failure(&self, id: ThreadId, code: i32) -> Box<Failure> {
        let message = format!("the program exits with code {code}");
        let stack = self.vm.stack_trace(id);
        Box::new(Failure::bare(ErrorKind::Abort.into(), message, id, stack))
    }
}
