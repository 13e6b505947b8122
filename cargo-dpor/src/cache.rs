//! Verdicts that are kept: a test that has passed, and that has not changed since, is not checked again.
//!
//! A verdict is kept under a [`Key`], the digest of all that it depends on: the program of the test with all that it reaches,
//! every setting that can make a difference, and the build of cargo-dpor. Which environment variables a test asks for is known
//! only when it was checked; so a verdict names them, and counts only where they have the same values. Exploring is
//! deterministic, so nothing else can make a difference.
//!
//! Only tests that passed are kept, and only where everything was explored that there is to explore: what a limit of time or
//! memory has cut short is not known. A file that is damaged, or of another kind, is as if it were not there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, SystemTime};

use dpor_engine::check::Cover;
use dpor_engine::explore::{Restart, Stats};
use dpor_engine::program::Digest;
use dpor_engine::program::sealed::Kind;
use dpor_engine::vm::{Environment, Questions};
use serde::{Deserialize, Serialize};

use crate::finding::Printed;
use crate::settings::Settings;

/// Changes with every change of [`Kept`].
const KIND: Kind = Kind { magic: b"dporpass", version: 1 };
/// The directory of verdicts in our part of the target directory.
pub const DIRECTORY: &str = "cache";
/// A verdict that was not used for this long is removed.
const LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// So often a verdict is marked as in use.
const MARKED_EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// What a verdict depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(Digest);

impl Key {
    /// For the test with this program. Nothing is kept where executions are only sampled or shown.
    pub fn new(program: Digest, settings: &Settings) -> Option<Key> {
        // Every setting is here, or it is said why not.
        let Settings {
            model,
            buffer_bound,
            equivalence,
            awaiting,
            spurious,
            unroll,
            max_steps,
            show_cover,
            allow,
            commute,
            symmetry,
            max_executions,
            // What has passed has done so within these limits, and would do so without them.
            timeout: _,
            max_memory: _,
            sampling,
            keep_going,
            // Counts are the same for any number of these.
            workers: _,
        } = settings;
        let exploration = (model, buffer_bound, equivalence, awaiting, commute, symmetry);
        let extent = (spurious, unroll, max_steps, max_executions, keep_going, allow);
        let key = Digest::of_data(&(build(), program, exploration, extent));
        (sampling.is_none() && show_cover.is_none()).then_some(Key(key))
    }
}

/// Which cargo-dpor this is.
fn build() -> (&'static str, &'static str, &'static str) {
    (env!("CARGO_PKG_VERSION"), dpor_engine::BUILD, env!("DPOR_BUILD"))
}

/// The verdict on a test that has passed.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Passed {
    pub stats: Stats,
    pub covers: Vec<Cover>,
    pub restarts: Vec<Restart>,
    /// What the first execution printed.
    pub output: Printed,
}

/// A verdict as a file has it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    key: Digest,
    /// Which environment variables the test has asked for, and the values that they had.
    questions: Questions,
    answers: Digest,
    passed: Passed,
}

/// The verdicts of a workspace.
pub struct Cache {
    directory: PathBuf,
}

impl Cache {
    /// In our part of the target directory.
    pub fn new(target: &Path) -> Cache {
        Cache { directory: target.join(DIRECTORY) }
    }

    fn path(&self, key: Key) -> PathBuf {
        self.directory.join(key.0.to_string())
    }

    /// The verdict that is kept, if there is one.
    pub fn find(&self, key: Key, environment: &Environment) -> Option<Passed> {
        let path = self.path(key);
        let kept: Kept = serde_json::from_slice(KIND.open(&fs::read(&path).ok()?).ok()?).ok()?;
        let is_right = kept.key == key.0 && environment.answers(&kept.questions) == kept.answers;
        if is_right {
            mark(&path);
        }
        is_right.then_some(kept.passed)
    }

    /// Keeps the verdict on a test that was checked with this environment.
    pub fn keep(&self, key: Key, environment: &Environment, passed: Passed) -> io::Result<()> {
        let questions = environment.questions();
        let answers = environment.answers(&questions);
        let text = serde_json::to_string(&Kept { key: key.0, questions, answers, passed })?;
        fs::create_dir_all(&self.directory)?;
        // Who reads it finds all of it, or nothing.
        let unfinished = self.directory.join(format!("{}.{}", key.0, process::id()));
        fs::write(&unfinished, KIND.seal(text.as_bytes()))?;
        fs::rename(&unfinished, self.path(key)).inspect_err(|_| drop(fs::remove_file(&unfinished)))
    }

    /// Removes verdicts that were not used for a long time.
    pub fn prune(&self) {
        let Ok(entries) = fs::read_dir(&self.directory) else { return };
        for entry in entries.flatten() {
            if entry.metadata().and_then(|file| file.modified()).is_ok_and(|time| is_older(time, LIFETIME)) {
                drop(fs::remove_file(entry.path()));
            }
        }
    }
}

fn is_older(time: SystemTime, than: Duration) -> bool {
    SystemTime::now().duration_since(time).is_ok_and(|age| age > than)
}

/// Notes that a file is in use. Where that is not possible, it is removed some day, and made again.
fn mark(path: &Path) {
    if let Ok(file) = fs::File::options().append(true).open(path)
        && file.metadata().and_then(|file| file.modified()).is_ok_and(|time| is_older(time, MARKED_EVERY))
    {
        drop(file.set_modified(SystemTime::now()));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::args::tests::parse;
    use crate::defaults::Defaults;
    use dpor_engine::program::TestConfig;

    fn key(line: &str) -> Option<Key> {
        let args = parse(&format!("cargo-dpor test {line}"));
        let settings = Settings::resolve(&args.explore, &Defaults::default(), &TestConfig::default()).unwrap();
        Key::new(Digest::of(b"program"), &settings[0])
    }

    fn passed() -> Passed {
        let restart = Restart { lesson: "a reason".into(), stats: Stats { cut: 3, ..Stats::default() } };
        let stats = Stats { executions: 7, blocked: 1, allowed: 2, ..Stats::default() };
        let output = Printed { all: "\u{1f600}".into(), ..Printed::default() };
        Passed { stats, covers: Vec::new(), restarts: vec![restart], output }
    }

    fn environment(value: &str) -> Environment {
        BTreeMap::from([("A".to_owned(), value.to_owned()), ("B".to_owned(), value.to_owned())]).into()
    }

    fn cache(name: &str) -> Cache {
        let directory = std::env::temp_dir().join(format!("cargo-dpor-{name}-{}", process::id()));
        drop(fs::remove_dir_all(&directory));
        Cache::new(&directory)
    }

    #[test]
    fn a_verdict_depends_on_the_settings_that_make_a_difference() {
        let usual = key("").unwrap();
        for same in ["--workers 1", "--timeout 3", "--max-memory 4G"] {
            assert_eq!(key(same), Some(usual), "{same}");
        }
        for other in [
            "--model sc",
            "--model tso --buffer-bound 2",
            "--equivalence reads-from",
            "--await off",
            "--commute off",
            "--symmetry off",
            "--unroll 3",
            "--spurious",
            "--max-executions 9",
            "--max-steps 9",
            "--keep-going",
            "--allow-leaks",
            "--allow panic=here",
        ] {
            assert!(key(other).is_some_and(|key| key != usual), "{other}");
        }
        assert_eq!((key("--sample 3 --seed 1"), key("--show-cover x")), (None, None));
        let args = parse("cargo-dpor test");
        let settings = Settings::resolve(&args.explore, &Defaults::default(), &TestConfig::default()).unwrap();
        assert_ne!(Key::new(Digest::of(b"another program"), &settings[0]), Some(usual));
    }

    #[test]
    fn what_is_kept_is_found_in_the_same_environment() {
        let (cache, key, other) = (cache("environment"), key("").unwrap(), key("--spurious").unwrap());
        let environment_then = environment("then");
        assert_eq!(cache.find(key, &environment_then), None);
        cache.keep(key, &environment_then, passed()).unwrap();
        assert_eq!(cache.find(key, &environment("now")), Some(passed()), "the test has not asked for anything");
        assert_eq!(cache.find(other, &environment_then), None);
        environment_then.get("A");
        cache.keep(key, &environment_then, passed()).unwrap();
        assert_eq!(cache.find(key, &environment("then")), Some(passed()));
        assert_eq!(cache.find(key, &environment("now")), None);
        fs::remove_dir_all(cache.directory.parent().unwrap()).unwrap();
    }

    #[test]
    fn what_is_damaged_is_not_there() {
        let (cache, key, other) = (cache("damaged"), key("").unwrap(), key("--spurious").unwrap());
        let environment = environment("");
        cache.keep(key, &environment, passed()).unwrap();
        let bytes = fs::read(cache.path(key)).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            fs::write(cache.path(key), &damaged).unwrap();
            assert_eq!(cache.find(key, &environment), None, "byte {at}");
            fs::write(cache.path(key), &bytes[..at]).unwrap();
            assert_eq!(cache.find(key, &environment), None, "{at} bytes");
        }
        // A verdict on something else.
        fs::write(cache.path(other), &bytes).unwrap();
        assert_eq!(cache.find(other, &environment), None);
        cache.keep(key, &environment, passed()).unwrap();
        assert_eq!(cache.find(key, &environment), Some(passed()));
        fs::remove_dir_all(cache.directory.parent().unwrap()).unwrap();
    }

    #[test]
    fn what_is_old_is_removed() {
        let (cache, key) = (cache("old"), key("").unwrap());
        let environment = environment("");
        cache.keep(key, &environment, passed()).unwrap();
        let age = |days: u64| {
            let file = fs::File::options().append(true).open(cache.path(key)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60)).unwrap();
        };
        age(29);
        assert_eq!(cache.find(key, &environment), Some(passed()));
        // It is in use again.
        cache.prune();
        age(31);
        cache.prune();
        assert_eq!(cache.find(key, &environment), None);
        fs::remove_dir_all(cache.directory.parent().unwrap()).unwrap();
    }
}
