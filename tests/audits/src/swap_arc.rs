use std::sync::Arc;

use swap_arc::SwapArc;

use crate::both;

/// A thread stores while another loads: it gets the old value or the new one, alive.
#[dpor::test]
fn load_while_storing() {
    let shared: SwapArc<u32> = SwapArc::new(Arc::new(1));
    let (_, seen) = both(|| shared.store(Arc::new(2)), || **shared.load());
    assert!(seen == 1 || seen == 2);
}
