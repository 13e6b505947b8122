//! arc-swap 1.9.0: a writer that fails to pay a debt may not see that it has just been made.
//@ arguments: --suggest --timeout 600

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
