//! Programs with the types of shuttle, and what must be found in them.
#![cfg(test)]

mod checks;
