use async_executor::Executor;
use pollster::block_on;

use crate::both;

/// A thread spawns a task while another waits for one: no wake-up is lost.
#[dpor::test]
fn spawn_while_waiting() {
    let executor = Executor::new();
    assert!(executor.is_empty());
    both(|| block_on(executor.tick()), || executor.spawn(async {}).detach());
    assert!(executor.is_empty());
}
