//! Tests as files: `build` writes the program of a test, `run` checks it, without a compiler and without the crate.
//!
//! A file has the test's own program, with all that it reaches and nothing else, what a check needs to know of the package, and
//! the source files that reports show. It names the digest of the program, and a file whose program has another one is
//! refused; so is everything else that is not as it should be, before anything runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result, bail, ensure};
use dpor_engine::interrupt::Interrupt;
use dpor_engine::program::sealed::{Kind, SealError};
use dpor_engine::program::{Digest, Program, Test};
use serde::{Deserialize, Serialize};

use crate::args::{BuildArgs, CargoArgs, Filter, NoTests, RunArgs, TestArgs};
use crate::compile::{self, Binary, TargetKind};
use crate::defaults::Defaults;
use crate::picture::Gallery;
use crate::replay::Recorder;
use crate::report::{self, Sources};
use crate::run::Run;
use crate::select::{self, Selection};
use crate::style::Style;
use crate::sysroot::{self, Care};
use crate::toolchain::Toolchain;
use crate::workspace::Workspace;
use crate::{NOT_CHECKED, NOT_PASSED, PASSED};

/// Changes with every change of [`Artifact`], or of programs.
const KIND: Kind = Kind { magic: b"dportest", version: 1 };

/// A test as a file has it.
#[derive(Serialize, Deserialize)]
struct Artifact {
    /// The version of cargo-dpor.
    version: String,
    digest: Digest,
    package: String,
    target_kind: TargetKind,
    target: String,
    /// The directory of the package, which tests may ask for.
    directory: PathBuf,
    defaults: Defaults,
    /// Source files by their names in the program.
    sources: Vec<(String, String)>,
    /// The bytes of the program's own file.
    program: Vec<u8>,
}

/// `cargo dpor build`
pub fn build(args: &BuildArgs) -> Result<u8> {
    let style = Style::for_stderr(args.color);
    let toolchain = Toolchain::find()?;
    let sysroot = sysroot::prepare(&toolchain, Care::Usual, style)?;
    let workspace = Workspace::load(&toolchain, &args.cargo)?;
    let Some(binaries) = compile::compile(&toolchain, &sysroot, &workspace, &args.cargo, args.color)? else {
        return Ok(NOT_CHECKED);
    };
    let filter = Filter { filters: args.filters.clone(), exact: args.exact, ..Filter::default() };
    let selection = select::select(&binaries, &filter);
    let output = Destination::of(&args.output, &selection)?;
    for target in &selection.targets {
        for selected in &target.tests {
            let (test, binary) = (selected.test, target.binary);
            let digest = binary.digest(test);
            let path = output.path(digest);
            let bytes = Artifact::new(&binary.only(test), digest, &workspace.root).to_bytes()?;
            fs::write(&path, &bytes).with_context(|| format!("cannot write {}", path.display()))?;
            let kilobytes = bytes.len().div_ceil(1000);
            eprintln!("{} {} in {} ({kilobytes} kB)", style.status("Built"), test.name, path.display());
        }
    }
    Ok(PASSED)
}

/// Where programs go.
enum Destination {
    File(PathBuf),
    /// To files that are named by what is in them.
    Directory(PathBuf),
}

impl Destination {
    fn of(path: &Path, selection: &Selection) -> Result<Destination> {
        let is_directory = path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/");
        match selection.tests() {
            0 => bail!("no test matches\n\nList the tests: cargo dpor test --list"),
            _ if is_directory => {
                fs::create_dir_all(path).with_context(|| format!("cannot create {}", path.display()))?;
                Ok(Destination::Directory(path.to_owned()))
            }
            1 => Ok(Destination::File(path.to_owned())),
            tests => bail!(
                "{tests} tests match, and a file has the program of one\n\n\
                 Name a test: cargo dpor build -o {0} --exact NAME\n\
                 Or a directory for the programs of all of them: cargo dpor build -o {0}/",
                path.display()
            ),
        }
    }

    fn path(&self, digest: Digest) -> PathBuf {
        match self {
            Destination::File(path) => path.clone(),
            Destination::Directory(directory) => directory.join(format!("{digest}.dpor")),
        }
    }
}

impl Artifact {
    /// The test whose program is that of the binary.
    fn new(own: &Binary, digest: Digest, root: &Path) -> Artifact {
        Artifact {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            digest,
            package: own.package.clone(),
            target_kind: own.kind,
            target: own.target.clone(),
            directory: own.directory.clone(),
            defaults: own.defaults.clone(),
            sources: sources(&own.program, root),
            program: own.program.to_bytes(),
        }
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(KIND.seal(&postcard::to_allocvec(self).context("cannot write the program of a test")?))
    }

    /// Reads the bytes of a file, which is named in errors.
    fn from_bytes(bytes: &[u8], path: &Path) -> Result<(Artifact, Program)> {
        let name = path.display();
        let contents = KIND.open(bytes).map_err(|error| match error {
            SealError::Foreign => {
                anyhow::anyhow!("{name} is not a program of a test\n\nMake one: cargo dpor build -o FILE --exact NAME")
            }
            SealError::Version { .. } => {
                anyhow::anyhow!("{name} was built by another version of cargo-dpor: {error}\n\nBuild it again")
            }
            SealError::Damaged => anyhow::anyhow!("{name} is damaged"),
        })?;
        let artifact: Artifact = postcard::from_bytes(contents).ok().with_context(|| format!("{name} is damaged"))?;
        let program = Program::from_bytes(&artifact.program, path)?;
        ensure!(program.tests.len() == 1, "{name} is damaged: it has the program of {} tests", program.tests.len());
        Ok((artifact, program))
    }

    fn into_binary(self, program: Program) -> Binary {
        Binary {
            package: self.package,
            kind: self.target_kind,
            target: self.target,
            directory: self.directory,
            defaults: self.defaults,
            program: Arc::new(program),
            parts: OnceLock::new(),
        }
    }
}

/// Reads a test from a file: its program, and the source that it was made of.
fn read(path: &Path) -> Result<(Binary, Sources)> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    decode(&bytes, path)
}

/// The same, of the contents of such a file.
fn decode(bytes: &[u8], path: &Path) -> Result<(Binary, Sources)> {
    let (mut artifact, program) = Artifact::from_bytes(bytes, path)?;
    let sources = Sources::of(std::mem::take(&mut artifact.sources));
    let digest = artifact.digest;
    let binary = artifact.into_binary(program);
    let found = binary.digest(&binary.program.tests[0]);
    ensure!(found == digest, "{} is damaged: its program is {found}, and it says {digest}", path.display());
    Ok((binary, sources))
}

/// The files that reports may show.
fn sources(program: &Program, root: &Path) -> Vec<(String, String)> {
    let shown = program.functions.iter().filter(|function| function.origin.is_shown());
    let places = shown.flat_map(|function| function.code_places.iter().chain([&function.place]));
    let mut files: BTreeSet<u32> = places.map(|place| program.places[place.0 as usize].file).collect();
    files.extend(program.tests.iter().map(|test: &Test| program.places[test.place.0 as usize].file));
    let text = |file: u32| {
        let name = &program.files[file as usize];
        Some((name.clone(), fs::read_to_string(root.join(name)).ok()?))
    };
    files.into_iter().filter_map(text).collect()
}

/// `cargo dpor run`
pub fn run(args: RunArgs) -> Result<u8> {
    let (binary, sources) = read(&args.file)?;
    let binaries = [binary];
    let args = test_args(args);
    let selection = select::select(&binaries, &args.filter);
    let mut report = report::for_args(&args, &sources);
    let gallery = args.report.as_deref().map(|directory| Gallery::open(directory, &sources)).transpose()?;
    let recorder = Recorder::idle();
    let interrupt = Interrupt::default();
    let run = Run { args: &args, recorder: &recorder, root: Path::new(""), gallery, interrupt, cache: None };
    let summary = run.run(&selection, &mut *report)?;
    Ok(if summary.all_passed() { PASSED } else { NOT_PASSED })
}

/// The same options for `test`. A test that is named is run, ignored or not.
fn test_args(args: RunArgs) -> TestArgs {
    TestArgs {
        filter: Filter { include_ignored: true, ..Filter::default() },
        no_tests: NoTests::Fail,
        slow: false,
        nocapture: args.nocapture,
        no_fail_fast: false,
        no_cache: true,
        format: args.format,
        trace: args.trace,
        color: args.color,
        report: args.report,
        suggest: false,
        relax: false,
        explore: args.explore,
        cargo: CargoArgs { verbose: args.verbose, ..CargoArgs::default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture;

    fn artifact() -> Artifact {
        let mut binary = fixture::binary();
        let mut program = Program::clone(&binary.program);
        program.tests.push(fixture::test(""));
        binary.program = Arc::new(program);
        let test = &binary.program.tests[0];
        Artifact::new(&binary.only(test), binary.digest(test), Path::new("/nowhere"))
    }

    fn error(artifact: &Artifact) -> String {
        let decoded = decode(&artifact.to_bytes().unwrap(), Path::new("test.dpor"));
        decoded.map(|_| String::new()).unwrap_or_else(|error| format!("{error:#}"))
    }

    #[test]
    fn a_test_survives_the_round_trip() {
        let artifact = artifact();
        assert_eq!(error(&artifact), "");
        let (read, program) = Artifact::from_bytes(&artifact.to_bytes().unwrap(), Path::new("x")).unwrap();
        assert_eq!((read.digest, program.to_bytes()), (artifact.digest, artifact.program));
    }

    /// A file with a right checksum and another program than it says.
    #[test]
    fn a_program_with_another_digest_is_refused() {
        let wrong = Artifact { digest: Digest::of(b"another"), ..artifact() };
        assert!(error(&wrong).contains("is damaged: its program is"), "{}", error(&wrong));
        let none = Artifact { program: Program::default().to_bytes(), ..artifact() };
        assert!(error(&none).contains("it has the program of 0 tests"), "{}", error(&none));
    }
}
