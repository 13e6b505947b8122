//! The user's workspace, as described by `cargo metadata`.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use serde::Deserialize;
use serde_json::Value;

use crate::args::CargoArgs;
use crate::compile::target_directory;
use crate::defaults::Defaults;
use crate::toolchain::{self, Toolchain};

/// The user's workspace.
#[derive(Debug)]
pub struct Workspace {
    /// The directory that the compiler's paths are relative to.
    pub root: PathBuf,
    /// Where all our files go: a directory inside the user's target directory.
    pub target_directory: PathBuf,
    packages: HashMap<String, Package>,
    /// What all packages have in common.
    defaults: Defaults,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    target_directory: PathBuf,
    workspace_root: PathBuf,
    #[serde(default)]
    metadata: Value,
}

#[derive(Debug, Deserialize)]
struct Package {
    id: String,
    name: String,
    manifest_path: PathBuf,
    #[serde(default)]
    metadata: Value,
}

impl Workspace {
    pub fn load(toolchain: &Toolchain, args: &CargoArgs) -> Result<Workspace> {
        let mut cargo = toolchain.cargo_command();
        cargo.args(["metadata", "--no-deps", "--format-version=1"]).args(args.manifest());
        let json = toolchain::output(&mut cargo).map_err(|error| {
            // What cargo says begins with the word that our own report begins with.
            let text = error.to_string();
            anyhow!("{}", text.strip_prefix("error: ").unwrap_or(&text))
        })?;
        let metadata: Metadata = serde_json::from_str(&json).context("cannot parse the output of `cargo metadata`")?;
        let target = match &args.target_dir {
            Some(directory) => std::path::absolute(directory).context("--target-dir is not a path")?,
            None => metadata.target_directory,
        };
        let manifest = metadata.workspace_root.join("Cargo.toml");
        let defaults = Defaults::read(&metadata.metadata, "workspace", &manifest)?;
        for package in &metadata.packages {
            Defaults::read(&package.metadata, "package", &package.manifest_path)?;
        }
        let packages = metadata.packages.into_iter().map(|package| (package.id.clone(), package)).collect();
        let target_directory = target_directory::within(&target)?;
        Ok(Workspace { root: metadata.workspace_root, target_directory, packages, defaults })
    }

    /// The name of a package.
    pub fn package_name(&self, id: &str) -> Result<&str> {
        Ok(&self.package(id)?.name)
    }

    /// The default settings for the tests of a package.
    pub fn defaults(&self, id: &str) -> Result<Defaults> {
        let package = self.package(id)?;
        let own = Defaults::read(&package.metadata, "package", &package.manifest_path)?;
        Ok(own.or(self.defaults.clone()))
    }

    /// The directory of a package.
    pub fn package_directory(&self, id: &str) -> Result<&Path> {
        let manifest = &self.package(id)?.manifest_path;
        manifest.parent().with_context(|| format!("{} has no parent directory", manifest.display()))
    }

    /// Whether a target has its own `main` in place of the test harness: it has no tests to find.
    pub fn has_harness(&self, id: &str, kind: &str, name: &str) -> Result<bool> {
        let path = &self.package(id)?.manifest_path;
        let manifest = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let manifest = manifest.parse().with_context(|| format!("cannot read {}", path.display()))?;
        Ok(harness(&manifest, kind, name))
    }

    fn package(&self, id: &str) -> Result<&Package> {
        self.packages.get(id).with_context(|| format!("cargo built tests of an unknown package: {id}"))
    }
}

/// The setting `harness` of a target in a manifest.
fn harness(manifest: &toml::Table, kind: &str, name: &str) -> bool {
    let is_this = |target: &&toml::Table| target.get("name").and_then(toml::Value::as_str) == Some(name);
    let target = match manifest.get(kind) {
        Some(toml::Value::Array(targets)) => targets.iter().filter_map(toml::Value::as_table).find(is_this),
        // There is only one library.
        Some(toml::Value::Table(library)) => Some(library),
        _ => None,
    };
    target.and_then(|target| target.get("harness")).and_then(toml::Value::as_bool).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::harness;

    #[test]
    fn targets_have_a_harness_unless_the_manifest_says_otherwise() {
        let manifest = "[lib]\nharness = false\n[[test]]\nname = 'a'\nharness = false\n[[test]]\nname = 'b'";
        let manifest = manifest.parse().unwrap();
        assert!(!harness(&manifest, "lib", "x"));
        assert!(!harness(&manifest, "test", "a"));
        assert!(harness(&manifest, "test", "b"));
        assert!(harness(&manifest, "bin", "a"));
    }
}
