//! The compiler that `cargo dpor` puts in rustc's place.

fn main() {}
