//! What all threads share besides memory: the captured output, the labels that were reached, the keys of thread-specific
//! data.
//!
//! Each of these is a [`Cell`], which notes whether it was looked at and whether it was changed: while a program is
//! explored, that is what the steps of a thread depend on, and have as an effect.

use super::memory::{Key as ObjectKey, Value, Version};
use super::thread::ThreadId;

/// Which stream something was written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// What a run wrote, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Output {
    pub chunks: Vec<(Stream, Vec<u8>)>,
    /// How many bytes it wrote beyond what is kept.
    pub left_out: u64,
}

/// What a run writes once it has written so many bytes is not kept: every saved state may have a copy of its own.
const MAX_KEPT: usize = 1 << 16;

impl Output {
    /// Appends to a stream.
    pub fn write(&mut self, stream: Stream, bytes: &[u8]) {
        if self.kept() >= MAX_KEPT {
            self.left_out += bytes.len() as u64;
            return;
        }
        match self.chunks.last_mut() {
            Some((last, chunk)) if *last == stream => chunk.extend_from_slice(bytes),
            _ => self.chunks.push((stream, bytes.to_vec())),
        }
    }

    /// How many bytes are kept.
    fn kept(&self) -> usize {
        self.chunks.iter().map(|(_, chunk)| chunk.len()).sum()
    }

    /// Everything, both streams as they came.
    pub fn all(&self) -> Vec<u8> {
        self.chunks.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect()
    }

    /// What went to one stream.
    pub fn stream(&self, stream: Stream) -> Vec<u8> {
        let of_stream = self.chunks.iter().filter(|(of, _)| *of == stream);
        of_stream.flat_map(|(_, bytes)| bytes.iter().copied()).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }
}

/// Labels, sorted.
pub type Labels = Vec<Box<str>>;

/// A key of thread-specific data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The address of its destructor, or 0.
    pub destructor: u64,
}

/// What others know of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Status {
    pub detached: bool,
    pub joined: bool,
    /// What its start function returned.
    pub result: u64,
}

/// Something that threads share.
#[derive(Debug, Default)]
pub struct Cell<T> {
    value: T,
    /// Which version it is, while the program is explored.
    version: Version,
    read: bool,
    changed: bool,
}

impl<T> Cell<T> {
    pub fn get(&mut self) -> &T {
        self.read = true;
        &self.value
    }

    pub fn get_mut(&mut self) -> &mut T {
        self.read = true;
        self.changed = true;
        &mut self.value
    }

    /// The value, for a report.
    pub fn look(&self) -> &T {
        &self.value
    }
}

/// What all threads share besides memory.
#[derive(Debug, Default)]
pub struct World {
    pub output: Cell<Output>,
    /// The labels that threads have come to, sorted.
    pub covered: Cell<Labels>,
    /// By number; deleted ones are `None`.
    pub keys: Cell<Vec<Option<Key>>>,
    statuses: Vec<Cell<Status>>,
}

impl World {
    /// What others know of a thread.
    pub fn status(&mut self, thread: ThreadId) -> &mut Cell<Status> {
        if self.statuses.len() <= thread.index() {
            self.statuses.resize_with(thread.index() + 1, Cell::default);
        }
        &mut self.statuses[thread.index()]
    }

    /// Makes sure that there is a cell for each of so many threads.
    pub fn cover(&mut self, threads: usize) {
        if let Some(last) = threads.checked_sub(1) {
            self.status(ThreadId(last as u16));
        }
    }

    /// Calls `visit` for every cell, with what it is.
    pub fn for_each_cell(&mut self, visit: &mut dyn FnMut(ObjectKey, &mut dyn Shared)) {
        visit(ObjectKey::Output, &mut self.output);
        visit(ObjectKey::Covered, &mut self.covered);
        visit(ObjectKey::Keys, &mut self.keys);
        for (index, status) in self.statuses.iter_mut().enumerate() {
            visit(ObjectKey::Status(ThreadId(index as u16)), status);
        }
    }
}

/// A cell of whatever type.
pub trait Shared {
    /// Versions have other numbers from now on.
    fn forget(&mut self);
    /// Takes the value of a version, and notes from now on what is done with it.
    fn load(&mut self, version: Version, value: Option<&Value>);
    fn was_read(&self) -> bool;
    /// The value, where it was changed.
    fn changed(&self) -> Option<Value>;
}

impl<T: Contents> Shared for Cell<T> {
    fn forget(&mut self) {
        self.version = Version(u32::MAX);
    }

    fn load(&mut self, version: Version, value: Option<&Value>) {
        if self.version != version || self.changed {
            self.value = value.and_then(T::of).cloned().unwrap_or_default();
            self.version = version;
        }
        (self.read, self.changed) = (false, false);
    }

    fn was_read(&self) -> bool {
        self.read
    }

    fn changed(&self) -> Option<Value> {
        self.changed.then(|| self.value.clone().into_value())
    }
}

/// What a cell contains.
trait Contents: Clone + Default {
    fn of(value: &Value) -> Option<&Self>;
    fn into_value(self) -> Value;
}

macro_rules! contents {
    ($type:ty, $variant:ident) => {
        impl Contents for $type {
            fn of(value: &Value) -> Option<&Self> {
                match value {
                    Value::$variant(value) => Some(value),
                    _ => None,
                }
            }

            fn into_value(self) -> Value {
                Value::$variant(self)
            }
        }
    };
}

contents!(Output, Output);
contents!(Labels, Covered);
contents!(Vec<Option<Key>>, Keys);
contents!(Status, Status);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_kept_up_to_a_limit() {
        let mut output = Output::default();
        for _ in 0..3 {
            output.write(Stream::Stdout, &[b'x'; MAX_KEPT - 1]);
        }
        assert_eq!((output.all().len(), output.left_out), (2 * (MAX_KEPT - 1), MAX_KEPT as u64 - 1));
    }
}
