//! How much memory the process takes, and limits on memory and time that hold.
//!
//! What counts is what the system has given to the process (its resident set): graphs, saved states, what is remembered
//! of the program, printed text, and whatever the allocator keeps for itself. It is looked at from a thread of its own,
//! often enough that little can come on top. The same thread looks at the clock, so that whoever works need only look at
//! an [`Interrupt`], and can do so at every step.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::interrupt::Interrupt;

/// How often memory is looked at.
const INTERVAL: Duration = Duration::from_millis(5);

/// The size of a page: the only one that Linux has on x86-64.
const PAGE: u64 = 4096;

/// The bytes that the process takes; none where the system does not say.
pub fn resident() -> Option<u64> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}

/// A limit of what a process may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Time,
    Memory,
}

/// What something may take.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowance {
    /// When it must end.
    pub deadline: Option<Instant>,
    /// How many bytes the process may have.
    pub memory: Option<u64>,
}

impl Allowance {
    /// What has run out, if something has.
    fn exceeded(&self) -> Option<Resource> {
        let over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let full = || self.memory.is_some_and(|limit| resident().is_some_and(|bytes| bytes > limit));
        if over { Some(Resource::Time) } else { full().then_some(Resource::Memory) }
    }

    /// How long nobody need look; none where there are no limits.
    fn pause(&self) -> Option<Duration> {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let interval = self.memory.map(|_| INTERVAL);
        left.into_iter().chain(interval).min()
    }
}

/// What is left of a limit on memory, for those who are about to take much at once. Copies of it are one and the same.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    limit: Option<u64>,
    exceeded: Arc<AtomicU8>,
    interrupt: Interrupt,
}

impl Budget {
    /// Whether there is room for so many bytes more. If not, the limit counts as reached.
    pub fn allows(&self, bytes: u64) -> bool {
        let is_over = |limit: u64| resident().is_some_and(|taken| taken.saturating_add(bytes) > limit);
        if !self.limit.is_some_and(is_over) {
            return true;
        }
        self.exceeded.store(1 + Resource::Memory as u8, Ordering::Relaxed);
        self.interrupt.request();
        false
    }
}

/// Interrupts something when it has used up what it may take, as long as this lives.
pub struct Watch {
    budget: Budget,
    watcher: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Watch {
    /// Looks after the limits, if there are some.
    pub fn begin(allowance: Allowance, interrupt: &Interrupt) -> Watch {
        let budget = Budget { limit: allowance.memory, exceeded: Arc::default(), interrupt: interrupt.clone() };
        let watcher = allowance.pause().map(|_| {
            let (done, is_done) = channel();
            let Budget { exceeded, interrupt, .. } = budget.clone();
            let watch = move || {
                let mut pause = allowance.pause().unwrap_or_default();
                while is_done.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                    if let Some(resource) = allowance.exceeded() {
                        exceeded.store(1 + resource as u8, Ordering::Relaxed);
                        return interrupt.request();
                    }
                    pause = allowance.pause().unwrap_or_default();
                }
            };
            (done, thread::spawn(watch))
        });
        Watch { budget, watcher }
    }

    /// What is left of the memory.
    pub fn budget(&self) -> Budget {
        self.budget.clone()
    }

    /// Which limit was reached, if one was.
    pub fn exceeded(&self) -> Option<Resource> {
        let number = self.budget.exceeded.load(Ordering::Relaxed);
        [Resource::Time, Resource::Memory].into_iter().find(|resource| 1 + *resource as u8 == number)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some((done, watcher)) = self.watcher.take() {
            drop(done);
            // It does nothing that could panic, and if it did, there would be nobody to tell.
            let _ = watcher.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_used_is_counted() {
        let before = resident().unwrap();
        let block = std::hint::black_box(vec![1u8; 64 << 20]);
        assert!(resident().unwrap() >= before + (60 << 20), "{}", block.len());
    }

    fn wait_for(allowance: Allowance) -> Option<Resource> {
        let interrupt = Interrupt::default();
        let watch = Watch::begin(allowance, &interrupt);
        while !interrupt.is_requested() {
            thread::sleep(INTERVAL);
        }
        watch.exceeded()
    }

    #[test]
    fn limits_interrupt_once_they_are_reached() {
        let soon = Instant::now() + 4 * INTERVAL;
        assert_eq!(wait_for(Allowance { deadline: Some(soon), memory: Some(u64::MAX) }), Some(Resource::Time));
        assert!(Instant::now() >= soon);
        assert_eq!(wait_for(Allowance { deadline: None, memory: Some(1) }), Some(Resource::Memory));
    }

    #[test]
    fn what_does_not_fit_reaches_the_limit() {
        let interrupt = Interrupt::default();
        let limit = resident().unwrap() + (1 << 40);
        let watch = Watch::begin(Allowance { deadline: None, memory: Some(limit) }, &interrupt);
        assert!(watch.budget().allows(1 << 30));
        assert_eq!((watch.exceeded(), interrupt.is_requested()), (None, false));
        assert!(!watch.budget().allows(2 << 40) && !watch.budget().allows(u64::MAX));
        assert_eq!((watch.exceeded(), interrupt.is_requested()), (Some(Resource::Memory), true));
        assert!(Budget::default().allows(u64::MAX));
    }

    #[test]
    fn without_limits_nobody_looks() {
        assert!(Watch::begin(Allowance::default(), &Interrupt::default()).watcher.is_none());
    }
}
