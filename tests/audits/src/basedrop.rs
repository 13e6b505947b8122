use basedrop::{Collector, Shared};

use crate::both;

/// Two threads drop the last two handles: the collector frees the value once.
#[dpor::test]
fn two_drops() {
    let mut collector = Collector::new();
    let one = Shared::new(&collector.handle(), Box::new(1));
    let two = one.clone();
    let (a, b) = both(move || **one, move || **two);
    assert_eq!((a, b), (1, 1));
    collector.collect();
    assert_eq!(collector.alloc_count(), 0);
    assert!(collector.try_cleanup().is_ok());
}

/// A thread drops the value while another collects: it is freed now or later, once.
#[dpor::test]
fn collect_while_dropping() {
    let mut collector = Collector::new();
    let value = Shared::new(&collector.handle(), Box::new(1));
    both(move || drop(value), || collector.collect());
    collector.collect();
    assert!(collector.try_cleanup().is_ok());
}
