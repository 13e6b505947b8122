//! Programs with the types of loom.

use dpor_tests::{Package, explored};

#[test]
fn models_and_types_of_loom_are_explored() {
    explored::assert_as_annotated(&Package::new("loom-api"));
}
