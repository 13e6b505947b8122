use lazy_static::lazy_static;

use crate::both;

lazy_static! {
    static ref NUMBER: Box<u32> = Box::new(1);
}

/// Two threads use a static for the first time: both see its value.
#[dpor::test]
fn two_first_uses() {
    let (one, two) = both(|| **NUMBER, || **NUMBER);
    assert_eq!((one, two), (1, 1));
}
