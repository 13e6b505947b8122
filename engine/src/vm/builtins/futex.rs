//! Futexes, called directly: the queue of threads that wait at a word.
//!
//! As in the kernel, whoever looks at the word and goes to sleep, and whoever wakes, does so alone: it enters the
//! queue, and leaves it again. Entering comes after whoever left before. So a thread that would go to sleep after it
//! should have been woken sees the word as it was then, and one that sleeps is only woken by a wake. Each step is an
//! action of its own.

use crate::program::{AtomicWidth, Ordering};
use crate::vm::action::{Action, Timeout};
use crate::vm::code::{CallSite, physical};
use crate::vm::context::{Context, Flow};
use crate::vm::failure::Fault;
use crate::vm::thread::{Pending, Reply};

use super::{Checked, errno, time};

const WAIT: u64 = 0;
const WAKE: u64 = 1;
const WAIT_BITSET: u64 = 9;
const WAKE_BITSET: u64 = 10;
const PRIVATE: u64 = 128;
const CLOCK_REALTIME: u64 = 256;

/// How many threads a queue has bits for.
const BITS: u16 = 31;

/// A call that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    word: u64,
    /// Where the result goes.
    at: u16,
    step: Step,
}

/// The action that a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    /// Enters the queue, to sleep.
    Enter { expected: u32, timeout: Option<Timeout> },
    /// Looks at the word; these wait already.
    Look { waiting: u32, expected: u32, timeout: Option<Timeout> },
    /// Leaves the queue, to sleep.
    Leave { timeout: Option<Timeout> },
    /// Sleeps until it is woken, or the time is over.
    Sleep { timeout: Option<Timeout> },
    /// Enters the queue to see which.
    Expire { timeout: Timeout },
    /// Enters the queue, to wake so many.
    Wake { count: u32 },
    /// Chooses whom to wake: so many more of `among`. `stay` are those that are passed over, `woken` those that are
    /// not.
    Choose { count: u32, among: u32, stay: u32, woken: u32 },
    /// Leaves the queue, with this result.
    End(Result<u32, u64>),
}

/// Begins a call.
pub fn call(context: &mut Context, site: &CallSite) -> Checked<Flow> {
    let [_, word, op, value, timeout, _, bits] = context.args::<7>(site);
    let realtime = op & CLOCK_REALTIME != 0;
    let op = op & !(PRIVATE | CLOCK_REALTIME) & 0xffff_ffff;
    if matches!(op, WAIT_BITSET | WAKE_BITSET) && bits as u32 != u32::MAX {
        return Err(Fault::unsupported("a futex wait with a bit set").into());
    }
    let step = match op {
        WAIT | WAIT_BITSET => {
            let Ok(timeout) = time::futex_timeout(context, timeout, op == WAIT_BITSET, realtime)? else {
                context.set_errno(errno::EINVAL)?;
                return context.give(site, u64::MAX);
            };
            Step::Enter { expected: value as u32, timeout }
        }
        WAKE | WAKE_BITSET => Step::Wake { count: value as u32 },
        op => return Err(Fault::unsupported(format!("futex operation {op}")).into()),
    };
    let reply = Reply::Futex(Call { word, at: physical(site.dst) as u16, step });
    Ok(context.stop(Action::QueueEnter { word }, reply))
}

/// A call goes on: its action was answered with this value.
pub fn go_on(context: &mut Context, call: Call, value: u32) -> Checked<()> {
    let word = call.word;
    let enter = Action::QueueEnter { word };
    let leave = |waiting| Action::QueueLeave { word, waiting };
    let (action, step) = match call.step {
        Step::Enter { expected, timeout } => {
            let look = Action::Load { address: word, width: AtomicWidth::W32, ordering: Ordering::Relaxed };
            (look, Step::Look { waiting: value, expected, timeout })
        }
        Step::Look { waiting, expected, timeout } if value == expected => {
            (leave(waiting | own_bit(context)?), Step::Leave { timeout })
        }
        Step::Look { waiting, .. } => (leave(waiting), Step::End(Err(errno::EAGAIN))),
        Step::Leave { timeout } => {
            let bit = own_bit(context)?;
            (Action::QueueWait { word, bit, timeout }, Step::Sleep { timeout })
        }
        Step::Sleep { timeout: None } => return end(context, call.at, Ok(0)),
        Step::Sleep { timeout: Some(timeout) } => (enter, Step::Expire { timeout }),
        Step::Expire { timeout } => {
            let bit = own_bit(context)?;
            if value & bit == 0 {
                (leave(value), Step::End(Ok(0)))
            } else {
                let now = context.thread.clock;
                time::pass(context, timeout.end(now).saturating_sub(now));
                (leave(value & !bit), Step::End(Err(errno::ETIMEDOUT)))
            }
        }
        Step::Wake { count } => choose(word, count, value, 0, 0),
        Step::Choose { count, among, stay, woken } => {
            let chosen = nth_bit(among, value);
            let earlier = among & (chosen - 1);
            choose(word, count - 1, among & !earlier & !chosen, stay | earlier, woken | chosen)
        }
        Step::End(result) => return end(context, call.at, result.map(u64::from)),
    };
    context.thread.pending = Some(Pending { action, reply: Reply::Futex(Call { step, ..call }) });
    Ok(())
}

/// Wakes so many more of some threads. Of those that are passed over none is woken afterwards, so that each set of
/// threads comes up once.
fn choose(word: u64, count: u32, among: u32, stay: u32, woken: u32) -> (Action, Step) {
    if count == 0 {
        return (Action::QueueLeave { word, waiting: stay | among }, Step::End(Ok(woken.count_ones())));
    }
    match (among.count_ones() + 1).checked_sub(count) {
        Some(n) if n > 1 => (Action::Choose { n: u64::from(n) }, Step::Choose { count, among, stay, woken }),
        _ => (Action::QueueLeave { word, waiting: stay }, Step::End(Ok((woken | among).count_ones()))),
    }
}

fn end(context: &mut Context, at: u16, result: Result<u64, u64>) -> Checked<()> {
    let value = match result {
        Ok(value) => value,
        Err(error) => {
            context.set_errno(error)?;
            u64::MAX
        }
    };
    context.set(usize::from(at), value);
    Ok(())
}

/// The bit that stands for the thread.
fn own_bit(context: &Context) -> Checked<u32> {
    match context.thread.id.0 {
        id if id < BITS => Ok(1 << id),
        _ => Err(Fault::unsupported("a futex on which thread 31 or a later one waits").into()),
    }
}

/// The bit that is the `n`-th of those that are set, from 0.
fn nth_bit(bits: u32, n: u32) -> u32 {
    let rest = (0..n).fold(bits, |bits, _| bits & bits.wrapping_sub(1));
    if rest == 0 { 0 } else { 1 << rest.trailing_zeros() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sets of threads that a wake can wake.
    fn woken(count: u32, waiting: u32) -> Vec<u32> {
        fn all(next: (Action, Step), waiting: u32, found: &mut Vec<u32>) {
            match next {
                (Action::Choose { n }, Step::Choose { count, among, stay, woken }) => {
                    for value in 0..n as u32 {
                        let chosen = nth_bit(among, value);
                        let earlier = among & (chosen - 1);
                        let rest = among & !earlier & !chosen;
                        all(choose(0, count - 1, rest, stay | earlier, woken | chosen), waiting, found);
                    }
                }
                (Action::QueueLeave { waiting: left, .. }, Step::End(Ok(count))) => {
                    assert_eq!((waiting & !left).count_ones(), count);
                    found.push(waiting & !left);
                }
                other => panic!("{other:?}"),
            }
        }
        let mut found = Vec::new();
        all(choose(0, count, waiting, 0, 0), waiting, &mut found);
        found
    }

    /// `n` choose `k`: each set once.
    #[test]
    fn each_set_of_threads_can_be_woken() {
        for waiting in 0..64u32 {
            for count in 0..8 {
                let size = count.min(waiting.count_ones());
                let subsets = (0..64u32).filter(|set| set & !waiting == 0 && set.count_ones() == size);
                let mut found = woken(count, waiting);
                found.sort_unstable();
                assert_eq!(found, subsets.collect::<Vec<_>>(), "{count} of {waiting:b}");
            }
        }
    }
}
