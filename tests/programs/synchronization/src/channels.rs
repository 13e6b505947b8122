//! Channels: tickets for sending, tickets for receiving.

use std::cell::UnsafeCell;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError, TrySendError};
use std::thread;
use std::time::Duration;

/// Receives from so many threads, that have a clone of the sender each, until all are gone.
fn collect<S: Clone + Send + 'static>(count: i32, sender: S, receiver: &Receiver<i32>, send: fn(&S, i32)) {
    let start = |i| {
        let sender = sender.clone();
        thread::spawn(move || send(&sender, i))
    };
    let threads: Vec<_> = (0..count).map(start).collect();
    drop(sender);
    let mut received: Vec<i32> = receiver.iter().collect();
    received.sort_unstable();
    assert_eq!(received, (0..count).collect::<Vec<_>>());
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

// n producers with a message each: in which order they send, n!; in which order their senders are dropped does not
// matter.
#[dpor::test]
fn two_producers() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (sender, receiver) = mpsc::channel();
    collect(2, sender, &receiver, |sender, i| sender.send(i).unwrap());
}

#[dpor::test]
fn three_producers() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let (sender, receiver) = mpsc::channel();
    collect(3, sender, &receiver, |sender, i| sender.send(i).unwrap());
}

#[dpor::test]
fn two_producers_with_a_bound() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (sender, receiver) = mpsc::sync_channel(1);
    collect(2, sender, &receiver, |sender, i| sender.send(i).unwrap());
}

#[dpor::test]
fn two_producers_without_capacity() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (sender, receiver) = mpsc::sync_channel(0);
    collect(2, sender, &receiver, |sender, i| sender.send(i).unwrap());
}

// Each keeps its own order: 4! / (2! · 2!)
#[dpor::test]
fn two_messages_each() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for base in [0, 10] {
            let sender = sender.clone();
            scope.spawn(move || (base..base + 2).for_each(|i| sender.send(i).unwrap()));
        }
        drop(sender);
        let received: Vec<i32> = receiver.iter().collect();
        let of = |base| received.iter().copied().filter(move |i| i / 10 * 10 == base);
        assert!(of(0).eq(0..2) && of(10).eq(10..12));
    });
}

// One producer: 1, whatever the capacity.
#[dpor::test]
fn one_producer() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || (0..3).for_each(|i| sender.send(Box::new(i)).unwrap()));
    assert!(receiver.into_iter().map(|i| *i).eq(0..3));
    thread.join().unwrap();
}

#[dpor::test]
fn one_producer_with_a_bound() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (sender, receiver) = mpsc::sync_channel(1);
    let thread = thread::spawn(move || (0..3).for_each(|i| sender.send(Box::new(i)).unwrap()));
    assert!(receiver.into_iter().map(|i| *i).eq(0..3));
    thread.join().unwrap();
}

#[dpor::test]
fn one_producer_without_capacity() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (sender, receiver) = mpsc::sync_channel(0);
    let thread = thread::spawn(move || (0..3).for_each(|i| sender.send(Box::new(i)).unwrap()));
    assert!(receiver.into_iter().map(|i| *i).eq(0..3));
    thread.join().unwrap();
}

struct Shared(UnsafeCell<[u32; 3]>);

unsafe impl Sync for Shared {}

// That all senders are gone has one way to happen, and comes after all they did.
#[dpor::test]
fn all_senders_gone() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (sender, receiver) = mpsc::channel::<()>();
    let data = Shared(UnsafeCell::new([0; 3]));
    let data = &data;
    thread::scope(|scope| {
        for i in 0..3 {
            let sender = sender.clone();
            scope.spawn(move || {
                unsafe { (*data.0.get())[i] = 1 };
                drop(sender);
            });
        }
        drop(sender);
        assert!(receiver.recv().is_err());
        assert_eq!(unsafe { *data.0.get() }, [1; 3]);
    });
}

// What a sender did after its last message, and before it is gone, comes before the end of the channel, but not before
// its message.
#[dpor::test(expect = "data-race")]
fn too_early() {
    let (sender, receiver) = mpsc::channel();
    let data = Shared(UnsafeCell::new([0; 3]));
    let data = &data;
    thread::scope(|scope| {
        scope.spawn(move || {
            sender.send(1).unwrap();
            unsafe { (*data.0.get())[0] = 1 };
        });
        receiver.recv().unwrap();
        unsafe { (*data.0.get())[0] = 2 };
    });
}

// What was done before receiving from a full channel comes before the end of the sending that had to wait.
#[dpor::test]
fn backwards() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (sender, receiver) = mpsc::sync_channel(0);
    let data = Shared(UnsafeCell::new([0; 3]));
    let data = &data;
    thread::scope(|scope| {
        scope.spawn(move || {
            unsafe { (*data.0.get())[0] = 1 };
            receiver.recv().unwrap();
        });
        sender.send(()).unwrap();
        assert_eq!(unsafe { *data.0.get() }, [1, 0, 0]);
    });
}

// The message is sent before the receiver is gone, and dropped with the channel; or after, and comes back.
#[dpor::test]
fn receiver_gone() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || drop(receiver));
        if let Err(error) = sender.send(Box::new(5)) {
            assert_eq!(*error.0, 5);
        }
    });
}

// The receiver is gone before both messages, between them, or while the second one waits for room.
#[dpor::test]
fn receiver_gone_with_a_bound() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::scope(|scope| {
        scope.spawn(move || drop(receiver));
        let first = sender.send(Box::new(1));
        let second = sender.send(Box::new(2));
        assert!(first.is_ok() || second.is_err());
        assert_eq!(*second.unwrap_err().0, 2);
    });
}

#[dpor::test]
fn receiver_gone_without_capacity() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (sender, receiver) = mpsc::sync_channel(0);
    thread::scope(|scope| {
        scope.spawn(move || drop(receiver));
        assert_eq!(*sender.send(Box::new(1)).unwrap_err().0, 1);
    });
}

// The message is there in time, or it is not.
#[dpor::test]
fn received_in_time() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| sender.send(Box::new(5)).unwrap());
        match receiver.recv_timeout(Duration::from_millis(1)) {
            Ok(message) => assert_eq!(*message, 5),
            Err(error) => assert_eq!(error, RecvTimeoutError::Timeout),
        }
    });
}

#[dpor::test]
fn received_in_time_without_capacity() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (sender, receiver) = mpsc::sync_channel(0);
    thread::scope(|scope| {
        scope.spawn(move || {
            let receiver = receiver;
            match receiver.recv_timeout(Duration::from_millis(1)) {
                Ok(message) => assert_eq!(message, 5),
                Err(error) => {
                    assert_eq!(error, RecvTimeoutError::Timeout);
                    assert_eq!(receiver.recv(), Ok(5));
                }
            }
        });
        sender.send(5).unwrap();
    });
}

#[dpor::test]
fn attempt_to_receive() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| sender.send(5).unwrap());
        let result = receiver.try_recv();
        assert!(result == Ok(5) || result == Err(TryRecvError::Empty));
    });
}

// The sender is gone, or not yet.
#[dpor::test]
fn attempt_to_receive_from_nobody() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (sender, receiver) = mpsc::channel::<()>();
    let thread = thread::spawn(move || drop(sender));
    assert!(receiver.try_recv().is_err());
    thread.join().unwrap();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

// There is room before or after the first message is received.
#[dpor::test]
fn attempt_to_send() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (sender, receiver) = mpsc::sync_channel(1);
    sender.send(1).unwrap();
    thread::scope(|scope| {
        let thread = scope.spawn(move || (receiver.recv(), receiver));
        let result = sender.try_send(2);
        assert!(result.is_ok() || result == Err(TrySendError::Full(2)));
        assert_eq!(thread.join().unwrap().0, Ok(1));
    });
}

// Somebody receives, or nobody does yet.
#[dpor::test]
fn attempt_to_send_without_capacity() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (sender, receiver) = mpsc::sync_channel(0);
    thread::scope(|scope| {
        let thread = scope.spawn(move || (receiver.recv(), receiver));
        if sender.try_send(1).is_err() {
            sender.send(1).unwrap();
        }
        assert_eq!(thread.join().unwrap().0, Ok(1));
    });
}

// Messages that nobody receives are dropped, also those that are sent while the channel is.
#[dpor::test]
fn left_over() {
    // COUNT: rc11 1
    let (sender, receiver) = mpsc::channel();
    (0..3).for_each(|i| sender.send(Box::new(i)).unwrap());
    assert_eq!(receiver.recv(), Ok(Box::new(0)));
    drop(receiver);
    assert!(sender.send(Box::new(3)).is_err());
}

#[dpor::test]
fn message_for_oneself() {
    let (sender, receiver) = mpsc::sync_channel(0);
    sender.send(1).unwrap(); // ERROR: deadlock
    receiver.recv().unwrap();
}

#[dpor::test]
fn message_that_never_comes() {
    let (_sender, receiver) = mpsc::channel::<()>();
    _ = receiver.recv(); // ERROR: deadlock
}

// A loop that asks again and again ends in one way: when the message is there.
#[dpor::test]
fn tried_until_it_comes() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| sender.send(5).unwrap());
        while receiver.try_recv().is_err() {
            thread::yield_now();
        }
    });
}

#[dpor::test]
fn waited_again_and_again() {
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| sender.send(5).unwrap());
        while receiver.recv_timeout(Duration::from_millis(1)).is_err() {}
    });
}

// The library parks a thread that waits for a message. If the token that was meant for later comes before that thread
// has woken up, it is gone: `tests/tests/library.rs` has that natively.
#[dpor::test]
fn token_lost_while_receiving() {
    let (sender, receiver) = mpsc::channel();
    let main = thread::current();
    let thread = thread::spawn(move || {
        sender.send(1).unwrap();
        main.unpark();
    });
    assert_eq!(receiver.recv(), Ok(1));
    thread::park(); // ERROR: deadlock
    thread.join().unwrap();
}

// A thread for which there is a message already is not parked.
#[dpor::test]
fn token_kept_where_nobody_waits() {
    let (sender, receiver) = mpsc::channel();
    let main = thread::current();
    thread::spawn(move || {
        sender.send(1).unwrap();
        main.unpark();
    })
    .join()
    .unwrap();
    assert_eq!(receiver.recv(), Ok(1));
    thread::park();
}

// Who looks at its token before it receives, and not afterwards, never notices: one execution, as if it had not parked.
#[dpor::test]
fn token_used_before_receiving() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (sender, receiver) = mpsc::channel();
    let main = thread::current();
    let thread = thread::spawn(move || {
        main.unpark();
        sender.send(1).unwrap();
    });
    thread::park();
    assert_eq!(receiver.recv(), Ok(1));
    thread.join().unwrap();
}

// So is one that waits for room, or for a receiver to come.
#[dpor::test]
fn token_lost_while_sending() {
    let (sender, receiver) = mpsc::sync_channel(0);
    let thread = thread::spawn(move || {
        sender.send(1).unwrap();
        thread::park();
    });
    thread.thread().unpark();
    assert_eq!(receiver.recv(), Ok(1));
    thread.join().unwrap(); // ERROR: deadlock
}

// Or for the channel to be disconnected.
#[dpor::test]
fn token_lost_while_waiting_for_the_end() {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        assert_eq!(receiver.iter().sum::<i32>(), 1);
        thread::park();
    });
    thread.thread().unpark();
    sender.send(1).unwrap();
    drop(sender);
    thread.join().unwrap(); // ERROR: deadlock
}

// Who tries to receive does not wait, and keeps its token.
#[dpor::test]
fn token_kept_where_somebody_tries() {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        _ = receiver.try_recv();
        thread::park();
    });
    thread.thread().unpark();
    _ = sender.send(1);
    thread.join().unwrap();
}
