use haphazard::{AtomicPtr, Domain, HazardPointer};

use crate::both;

/// A thread replaces a value and retires the old one while another reads: what it reads is alive.
#[dpor::test]
fn retire_while_reading() {
    let value = AtomicPtr::from(Box::new(1));
    let (_, seen) = both(
        || {
            let old = value.swap(Box::new(2)).unwrap();
            // SAFETY: the old value is retired once.
            unsafe { old.retire() };
            Domain::global().eager_reclaim();
        },
        || {
            let mut hazard = HazardPointer::new();
            *value.safe_load(&mut hazard).unwrap()
        },
    );
    assert!(seen == 1 || seen == 2);
    // SAFETY: nobody else has the value.
    unsafe { value.retire() };
    Domain::global().eager_reclaim();
}
