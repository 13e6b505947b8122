use append_only_vec::AppendOnlyVec;

use crate::both;

/// Two threads push: both values are there, and each thread is told the index of its own.
#[dpor::test]
fn two_pushes() {
    let vec = AppendOnlyVec::new();
    let (one, two) = both(|| vec.push(Box::new(1)), || vec.push(Box::new(2)));
    assert_eq!((*vec[one], *vec[two], vec.len()), (1, 2, 2));
}

/// A thread pushes while another iterates: it sees nothing or the whole value.
#[dpor::test]
fn push_while_iterating() {
    let vec = AppendOnlyVec::new();
    let (_, seen) = both(|| vec.push(Box::new(1)), || vec.iter().map(|number| **number).collect::<Vec<_>>());
    assert!(seen.is_empty() || seen == [1]);
}
