//! Crates from the registry, unmodified, do under the checker what they do natively.

use dpor_tests::{Package, compare};

#[test]
fn programs_with_dependencies_run_as_they_do_natively() {
    compare::assert_same(&Package::new("crates"));
}
