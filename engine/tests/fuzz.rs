//! Whatever is read from a file, nothing panics, hangs or takes all memory: programs, recorded executions and litmus
//! tests that are right but for some of their bytes.
//!
//! `DPOR_FUZZ_INPUTS` says how many inputs of each kind are tried, and `DPOR_FUZZ_SEED` takes one of them again:
//! `docs/testing.md`.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dpor_engine::check::{Recording, check, replay};
use dpor_engine::explore::{Config, Equivalence};
use dpor_engine::litmus;
use dpor_engine::model::MemoryModel;
use dpor_engine::program::address::{GLOBAL_REGION, code_address, region_address};
use dpor_engine::program::{
    Builtin, FuncId, Function, Global, List, Op, Origin, Parts, Place, PlaceId, Program, Quiet, Reg, Slot, SwitchTable,
    Test, TestConfig, ThreadLocal, Unwind, ValidRange,
};
use dpor_engine::vm::{Image, RunOptions, run_image, validate};
use dpor_reference::loops::random::Random;
use proptest::prelude::*;

/// How many inputs of each kind a run of the tests tries.
const INPUTS: u32 = 2_000;

/// How many instructions the functions of a program have.
const CODE: usize = 24;
/// The magic, the version, the length and the checksum of a program in a file.
const HEADER: usize = 24;
/// Litmus tests with more operations than this take long, and are only read.
const MOST_OPERATIONS: usize = 12;

fn config() -> ProptestConfig {
    let cases = std::env::var("DPOR_FUZZ_INPUTS").ok().and_then(|inputs| inputs.parse().ok()).unwrap_or(INPUTS);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// What inputs are made from: new numbers, or the one that `DPOR_FUZZ_SEED` says.
fn seeds() -> BoxedStrategy<u64> {
    match std::env::var("DPOR_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => Just(seed).boxed(),
        None => any::<u64>().boxed(),
    }
}

/// Bytes that say something small, most of the time.
fn byte(random: &mut Random) -> u8 {
    match random.below(20) {
        0 => random.number() as u8,
        1..=10 => random.below(2) as u8,
        11..=14 => random.below(8) as u8,
        _ => random.below(24) as u8,
    }
}

/// A program of any instructions that can be there.
fn program(random: &mut Random) -> Program {
    let mut program = empty_program();
    for (function, at) in (0..3).flat_map(|function| (0..CODE).map(move |at| (function, at))) {
        if function == 0 && at < PROLOGUE {
            continue;
        }
        for _ in 0..ATTEMPTS {
            // An instruction as it is in a file: its number, and what its fields may be.
            let mut bytes = vec![random.below(128) as u8];
            bytes.extend((0..12).map(|_| byte(random)));
            let Ok((op, _)) = postcard::take_from_bytes::<Op>(&bytes) else { continue };
            if allocates(&op) {
                continue;
            }
            let old = std::mem::replace(&mut program.functions[function].code[at], op);
            if validate(&program).is_ok() {
                break;
            }
            program.functions[function].code[at] = old;
        }
    }
    program
}

/// Whether an instruction allocates what a register says: a loop of these takes as much memory as there is.
fn allocates(op: &Op) -> bool {
    use Builtin::{AlignedAlloc, Alloc, AllocZeroed, CRealloc, Calloc, Malloc, PosixMemalign, Realloc};
    let Op::Builtin { builtin, .. } = op else { return false };
    [Alloc, AllocZeroed, Realloc, Malloc, Calloc, CRealloc, AlignedAlloc, PosixMemalign].contains(builtin)
}

/// How often an instruction is tried that may not fit.
const ATTEMPTS: usize = 6;
/// How many instructions of the first function put something useful into registers.
const PROLOGUE: usize = 6;

fn empty_program() -> Program {
    let global = region_address(GLOBAL_REGION, 64);
    let mut functions = vec![function("test", 0, 0), function("one", 1, 1), function("two", 2, 2)];
    let alloc = Op::Builtin { builtin: Builtin::Alloc, args: List(0), dst: Reg(7), unwind: Unwind::CONTINUE };
    let prologue = [
        Op::SlotAddr { dst: Reg(4), offset: 0 },
        Op::Imm { dst: Reg(5), value: code_address(1) },
        Op::Imm { dst: Reg(6), value: global },
        Op::Imm { dst: Reg(1), value: 16 },
        Op::Imm { dst: Reg(2), value: 8 },
        alloc,
    ];
    functions[0].code[..PROLOGUE].copy_from_slice(&prologue);
    let bytes = Global {
        address: global,
        align: 8,
        bytes: vec![0; 32],
        uninit: vec![(24, 28)],
        pointers: Vec::new(),
        mutable: true,
        name: "G".to_owned(),
    };
    let test = Test {
        name: "test".to_owned(),
        dpor: true,
        config: TestConfig::default(),
        entry: FuncId(0),
        place: PlaceId(0),
    };
    let (uninit, pointers) = (Vec::new(), Vec::new());
    let local = ThreadLocal { bytes: vec![1; 16], align: 8, uninit, pointers, name: "L".to_owned() };
    Program {
        crate_name: "fuzz".to_owned(),
        tests: vec![test],
        functions,
        globals: vec![bytes],
        thread_locals: vec![local],
        files: vec!["src/lib.rs".to_owned()],
        places: vec![Place { file: 0, line: 1, column: 1 }],
        messages: vec!["message".to_owned()],
        ..Program::default()
    }
}

fn function(name: &str, params: u16, results: u8) -> Function {
    let mut code = vec![Op::Mov { dst: Reg(8), src: Reg(4) }; CODE];
    code[CODE - 1] = Op::Return;
    let slot = |offset, live_at_start| Slot { offset, size: 16, live_at_start, name: format!("at{offset}") };
    Function {
        name: name.to_owned(),
        origin: Origin::User,
        quiet: Quiet::No,
        registers: 24,
        params,
        results,
        frame_size: 128,
        slots: vec![slot(0, true), slot(32, false), slot(64, true)],
        code,
        code_places: vec![PlaceId(0); CODE],
        links: Vec::new(),
        // Lists of two, one, no, four and three registers.
        lists: vec![2, 1, 2, 1, 5, 0, 4, 6, 0, 5, 7, 3, 4, 0, 0],
        switches: vec![SwitchTable { cases: vec![(0, 3), (8, 9)], otherwise: 12 }],
        ranges: vec![ValidRange { start: 0, end: 1, type_name: "bool".to_owned() }],
        place: PlaceId(0),
    }
}

/// Links, runs and explores a program, within limits.
fn use_program(program: Program) -> Vec<Recording> {
    for test in &program.tests {
        let parts = Parts::of(&program);
        let own = parts.only(&program, test);
        assert_eq!(validate(&own), Ok(()), "the program of a test is valid");
        assert_eq!(Parts::of(&own).digest(&own, &own.tests[0]), parts.digest(&program, test));
    }
    let image = Image::of(&Arc::new(program));
    let options = RunOptions { max_steps: 500, ..RunOptions::default() };
    run_image(&image, FuncId(0), &options);
    let config =
        Config { max_executions: Some(20), timeout: Some(Duration::from_secs(5)), ..Config::new(MemoryModel::Rc11) };
    let checked = check(&image, FuncId(0), &options, &config);
    checked.failures.into_iter().map(|found| found.recording).collect()
}

/// Bytes in other places than the first `from` become others.
fn changed(bytes: &mut Vec<u8>, from: usize, changes: &[(u16, u8, u8)]) {
    for &(at, how, to) in changes {
        let at = from + usize::from(at) % (bytes.len() - from).max(1);
        match how % 4 {
            0 if at < bytes.len() => bytes[at] = to,
            1 if at < bytes.len() => bytes[at] ^= 1 << (to % 8),
            2 if bytes.len() > from + 1 && at < bytes.len() => drop(bytes.remove(at)),
            _ => bytes.insert(at.min(bytes.len()), to),
        }
    }
}

/// Says of a changed file that it is as it should be.
fn seal(bytes: &mut [u8]) {
    let (len, checksum) = ((bytes.len() - HEADER) as u64, crc32fast::hash(&bytes[HEADER..]));
    bytes[12..20].copy_from_slice(&len.to_le_bytes());
    bytes[20..24].copy_from_slice(&checksum.to_le_bytes());
}

fn changes(random: &mut Random) -> Vec<(u16, u8, u8)> {
    let count = 1 + random.below(3);
    (0..count).map(|_| (random.number() as u16, random.number() as u8, byte(random))).collect()
}

/// The litmus tests of the repository, one a line.
fn litmus_lines() -> Vec<String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/litmus");
    let mut lines = Vec::new();
    for entry in fs::read_dir(directory).expect("the litmus tests") {
        let text = fs::read_to_string(entry.expect("a file").path()).expect("a text");
        lines.extend(text.lines().map(str::to_owned));
    }
    lines.sort();
    lines
}

/// Replaces one number or word of a text by another.
fn replaced(text: &str, at: usize, by: &str) -> String {
    let tokens: Vec<(usize, &str)> = text
        .split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')
        .filter(|token| !token.is_empty())
        .map(|token| (token.as_ptr().addr() - text.as_ptr().addr(), token))
        .collect();
    let Some((start, token)) = tokens.get(at % tokens.len().max(1)) else { return by.to_owned() };
    format!("{}{by}{}", &text[..*start], &text[start + token.len()..])
}

const WORDS: [&str; 16] = [
    "0",
    "1",
    "-1",
    "3",
    "64",
    "9223372036854775807",
    "-9223372036854775808",
    "1e3",
    "null",
    "p",
    "v0",
    "acquire",
    "seq_cst",
    "store",
    "cas",
    "load",
];

proptest! {
    #![proptest_config(config())]

    /// Programs of any instructions that can be read.
    #[test]
    fn programs(seed in seeds()) {
        use_program(program(&mut Random::new(seed)));
    }

    /// Programs in files with wrong bytes and right checksums.
    #[test]
    fn program_files(seed in seeds()) {
        let random = &mut Random::new(seed);
        let mut bytes = program(random).to_bytes();
        changed(&mut bytes, HEADER, &changes(random));
        seal(&mut bytes);
        if let Ok(program) = Program::from_bytes(&bytes, Path::new("x.dpor"))
            && program.tests.first().is_some_and(|test| test.entry == FuncId(0))
        {
            use_program(program);
        }
    }

    /// Recorded executions that are not quite what happened.
    #[test]
    fn recordings(seed in seeds()) {
        let random = &mut Random::new(seed);
        let program = program(random);
        for recording in use_program(program.clone()).into_iter().take(1) {
            let text = serde_json::to_string(&recording).expect("plain data");
            let text = replaced(&text, random.below(1000), random.one_of(&WORDS));
            let Ok(other) = serde_json::from_str::<Recording>(&text) else { continue };
            let options = RunOptions { max_steps: 500, ..RunOptions::default() };
            let _ = replay(&Image::of(&Arc::new(program.clone())), FuncId(0), &options, &other);
        }
    }

    /// Litmus tests with other words and bytes.
    #[test]
    fn litmus_tests(line in prop::sample::select(litmus_lines()), seed in seeds()) {
        let random = &mut Random::new(seed);
        let mut bytes = replaced(&line, random.below(1000), random.one_of(&WORDS)).into_bytes();
        if random.percent(30) {
            changed(&mut bytes, 0, &changes(random));
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(test) = litmus::parse_line(&text) {
            let small = text.matches("\"op\"").count() <= MOST_OPERATIONS;
            for model in MemoryModel::ALL.into_iter().filter(|_| small) {
                let _ = litmus::check(&test, model, Equivalence::Trace, 1);
            }
        }
    }
}
