//! Failing executions in files: `test` writes them, `replay` runs them again.
//!
//! A file says how the program is built, which test it is and how it was checked, and has the execution itself. An
//! execution belongs to one program: where that has changed since, it is not run.

use std::collections::HashSet;
use std::env;
use std::fs;
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
use crate::finding::{Finding, FindingKind};
use crate::judge::judge;
use crate::report::{self, Details, Report, TestResult};
use crate::select::Selection;
use crate::settings::Settings;
use crate::style::Style;
use crate::sysroot;
use crate::toolchain::Toolchain;
use crate::workspace::Workspace;
use crate::{NOT_CHECKED, NOT_PASSED};

/// Changes with every change of the format; a file of another one is refused.
const FORMAT: u32 = 1;

/// A failing execution.
#[derive(Serialize, Deserialize)]
struct Replay {
    /// Must be [`FORMAT`].
    dpor_replay: u32,
    /// The version of cargo-dpor.
    version: String,
    /// Where the command was run.
    directory: PathBuf,
    /// What cargo was asked to build.
    cargo: CargoArgs,
    package: String,
    target_kind: TargetKind,
    target: String,
    test: String,
    /// What went wrong, for people.
    error: ErrorSummary,
    settings: Settings,
    /// The program that the execution belongs to.
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
    /// Where the files go.
    target: PathBuf,
    /// Where the command is run.
    directory: PathBuf,
    cargo: CargoArgs,
    /// Names that several of the selected tests have.
    ambiguous: HashSet<String>,
}

impl Recorder {
    pub fn new(workspace: &Workspace, cargo: &CargoArgs, selection: &Selection) -> Result<Recorder> {
        let directory = env::current_dir().context("cannot find the current directory")?;
        let mut names = HashSet::new();
        let tests = selection.targets.iter().flat_map(|target| &target.tests);
        let ambiguous = tests.map(|selected| selected.test.name.clone()).filter(|name| !names.insert(name.clone()));
        Ok(Recorder {
            target: workspace.target_directory.join("replay"),
            directory,
            cargo: cargo.clone(),
            ambiguous: ambiguous.collect(),
        })
    }

    /// Writes the failing executions of a test, in place of those that an earlier run has left.
    pub fn record(&self, result: &mut TestResult) -> Result<()> {
        let name = self.name(result.binary, result.test, &result.settings);
        self.remove(&name)?;
        let mut number = 0;
        for index in 0..result.verdict.findings.len() {
            let finding = &result.verdict.findings[index];
            let Some(replay) = self.replay(finding, result) else { continue };
            number += 1;
            let path = self.path(&name, number);
            self.write(&path, &replay).with_context(|| format!("cannot write {}", path.display()))?;
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
        format!("{prefix}{test_name}.{}", settings.model)
    }

    fn path(&self, name: &str, number: usize) -> PathBuf {
        match number {
            1 => self.target.join(format!("{name}.json")),
            _ => self.target.join(format!("{name}.{number}.json")),
        }
    }

    fn remove(&self, name: &str) -> Result<()> {
        let paths = (1..).map(|number| self.path(name, number));
        for path in paths.take_while(|path| path.exists()) {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        Ok(())
    }

    fn replay(&self, finding: &Finding, result: &TestResult) -> Option<Replay> {
        let FindingKind::Error(kind) = finding.kind else { return None };
        let execution = finding.execution.as_ref()?;
        Some(Replay {
            dpor_replay: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            directory: self.directory.clone(),
            cargo: self.cargo.clone(),
            package: result.binary.package.clone(),
            target_kind: result.binary.kind,
            target: result.binary.target.clone(),
            test: result.test.name.clone(),
            error: ErrorSummary { kind: kind.name().to_owned(), message: finding.problem.message.clone() },
            settings: result.settings.clone(),
            fingerprint: result.binary.fingerprint().to_owned(),
            execution: execution.recording.clone(),
        })
    }

    fn write(&self, path: &Path, replay: &Replay) -> Result<()> {
        fs::create_dir_all(&self.target)?;
        fs::write(path, serde_json::to_string(replay)? + "\n")?;
        Ok(())
    }
}

/// `cargo dpor replay`
pub fn replay(args: &ReplayArgs) -> Result<u8> {
    let mut replay = read(&args.file)?;
    replay.cargo.quiet = args.quiet;
    replay.cargo.verbose = 0;
    enter(&mut replay, args)?;
    let toolchain = Toolchain::find()?;
    let sysroot = sysroot::prepare(&toolchain, Style::for_stderr(args.color))?;
    let workspace = Workspace::load(&toolchain, &replay.cargo)?;
    let Some(binaries) = compile::compile(&toolchain, &sysroot, &workspace, &replay.cargo, args.color)? else {
        return Ok(NOT_CHECKED);
    };
    let (binary, test) = find(&binaries, &replay)?;
    let start = Instant::now();
    let finding = check::replay(binary, test, &replay.settings, &replay.execution)
        .map_err(|error| anyhow!("{error}: does it depend on the environment?\n\n{}", remedy(&replay)))?;
    let mut result = TestResult {
        binary,
        test,
        settings: replay.settings.clone(),
        several_models: false,
        output: Default::default(),
        verdict: judge(vec![finding], &test.config, binary.program.location(test.place)),
        stats: Stats { executions: 1, ..Stats::default() },
        duration: start.elapsed(),
        advice: None,
    };
    let executions = result.verdict.findings.iter_mut().filter_map(|finding| finding.execution.as_mut());
    executions.for_each(|execution| execution.replay = Some(args.file.clone()));
    let details = Details { trace: args.trace, ..Details::default() };
    let mut report: Box<dyn Report> = report::for_format(args.format, args.color, &workspace.root, details);
    report.replayed(&result)?;
    Ok(NOT_PASSED)
}

fn read(path: &Path) -> Result<Replay> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let format = json["dpor_replay"].as_u64();
    ensure!(
        format.is_some(),
        "{} is no execution that `cargo dpor test` has recorded\n\nThose are in target/dpor/replay",
        path.display()
    );
    ensure!(
        format == Some(u64::from(FORMAT)),
        "{} was recorded by cargo-dpor {}, and this is {}\n\nCheck the test again",
        path.display(),
        json["version"].as_str().unwrap_or("of another version"),
        env!("CARGO_PKG_VERSION")
    );
    serde_json::from_value(json).with_context(|| format!("{} is damaged, check the test again", path.display()))
}

/// Goes to where the program was built.
fn enter(replay: &mut Replay, args: &ReplayArgs) -> Result<()> {
    match &args.manifest_path {
        Some(manifest) => {
            let manifest = absolute(manifest).with_context(|| format!("{} is not a path", manifest.display()))?;
            replay.cargo.manifest_path = Some(manifest);
            Ok(())
        }
        None => env::set_current_dir(&replay.directory).with_context(|| {
            let directory = replay.directory.display();
            format!("the execution was recorded in {directory}: name the crate with `--manifest-path PATH`")
        }),
    }
}

/// The test that the execution is of.
fn find<'a>(binaries: &'a [Binary], replay: &Replay) -> Result<(&'a Binary, &'a Test)> {
    let is_target = |binary: &&Binary| {
        (&binary.package, binary.kind, &binary.target) == (&replay.package, replay.target_kind, &replay.target)
    };
    let binary = binaries.iter().find(is_target);
    let test = binary.and_then(|binary| binary.program.tests.iter().find(|test| test.name == replay.test));
    let (Some(binary), Some(test)) = (binary, test) else {
        return Err(anyhow!("there is no test `{}` any more\n\n{}", replay.test, remedy(replay)));
    };
    ensure!(
        binary.fingerprint() == replay.fingerprint,
        "the program has changed since the execution was recorded\n\n{}",
        remedy(replay)
    );
    Ok((binary, test))
}

fn remedy(replay: &Replay) -> String {
    format!("Check the test again: cargo dpor test --exact {}", replay.test)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture;

    fn recorder(directory: &Path) -> Recorder {
        Recorder {
            target: directory.join("target/dpor/replay"),
            directory: directory.to_owned(),
            cargo: CargoArgs::default(),
            ambiguous: HashSet::new(),
        }
    }

    #[test]
    fn files_are_named_after_test_and_model() {
        let mut recorder = recorder("/w".as_ref());
        let (binary, test, settings) = (fixture::binary(), fixture::test("model=tso"), fixture::settings("model=tso"));
        let name = recorder.name(&binary, &test, &settings);
        assert_eq!(recorder.path(&name, 1), Path::new("/w/target/dpor/replay/tests-pops.tso.json"));
        assert_eq!(recorder.path(&name, 2), Path::new("/w/target/dpor/replay/tests-pops.tso.2.json"));
        recorder.ambiguous.insert(test.name.clone());
        assert_eq!(recorder.name(&binary, &test, &settings), "stack-tests-pops.tso");
    }

    #[test]
    fn what_is_written_replaces_what_was_there() {
        let directory = env::temp_dir().join(format!("cargo-dpor-replay-{}", std::process::id()));
        let recorder = recorder(&directory);
        let (binary, test) = (fixture::binary(), fixture::test(""));
        let files = || fs::read_dir(&recorder.target).unwrap().count();
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
            ("{}", "is no execution that `cargo dpor test` has recorded"),
            ("not json", "is no execution that `cargo dpor test` has recorded"),
            ("{\"dpor_replay\":999,\"version\":\"9.0\"}", "was recorded by cargo-dpor 9.0"),
            ("{\"dpor_replay\":1}", "is damaged"),
        ] {
            fs::write(&path, text).unwrap();
            let error = read(&path).err().unwrap().to_string();
            assert!(error.contains(reason), "{error}");
        }
        fs::remove_file(&path).unwrap();
        assert!(read(&path).is_err());
    }
}
