//! Ties the binaries to the compiler that builds them: the driver loads its libraries, and no other compiler will do.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let commit = rustc(&["-vV"]).lines().find_map(|line| line.strip_prefix("commit-hash: ").map(str::to_owned));
    println!("cargo::rustc-env=DPOR_RUSTC_COMMIT={}", commit.expect("`rustc -vV` prints the commit hash"));
    let sysroot = rustc(&["--print", "sysroot"]);
    println!("cargo::rustc-link-arg-bin=dpor-driver=-Wl,-rpath,{}/lib", sysroot.trim());
}

/// What the compiler of this build prints.
fn rustc(arguments: &[&str]) -> String {
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC for build scripts");
    let output = Command::new(&rustc).args(arguments).output().expect("rustc runs");
    assert!(output.status.success(), "{} {arguments:?} failed", rustc.display());
    String::from_utf8(output.stdout).expect("rustc prints UTF-8")
}
