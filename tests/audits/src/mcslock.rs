use mcslock::raw::MutexNode;
use mcslock::raw::spins::Mutex;

use crate::both;

/// Two threads add one under the lock: both count.
#[dpor::test]
fn mutex() {
    let number = Mutex::new(0);
    let add = || {
        let mut node = MutexNode::new();
        number.lock_with_then(&mut node, |number| *number += 1);
    };
    both(add, add);
    assert_eq!(number.into_inner(), 2);
}
