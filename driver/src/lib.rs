//! The rustc driver of cargo-dpor.
