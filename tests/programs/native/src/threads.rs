//! Threads whose result does not depend on the schedule.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError, TrySendError};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

#[dpor::test]
fn spawn_and_join() {
    let text = String::from("moved in");
    let handle = thread::spawn(move || {
        println!("thread has {text}");
        text.len()
    });
    println!("length {}", handle.join().unwrap());
    let handles: Vec<_> = (0..3u64).map(|n| thread::spawn(move || (1..=n + 4).product::<u64>())).collect();
    println!("{:?}", handles.into_iter().map(|h| h.join().unwrap()).collect::<Vec<_>>());
    let nested = thread::spawn(|| thread::spawn(|| "inner").join().unwrap().len()).join();
    println!("{nested:?}");
}

#[dpor::test]
fn names_and_builders() {
    let handle = thread::Builder::new()
        .name("worker".into())
        .stack_size(256 * 1024)
        .spawn(|| thread::current().name().map(str::to_owned))
        .unwrap();
    println!("{:?}", handle.thread().name());
    println!("{:?}", handle.join().unwrap());
    println!("{:?}", thread::spawn(|| thread::current().name().is_none()).join().unwrap());
    let ids = [thread::current().id(), thread::spawn(|| thread::current().id()).join().unwrap()];
    println!("{}", ids[0] != ids[1]);
}

#[dpor::test]
fn scoped_threads() {
    let mut numbers: Vec<u32> = (0..8).collect();
    let total = AtomicU32::new(0);
    let result = thread::scope(|scope| {
        for chunk in numbers.chunks_mut(3) {
            scope.spawn(|| {
                for n in chunk.iter_mut() {
                    *n *= *n;
                    total.fetch_add(*n, Ordering::Relaxed);
                }
            });
        }
        scope.spawn(|| "from the scope").join().unwrap()
    });
    println!("{numbers:?} {total:?} {result}");
}

#[dpor::test]
fn panics_through_join() {
    let error = thread::spawn(|| panic!("in a thread: {}", 5)).join().unwrap_err();
    println!("{:?}", error.downcast_ref::<String>());
    let error = thread::Builder::new().name("named".into()).spawn(|| {
        let list: Vec<i32> = Vec::new();
        list[0]
    });
    println!("{:?}", error.unwrap().join().unwrap_err().downcast_ref::<String>());
    let error = thread::spawn(|| std::panic::panic_any(77i64)).join().unwrap_err();
    println!("{:?}", error.downcast::<i64>());
}

#[dpor::test]
fn poisoned_locks() {
    let lock = Arc::new(Mutex::new(1));
    let other = lock.clone();
    let result = thread::spawn(move || {
        let mut guard = other.lock().unwrap();
        *guard = 2;
        panic!("while holding the lock");
    })
    .join();
    println!("{} {}", result.is_err(), lock.is_poisoned());
    println!("{:?}", lock.lock().map(|guard| *guard).map_err(|e| e.to_string()));
    println!("{}", *lock.lock().unwrap_or_else(PoisonError::into_inner));
    lock.clear_poison();
    println!("{:?}", lock.lock().map(|guard| *guard).is_ok());
}

#[dpor::test]
fn channels() {
    let (sender, receiver) = mpsc::channel();
    println!("{:?}", receiver.try_recv() == Err(TryRecvError::Empty));
    let worker = thread::spawn(move || {
        for n in 0..5 {
            sender.send(n * n).unwrap();
        }
    });
    worker.join().unwrap();
    println!("{:?} {:?}", receiver.recv(), receiver.iter().collect::<Vec<i32>>());
    println!("{:?} {:?}", receiver.recv(), receiver.try_recv());
    let (sender, receiver) = mpsc::channel::<String>();
    drop(receiver);
    println!("{:?}", sender.send("nobody listens".into()).map_err(|e| e.0));
    let (sender, receiver) = mpsc::sync_channel(1);
    println!("{:?} {:?}", sender.try_send('a'), sender.try_send('b'));
    let producer = thread::spawn(move || "xyz".chars().for_each(|c| sender.send(c).unwrap()));
    println!("{}", receiver.iter().collect::<String>());
    producer.join().unwrap();
    let (_sender, receiver) = mpsc::channel::<u8>();
    println!("{:?}", receiver.recv_timeout(Duration::from_millis(1)) == Err(RecvTimeoutError::Timeout));
}

#[dpor::test]
fn pipeline() {
    let (to_square, numbers) = mpsc::channel::<u64>();
    let (to_print, squares) = mpsc::channel::<(u64, u64)>();
    let stage = thread::spawn(move || {
        for n in numbers {
            to_print.send((n, n * n)).unwrap();
        }
    });
    for n in [3, 1, 4] {
        to_square.send(n).unwrap();
    }
    drop(to_square);
    for (n, square) in squares {
        println!("{n} -> {square}");
    }
    stage.join().unwrap();
}

#[dpor::test]
fn condition_variables() {
    let state = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
    let other = state.clone();
    let consumer = thread::spawn(move || {
        let (lock, ready) = &*other;
        let list = ready.wait_while(lock.lock().unwrap(), |list| list.len() < 2).unwrap();
        list.clone()
    });
    for item in ["a", "b"] {
        state.0.lock().unwrap().push(item);
        state.1.notify_one();
    }
    println!("{:?}", consumer.join().unwrap());
    let (lock, never) = (Mutex::new(()), Condvar::new());
    let (_guard, result) = never.wait_timeout_while(lock.lock().unwrap(), Duration::from_millis(1), |()| true).unwrap();
    println!("{}", result.timed_out());
}

#[dpor::test]
fn locks() {
    let shared = Arc::new(RwLock::new(String::from("start")));
    let counter = Arc::new(Mutex::new(0));
    let barrier = Arc::new(Barrier::new(3));
    let once = Arc::new(Once::new());
    let handles: Vec<_> = (0..2)
        .map(|_| {
            let (shared, counter, barrier, once) = (shared.clone(), counter.clone(), barrier.clone(), once.clone());
            thread::spawn(move || {
                once.call_once(|| *shared.write().unwrap() += " once");
                *counter.lock().unwrap() += 10;
                let leader = barrier.wait().is_leader();
                (leader, shared.read().unwrap().clone())
            })
        })
        .collect();
    let mut leaders = u32::from(barrier.wait().is_leader());
    println!("{}", counter.lock().unwrap());
    for handle in handles {
        let (leader, text) = handle.join().unwrap();
        leaders += u32::from(leader);
        println!("{text}");
    }
    println!("{leaders} leader");
}

#[dpor::test]
fn parking() {
    let handle = thread::spawn(|| {
        thread::park();
        "unparked"
    });
    handle.thread().unpark();
    println!("{}", handle.join().unwrap());
    thread::current().unpark();
    thread::park();
    thread::park_timeout(Duration::from_millis(1));
    thread::yield_now();
    println!("here again");
}

#[dpor::test]
fn sizes() {
    println!("{} {} {}", size_of::<Mutex<()>>(), size_of::<RwLock<()>>(), size_of::<Condvar>());
    println!("{} {} {}", size_of::<Once>(), size_of::<OnceLock<u64>>(), size_of::<LazyLock<u64>>());
    println!("{} {}", size_of::<Barrier>(), size_of::<thread::Thread>());
    println!("{} {}", size_of::<mpsc::Sender<u8>>(), size_of::<mpsc::Receiver<u8>>());
}

const SHORT: Duration = Duration::from_millis(1);

#[dpor::test]
fn too_late() {
    let start = Instant::now();
    let (sender, receiver) = mpsc::sync_channel::<u8>(0);
    println!("{:?} {:?}", receiver.recv_timeout(SHORT), sender.try_send(1));
    let (lock, changed) = (Mutex::new(1), Condvar::new());
    let (guard, result) = changed.wait_timeout(lock.lock().unwrap(), SHORT).unwrap();
    println!("{} {}", *guard, result.timed_out());
    thread::park_timeout(SHORT);
    println!("{}", start.elapsed() >= 3 * SHORT);
}

/// Says when it is dropped.
struct Loud(u32);

impl Drop for Loud {
    fn drop(&mut self) {
        println!("dropped {}", self.0);
    }
}

#[dpor::test]
fn messages_are_dropped() {
    let (sender, receiver) = mpsc::channel();
    (0..4).for_each(|i| sender.send(Loud(i)).unwrap());
    println!("received {}", receiver.recv().unwrap().0);
    println!("tried {}", receiver.try_iter().take(1).map(|message| message.0).sum::<u32>());
    drop(receiver);
    println!("gone");
    println!("back: {}", sender.send(Loud(9)).unwrap_err().0.0);
    let (sender, receiver) = mpsc::sync_channel(2);
    (10..12).for_each(|i| sender.send(Loud(i)).unwrap());
    println!("full: {}", matches!(sender.try_send(Loud(12)), Err(TrySendError::Full(_))));
    let blocked = thread::spawn(move || sender.send(Loud(13)));
    thread::sleep(100 * SHORT);
    drop(receiver);
    println!("back: {}", blocked.join().unwrap().unwrap_err().0.0);
}

#[dpor::test]
fn the_test_names_its_thread() {
    let main = thread::current();
    println!("{:?}", main.name());
    thread::spawn(move || println!("{:?} {:?}", thread::current().name(), main.name())).join().unwrap();
    let named = thread::Builder::new().name("other".to_owned());
    named.spawn(|| println!("{:?}", thread::current().name())).unwrap().join().unwrap();
}
