//! Tests that return a result.

use std::sync::mpsc;
use std::thread;

#[dpor::test]
fn fails_in_some_executions() -> Result<(), mpsc::TryRecvError> {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || sender.send(1).is_ok());
    let received = receiver.try_recv();
    thread.join().unwrap();
    assert_eq!(received?, 1);
    Ok(())
}
