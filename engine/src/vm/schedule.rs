//! One fixed schedule: always the thread with the lowest number that can run.
//!
//! Atomics are answered from memory. A thread that yields, sleeps or has done very much without waiting lets the others
//! go first, so that a loop which waits for another thread ends. A wait with a timeout times out only when nothing else
//! can run. The run ends when all threads have ended.

use std::sync::Arc;

use crate::program::{FuncId, Program};
use crate::verdict::{ErrorKind, Outcome};

use super::action::{Action, Answer, Stop, Timeout, Woken};
use super::failure::{Failure, Note};
use super::image::Image;
use super::thread::ThreadId;
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
        Err(failure) => {
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
        Ok(End::Complete) if vm.options.check_leaks => vm.leaks(),
        Ok(_) => None,
        Err(failure) => Some(failure),
    };
    Run {
        outcome: failure.as_ref().map_or(Outcome::Passed, |failure| failure.kind.outcome()),
        failure: failure.map(|failure| *failure),
        steps: vm.steps(),
        output: std::mem::take(&mut vm.world.get_mut().output),
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
    /// Until the word at the address is 0.
    Locking(u64),
    Waiting {
        address: u64,
        bitset: u32,
        deadline: Option<u64>,
        since: u64,
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
    /// Counts waits, so that the first to wait is the first to be woken.
    waits: u64,
}

impl Schedule {
    fn new(vm: Vm) -> Schedule {
        let states = vm.threads().map(|id| if vm.ended(id) { State::Ended } else { State::Ready }).collect::<Vec<_>>();
        let yielded = vec![false; states.len()];
        Schedule { vm, states, yielded, slice: 0, waits: 0 }
    }

    fn run(&mut self) -> Result<End, Box<Failure>> {
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

    /// Runs a thread over its next visible action.
    fn step(&mut self, id: ThreadId) -> Result<Option<End>, Box<Failure>> {
        let action = match self.vm.pending(id) {
            Some(action) => action,
            None => match self.vm.run_thread(id)? {
                Stop::Action(action) => action,
                Stop::Exit(0) => return Ok(Some(End::Early)),
                Stop::Exit(code) => return Err(self.vm.exit_failure(id, code)),
            },
        };
        self.slice += 1;
        if self.slice == SLICE {
            self.yielded[id.index()] = true;
        }
        self.act(id, action)
    }

    fn act(&mut self, id: ThreadId, action: Action) -> Result<Option<End>, Box<Failure>> {
        let answer = match action {
            Action::Lock { address } => match self.vm.futex_word(id, address)? {
                0 => return self.vm.perform_and_answer(id).map(|()| None),
                _ => {
                    self.states[id.index()] = State::Locking(address);
                    return Ok(None);
                }
            },
            Action::Store { address, .. } => {
                for state in self.states.iter_mut().filter(|state| **state == State::Locking(address)) {
                    *state = State::Ready;
                }
                return self.vm.perform_and_answer(id).map(|()| None);
            }
            Action::Load { .. } | Action::Rmw { .. } | Action::Cas { .. } => {
                return self.vm.perform_and_answer(id).map(|()| None);
            }
            Action::Fence { .. } | Action::PlainLoad { .. } | Action::PlainStore { .. } => Answer::Done,
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
            Action::FutexWait { address, expected, bitset, timeout } => {
                if self.vm.futex_word(id, address)? == expected {
                    self.wait(id, address, bitset, timeout);
                    return Ok(None);
                }
                Answer::Woken(Woken::Changed)
            }
            Action::FutexWake { address, count, bitset } => {
                Answer::Value(u128::from(self.wake(address, count, bitset)?))
            }
            Action::Yield => {
                self.yielded[id.index()] = true;
                Answer::Done
            }
            Action::Choose { .. } => Answer::Value(0),
            Action::Assume { holds: true } => Answer::Done,
            Action::Assume { holds: false } => return Ok(Some(End::Early)),
            Action::End => return self.end(id).map(|()| None),
        };
        self.vm.answer(id, answer)?;
        Ok(None)
    }

    fn end(&mut self, id: ThreadId) -> Result<(), Box<Failure>> {
        self.vm.answer(id, Answer::Done)?;
        self.states[id.index()] = State::Ended;
        for index in 0..self.states.len() {
            if self.states[index] == State::Joining(id) {
                self.release(ThreadId(index as u16), Answer::Done)?;
            }
        }
        Ok(())
    }

    fn release(&mut self, id: ThreadId, answer: Answer) -> Result<(), Box<Failure>> {
        self.states[id.index()] = State::Ready;
        self.vm.answer(id, answer)
    }

    fn wait(&mut self, id: ThreadId, address: u64, bitset: u32, timeout: Option<Timeout>) {
        let deadline = timeout.map(|timeout| match timeout {
            Timeout::After(nanoseconds) => self.vm.world.get().clock.saturating_add(nanoseconds),
            Timeout::At(time) => time,
        });
        self.waits += 1;
        self.states[id.index()] = State::Waiting { address, bitset, deadline, since: self.waits };
    }

    /// Wakes those who wait at an address, the first to wait first; how many there were.
    fn wake(&mut self, address: u64, count: u32, bitset: u32) -> Result<u32, Box<Failure>> {
        let mut waiting: Vec<(u64, usize)> = Vec::new();
        for (index, state) in self.states.iter().enumerate() {
            if let State::Waiting { address: at, bitset: bits, since, .. } = state
                && *at == address
                && bits & bitset != 0
            {
                waiting.push((*since, index));
            }
        }
        waiting.sort_unstable();
        waiting.truncate(count as usize);
        for (_, index) in &waiting {
            self.release(ThreadId(*index as u16), Answer::Woken(Woken::Wake))?;
        }
        Ok(waiting.len() as u32)
    }

    /// Nothing can run: the first timeout passes, if there is one.
    fn time_out(&mut self) -> Result<(), Box<Failure>> {
        let deadlines = self.states.iter().enumerate().filter_map(|(index, state)| match state {
            State::Waiting { deadline: Some(deadline), .. } => Some((*deadline, index)),
            _ => None,
        });
        let Some((deadline, index)) = deadlines.min() else { return Err(self.deadlock()) };
        let world = self.vm.world.get_mut();
        world.clock = world.clock.max(deadline);
        self.release(ThreadId(index as u16), Answer::Woken(Woken::Timeout))
    }

    fn deadlock(&self) -> Box<Failure> {
        let waiting = |state: &State| matches!(state, State::Joining(_) | State::Locking(_) | State::Waiting { .. });
        let blocked: Vec<ThreadId> = self.vm.threads().filter(|id| waiting(&self.states[id.index()])).collect();
        let notes = blocked.iter().map(|id| self.waiting_note(*id)).collect();
        let first = blocked.first().copied().unwrap_or_default();
        let message = match blocked.len() {
            1 => format!("{} waits for ever", first.phrase()),
            count => format!("{count} threads wait for ever"),
        };
        Box::new(Failure { notes, ..*self.vm.failure(first, ErrorKind::Deadlock, message) })
    }

    fn waiting_note(&self, id: ThreadId) -> Note {
        let message = match self.states[id.index()] {
            State::Joining(other) => format!("{} waits here for the end of {}", id.phrase(), other.phrase()),
            _ => format!("{} waits here to be woken", id.phrase()),
        };
        let location = super::failure::innermost(&self.vm.stack_trace(id));
        Note { message, location, thread: Some(id) }
    }
}
