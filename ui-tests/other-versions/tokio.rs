//! tokio 1.13.0 (RUSTSEC-2021-0124): sending a value and closing the channel may both take the value.

use std::thread;
use tokio::sync::oneshot;

#[dpor::test]
fn send_while_closing() {
    let (sender, mut receiver) = oneshot::channel();
    let thread = thread::spawn(move || sender.send(Box::new(1)).is_ok());
    receiver.close();
    let received = receiver.try_recv();
    assert_eq!(thread.join().unwrap(), received.is_ok());
}
