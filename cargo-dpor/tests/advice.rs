//! `--suggest` and `--relax`: changes that were tried out.

mod support;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use support::{Project, repository};

/// What is suggested for a program.
enum Suggested {
    /// The change that the authors of the crate have made, as the line that it changes, and then, perhaps, other changes
    /// that are as good for the test.
    TheFix(&'static [&'static [&'static str]]),
    /// Nothing: the authors have changed something else, namely this.
    Nothing(&'static str),
}

use Suggested::{Nothing, TheFix};

/// What is suggested for each program with a known bug, as changed lines: groups of changes, each of which does.
///
/// What the authors have done is in the comments and in the test `fixed` of each program. That is one of the groups,
/// except where they have changed the logic.
const BUGS: [(&str, Suggested); 16] = [
    ("arc_get_mut", TheFix(&[&["let unique = self.inner().references.load(Acquire) == 1;"]])),
    ("arc_swap_list", TheFix(&[&["match head.compare_exchange(next, node, AcqRel, Acquire) {"]])),
    // A swap instead of a store.
    ("atomic_waker", TheFix(&[&["state.swap(WAITING, AcqRel);"]])),
    ("channel_block", Nothing("the block is taken out where it was only read")),
    ("deque_buffer", Nothing("the buffer is looked at again")),
    // The fence before the load is that of the authors. Nothing happens between the store and the load.
    ("event_notify", TheFix(&[&["fence(SeqCst); // before the load"], &["fence(SeqCst); // after the store"]])),
    // The two fences are exchanged.
    ("index_set_fences", TheFix(&[&["fence(Acquire);", "fence(Release);"]])),
    ("latch_lifetime", Nothing("the latch is read before it is set")),
    // A compare-exchange that does not fail spuriously.
    ("lazy_box", TheFix(&[&["cell.compare_exchange(0, value, AcqRel, Acquire)"]])),
    (
        "ms_queue",
        TheFix(&[&["let linked = unsafe { (*last).next.compare_exchange(ptr::null_mut(), node, Release, Relaxed) };"]]),
    ),
    ("oneshot_close", Nothing("the value is announced only where the channel is open")),
    // A swap instead of a store.
    ("parker_token", TheFix(&[&["state.swap(EMPTY, Acquire);"]])),
    ("rw_spinlock", TheFix(&[&["self.state.fetch_and(!WRITER, Release);"]])),
    ("scope_data", Nothing("the data belong to all who use them")),
    ("thread_local_iter", TheFix(&[&["let present = entries.iter().filter(|entry| entry.present.load(Acquire));"]])),
    ("word_lock", TheFix(&[&["let taken = state.compare_exchange(0, LOCKED, Acquire, Relaxed).is_ok();"]])),
];

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
        // Where an error is expected nothing is wrong.
        let text = fs::read_to_string(&path).unwrap().replace(", expect = \"panic\"", "");
        project.write(&format!("src/{name}"), &text);
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

/// The groups of changes that are suggested.
fn groups(advice: &Value) -> Vec<&Vec<Value>> {
    advice["stronger"].as_array().into_iter().flatten().map(|group| group.as_array().unwrap()).collect()
}

/// Of the 16 known bugs 11 were fixed by another ordering, a fence, or another operation: all of these are found.
#[test]
fn known_fixes_are_found() {
    let project = bugs();
    let found = advice(&project, "--suggest broken");
    let of = |name: &str| {
        let test = format!("{name}::broken");
        &found.iter().find(|(name, _)| *name == test).unwrap_or_else(|| panic!("no {test}")).1
    };
    for (name, suggested) in &BUGS {
        match suggested {
            TheFix(expected) => {
                let mut expected: Vec<Vec<&str>> = expected.iter().map(|group| group.to_vec()).collect();
                let lines = groups(of(name)).iter().map(|group| changed_lines(&project, group)).collect::<Vec<_>>();
                let mut lines: Vec<Vec<&str>> =
                    lines.iter().map(|group| group.iter().map(String::as_str).collect()).collect();
                expected.sort();
                lines.sort();
                assert_eq!(lines, expected, "{name}: {}", of(name));
            }
            Nothing(instead) => assert_eq!(*of(name), "not-orderings", "{name}: {instead}"),
        }
    }
    let fixes = BUGS.iter().filter(|(_, suggested)| matches!(suggested, TheFix(_)));
    assert_eq!(fixes.count(), 11);
    no_suggestion_fails(&project, &BUGS.map(|(name, _)| (format!("{name}::broken"), groups(of(name)))));
}

/// Makes the changes in the source, and checks that the tests pass: the first groups of all tests, then the second ones,
/// and so on. Each test has a file of its own.
fn no_suggestion_fails(project: &Project, tests: &[(String, Vec<&Vec<Value>>)]) {
    for nth in 0.. {
        let here: Vec<_> = tests.iter().filter_map(|(name, groups)| Some((name, *groups.get(nth)?))).collect();
        if here.is_empty() {
            assert!(nth > 0, "nothing was suggested");
            return;
        }
        let originals: Vec<_> = here.iter().map(|(_, group)| make(project, group)).collect();
        let names: Vec<&str> = here.iter().map(|(name, _)| name.as_str()).collect();
        project.run(&format!("test -q --exact {}", names.join(" "))).expect_code(0);
        originals.into_iter().for_each(|(path, text)| fs::write(path, text).unwrap());
    }
}

/// Makes a group of changes in its file. Gives the text before.
fn make(project: &Project, group: &[Value]) -> (PathBuf, String) {
    let path = project.path(group[0]["file"].as_str().unwrap());
    let original = fs::read_to_string(&path).unwrap();
    fs::write(&path, edited(&original, group)).unwrap();
    (path, original)
}

/// A text with the edits of changes.
fn edited(text: &str, group: &[Value]) -> String {
    let mut text = text.to_owned();
    let mut edits: Vec<&Value> = group.iter().flat_map(|change| change["edits"].as_array().unwrap()).collect();
    assert!(!edits.is_empty());
    edits.sort_by_key(|edit| std::cmp::Reverse(edit["start"].as_u64()));
    for edit in edits {
        let number = |key: &str| edit[key].as_u64().unwrap() as usize;
        text.replace_range(number("start")..number("end"), edit["text"].as_str().unwrap());
    }
    text
}

/// The lines that are new with each change of a group; of a fence, with its place.
fn changed_lines(project: &Project, group: &[Value]) -> Vec<String> {
    let line = |change: &Value| {
        let original = fs::read_to_string(project.path(change["file"].as_str().unwrap())).unwrap();
        if let Some(side) = change["change"].as_str().unwrap().strip_prefix("fence-") {
            let inserted = change["edits"][0]["text"].as_str().unwrap().trim();
            return format!("{inserted} // {side} the {}", change["method"].as_str().unwrap());
        }
        let text = edited(&original, std::slice::from_ref(change));
        let (new, _) = text.lines().zip(original.lines()).find(|(new, old)| new != old).unwrap();
        new.trim().to_owned()
    };
    group.iter().map(line).collect()
}

/// Programs of `ui-tests` for which something is suggested, each of their tests.
const OTHERS: [&str; 6] =
    ["data_race", "generics", "independent_reads", "store_buffering", "suggest", "suggest_operations"];

/// Every group of changes, made in the source by itself, makes the test pass.
#[test]
fn suggestions_for_other_programs_hold() {
    let project = Project::package("advice_others", "").file("src/lib.rs", "");
    for name in OTHERS {
        let text = fs::read_to_string(repository().join(format!("ui-tests/{name}.rs"))).unwrap();
        project.write(&format!("tests/{name}.rs"), &text);
    }
    let mut made = 0;
    for (test, advice) in advice(&project, "--suggest --spurious --no-fail-fast") {
        for group in groups(&advice) {
            let (path, original) = make(&project, group);
            let target = path.file_stem().unwrap().to_str().unwrap();
            project.run(&format!("test -q --spurious --test {target} --exact {test}")).expect_code(0);
            fs::write(&path, original).unwrap();
            made += 1;
        }
    }
    assert!(made >= 12, "only {made} suggestions");
}

/// A library that is wrong, and a test whose own flag could hide that.
const OWN_FLAG: &str = r#"
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;

#[derive(Default)]
struct Slot {
    full: AtomicBool,
    value: UnsafeCell<u32>,
}

unsafe impl Sync for Slot {}

impl Slot {
    fn put(&self, value: u32) {
        unsafe { *self.value.get() = value };
        self.full.store(true, Relaxed);
    }

    fn take(&self) -> Option<u32> {
        self.full.load(Relaxed).then(|| unsafe { *self.value.get() })
    }
}

#[dpor::test]
fn fails() {
    let (slot, done) = (Slot::default(), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            slot.put(5);
            done.store(true, Release);
        });
        if done.load(Relaxed) {
            assert!([None, Some(5)].contains(&slot.take()));
        }
    });
}
"#;

/// The acquire that the test lacks is one change, the orderings that the library lacks are two: these come first.
#[test]
fn changes_of_the_test_itself_come_last() {
    let project = Project::package("own_flag", "").file("src/lib.rs", "").file("tests/t.rs", OWN_FLAG);
    let advice = advice(&project, "--suggest");
    let found: Vec<(Vec<String>, bool)> = groups(&advice[0].1)
        .iter()
        .map(|group| (changed_lines(&project, group), group.iter().any(|change| change["in_test"] == true)))
        .collect();
    let library = ["self.full.store(true, Release);", "self.full.load(Acquire).then(|| unsafe { *self.value.get() })"];
    assert_eq!(
        found,
        [(library.map(str::to_owned).to_vec(), false), (vec!["if done.load(Acquire) {".to_owned()], true)]
    );
    no_suggestion_fails(&project, &[("fails".to_owned(), groups(&advice[0].1))]);
}

/// Two threads that each raise a flag and look at the other's, with nothing but relaxed orderings.
const STORE_BUFFERING: &str = r#"
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static FLAGS: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];

fn enter(own: usize) -> bool {
    FLAGS[own].store(true, Ordering::Relaxed);
    !FLAGS[1 - own].load(Ordering::Relaxed)
}

#[dpor::test]
fn fails() {
    let thread = thread::spawn(|| enter(0));
    let entered = enter(1);
    assert!(!(entered && thread.join().unwrap()));
}
"#;

/// One fence between the store and the load does it: that is less than to make both sequentially consistent.
#[test]
fn a_fence_is_less_than_two_orderings() {
    let project = Project::package("fences", "").file("src/lib.rs", "").file("tests/t.rs", STORE_BUFFERING);
    let advice = advice(&project, "--suggest");
    let lines: Vec<_> = groups(&advice[0].1).iter().map(|group| changed_lines(&project, group)).collect();
    let fence = "std::sync::atomic::fence(Ordering::SeqCst);";
    assert_eq!(lines, [[format!("{fence} // after the store")]]);
    no_suggestion_fails(&project, &[("fails".to_owned(), groups(&advice[0].1))]);
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
