//! The process: output, environment, randomness, the end.

use crate::program::Builtin;
use crate::verdict::ErrorKind;
use crate::vm::action::Stop;
use crate::vm::code::{CallSite, physical};
use crate::vm::context::{Context, Flow};
use crate::vm::failure::Fault;
use crate::vm::memory::AllocKind;
use crate::vm::note::NoteKind;
use crate::vm::thread::ThreadId;
use crate::vm::world::Stream;

use super::{Checked, errno};

const SC_PAGESIZE: u64 = 30;
const SC_NPROCESSORS_CONF: u64 = 83;
const SC_NPROCESSORS_ONLN: u64 = 84;
const PAGE_SIZE: u64 = 4096;

/// Where the system says something of itself. Whoever asks has to do without it on other systems, too.
const SYSTEM: [&[u8]; 2] = [b"/proc/", b"/sys/"];

/// Beside the names of variables, what a thread has asked for: no name has a zero in it.
const ENVIRON: &[u8] = b"\0environ";
const ARGUMENTS: &[u8] = b"\0arguments";
const TEST_NAME: &[u8] = b"\0test";

/// The seeds of hash maps.
const HASH_SEEDS: (u64, u64) = (0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344);

pub fn call(context: &mut Context, builtin: Builtin, site: &CallSite) -> Checked<Flow> {
    match builtin {
        Builtin::ErrnoLocation => {
            let address = context.errno_location()?;
            context.give(site, address)
        }
        Builtin::Write => {
            let [fd, buf, len] = context.args(site);
            write(context, stream(fd)?, buf, len)?;
            context.give(site, len)
        }
        Builtin::Writev => {
            let [fd, vectors, count] = context.args(site);
            let written = write_vectors(context, stream(fd)?, vectors, count)?;
            context.give(site, written)
        }
        Builtin::Print | Builtin::Eprint => {
            let [buf, len] = context.args(site);
            let stream = if builtin == Builtin::Print { Stream::Stdout } else { Stream::Stderr };
            write(context, stream, buf, len)?;
            Ok(Flow::Continue)
        }
        Builtin::Getenv => {
            let [name] = context.args(site);
            let value = getenv(context, name)?;
            context.give(site, value)
        }
        Builtin::Environ => {
            let address = environ(context)?;
            context.give(site, address)
        }
        Builtin::Args => {
            let address = args(context)?;
            context.set(physical(site.dst), 1);
            context.set(physical(site.dst + 1), address);
            Ok(Flow::Continue)
        }
        Builtin::TestName => {
            let address = test_name(context)?;
            context.give(site, address)
        }
        Builtin::Open => {
            let [path, _flags] = context.args(site);
            open(context, path)?;
            context.give(site, u64::MAX)
        }
        Builtin::Sysconf => {
            let [name] = context.args(site);
            let value = match name & 0xffff_ffff {
                SC_PAGESIZE => PAGE_SIZE,
                SC_NPROCESSORS_CONF | SC_NPROCESSORS_ONLN => context.options.processors,
                _ => u64::MAX,
            };
            context.give(site, value)
        }
        Builtin::Getrandom => {
            let [buf, len] = context.args(site);
            fill_random(context, buf, len)?;
            context.give(site, len)
        }
        Builtin::HashSeeds => {
            context.set(physical(site.dst), HASH_SEEDS.0);
            context.set(physical(site.dst + 1), HASH_SEEDS.1);
            Ok(Flow::Continue)
        }
        Builtin::Abort => Err(abort(context).into()),
        _ => {
            let [code] = context.args(site);
            Ok(Flow::Stop(Stop::Exit(code as u32 as i32)))
        }
    }
}

#[cold]
fn abort(context: &Context) -> Fault {
    let fault = Fault::new(ErrorKind::Abort, "the program aborts");
    match &context.thread.panic {
        Some(panic) => fault.note(NoteKind::LastPanic { message: panic.message.clone() }, None, None),
        None => fault,
    }
}

fn stream(fd: u64) -> Checked<Stream> {
    match fd as u32 {
        1 => Ok(Stream::Stdout),
        2 => Ok(Stream::Stderr),
        fd => Err(Fault::unsupported(format!("writing to file descriptor {fd}")).into()),
    }
}

fn write(context: &mut Context, stream: Stream, address: u64, len: u64) -> Checked<()> {
    let bytes = context.space().read_vec(address, len)?;
    context.world.output.get_mut().write(stream, &bytes);
    Ok(())
}

fn write_vectors(context: &mut Context, stream: Stream, vectors: u64, count: u64) -> Checked<u64> {
    let mut written = 0;
    for index in 0..count {
        let vector = vectors.wrapping_add(16 * index);
        let (base, len) = {
            let mut space = context.space();
            (space.read_u64(vector)?, space.read_u64(vector.wrapping_add(8))?)
        };
        write(context, stream, base, len)?;
        written += len;
    }
    Ok(written)
}

/// Opening a file fails.
fn open(context: &mut Context, path: u64) -> Checked<()> {
    let path = context.space().read_c_string(path)?;
    if SYSTEM.iter().any(|directory| path.starts_with(directory)) {
        return context.set_errno(errno::ENOENT);
    }
    Err(Fault::unsupported(format!("opening file `{}`", String::from_utf8_lossy(&path))).into())
}

/// The address of the value of a variable, or null.
fn getenv(context: &mut Context, name: u64) -> Checked<u64> {
    let name = context.space().read_c_string(name)?;
    if let Some((_, address)) = context.thread.env.iter().find(|(known, _)| *known == name) {
        return Ok(*address);
    }
    let Some(value) = std::str::from_utf8(&name).ok().and_then(|name| context.options.env.get(name)) else {
        return Ok(0);
    };
    let bytes = [value.as_bytes(), &[0]].concat();
    let Some(address) = context.alloc(bytes.len() as u64, 1, AllocKind::ThreadLocal)? else { return Ok(0) };
    context.space().write(address, &bytes)?;
    context.thread.env.push((name, address));
    Ok(address)
}

/// Where the pointer to the list of all variables is.
fn environ(context: &mut Context) -> Checked<u64> {
    known_or(context, ENVIRON, |context| {
        let variables = context.options.env.all().map(|(name, value)| format!("{name}={value}")).collect();
        let list = string_list(context, variables)?;
        words(context, &[list])
    })
}

/// The list of arguments: the name of the program.
fn args(context: &mut Context) -> Checked<u64> {
    known_or(context, ARGUMENTS, |context| {
        let name = context.image.program.crate_name.clone();
        string_list(context, vec![name])
    })
}

/// The name of the test, where the thread runs it: the harness calls its thread that.
fn test_name(context: &mut Context) -> Checked<u64> {
    let tests = &context.image.program.tests;
    let Some(test) = tests.iter().find(|test| Some(test.entry) == context.thread.entry) else { return Ok(0) };
    if context.thread.id != ThreadId::MAIN {
        return Ok(0);
    }
    let name = test.name.clone();
    known_or(context, TEST_NAME, |context| bytes(context, &[name.as_bytes(), &[0]].concat(), 1))
}

/// What a thread has asked for before is where it was.
fn known_or(context: &mut Context, key: &[u8], make: impl FnOnce(&mut Context) -> Checked<u64>) -> Checked<u64> {
    if let Some((_, address)) = context.thread.env.iter().find(|(known, _)| *known == key) {
        return Ok(*address);
    }
    let address = make(context)?;
    context.thread.env.push((key.to_vec(), address));
    Ok(address)
}

/// A list of C strings with a null pointer at its end.
fn string_list(context: &mut Context, strings: Vec<String>) -> Checked<u64> {
    let mut list = Vec::new();
    for string in strings {
        list.push(bytes(context, &[string.as_bytes(), &[0]].concat(), 1)?);
    }
    list.push(0);
    words(context, &list)
}

fn words(context: &mut Context, words: &[u64]) -> Checked<u64> {
    let words: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes(context, &words, 8)
}

/// Bytes in memory of the thread's own.
fn bytes(context: &mut Context, bytes: &[u8], align: u64) -> Checked<u64> {
    let address = context.alloc(bytes.len() as u64, align, AllocKind::ThreadLocal)?;
    let address = address.ok_or_else(|| Fault::limit("out of memory for the environment"))?;
    context.space().write(address, bytes)?;
    Ok(address)
}

/// Fills memory with numbers that look random and are the same in every run.
pub fn fill_random(context: &mut Context, address: u64, len: u64) -> Checked<()> {
    if len == 0 {
        return Ok(());
    }
    let mut state = u64::from(context.thread.id.0) << 48 | context.thread.randoms;
    context.thread.randoms += 1;
    // The range is checked before its length is believed.
    let len = context.space().range_mut(address, len)?.0.len();
    let bytes: Vec<u8> = (0..len.div_ceil(8)).flat_map(|_| next_random(&mut state).to_le_bytes()).take(len).collect();
    context.space().write(address, &bytes)
}

/// SplitMix64.
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
