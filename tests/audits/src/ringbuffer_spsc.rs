use ringbuffer_spsc::ringbuffer;

use crate::both;

/// A thread pushes while another pulls: nothing or the whole value.
#[dpor::test]
fn push_while_pulling() {
    let (mut writer, mut reader) = ringbuffer(2);
    let (_, seen) = both(|| writer.push(Box::new(1)), || reader.pull());
    assert!(seen.is_none_or(|number| *number == 1));
}

/// A thread pushes while another peeks: nothing or the whole value.
#[dpor::test]
fn push_while_peeking() {
    let (mut writer, mut reader) = ringbuffer(2);
    let (_, seen) = both(|| writer.push(Box::new(1)), || reader.peek().map(|number| **number));
    assert!(seen.is_none_or(|number| number == 1));
}

/// The two halves are dropped at the same time: the buffer and what is in it are freed once.
#[dpor::test]
fn two_drops() {
    let (mut writer, reader) = ringbuffer(2);
    writer.push(Box::new(1));
    both(move || drop(writer), move || drop(reader));
}
