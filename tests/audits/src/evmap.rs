use crate::both;

/// A thread publishes while another reads: the old state or the new one.
#[dpor::test]
fn get_while_publishing() {
    let (mut writer, reader) = evmap::new();
    writer.insert(1, Box::new(1));
    let (_, seen) = both(
        || {
            writer.publish();
        },
        || reader.get_one(&1).map(|number| **number),
    );
    assert!(seen.is_none_or(|number| number == 1));
}
