//! Mistakes in the use of `#[dpor::test]` are compile errors that point at them.
//!
//! Every `compile_errors/NAME.rs` is compiled; what the compiler says must be `compile_errors/NAME.stderr`. With the
//! environment variable `BLESS=1`, the expectations are written anew.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn mistakes_are_pointed_at() {
    let cases = cases();
    assert!(!cases.is_empty());
    let said = compile(&cases);
    let bless = env::var_os("BLESS").is_some_and(|value| value == "1");
    let mut wrong = Vec::new();
    for case in &cases {
        let name = case.file_stem().unwrap().to_str().unwrap();
        let actual = said.get(name).cloned().unwrap_or_default();
        let expectation = case.with_extension("stderr");
        if bless {
            fs::write(&expectation, &actual).unwrap();
        } else if fs::read_to_string(&expectation).unwrap_or_default() != actual {
            wrong.push(format!("{name}: the compiler says\n{actual}"));
        }
        assert!(actual.contains("error"), "{name}: compiles");
    }
    assert!(wrong.is_empty(), "{}\nBLESS=1 writes the expectations anew", wrong.join("\n"));
}

fn cases() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_errors");
    let mut cases: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    cases.sort();
    cases
}

/// What the compiler says of each case, by name.
fn compile(cases: &[PathBuf]) -> BTreeMap<String, String> {
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile_errors");
    fs::create_dir_all(&package).unwrap();
    fs::write(package.join("Cargo.toml"), manifest(cases)).unwrap();
    fs::write(package.join("lib.rs"), "").unwrap();
    for case in cases {
        fs::copy(case, package.join(case.file_name().unwrap())).unwrap();
    }
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--tests", "--keep-going", "--message-format=json", "--quiet"])
        .current_dir(&package)
        .env("CARGO_TARGET_DIR", package.join("target"))
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let mut said: BTreeMap<String, String> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        if let (Some(target), Some(rendered)) = (field(line, "\"target\":{", "name"), field(line, "", "rendered")) {
            said.entry(target).or_default().push_str(&rendered);
        }
    }
    assert!(!said.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    said
}

fn manifest(cases: &[PathBuf]) -> String {
    let mut manifest = format!(
        "[package]\nname = \"compile_errors\"\nversion = \"0.0.0\"\nedition = \"2021\"\nautotests = false\n\
         [lib]\npath = \"lib.rs\"\n[dev-dependencies]\ndpor = {{ path = {:?} }}\n[workspace]\n",
        env!("CARGO_MANIFEST_DIR")
    );
    for case in cases {
        let (name, path) = (case.file_stem().unwrap(), case.file_name().unwrap());
        manifest += &format!("[[test]]\nname = {name:?}\npath = {path:?}\n");
    }
    manifest
}

/// The string field of that name in a line of JSON, the first one after `after`. That is all the JSON this test reads.
fn field(line: &str, after: &str, name: &str) -> Option<String> {
    let start = line.find(after)?;
    let rest = line[start..].split_once(&format!("\"{name}\":\""))?.1;
    let mut text = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next()? {
            '"' => return Some(text),
            '\\' => match chars.next()? {
                'n' => text.push('\n'),
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
}
