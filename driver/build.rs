//! Says what to install where the compiler's own crates are missing, before the compiler says it less clearly.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let toolchain = toolchain();
    let sysroot = rustc(&["--print", "sysroot"]);
    let version = rustc(&["--version"]);
    if !version.contains("nightly") {
        println!("cargo::error=this is {}; build with cargo +{toolchain}", version.trim());
        println!("cargo::error=install that with: rustup toolchain install {toolchain} --component rustc-dev,rust-src");
    } else if !has_compiler_crates(&Path::new(sysroot.trim()).join("lib/rustlib")) {
        println!("cargo::error=the compiler's own crates are not installed");
        println!("cargo::error=install them with: rustup component add rustc-dev --toolchain {toolchain}");
    }
}

/// Whether the metadata of `rustc_middle` is there, for some target.
fn has_compiler_crates(targets: &Path) -> bool {
    let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
    entries(targets).any(|target| {
        entries(&target.path().join("lib"))
            .any(|file| file.file_name().to_string_lossy().starts_with("librustc_middle-"))
    })
}

/// The name of the toolchain that the repository pins. The file is a part of the package, too.
fn toolchain() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("rust-toolchain.toml");
    println!("cargo::rerun-if-changed={}", file.display());
    let text = fs::read_to_string(&file).unwrap_or_default();
    let channel = text.lines().find_map(|line| line.strip_prefix("channel = "));
    channel.map_or_else(|| "nightly".to_owned(), |channel| channel.trim_matches('"').to_owned())
}

/// What the compiler of this build prints.
fn rustc(arguments: &[&str]) -> String {
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC for build scripts");
    let output = Command::new(&rustc).args(arguments).output().expect("rustc runs");
    String::from_utf8(output.stdout).expect("rustc prints UTF-8")
}
