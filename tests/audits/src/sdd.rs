use std::sync::atomic::Ordering::{AcqRel, Acquire};

use sdd::{AtomicShared, Guard, Shared, Tag};

use crate::both;

/// A thread replaces a value while another reads: what it reads is alive.
#[dpor::test]
fn swap_while_reading() {
    let value = AtomicShared::new(1);
    let (_, seen) = both(
        || drop(value.swap((Some(Shared::new(2)), Tag::None), AcqRel)),
        || value.load(Acquire, &Guard::new()).as_ref().copied(),
    );
    assert!(seen == Some(1) || seen == Some(2));
}
