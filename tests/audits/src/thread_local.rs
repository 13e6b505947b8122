use std::cell::Cell;

use thread_local::ThreadLocal;

use crate::both;

/// Two threads set values of their own: each sees what it has set.
#[dpor::test]
fn two_values() {
    let values = ThreadLocal::new();
    let set = |number| {
        values.get_or(|| Cell::new(0)).set(number);
        assert_eq!(values.get().map(Cell::get), Some(number));
    };
    both(|| set(1), || set(2));
}

/// A thread makes its value while another iterates: nothing or the whole value.
#[dpor::test]
fn make_while_iterating() {
    let values = ThreadLocal::new();
    let (_, seen) = both(|| **values.get_or(|| Box::new(1)), || values.iter().map(|number| **number).sum::<u32>());
    assert!(seen < 2);
}
