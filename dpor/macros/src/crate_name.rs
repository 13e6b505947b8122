//! What the user's crate calls the `dpor` crate.
//!
//! A dependency can be renamed (`checker = { package = "dpor", … }`), and paths in the expansion need the name that the
//! user's crate has for it. Only its manifest knows.

use crate::toml::{self, Entry};
use std::fs;
use std::path::{Path, PathBuf};

const PACKAGE: &str = "dpor";

/// The name, as it appears in paths.
pub fn find() -> String {
    manifest_directory().and_then(|directory| in_package(&directory)).unwrap_or_else(|| PACKAGE.to_owned())
}

fn manifest_directory() -> Option<PathBuf> {
    std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from)
}

fn in_package(directory: &Path) -> Option<String> {
    let manifest = fs::read_to_string(directory.join("Cargo.toml")).ok()?;
    in_manifest(&manifest, || workspace_manifest(directory, &manifest))
}

/// The name in a manifest; `workspace` reads the workspace's, where a dependency may be inherited from it.
fn in_manifest(manifest: &str, workspace: impl Fn() -> Option<String>) -> Option<String> {
    let dependencies: Vec<Dependency> = toml::entries(manifest).iter().filter_map(Dependency::of_package).collect();
    let renamed =
        dependencies.iter().find(|dependency| dependency.is_renamed()).map(|dependency| dependency.name.clone());
    let inherited = || {
        let workspace = toml::entries(&workspace()?);
        let shared: Vec<Dependency> = workspace.iter().filter_map(Dependency::of_workspace).collect();
        let names =
            dependencies.iter().filter(|dependency| dependency.is_inherited()).map(|dependency| &dependency.name);
        names.into_iter().find(|name| shared.iter().any(|shared| &shared.name == *name && shared.is_renamed())).cloned()
    };
    renamed.or_else(inherited).map(|name| name.replace('-', "_"))
}

/// One setting of one dependency: `checker`, `package`, `dpor`.
struct Dependency {
    name: String,
    setting: String,
    value: String,
}

impl Dependency {
    /// A setting in one of a package's tables of dependencies.
    fn of_package(entry: &Entry) -> Option<Dependency> {
        let keys: Vec<&str> = entry.keys.iter().map(String::as_str).collect();
        match keys[..] {
            ["target", _, table, name, setting] | [table, name, setting] if is_dependency_table(table) => {
                Some(Dependency::new(name, setting, &entry.value))
            }
            _ => None,
        }
    }

    /// A setting in the workspace's table of shared dependencies.
    fn of_workspace(entry: &Entry) -> Option<Dependency> {
        let keys: Vec<&str> = entry.keys.iter().map(String::as_str).collect();
        match keys[..] {
            ["workspace", "dependencies", name, setting] => Some(Dependency::new(name, setting, &entry.value)),
            _ => None,
        }
    }

    fn new(name: &str, setting: &str, value: &str) -> Dependency {
        Dependency { name: name.to_owned(), setting: setting.to_owned(), value: value.to_owned() }
    }

    fn is_renamed(&self) -> bool {
        self.setting == "package" && self.value == PACKAGE
    }

    fn is_inherited(&self) -> bool {
        self.setting == "workspace" && self.value == "true"
    }
}

fn is_dependency_table(name: &str) -> bool {
    matches!(name, "dependencies" | "dev-dependencies" | "dev_dependencies")
}

/// The manifest of the workspace: where `package.workspace` says, or in the nearest directory above that has one.
fn workspace_manifest(directory: &Path, manifest: &str) -> Option<String> {
    let read = |directory: &Path| fs::read_to_string(directory.join("Cargo.toml")).ok();
    let entries = toml::entries(manifest);
    if let Some(entry) = entries.iter().find(|entry| entry.keys == ["package", "workspace"]) {
        return read(&directory.join(&entry.value));
    }
    let is_workspace = |text: &String| toml::entries(text).iter().any(|entry| entry.keys[0] == "workspace");
    directory.ancestors().filter_map(read).find(is_workspace)
}

#[cfg(test)]
mod tests {
    use super::in_manifest;

    fn name(manifest: &str) -> Option<String> {
        in_manifest(manifest, || {
            Some(
                "[workspace.dependencies]\nshared-checker = { package = \"dpor\", path = \"x\" }\ndpor = \"1\""
                    .to_owned(),
            )
        })
    }

    #[test]
    fn a_dependency_without_another_name_needs_no_looking_up() {
        assert_eq!(name("[dev-dependencies]\ndpor = \"0.1\""), None);
        assert_eq!(name("[dev-dependencies]\ndpor = { path = \"..\" }\nother = { package = \"another\" }"), None);
        assert_eq!(name("[dev-dependencies]\ndpor.workspace = true"), None);
    }

    #[test]
    fn a_renamed_dependency_is_found_in_every_form() {
        for manifest in [
            "[dev-dependencies]\nmy-checker = { version = \"0.1\", package = \"dpor\" }",
            "[dependencies]\nmy-checker.package = \"dpor\"",
            "[dependencies.my-checker]\npackage = 'dpor'\nversion = '1'",
            "[target.'cfg(not(windows))'.dev-dependencies]\nmy-checker = { package = \"dpor\" }",
            "[target.x86_64-unknown-linux-gnu.dev-dependencies.my-checker]\npackage = \"dpor\"",
        ] {
            assert_eq!(name(manifest).as_deref(), Some("my_checker"), "{manifest}");
        }
    }

    #[test]
    fn a_renamed_dependency_may_come_from_the_workspace() {
        assert_eq!(
            name("[dev-dependencies]\nshared-checker = { workspace = true }").as_deref(),
            Some("shared_checker")
        );
        assert_eq!(name("[dev-dependencies]\nshared-checker.workspace = true").as_deref(), Some("shared_checker"));
    }
}
