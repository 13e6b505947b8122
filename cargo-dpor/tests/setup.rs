//! The toolchain and the sysroot: found, built once, and missed with the right advice.

mod support;

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use support::{Project, Run, cargo_dpor};

/// Puts an executable script into a project.
fn script(project: &Project, path: &str, text: &str) {
    project.write(path, &format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(project.path(path), fs::Permissions::from_mode(0o755)).unwrap();
}

/// `cargo dpor setup`, with the programs in `bin` of the project before all others.
fn setup_with_programs(project: &Project) -> Command {
    let inherited = env::var_os("PATH").unwrap();
    let path = env::join_paths([project.path("bin")].into_iter().chain(env::split_paths(&inherited))).unwrap();
    let mut command = cargo_dpor();
    command.arg("setup").env("PATH", path).env("DPOR_SYSROOT_DIR", project.path("sysroots"));
    command
}

#[test]
fn two_processes_build_one_sysroot() {
    let project = Project::empty("two_processes");
    let sysroots = project.path("sysroots");
    let start = || {
        let mut command = cargo_dpor();
        command.arg("setup").env("DPOR_SYSROOT_DIR", &sysroots).stderr(Stdio::piped()).stdout(Stdio::piped());
        command.spawn().unwrap()
    };
    let processes = [start(), start()];
    let runs = processes.map(|process| Run::from(process.wait_with_output().unwrap()).expect_code(0));
    let building = runs.iter().filter(|run| run.stderr.contains("Building the standard library")).count();
    assert_eq!(building, 1, "{}\n{}", runs[0].stderr, runs[1].stderr);
    let complete = directories(&sysroots);
    assert_eq!(complete.len(), 1, "{complete:?}");
    assert!(Path::new(&complete[0]).join("lib/rustlib").is_dir());

    let setup = || Run::of(cargo_dpor().arg("setup").env("DPOR_SYSROOT_DIR", &sysroots)).expect_code(0);
    let again = setup();
    assert!(!again.stderr.contains("Building"), "{}", again.stderr);

    // What is called ready is ready, whatever the user's settings for cargo are.
    let library = library_in(Path::new(&complete[0])).unwrap();
    let mut bytes = fs::read(&library).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&library, &bytes).unwrap();
    project.write(".cargo/config.toml", "[unstable]\nbuild-std = [\"nothing\"]\n[build]\nrustc = \"/nowhere\"\n");
    setup().expect_stderr(&["is damaged; rebuilding", "Building the standard library"]);
    bytes[middle] ^= 1;
    assert!(fs::read(&library).unwrap() == bytes);
    assert_eq!(directories(&sysroots).len(), 1);
}

fn library_in(directory: &Path) -> Option<std::path::PathBuf> {
    let entries = fs::read_dir(directory).ok()?.map(|entry| entry.unwrap().path());
    entries.into_iter().find_map(|path| match path.is_dir() {
        true => library_in(&path),
        false => path.file_name()?.to_str()?.starts_with("libcore-").then_some(path),
    })
}

fn directories(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).map(|path| path.display().to_string()).collect()
}

#[test]
fn a_missing_toolchain_is_named_with_the_command_that_installs_it() {
    let project = Project::empty("missing_toolchain");
    script(&project, "bin/rustup", "echo 'error: toolchain is not installed' >&2; exit 1");
    Run::of(&mut setup_with_programs(&project)).expect_code(2).expect_stderr(&[
        "error: the toolchain nightly-",
        "is not installed",
        "Install it with: rustup toolchain install nightly-",
        "--component rust-src --component rustc-dev",
    ]);
}

#[test]
fn a_missing_component_is_named_with_the_command_that_installs_it() {
    let project = Project::empty("missing_component");
    let rustc = fake_rustc(&project, "commit-hash: $COMMIT");
    script(&project, "bin/rustup", &format!("echo {rustc}"));
    Run::of(&mut setup_with_programs(&project)).expect_code(2).expect_stderr(&[
        "error: the source of the standard library is not installed",
        "Install it with: rustup component add rust-src --toolchain nightly-",
    ]);
}

#[test]
fn another_compiler_does_not_do() {
    let project = Project::empty("another_compiler");
    let rustc = fake_rustc(&project, "commit-hash: 0123456789012345678901234567890123456789");
    script(&project, "bin/rustup", &format!("echo {rustc}"));
    Run::of(&mut setup_with_programs(&project)).expect_code(2).expect_stderr(&[
        "cargo-dpor was built for a different toolchain",
        "Install cargo-dpor again: cargo +nightly-",
    ]);
}

/// A compiler in an otherwise empty toolchain; returns its path. `$COMMIT` in its version is the real one.
fn fake_rustc(project: &Project, commit: &str) -> String {
    let real = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = String::from_utf8(Command::new(real).arg("-vV").output().unwrap().stdout).unwrap();
    let line = version.lines().find(|line| line.starts_with("commit-hash")).unwrap();
    let version = version.replace(line, &commit.replace("commit-hash: $COMMIT", line));
    let toolchain = project.path("toolchain");
    script(
        project,
        "toolchain/bin/rustc",
        &format!("case \"$1\" in -vV) cat <<'END'\n{version}END\n;; *) echo {} ;; esac", toolchain.display()),
    );
    toolchain.join("bin/rustc").display().to_string()
}
