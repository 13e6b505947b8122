use pollster::block_on;

use crate::both;

/// A thread sends while another receives: the message arrives.
#[dpor::test]
fn send_while_receiving() {
    let (sender, mut receiver) = tachyonix::channel(1);
    let (sent, received) = both(|| sender.try_send(Box::new(1)), || block_on(receiver.recv()));
    assert!(sent.is_ok());
    assert_eq!(received, Ok(Box::new(1)));
}
