//! Loops as people write them: that wait, back off, announce and withdraw, lock and look, and try again.
//!
//! A loop may go round for ever, so there is no set of all executions to compare. Instead, each loop may begin a few
//! iterations only, for the reference and for the explorer alike, and what is compared is what comes of the executions
//! ([`found`]): the results of threads with the last values of locations, data races, assertions that fail, and threads
//! that are blocked forever. An explorer that leaves iterations out must still find all of it, and nothing else.
//!
//! [`program`] says what a program is, [`code`] and [`thread`] how a thread runs by itself; [`subject`] makes that a
//! program for the explorer, which says where a loop waits, and [`enumerate`] the reference, which does not know about
//! waiting. [`generate`] makes programs from seeds, [`compare`] compares, [`shrink`] makes a program smaller that
//! differs.

pub mod code;
pub mod compare;
pub mod difference;
pub mod enumerate;
pub mod found;
pub mod generate;
pub mod known;
pub mod parse;
pub mod program;
pub mod random;
pub mod show;
pub mod shrink;
pub mod subject;
pub mod thread;
