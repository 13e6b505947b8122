use atomic_refcell::AtomicRefCell;

use crate::both;

/// Two threads try to borrow mutably: never both at a time, and nothing is lost.
#[dpor::test]
fn two_mutable_borrows() {
    let cell = AtomicRefCell::new(0);
    let add = || cell.try_borrow_mut().map(|mut number| *number += 1).is_ok();
    let (one, two) = both(add, add);
    assert_eq!(cell.into_inner(), usize::from(one) + usize::from(two));
    assert!(one || two);
}

/// A thread borrows mutably while another borrows: never both at a time.
#[dpor::test]
fn borrow_and_mutable_borrow() {
    let cell = AtomicRefCell::new((0, 0));
    let (_, seen) = both(
        || cell.try_borrow_mut().map(|mut pair| *pair = (1, 1)).is_ok(),
        || cell.try_borrow().map(|pair| *pair).ok(),
    );
    assert!(seen.is_none_or(|(a, b)| a == b));
}
