//! Programs without dependencies do under the checker what they do natively.

use dpor_tests::{Package, compare};

#[test]
fn programs_run_as_they_do_natively() {
    compare::assert_same(&Package::new("native"));
}
