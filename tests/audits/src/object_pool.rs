use object_pool::Pool;

use crate::both;

/// Two threads pull from a pool with one object: never both at a time.
#[dpor::test]
fn two_pulls() {
    let pool = Pool::new(1, || 0);
    let add = || pool.try_pull().map(|mut number| *number += 1).is_some();
    let (one, two) = both(add, add);
    assert_eq!(*pool.try_pull().unwrap(), u32::from(one) + u32::from(two));
}
