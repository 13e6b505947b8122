use std::sync::{Condvar, Mutex, PoisonError};

/// Lets one thread wait for others.
#[derive(Debug, Default)]
pub struct Notify {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    notified: bool,
    waiting: bool,
}

impl Notify {
    /// Nobody has notified yet.
    pub fn new() -> Notify {
        Notify::default()
    }

    /// Lets the thread go on that waits, or the next that does.
    #[track_caller]
    pub fn notify(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.notified = true;
        self.changed.notify_one();
    }

    /// Waits for a notification.
    ///
    /// # Panics
    ///
    /// If another thread waits already.
    #[track_caller]
    pub fn wait(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(!state.waiting, "only a single thread may wait on `Notify`");
        state.waiting = true;
        while !state.notified {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        *state = State::default();
    }
}
