use triple_buffer::triple_buffer;

use crate::both;

/// A thread writes two values while another reads: one of the three, whole.
#[dpor::test]
fn write_while_reading() {
    let (mut input, mut output) = triple_buffer(&(0, 0));
    let (_, seen) = both(
        || {
            input.write((1, 1));
            input.write((2, 2));
        },
        || *output.read(),
    );
    assert!(seen.0 == seen.1 && seen.0 <= 2);
    assert_eq!(*output.read(), (2, 2));
}
