//! The suites' sources, copied into a workspace of their own below the target directory: nothing in them is changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::packages::{Packages, copy_directory, output};
use crate::suites::{Origin, SUITES, Suite};

/// What the copied packages depend on, in the versions that were last tried.
const LOCK: &str = include_str!("../workspace.lock");

/// The parts of the standard library's tests that are about synchronization and threads, as a package.
const STD_TESTS: &str = include_str!("../stdtests.toml");

/// The packages of the suites, ready to be compiled.
pub struct Workspace {
    pub directory: PathBuf,
}

impl Workspace {
    /// Copies everything; `update` where the dependencies may be newer ones than those that are locked.
    pub fn prepare(repository: &Path, update: bool) -> Result<Workspace> {
        let directory = repository.join("target/conformance");
        fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
        let workspace = Workspace { directory };
        workspace.copy_from_toolchain(repository)?;
        workspace.copy_from_registry(&repository.join("tests/conformance/registry/Cargo.toml"))?;
        workspace.write("Cargo.toml", &manifest())?;
        if !update {
            workspace.write("Cargo.lock", LOCK)?;
        }
        Ok(workspace)
    }

    fn copy_from_toolchain(&self, repository: &Path) -> Result<()> {
        let sysroot = output(Command::new("rustc").args(["--print", "sysroot"]).current_dir(repository))?;
        let library = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library");
        ensure!(library.is_dir(), "{} is missing: rustup component add rust-src", library.display());
        // The tests of `alloc` compile some of its modules again.
        for package in ["coretests", "alloctests", "alloc"] {
            self.copy(&library.join(package), package)?;
        }
        self.copy(&library.join("std/tests"), "stdtests/tests")?;
        self.write("stdtests/Cargo.toml", STD_TESTS)?;
        self.write("stdtests/lib.rs", "")
    }

    fn copy_from_registry(&self, manifest: &Path) -> Result<()> {
        let packages = Packages::of(manifest)?;
        for suite in SUITES.iter().filter(|suite| suite.origin == Origin::Registry) {
            self.copy(&packages.find(suite.name)?.directory, suite.name)?;
        }
        Ok(())
    }

    /// The version of a suite's package; those of the toolchain have none of their own.
    pub fn version(&self, suite: &Suite) -> Result<String> {
        if suite.origin == Origin::Toolchain {
            return Ok("toolchain".to_owned());
        }
        let path = self.directory.join(suite.name).join("Cargo.toml");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let manifest: toml::Table = toml::from_str(&text).with_context(|| format!("cannot read {}", path.display()))?;
        let version = manifest.get("package").and_then(|package| package.get("version")?.as_str());
        Ok(version.context("a published package has a version")?.to_owned())
    }

    fn copy(&self, from: &Path, to: &str) -> Result<()> {
        copy_directory(from, &self.directory.join(to))
            .with_context(|| format!("cannot copy {} to {}", from.display(), self.directory.display()))
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.directory.join(path);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The manifest of the workspace. What is an unstable module of the standard library is used by its tests only.
fn manifest() -> String {
    let members: Vec<String> = SUITES.iter().map(|suite| format!("{:?}", suite.name)).collect();
    format!(
        "cargo-features = [\"profile-rustflags\"]\n\n[workspace]\nresolver = \"2\"\nmembers = [{}]\nexclude = [\"alloc\"]\n\n\
         [profile.test.package.stdtests]\nrustflags = [\"-Zcrate-attr=feature(sync_poison_mod)\"]\n",
        members.join(", ")
    )
}
