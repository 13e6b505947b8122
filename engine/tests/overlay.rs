//! The standard library and the engine number what a thread waits for in the same way.

use std::fs;
use std::path::Path;

use dpor_engine::vm::Wait;

/// The constants of a module, by name.
fn constants<'t>(text: &'t str, module: &str) -> Vec<(&'t str, u64)> {
    let start = text.find(&format!("pub(crate) mod {module} {{")).expect("the module is there");
    let module = text[start..].split("\n}").next().expect("there is a first part");
    let constant =
        |line: &'t str| line.trim().strip_prefix("pub(crate) const ")?.strip_suffix(';')?.split_once(": u32 = ");
    module.lines().filter_map(constant).map(|(name, number)| (name, number.parse().expect("a number"))).collect()
}

#[test]
fn what_a_thread_waits_for_has_the_same_number_in_the_overlay() {
    let overlay = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cargo-dpor/overlay/std/src/sys/sync/checker.rs");
    let text = fs::read_to_string(overlay).unwrap();
    let waits = constants(&text, "wait");
    assert!(waits.len() > 10, "there are only {waits:?}");
    for (name, number) in &waits {
        let wait = Wait::from_number(*number).unwrap_or_else(|| panic!("the engine does not know {name}"));
        assert_eq!(format!("{wait:?}").to_uppercase(), name.replace('_', ""));
    }
    assert_eq!(Wait::from_number(waits.len() as u64), None, "the overlay does not have all of them");
}
