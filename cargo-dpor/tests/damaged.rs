//! Programs that are damaged in ways that their checksum does not show are refused, or run without harm.

mod support;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dpor_engine::check;
use dpor_engine::explore::Config;
use dpor_engine::model::MemoryModel;
use dpor_engine::program::Program;
use dpor_engine::vm::{Image, RunOptions};
use support::Project;

const LIBRARY: &str = r#"
#[cfg(test)]
#[dpor::test]
fn works() {
    use std::sync::{Arc, Mutex};
    let numbers = Arc::new(Mutex::new(vec![1u32]));
    let thread = std::thread::spawn({
        let numbers = numbers.clone();
        move || numbers.lock().unwrap().push(2)
    });
    let text = format!("{:?} {:.2}", numbers.lock().unwrap(), 0.5);
    thread.join().unwrap();
    assert!(text.len() > 3 && numbers.lock().unwrap().iter().sum::<u32>() == 3);
}
"#;

/// How many programs are tried, unless `$DPOR_DAMAGED` says otherwise.
const PROGRAMS: u64 = 100;
/// How long the header of a file is: what follows is the program, of which the length and the checksum are at its end.
const HEADER: usize = 24;

#[test]
fn damaged_programs_do_no_harm() {
    let project = Project::package("damaged_program", "").file("src/lib.rs", LIBRARY);
    project.run("test").expect_code(0);
    let bytes = fs::read(program_in(&project.path("target/dpor")).unwrap()).unwrap();
    let programs = std::env::var("DPOR_DAMAGED").map_or(PROGRAMS, |number| number.parse().unwrap());
    let (mut random, mut refused) = (Random(0x9e37_79b9_7f4a_7c15), 0);
    for number in 0..programs {
        let damaged = damaged(&bytes, &mut random);
        let result = catch_unwind(AssertUnwindSafe(|| match Program::from_bytes(&damaged, Path::new("x")) {
            Ok(program) => run(program),
            Err(_) => refused += 1,
        }));
        assert!(result.is_ok(), "program {number} of {programs}");
    }
    eprintln!("{refused} of {programs} were refused");
}

fn run(program: Program) {
    let program = Arc::new(program);
    let options = RunOptions { max_steps: 50_000, ..RunOptions::default() };
    let config = Config { max_executions: Some(4), workers: 1, ..Config::new(MemoryModel::Rc11) };
    for test in &program.tests {
        check::check(&Image::of(&program), test.entry, &options, &config);
    }
}

/// The same file with a few other bytes, and the checksum of those.
fn damaged(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = HEADER + random.below(bytes.len() - HEADER);
        bytes[at] = match random.below(3) {
            0 => random.next() as u8,
            1 => bytes[at].wrapping_add(1),
            _ => bytes[at] ^ 1 << random.below(8),
        };
    }
    let checksum = crc32fast::hash(&bytes[HEADER..]);
    bytes[HEADER - 4..HEADER].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

fn program_in(directory: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(directory).ok()?.map(|entry| entry.unwrap().path());
    entries.into_iter().find_map(|path| match path.is_dir() {
        true => program_in(&path),
        false => path.extension().is_some_and(|name| name == "dpor").then_some(path),
    })
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}
