use std::sync::mpsc;

use pollster::block_on;

use crate::both;

/// A task is run in one thread and awaited in another: its result arrives.
#[dpor::test]
fn run_while_awaiting() {
    let (sender, receiver) = mpsc::channel();
    let (runnable, task) = async_task::spawn(async { Box::new(1) }, move |runnable| sender.send(runnable).unwrap());
    let (_, number) = both(move || runnable.run(), || block_on(task));
    assert_eq!(*number, 1);
    drop(receiver);
}

/// A task is run in one thread and canceled in another: it has run, or it has not, and its result is freed.
#[dpor::test]
fn run_while_canceling() {
    let (runnable, task) = async_task::spawn(async { Box::new(1) }, drop);
    let (_, number) = both(move || runnable.run(), || block_on(task.cancel()));
    assert!(number.is_none_or(|number| *number == 1));
}
