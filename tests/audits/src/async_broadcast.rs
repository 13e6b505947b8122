use async_broadcast::{TryRecvError, broadcast};
use pollster::block_on;

use crate::both;

/// A thread broadcasts while another waits: the message arrives, and nothing else.
#[dpor::test]
fn broadcast_one() {
    let (sender, mut receiver) = broadcast(1);
    let (_, seen) = both(|| sender.try_broadcast(Box::new(1)).unwrap(), || block_on(receiver.recv()));
    assert_eq!(*seen.unwrap(), 1);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
}
