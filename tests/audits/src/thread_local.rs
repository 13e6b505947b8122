use std::cell::Cell;

use thread_local::ThreadLocal;

use crate::both;

/// Two threads have values of their own, and all can be seen at the end.
#[dpor::test]
fn two_values() {
    let mut values = ThreadLocal::new();
    let set = |number| values.get_or(|| Cell::new(0)).set(number);
    both(|| set(1), || set(2));
    let mut all: Vec<_> = values.iter_mut().map(|number| number.get()).collect();
    all.sort();
    assert_eq!(all, [1, 2]);
}

/// A thread makes its value while another iterates: nothing or the whole value.
#[dpor::test]
fn make_while_iterating() {
    let values = ThreadLocal::new();
    let (_, seen) = both(|| **values.get_or(|| Box::new(1)), || values.iter().map(|number| **number).sum::<u32>());
    assert!(seen < 2);
}
