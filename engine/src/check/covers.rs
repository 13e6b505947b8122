//! Labels that some execution must come to (`dpor::cover!`): which there are, and how many executions come to each.
//!
//! A label is known though no execution comes to it: it is a constant in the code of a function that the test may call.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::program::address::{GLOBAL_REGION, REGION_BITS};
use crate::program::{FuncId, Function, Op, Program};
use crate::verdict::Location;

use super::identity;

/// The function that `dpor::cover!` calls.
const COVER: &str = "dpor::__rt::cover";

/// A label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cover {
    pub label: String,
    /// Where it is first named.
    pub location: Location,
    /// How many executions come to it, complete and blocked ones.
    pub executions: u64,
}

/// The labels in the functions that a test may call, sorted; an error where one of them cannot be told.
pub fn labels(program: &Program, entry: FuncId) -> Result<Vec<Cover>, Location> {
    if !program.functions.iter().any(|function| function.name == COVER) {
        return Ok(Vec::new());
    }
    let mut labels: BTreeMap<String, Location> = BTreeMap::new();
    for function in identity::reachable(program, entry) {
        for (index, op) in function.code.iter().enumerate() {
            let Op::Call { func, args, .. } = *op else { continue };
            if program.function(func).name != COVER {
                continue;
            }
            let location = program.location(function.code_places[index]);
            let label = label(program, function, index, function.list(args)).ok_or_else(|| location.clone())?;
            let known = labels.entry(label).or_insert_with(|| location.clone());
            if location < *known {
                *known = location;
            }
        }
    }
    let cover = |(label, location)| Cover { label, location, executions: 0 };
    Ok(labels.into_iter().map(cover).collect())
}

/// The constant that a call has as its arguments: an address and a length.
fn label(program: &Program, function: &Function, call: usize, arguments: &[u16]) -> Option<String> {
    let constant = |register: u16| {
        let before = function.code[..call].iter().rev();
        let mut set = before.filter_map(|op| match op {
            Op::Imm { dst, value } if dst.0 == register => Some(*value),
            _ => None,
        });
        set.next()
    };
    let &[address, len] = arguments else { return None };
    let (address, len) = (constant(address)?, constant(len)?);
    let after = program.globals.partition_point(|global| global.address <= address);
    let global = program.globals[..after].last().filter(|_| address >> REGION_BITS == GLOBAL_REGION)?;
    let start = usize::try_from(address - global.address).ok()?;
    let bytes = global.bytes.get(start..start.checked_add(usize::try_from(len).ok()?)?)?;
    String::from_utf8(bytes.to_vec()).ok()
}
