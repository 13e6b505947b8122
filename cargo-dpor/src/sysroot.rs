//! The standard library with the MIR of all its functions, built once and cached.
//!
//! It is built from a copy of its sources in which some files are [ours](crate::overlay); the copy goes afterwards.
//!
//! A complete sysroot is a directory with its final name: it is built under another name and renamed at the end, and
//! processes that want the same one wait for each other at a lock. What it has to contain is noted in a file beside
//! it: a sysroot that lacks something is built anew.

mod contents;

use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{ErrorKind, IsTerminal, Write, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustc_build_sysroot::{BuildMode, SysrootBuilder, SysrootConfig};

use crate::lock;
use crate::overlay;
use crate::style::Style;
use crate::toolchain::{self, Toolchain};

/// Overrides where sysroots are kept.
const DIRECTORY_VARIABLE: &str = "DPOR_SYSROOT_DIR";

/// How the library is compiled: every body is kept, and inlining is left to us.
const FLAGS: [&str; 5] =
    ["-Zalways-encode-mir", "-Zmir-opt-level=1", "-Cpanic=unwind", "-Cdebug-assertions=off", "-Coverflow-checks=off"];

/// How closely a sysroot is looked at before it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// Whether all files are there, and as long as they should be.
    Usual,
    /// Also whether they contain what they should.
    Thorough,
}

/// The path of the sysroot, which is built first where it is missing or damaged.
pub fn prepare(toolchain: &Toolchain, care: Care, style: Style) -> Result<PathBuf> {
    let directory = cache_directory()?;
    let sysroot = directory.join(name(toolchain));
    if contents::is_whole(&sysroot, care) {
        return Ok(sysroot);
    }
    fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let _lock = lock::lock(&sysroot.with_added_extension("lock"), "to build the standard library", style)?;
    if !contents::is_whole(&sysroot, care) {
        if sysroot.exists() {
            eprintln!("{}: {} is damaged; rebuilding", style.warning("warning"), sysroot.display());
        }
        build(toolchain, &sysroot, style)?;
    }
    Ok(sysroot)
}

/// One name for each combination of what the contents depend on.
fn name(toolchain: &Toolchain) -> String {
    let mut hasher = DefaultHasher::new();
    FLAGS.hash(&mut hasher);
    overlay::hash(&mut hasher);
    let (commit, version) = (&toolchain.commit()[..12], env!("CARGO_PKG_VERSION"));
    format!("sysroot-{commit}-{version}-{:016x}", hasher.finish())
}

/// Where sysroots are kept: `$DPOR_SYSROOT_DIR`, or our part of the user's cache.
fn cache_directory() -> Result<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(directory) = env::var_os(DIRECTORY_VARIABLE).filter(|value| !value.is_empty()) {
        return std::path::absolute(&directory).with_context(|| format!("{DIRECTORY_VARIABLE} is not a path"));
    }
    absolute("XDG_CACHE_HOME")
        .or_else(|| Some(env::home_dir()?.join(".cache")))
        .map(|cache| cache.join("cargo-dpor"))
        .with_context(|| format!("no home directory found; set {DIRECTORY_VARIABLE} to the directory to use"))
}

fn build(toolchain: &Toolchain, sysroot: &Path, style: Style) -> Result<()> {
    let unfinished = sysroot.with_added_extension("unfinished");
    let source = canonical(sysroot)?.with_added_extension("source");
    remove(&unfinished)?;
    remove(&source)?;
    let builder = SysrootBuilder::new(&unfinished, toolchain.host())
        .build_mode(BuildMode::Check)
        .sysroot_config(SysrootConfig::WithStd { std_features: vec!["panic-unwind".into()] })
        .rustc_version(toolchain.version.clone())
        .cargo(cargo(toolchain, &source))
        .rustflags(FLAGS)
        .rustflags(path_flags(toolchain, &source));
    fs::create_dir_all(&unfinished).with_context(|| format!("cannot create {}", unfinished.display()))?;
    let what = format!("the standard library of {} (once, about a minute)", toolchain::name());
    let build = || {
        overlay::copy_library(&toolchain.library_source(), &source)?;
        builder.build_from_source(&source)
    };
    with_progress(&what, style, build).context("cannot build the standard library (`cargo dpor setup` tries again)")?;
    remove(&source)?;
    remove(&cargo_home(&source))?;
    remove(sysroot)?;
    contents::note(&unfinished, sysroot)?;
    fs::rename(&unfinished, sysroot).with_context(|| format!("cannot create {}", sysroot.display()))
}

/// The path of a sysroot without symbolic links: the compiler has them resolved in the paths that it replaces.
fn canonical(sysroot: &Path) -> Result<PathBuf> {
    let (Some(directory), Some(name)) = (sysroot.parent(), sysroot.file_name()) else { return Ok(sysroot.to_owned()) };
    let directory = directory.canonicalize().with_context(|| format!("cannot find {}", directory.display()))?;
    Ok(directory.join(name))
}

/// Removes a directory that an interrupted build may have left.
fn remove(directory: &Path) -> Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", directory.display()))
        }
        _ => Ok(()),
    }
}

/// The library's files have the names that a released compiler gives them, so that panics in it read the same.
fn path_flags(toolchain: &Toolchain, source: &Path) -> [String; 2] {
    [
        format!("--remap-path-prefix={}=/rustc/{}/library", source.display(), toolchain.commit()),
        format!("--remap-path-prefix={}=/rust/deps", source.join("vendor").display()),
    ]
}

/// A home for cargo without anything in it.
fn cargo_home(source: &Path) -> PathBuf {
    source.with_extension("home")
}

/// The cargo for the build. It uses the sources that come with the compiler, and no settings of the user's, neither
/// from the environment nor from files.
fn cargo(toolchain: &Toolchain, source: &Path) -> Command {
    let mut cargo = toolchain.cargo_command();
    let library = toolchain.library_source();
    if library.join(".cargo/config.toml").is_file() && library.join("vendor").is_dir() {
        cargo.arg("--config").arg(source.join(".cargo/config.toml"));
        cargo.env("CARGO_HOME", cargo_home(source));
    }
    // Settings are looked for in all directories from here up.
    cargo.current_dir("/");
    let is_setting = |name: &str| {
        name == "RUSTFLAGS"
            || ["CARGO_BUILD_", "CARGO_PROFILE_", "CARGO_TARGET_", "CARGO_UNSTABLE_"]
                .iter()
                .any(|p| name.starts_with(p))
    };
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_setting)) {
        cargo.env_remove(name);
    }
    cargo
}

/// Says what is going on while `work` is done, on a terminal with the seconds that have passed.
fn with_progress<T>(what: &str, style: Style, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    eprintln!("{} {what}", style.status("Building"));
    let (done, is_done) = mpsc::channel::<()>();
    let result = thread::scope(|scope| {
        if stderr().is_terminal() {
            scope.spawn(move || {
                while is_done.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                    eprint!("\r{:>12} {} s", "", start.elapsed().as_secs());
                    let _ = stderr().flush();
                }
                eprint!("\r{:40}\r", "");
            });
        }
        let result = work();
        drop(done);
        result
    });
    eprintln!("{} in {:.1} s", style.status("Finished"), start.elapsed().as_secs_f64());
    result
}
