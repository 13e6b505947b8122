//! The attribute macro of the `dpor` crate.
