use std::sync::{mpsc, Mutex};

#[dpor::test]
fn locks_twice() {
    let lock = Mutex::new(0);
    let _guard = lock.lock().unwrap();
    let _again = lock.lock().unwrap();
}

#[dpor::test]
fn receives_what_nobody_sends() {
    let (sender, receiver) = mpsc::channel::<u32>();
    let _ = receiver.recv();
    drop(sender);
}
