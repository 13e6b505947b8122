//! Searching bytes, and the texts of errors.

use std::io;

use crate::program::Builtin;
use crate::vm::code::CallSite;
use crate::vm::context::{Context, Flow};

use super::{Checked, errno};

pub fn call(context: &mut Context, builtin: Builtin, site: &CallSite) -> Checked<Flow> {
    let [address, byte, len] = context.args(site);
    let mut space = context.space();
    let found = match builtin {
        Builtin::Strlen => {
            let len = space.read_c_string(address)?.len() as u64;
            return context.give(site, len);
        }
        Builtin::Memchr => {
            // Bytes after the one that is found need not be there.
            let mut found = None;
            for offset in 0..len {
                if space.load::<1>(address.wrapping_add(offset), 0)? == byte & 0xff {
                    found = Some(offset);
                    break;
                }
            }
            found
        }
        _ => space.read_vec(address, len)?.iter().rposition(|found| *found == byte as u8).map(|at| at as u64),
    };
    context.give(site, found.map_or(0, |offset| address + offset))
}

/// Writes what the operating system calls an error.
pub fn describe_error(context: &mut Context, site: &CallSite) -> Checked<Flow> {
    let [number, buffer, len] = context.args(site);
    let number = number as i32;
    let described = io::Error::from_raw_os_error(number).to_string();
    let text = described.strip_suffix(&format!(" (os error {number})")).unwrap_or(&described);
    let bytes = [text.as_bytes(), &[0]].concat();
    if bytes.len() as u64 > len {
        return context.give(site, errno::ERANGE);
    }
    context.space().write(buffer, &bytes)?;
    context.give(site, 0)
}
