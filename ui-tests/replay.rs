//@ then: replay --quiet target/dpor/replay/loses_an_update.rc11.json
//@ then: replay --quiet --format json target/dpor/replay/loses_an_update.rc11.json
//@ then: replay --quiet target/dpor/replay/is_not_there.rc11.json
//@ then: replay --quiet Cargo.toml

//! A failing execution can be run again, and gives the same report.

use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

#[dpor::test]
fn loses_an_update() {
    let number = AtomicU8::new(5);
    thread::scope(|scope| {
        scope.spawn(|| number.fetch_add(1, Ordering::Relaxed));
        let seen = number.load(Ordering::Relaxed);
        number.store(seen + 1, Ordering::Relaxed);
    });
    println!("the number is {number:?}");
    assert_eq!(number.into_inner(), 7);
}
