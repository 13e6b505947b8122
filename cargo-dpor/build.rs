//! Ties the binaries to the compiler that builds them: the driver loads its libraries, and no other compiler will do. Tells
//! builds apart, so that a verdict of one is not taken for that of another: by a number for all of the source.

use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rustc-env=DPOR_BUILD={:016x}", source());
    let commit = rustc(&["-vV"]).lines().find_map(|line| line.strip_prefix("commit-hash: ").map(str::to_owned));
    println!("cargo::rustc-env=DPOR_RUSTC_COMMIT={}", commit.expect("`rustc -vV` prints the commit hash"));
    let sysroot = rustc(&["--print", "sysroot"]);
    println!("cargo::rustc-link-arg-bin=dpor-driver=-Wl,-rpath,{}/lib", sysroot.trim());
}

/// A number for all of the source.
fn source() -> u64 {
    let mut files = Vec::new();
    collect(Path::new("src"), &mut files);
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        (&file, fs::read(&file).expect("the source can be read")).hash(&mut hasher);
    }
    hasher.finish()
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("the source can be read") {
        let path = entry.expect("the source can be read").path();
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}

/// What the compiler of this build prints.
fn rustc(arguments: &[&str]) -> String {
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC for build scripts");
    let output = Command::new(&rustc).args(arguments).output().expect("rustc runs");
    assert!(output.status.success(), "{} {arguments:?} failed", rustc.display());
    String::from_utf8(output.stdout).expect("rustc prints UTF-8")
}
