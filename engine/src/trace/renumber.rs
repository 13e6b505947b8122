//! Other numbers for the steps of an execution.

use std::collections::HashMap;

use crate::graph::EventId;

use super::{End, Trace, Waits};

impl Trace {
    /// Numbers the steps in this order, without gaps.
    pub(super) fn renumber(&mut self, order: &[EventId]) {
        let place: HashMap<u32, usize> = order.iter().enumerate().map(|(at, id)| (id.index() as u32, at)).collect();
        self.steps.sort_by_key(|step| place.get(&step.number).copied());
        let numbers: HashMap<u32, u32> = self.steps.iter().map(|step| step.number).zip(1..).collect();
        let new = |number: u32| numbers.get(&number).copied().unwrap_or(number);
        let set = |number: &mut u32| *number = new(*number);
        let set_any = |number: &mut Option<u32>| *number = number.map(new);
        for step in &mut self.steps {
            set(&mut step.number);
            if let Some(read) = &mut step.read {
                set_any(&mut read.from);
            }
        }
        for thread in &mut self.threads {
            set_any(&mut thread.spawned_by);
            if let End::Waits(Waits::For { holders, .. }) = &mut thread.end {
                holders.iter_mut().for_each(|holder| set_any(&mut holder.since));
            }
        }
        self.co.iter_mut().flatten().for_each(set);
        for (from, to) in &mut self.sw {
            (*from, *to) = (new(*from), new(*to));
        }
        self.sw.sort_unstable_by_key(|(from, to)| (*to, *from));
        self.racing.iter_mut().chain(&mut self.panics).for_each(|other| set_any(&mut other.after));
        set_any(&mut self.rival);
        for remark in &mut self.remarks {
            remark.marks.iter_mut().for_each(|mark| set(&mut mark.step));
            remark.steps.iter_mut().for_each(set);
        }
    }
}
