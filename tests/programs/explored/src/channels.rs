//! `mpsc`: unbounded, bounded and rendezvous channels.

use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError, TrySendError};
use std::thread;
use std::time::Duration;

use crate::support::Plain;

#[dpor::test]
fn in_order() {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
    thread.join().unwrap();
}

// What was done before sending is seen after receiving.
#[dpor::test]
fn data_beside_the_channel() {
    static DATA: Plain<u32> = Plain::new(0);
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        unsafe { *DATA.get() = 1 };
        sender.send(()).unwrap();
    });
    receiver.recv().unwrap();
    assert_eq!(unsafe { *DATA.get() }, 1);
    thread.join().unwrap();
}

// What is done after sending is not.
#[dpor::test]
fn data_written_after_sending() {
    static DATA: Plain<u32> = Plain::new(0);
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        sender.send(()).unwrap();
        unsafe { *DATA.get() = 1 }; // ERROR: data-race
    });
    receiver.recv().unwrap();
    let seen = unsafe { *DATA.get() }; // ERROR: data-race
    assert_ne!(seen, 7);
    thread.join().unwrap();
}

#[dpor::test]
fn boxed_messages() {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || sender.send(Box::new(5)).unwrap());
    let mut message: Box<u32> = receiver.recv().unwrap();
    *message += 1;
    assert_eq!(*message, 6);
    thread.join().unwrap();
}

#[dpor::test]
fn two_senders() {
    let (sender, receiver) = mpsc::channel();
    let other = sender.clone();
    let threads = [thread::spawn(move || sender.send(1).unwrap()), thread::spawn(move || other.send(2).unwrap())];
    let received = [receiver.recv().unwrap(), receiver.recv().unwrap()];
    assert!(received == [1, 2] || received == [2, 1]);
    for thread in threads {
        thread.join().unwrap();
    }
}

#[dpor::test]
fn two_senders_thought_to_be_in_order() {
    let (sender, receiver) = mpsc::channel();
    let other = sender.clone();
    let threads = [thread::spawn(move || sender.send(1).unwrap()), thread::spawn(move || other.send(2).unwrap())];
    let received = [receiver.recv().unwrap(), receiver.recv().unwrap()];
    assert_eq!(received, [1, 2]); // ERROR: panic
    for thread in threads {
        thread.join().unwrap();
    }
}

#[dpor::test]
fn there_or_not_yet() {
    let (sender, receiver) = mpsc::channel();
    let keep = sender.clone();
    let thread = thread::spawn(move || sender.send(5).unwrap());
    assert!([Ok(5), Err(TryRecvError::Empty)].contains(&receiver.try_recv()));
    thread.join().unwrap();
    drop(keep);
}

#[dpor::test]
fn not_there_yet() {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || sender.send(5).unwrap());
    assert_eq!(receiver.try_recv(), Ok(5)); // ERROR: panic
    thread.join().unwrap();
}

#[dpor::test]
fn sender_gone() {
    let (sender, receiver) = mpsc::channel::<u32>();
    let thread = thread::spawn(move || drop(sender));
    assert!(receiver.recv().is_err());
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    thread.join().unwrap();
}

#[dpor::test]
fn all_until_the_sender_is_gone() {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || (0..2).for_each(|i| sender.send(i).unwrap()));
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1]);
    thread.join().unwrap();
}

#[dpor::test]
fn receiver_gone() {
    let (sender, receiver) = mpsc::channel();
    drop(receiver);
    let thread = thread::spawn(move || sender.send(5).is_err());
    assert!(thread.join().unwrap());
}

// The message is sent in time, or given back.
#[dpor::test]
fn receiver_gone_or_not_yet() {
    let (sender, receiver) = mpsc::sync_channel(1);
    let thread = thread::spawn(move || sender.send(Box::new(5)).is_ok());
    drop(receiver);
    thread.join().unwrap();
}

#[dpor::test]
fn receiver_thought_to_be_there() {
    let (sender, receiver) = mpsc::sync_channel(1);
    let thread = thread::spawn(move || drop(receiver));
    sender.send(5).unwrap(); // ERROR: panic
    thread.join().unwrap();
}

#[dpor::test]
fn time_is_over() {
    let (sender, receiver) = mpsc::channel::<u32>();
    assert_eq!(receiver.recv_timeout(Duration::from_millis(5)), Err(RecvTimeoutError::Timeout));
    drop(sender);
    assert_eq!(receiver.recv_timeout(Duration::from_millis(5)), Err(RecvTimeoutError::Disconnected));
}

#[dpor::test]
fn received_in_time_or_not() {
    let (sender, receiver) = mpsc::channel();
    let keep = sender.clone();
    let thread = thread::spawn(move || sender.send(5).unwrap());
    let received = receiver.recv_timeout(Duration::from_secs(1));
    assert!([Ok(5), Err(RecvTimeoutError::Timeout)].contains(&received));
    thread.join().unwrap();
    drop(keep);
}

#[dpor::test]
fn received_in_time_as_was_thought() {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || sender.send(5).unwrap());
    assert_eq!(receiver.recv_timeout(Duration::from_secs(3600)), Ok(5)); // ERROR: panic
    thread.join().unwrap();
}

// The sender of the second message waits until there is room.
#[dpor::test]
fn bounded() {
    let (sender, receiver) = mpsc::sync_channel(1);
    let thread = thread::spawn(move || {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
    thread.join().unwrap();
}

#[dpor::test]
fn full_or_not() {
    let (sender, receiver) = mpsc::sync_channel(1);
    sender.send(1).unwrap();
    let thread = thread::spawn(move || receiver.recv().unwrap());
    let sent = sender.try_send(2);
    assert!(matches!(sent, Ok(()) | Err(TrySendError::Full(2) | TrySendError::Disconnected(2))));
    assert_eq!(thread.join().unwrap(), 1);
}

#[dpor::test]
fn rendezvous() {
    static RECEIVED: AtomicUsize = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::sync_channel(0);
    let thread = thread::spawn(move || {
        RECEIVED.store(1, Relaxed);
        receiver.recv().unwrap()
    });
    sender.send(5).unwrap();
    // Nobody can send before somebody receives.
    assert_eq!(RECEIVED.load(Relaxed), 1);
    assert_eq!(thread.join().unwrap(), 5);
}

// With a buffer, somebody can.
#[dpor::test]
fn buffered_where_a_rendezvous_was_meant() {
    static RECEIVED: AtomicUsize = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::sync_channel(1);
    let thread = thread::spawn(move || {
        RECEIVED.store(1, Relaxed);
        receiver.recv().unwrap()
    });
    sender.send(5).unwrap();
    assert_eq!(RECEIVED.load(Relaxed), 1); // ERROR: panic
    assert_eq!(thread.join().unwrap(), 5);
}

#[dpor::test]
fn message_that_nobody_receives() {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || sender.send(Box::new(1)).is_ok());
    drop(receiver);
    thread.join().unwrap();
}
