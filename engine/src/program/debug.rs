//! What the source calls things: names and types of variables, for reports. The machine does not need any of this.

use serde::{Deserialize, Serialize};

use super::{FuncId, PlaceId};

/// Names and types.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DebugInfo {
    pub types: Vec<TypeInfo>,
    /// The types of locals in frames, by function and offset.
    pub slots: Vec<SlotType>,
    /// The types of statics, by address.
    pub statics: Vec<StaticType>,
    /// What may be allocated where.
    pub blocks: Vec<BlockType>,
}

/// An index into [`DebugInfo::types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TypeRef(pub u32);

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TypeInfo {
    /// Its name, without path and generic arguments.
    pub name: String,
    pub size: u64,
    /// Whether it is one of the standard library: its fields are nobody's business.
    pub library: bool,
    pub shape: Shape,
}

/// What a type consists of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Shape {
    /// A scalar, or something whose parts are not told apart.
    Value(ValueKind),
    Fields(Vec<Field>),
    Elements(TypeRef),
}

/// How a value is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueKind {
    /// As a number; very large ones in hexadecimal.
    #[default]
    Unknown,
    Unsigned,
    /// Of so many bits.
    Signed(u8),
    Bool,
    Char,
    Pointer,
}

/// A field of a struct, a tuple or a closure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    pub name: String,
    pub offset: u64,
    pub ty: TypeRef,
}

/// The type of a local.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlotType {
    pub function: FuncId,
    pub offset: u16,
    pub ty: TypeRef,
}

/// The type of a static.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StaticType {
    pub address: u64,
    pub ty: TypeRef,
}

/// What a call may allocate.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BlockType {
    /// Where the call is.
    pub place: PlaceId,
    pub ty: TypeRef,
    /// Whether a block has any number of these.
    pub many: bool,
    /// The variable that the result is kept in; empty if it is none.
    pub name: String,
}

/// A part of a variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Part {
    /// How to get there: `.head`, `.slots[2].0`; empty for the whole.
    pub path: String,
    /// How much of the path leads to the largest thing that begins there.
    pub start: Option<usize>,
    /// Where in that part, in bytes.
    pub rest: u64,
    pub kind: ValueKind,
    /// Whether it is what the standard library keeps for itself: counts of references, marks of poison.
    pub bookkeeping: bool,
    /// How much of the path leads to a type of the standard library, if the rest is inside of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<usize>,
}

impl Part {
    /// The part that the user knows: not what is inside of a type of the standard library.
    #[must_use]
    pub fn known(mut self) -> Part {
        if let Some(end) = self.library.take() {
            self.path.truncate(end);
            self.rest = 0;
        }
        self
    }
}

/// The fields in which the library keeps something for itself.
const BOOKKEEPING: [&str; 3] = ["strong", "weak", "poison"];
/// The fields of the library's types that are what the type is: they need no name.
const PLAIN: [&str; 14] =
    ["failed", "inner", "data", "value", "state", "futex", "ptr", "pointer", "cell", "lock", "v", "0", "once", "word"];

impl DebugInfo {
    fn get(&self, ty: TypeRef) -> Option<&TypeInfo> {
        self.types.get(ty.0 as usize)
    }

    /// What is at an offset of a type.
    pub fn part(&self, ty: TypeRef, offset: u64) -> Part {
        let mut part = Part { rest: offset, ..Part::default() };
        self.descend(ty, &mut part);
        part
    }

    fn descend(&self, ty: TypeRef, part: &mut Part) {
        let Some(info) = self.get(ty) else { return };
        if part.rest == 0 {
            part.start.get_or_insert(part.path.len());
        }
        match &info.shape {
            Shape::Value(kind) => part.kind = if part.rest == 0 { *kind } else { ValueKind::Unknown },
            Shape::Elements(element) => self.element(*element, part),
            Shape::Fields(fields) => {
                let size = |field: &Field| self.get(field.ty).map_or(0, |ty| ty.size);
                let covers = |field: &&Field| (field.offset..field.offset + size(field)).contains(&part.rest);
                let Some(field) = fields.iter().find(covers) else { return };
                let name = field.name.as_str();
                if !info.library || !PLAIN.contains(&name) {
                    if info.library {
                        part.library.get_or_insert(part.path.len());
                    }
                    part.path += &format!(".{name}");
                }
                part.bookkeeping |= info.library && BOOKKEEPING.contains(&name);
                part.rest -= field.offset;
                self.descend(field.ty, part);
            }
        }
    }

    fn element(&self, element: TypeRef, part: &mut Part) {
        let size = self.get(element).map_or(0, |ty| ty.size).max(1);
        part.path += &format!("[{}]", part.rest / size);
        part.rest %= size;
        self.descend(element, part);
    }

    /// What is at an offset of a local.
    pub fn local(&self, function: FuncId, slot: u16, offset: u64) -> Option<Part> {
        let at = self.slots.binary_search_by_key(&(function, slot), |slot| (slot.function, slot.offset)).ok()?;
        Some(self.part(self.slots[at].ty, offset))
    }

    /// What is at an offset of a static.
    pub fn statik(&self, address: u64, offset: u64) -> Option<Part> {
        let at = self.statics.binary_search_by_key(&address, |entry| entry.address).ok()?;
        Some(self.part(self.statics[at].ty, offset))
    }

    /// What a block of this size is that was allocated at a place.
    pub fn block(&self, place: PlaceId, size: u64) -> Option<&BlockType> {
        let start = self.blocks.partition_point(|block| block.place < place);
        let here = self.blocks[start..].iter().take_while(|block| block.place == place);
        let fits = |block: &&BlockType| {
            let one = self.get(block.ty).map_or(0, |ty| ty.size);
            if block.many { one > 0 && size.is_multiple_of(one) } else { one == size }
        };
        let fitting: Vec<&BlockType> = here.filter(fits).collect();
        fitting.iter().copied().find(|block| !block.many).or(fitting.first().copied())
    }

    /// What is at an offset of such a block.
    pub fn in_block(&self, block: &BlockType, offset: u64) -> Part {
        let mut part = Part { rest: offset, ..Part::default() };
        if block.many {
            self.element(block.ty, &mut part)
        } else {
            self.descend(block.ty, &mut part)
        }
        part
    }

    /// What a block is called: the variable, or else the type.
    pub fn block_name<'a>(&'a self, block: &'a BlockType) -> &'a str {
        match block.name.is_empty() {
            true => self.get(block.ty).map_or("", |ty| &ty.name),
            false => &block.name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ty(name: &str, size: u64, library: bool, shape: Shape) -> TypeInfo {
        TypeInfo { name: name.into(), size, library, shape }
    }

    fn field(name: &str, offset: u64, ty: u32) -> Field {
        Field { name: name.into(), offset, ty: TypeRef(ty) }
    }

    /// `struct Shared { flags: [AtomicBool; 2], lock: Mutex<u32> }` in an `Arc`.
    fn info() -> DebugInfo {
        DebugInfo {
            types: vec![
                ty("AtomicBool", 1, true, Shape::Value(ValueKind::Bool)),
                ty("", 2, false, Shape::Elements(TypeRef(0))),
                ty("AtomicU32", 4, true, Shape::Value(ValueKind::Unsigned)),
                ty("Mutex", 8, true, Shape::Fields(vec![field("inner", 0, 2), field("poison", 4, 0)])),
                ty("Shared", 12, false, Shape::Fields(vec![field("flags", 8, 1), field("lock", 0, 3)])),
                ty("Shared", 20, true, Shape::Fields(vec![field("strong", 0, 2), field("data", 8, 4)])),
            ],
            blocks: vec![
                BlockType { place: PlaceId(7), ty: TypeRef(5), many: false, name: "shared".into() },
                BlockType { place: PlaceId(8), ty: TypeRef(2), many: true, name: String::new() },
            ],
            ..DebugInfo::default()
        }
    }

    #[test]
    fn paths_lead_through_fields_and_elements() {
        let info = info();
        let block = info.block(PlaceId(7), 20).unwrap();
        let path = |offset| info.in_block(block, offset).path;
        assert_eq!((info.block_name(block), path(17)), ("shared", ".flags[1]".to_owned()));
        assert_eq!((path(8), path(12), path(0)), (".lock".to_owned(), ".lock.poison".to_owned(), ".strong".to_owned()));
        assert_eq!(info.in_block(block, 17).kind, ValueKind::Bool);
        assert!(info.in_block(block, 0).bookkeeping && !info.in_block(block, 8).bookkeeping);
    }

    #[test]
    fn blocks_are_known_by_place_and_size() {
        let info = info();
        assert_eq!(info.block(PlaceId(7), 21), None);
        assert_eq!(info.block(PlaceId(9), 20), None);
        let many = info.block(PlaceId(8), 16).unwrap();
        assert_eq!(
            (info.block_name(many), info.in_block(many, 9)),
            ("AtomicU32", Part { path: "[2]".into(), rest: 1, ..Part::default() })
        );
    }
}
