//! Failing executions are kept, and can be run again as long as the program is the same.

mod support;

use std::fs;

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
    let removed = "error: there is no test `tests::loses_an_update` any more";
    project.run(&format!("replay {FILE}")).expect_code(2).expect_stderr(&[removed]);
    project.write("src/lib.rs", "no rust");
    project.run(&format!("replay {FILE}")).expect_code(2).expect_stderr(&["could not compile"]);
    project.write("src/lib.rs", LIBRARY);
    project.run(&format!("replay {FILE}")).expect_code(1);
}

#[test]
fn a_crate_that_was_moved_can_be_named() {
    let project = failing("replay_moved");
    let moved = Project::empty("replay_moved_away");
    fs::remove_dir_all(moved.path("")).unwrap();
    fs::rename(project.path(""), moved.path("")).unwrap();
    moved.run(&format!("replay {FILE}")).expect_code(2).expect_stderr(&["name the crate with `--manifest-path PATH`"]);
    moved.run(&format!("replay {FILE} --manifest-path Cargo.toml")).expect_code(1);
}

#[test]
fn files_go_when_the_failure_does() {
    let project = failing("replay_fixed");
    project.write("src/lib.rs", &LIBRARY.replace("assert_eq!(X", "assert_ne!(0 * X"));
    project.run("test").expect_code(0);
    assert!(!project.path(FILE).exists());
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
