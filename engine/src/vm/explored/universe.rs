//! All that one worker knows of a program: the states it is in, and everything that threads ever did.

use std::sync::Arc;

use crate::vm::action::{Action, Answer, Stop};
use crate::vm::dead::forget_dead;
use crate::vm::failure::{Failure, Fault};
use crate::vm::leak;
use crate::vm::memory::{Atomics, Observable, Races, Space, Tracking, Values, Version};
use crate::vm::thread::{Thread, ThreadId};
use crate::vm::trap::{Checked, Halt};
use crate::vm::{Vm, atomics, plain};

use super::mark;
use super::row::{Moment, Row};
use super::steps::{Cue, Done, Steps};
use super::threads::{ThreadState, Threads};
use super::view::{Atom, View};
use super::{Basis, Changes, Effect, Interpreter, Reply, Stepped, Touched, Translated};

/// The number of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowId(pub u32);

/// When what was kept takes more bytes than this, it is forgotten.
const MAX_BYTES: usize = 192 << 20;
/// How many states that are known to leak nothing are kept.
const CLEAN_KEPT: usize = 64;

/// A state that leaks nothing.
#[derive(Debug)]
struct Clean {
    threads: Vec<ThreadState>,
    versions: Vec<Version>,
    atomics: Vec<(u64, u64)>,
}

/// All that one worker knows of a program.
#[derive(Debug)]
pub struct Universe<A> {
    /// Runs threads: whatever is not known yet.
    pub vm: Vm,
    pub threads: Threads<A>,
    pub steps: Steps<A>,
    pub rows: Vec<Row>,
    vacant: Vec<RowId>,
    /// Threads that ran, with the states they are in: their buffers are used again.
    resident: Vec<(ThreadState, Option<Box<Thread>>)>,
    clean: Vec<Clean>,
    /// Whether anything that threads did is remembered.
    remember: bool,
    max_bytes: usize,
}

impl<A: Copy> Universe<A> {
    pub fn new(basis: &Basis<A>) -> Universe<A> {
        let mut vm = Vm::empty(&basis.image, &basis.options);
        let (tracked, statics) = (Arc::clone(&basis.tracked), Arc::clone(&basis.statics));
        vm.heap.tracking = Some(Box::new(Tracking { tracked, statics, ..Tracking::default() }));
        Universe {
            vm,
            threads: Threads::default(),
            steps: Steps::default(),
            rows: Vec::new(),
            vacant: Vec::new(),
            resident: Vec::new(),
            clean: Vec::new(),
            remember: basis.options.remember,
            max_bytes: MAX_BYTES,
        }
    }

    /// A row that nobody uses.
    pub fn add_row(&mut self) -> RowId {
        self.vacant.pop().unwrap_or_else(|| {
            self.rows.push(Row::default());
            RowId(self.rows.len() as u32 - 1)
        })
    }

    pub fn remove_row(&mut self, row: RowId) {
        self.vacant.push(row);
    }

    pub fn row(&self, row: RowId) -> &Row {
        &self.rows[row.0 as usize]
    }

    /// Makes a row the copy of another.
    #[inline]
    pub fn copy_row(&mut self, to: RowId, from: RowId) {
        let (to, from) = (to.0 as usize, from.0 as usize);
        match to < from {
            true => {
                let (head, tail) = self.rows.split_at_mut(from);
                head[to].clone_from(&tail[0]);
            }
            false if from < to => {
                let (head, tail) = self.rows.split_at_mut(to);
                tail[0].clone_from(&head[from]);
            }
            false => {}
        }
    }

    /// The state in which nothing has run.
    pub fn begin(&mut self, row: RowId, basis: &Basis<A>) -> Result<(), Halt> {
        self.rows[row.0 as usize] = Row { steps_left: basis.options.max_steps, ..Row::default() };
        self.enter(row, ThreadId::MAIN);
        self.vm.threads.clear();
        let started = self.vm.start_main(basis.entry);
        self.vm.heap.freeze();
        self.leave(row);
        started?;
        self.settle(row, ThreadId::MAIN);
        Ok(())
    }

    /// What a thread waits for.
    #[inline]
    pub fn pending(&self, row: RowId, id: ThreadId) -> Option<Action> {
        let frozen = self.threads.get(self.row(row).thread(id))?;
        frozen.thread.pending.map(|pending| pending.action)
    }

    /// Lets a thread run from its pending action, if there is one, to the next.
    #[inline]
    pub fn step(
        &mut self,
        row: RowId,
        cue: Cue,
        moment: Moment,
        interpreter: &impl Interpreter<A>,
    ) -> Result<Stepped<A>, Halt> {
        let at = &mut self.rows[row.0 as usize];
        let objects = &self.vm.heap.objects;
        let before = at.thread(moment.thread);
        if self.remember
            && let Some((step, done)) = self.steps.find((before, cue), at, moment, objects)
            && at.steps_left >= u64::from(done.cost)
        {
            let stepped = done.stepped;
            apply(at, moment.thread, cue, done);
            self.steps.make(step, at, moment);
            return Ok(stepped);
        }
        self.run(row, cue, moment, interpreter)
    }

    /// Lets a thread do what it has not done before.
    #[cold]
    fn run(
        &mut self,
        row: RowId,
        cue: Cue,
        moment: Moment,
        interpreter: &impl Interpreter<A>,
    ) -> Result<Stepped<A>, Halt> {
        let id = moment.thread;
        let before = self.row(row).thread(id);
        let effect = match (self.threads.action(before), cue) {
            (Some(action), Cue::Value { value, wrote }) => interpreter.effect(action, value, wrote),
            _ => Effect::Lasting,
        };
        let answer = match (self.pending(row, id), cue) {
            (Some(action), Cue::Value { value, wrote }) => match interpreter.answer(action, value, wrote) {
                Reply::Answer(answer) => Some(answer),
                Reply::Wait(action) => {
                    let (mark, changed) = (self.threads.mark(before), Changes::Nothing);
                    return Ok(Stepped {
                        action,
                        mark,
                        effect,
                        changed,
                        written: 0,
                        touched: false,
                        looked: false,
                        contended: 0,
                        in_loop: None,
                        went_on: false,
                    });
                }
            },
            _ => None,
        };
        self.enter(row, id);
        let steps_left = self.vm.steps_left;
        let ran = self.vm.resume(answer, moment, interpreter);
        let cost = steps_left - self.vm.steps_left;
        match ran {
            Ok(action) => {
                self.vm.heap.publish_written(id, &self.vm.image.globals);
                self.vm.heap.freeze();
                self.freeze_world();
                let (live, unique) = (self.vm.heap.live, self.vm.heap.objects.log.unique);
                let changed = self.vm.heap.objects.changes_by(id);
                let written = self.vm.heap.objects.written_by(id);
                let Touched { any: touched, looked, contended } = self.touched();
                self.leave(row);
                let in_loop = self.vm.place_in_loop(id);
                let spawned = self.settle_spawned(row, answer);
                let to = self.settle(row, id);
                self.threads.set_action(to, action);
                let mark = self.threads.mark(to);
                let went_on = true;
                let stepped =
                    Stepped { action, mark, effect, changed, written, touched, looked, contended, in_loop, went_on };
                self.forget_outdated_steps();
                if let (Ok(live), Ok(cost), true) = (i32::try_from(live), u32::try_from(cost), self.remember && !unique)
                {
                    let log = &self.vm.heap.objects.log;
                    let done = Done { to, spawned, live, cost, stepped };
                    self.steps.insert((before, cue), log, &self.rows[row.0 as usize], done);
                }
                self.forget_if_full();
                Ok(stepped)
            }
            Err(halt) => {
                // What was printed is part of the report.
                self.freeze_world();
                self.leave(row);
                self.drop_resident(id);
                Err(halt)
            }
        }
    }

    /// What the thread that has just run has accessed of tracked memory.
    fn touched(&self) -> Touched {
        let tracking = self.vm.heap.tracking.as_deref();
        tracking.map_or_else(Touched::default, |tracking| self.vm.heap.objects.touched(&tracking.tracked))
    }

    /// Who has accessed which memory.
    pub fn races_mut(&mut self, row: RowId) -> &mut Races {
        &mut self.rows[row.0 as usize].races
    }

    /// Notes in a row what a thread has accessed in a trial, as left out, unless others are known to contend for it. Says for what
    /// others turn out to contend because that was left out, too.
    pub fn note_left_out(&mut self, row: RowId, trial: RowId, moment: Moment) -> Option<Observable> {
        let tracking = self.vm.heap.tracking.as_deref()?;
        let mut races = std::mem::take(&mut self.rows[row.0 as usize].races);
        let (objects, tried) = (&mut self.vm.heap.objects, &mut self.rows[trial.0 as usize]);
        std::mem::swap(&mut objects.versions, &mut tried.versions);
        let is_of_interest = |piece| !objects.is_contended(piece, &tracking.tracked);
        let racing = races.note_left_out(&tried.races, moment.thread, (moment.events, moment.clock), is_of_interest);
        let source = racing.and_then(|piece| objects.origin(piece.object));
        std::mem::swap(&mut objects.versions, &mut tried.versions);
        self.rows[row.0 as usize].races = races;
        let (piece, source) = racing.zip(source)?;
        Some(Observable::Contended { source, start: piece.start, end: piece.end })
    }

    /// The failure of a thread whose pending action reads memory as it was in the beginning, if that is not
    /// initialized.
    pub fn check_initialized(&mut self, row: RowId, id: ThreadId) -> Result<(), Halt> {
        self.enter(row, id);
        let checked = self.vm.with_thread(id, |context, _| {
            let Some(pending) = context.thread.pending else { return Ok(()) };
            let checked = atomics::check_initialized(&mut context.space(), pending.action);
            checked.map_err(|trap| context.halt(*trap))
        });
        self.leave(row);
        self.drop_resident(id);
        checked
    }

    /// Takes the machine to a state in which a thread is about to run.
    fn enter(&mut self, row: RowId, id: ThreadId) {
        let row = &mut self.rows[row.0 as usize];
        let heap = &mut self.vm.heap;
        let objects = &mut heap.objects;
        objects.versions = std::mem::take(&mut row.versions);
        objects.noted = std::mem::take(&mut row.noted);
        objects.lives = std::mem::take(&mut row.lives);
        objects.races = std::mem::take(&mut row.races);
        objects.others.clear();
        objects.others.extend(row.threads.iter().map(|state| self.threads.get(*state).cloned()));
        heap.begin(id);
        self.vm.steps_left = row.steps_left;
        let state = row.thread(id);
        let objects = &mut self.vm.heap.objects;
        // A state that comes from another universe has threads that this one has not seen.
        self.vm.world.cover(row.threads.len());
        self.vm.world.for_each_cell(&mut |key, cell| {
            let object = objects.number(key);
            let version = objects.version(object);
            cell.load(version, objects.values.get(version));
        });
        self.load_thread(id, state);
    }

    /// Gives the machine a thread in a state.
    fn load_thread(&mut self, id: ThreadId, state: ThreadState) {
        self.vm.threads.iter_mut().for_each(|thread| *thread = None);
        if self.vm.threads.len() <= id.index() {
            self.vm.threads.resize_with(id.index() + 1, || None);
        }
        let Some(frozen) = self.threads.get(state).cloned() else {
            *self.vm.heap.table(id) = Default::default();
            return;
        };
        let (resident, thread) = std::mem::take(self.resident_mut(id));
        let mut thread = thread.unwrap_or_default();
        if resident != state {
            Thread::clone_from(&mut thread, &frozen.thread);
            self.vm.heap.table(id).clone_from(&frozen.table);
        }
        self.vm.threads[id.index()] = Some(thread);
    }

    fn resident_mut(&mut self, id: ThreadId) -> &mut (ThreadState, Option<Box<Thread>>) {
        if self.resident.len() <= id.index() {
            self.resident.resize_with(id.index() + 1, Default::default);
        }
        &mut self.resident[id.index()]
    }

    fn drop_resident(&mut self, id: ThreadId) {
        let thread = self.vm.threads[id.index()].take();
        *self.resident_mut(id) = (ThreadState::NONE, thread);
    }

    /// Gives a row back what the machine worked on.
    fn leave(&mut self, row: RowId) {
        let row = &mut self.rows[row.0 as usize];
        let objects = &mut self.vm.heap.objects;
        row.versions = std::mem::take(&mut objects.versions);
        row.noted = std::mem::take(&mut objects.noted);
        row.lives = std::mem::take(&mut objects.lives);
        row.races = std::mem::take(&mut objects.races);
        row.live += self.vm.heap.live;
        row.steps_left = self.vm.steps_left;
    }

    /// What was done with what threads share besides memory.
    fn freeze_world(&mut self) {
        let objects = &mut self.vm.heap.objects;
        self.vm.world.for_each_cell(&mut |key, cell| {
            let object = objects.number(key);
            if cell.was_read() {
                objects.note_read(object);
            }
            if let Some(value) = cell.changed() {
                let version = objects.values.intern(value);
                objects.set(object, version);
            }
        });
    }

    /// The thread that a spawn has made.
    fn settle_spawned(&mut self, row: RowId, answer: Option<Answer>) -> ThreadState {
        let Some(Answer::Value(value)) = answer else { return ThreadState::NONE };
        let Ok(child) = u16::try_from(value).map(ThreadId) else { return ThreadState::NONE };
        let made = self.vm.threads.get(child.index()).is_some_and(Option::is_some);
        if made && self.row(row).thread(child) == ThreadState::NONE {
            return self.settle(row, child);
        }
        ThreadState::NONE
    }

    /// Freezes a thread that has stopped.
    fn settle(&mut self, row: RowId, id: ThreadId) -> ThreadState {
        let Some(mut thread) = self.vm.threads[id.index()].take() else { return ThreadState::NONE };
        thread.stack.make_canonical();
        forget_dead(&mut thread, &self.vm.image);
        let (table, values) = self.vm.heap.table_and_values(id);
        let state = self.threads.intern(&thread, table, values);
        self.rows[row.0 as usize].set_thread(id, state);
        *self.resident_mut(id) = (state, Some(thread));
        state
    }

    /// The failure of a state in which all threads have ended, if heap blocks were leaked. `value` says what was
    /// written last to an atomic that threads share.
    pub fn leaks(&mut self, row: RowId, value: impl Fn(Atom) -> Option<u64>) -> Option<Box<Failure>> {
        if self.row(row).live == 0 {
            return None;
        }
        // Only these have room for a pointer.
        let view = self.view(row);
        let words = view.atoms().filter(|atom| atom.len == 8);
        let atomics: Vec<(u64, u64)> = words.filter_map(|atom| Some((atom.address, value(atom)?))).collect();
        let at = self.row(row);
        let known =
            |clean: &Clean| (&clean.threads, &clean.versions, &clean.atomics) == (&at.threads, &at.versions, &atomics);
        if self.remember && self.clean.iter().any(known) {
            return None;
        }
        let failure = leak::leaks(&view, atomics.iter().copied().collect(), &self.vm.image);
        if failure.is_none() {
            if self.clean.len() == CLEAN_KEPT {
                self.clean.clear();
            }
            let Row { threads, versions, .. } = self.row(row).clone();
            self.clean.push(Clean { threads, versions, atomics });
        }
        failure
    }

    /// Memory in a state.
    pub fn view(&self, row: RowId) -> View<'_, A> {
        View {
            row: self.row(row),
            threads: &self.threads,
            objects: &self.vm.heap.objects,
            globals: &self.vm.image.globals,
        }
    }

    /// Forgets what threads did, if it was kept without regard to atomics that there are now.
    pub fn forget_outdated_steps(&mut self) {
        if std::mem::take(&mut self.vm.heap.objects.outdated) {
            self.steps = Steps::default();
        }
    }

    /// Forgets what threads did, and all states that nobody is in, if that takes too much memory.
    fn forget_if_full(&mut self) {
        let objects = &self.vm.heap.objects;
        if self.threads.bytes() + self.steps.bytes() + objects.values.bytes() <= self.max_bytes {
            return;
        }
        let vacant: Vec<u32> = self.vacant.iter().map(|row| row.0).collect();
        let used = (0..self.rows.len() as u32).filter(|row| !vacant.contains(row)).map(RowId);
        let parcels: Vec<_> = used.map(|row| (row, self.export(row))).collect();
        self.vm.heap.objects.values = Values::default();
        self.vm.heap.objects.others.clear();
        (self.threads, self.steps) = (Threads::default(), Steps::default());
        self.resident.iter_mut().for_each(|(state, _)| *state = ThreadState::NONE);
        self.clean.clear();
        parcels.into_iter().for_each(|(row, parcel)| self.import(row, parcel));
        self.vm.world.for_each_cell(&mut |_, cell| cell.forget());
        // What is in use stays: there must be room for more.
        let left = self.threads.bytes() + self.vm.heap.objects.values.bytes();
        self.max_bytes = self.max_bytes.max(4 * left);
    }
}

/// Makes a step that was made before.
#[inline]
fn apply<A>(row: &mut Row, id: ThreadId, cue: Cue, done: &Done<A>) {
    row.threads[id.index()] = done.to;
    if done.spawned != ThreadState::NONE
        && let Cue::Value { value: child, .. } = cue
    {
        row.set_thread(ThreadId(child as u16), done.spawned);
    }
    row.live += i64::from(done.live);
    row.steps_left -= u64::from(done.cost);
}

impl Vm {
    /// Where a thread that has stopped is in the innermost loop of its functions, whoever has called the one that has the
    /// loop. Only if there is a loop it can come back to where it is.
    fn place_in_loop(&self, id: ThreadId) -> Option<u64> {
        let frames = &self.thread(id).frames;
        let innermost = frames.iter().rposition(|frame| self.image.code(frame.func).is_in_loop(frame.pc))?;
        Some(mark::place(&frames[innermost..]))
    }

    /// Answers the pending action of a thread, if there is one, and lets it run to the next that is one to whoever
    /// explores.
    fn resume<A>(
        &mut self,
        answer: Option<Answer>,
        moment: Moment,
        interpreter: &impl Interpreter<A>,
    ) -> Result<A, Halt> {
        let Moment { thread: id, clock, events } = moment;
        self.watch.reset();
        if self.heap.tracking.as_ref().is_some_and(|tracking| tracking.tracked.contains(Observable::Clock)) {
            self.set_causes(interpreter.causes());
        }
        if let Some(action) = self.begin(id, clock) {
            let answer = answer.unwrap_or(Answer::Done);
            // The access itself is the latest event; what follows comes after it.
            self.set_events(events.saturating_sub(1));
            self.with_thread(id, |context, _| {
                plain::record(&mut context.space(), action, answer).map_err(|trap| context.halt(*trap))
            })?;
            self.answer(id, answer)?;
        }
        self.run_on(id, events, interpreter)
    }

    /// Sets the clock; the action that a thread waits for.
    fn begin(&mut self, id: ThreadId, clock: &[u32]) -> Option<Action> {
        let thread = self.threads[id.index()].as_mut()?;
        let tracking = self.heap.tracking.as_mut()?;
        tracking.clock.clear();
        tracking.clock.extend_from_slice(clock);
        tracking.fresh.clone_from(&thread.fresh);
        thread.fresh.clear();
        thread.pending.map(|pending| pending.action)
    }

    fn set_causes(&mut self, causes: &[u32]) {
        if let Some(tracking) = &mut self.heap.tracking {
            tracking.causes.clear();
            tracking.causes.extend_from_slice(causes);
        }
    }

    fn set_events(&mut self, events: u32) {
        if let Some(tracking) = &mut self.heap.tracking {
            tracking.events = events;
        }
    }

    /// Lets a thread run to its next action that is one to whoever explores.
    fn run_on<A>(&mut self, id: ThreadId, events: u32, interpreter: &impl Interpreter<A>) -> Result<A, Halt> {
        self.set_events(events);
        loop {
            let stop = match self.pending(id) {
                Some(postponed) => Stop::Action(postponed),
                None => self.run_thread(id)?,
            };
            if let Stop::Action(action) = stop {
                self.prepare(id, action, interpreter)?;
            }
            self.keep_fresh(id);
            if let Stop::Exit(code @ (..=-1 | 1..)) = stop {
                return Err(self.exit_failure(id, code).into());
            }
            match interpreter.translate(stop, self.thread(id).life) {
                Ok(Translated::Action(action)) => return Ok(action),
                Ok(Translated::Answer(answer)) => self.answer(id, answer)?,
                Err(reason) => {
                    let fault = Fault::unsupported(reason);
                    return Err(Failure::new(fault, &self.image.program, id, self.stack_trace(id)).into());
                }
            }
        }
    }

    /// Checks that an action may be taken, and makes its memory ready for it.
    fn prepare(&mut self, id: ThreadId, action: Action, atomics: &impl Atomics) -> Result<(), Halt> {
        self.with_thread(id, |context, _| {
            let ready = ready(&mut context.space(), action, atomics);
            context.thread.life = ready.map_err(|trap| context.halt(*trap))?;
            Ok(())
        })
    }

    /// While a thread waits for the value of an atomic, what it knows of others stays.
    fn keep_fresh(&mut self, id: ThreadId) {
        let (Some(thread), Some(tracking)) = (&mut self.threads[id.index()], &mut self.heap.tracking) else { return };
        let mut waiting = thread.pending.iter().chain(&thread.postponed);
        if waiting.any(|pending| matches!(pending.action, Action::PlainLoad { .. })) {
            thread.fresh.clone_from(&tracking.fresh);
        }
    }
}

/// Checks that an action may be taken, and makes its memory ready for it; in which of its lives the atomic is that it
/// is to.
fn ready(space: &mut Space, action: Action, atomics: &impl Atomics) -> Checked<u32> {
    atomics::check(space, action)?;
    if let Action::PlainLoad { address, len } | Action::PlainStore { address, len, .. } = action {
        return space.life(address, u64::from(len));
    }
    let Some((address, width)) = action.accessed() else { return Ok(0) };
    space.ask_atomic(address, u64::from(width.bytes()), atomics)
}
