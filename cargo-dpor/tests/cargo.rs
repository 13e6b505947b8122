//! Packages of all shapes: what cargo can build, `cargo dpor test` finds the tests of.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use support::{Project, repository};

const PASSING: &str = "#[cfg(test)]\n#[dpor::test]\nfn passes() { assert_eq!(1 + 1, 2); }\n";
const FAILING: &str = "#[cfg(test)]\n#[dpor::test]\nfn fails() { assert_eq!(1 + 1, 3); }\n";

/// Test functions of these names.
fn tests(names: &[&str]) -> String {
    names.iter().map(|name| format!("#[cfg(test)]\n#[dpor::test]\nfn {name}() {{}}\n")).collect()
}

fn every_target(name: &str) -> Project {
    Project::package(name, "[[test]]\nname = \"own_main\"\nharness = false")
        .file("src/lib.rs", &format!("mod inner {{ mod tests {{ {} }} }}", tests(&["in_lib"])))
        .file("src/main.rs", &format!("fn main() {{}}\n{}", tests(&["in_main"])))
        .file("src/bin/other.rs", &format!("fn main() {{}}\n{}", tests(&["in_other"])))
        .file("tests/integration.rs", &tests(&["in_integration"]))
        .file("tests/own_main.rs", "fn main() {}")
        .file("examples/example.rs", &format!("fn main() {{}}\n{}", tests(&["in_example"])))
}

#[test]
fn targets_are_selected_as_in_cargo_test() {
    let project = every_target("every_target");
    let list = |arguments: &str| {
        let run = project.run(&format!("test --list {arguments}")).expect_code(0);
        run.listed().join(" ")
    };
    assert_eq!(list(""), "inner::tests::in_lib in_main in_other in_integration");
    assert_eq!(list("--lib"), "inner::tests::in_lib");
    assert_eq!(list("--bins"), "in_main in_other");
    assert_eq!(list("--bin other"), "in_other");
    assert_eq!(list("--test integration"), "in_integration");
    assert_eq!(list("--example example"), "in_example");
    assert_eq!(list("--lib --examples"), "inner::tests::in_lib in_example");
    assert_eq!(list("--all-targets"), "inner::tests::in_lib in_main in_other in_integration in_example");
    assert_eq!(list("--release --lib"), "inner::tests::in_lib");
    assert_eq!(list("in_m in_o"), "in_main in_other");
    assert_eq!(list("--exact in_m"), "");
    assert_eq!(list("--skip in_o --skip inner"), "in_main in_integration");
    project.run("test --list --test own_main").expect_code(0).expect_stderr(&[
        "warning: test `own_main` of package `every_target` has `harness = false`: its tests cannot be listed and are not checked",
    ]);
    project.run("test --test nothing").expect_code(2).expect_stderr(&["no test target named `nothing`"]);
}

#[test]
fn passing_and_failing_tests_decide_the_exit_code() {
    let project = Project::package("exit_code", "").file("src/lib.rs", PASSING).file("tests/failing.rs", FAILING);
    project.run("test").expect_code(1).expect_stdout(&[
        "PASS [",
        "] exit_code passes",
        "FAIL [",
        "] exit_code::failing fails",
        "2 tests run: 1 passed, 1 failed",
    ]);
    project.run("test passes").expect_code(0).expect_stdout(&["1 test run: 1 passed"]);
    let nothing = project.run("test nothing_like_this").expect_code(4).expect_stdout(&["0 tests run"]);
    nothing.expect_stderr(&["error: no tests to run: none of the 2 tests matches (`--no-tests pass` accepts that)"]);
    project.run("test nothing_like_this --no-tests pass").expect_code(0);
    project.run("test nothing_like_this --no-tests warn").expect_code(0).expect_stderr(&["warning: no tests to run"]);
}

#[test]
fn the_settings_of_other_profiles_can_be_used() {
    let manifest = "[profile.unchecked]\ninherits = \"dev\"\noverflow-checks = false";
    let library = "#[cfg(test)] #[dpor::test] fn debug() { assert!(cfg!(debug_assertions)); }
        #[cfg(test)] #[dpor::test] fn overflow() { assert_eq!(std::hint::black_box(255u8) + 1, 0); }";
    let project = Project::package("profiles", manifest).file("src/lib.rs", library);
    let outcomes = |arguments: &str| {
        let run = project.run(&format!("test {arguments}"));
        let passed =
            |name: &str| run.stdout.lines().any(|line| line.contains("PASS") && line.contains(&format!(" {name} (")));
        (passed("debug"), passed("overflow"))
    };
    assert_eq!(outcomes(""), (true, false));
    assert_eq!(outcomes("--release"), (false, true));
    assert_eq!(outcomes("--profile unchecked"), (true, true));
}

#[test]
fn a_failing_target_keeps_later_ones_from_running() {
    let project = Project::package("fail_fast", "")
        .file("src/lib.rs", &format!("{FAILING}{PASSING}"))
        .file("tests/other.rs", &tests(&["a", "b"]));
    project.run("test").expect_code(1).expect_stdout(&["2 tests run: 1 passed, 1 failed, 2 not run"]);
    project.run("test --no-fail-fast").expect_code(1).expect_stdout(&["4 tests run: 3 passed (1 cached), 1 failed"]);
}

#[test]
fn dependencies_may_have_build_scripts_and_be_procedural_macros() {
    let project = Project::package("dependencies", "[dependencies]\nhelper = { path = \"helper\" }\nmacros = { path = \"macros\" }")
        .file("helper/Cargo.toml", "[package]\nname = \"helper\"\nversion = \"0.0.0\"\nedition = \"2021\"\n")
        .file(
            "helper/build.rs",
            "fn main() {
                let out = std::env::var(\"OUT_DIR\").unwrap();
                std::fs::write(format!(\"{out}/number.rs\"), \"pub const NUMBER: u32 = 42;\").unwrap();
                println!(\"cargo::rustc-check-cfg=cfg(built)\\ncargo::rustc-cfg=built\");
            }",
        )
        .file("helper/src/lib.rs", "include!(concat!(env!(\"OUT_DIR\"), \"/number.rs\"));\n#[cfg(built)] pub fn built() {}")
        .file(
            "macros/Cargo.toml",
            "[package]\nname = \"macros\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[lib]\nproc-macro = true\n",
        )
        .file(
            "macros/src/lib.rs",
            "#[proc_macro] pub fn answer(_: proc_macro::TokenStream) -> proc_macro::TokenStream { \"42\".parse().unwrap() }",
        )
        .file(
            "src/lib.rs",
            "#[cfg(test)] #[dpor::test] fn works() { helper::built(); assert_eq!(helper::NUMBER, macros::answer!()); }",
        );
    project.run("test").expect_code(0).expect_stdout(&["1 test run: 1 passed"]);
}

#[test]
fn workspaces_are_checked_by_package() {
    let dpor = repository().join("dpor");
    let member = |name: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[features]\nextra = []\n\
             [dev-dependencies]\nchecker.workspace = true\n"
        )
    };
    let library = "#[cfg(test)] #[checker::test] fn plain() {}\n#[cfg(all(test, feature = \"extra\"))] #[checker::test] fn with_extra() {}";
    let project = Project::empty("workspace")
        .file(
            "Cargo.toml",
            &format!(
                "[workspace]\nmembers = [\"one\", \"two\", \"macros\"]\nresolver = \"2\"\n\
                 [workspace.dependencies]\nchecker = {{ package = \"dpor\", path = {dpor:?} }}\n"
            ),
        )
        .file("one/Cargo.toml", &member("one"))
        .file("one/src/lib.rs", library)
        .file("two/Cargo.toml", &member("two"))
        .file("two/src/lib.rs", library)
        .file("macros/Cargo.toml", &format!("{}[lib]\nproc-macro = true\n", member("macros")))
        .file("macros/src/lib.rs", "")
        .file("macros/tests/uses.rs", "#[checker::test] fn in_macros() {}");
    let list = |arguments: &str| project.run(&format!("test --list {arguments}")).expect_code(0).listed().join(" ");
    assert_eq!(list(""), "in_macros plain plain");
    assert_eq!(list("--workspace --exclude one --exclude macros --features extra"), "plain with_extra");
    assert_eq!(list("-p two --all-features"), "plain with_extra");
    assert_eq!(list("-p one --manifest-path two/Cargo.toml"), "plain");
    assert_eq!(list("--manifest-path two/Cargo.toml"), "plain");
    let warning = "lib `macros` of package `macros` is a procedural macro: its unit tests are not checked";
    project.run("test --workspace").expect_code(0).expect_stderr(&[warning]).expect_stdout(&["3 tests run: 3 passed"]);
}

#[test]
fn a_renamed_dependency_works() {
    let dpor = repository().join("dpor");
    Project::empty("renamed")
        .file(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"renamed\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n\
                 [target.'cfg(all())'.dev-dependencies]\nmodel-checker = {{ package = \"dpor\", path = {dpor:?} }}\n"
            ),
        )
        .file("src/lib.rs", "#[cfg(test)] #[model_checker::test] fn works() { assert!(model_checker::checking()); }")
        .run("test")
        .expect_code(0)
        .expect_stdout(&["1 test run: 1 passed"]);
}

#[test]
fn the_toolchain_and_the_settings_of_the_user_do_not_matter() {
    let project = Project::package("other_toolchain", "")
        .file("src/lib.rs", PASSING)
        .file("rust-toolchain.toml", "[toolchain]\nchannel = \"1.56.0\"\n")
        .file(
            ".cargo/config.toml",
            "[build]\nrustc-wrapper = \"/nowhere/wrapper\"\nrustc-workspace-wrapper = \"/nowhere/wrapper\"\n\
             rustc = \"/nowhere/rustc\"\ntarget = \"wasm32-unknown-unknown\"\nbuild-dir = \"elsewhere\"\n",
        );
    project.run("test").expect_code(0);
    assert!(!project.path("elsewhere").exists());
    let mut with_variables = project.cargo_dpor("test");
    with_variables.env("RUSTUP_TOOLCHAIN", "1.56.0").env("RUSTC", "/nowhere/rustc").env("RUSTC_WRAPPER", "/nowhere/x");
    support::Run::of(&mut with_variables).expect_code(0);
}

#[test]
fn unchanged_crates_are_not_compiled_again() {
    let project = Project::package("fresh", "[dependencies]\nhelper = { path = \"helper\" }")
        .file("helper/Cargo.toml", "[package]\nname = \"helper\"\nversion = \"0.0.0\"\nedition = \"2021\"\n")
        .file("helper/src/lib.rs", "")
        .file("src/lib.rs", PASSING);
    project.run("test").expect_code(0).expect_stderr(&["Checking helper", "Checking fresh"]);
    let again = project.run("test").expect_code(0).expect_stdout(&["1 test run: 1 passed"]);
    assert!(!again.stderr.contains("Checking"), "{}", again.stderr);
    project.write("src/lib.rs", FAILING);
    let changed = project.run("test").expect_code(1).expect_stderr(&["Checking fresh"]);
    assert!(!changed.stderr.contains("Checking helper"), "{}", changed.stderr);
}

#[test]
fn a_damaged_program_is_built_anew() {
    let project = Project::package("damaged", "").file("src/lib.rs", PASSING);
    project.run("test").expect_code(0);
    let programs = files_outside(&project.path("target"), "").into_keys();
    let program = programs.into_iter().find(|path| path.extension().is_some_and(|name| name == "dpor")).unwrap();
    for damage in [&b"dporprog"[..], b"", b"something else"] {
        fs::write(&program, damage).unwrap();
        project.run("test").expect_code(0).expect_stderr(&["rebuilding", "Checking damaged"]);
        let again = project.run("test").expect_code(0);
        assert!(!again.stderr.contains("anew"), "{}", again.stderr);
    }
}

#[test]
fn nothing_else_in_the_target_directory_is_touched() {
    let project = Project::package("target_directory", "")
        .file("src/lib.rs", PASSING)
        .file("target/debug/precious", "kept")
        .file("target/.rustc_info.json", "{}");
    let before = files_outside(&project.path("target"), "dpor");
    project.run("test").expect_code(0);
    assert_eq!(files_outside(&project.path("target"), "dpor"), before);
    project.run("test --target-dir other").expect_code(0);
    let entries: Vec<_> =
        fs::read_dir(project.path("other")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(entries, ["dpor"]);
    assert_eq!(files_outside(&project.path("target"), "dpor"), before);
}

#[test]
fn a_directory_of_the_user_is_not_taken_for_ours() {
    let project =
        Project::package("not_ours", "").file("src/lib.rs", FAILING).file("dpor/chapter.txt", "of years of work");
    for _ in 0..2 {
        project.run("test --target-dir .").expect_code(1);
        assert!(project.path(".cargo-dpor/replay/fails.rc11.json").is_file());
        assert_eq!(fs::read_dir(project.path("dpor")).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(project.path("dpor/chapter.txt")).unwrap(), "of years of work");
    }
}

/// All files below a directory with their times, but for one of its entries.
fn files_outside(directory: &Path, excluded: &str) -> BTreeMap<PathBuf, SystemTime> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap()) {
        if entry.file_name() == excluded {
            continue;
        }
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(files_outside(&entry.path(), "")),
            false => drop(files.insert(entry.path(), entry.metadata().unwrap().modified().unwrap())),
        }
    }
    files
}

#[test]
fn compile_errors_are_shown_as_cargo_shows_them() {
    let project = Project::package("compile_error", "").file("src/lib.rs", "pub fn a() -> u32 { \"no\" }\n");
    let run = project.run("test").expect_code(2).expect_stderr(&[
        "error[E0308]: mismatched types\n --> src/lib.rs:1:21\n",
        "could not compile `compile_error`",
    ]);
    assert_eq!(run.stderr.matches("mismatched types").count(), 1, "{}", run.stderr);
    assert_eq!(run.stdout, "");
}

#[test]
fn what_only_generic_code_gets_wrong_is_a_compile_error() {
    let generic = "pub fn with<const N: usize>() -> usize { const { assert!(N > 4, \"too few\") }; N }
        pub struct Of<T>(T);
        impl<T> Of<T> { const SIZED: () = assert!(size_of::<T>() > 2, \"too small\"); pub fn check() { let () = Self::SIZED; } }
        pub fn deeper<T>(n: u32, value: T) -> u32 { if n == 0 { 0 } else { 1 + deeper(n - 1, Some(value)) } }";
    for (call, message) in [
        ("crate::with::<3>();", "evaluation panicked: too few"),
        ("crate::Of::<u8>::check();", "evaluation panicked: too small"),
        ("crate::deeper(3, ());", "reached the recursion limit while instantiating `deeper::<"),
    ] {
        let project = Project::package("generic_errors", "")
            .file("src/lib.rs", &format!("{generic}\n#[cfg(test)] #[dpor::test] fn calls() {{ {call} }}"));
        project.run("test").expect_code(2).expect_stderr(&[message, "could not compile"]);
    }
    let calls = "#[cfg(test)] #[dpor::test] fn calls() { crate::with::<5>(); crate::Of::<u32>::check(); }";
    let project = Project::package("generic_errors", "").file("src/lib.rs", &format!("{generic}\n{calls}"));
    project.run("test").expect_code(0);
}

#[test]
fn a_missing_manifest_is_an_error() {
    let project = Project::empty("no_manifest");
    project.run("test --manifest-path nowhere/Cargo.toml").expect_code(2).expect_stderr(&["error: manifest path"]);
}

#[test]
fn readers_may_stop_before_the_end() {
    for arguments in ["explain", "explain data-race"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Project::empty("readers").cargo_dpor(arguments).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
    }
}

#[test]
fn usage_errors_have_their_exit_code() {
    let project = Project::empty("usage");
    project.run("test --frobnicate").expect_code(2);
    project.run("test --ignored --include-ignored").expect_code(2);
    project.run("frobnicate").expect_code(2);
    project.run("test -- --nocapture").expect_code(2).expect_stderr(&["cargo dpor test --nocapture"]);
    project.run("test --help").expect_code(0).expect_stdout(&["Usage: cargo dpor test [OPTIONS] [FILTER]..."]);
}
