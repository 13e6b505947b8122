//! Programs with the types of shuttle.

use dpor_tests::{Package, explored};

#[test]
fn closures_and_types_of_shuttle_are_explored() {
    explored::assert_as_annotated(&Package::new("shuttle"));
}
