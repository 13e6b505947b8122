use async_once_cell::OnceCell;
use pollster::block_on;

use crate::both;

/// Two threads initialize a cell: one value, and both see it.
#[dpor::test]
fn two_initializations() {
    let cell = OnceCell::new();
    let (one, two) = both(
        || **block_on(cell.get_or_init(async { Box::new(1) })),
        || **block_on(cell.get_or_init(async { Box::new(2) })),
    );
    assert_eq!(one, two);
}
