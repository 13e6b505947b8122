use orx_concurrent_vec::ConcurrentVec;

use crate::both;

/// Two threads push: both values are there.
#[dpor::test]
fn two_pushes() {
    let vec = ConcurrentVec::new();
    let (one, two) = both(|| vec.push(Box::new(1)), || vec.push(Box::new(2)));
    assert_eq!((*vec[one].cloned(), *vec[two].cloned()), (1, 2));
}

/// A thread pushes while another looks: it sees nothing or the whole value.
#[dpor::test]
fn get_while_pushing() {
    let vec = ConcurrentVec::new();
    let (_, seen) = both(|| vec.push(Box::new(1)), || vec.get_cloned(0));
    assert!(seen.is_none_or(|number| *number == 1));
}
