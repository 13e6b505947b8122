use atomic_take::AtomicTake;

use crate::both;

/// Two threads take the value: exactly one gets it.
#[dpor::test]
fn two_takes() {
    let value = AtomicTake::new(Box::new(1));
    let (one, two) = both(|| value.take(), || value.take());
    assert!(one.is_some() != two.is_some());
}
