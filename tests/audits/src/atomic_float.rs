use std::sync::atomic::Ordering::Relaxed;

use atomic_float::AtomicF64;

use crate::both;

/// Two threads add: both count.
#[dpor::test]
fn two_additions() {
    let number = AtomicF64::new(0.0);
    both(|| number.fetch_add(1.0, Relaxed), || number.fetch_add(2.0, Relaxed));
    assert_eq!(number.load(Relaxed), 3.0);
}
