use arcstr::ArcStr;

use crate::both;

/// Two threads drop the last two handles: the string is freed once, after both have read it.
#[dpor::test]
fn two_drops() {
    let one = ArcStr::from("text");
    let two = one.clone();
    let (a, b) = both(move || one.len(), move || two.len());
    assert_eq!((a, b), (4, 4));
}
