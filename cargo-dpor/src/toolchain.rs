//! The compiler that our driver belongs to: where it is installed, whatever toolchain the user's crate is on.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use anyhow::{Context, Result, anyhow, bail, ensure};
use rustc_version::VersionMeta;
use serde::Deserialize;

/// The toolchain's name for rustup.
pub fn name() -> &'static str {
    static NAME: LazyLock<String> = LazyLock::new(|| {
        let file: ToolchainFile =
            toml::from_str(include_str!("../rust-toolchain.toml")).expect("rust-toolchain.toml is valid");
        file.toolchain.channel
    });
    &NAME
}

/// The commit of the compiler that this program was built with.
const COMMIT: &str = env!("DPOR_RUSTC_COMMIT");

#[derive(Deserialize)]
struct ToolchainFile {
    toolchain: ToolchainTable,
}

#[derive(Deserialize)]
struct ToolchainTable {
    channel: String,
}

/// An installed toolchain that fits our driver.
#[derive(Debug)]
pub struct Toolchain {
    /// Its root: compiler, cargo and libraries are below.
    pub sysroot: PathBuf,
    pub version: VersionMeta,
}

impl Toolchain {
    /// Finds the toolchain: rustup knows it, or the compiler on the path happens to be it.
    pub fn find() -> Result<Toolchain> {
        let toolchain = match rustup_rustc()? {
            Some(rustc) => Toolchain::of_compiler(&rustc)?,
            None => Toolchain::of_compiler("rustc".as_ref())
                .context("rustup is not installed, and the `rustc` in PATH cannot be used")?,
        };
        toolchain.check_components()?;
        Ok(toolchain)
    }

    fn of_compiler(rustc: &Path) -> Result<Toolchain> {
        let version = VersionMeta::for_command(Command::new(rustc))
            .with_context(|| format!("cannot ask {} for its version", rustc.display()))?;
        ensure!(
            version.commit_hash.as_deref() == Some(COMMIT),
            "cargo-dpor was built for a different toolchain: {} is {}, but commit {COMMIT} is needed\n\n\
             Install cargo-dpor again: cargo +{} install --locked --force cargo-dpor (in a clone: --path cargo-dpor)",
            rustc.display(),
            version.short_version_string,
            name(),
        );
        let sysroot = PathBuf::from(output(Command::new(rustc).args(["--print", "sysroot"]))?.trim());
        Ok(Toolchain { sysroot, version })
    }

    /// Fails with the command that installs what is missing.
    fn check_components(&self) -> Result<()> {
        ensure!(
            self.library_source().join("std/Cargo.toml").is_file(),
            "the source of the standard library is not installed\n\n\
             Install it with: rustup component add rust-src --toolchain {}",
            name()
        );
        ensure!(
            self.cargo().is_file(),
            "cargo is not installed in {}\n\nInstall it with: rustup component add cargo --toolchain {}",
            self.sysroot.display(),
            name()
        );
        Ok(())
    }

    pub fn rustc(&self) -> PathBuf {
        self.sysroot.join("bin/rustc")
    }

    fn cargo(&self) -> PathBuf {
        self.sysroot.join("bin/cargo")
    }

    /// The host's target triple.
    pub fn host(&self) -> &str {
        &self.version.host
    }

    pub fn commit(&self) -> &'static str {
        COMMIT
    }

    /// The directory that has `std`, `core` and `alloc`.
    pub fn library_source(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib/src/rust/library")
    }

    /// This toolchain's cargo, with this toolchain's compiler, whatever toolchain is active.
    pub fn cargo_command(&self) -> Command {
        let mut command = Command::new(self.cargo());
        command
            .env("RUSTC", self.rustc())
            .env("RUSTUP_TOOLCHAIN", name())
            .env_remove("CARGO")
            .env_remove("RUSTDOC")
            // An empty wrapper is none, whatever the configuration says.
            .env("RUSTC_WRAPPER", "")
            .env("RUSTC_WORKSPACE_WRAPPER", "")
            .env_remove("CARGO_BUILD_RUSTC_WRAPPER")
            .env_remove("CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER")
            .env_remove("CARGO_BUILD_RUSTC");
        command
    }

    /// The library path with which our driver finds the compiler's libraries.
    pub fn library_path(&self) -> Result<OsString> {
        let own = self.sysroot.join("lib");
        let inherited = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let paths = env::split_paths(&inherited).filter(|path| !path.as_os_str().is_empty());
        env::join_paths(std::iter::once(own).chain(paths)).context("cannot extend LD_LIBRARY_PATH")
    }
}

/// The path of the compiler, from rustup; `None` where there is no rustup.
fn rustup_rustc() -> Result<Option<PathBuf>> {
    let mut rustup = Command::new("rustup");
    rustup.args(["which", "--toolchain", name(), "rustc"]).env("RUSTUP_AUTO_INSTALL", "0");
    match rustup.output() {
        Ok(output) if output.status.success() => {
            let path = String::from_utf8(output.stdout).context("the path of the compiler is not UTF-8")?;
            Ok(Some(PathBuf::from(path.trim())))
        }
        Ok(_) => Err(anyhow!(
            "the toolchain {0} is not installed\n\n\
             Install it with: rustup toolchain install {0} --profile minimal --component rust-src --component rustc-dev",
            name()
        )),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).context("cannot run rustup"),
    }
}

/// What a command prints, if it succeeds.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    String::from_utf8(output.stdout).with_context(|| format!("{command:?} printed something that is not UTF-8"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_name_of_the_toolchain_is_a_dated_nightly() {
        assert!(super::name().starts_with("nightly-20"), "{}", super::name());
    }
}
