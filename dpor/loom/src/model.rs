//! Models: what is explored for itself.

use std::env;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::{lazy_static, thread};

/// How a model is explored.
///
/// What bounds or speeds up loom's own search has no meaning here: everything is explored.
#[derive(Debug)]
#[non_exhaustive]
pub struct Builder {
    /// Has no meaning here: a model may have any number of threads.
    pub max_threads: usize,
    /// Has no meaning here.
    pub max_branches: usize,
    /// After so many executions the exploration ends, and the test is incomplete.
    pub max_permutations: Option<usize>,
    /// After so long the exploration ends, and the test is incomplete.
    pub max_duration: Option<Duration>,
    /// Has no meaning here: executions with any number of preemptions are explored.
    pub preemption_bound: Option<usize>,
    /// Has no meaning here: a failing execution is run again by `cargo dpor replay`.
    pub checkpoint_file: Option<PathBuf>,
    /// Has no meaning here.
    pub checkpoint_interval: usize,
    /// Has no meaning here: everything is explored.
    pub expect_explicit_explore: bool,
    /// Has no meaning here: reports always have locations.
    pub location: bool,
    /// Has no meaning here: reports always have a trace.
    pub log: bool,
}

impl Builder {
    /// The defaults, as far as the environment (`LOOM_MAX_BRANCHES` and so on) does not say otherwise.
    pub fn new() -> Builder {
        Builder {
            max_threads: crate::MAX_THREADS,
            max_branches: from_env("LOOM_MAX_BRANCHES").unwrap_or(1000),
            max_permutations: from_env("LOOM_MAX_PERMUTATIONS"),
            max_duration: from_env("LOOM_MAX_DURATION").map(Duration::from_secs),
            preemption_bound: from_env("LOOM_MAX_PREEMPTIONS"),
            checkpoint_file: from_env("LOOM_CHECKPOINT_FILE"),
            checkpoint_interval: from_env("LOOM_CHECKPOINT_INTERVAL").unwrap_or(20_000),
            expect_explicit_explore: false,
            location: env::var("LOOM_LOCATION").is_ok(),
            log: env::var("LOOM_LOG").is_ok(),
        }
    }

    /// Sets [`checkpoint_file`](Builder::checkpoint_file).
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Self {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Explores a closure.
    #[track_caller]
    pub fn check<F>(&self, f: F)
    where
        F: Fn() + Sync + Send + 'static,
    {
        dpor::__rt::begin_model(self.max_permutations, self.max_duration);
        f();
        thread::drop_locals();
        dpor::__rt::join_all();
        // SAFETY: All threads of the model have ended, and the closure has returned.
        unsafe { lazy_static::reset_all() };
        thread::check_panics();
        dpor::__rt::end_model();
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

/// A number, or something else, from the environment.
fn from_env<T: FromStr>(name: &str) -> Option<T> {
    let value = env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("invalid value for `{name}`")))
}

/// Explores every execution of a closure.
#[track_caller]
pub fn model<F>(f: F)
where
    F: Fn() + Sync + Send + 'static,
{
    Builder::new().check(f);
}
