//! `--suggest` and `--relax`: orderings that were tried out.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{Project, repository};

/// The fixes that the authors of these crates have made, where they are other orderings: see the comments in the programs.
const KNOWN_FIXES: [(&str, &str, &str); 6] = [
    ("arc_get_mut::broken", "load", "Acquire"),
    ("arc_swap_list::broken", "compare_exchange", "Acquire"),
    ("ms_queue::broken", "compare_exchange", "Release"),
    ("rw_spinlock::broken", "fetch_and", "Release"),
    ("thread_local_iter::broken", "load", "Acquire"),
    ("word_lock::broken", "compare_exchange", "AcqRel"),
];

/// Programs whose authors have added a fence, exchanged fences, or made an update of a store: other orderings do, too.
const OTHER_FIXES: [&str; 4] =
    ["atomic_waker::broken", "event_notify::broken", "index_set_fences::broken", "parker_token::broken"];

/// Programs whose mistake is not one of orderings.
const NO_FIXES: [&str; 4] =
    ["channel_block::broken", "latch_lifetime::broken", "oneshot_close::broken", "scope_data::broken"];

/// A copy of the programs with known bugs.
fn bugs() -> Project {
    let directory = repository().join("tests/programs/bugs");
    let manifest = fs::read_to_string(directory.join("Cargo.toml")).unwrap();
    let dpor = repository().join("dpor");
    let manifest = manifest.replace("../../../dpor", dpor.to_str().unwrap());
    let project = Project::empty("advice").file("Cargo.toml", &manifest);
    for entry in fs::read_dir(directory.join("src")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        project.write(&format!("src/{name}"), &fs::read_to_string(&path).unwrap());
    }
    project
}

/// The advice for each test.
fn advice(project: &Project, arguments: &str) -> Vec<(String, Value)> {
    let run = project.run(&format!("test -q --format json {arguments}"));
    let events = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let tests = events.filter(|event| event["event"] == "test");
    tests.map(|test| (test["name"].as_str().unwrap().to_owned(), test["advice"].clone())).collect()
}

fn changes(advice: &Value) -> Vec<&Value> {
    advice["stronger"].as_array().into_iter().flatten().flat_map(|group| group.as_array().unwrap()).collect()
}

#[test]
fn known_fixes_are_found_and_no_suggestion_fails() {
    let project = bugs();
    let found = advice(&project, "--suggest broken --skip deque_buffer");
    let of = |name: &str| &found.iter().find(|(test, _)| test == name).unwrap_or_else(|| panic!("no {name}")).1;
    for (name, method, to) in KNOWN_FIXES {
        let is_it = |change: &&Value| change["method"] == method && change["to"] == to;
        assert!(changes(of(name)).iter().any(is_it), "{name}: {}", of(name));
    }
    for name in OTHER_FIXES {
        assert!(!changes(of(name)).is_empty(), "{name}: {}", of(name));
    }
    for name in NO_FIXES {
        assert_eq!(*of(name), "not-orderings", "{name}");
    }
    let mut made = 0;
    for name in OTHER_FIXES {
        for group in of(name)["stronger"].as_array().unwrap() {
            made += 1;
            make_and_check(&project, name, group.as_array().unwrap());
        }
    }
    assert!(made >= OTHER_FIXES.len());
}

/// Makes the changes in the source, and checks that the test passes.
fn make_and_check(project: &Project, name: &str, changes: &[Value]) {
    let file = project.path(changes[0]["file"].as_str().unwrap());
    let original = fs::read_to_string(&file).unwrap();
    changes.iter().for_each(|change| make(&file, change));
    project.run(&format!("test -q --exact {name}")).expect_code(0);
    fs::write(&file, original).unwrap();
}

/// Makes a change in the source: the orderings of the call at that place are in the order of its arguments.
fn make(file: &Path, change: &Value) {
    let text = |key: &str| change[key].as_str().unwrap();
    let number = |key: &str| change[key].as_u64().unwrap() as usize;
    let source = fs::read_to_string(file).unwrap();
    let line_start: usize = source.split_inclusive('\n').take(number("line") - 1).map(str::len).sum();
    let start = line_start + number("column") - 1;
    let call = start + source[start..].find(&format!("{}(", text("method"))).expect("the call");
    let end = call + source[call..].find(';').unwrap_or(source.len() - call);
    let arguments = &source[call..end];
    // The second ordering of a compare-exchange is its last argument.
    let at = match number("argument") {
        3 => arguments.rfind(text("from")),
        _ => arguments.find(text("from")),
    };
    let at = call + at.expect("the ordering");
    let changed = format!("{}{}{}", &source[..at], text("to"), &source[at + text("from").len()..]);
    fs::write(file, changed).unwrap();
}

/// A message that is passed on; what is said of it is stronger than needed.
const RELAXED: &str = r#"
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;

#[dpor::test]
fn passes() {
    static DATA: AtomicU32 = AtomicU32::new(0);
    static READY: AtomicU32 = AtomicU32::new(0);
    let thread = thread::spawn(|| {
        DATA.store(1, SeqCst);
        READY.store(1, SeqCst);
    });
    if READY.load(SeqCst) == 1 {
        assert_eq!(DATA.load(SeqCst), 1);
    }
    thread.join().unwrap();
}
"#;

/// In message passing, the flag needs a release and an acquire, and the data nothing.
#[test]
fn orderings_that_can_be_weaker_are_found() {
    let project = Project::package("relaxed", "").file("src/lib.rs", "").file("tests/t.rs", RELAXED);
    let advice = advice(&project, "--relax");
    let weaker = advice[0].1["weaker"].as_array().unwrap();
    let found: Vec<(u64, &str)> =
        weaker.iter().map(|change| (change["line"].as_u64().unwrap(), change["to"].as_str().unwrap())).collect();
    assert_eq!(found, [(10, "Relaxed"), (11, "Release"), (13, "Acquire"), (14, "Relaxed")]);
}
