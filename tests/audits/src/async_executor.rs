use async_executor::Executor;
use pollster::block_on;

use crate::both;

/// A task is spawned in one thread and run in another: its result arrives.
#[dpor::test]
fn spawn_while_running() {
    let executor = Executor::new();
    let (_, number) = both(|| block_on(executor.tick()), || block_on(executor.spawn(async { Box::new(1) })));
    assert_eq!(*number, 1);
}
