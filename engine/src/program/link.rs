//! The program of one test: the test and all that it reaches, and nothing else.
//!
//! Parts are numbered, and get their addresses, in the order in which the test [reaches](super::reach) them; files, places,
//! messages and types are numbered in the order in which those parts name them. So a test's own program does not depend on
//! what else there was in the program that it comes from.

use std::collections::{HashMap, HashSet};

use super::address::{GLOBAL_REGION, code_address, place_in_region, region_address};
use super::reach::{Part, Parts, Reached, base_of, change_word, part_at};
use super::{
    BlockType, Digest, Field, FuncId, Function, Global, Op, Place, PlaceId, Pointer, Program, Shape, SlotType,
    StaticType, Target, Test, ThreadLocal, TypeInfo, TypeRef,
};

impl Parts {
    /// The program of one test.
    pub fn only(&self, program: &Program, test: &Test) -> Program {
        let reached = self.reached(test.entry, |_, _| {});
        let mut linker = Linker {
            parts: self,
            from: program,
            addresses: addresses(program, &reached),
            reached: &reached,
            to: Program { crate_name: program.crate_name.clone(), ..Program::default() },
            files: HashMap::new(),
            places: HashMap::new(),
            messages: HashMap::new(),
            types: HashMap::new(),
            code_places: HashSet::new(),
        };
        let place = linker.place(test.place);
        linker.to.tests.push(Test { entry: FuncId(0), place, ..test.clone() });
        for part in &reached.order {
            match *part {
                Part::Function(index) => linker.function(index),
                Part::Global(index) => linker.global(index),
                Part::Local(index) => linker.local(index),
            }
        }
        linker.blocks();
        linker.to
    }
}

/// Where globals are to be, by their numbers.
fn addresses(program: &Program, reached: &Reached) -> HashMap<u32, u64> {
    let mut granule = 1;
    let mut addresses = HashMap::new();
    for part in &reached.order {
        if let Part::Global(index) = *part {
            let global = &program.globals[index as usize];
            let (offset, next) = place_in_region(granule, global.bytes.len() as u64, global.align);
            granule = next;
            addresses.insert(index, region_address(GLOBAL_REGION, offset));
        }
    }
    addresses
}

/// Copies parts from one program to another.
struct Linker<'p> {
    parts: &'p Parts,
    from: &'p Program,
    to: Program,
    reached: &'p Reached,
    addresses: HashMap<u32, u64>,
    files: HashMap<u32, u32>,
    places: HashMap<PlaceId, PlaceId>,
    messages: HashMap<u32, u32>,
    /// By what they are.
    types: HashMap<Digest, TypeRef>,
    /// The places of instructions.
    code_places: HashSet<PlaceId>,
}

impl Linker<'_> {
    /// Where something is now that began there.
    fn base(&self, base: u64) -> u64 {
        match part_at(self.from, base) {
            Some(Part::Global(index)) => self.addresses[&index],
            Some(part) => code_address(self.reached.number(part)),
            None => base,
        }
    }

    fn place(&mut self, place: PlaceId) -> PlaceId {
        if let Some(&known) = self.places.get(&place) {
            return known;
        }
        let Place { file, line, column } = self.from.places[place.0 as usize];
        let next = self.to.files.len() as u32;
        let number = *self.files.entry(file).or_insert(next);
        if number == next {
            self.to.files.push(self.from.files[file as usize].clone());
        }
        let new = PlaceId(self.to.places.len() as u32);
        self.to.places.push(Place { file: number, line, column });
        self.places.insert(place, new);
        new
    }

    fn message(&mut self, message: u32) -> u32 {
        let next = self.to.messages.len() as u32;
        let number = *self.messages.entry(message).or_insert(next);
        if number == next {
            self.to.messages.push(self.from.messages[message as usize].clone());
        }
        number
    }

    fn ty(&mut self, ty: TypeRef) -> TypeRef {
        let digest = self.parts.type_digest(ty);
        if let Some(&known) = self.types.get(&digest) {
            return known;
        }
        let info = &self.from.debug.types[ty.0 as usize];
        let shape = match &info.shape {
            Shape::Value(kind) => Shape::Value(*kind),
            Shape::Elements(element) => Shape::Elements(self.ty(*element)),
            Shape::Fields(fields) => {
                let field = |field: &Field| Field { ty: self.ty(field.ty), ..field.clone() };
                Shape::Fields(fields.iter().map(field).collect())
            }
        };
        let new = TypeRef(self.to.debug.types.len() as u32);
        self.to.debug.types.push(TypeInfo { shape, ..info.clone() });
        self.types.insert(digest, new);
        new
    }

    fn function(&mut self, index: u32) {
        let from = self.from;
        let mut function: Function = from.functions[index as usize].clone();
        function.place = self.place(function.place);
        self.code_places.extend(&function.code_places);
        function.code_places.iter_mut().for_each(|place| *place = self.place(*place));
        for link in &mut function.links {
            let Op::Imm { value, .. } = &mut function.code[link.at as usize] else { continue };
            match &mut link.to {
                Target::Address(base) => {
                    let new = self.base(*base);
                    *value = value.wrapping_sub(*base).wrapping_add(new);
                    *base = new;
                }
                Target::Message => *value = self.message(*value as u32).into(),
            }
        }
        for op in &mut function.code {
            match op {
                Op::Call { func, .. } => *func = FuncId(self.reached.number(Part::Function(func.0))),
                Op::ThreadLocal { index, .. } => *index = self.reached.number(Part::Local(*index)),
                Op::Unreachable { message, .. } | Op::Unsupported { message } => *message = self.message(*message),
                _ => {}
            }
        }
        let new = FuncId(self.to.functions.len() as u32);
        let slots = &from.debug.slots;
        let start = slots.partition_point(|slot| slot.function.0 < index);
        for slot in slots[start..].iter().take_while(|slot| slot.function.0 == index) {
            let ty = self.ty(slot.ty);
            self.to.debug.slots.push(SlotType { function: new, ty, ..*slot });
        }
        let signature = from.signatures.get(index as usize).copied().flatten();
        let signature = signature.map(|signature| self.message(signature));
        self.to.signatures.push(signature);
        self.to.functions.push(function);
    }

    fn pointers(&self, bytes: &mut [u8], pointers: &mut [Pointer]) {
        for pointer in pointers {
            let (old, new) = (pointer.base, self.base(pointer.base));
            change_word(bytes, pointer.at, |address| address.wrapping_sub(old).wrapping_add(new));
            pointer.base = new;
        }
    }

    fn global(&mut self, index: u32) {
        let mut global: Global = self.from.globals[index as usize].clone();
        let old = base_of(self.from, Part::Global(index));
        global.address = self.addresses[&index];
        self.pointers(&mut global.bytes, &mut global.pointers);
        let statics = &self.from.debug.statics;
        if let Ok(at) = statics.binary_search_by_key(&old, |one| one.address) {
            let ty = self.ty(statics[at].ty);
            self.to.debug.statics.push(StaticType { address: global.address, ty });
        }
        self.to.globals.push(global);
    }

    fn local(&mut self, index: u32) {
        let mut local: ThreadLocal = self.from.thread_locals[index as usize].clone();
        self.pointers(&mut local.bytes, &mut local.pointers);
        self.to.thread_locals.push(local);
    }

    /// What may be allocated at the places of the functions.
    fn blocks(&mut self) {
        let mut places: Vec<(PlaceId, PlaceId)> = self.code_places.iter().map(|old| (self.places[old], *old)).collect();
        places.sort();
        for (place, old) in places {
            for (many, _, _, name, ty) in self.parts.blocks_at(self.from, old) {
                let ty = self.ty(TypeRef(ty));
                self.to.debug.blocks.push(BlockType { place, ty, many, name: name.to_owned() });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Link, Origin, Quiet, Reg, TestConfig, Unwind, ValueKind};
    use crate::vm::validate;

    fn function(name: &str, place: u32, code: Vec<Op>, links: Vec<Link>) -> Function {
        Function {
            name: name.into(),
            origin: Origin::User,
            quiet: Quiet::No,
            registers: 2,
            params: 0,
            results: 0,
            frame_size: 0,
            slots: Vec::new(),
            code_places: vec![PlaceId(place); code.len()],
            code,
            lists: vec![0],
            switches: Vec::new(),
            ranges: Vec::new(),
            links,
            place: PlaceId(place),
        }
    }

    fn call(func: u32) -> Op {
        Op::Call { func: FuncId(func), args: crate::program::List(0), dst: Reg(0), unwind: Unwind::CONTINUE }
    }

    fn test(name: &str, entry: u32) -> Test {
        Test { name: name.into(), dpor: true, config: TestConfig::default(), entry: FuncId(entry), place: PlaceId(0) }
    }

    fn global(address: u64, bytes: Vec<u8>, pointers: Vec<Pointer>) -> Global {
        Global { address, align: 8, bytes, uninit: Vec::new(), pointers, mutable: true, name: format!("G{address:x}") }
    }

    /// Two tests: one calls a function, the other has the address of a global, beside its end, and of that function in the
    /// global. With `more`, something else comes before everything.
    fn program(more: bool) -> Program {
        let before = u32::from(more);
        let start = region_address(GLOBAL_REGION, 0x1008 + 0x2000 * u64::from(before));
        let leaf = code_address(1 + before);
        let number = Op::Imm { dst: Reg(0), value: start + 16 };
        let looks_alike = Op::Imm { dst: Reg(1), value: region_address(GLOBAL_REGION, 0x1008) };
        let link = Link { at: 0, to: Target::Address(start) };
        let mut program = Program {
            tests: vec![test("calls", before), test("points", 2 + before)],
            functions: vec![
                function("calls", before, vec![call(1 + before), Op::Return], vec![]),
                function("leaf", 1 + before, vec![Op::Unsupported { message: before }], vec![]),
                function("points", before, vec![number, looks_alike, Op::Return], vec![link]),
            ],
            globals: vec![global(start, leaf.to_le_bytes().to_vec(), vec![Pointer { at: 0, base: leaf }])],
            files: vec!["a.rs".into()],
            places: (1..4).map(|line| Place { file: 0, line, column: 1 }).collect(),
            messages: vec!["inline assembly".into()],
            ..Program::default()
        };
        program.globals[0].name = "G".into();
        let number = TypeInfo { name: "u64".into(), size: 8, library: false, shape: Shape::Value(ValueKind::Unsigned) };
        program.debug.types.push(number);
        program.debug.statics.push(StaticType { address: start, ty: TypeRef(0) });
        if more {
            program.functions.insert(0, function("other", 0, vec![Op::Return], vec![]));
            program.globals.insert(0, global(region_address(GLOBAL_REGION, 0x1008), vec![7; 8], vec![]));
            program.messages.insert(0, "another".into());
            program.places.insert(0, Place { file: 0, line: 9, column: 9 });
            program.tests.iter_mut().for_each(|test| test.place = PlaceId(1));
        }
        validate(&program).unwrap();
        program
    }

    #[test]
    fn the_program_of_a_test_does_not_depend_on_others() {
        let (one, other) = (program(false), program(true));
        let (one_parts, other_parts) = (Parts::of(&one), Parts::of(&other));
        for test in 0..2 {
            let own = one_parts.only(&one, &one.tests[test]);
            validate(&own).unwrap();
            assert_eq!(own, other_parts.only(&other, &other.tests[test]));
            let digest = one_parts.digest(&one, &one.tests[test]);
            assert_eq!(digest, other_parts.digest(&other, &other.tests[test]));
            let own_parts = Parts::of(&own);
            assert_eq!(own_parts.digest(&own, &own.tests[0]), digest);
            assert_eq!(own_parts.only(&own, &own.tests[0]), own);
        }
    }

    /// The first reaches two functions and no global. The second reaches the global, through it the leaf, and not the first.
    #[test]
    fn only_what_is_reached_is_there() {
        let program = program(true);
        let parts = Parts::of(&program);
        let names = |own: &Program| own.functions.iter().map(|function| function.name.clone()).collect::<Vec<_>>();
        let calls = parts.only(&program, &program.tests[0]);
        assert_eq!((names(&calls), calls.globals.len()), (vec!["calls".to_owned(), "leaf".to_owned()], 0));
        let points = parts.only(&program, &program.tests[1]);
        assert_eq!(names(&points), ["points", "leaf"]);
        let [global] = &points.globals[..] else { panic!("one global") };
        assert_eq!(global.bytes, code_address(1).to_le_bytes());
        // Beside the end of the global, and a number that only looks like an address.
        let code = &points.functions[0].code;
        assert_eq!(code[0], Op::Imm { dst: Reg(0), value: global.address + 16 });
        assert_eq!(code[1], Op::Imm { dst: Reg(1), value: region_address(GLOBAL_REGION, 0x1008) });
        assert_eq!(points.debug.statics, [StaticType { address: global.address, ty: TypeRef(0) }]);
    }

    #[test]
    fn every_change_of_what_is_reached_changes_the_digest() {
        let digests = |program: &Program| {
            let parts = Parts::of(program);
            [0, 1].map(|test| parts.digest(program, &program.tests[test]))
        };
        let before = digests(&program(false));
        let changed = |change: &dyn Fn(&mut Program)| {
            let mut program = program(false);
            change(&mut program);
            let after = digests(&program);
            [before[0] != after[0], before[1] != after[1]]
        };
        assert_eq!(changed(&|_| {}), [false, false]);
        assert_eq!(changed(&|program| program.functions[0].code[1] = Op::Resume), [true, false]);
        assert_eq!(changed(&|program| program.functions[2].registers = 3), [false, true]);
        assert_eq!(changed(&|program| program.messages[0] = "another".into()), [true, true]);
        assert_eq!(changed(&|program| program.places[1].line = 7), [true, true]);
        assert_eq!(changed(&|program| program.globals[0].mutable = false), [false, true]);
        assert_eq!(changed(&|program| program.debug.types[0].size = 4), [false, true]);
        assert_eq!(changed(&|program| program.tests[0].name = "other".into()), [true, false]);
        assert_eq!(changed(&|program| program.crate_name = "other".into()), [true, true]);
        let address = Op::Imm { dst: Reg(0), value: program(false).globals[0].address + 8 };
        assert_eq!(changed(&|program| program.functions[2].code[0] = address), [false, true]);
    }
}
