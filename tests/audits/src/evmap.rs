use crate::both;

/// A thread publishes two changes while another reads: one of the states, whole.
#[dpor::test]
fn get_while_publishing() {
    let (mut writer, reader) = evmap::new();
    writer.insert(1, Box::new(1));
    let (_, seen) = both(
        || {
            writer.publish();
            writer.update(1, Box::new(2));
            writer.publish();
        },
        || reader.get_one(&1).map(|number| **number),
    );
    assert!(seen.is_none_or(|number| number == 1 || number == 2));
}
