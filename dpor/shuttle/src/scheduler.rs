//! Schedulers: shuttle's ways to choose executions. Here all are explored, whichever is named.

/// A way to choose executions.
pub trait Scheduler {}

/// Chooses at random.
#[derive(Debug)]
pub struct RandomScheduler(());

impl RandomScheduler {
    /// So many executions.
    pub fn new(_max_iterations: usize) -> RandomScheduler {
        RandomScheduler(())
    }

    /// So many executions, with this seed.
    pub fn new_from_seed(_seed: u64, _max_iterations: usize) -> RandomScheduler {
        RandomScheduler(())
    }
}

/// Chooses at random, with few changes of priorities.
#[derive(Debug)]
pub struct PctScheduler(());

impl PctScheduler {
    /// So many executions with so many changes.
    pub fn new(_max_depth: usize, _max_iterations: usize) -> PctScheduler {
        PctScheduler(())
    }

    /// The same, with this seed.
    pub fn new_from_seed(_seed: u64, _max_depth: usize, _max_iterations: usize) -> PctScheduler {
        PctScheduler(())
    }
}

/// Chooses all.
#[derive(Debug)]
pub struct DfsScheduler(());

impl DfsScheduler {
    /// At most so many executions.
    pub fn new(_max_iterations: Option<usize>, _allow_random_data: bool) -> DfsScheduler {
        DfsScheduler(())
    }
}

/// Lets threads take turns.
#[derive(Debug)]
pub struct RoundRobinScheduler(());

impl RoundRobinScheduler {
    /// So many executions.
    pub fn new(_max_iterations: usize) -> RoundRobinScheduler {
        RoundRobinScheduler(())
    }
}

impl Scheduler for RandomScheduler {}
impl Scheduler for PctScheduler {}
impl Scheduler for DfsScheduler {}
impl Scheduler for RoundRobinScheduler {}
