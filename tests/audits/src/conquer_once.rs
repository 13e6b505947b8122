use conquer_once::OnceCell;
use conquer_once::spin;

use crate::both;

/// Two threads initialize a cell: one value, and both see it.
#[dpor::test]
fn two_initializations() {
    let cell = OnceCell::uninit();
    let (one, two) = both(|| **cell.get_or_init(|| Box::new(1)), || **cell.get_or_init(|| Box::new(2)));
    assert_eq!(one, two);
}

/// The same with the cell that spins.
#[dpor::test]
fn two_initializations_that_spin() {
    let cell = spin::OnceCell::uninit();
    let (one, two) = both(|| **cell.get_or_init(|| Box::new(1)), || **cell.get_or_init(|| Box::new(2)));
    assert_eq!(one, two);
}

/// A thread initializes while another looks: it sees nothing or the whole value.
#[dpor::test]
fn get_while_initializing() {
    let cell = OnceCell::uninit();
    let (_, seen) = both(|| cell.init_once(|| Box::new(1)), || cell.try_get().ok().map(|number| **number));
    assert!(seen.is_none_or(|number| number == 1));
}
