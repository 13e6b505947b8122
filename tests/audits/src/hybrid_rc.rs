use hybrid_rc::{Arc, Rc};

use crate::both;

/// The owner drops its local handle while another thread drops a shared one: the value is freed once.
#[dpor::test]
fn two_drops() {
    let local = Rc::new(Box::new(1));
    let shared = Rc::to_shared(&local);
    let (a, b) = both(move || **shared, move || **local);
    assert_eq!((a, b), (1, 1));
}

/// A thread upgrades a weak handle while another drops the last strong one: alive or nothing.
#[dpor::test]
fn upgrade_while_dropping() {
    let strong = Arc::new(Box::new(1));
    let weak = Arc::downgrade(&strong);
    let (seen, ()) = both(move || weak.upgrade().ok().map(|number| **number), move || drop(strong));
    assert!(seen.is_none_or(|number| number == 1));
}
