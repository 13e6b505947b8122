use arcshift::ArcShift;

use crate::both;

/// A thread updates while another reads its own handle: it gets the old value or the new one.
#[dpor::test]
fn get_while_updating() {
    let mut writer = ArcShift::new(Box::new(1));
    let mut reader = writer.clone();
    let (_, seen) = both(|| writer.update(Box::new(2)), || **reader.get());
    assert!(seen == 1 || seen == 2);
    assert_eq!(**reader.get(), 2);
}
