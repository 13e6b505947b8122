//! Litmus tests as JSON, one a line. `docs/litmus.md` describes the format to its users.

use crate::graph::MemOrder;
use crate::model::MemoryModel;
use crate::program::address::MAX_THREADS;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A line that is no litmus test.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// It is not JSON, or not of this form.
    #[error("not a litmus test: {0}")]
    Json(#[from] serde_json::Error),
    /// It names something that is not there.
    #[error("{what} `{name}` is unknown")]
    Unknown { what: &'static str, name: String },
    /// A thread uses too many registers.
    #[error("thread {0} has too many registers")]
    TooLarge(usize),
    /// There are more threads than an execution can have.
    #[error("there are {0} threads, more than {MAX_THREADS}")]
    TooManyThreads(usize),
}

/// A litmus test.
#[derive(Clone, Debug, Deserialize)]
pub struct LitmusTest {
    #[serde(default)]
    pub id: String,
    pub name: String,
    /// Initial values of the locations.
    pub init: BTreeMap<String, i64>,
    pub threads: Vec<Vec<Op>>,
    /// What a final state lists: `0:r1` is register r1 of thread 0, `x` the last value of location x.
    pub observed: Vec<String>,
    /// Whether some execution has a data race.
    #[serde(default)]
    pub races: bool,
    /// The final states that each model allows.
    #[serde(default)]
    pub allowed: BTreeMap<MemoryModel, Vec<Vec<i64>>>,
    /// The number of consistent execution graphs under each model.
    #[serde(default)]
    pub executions: BTreeMap<MemoryModel, u64>,
}

/// An operation of a thread.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Op {
    Load {
        loc: String,
        ord: MemOrder,
        reg: String,
    },
    Store {
        loc: String,
        ord: MemOrder,
        val: Expr,
    },
    Rmw(Rmw),
    Fence {
        ord: MemOrder,
    },
    Let {
        reg: String,
        val: Expr,
    },
    If {
        cond: Expr,
        then: Vec<Op>,
        #[serde(default, rename = "else")]
        otherwise: Vec<Op>,
    },
}

/// A read-modify-write.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Rmw {
    Add {
        loc: String,
        ord: MemOrder,
        reg: String,
        val: Expr,
    },
    Xchg {
        loc: String,
        ord: MemOrder,
        reg: String,
        val: Expr,
    },
    Cas {
        loc: String,
        ord: MemOrder,
        ord_fail: MemOrder,
        reg: String,
        #[serde(default)]
        ok: Option<String>,
        expected: Expr,
        desired: Expr,
    },
}

/// A value: a number, a register of this thread, or computed from two values.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Expr {
    Number(i64),
    Register(String),
    Binary { bin: String, a: Box<Expr>, b: Box<Expr> },
}

/// Reads a test.
pub fn parse_line(line: &str) -> Result<LitmusTest, FormatError> {
    Ok(serde_json::from_str(line)?)
}
