//! oneshot 0.1.11: dropping the sender and receiving do not synchronize before the channel is freed.
//@ arguments: --suggest --timeout 600

use std::thread;

#[dpor::test]
fn receive_while_dropping_the_sender() {
    let (sender, receiver) = oneshot::channel::<u32>();
    let thread = thread::spawn(move || drop(sender));
    assert!(receiver.recv().is_err());
    thread.join().unwrap();
}
