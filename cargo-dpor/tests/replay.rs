//! Failing executions are kept, and can be run again as long as the program is the same.

mod support;

use std::fs;
use std::path::Path;

use support::{Project, without_times};

const LIBRARY: &str = "#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    #[dpor::test]
    fn loses_an_update() {
        static X: AtomicUsize = AtomicUsize::new(0);
        let thread = std::thread::spawn(|| X.store(X.load(Relaxed) + 1, Relaxed));
        X.store(X.load(Relaxed) + 1, Relaxed);
        thread.join().unwrap();
        assert_eq!(X.load(Relaxed), 2);
    }
}
";
const FILE: &str = "target/dpor/replay/tests-loses_an_update.rc11.json";

fn failing(name: &str) -> Project {
    let project = Project::package(name, "").file("src/lib.rs", LIBRARY);
    project.run("test").expect_code(1).expect_stdout(&[&format!("replay: cargo dpor replay {FILE}\n")]);
    project
}

#[test]
fn the_report_is_the_same_from_anywhere() {
    let project = failing("replay_anywhere");
    let report = |text: &str| {
        let text = without_times(text);
        let (start, end) = (text.find("\nerror[").unwrap(), text.find("\nreplay: ").unwrap());
        text[start..end].to_owned()
    };
    let reported = report(&project.run("test").expect_code(1).stdout);
    assert_eq!(report(&project.run(&format!("replay {FILE}")).expect_code(1).stdout), reported);
    let mut elsewhere = project.cargo_dpor("replay");
    elsewhere.current_dir("/").arg(project.path(FILE));
    assert_eq!(report(&support::Run::of(&mut elsewhere).expect_code(1).stdout), reported);
}

#[test]
fn it_does_not_matter_when_the_program_was_built() {
    let project = failing("replay_rebuilt");
    let file = fs::read(project.path(FILE)).unwrap();
    for directory in ["target/dpor/x86_64-unknown-linux-gnu", "target/dpor/debug"] {
        let _ = fs::remove_dir_all(project.path(directory));
    }
    project.run(&format!("replay {FILE}")).expect_code(1).expect_stderr(&["Checking replay_rebuilt"]);
    for workers in [1, 2, 4] {
        project.run(&format!("test --workers {workers}")).expect_code(1);
        assert!(fs::read(project.path(FILE)).unwrap() == file, "the same failure gives the same file");
    }
}

#[test]
fn an_execution_of_another_program_is_not_run() {
    let project = failing("replay_changed");
    project.write("src/lib.rs", &LIBRARY.replace("load(Relaxed), 2", "load(Relaxed), 3"));
    project.run(&format!("replay {FILE}")).expect_code(2).expect_stderr(&[
        "error: the program has changed since the execution was recorded",
        "Check the test again: cargo dpor test --exact tests::loses_an_update",
    ]);
    project.write("src/lib.rs", &LIBRARY.replace("loses", "looses"));
    let removed = "error: the test `tests::loses_an_update` no longer exists";
    project.run(&format!("replay {FILE}")).expect_code(2).expect_stderr(&[removed]);
    project.write("src/lib.rs", "no rust");
    project.run(&format!("replay {FILE}")).expect_code(2).expect_stderr(&["could not compile"]);
    project.write("src/lib.rs", LIBRARY);
    project.run(&format!("replay {FILE}")).expect_code(1);
}

#[test]
fn a_file_that_is_elsewhere_is_run_where_the_user_says() {
    let project = failing("replay_moved");
    let moved = Project::empty("replay_moved_away");
    fs::remove_dir_all(moved.path("")).unwrap();
    fs::rename(project.path(""), moved.path("")).unwrap();
    moved.run(&format!("replay {FILE}")).expect_code(1);
    let file = std::env::temp_dir().join(format!("cargo-dpor-execution-{}.json", std::process::id()));
    fs::copy(moved.path(FILE), &file).unwrap();
    let replay = |directory: &Path, arguments: &[&str]| {
        let mut command = moved.cargo_dpor("replay");
        support::Run::of(command.current_dir(directory).arg(&file).args(arguments))
    };
    let root = Path::new("/");
    replay(root, &[]).expect_code(2).expect_stderr(&["use `--manifest-path PATH`"]);
    replay(root, &["--manifest-path", moved.path("Cargo.toml").to_str().unwrap()]).expect_code(1);
    replay(&moved.path("src"), &[]).expect_code(1);
    fs::remove_file(&file).unwrap();
}

#[test]
fn a_file_cannot_make_cargo_do_anything_else() {
    let project = failing("replay_hostile");
    let text = fs::read_to_string(project.path(FILE)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    project.write("kept/dpor/precious", "of years of work");
    let evil = project.path("evil");
    for (key, value) in [
        ("config", serde_json::json!([format!("build.rustc-wrapper='{}'", evil.display())])),
        ("target_dir", project.path("kept").to_str().unwrap().into()),
        ("profile", "x\"\nrustflags=[\"--emit=link=/tmp/x\"]".into()),
        ("package", serde_json::json!(["--config=evil"])),
        ("directory", "../replay_anywhere".into()),
        ("directory", "/".into()),
    ] {
        for at in ["build", "cargo", ""] {
            let mut json = json.clone();
            match at {
                "" => json[key] = value.clone(),
                at => json[at][key] = value.clone(),
            }
            project.write("hostile.json", &json.to_string());
            project.run("replay hostile.json").expect_code(2).expect_stderr(&["hostile.json is damaged"]);
        }
    }
    assert_eq!(fs::read_dir(project.path("kept/dpor")).unwrap().count(), 1);
}

#[test]
fn members_of_workspaces_are_built_as_they_were() {
    let dpor = support::repository().join("dpor");
    let manifest = |name: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[features]\nextra = []\n\
             [dev-dependencies]\ndpor = {{ path = {dpor:?} }}\n"
        )
    };
    let project = Project::empty("replay_workspace")
        .file("Cargo.toml", "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"2\"\n")
        .file("one/Cargo.toml", &manifest("one"))
        .file("one/src/lib.rs", LIBRARY)
        .file("two/Cargo.toml", &manifest("two"))
        .file("two/src/lib.rs", "");
    let mut command = project.cargo_dpor("test --features extra -r");
    support::Run::of(command.current_dir(project.path("one/src"))).expect_code(1);
    project.run(&format!("replay {FILE}")).expect_code(1);
    let file: serde_json::Value = serde_json::from_str(&fs::read_to_string(project.path(FILE)).unwrap()).unwrap();
    assert_eq!((&file["build"]["directory"], &file["build"]["profile"]), (&"one".into(), &"release".into()));
}

#[test]
fn files_go_when_the_failure_does() {
    let project = failing("replay_fixed");
    project.write("src/lib.rs", &LIBRARY.replace("assert_eq!(X", "assert_ne!(0 * X"));
    project.run("test").expect_code(0);
    assert!(!project.path(FILE).exists());
}

#[test]
fn a_failure_is_reported_also_where_it_cannot_be_kept() {
    let project = Project::package("replay_no_room", "").file("src/lib.rs", LIBRARY);
    project.run("test --list").expect_code(0);
    project.write("target/dpor/replay", "not a directory");
    project.write("pages/tests-loses_an_update.rc11.html/file", "not a page");
    let run = project.run("test --report pages --format junit").expect_code(1);
    run.expect_stdout(&["<failure message=\"panic: "]).expect_stderr(&[
        "warning: cannot write ",
        "target/dpor/replay/tests-loses_an_update.rc11.json: ",
        "pages/tests-loses_an_update.rc11.html",
    ]);
}

#[test]
fn a_long_name_is_no_reason_not_to_keep_a_failure() {
    let name = "very_".repeat(60);
    let project = Project::package("replay_long_name", "")
        .file("src/lib.rs", &LIBRARY.replace("loses_an_update", &format!("{name}long")));
    project.run("test").expect_code(1);
    let files: Vec<_> = fs::read_dir(project.path("target/dpor/replay")).unwrap().map(|file| file.unwrap()).collect();
    assert_eq!(files.len(), 1);
    project.run(&format!("replay {}", files[0].path().display())).expect_code(1);
}

#[test]
fn tests_of_the_same_name_have_files_of_their_own() {
    let failing = "#[cfg(test)]\n#[dpor::test]\nfn fails() { panic!(\"here\"); }\n";
    let project = Project::package("replay_names", "")
        .file("src/lib.rs", failing)
        .file("src/bin/tool.rs", &format!("fn main() {{}}\n{failing}"))
        .file("tests/integration.rs", failing);
    project.run("test --no-fail-fast --model sc,pso").expect_code(1);
    let mut files: Vec<_> = fs::read_dir(project.path("target/dpor/replay"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let targets = ["replay_names-bin-tool-fails", "replay_names-fails", "replay_names-integration-fails"];
    let expected: Vec<_> =
        targets.iter().flat_map(|name| [format!("{name}.pso.json"), format!("{name}.sc.json")]).collect();
    assert_eq!(files, expected);
    for file in files {
        project.run(&format!("replay -q target/dpor/replay/{file}")).expect_code(1).expect_stdout(&["here"]);
    }
}

#[test]
fn an_option_without_effect_is_warned_of() {
    let project =
        Project::package("without_effect", "").file("src/lib.rs", "#[cfg(test)] #[dpor::test] fn passes() {}");
    let warning = "warning: `--buffer-bound` has no effect";
    project.run("test --buffer-bound 1").expect_code(0).expect_stderr(&[warning]);
    let run = project.run("test --buffer-bound 1 --model rc11,tso").expect_code(0);
    assert!(!run.stderr.contains(warning), "{}", run.stderr);
}
