//! basedrop 0.1.1: `SharedCell::get` gives out a value without counting that, so it is freed too early.

use basedrop::{Collector, Shared, SharedCell};
use std::thread;

#[dpor::test]
fn get_twice() {
    let mut collector = Collector::new();
    let value = Shared::new(&collector.handle(), 1);
    let cell = SharedCell::new(value.clone());
    thread::scope(|scope| {
        scope.spawn(|| drop(cell.get()));
        drop(value);
    });
    drop(cell.get());
    collector.collect();
    assert_eq!(*cell.get(), 1);
}
