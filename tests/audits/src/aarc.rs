use aarc::{Arc, AtomicArc};

use crate::both;

/// A thread stores while another loads: it gets the old value or the new one, alive.
#[dpor::test]
fn load_while_storing() {
    let shared = AtomicArc::new(1);
    let (_, seen) = both(|| shared.store(Some(&Arc::new(2))), || shared.load().map(|guard| *guard));
    assert!(seen == Some(1) || seen == Some(2));
}
