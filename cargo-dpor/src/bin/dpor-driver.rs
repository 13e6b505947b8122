//! The compiler that `cargo dpor` puts in rustc's place.

#![forbid(unsafe_code)]
#![feature(rustc_private)]

extern crate rustc_driver;

use std::process::ExitCode;

fn main() -> ExitCode {
    dpor_driver::main()
}
