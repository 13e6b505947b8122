//! Channels.

use std::sync::mpsc::{channel, sync_channel};
use std::thread;

#[dpor::test]
fn in_the_wrong_order() {
    let (sender, receiver) = channel();
    let other = sender.clone();
    let thread = thread::spawn(move || other.send(1).unwrap());
    sender.send(2).unwrap();
    assert_eq!(receiver.recv(), Ok(1));
    thread.join().unwrap();
}

#[dpor::test]
fn all_senders_are_gone() {
    let (sender, receiver) = channel::<u32>();
    let thread = thread::spawn(move || drop(sender));
    let received = receiver.recv();
    thread.join().unwrap();
    assert_eq!(received, Ok(1));
}

#[dpor::test]
fn the_receiver_is_gone() {
    let (sender, receiver) = channel();
    let thread = thread::spawn(move || drop(receiver));
    assert!(sender.send(1).is_ok());
    thread.join().unwrap();
}

#[dpor::test]
fn no_room() {
    let (sender, receiver) = sync_channel(1);
    let thread = thread::spawn(move || {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
    thread.join().unwrap();
    drop(receiver);
}
