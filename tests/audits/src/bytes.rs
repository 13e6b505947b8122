use bytes::{Bytes, BytesMut};

use crate::both;

/// Two threads drop the last two parts of a buffer: it is freed once, after both have read it.
#[dpor::test]
fn two_drops() {
    let one = Bytes::from(vec![1, 2]);
    let two = one.slice(1..);
    let (a, b) = both(move || one[0], move || two[0]);
    assert_eq!((a, b), (1, 2));
}

/// Two threads clone a buffer that nobody shared before: one of them makes the counter.
#[dpor::test]
fn two_first_clones() {
    let bytes = Bytes::from(vec![1, 2].into_boxed_slice());
    let (one, two) = both(|| bytes.clone(), || bytes.clone());
    assert_eq!((&one[..], &two[..]), (&[1, 2][..], &[1, 2][..]));
}

/// A thread drops its part while another wants the buffer back: only if nobody else has it.
#[dpor::test]
fn mut_while_dropping() {
    let one = Bytes::from(vec![1, 2]);
    let two = one.clone();
    both(
        move || assert_eq!(two[0], 1),
        move || match one.try_into_mut() {
            Ok(mut bytes) => bytes[0] = 3,
            Err(bytes) => assert_eq!(bytes[0], 1),
        },
    );
}

/// A thread drops the front while another reserves room behind it: it takes the buffer back, or another.
#[dpor::test]
fn reserve_while_dropping() {
    let mut one = BytesMut::with_capacity(4);
    one.extend_from_slice(&[1, 2]);
    let two = one.split_to(1);
    both(
        move || assert_eq!(two[..], [1]),
        || {
            one.reserve(4);
            one.extend_from_slice(&[3, 4, 5, 6]);
        },
    );
    assert_eq!(one[..], [2, 3, 4, 5, 6]);
}
