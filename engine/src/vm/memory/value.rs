//! The contents of objects, each kept once and numbered.

use std::collections::HashMap;
use std::sync::Arc;

use crate::program::PlaceId;
use crate::vm::hash::{FastHash, hash_of};
use crate::vm::thread::ThreadId;
use crate::vm::world::{Key, Labels, Output, Status};

use super::alloc::{Alloc, AllocKind, Freed, Sharing, source_of};
use super::objects::Version;
use super::track::Source;

/// What an object contains.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    Block(Alloc),
    Freed(Freed),
    Output(Output),
    Covered(Labels),
    Keys(Vec<Option<Key>>),
    Status(Status),
}

/// Everything about a block but its contents, as a number; 0 for all that is no block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shape(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Form {
    base: u64,
    size: u64,
    align: u64,
    kind: AllocKind,
    thread: ThreadId,
    place: PlaceId,
    sharing: Sharing,
    published: bool,
}

#[derive(Clone, Debug)]
struct Item {
    value: Arc<Value>,
    hash: u64,
    shape: Shape,
    /// Another value with the same hash, or 0.
    next: u32,
}

/// Contents, each once.
#[derive(Debug, Default)]
pub struct Values {
    /// From 1 on.
    items: Vec<Item>,
    by_hash: HashMap<u64, u32, FastHash>,
    shapes: HashMap<Form, Shape, FastHash>,
    bytes: usize,
}

impl Values {
    /// The contents that a version stands for.
    #[inline]
    pub fn get(&self, version: Version) -> Option<&Value> {
        let item = self.items.get((version.0 as usize).wrapping_sub(1))?;
        Some(&item.value)
    }

    /// The hash of the contents, which is the same for every worker; none if there are none.
    #[inline]
    pub fn hash(&self, version: Version) -> Option<u64> {
        self.items.get((version.0 as usize).wrapping_sub(1)).map(|item| item.hash)
    }

    /// Whether a version is a block that was freed.
    #[inline]
    pub fn is_freed(&self, version: Version) -> bool {
        matches!(self.get(version), Some(Value::Freed(_)))
    }

    /// Whether a version is a block of the standard library's own that threads share.
    pub fn is_exempt(&self, version: Version) -> bool {
        matches!(self.get(version), Some(Value::Block(alloc)) if alloc.sharing == Sharing::Exempt)
    }

    /// Where the block that a version is, or was, comes from.
    pub fn source(&self, version: Version) -> Option<Source> {
        let (kind, place) = match self.get(version)? {
            Value::Block(alloc) => (alloc.kind, alloc.place),
            Value::Freed(freed) => (freed.kind, freed.allocated_at),
            _ => return None,
        };
        Some(source_of(kind, place))
    }

    /// The contents, to be shared.
    pub fn share(&self, version: Version) -> Option<Arc<Value>> {
        let item = self.items.get((version.0 as usize).wrapping_sub(1))?;
        Some(Arc::clone(&item.value))
    }

    /// The shape of the block that a version is.
    #[inline]
    pub fn shape(&self, version: Version) -> Shape {
        self.items.get((version.0 as usize).wrapping_sub(1)).map_or(Shape(0), |item| item.shape)
    }

    /// The version that has these contents.
    pub fn intern(&mut self, value: impl Into<Arc<Value>> + AsRef<Value>) -> Version {
        let hash = hash_of(value.as_ref());
        let first = self.by_hash.get(&hash).copied().unwrap_or(0);
        let mut at = first;
        while let Some(item) = self.items.get((at as usize).wrapping_sub(1)) {
            if *item.value == *value.as_ref() {
                return Version(at);
            }
            at = item.next;
        }
        let value: Arc<Value> = value.into();
        let shape = self.shape_of(&value);
        self.bytes += bytes_of(&value);
        self.items.push(Item { value, hash, shape, next: first });
        let number = self.items.len() as u32;
        self.by_hash.insert(hash, number);
        Version(number)
    }

    fn shape_of(&mut self, value: &Value) -> Shape {
        let Value::Block(alloc) = value else { return Shape(0) };
        let Alloc { base, size, align, kind, thread, place, sharing, published, .. } = *alloc;
        let next = Shape(self.shapes.len() as u32 + 1);
        *self.shapes.entry(Form { base, size, align, kind, thread, place, sharing, published }).or_insert(next)
    }

    /// Roughly how many bytes they take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl AsRef<Value> for Value {
    fn as_ref(&self) -> &Value {
        self
    }
}

fn bytes_of(value: &Value) -> usize {
    let contents = match value {
        Value::Block(alloc) => 2 * alloc.size as usize,
        Value::Output(output) => output.chunks.iter().map(|(_, chunk)| chunk.len()).sum(),
        _ => 0,
    };
    // The value, its entry in the list and that in the table.
    contents + size_of::<Value>() + size_of::<Item>() + 16
}
