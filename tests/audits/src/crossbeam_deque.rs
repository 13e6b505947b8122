use crossbeam_deque::{Injector, Steal, Worker};

use crate::both;

/// The owner pops while another thread steals the only task: exactly one gets it.
#[dpor::test]
fn pop_while_stealing_last() {
    let worker = Worker::new_lifo();
    worker.push(Box::new(1));
    let stealer = worker.stealer();
    let (stolen, popped) = both(move || stealer.steal().success(), || worker.pop());
    assert!(stolen.is_some() && popped.is_none() || popped.is_some() && stolen.is_none());
}

/// The owner pushes while another thread steals: nothing or the whole task.
#[dpor::test]
fn push_while_stealing() {
    let worker = Worker::new_fifo();
    let stealer = worker.stealer();
    let (stolen, _) = both(move || stealer.steal().success(), || worker.push(Box::new(1)));
    assert!(stolen.is_none_or(|task| *task == 1));
}

/// Two threads steal from an injector with one task: exactly one gets it.
#[dpor::test]
fn two_steals_from_injector() {
    let injector = Injector::new();
    injector.push(Box::new(1));
    let steal = || {
        loop {
            match injector.steal() {
                Steal::Success(task) => return Some(task),
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    };
    let (one, two) = both(steal, steal);
    assert!(one.is_some() != two.is_some());
}
