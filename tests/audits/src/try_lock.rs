use try_lock::TryLock;

use crate::both;

/// Two threads try to lock: never both at a time, and nothing is lost.
#[dpor::test]
fn two_locks() {
    let number = TryLock::new(0);
    let add = || number.try_lock().map(|mut number| *number += 1).is_some();
    let (one, two) = both(add, add);
    assert_eq!(number.into_inner(), u32::from(one) + u32::from(two));
}
