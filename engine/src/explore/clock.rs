//! Looking at the clock, but not too often: every so many events, as many as take about a millisecond or more.

use std::time::{Duration, Instant};

use crate::interrupt::Interrupt;

/// Looks that are closer together than this are too close.
const CLOSE: Duration = Duration::from_millis(1);
/// Looks that are further apart than this are too far apart.
const FAR: Duration = Duration::from_millis(10);
/// No more events than this go without a look.
const MAX_INTERVAL: u32 = 1 << 10;

/// Says when the time is over.
#[derive(Debug)]
pub(super) struct Clock {
    deadline: Option<Instant>,
    interrupt: Interrupt,
    last_look: Instant,
    /// How many events there are between two looks.
    interval: u32,
    /// How many of them are left.
    left: u32,
    over: bool,
}

impl Clock {
    pub fn new(deadline: Option<Instant>, interrupt: Interrupt) -> Clock {
        Clock { deadline, interrupt, last_look: Instant::now(), interval: 1, left: 1, over: false }
    }

    /// Counts an event; says whether the time is over, as far as that is known.
    #[inline]
    pub fn is_over(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.over |= self.interrupt.is_requested();
        self.over || self.left == 0 && self.look()
    }

    /// Whether somebody was told that the time is over.
    pub fn was_over(&self) -> bool {
        self.over
    }

    #[cold]
    fn look(&mut self) -> bool {
        let now = Instant::now();
        let elapsed = now - self.last_look;
        self.interval = match () {
            () if elapsed < CLOSE => (2 * self.interval).min(MAX_INTERVAL),
            () if elapsed > FAR => (self.interval / 4).max(1),
            () => self.interval,
        };
        self.last_look = now;
        self.over |= self.deadline.is_some_and(|deadline| now >= deadline);
        self.left = self.interval;
        self.over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_deadline_the_time_is_never_over() {
        let mut clock = Clock::new(None, Interrupt::default());
        assert!((0..1_000_000).all(|_| !clock.is_over()));
    }

    #[test]
    fn a_deadline_is_noticed_whether_events_are_fast_or_slow() {
        for pause in [Duration::ZERO, Duration::from_millis(15)] {
            let deadline = Instant::now() + Duration::from_millis(60);
            let mut clock = Clock::new(Some(deadline), Interrupt::default());
            while !clock.is_over() {
                std::thread::sleep(pause);
                assert!(Instant::now() < deadline + Duration::from_secs(10), "the deadline was missed");
            }
            assert!(Instant::now() >= deadline);
        }
    }

    #[test]
    fn an_interrupt_ends_it() {
        let interrupt = Interrupt::default();
        let mut clock = Clock::new(None, interrupt.clone());
        assert!((0..10_000).all(|_| !clock.is_over()));
        interrupt.request();
        assert!((0..10_000).any(|_| clock.is_over()));
    }
}
