//! The attribute macro of the `dpor` crate: use it from there, as `#[dpor::test]`.
//!
//! The macro leaves an ordinary `#[test]` for `cargo test`, and beside it a constant, the *marker*, in which
//! `cargo dpor` finds the test and its options. It parses by hand what little it needs of the function, so that a
//! user's build pays for no parser.

#![forbid(unsafe_code)]

mod crate_name;
mod diagnostic;
mod expand;
mod function;
mod literal;
mod options;
mod toml;

use proc_macro::TokenStream;

/// Makes a function a test that `cargo dpor test` explores exhaustively and `cargo test` runs once.
///
/// See the documentation of the `dpor` crate for the options.
#[proc_macro_attribute]
pub fn test(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::test(options, item)
}
