//! What explores a closure: every execution of it, whatever the scheduler.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler};

/// How a closure is explored.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Has no meaning here.
    pub stack_size: usize,
    /// Has no meaning here: a failing execution is run again by `cargo dpor replay`.
    pub failure_persistence: FailurePersistence,
    /// Has no meaning here: see `--max-steps`.
    pub max_steps: MaxSteps,
    /// After so long the exploration ends, and the test is incomplete.
    pub max_time: Option<Duration>,
    /// Has no meaning here.
    pub silence_warnings: bool,
    /// Has no meaning here.
    pub record_steps_in_span: bool,
}

impl Config {
    /// The defaults.
    pub fn new() -> Config {
        Config {
            stack_size: 0x8000,
            failure_persistence: FailurePersistence::Print,
            max_steps: MaxSteps::FailAfter(1_000_000),
            max_time: None,
            silence_warnings: false,
            record_steps_in_span: false,
        }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config::new()
    }
}

/// What shuttle does with a failing schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailurePersistence {
    /// Nothing.
    None,
    /// Prints it.
    Print,
    /// Writes it to a file.
    File(Option<PathBuf>),
}

/// What shuttle does with an execution that takes long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MaxSteps {
    /// Nothing.
    None,
    /// The test fails.
    FailAfter(usize),
    /// The execution ends.
    ContinueAfter(usize),
}

/// Explores closures.
#[derive(Debug)]
pub struct Runner<S: ?Sized + Scheduler> {
    config: Config,
    _scheduler: S,
}

impl<S: Scheduler + 'static> Runner<S> {
    /// A runner. The scheduler has no meaning here.
    pub fn new(scheduler: S, config: Config) -> Runner<S> {
        Runner { config, _scheduler: scheduler }
    }

    /// Explores every execution of a closure. What it returns is the number of iterations for shuttle, and always 1
    /// here.
    #[track_caller]
    pub fn run<F>(self, f: F) -> usize
    where
        F: Fn() + Send + Sync + 'static,
    {
        explore(f, &self.config);
        1
    }
}

#[track_caller]
fn explore<F>(f: F, config: &Config)
where
    F: Fn() + Send + Sync + 'static,
{
    let mut builder = loom::model::Builder::new();
    builder.max_duration = config.max_time;
    builder.check(f);
}

/// Explores closures with several schedulers: that is once, here.
pub struct PortfolioRunner {
    config: Config,
    schedulers: usize,
}

impl PortfolioRunner {
    /// A runner without schedulers.
    pub fn new(_stop_on_first_failure: bool, config: Config) -> PortfolioRunner {
        PortfolioRunner { config, schedulers: 0 }
    }

    /// Adds a scheduler, which has no meaning here.
    pub fn add(&mut self, _scheduler: impl Scheduler + Send + 'static) {
        self.schedulers += 1;
    }

    /// Explores every execution of a closure.
    #[track_caller]
    pub fn run<F>(self, f: F)
    where
        F: Fn() + Send + Sync + 'static,
    {
        explore(f, &self.config);
    }
}

impl fmt::Debug for PortfolioRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PortfolioRunner").field("schedulers", &self.schedulers).finish()
    }
}

/// Explores every execution of a closure. The number of iterations is for shuttle.
#[track_caller]
pub fn check_random<F>(f: F, iterations: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    Runner::new(RandomScheduler::new(iterations), Config::new()).run(f);
}

/// Explores every execution of a closure. The seed and the number of iterations are for shuttle.
#[track_caller]
pub fn check_random_with_seed<F>(f: F, seed: u64, iterations: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    Runner::new(RandomScheduler::new_from_seed(seed, iterations), Config::new()).run(f);
}

/// Explores every execution of a closure. The number of iterations and the depth are for shuttle.
#[track_caller]
pub fn check_pct<F>(f: F, iterations: usize, depth: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    Runner::new(PctScheduler::new(depth, iterations), Config::new()).run(f);
}

/// Explores every execution of a closure. The number of iterations is for shuttle.
#[track_caller]
pub fn check_dfs<F>(f: F, max_iterations: Option<usize>)
where
    F: Fn() + Send + Sync + 'static,
{
    Runner::new(DfsScheduler::new(max_iterations, false), Config::new()).run(f);
}

/// Explores every execution of a closure. What depends on anything but the schedule is noticed always.
#[track_caller]
pub fn check_uncontrolled_nondeterminism<F>(f: F, max_iterations: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    check_random(f, max_iterations);
}
