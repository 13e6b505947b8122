//! The packages that a manifest depends on, as cargo has fetched them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// What `cargo metadata` says of a manifest.
#[derive(Deserialize)]
pub struct Packages {
    packages: Vec<Described>,
}

#[derive(Deserialize)]
struct Described {
    name: String,
    version: String,
    manifest_path: PathBuf,
}

/// A package with its sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub directory: PathBuf,
}

impl Packages {
    /// All that a manifest depends on, in the versions that are locked beside it.
    pub fn of(manifest: &Path) -> Result<Packages> {
        let mut cargo = Command::new("cargo");
        cargo.args(["metadata", "--format-version", "1", "--locked", "--manifest-path"]).arg(manifest);
        serde_json::from_str(&output(&mut cargo)?).context("cannot read what cargo says of its packages")
    }

    /// The package with a name; if there are several, the one with the highest version, which comes last.
    pub fn find(&self, name: &str) -> Result<Package> {
        let found = self.packages.iter().rfind(|package| package.name == name);
        let found = found.with_context(|| format!("{name} is not among the fetched packages"))?;
        let directory = found.manifest_path.parent().context("a manifest is in a directory")?.to_owned();
        Ok(Package { name: found.name.clone(), version: found.version.clone(), directory })
    }
}

/// Copies what is not there yet, or has changed: what stays the same need not be compiled again.
pub fn copy_directory(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_directory(&entry.path(), &target)?;
        } else {
            write_changed(&target, &fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

/// Writes a file, unless it has these contents.
pub fn write_changed(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == contents) {
        return Ok(());
    }
    fs::write(path, contents)
}

/// What a command prints.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(output.status.success(), "{command:?} failed\n{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}
