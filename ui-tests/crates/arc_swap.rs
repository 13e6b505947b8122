//! arc-swap 1.5.0: a writer may not see the list of debts that a reader has just entered.

use arc_swap::ArcSwap;
use std::sync::Arc;
use std::thread;

#[dpor::test]
fn load_while_storing() {
    let shared = ArcSwap::from_pointee(1);
    thread::scope(|scope| {
        scope.spawn(|| shared.store(Arc::new(2)));
        assert!(**shared.load() > 0);
    });
}
