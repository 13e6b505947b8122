//! What all threads share besides memory: the captured output, the keys of thread-specific data.

use std::collections::BTreeMap;

use super::thread::ThreadId;

/// Which stream something was written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// What a run wrote, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    pub chunks: Vec<(Stream, Vec<u8>)>,
}

impl Output {
    /// Appends to a stream.
    pub fn write(&mut self, stream: Stream, bytes: &[u8]) {
        match self.chunks.last_mut() {
            Some((last, chunk)) if *last == stream => chunk.extend_from_slice(bytes),
            _ => self.chunks.push((stream, bytes.to_vec())),
        }
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

/// A key of thread-specific data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The address of its destructor, or 0.
    pub destructor: u64,
}

/// What all threads share besides memory.
#[derive(Clone, Debug, Default)]
pub struct World {
    pub output: Output,
    /// By number; deleted ones are `None`.
    pub keys: Vec<Option<Key>>,
    /// Threads that belong to a scope: the address of its counter, and the thread.
    pub scopes: Vec<(u64, ThreadId)>,
    /// Where the values of environment variables are, for the thread that asked.
    pub env: BTreeMap<(ThreadId, Vec<u8>), u64>,
}
