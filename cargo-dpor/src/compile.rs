//! Runs cargo with our driver to compile the selected tests, and loads the programs that the driver writes.
//!
//! The driver writes the program of a test target next to the target's metadata, under the same name with another
//! extension. Cargo reports the metadata of every target, including those compiled by an earlier run.

mod message;
pub mod target_directory;

use std::collections::HashSet;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result, ensure};
use dpor_engine::program::{Digest, LoadError, Parts, Program, Test};
use serde::{Deserialize, Serialize};

use crate::args::{CargoArgs, ColorChoice};
use crate::defaults::Defaults;
use crate::style::Style;
use crate::toolchain::Toolchain;
use crate::workspace::Workspace;
use message::{Artifact, Message};
use target_directory::TargetDirectory;

/// Tells the driver to lower every `#[test]`, not only every `#[dpor::test]`.
const ALL_TESTS: &str = "DPOR_ALL_TESTS";

/// A compiled test target.
pub struct Binary {
    /// The package's name.
    pub package: String,
    pub kind: TargetKind,
    /// The target's name.
    pub target: String,
    /// The directory of the package.
    pub directory: PathBuf,
    /// How its tests are checked, where nothing else is said.
    pub defaults: Defaults,
    pub program: Arc<Program>,
    /// Those of the program, once they were asked for.
    pub parts: OnceLock<Parts>,
}

/// What a target is, in the order in which targets are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    Lib,
    Bin,
    Test,
    Example,
    Bench,
}

impl TargetKind {
    pub fn name(self) -> &'static str {
        match self {
            TargetKind::Lib => "lib",
            TargetKind::Bin => "bin",
            TargetKind::Test => "test",
            TargetKind::Example => "example",
            TargetKind::Bench => "bench",
        }
    }
}

impl Binary {
    /// A short name, unique in the workspace: `package`, `package::integration_test`, `package::bin/name`.
    pub fn id(&self) -> String {
        match self.kind {
            TargetKind::Lib => self.package.clone(),
            TargetKind::Test => format!("{}::{}", self.package, self.target),
            kind => format!("{}::{}/{}", self.package, kind.name(), self.target),
        }
    }

    fn parts(&self) -> &Parts {
        self.parts.get_or_init(|| Parts::of(&self.program))
    }

    /// Tells the program of a test from others.
    pub fn digest(&self, test: &Test) -> Digest {
        self.parts().digest(&self.program, test)
    }

    /// The same with the program of one test, which is the only one there.
    pub fn only(&self, test: &Test) -> Binary {
        Binary {
            package: self.package.clone(),
            kind: self.kind,
            target: self.target.clone(),
            directory: self.directory.clone(),
            defaults: self.defaults.clone(),
            program: Arc::new(self.parts().only(&self.program, test)),
            parts: OnceLock::new(),
        }
    }
}

/// The selected targets, compiled; `None` if cargo failed and printed the reason.
pub fn compile(
    toolchain: &Toolchain,
    sysroot: &Path,
    workspace: &Workspace,
    args: &CargoArgs,
    color: ColorChoice,
) -> Result<Option<Vec<Binary>>> {
    let driver = driver()?;
    let style = Style::for_stderr(color);
    let directory = TargetDirectory::open(&workspace.target_directory, &driver, sysroot, style)?;
    let mut cargo = cargo(toolchain, args, &directory, style);
    cargo.env("RUSTC_WRAPPER", &driver).env("DPOR_SYSROOT", sysroot).env("LD_LIBRARY_PATH", toolchain.library_path()?);
    cargo.env_remove(ALL_TESTS).envs(args.all_tests.then_some((ALL_TESTS, "1")));
    let Some(artifacts) = run_cargo(&mut cargo)? else { return Ok(None) };
    match load_all(&artifacts, workspace, style) {
        Err(error) if error.is::<LoadError>() => {
            eprintln!("{}: {error:#}; rebuilding", style.warning("warning"));
            // Cargo compiles what is missing.
            artifacts.iter().for_each(|artifact| drop(fs::remove_file(&artifact.metadata)));
            let Some(artifacts) = run_cargo(&mut cargo)? else { return Ok(None) };
            load_all(&artifacts, workspace, style).map(Some)
        }
        loaded => loaded.map(Some),
    }
}

/// The programs of all targets, in order.
fn load_all(artifacts: &[Artifact], workspace: &Workspace, style: Style) -> Result<Vec<Binary>> {
    let mut binaries = Vec::new();
    for artifact in artifacts {
        binaries.extend(load(artifact, workspace, style)?);
    }
    binaries.sort_by(|a, b| (&a.package, a.kind, &a.target).cmp(&(&b.package, b.kind, &b.target)));
    Ok(binaries)
}

/// The driver is installed beside this program.
fn driver() -> Result<PathBuf> {
    let own = env::current_exe().context("cannot determine the path of this program")?;
    let driver = own.with_file_name("dpor-driver");
    ensure!(
        driver.is_file(),
        "{} is missing: it must be installed next to {}\n\nInstall both with: cargo install --force --path cargo-dpor",
        driver.display(),
        own.display()
    );
    Ok(driver)
}

fn cargo(toolchain: &Toolchain, args: &CargoArgs, directory: &TargetDirectory, style: Style) -> Command {
    let mut cargo = toolchain.cargo_command();
    let messages = if style.enabled() { "json-diagnostic-rendered-ansi" } else { "json" };
    cargo
        .arg("check")
        .args(args.selection())
        .args(args.profile())
        .args(args.manifest())
        .args(args.verbosity())
        // With a target, cargo keeps build scripts and procedural macros apart: they need the ordinary library.
        .args(["--target", toolchain.host()])
        .arg("--target-dir")
        .arg(directory.path())
        .arg(format!("--message-format={messages}"))
        .args(["--color", style.cargo_choice()])
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_BUILD_BUILD_DIR", directory.path());
    cargo
}

/// Runs cargo, shows what the compiler says, and collects the test targets.
fn run_cargo(cargo: &mut Command) -> Result<Option<Vec<Artifact>>> {
    let mut child = cargo.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot run {cargo:?}"))?;
    let stdout = child.stdout.take().expect("the output is piped");
    let mut artifacts = Vec::new();
    // A library is compiled with and without its tests: what is said of both is shown once.
    let mut shown = HashSet::new();
    for line in BufReader::new(stdout).lines() {
        match Message::parse(line.context("cannot read the output of cargo")?) {
            Message::Diagnostic(text) if shown.contains(&text) => {}
            Message::Diagnostic(text) => {
                eprint!("{text}");
                shown.insert(text);
            }
            Message::TestTarget(artifact) => artifacts.push(artifact),
            Message::Text(text) => eprintln!("{text}"),
            Message::Other => {}
        }
    }
    let status = child.wait().context("cannot wait for cargo")?;
    Ok(status.success().then_some(artifacts))
}

/// Loads the program of a target; `None` for a target that cannot have any test of ours, which is said.
fn load(artifact: &Artifact, workspace: &Workspace, style: Style) -> Result<Option<Binary>> {
    let package = workspace.package_name(&artifact.package_id)?.to_owned();
    let directory = workspace.package_directory(&artifact.package_id)?.to_owned();
    let what = format!("{} `{}` of package `{package}`", artifact.kind.name(), artifact.target);
    if artifact.procedural_macro {
        let why = "is a procedural macro: its unit tests are not checked, only its integration tests";
        eprintln!("{}: {what} {why}", style.warning("warning"));
        return Ok(None);
    }
    let path = artifact.metadata.with_extension("dpor");
    if !path.is_file() && !workspace.has_harness(&artifact.package_id, artifact.kind.name(), &artifact.target)? {
        eprintln!(
            "{}: {what} has `harness = false`: its tests cannot be listed and are not checked",
            style.warning("warning")
        );
        return Ok(None);
    }
    ensure!(
        path.is_file(),
        "internal error: the driver wrote no program for {what}: there is no {}\n\n\
         Please report this. To try again from scratch, delete {}",
        path.display(),
        workspace.target_directory.display()
    );
    let program = Program::load(&path).with_context(|| format!("cannot load the program of {what}"))?;
    Ok(Some(Binary {
        package,
        kind: artifact.kind,
        target: artifact.target.clone(),
        directory,
        defaults: workspace.defaults(&artifact.package_id)?,
        program: Arc::new(program),
        parts: OnceLock::new(),
    }))
}
