use bus::Bus;

use crate::both;

/// A thread broadcasts while another receives: the message arrives.
#[dpor::test]
fn broadcast_one() {
    let mut bus = Bus::new(1);
    let mut reader = bus.add_rx();
    let (_, seen) = both(|| bus.try_broadcast(Box::new(1)), || reader.try_recv());
    assert!(seen.is_err() || seen == Ok(Box::new(1)));
}
