use std::num::NonZeroUsize;

use ring_channel::ring_channel;

use crate::both;

/// A thread sends two messages through a ring with room for one while another receives: what is old is dropped.
#[dpor::test]
fn send_while_receiving() {
    let (sender, receiver) = ring_channel(NonZeroUsize::MIN);
    let (_, seen) = both(
        || {
            (1..=2).for_each(|number| {
                sender.send(Box::new(number)).unwrap();
            })
        },
        || receiver.try_recv().ok(),
    );
    assert!(seen.is_none_or(|number| *number == 1 || *number == 2));
}
