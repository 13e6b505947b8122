use once_cell::race::OnceBox;
use once_cell::sync::{Lazy, OnceCell};

use crate::both;

/// Two threads initialize a cell: one value, and both see it.
#[dpor::test]
fn two_initializations() {
    let cell = OnceCell::new();
    let (one, two) = both(|| **cell.get_or_init(|| Box::new(1)), || **cell.get_or_init(|| Box::new(2)));
    assert_eq!(one, two);
}

/// Two threads force a lazy value: it is made once.
#[dpor::test]
fn lazy() {
    let lazy = Lazy::new(|| Box::new(1));
    let (one, two) = both(|| **lazy, || **lazy);
    assert_eq!((one, two), (1, 1));
}

/// Two threads race to set a box: one of them is kept, the other is freed.
#[dpor::test]
fn once_box() {
    let cell = OnceBox::new();
    let (one, two) = both(|| *cell.get_or_init(|| Box::new(1)), || *cell.get_or_init(|| Box::new(2)));
    assert_eq!(one, two);
}
