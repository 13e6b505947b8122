//! heapless 0.9.3: `peek` looks whether the queue is empty with a relaxed load.
//@ arguments: --suggest --timeout 600

use heapless::spsc::Queue;
use std::thread;

#[dpor::test]
fn peek_while_enqueueing() {
    let mut queue: Queue<u32, 4> = Queue::new();
    let (mut producer, consumer) = queue.split();
    thread::scope(|scope| {
        scope.spawn(move || producer.enqueue(7).unwrap());
        assert!(matches!(consumer.peek(), None | Some(7)));
    });
}
