//! The suites.

use crate::checker::Job;

/// A test suite that others wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suite {
    /// The name of its package.
    pub name: &'static str,
    pub origin: Origin,
    /// How many seconds a test has.
    pub seconds: u32,
    /// Arguments that choose targets.
    pub targets: &'static [&'static str],
}

impl Suite {
    /// All its tests, whether they were written for the checker or not.
    pub fn job(&self) -> Job<'_> {
        Job {
            package: Some(self.name),
            targets: self.targets,
            options: &["--all-tests"],
            seconds: self.seconds,
            ..Job::default()
        }
    }
}

/// Where a suite comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The sources that come with the toolchain.
    Toolchain,
    /// A registry: the version is that of `registry/Cargo.toml`.
    Registry,
}

/// All suites, in the order in which they are run.
pub const SUITES: [Suite; 17] = [
    Suite { targets: &["--test", "coretests"], ..from_toolchain("coretests", 200) },
    Suite { targets: &["--lib", "--tests"], ..from_toolchain("alloctests", 200) },
    from_toolchain("stdtests", 5),
    from_registry("arc-swap"),
    from_registry("atomic-waker"),
    from_registry("concurrent-queue"),
    from_registry("crossbeam-deque"),
    from_registry("crossbeam-epoch"),
    from_registry("crossbeam-queue"),
    from_registry("crossbeam-utils"),
    from_registry("event-listener"),
    from_registry("hashbrown"),
    from_registry("indexmap"),
    from_registry("once_cell"),
    from_registry("parking_lot_core"),
    from_registry("smallvec"),
    from_registry("spin"),
];

const fn from_toolchain(name: &'static str, seconds: u32) -> Suite {
    Suite { name, origin: Origin::Toolchain, seconds, targets: &[] }
}

const fn from_registry(name: &'static str) -> Suite {
    Suite { name, origin: Origin::Registry, seconds: 10, targets: &[] }
}
