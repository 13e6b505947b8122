use bbqueue::nicknames::Churrasco;

use crate::both;

/// A thread writes two bytes while another reads: nothing or what was written.
#[dpor::test]
fn write_while_reading() {
    let queue: Churrasco<4> = Churrasco::new();
    let (producer, consumer) = (queue.stream_producer(), queue.stream_consumer());
    both(
        || {
            let mut grant = producer.grant_exact(2).unwrap();
            grant.copy_from_slice(&[1, 2]);
            grant.commit(2);
        },
        || {
            if let Ok(grant) = consumer.read() {
                assert_eq!(*grant, [1, 2]);
                grant.release(2);
            }
        },
    );
}

/// A thread reuses room while another frees it: nothing is written where something is read.
#[dpor::test]
fn write_what_was_read() {
    let queue: Churrasco<2> = Churrasco::new();
    let (producer, consumer) = (queue.stream_producer(), queue.stream_consumer());
    let write = |byte| match producer.grant_exact(1) {
        Ok(mut grant) => {
            grant[0] = byte;
            grant.commit(1);
            true
        }
        Err(_) => false,
    };
    assert!(write(1) && write(2));
    both(
        || write(3),
        || {
            let grant = consumer.read().unwrap();
            assert_eq!(*grant, [1, 2]);
            grant.release(2);
        },
    );
}
