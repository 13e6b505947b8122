//! The packages as they would be published: each can be made, and a tool that is built from them alone works.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, process};

const VERSION: &str = "0.1.0";

#[test]
fn the_tool_works_when_it_is_built_from_the_packages_alone() {
    let packages = publishable();
    assert_eq!(packages, ["cargo-dpor", "dpor", "dpor-driver", "dpor-engine", "dpor-macros", "dpor-system"]);
    let directory = Directory::new(&packages);
    let tool = directory.build(&["dpor-driver", "dpor-engine", "dpor-system"]);
    let user = directory.user();
    let mut command = Command::new(tool);
    command.args(["dpor", "test"]).current_dir(user).env_remove("RUSTUP_TOOLCHAIN");
    let output = command.output().expect("cargo-dpor runs");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let text = format!("{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    // Either thread is first.
    assert!(text.contains("(2 executions)") && text.contains("1 passed"), "{text}");
}

/// The members of the workspace that are not kept from being published, sorted.
fn publishable() -> Vec<String> {
    let metadata = run(cargo().args(["metadata", "--format-version", "1", "--no-deps", "--locked"]));
    let metadata: serde_json::Value = serde_json::from_str(&metadata).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let published = packages.iter().filter(|package| package["publish"].is_null());
    let mut names: Vec<String> =
        published.map(|package| package["name"].as_str().expect("a name").to_owned()).collect();
    names.sort();
    names
}

/// A temporary directory outside of the workspace.
struct Directory(PathBuf);

impl Directory {
    /// Makes the packages, and unpacks them there.
    fn new(packages: &[String]) -> Directory {
        let mut command = cargo();
        command.args(["package", "--no-verify", "--allow-dirty", "--quiet", "--target-dir"]).arg(target());
        for package in packages {
            command.args(["--package", package]);
        }
        run(&mut command);
        let directory = Directory(env::temp_dir().join(format!("dpor-packages-{}", process::id())));
        fs::create_dir_all(&directory.0).expect("a temporary directory");
        packages.iter().for_each(|package| directory.unpack(package));
        directory
    }

    fn unpack(&self, package: &str) {
        let archive = target().join(format!("package/{package}-{VERSION}.crate"));
        run(Command::new("tar").arg("xzf").arg(archive).arg("-C").arg(&self.0));
    }

    fn package(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}-{VERSION}"))
    }

    /// The lines of a configuration that say where packages are.
    fn patches(&self, names: &[&str]) -> Vec<String> {
        let path = |name: &str| self.package(name).display().to_string();
        names.iter().map(|name| format!("patch.crates-io.{name}.path = {:?}", path(name))).collect()
    }

    /// Builds the tool: where it is.
    fn build(&self, dependencies: &[&str]) -> PathBuf {
        let mut command = cargo();
        command.args(["build", "--bins", "--quiet"]).current_dir(self.package("cargo-dpor"));
        command.arg("--target-dir").arg(target());
        for patch in self.patches(dependencies) {
            command.args(["--config", &patch]);
        }
        run(&mut command);
        target().join("debug/cargo-dpor")
    }

    /// A crate with a test.
    fn user(&self) -> PathBuf {
        let path = self.0.join("user");
        let source = "
            #[dpor::test]
            fn two_threads() {
                use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
                let number = AtomicU32::new(0);
                std::thread::scope(|scope| {
                    scope.spawn(|| number.store(1, Relaxed));
                    assert!(number.load(Relaxed) < 2);
                });
            }
        ";
        let manifest = format!(
            "[package]\nname = \"user\"\nedition = \"2024\"\n[workspace]\n[dev-dependencies]\ndpor = \"{VERSION}\"\n"
        );
        fs::create_dir_all(path.join("src")).expect("the user's crate");
        fs::write(path.join("src/lib.rs"), source).expect("the user's test");
        let patches = self.patches(&["dpor", "dpor-macros"]).join("\n");
        fs::write(path.join("Cargo.toml"), manifest).expect("the manifest");
        fs::create_dir_all(path.join(".cargo")).expect("the configuration");
        fs::write(path.join(".cargo/config.toml"), patches).expect("the configuration");
        path
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What is left of it does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The target directory of all this: it is kept, so that the next run is faster.
fn target() -> PathBuf {
    workspace().join("target/packages")
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

fn cargo() -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(workspace());
    command
}

/// What a command prints; it must succeed.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}
