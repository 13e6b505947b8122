use rclite::Arc;

use crate::both;

/// Two threads drop the last two handles: the value is freed once, after both have read it.
#[dpor::test]
fn two_drops() {
    let one = Arc::new(Box::new(1));
    let two = one.clone();
    let (a, b) = both(move || **one, move || **two);
    assert_eq!((a, b), (1, 1));
}

/// A thread drops its handle while another wants unique access: only if nobody else has it.
#[dpor::test]
fn get_mut_while_dropping() {
    let mut one = Arc::new(1);
    let two = one.clone();
    let (seen, ()) = both(
        move || *two,
        || {
            if let Some(number) = Arc::get_mut(&mut one) {
                *number = 2;
            }
        },
    );
    assert_eq!(seen, 1);
}

/// Two threads unwrap: at most one gets the value, and it is freed once.
#[dpor::test]
fn two_unwraps() {
    let one = Arc::new(Box::new(1));
    let two = one.clone();
    let (a, b) = both(move || Arc::into_inner(one), move || Arc::into_inner(two));
    assert!(a.is_some() != b.is_some());
}
