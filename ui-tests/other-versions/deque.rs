//! crossbeam-deque 0.8.0 (RUSTSEC-2021-0093): a thief goes on with a buffer that the owner has replaced.

use crossbeam_deque::Worker;
use std::thread;

#[dpor::test]
fn steal_while_the_buffer_shrinks() {
    let worker = Worker::new_lifo();
    (0..65).for_each(|number| worker.push(Box::new(number)));
    let stealer = worker.stealer();
    (0..62).for_each(|_| drop(stealer.steal()));
    let thread = thread::spawn(move || {
        let mine = Worker::new_lifo();
        let _ = stealer.steal_batch(&mine);
    });
    worker.pop();
    worker.pop();
    worker.push(Box::new(65));
    thread.join().unwrap();
}
