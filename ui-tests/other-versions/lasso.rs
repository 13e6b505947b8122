//! lasso 0.7.0: two threads use the same bucket of the arena.

use lasso::{Capacity, ThreadedRodeo};
use std::num::NonZeroUsize;
use std::thread;

#[dpor::test]
fn two_strings() {
    let rodeo: ThreadedRodeo = ThreadedRodeo::with_capacity(Capacity::new(2, NonZeroUsize::new(64).unwrap()));
    thread::scope(|scope| {
        scope.spawn(|| rodeo.get_or_intern("a"));
        rodeo.get_or_intern("b");
    });
}
