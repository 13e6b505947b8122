//! What a test reaches: the functions, globals and thread-locals that its entry mentions, those that these mention, and so
//! on. Nothing else of the program can make a difference to the test.
//!
//! Every such part has a digest of its contents: code, names, places, types, and where in it other parts are mentioned, but
//! not where in the program any part is. The digest of a test is made of those of all parts that it reaches, in the order in
//! which they are reached, each with the numbers, in that order, of the parts that it mentions. So two tests have the same
//! digest if and only if their [own programs](Parts::only) are the same, whatever else was in the programs that they come
//! from.

use std::collections::BTreeMap;

use serde::Serialize;

use super::address::{code_address, code_index};
use super::{
    Digest, FuncId, Function, Global, Op, Pc, PlaceId, Pointer, Program, Quiet, Shape, Slot, SwitchTable, Target, Test,
    ThreadLocal, TypeRef, ValidRange,
};

/// A function, a global or a thread-local, by its number in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Function(u32),
    Global(u32),
    Local(u32),
}

/// The parts of a program.
#[derive(Debug)]
pub struct Parts {
    functions: Vec<Contents>,
    globals: Vec<Contents>,
    locals: Vec<Contents>,
    /// The digests of types.
    types: Vec<Digest>,
}

/// What is in a part.
#[derive(Debug)]
struct Contents {
    digest: Digest,
    /// The parts that it mentions, in order.
    mentions: Vec<Part>,
}

/// The parts that a test reaches, in order, and which number each has among those of its kind.
pub(super) struct Reached {
    pub order: Vec<Part>,
    functions: Vec<Option<u32>>,
    globals: Vec<Option<u32>>,
    locals: Vec<Option<u32>>,
    counts: [u32; 3],
}

impl Reached {
    fn slot(&mut self, part: Part) -> (&mut Option<u32>, usize) {
        match part {
            Part::Function(index) => (&mut self.functions[index as usize], 0),
            Part::Global(index) => (&mut self.globals[index as usize], 1),
            Part::Local(index) => (&mut self.locals[index as usize], 2),
        }
    }

    /// Adds a part, unless it is there, and gives its number.
    fn reach(&mut self, part: Part) -> u32 {
        let (slot, kind) = self.slot(part);
        if let Some(number) = *slot {
            return number;
        }
        let number = self.counts[kind];
        *self.slot(part).0 = Some(number);
        self.counts[kind] += 1;
        self.order.push(part);
        number
    }

    /// The new number of a part that is reached.
    pub fn number(&self, part: Part) -> u32 {
        let number = match part {
            Part::Function(index) => self.functions[index as usize],
            Part::Global(index) => self.globals[index as usize],
            Part::Local(index) => self.locals[index as usize],
        };
        number.expect("what a part that is reached mentions is reached, too")
    }
}

impl Parts {
    /// Looks at all parts of a program, which must be [valid](crate::vm::validate).
    pub fn of(program: &Program) -> Parts {
        let types = type_digests(program);
        let describe = Describe { program, types: &types };
        let mut slots = program.debug.slots.iter().peekable();
        let function = |(index, function): (usize, &Function)| {
            let mut own = Vec::new();
            while let Some(slot) = slots.next_if(|slot| slot.function.0 as usize <= index) {
                own.extend((slot.function.0 as usize == index).then(|| (slot.offset, types[slot.ty.0 as usize])));
            }
            describe.function(index, function, own)
        };
        Parts {
            functions: program.functions.iter().enumerate().map(function).collect(),
            globals: program.globals.iter().map(|global| describe.global(global)).collect(),
            locals: program.thread_locals.iter().map(|local| describe.local(local)).collect(),
            types,
        }
    }

    fn contents(&self, part: Part) -> &Contents {
        match part {
            Part::Function(index) => &self.functions[index as usize],
            Part::Global(index) => &self.globals[index as usize],
            Part::Local(index) => &self.locals[index as usize],
        }
    }

    /// The digest of a type.
    pub(super) fn type_digest(&self, ty: TypeRef) -> Digest {
        self.types[ty.0 as usize]
    }

    /// All that a function reaches. Says of every part in order which numbers the parts have that it mentions.
    pub(super) fn reached(&self, entry: FuncId, mut visit: impl FnMut(Part, &[u32])) -> Reached {
        let mut reached = Reached {
            order: Vec::new(),
            functions: vec![None; self.functions.len()],
            globals: vec![None; self.globals.len()],
            locals: vec![None; self.locals.len()],
            counts: [0; 3],
        };
        reached.reach(Part::Function(entry.0));
        let (mut next, mut numbers) = (0, Vec::new());
        while let Some(&part) = reached.order.get(next) {
            numbers.clear();
            numbers.extend(self.contents(part).mentions.iter().map(|mentioned| reached.reach(*mentioned)));
            visit(part, &numbers);
            next += 1;
        }
        reached
    }

    /// The digest of a test: that of its own program.
    pub fn digest(&self, program: &Program, test: &Test) -> Digest {
        let Test { name, dpor, config, entry, place } = test;
        let about = (&program.crate_name, name, dpor, config, program.location(*place));
        let mut bytes = postcard::to_allocvec(&about).expect("plain data: nothing in it can fail to serialize");
        self.reached(*entry, |part, numbers| {
            bytes.push(match part {
                Part::Function(_) => 0,
                Part::Global(_) => 1,
                Part::Local(_) => 2,
            });
            bytes.extend_from_slice(self.contents(part).digest.bytes());
            bytes.extend_from_slice(&(numbers.len() as u32).to_le_bytes());
            numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        });
        Digest::of(&bytes)
    }
}

/// Types are made of types that come before them.
fn type_digests(program: &Program) -> Vec<Digest> {
    let mut digests: Vec<Digest> = Vec::with_capacity(program.debug.types.len());
    for info in &program.debug.types {
        let parts: Vec<(&str, u64, Digest)> = match &info.shape {
            Shape::Value(_) => Vec::new(),
            Shape::Elements(ty) => vec![("", 0, digests[ty.0 as usize])],
            Shape::Fields(fields) => {
                fields.iter().map(|field| (&*field.name, field.offset, digests[field.ty.0 as usize])).collect()
            }
        };
        let kind = match &info.shape {
            Shape::Value(kind) => Some(*kind),
            Shape::Fields(_) | Shape::Elements(_) => None,
        };
        let is_list = matches!(info.shape, Shape::Elements(_));
        digests.push(Digest::of_data(&(&info.name, info.size, info.library, kind, is_list, parts)));
    }
    digests
}

/// The part of a program that begins at an address.
pub(super) fn part_at(program: &Program, address: u64) -> Option<Part> {
    if let Some(index) = code_index(address).filter(|index| (*index as usize) < program.functions.len()) {
        return Some(Part::Function(index));
    }
    let index = program.globals.binary_search_by_key(&address, |global| global.address).ok()?;
    Some(Part::Global(index as u32))
}

/// Where a part begins.
pub(super) fn base_of(program: &Program, part: Part) -> u64 {
    match part {
        Part::Function(index) => code_address(index),
        Part::Global(index) => program.globals[index as usize].address,
        Part::Local(_) => 0,
    }
}

/// What a function consists of, but for where other parts are.
#[derive(Serialize)]
struct FunctionContents<'p> {
    name: &'p str,
    origin: super::Origin,
    quiet: Quiet,
    sizes: (u16, u16, u8, u16),
    slots: &'p [Slot],
    lists: &'p [u16],
    switches: &'p [SwitchTable],
    ranges: &'p [ValidRange],
    code: Vec<Op>,
    /// Where in the code the numbers of parts are, and those of messages.
    links: Vec<(Pc, bool)>,
    messages: Vec<&'p str>,
    signature: Option<&'p str>,
    /// The files, as they are named in the places.
    files: Vec<&'p str>,
    places: Vec<(u32, u32, u32)>,
    /// The types of locals.
    locals: Vec<(u16, Digest)>,
    /// What is allocated where: at the place of an instruction.
    blocks: Vec<(u32, Vec<Block<'p>>)>,
}

/// What may be allocated at a place, in the order in which it is listed.
pub(super) type Block<'p> = (bool, bool, Digest, &'p str, u32);

/// What may be allocated at a place: whether any number of these, whether it has no name, the type, the name, and the number
/// of the type.
pub(super) fn blocks_at<'p>(program: &'p Program, types: &[Digest], place: PlaceId) -> Vec<Block<'p>> {
    let blocks = &program.debug.blocks;
    let start = blocks.partition_point(|block| block.place < place);
    let here = blocks[start..].iter().take_while(|block| block.place == place);
    let block = |block: &'p super::BlockType| {
        (block.many, block.name.is_empty(), types[block.ty.0 as usize], &*block.name, block.ty.0)
    };
    let mut here: Vec<Block> = here.map(block).collect();
    here.sort();
    here
}

impl Parts {
    /// What may be allocated at a place.
    pub(super) fn blocks_at<'p>(&self, program: &'p Program, place: PlaceId) -> Vec<Block<'p>> {
        blocks_at(program, &self.types, place)
    }
}

/// Describes parts.
struct Describe<'p> {
    program: &'p Program,
    types: &'p [Digest],
}

impl<'p> Describe<'p> {
    fn function(&self, index: usize, function: &'p Function, locals: Vec<(u16, Digest)>) -> Contents {
        let program = self.program;
        let (mut mentions, mut messages) = (Vec::new(), Vec::new());
        let mut code = function.code.clone();
        let mut links = function.links.iter().peekable();
        let message = |number: u32| program.messages.get(number as usize).map_or("", String::as_str);
        for (at, op) in code.iter_mut().enumerate() {
            let link = links.next_if(|link| link.at as usize == at).map(|link| link.to);
            match (op, link) {
                (Op::Call { func, .. }, _) => {
                    mentions.push(Part::Function(func.0));
                    *func = FuncId(0);
                }
                (Op::ThreadLocal { index, .. }, _) => {
                    mentions.push(Part::Local(*index));
                    *index = 0;
                }
                (Op::Unreachable { message: number, .. } | Op::Unsupported { message: number }, _) => {
                    messages.push(message(*number));
                    *number = 0;
                }
                (Op::Imm { value, .. }, Some(Target::Message)) => {
                    messages.push(message(*value as u32));
                    *value = 0;
                }
                (Op::Imm { value, .. }, Some(Target::Address(base))) => {
                    mentions.extend(part_at(program, base));
                    *value = value.wrapping_sub(base);
                }
                _ => {}
            }
        }
        let mut files = Files::default();
        let all_places = std::iter::once(&function.place).chain(&function.code_places);
        let places = all_places.map(|place| files.place(program, *place)).collect();
        let signature = program.signatures.get(index).copied().flatten();
        let Function { registers, params, results, frame_size, .. } = *function;
        let contents = FunctionContents {
            name: &function.name,
            origin: function.origin,
            quiet: function.quiet,
            sizes: (registers, params, results, frame_size),
            slots: &function.slots,
            lists: &function.lists,
            switches: &function.switches,
            ranges: &function.ranges,
            code,
            links: function.links.iter().map(|link| (link.at, link.to == Target::Message)).collect(),
            messages,
            signature: signature.map(message),
            files: files.names,
            places,
            locals,
            blocks: self.blocks(function),
        };
        Contents { digest: Digest::of_data(&contents), mentions }
    }

    fn blocks(&self, function: &Function) -> Vec<(u32, Vec<Block<'p>>)> {
        let mut blocks = Vec::new();
        if self.program.debug.blocks.is_empty() {
            return blocks;
        }
        let mut seen = BTreeMap::new();
        for (at, place) in function.code_places.iter().enumerate() {
            if seen.insert(*place, ()).is_none() {
                let mut here = blocks_at(self.program, self.types, *place);
                here.iter_mut().for_each(|block| block.4 = 0);
                blocks.extend((!here.is_empty()).then_some((at as u32, here)));
            }
        }
        blocks
    }

    fn global(&self, global: &Global) -> Contents {
        let statics = &self.program.debug.statics;
        let ty = statics.binary_search_by_key(&global.address, |one| one.address).ok();
        let ty = ty.map(|at| self.types[statics[at].ty.0 as usize]);
        let (bytes, mentions) = self.data(&global.bytes, &global.pointers);
        let places: Vec<u32> = global.pointers.iter().map(|pointer| pointer.at).collect();
        let Global { align, uninit, mutable, name, .. } = global;
        Contents { digest: Digest::of_data(&(align, bytes, uninit, places, mutable, name, ty)), mentions }
    }

    fn local(&self, local: &ThreadLocal) -> Contents {
        let (bytes, mentions) = self.data(&local.bytes, &local.pointers);
        let places: Vec<u32> = local.pointers.iter().map(|pointer| pointer.at).collect();
        let ThreadLocal { align, uninit, name, .. } = local;
        Contents { digest: Digest::of_data(&(align, bytes, uninit, places, name)), mentions }
    }

    /// Bytes without addresses, and the parts that these are of.
    fn data(&self, bytes: &[u8], pointers: &[Pointer]) -> (Vec<u8>, Vec<Part>) {
        let (mut bytes, mut mentions) = (bytes.to_vec(), Vec::new());
        for pointer in pointers {
            change_word(&mut bytes, pointer.at, |address| address.wrapping_sub(pointer.base));
            mentions.extend(part_at(self.program, pointer.base));
        }
        (bytes, mentions)
    }
}

/// Changes eight bytes.
pub(super) fn change_word(bytes: &mut [u8], at: u32, change: impl FnOnce(u64) -> u64) {
    let at = at as usize;
    if let Some(word) = bytes.get_mut(at..at + 8).and_then(|word| word.first_chunk_mut::<8>()) {
        *word = change(u64::from_le_bytes(*word)).to_le_bytes();
    }
}

/// The files that a function names, in order.
#[derive(Default)]
struct Files<'p> {
    names: Vec<&'p str>,
    /// By the number in the program.
    numbers: BTreeMap<u32, u32>,
}

impl<'p> Files<'p> {
    fn place(&mut self, program: &'p Program, place: PlaceId) -> (u32, u32, u32) {
        let super::Place { file, line, column } = program.places[place.0 as usize];
        let number = *self.numbers.entry(file).or_insert_with(|| {
            self.names.push(&program.files[file as usize]);
            self.names.len() as u32 - 1
        });
        (number, line, column)
    }
}
