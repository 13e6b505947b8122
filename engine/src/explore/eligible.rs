//! Which updates may be blind: those whose thread goes on alike, whichever of the others come before.
//!
//! An update is eligible to be blind after a cut if its thread is in the same state, and does the same next, for every value that
//! the update may find after this cut and after every smaller one. Hence what is blind stays so when others are deleted.

use super::program::Program;
use super::trial::{Course, Origin, Reply};
use super::visit::Visitor;
use crate::graph::{Action, Event, EventId, Loc, ThreadId, Value, contains};
use crate::model::Model;

/// Where there are more cuts than this, an update is not eligible to be blind.
const MAX_CUTS: usize = 5_000;
/// Where an update may find more values than this, it is not eligible to be blind.
const MAX_VALUES: usize = 64;

/// An update that may be blind.
#[derive(Clone, Debug)]
pub(super) struct Update {
    pub thread: ThreadId,
    pub action: Action,
    /// The state in which it is pending.
    pub from: Origin,
    /// What it depends on.
    pub porf: Vec<u32>,
}

/// An update that is not in the graph yet, and that others may come after.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newcomer {
    pub thread: ThreadId,
    pub action: Action,
    /// It comes after all writes at positions before this one.
    pub position: usize,
}

/// An update that may come before another one.
struct Member {
    action: Action,
    /// Those before it in the list that must come before it.
    needs: u64,
    /// Whether it must be among them.
    forced: bool,
}

/// The members of a list that pass a test.
fn mask_of(ids: &[EventId], test: impl Fn(&EventId) -> bool) -> u64 {
    ids.iter().enumerate().filter(|(_, id)| test(id)).fold(0, |mask, (index, _)| mask | 1 << index)
}

/// Collects the values after all sets of members, of which so far these were chosen among the first, that contain all that
/// their members need; says whether there are not too many.
fn collect_values(
    members: &[Member],
    index: usize,
    chosen: u64,
    value: Value,
    values: &mut Vec<Value>,
    budget: &mut usize,
) -> bool {
    let Some(member) = members.get(index) else {
        *budget = budget.saturating_sub(1);
        if !values.contains(&value) {
            values.push(value);
        }
        return *budget > 0 && values.len() <= MAX_VALUES;
    };
    let can = member.needs & !chosen == 0;
    let with = || member.action.update(value, 0).unwrap_or(value);
    (member.forced || collect_values(members, index + 1, chosen, value, values, budget))
        && (!can || collect_values(members, index + 1, chosen | 1 << index, with(), values, budget))
}

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// An update that may be blind, as it is in the graph.
    pub(super) fn update_of(&self, id: EventId) -> Update {
        let graph = self.graph();
        let Event { thread, action, snapshot, .. } = *graph.event(id);
        let from = if snapshot.is_some() { Origin::Saved(snapshot.slot as usize) } else { Origin::Now };
        Update { thread, action, from, porf: graph.porf(id).to_vec() }
    }

    /// The pending update of a thread.
    pub(super) fn pending_update(&self, thread: ThreadId, from: Origin) -> Update {
        let graph = self.graph();
        let slot = graph.thread(thread);
        Update { thread, action: slot.pending, from, porf: graph.porf(slot.tip()).to_vec() }
    }

    /// Whether the thread of an update goes on alike after these writes, and after any of them that can come alone.
    pub(super) fn is_eligible(
        &mut self,
        update: &Update,
        loc: Loc,
        cut: &[EventId],
        newcomer: Option<Newcomer>,
    ) -> bool {
        if !update.action.may_be_blind() {
            return false;
        }
        let Some(values) = self.values(update, loc, cut, newcomer) else { return false };
        let Some((&first, others)) = values.split_first() else { return true };
        others.iter().all(|&value| self.goes_on_alike(update, first, value))
    }

    /// The values that an update may find after some of these writes; none if they are too many, or it is not known.
    pub(super) fn values(
        &self,
        update: &Update,
        loc: Loc,
        cut: &[EventId],
        newcomer: Option<Newcomer>,
    ) -> Option<Vec<Value>> {
        let graph = self.graph();
        let forced = |id: &EventId| contains(&update.porf, graph.event(*id));
        let mut members = cut.to_vec();
        members.sort_unstable();
        let mut steps: Vec<Member> = Vec::with_capacity(members.len() + 1);
        for (index, &id) in members.iter().enumerate() {
            let needs = |other: &EventId| graph.is_porf_before(*other, id);
            let needs = mask_of(&members[..index], needs);
            steps.push(Member { action: graph.event(id).action, needs, forced: forced(&id) });
        }
        if let Some(Newcomer { thread, action, position }) = newcomer {
            let porf = graph.porf(graph.thread(thread).tip());
            let is_before = |event: &Event| (event.co_pos as usize) < position || contains(porf, event);
            let needs = mask_of(&members, |id| is_before(graph.event(*id)));
            steps.push(Member { action, needs, forced: false });
        }
        let mut values = Vec::new();
        let mut budget = MAX_CUTS;
        collect_values(&steps, 0, 0, graph.written(EventId::INIT, loc), &mut values, &mut budget).then_some(values)
    }

    /// Whether an update makes no difference to its thread, and to whatever the thread does until its next action, whichever of
    /// these values it finds.
    fn goes_on_alike(&mut self, update: &Update, one: Value, other: Value) -> bool {
        if one == other {
            return true;
        }
        let Update { thread, action, from, .. } = *update;
        let reply = |value| [Reply { value: action.answer(value, 0), wrote: true }];
        let (one, other) = (reply(one), reply(other));
        self.leads_to_equal(thread, Course { from, replies: &one }, Course { from, replies: &other })
    }
}
