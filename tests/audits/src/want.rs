use pollster::block_on;

use crate::both;

/// A thread wants while another waits for that: no wake-up is lost.
#[dpor::test]
fn want_while_waiting() {
    let (mut giver, mut taker) = want::new();
    let (_, wanted) = both(|| taker.want(), || block_on(giver.want()));
    assert!(wanted.is_ok());
}

/// A thread drops the taker while another waits: it is told.
#[dpor::test]
fn drop_while_waiting() {
    let (mut giver, taker) = want::new();
    let (_, wanted) = both(move || drop(taker), || block_on(giver.want()));
    assert!(wanted.is_err());
}
