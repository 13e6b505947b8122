//! Failing executions in files: `test` writes them, `replay` runs them again.
//!
//! A file says [what is built](build), which test it is and how it was checked, and has the execution itself. An
//! execution belongs to one program: where that has changed since, it is not run.
//!
//! The program is that of the workspace that the file is in (executions are kept in the target directory), or else
//! that of the current directory, or the one that the user names: a file does not say where it is, since files may
//! come from others.

mod build;

use std::collections::HashSet;
use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf, absolute};
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};
use dpor_engine::check::Recording;
use dpor_engine::explore::Stats;
use dpor_engine::program::Test;
use serde::{Deserialize, Serialize};

use crate::args::{CargoArgs, ReplayArgs};
use crate::check;
use crate::compile::{self, Binary, TargetKind};
use crate::expectation::verdict_on;
use crate::finding::{Finding, FindingKind};
use crate::report::printable::for_terminal;
use crate::report::{self, Details, Report, Sources, TestResult};
use crate::select::Selection;
use crate::settings::Settings;
use crate::style::Style;
use crate::sysroot::{self, Care};
use crate::toolchain::Toolchain;
use crate::workspace::Workspace;
use crate::{NOT_CHECKED, NOT_PASSED};
use build::Build;

/// How long the name of a test may be in the name of a file, in bytes: file systems take 255 for all of it.
const LONGEST_NAME: usize = 160;

/// Changes with every change of the format; a file of another one is refused.
const FORMAT: u32 = 2;

/// A failing execution.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Replay {
    /// Must be [`FORMAT`].
    dpor_replay: u32,
    /// The version of cargo-dpor.
    version: String,
    /// What cargo was asked to build.
    build: Build,
    package: String,
    target_kind: TargetKind,
    target: String,
    test: String,
    /// What went wrong, for people.
    error: ErrorSummary,
    settings: Settings,
    /// The digest of the test's program, which the execution belongs to.
    fingerprint: String,
    execution: Recording,
}

#[derive(Serialize, Deserialize)]
struct ErrorSummary {
    kind: String,
    message: String,
}

/// Writes failing executions to files.
pub struct Recorder {
    /// Where the files go; `None` for programs that cannot be built again.
    target: Option<PathBuf>,
    /// Where the command is run.
    directory: PathBuf,
    build: Build,
    /// Names that several of the selected tests have.
    ambiguous: HashSet<String>,
}

impl Recorder {
    pub fn new(workspace: &Workspace, cargo: &CargoArgs, selection: &Selection) -> Result<Recorder> {
        let directory = env::current_dir().context("cannot find the current directory")?;
        let mut names = HashSet::new();
        let tests = selection.targets.iter().flat_map(|target| &target.tests);
        let ambiguous = tests.map(|selected| selected.test.name.clone()).filter(|name| !names.insert(name.clone()));
        let member = member(workspace, cargo, &directory);
        Ok(Recorder {
            target: Some(workspace.target_directory.join("replay")),
            directory,
            build: Build::new(cargo, &member),
            ambiguous: ambiguous.collect(),
        })
    }

    /// Writes nothing.
    pub fn idle() -> Recorder {
        Recorder { target: None, directory: PathBuf::new(), build: Build::default(), ambiguous: HashSet::new() }
    }

    /// Writes the failing executions of a test, in place of those that an earlier run has left.
    pub fn record(&self, result: &mut TestResult) -> Result<()> {
        let Some(target) = &self.target else { return Ok(()) };
        let name = self.name(result.binary, result.test, &result.settings);
        remove(target, &name)?;
        let mut number = 0;
        for index in 0..result.verdict.findings.len() {
            let finding = &result.verdict.findings[index];
            let Some(replay) = self.replay(finding, result) else { continue };
            number += 1;
            let path = path(target, &name, number);
            write(&path, &replay).with_context(|| format!("cannot write {}", path.display()))?;
            if let Some(execution) = &mut result.verdict.findings[index].execution {
                execution.replay = Some(path.strip_prefix(&self.directory).unwrap_or(&path).to_owned());
            }
        }
        Ok(())
    }

    /// `module-test.model`, with the target before it where other tests are called the same.
    pub fn name(&self, binary: &Binary, test: &Test, settings: &Settings) -> String {
        let test_name = test.name.replace("::", "-");
        let prefix = match self.ambiguous.contains(&test.name) {
            true => format!("{}-", binary.id().replace("::", "-").replace('/', "-")),
            false => String::new(),
        };
        format!("{}.{}", shortened(format!("{prefix}{test_name}")), settings.model)
    }

    fn replay(&self, finding: &Finding, result: &TestResult) -> Option<Replay> {
        let FindingKind::Error(kind) = finding.kind else { return None };
        let execution = finding.execution.as_ref()?;
        Some(Replay {
            dpor_replay: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build: self.build.clone(),
            package: result.binary.package.clone(),
            target_kind: result.binary.kind,
            target: result.binary.target.clone(),
            test: result.test.name.clone(),
            error: ErrorSummary { kind: kind.name().to_owned(), message: finding.problem.message.clone() },
            settings: result.settings.clone(),
            fingerprint: result.binary.digest(result.test).to_string(),
            execution: execution.recording.clone(),
        })
    }
}

/// The file of the execution with this number.
fn path(target: &Path, name: &str, number: usize) -> PathBuf {
    match number {
        1 => target.join(format!("{name}.json")),
        _ => target.join(format!("{name}.{number}.json")),
    }
}

fn remove(target: &Path, name: &str) -> Result<()> {
    let paths = (1..).map(|number| path(target, name, number));
    for path in paths.take_while(|path| path.exists()) {
        fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    Ok(())
}

fn write(path: &Path, replay: &Replay) -> Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let text = serde_json::to_string(replay)? + "\n";
    // Where there is no room for all of it, nothing is better than a part.
    fs::write(path, text).inspect_err(|_| drop(fs::remove_file(path)))?;
    Ok(())
}

/// A name that is no longer than a file's may be: the end of one that is too long becomes a number, which tells it from
/// others.
fn shortened(name: String) -> String {
    if name.len() <= LONGEST_NAME {
        return name;
    }
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    format!("{}-{:016x}", &name[..name.floor_char_boundary(LONGEST_NAME - 17)], hasher.finish())
}

/// Where the manifest is that a command is about, from the root of the workspace.
fn member(workspace: &Workspace, cargo: &CargoArgs, directory: &Path) -> PathBuf {
    let directory = match &cargo.manifest_path {
        Some(manifest) => directory.join(manifest).parent().map(Path::to_owned),
        None => manifest_directory(directory),
    };
    let directory = directory.and_then(|directory| directory.canonicalize().ok());
    let root = workspace.root.canonicalize().ok();
    let (Some(directory), Some(root)) = (directory, root) else { return PathBuf::new() };
    directory.strip_prefix(root).map(Path::to_owned).unwrap_or_default()
}

/// The closest directory with a manifest.
fn manifest_directory(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().find(|directory| directory.join("Cargo.toml").is_file()).map(Path::to_owned)
}

/// `cargo dpor replay`
pub fn replay(args: &ReplayArgs) -> Result<u8> {
    let replay = read(&args.file)?;
    let toolchain = Toolchain::find()?;
    let cargo = cargo_args(&replay, args)?;
    enter(&replay, args, &toolchain)?;
    let sysroot = sysroot::prepare(&toolchain, Care::Usual, Style::for_stderr(args.color))?;
    let workspace = Workspace::load(&toolchain, &cargo)?;
    let Some(binaries) = compile::compile(&toolchain, &sysroot, &workspace, &cargo, args.color)? else {
        return Ok(NOT_CHECKED);
    };
    let (binary, test) = find(&binaries, &replay)?;
    let own = binary.only(test);
    let (binary, test) = (&own, &own.program.tests[0]);
    let start = Instant::now();
    let mut result = TestResult {
        binary,
        test,
        settings: replay.settings.clone(),
        several_models: false,
        output: Default::default(),
        verdict: verdict_on(vec![run(binary, test, &replay)?], &test.config, binary.program.location(test.place)),
        stats: Stats { executions: 1, ..Stats::default() },
        covers: Vec::new(),
        restarts: Vec::new(),
        survey: None,
        duration: start.elapsed(),
        cached: false,
        advice: None,
    };
    let executions = result.verdict.findings.iter_mut().filter_map(|finding| finding.execution.as_mut());
    executions.for_each(|execution| execution.replay = Some(args.file.clone()));
    let details = Details { trace: args.trace, ..Details::default() };
    let mut report: Box<dyn Report> =
        report::for_format(args.format, args.color, &Sources::new(workspace.root.clone()), details);
    report.replayed(&result)?;
    Ok(NOT_PASSED)
}

/// Runs the execution. One that a program could not have had may also end in a panic.
fn run(binary: &Binary, test: &Test, replay: &Replay) -> Result<Finding> {
    let run = AssertUnwindSafe(|| check::replay(binary, test, &replay.settings, &replay.execution));
    let result = catch_unwind(run).map_err(|_| anyhow!("the recorded execution is damaged\n\n{}", remedy(replay)))?;
    result.map_err(|error| anyhow!("{error}; the test may depend on the environment\n\n{}", remedy(replay)))
}

/// What cargo is asked for: what the file says of the program, and what the user says of everything else.
fn cargo_args(replay: &Replay, args: &ReplayArgs) -> Result<CargoArgs> {
    let is_path = |config: &&String| Path::new(config.as_str()).is_file();
    let config = args.config.iter().map(|config| match Some(config).filter(is_path) {
        Some(path) => Ok(absolute(path)?.display().to_string()),
        None => Ok(config.clone()),
    });
    Ok(CargoArgs {
        quiet: args.quiet,
        config: config.collect::<Result<_>>()?,
        target_dir: args.target_dir.as_ref().map(absolute).transpose().context("--target-dir is not a path")?,
        offline: args.offline,
        ..replay.build.args()
    })
}

fn read(path: &Path) -> Result<Replay> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text, path)
}

/// Reads what is in a file.
fn parse(text: &str, path: &Path) -> Result<Replay> {
    let json: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let format = json["dpor_replay"].as_u64();
    ensure!(
        format.is_some(),
        "{} is not an execution recorded by `cargo dpor test`\n\nRecorded executions are in target/dpor/replay",
        path.display()
    );
    ensure!(
        format == Some(u64::from(FORMAT)),
        "{} was recorded by cargo-dpor {}, but this is {}\n\nCheck the test again",
        path.display(),
        for_terminal(json["version"].as_str().unwrap_or("of another version")),
        env!("CARGO_PKG_VERSION")
    );
    let damaged = || format!("{} is damaged; check the test again", path.display());
    let replay: Replay = serde_json::from_value(json).with_context(damaged)?;
    replay.build.validate().with_context(damaged)?;
    Ok(replay)
}

/// Goes to where the program is built.
fn enter(replay: &Replay, args: &ReplayArgs, toolchain: &Toolchain) -> Result<()> {
    let file = args.file.canonicalize().with_context(|| format!("cannot find {}", args.file.display()))?;
    let start = match &args.manifest_path {
        Some(manifest) => {
            let manifest = absolute(manifest).with_context(|| format!("{} is not a path", manifest.display()))?;
            manifest.parent().map(Path::to_owned)
        }
        None => manifest_directory(&file).or_else(|| manifest_directory(&env::current_dir().ok()?)),
    };
    let start = start.with_context(|| {
        format!("{} is not in the target directory of a crate; use `--manifest-path PATH`", args.file.display())
    })?;
    let cannot = |directory: &Path| format!("cannot change to the directory {}", directory.display());
    env::set_current_dir(&start).with_context(|| cannot(&start))?;
    let root = Workspace::load(toolchain, &CargoArgs::default())?.root;
    let directory = replay.build.directory(&root);
    env::set_current_dir(&directory).with_context(|| cannot(&directory))
}

/// The test that the execution is of.
fn find<'a>(binaries: &'a [Binary], replay: &Replay) -> Result<(&'a Binary, &'a Test)> {
    let is_target = |binary: &&Binary| {
        (&binary.package, binary.kind, &binary.target) == (&replay.package, replay.target_kind, &replay.target)
    };
    let binary = binaries.iter().find(is_target);
    let test = binary.and_then(|binary| binary.program.tests.iter().find(|test| test.name == replay.test));
    let (Some(binary), Some(test)) = (binary, test) else {
        return Err(anyhow!("the test `{}` no longer exists\n\n{}", for_terminal(&replay.test), remedy(replay)));
    };
    let settings = if replay.build.configured { ", or `--config` differs from then" } else { "" };
    ensure!(
        binary.digest(test).to_string() == replay.fingerprint,
        "the program has changed since the execution was recorded{settings}\n\n{}",
        remedy(replay)
    );
    Ok((binary, test))
}

fn remedy(replay: &Replay) -> String {
    format!("Check the test again: cargo dpor test --exact {}", for_terminal(&replay.test))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fuzz;
    use crate::report::fixture;

    fn recorder(directory: &Path) -> Recorder {
        Recorder {
            target: Some(directory.join("target/dpor/replay")),
            directory: directory.to_owned(),
            build: Build::default(),
            ambiguous: HashSet::new(),
        }
    }

    #[test]
    fn files_are_named_after_test_and_model() {
        let mut recorder = recorder("/w".as_ref());
        let (binary, test, settings) = (fixture::binary(), fixture::test("model=tso"), fixture::settings("model=tso"));
        let name = recorder.name(&binary, &test, &settings);
        let target = recorder.target.clone().unwrap();
        assert_eq!(path(&target, &name, 1), Path::new("/w/target/dpor/replay/tests-pops.tso.json"));
        assert_eq!(path(&target, &name, 2), Path::new("/w/target/dpor/replay/tests-pops.tso.2.json"));
        recorder.ambiguous.insert(test.name.clone());
        assert_eq!(recorder.name(&binary, &test, &settings), "stack-tests-pops.tso");
    }

    #[test]
    fn long_names_are_shortened_and_stay_different() {
        let long = "ä".repeat(200);
        let names = ["x", "y"].map(|end| shortened(format!("{long}{end}")));
        assert!(names.iter().all(|name| name.len() <= LONGEST_NAME && name.starts_with("äää")), "{names:?}");
        assert_ne!(names[0], names[1]);
        assert_eq!(shortened("pops".into()), "pops");
    }

    #[test]
    fn what_is_written_replaces_what_was_there() {
        let directory = env::temp_dir().join(format!("cargo-dpor-replay-{}", std::process::id()));
        let recorder = recorder(&directory);
        let (binary, test) = (fixture::binary(), fixture::test(""));
        let files = || fs::read_dir(recorder.target.as_ref().unwrap()).unwrap().count();
        let outcome = dpor_engine::verdict::Outcome::Failed;
        let mut result = fixture::result(&binary, &test, outcome, vec![fixture::finding(), fixture::finding()]);
        recorder.record(&mut result).unwrap();
        let paths = result.verdict.findings.iter().map(|finding| finding.execution.clone().unwrap().replay.unwrap());
        let expected = ["target/dpor/replay/tests-pops.rc11.json", "target/dpor/replay/tests-pops.rc11.2.json"];
        assert_eq!(paths.collect::<Vec<_>>(), expected.map(PathBuf::from));
        let replay = read(&directory.join(expected[0])).unwrap();
        assert_eq!((replay.test.as_str(), replay.error.kind.as_str()), ("tests::pops", "use-after-free"));
        assert_eq!(files(), 2);
        let mut passed = fixture::result(&binary, &test, dpor_engine::verdict::Outcome::Passed, vec![]);
        recorder.record(&mut passed).unwrap();
        assert_eq!(files(), 0);
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn other_files_are_refused() {
        let path = env::temp_dir().join(format!("cargo-dpor-other-{}.json", std::process::id()));
        for (text, reason) in [
            ("{}", "is not an execution recorded by `cargo dpor test`"),
            ("not json", "is not an execution recorded by `cargo dpor test`"),
            ("{\"dpor_replay\":999,\"version\":\"9.0\"}", "was recorded by cargo-dpor 9.0"),
            ("{\"dpor_replay\":1,\"version\":\"0.0\"}", "was recorded by cargo-dpor 0.0"),
            ("{\"dpor_replay\":2}", "is damaged"),
        ] {
            fs::write(&path, text).unwrap();
            let error = read(&path).err().unwrap().to_string();
            assert!(error.contains(reason), "{error}");
        }
        fs::remove_file(&path).unwrap();
        assert!(read(&path).is_err());
    }

    /// A file as it is written.
    fn written() -> serde_json::Value {
        let (binary, test) = (fixture::binary(), fixture::test(""));
        let outcome = dpor_engine::verdict::Outcome::Failed;
        let result = fixture::result(&binary, &test, outcome, vec![fixture::finding()]);
        let replay = recorder("/w".as_ref()).replay(&result.verdict.findings[0], &result).unwrap();
        serde_json::to_value(replay).unwrap()
    }

    proptest! {
        #![proptest_config(fuzz::config())]

        /// What is read is validated: nothing in it looks like an option, or leads elsewhere.
        #[test]
        fn files_with_mistakes_are_read_or_refused(
            changes in prop::collection::vec((any::<usize>(), prop::option::of(fuzz::value())), 1..4),
        ) {
            let mut json = written();
            changes.into_iter().for_each(|(at, by)| fuzz::replace(&mut json, at, by));
            if let Ok(replay) = parse(&json.to_string(), Path::new("x.json")) {
                let args = replay.build.args();
                let names = args.package.iter().chain(&args.exclude).chain(&args.bin).chain(&args.test);
                let names = names.chain(&args.example).chain(&args.features).chain(&args.profile);
                prop_assert!(names.into_iter().all(|name| !name.starts_with('-')));
                prop_assert!(replay.build.directory("/root".as_ref()).starts_with("/root"));
                prop_assert!(args.config.is_empty() && args.target_dir.is_none() && args.manifest_path.is_none());
            }
        }

        #[test]
        fn files_with_other_bytes_are_read_or_refused(changes in prop::collection::vec(any::<(usize, u8)>(), 1..6)) {
            let mut bytes = written().to_string().into_bytes();
            for (at, byte) in changes {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            let _ = parse(&String::from_utf8_lossy(&bytes), Path::new("x.json"));
        }
    }
}
