use lockfree_object_pool::{LinearObjectPool, SpinLockObjectPool};

use crate::both;

/// Two threads pull from a pool: never the same object.
#[dpor::test]
fn two_pulls_linear() {
    let pool = LinearObjectPool::new(|| 0, |_| {});
    let fill = |number| {
        let mut object = pool.pull();
        *object = number;
        assert_eq!(*object, number);
    };
    both(|| fill(1), || fill(2));
}

/// The same with a lock that spins.
#[dpor::test]
fn two_pulls_spin() {
    let pool = SpinLockObjectPool::new(|| 0, |_| {});
    let fill = |number| {
        let mut object = pool.pull();
        *object = number;
        assert_eq!(*object, number);
    };
    both(|| fill(1), || fill(2));
}
