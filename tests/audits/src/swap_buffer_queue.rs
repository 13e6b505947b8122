use swap_buffer_queue::Queue;
use swap_buffer_queue::buffer::VecBuffer;

use crate::both;

/// A thread enqueues while another dequeues: nothing or the whole value.
#[dpor::test]
fn enqueue_while_dequeuing() {
    let queue: Queue<VecBuffer<Box<u32>>> = Queue::with_capacity(2);
    let (_, seen) = both(
        || queue.try_enqueue([Box::new(1)]).unwrap(),
        || queue.try_dequeue().map(|slice| slice.into_iter().map(|number| *number).collect::<Vec<_>>()),
    );
    assert!(seen.is_err() || seen.is_ok_and(|seen| seen == [1]));
}
