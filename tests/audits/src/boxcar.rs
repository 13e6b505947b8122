use crate::both;

/// Two threads push: both values are there, and each thread is told the index of its own.
#[dpor::test]
fn two_pushes() {
    let vec = boxcar::Vec::new();
    let (one, two) = both(|| vec.push(Box::new(1)), || vec.push(Box::new(2)));
    assert_eq!((*vec[one], *vec[two], vec.count()), (1, 2, 2));
}

/// A thread pushes while another looks: it sees nothing or the whole value.
#[dpor::test]
fn get_while_pushing() {
    let vec = boxcar::Vec::new();
    let (_, seen) = both(|| vec.push(Box::new(1)), || vec.get(0).map(|number| **number));
    assert!(seen.is_none_or(|number| number == 1));
}
