use crate::both;

/// A thread writes while another reads: nothing or what was written.
#[dpor::test]
fn write_while_reading() {
    let (mut reader, mut writer) = piper::pipe(2);
    let mut bytes = [0; 2];
    let (written, read) = both(|| writer.try_fill(&[1, 2]), || reader.try_drain(&mut bytes));
    assert_eq!(written, 2);
    assert_eq!(bytes[..read], [1, 2][..read]);
}
