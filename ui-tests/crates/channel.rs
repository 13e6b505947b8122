//! crossbeam-channel 0.5.13 (RUSTSEC-2025-0024): a receiver that disconnects frees a block that the channel frees again.

use std::thread;

#[dpor::test]
fn send_while_disconnecting() {
    let (sender, receiver) = crossbeam_channel::unbounded();
    let other = sender.clone();
    let first = thread::spawn(move || sender.send(1).is_ok());
    let second = thread::spawn(move || other.send(2).is_ok());
    drop(receiver);
    first.join().unwrap();
    second.join().unwrap();
}
