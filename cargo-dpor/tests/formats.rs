//! What programs read: every format is parsed back, and exit codes say how a check ended.

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use quick_junit::{NonSuccessKind, TestCaseStatus};
use serde_json::Value;
use support::{Project, Run};

const PROGRAM: &str = r#"
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;

#[dpor::test]
fn failed() {
    static X: AtomicU32 = AtomicU32::new(0);
    let thread = thread::spawn(|| X.store(1, Relaxed));
    println!("<printed> & \"quoted\"");
    assert_eq!(X.load(Relaxed), 0, "seen: 100%");
    thread.join().unwrap();
}

#[dpor::test]
#[ignore = "not now"]
fn ignored() {}

#[dpor::test(max_executions = 1)]
fn incomplete() {
    dpor::choose(2);
}

#[dpor::test(model = "sc,tso")]
fn passed() {}

#[dpor::test]
fn unsupported() {
    let _ = std::fs::read("x");
}
"#;

fn project(name: &str) -> Project {
    Project::package(name, "").file("tests/all.rs", PROGRAM).file("src/lib.rs", "")
}

#[test]
fn every_outcome_has_its_exit_code() {
    let project = project("exit_codes");
    for (arguments, code) in [
        ("test -q passed", 0),
        ("test -q ignored", 0),
        ("test -q none_of_that_name", 4),
        ("test -q failed", 1),
        ("test -q incomplete", 1),
        ("test -q unsupported", 1),
        ("test -q", 1),
        ("test -q --list", 0),
        ("test -q --no-such-option", 2),
        ("test -q --model x86", 2),
        ("test -q --test none", 2),
        ("explain panic", 0),
        ("explain nothing", 2),
        ("replay target/dpor/replay/failed.rc11.json", 1),
        ("replay none.json", 2),
        ("none", 2),
        ("--version", 0),
    ] {
        let run = project.run(arguments);
        assert_eq!(run.code, code, "{arguments}\n{}{}", run.stdout, run.stderr);
        assert_eq!(run.stderr.starts_with("error"), [2, 4].contains(&code), "{arguments}\n{}", run.stderr);
    }
    project.write("src/lib.rs", "does not compile");
    project.run("test -q").expect_code(2).expect_stderr(&["error"]);
}

#[test]
fn junit_is_read_back() {
    let project = project("read_junit");
    let run = project.run("test -q --format junit").expect_code(1);
    let report = quick_junit::Report::deserialize_from_str(&run.stdout).unwrap();
    assert_eq!((report.tests, report.failures, report.errors), (6, 1, 2));
    let suite = &report.test_suites[0];
    assert_eq!(suite.name.as_str(), "read_junit::all");
    let cases: Vec<(&str, &str)> =
        suite.test_cases.iter().map(|case| (case.name.as_str(), status(&case.status))).collect();
    assert_eq!(
        cases,
        [
            ("failed", "failure"),
            ("ignored", "skipped"),
            ("incomplete", "error"),
            ("passed (sc)", "success"),
            ("passed (tso)", "success"),
            ("unsupported", "error")
        ]
    );
    let failed = &suite.test_cases[0];
    assert_eq!(failed.system_out.as_ref().unwrap().as_str(), "<printed> & \"quoted\"", "readers may trim it");
    let TestCaseStatus::NonSuccess { message, ty, description, .. } = &failed.status else { panic!("it failed") };
    assert_eq!(ty.as_ref().unwrap().as_str(), "panic");
    assert!(message.as_ref().unwrap().as_str().contains("seen: 100%"));
    assert!(description.as_ref().unwrap().as_str().contains("load X = 1 (Relaxed) ← #2"));
    let properties: Vec<_> = suite.properties.iter().map(|p| (p.name.as_str(), p.value.as_str())).collect();
    assert_eq!(properties[..3], [("failed: model", "rc11"), ("failed: executions", "1"), ("failed: blocked", "0")]);
    assert_eq!(properties.len(), 3 * suite.test_cases.len());
    validate(&project.path("report.xml"), &run.stdout);
}

/// What Jenkins takes, as a schema.
const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/junit.xsd");

/// Checks a report against the schema, where there is a program to do that with. The schema itself is tried out, too.
fn validate(path: &Path, xml: &str) {
    let is_valid = |xml: &str| {
        fs::write(path, xml).unwrap();
        let output =
            Command::new("xmllint").args(["--noout", "--nonet", "--schema", SCHEMA]).arg(path).output().ok()?;
        let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 3)), "the schema is not valid: {complaints}");
        Some(output.status.success().then_some(()).ok_or(complaints))
    };
    let Some(result) = is_valid(xml) else {
        eprintln!("skipped: there is no `xmllint` on this machine to check the report with");
        return;
    };
    assert_eq!(result, Ok(()), "{xml}");
    for (valid, wrong) in
        [("<testcase name=", "<testcase title="), ("failure", "failed"), ("tests=\"6\"", "tests=\"?\"")]
    {
        assert!(xml.contains(valid), "{valid} is not there");
        assert!(is_valid(&xml.replace(valid, wrong)).unwrap().is_err(), "{wrong} is not in the schema");
    }
}

fn status(status: &TestCaseStatus) -> &'static str {
    match status {
        TestCaseStatus::Success { .. } => "success",
        TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, .. } => "failure",
        TestCaseStatus::NonSuccess { kind: NonSuccessKind::Error, .. } => "error",
        TestCaseStatus::Skipped { .. } => "skipped",
    }
}

#[test]
fn json_is_read_back() {
    let run = project("read_json").run("test -q --format json --report pages").expect_code(1);
    let events: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&events[0]["event"], &events[0]["tests"]), (&"suite".into(), &5.into()));
    let tests: Vec<&Value> = events.iter().filter(|event| event["event"] == "test").collect();
    let outcomes: Vec<&str> = tests.iter().map(|test| test["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["failed", "ignored", "incomplete", "passed", "passed", "unsupported"]);
    let error = &tests[0]["error"];
    assert_eq!((&error["kind"], &error["line"], &error["column"]), (&"panic".into(), &10.into(), &5.into()));
    assert_eq!(error["report"], "pages/failed.rc11.html");
    let done = events.last().unwrap();
    let count = |key: &str| done[key].as_u64().unwrap();
    assert_eq!((done["event"].as_str().unwrap(), count("passed"), count("failed")), ("done", 2, 1));
    assert_eq!((count("incomplete"), count("unsupported"), count("ignored")), (1, 1, 1));
}

#[test]
fn github_annotations_are_read_back() {
    let project = project("read_github");
    let mut command = project.cargo_dpor("test -q --format github");
    command.env("GITHUB_WORKSPACE", project.path("").parent().unwrap());
    let run = Run::of(&mut command).expect_code(1);
    let annotations: Vec<Annotation> = run.stdout.lines().filter_map(Annotation::parse).collect();
    let titles: Vec<&str> = annotations.iter().map(|annotation| annotation.property("title")).collect();
    assert_eq!(titles, ["panic: failed (rc11)", "incomplete: incomplete (rc11)", "unsupported: unsupported (rc11)"]);
    let failed = &annotations[0];
    assert_eq!((failed.property("file"), failed.property("line")), ("read_github/tests/all.rs", "10"));
    assert!(failed.message.contains("seen: 100%\n  left: 1\n right: 0"), "{}", failed.message);
}

/// Text that would act on a terminal, on a workflow, and on whoever reads XML.
const HOSTILE: &str = r#"
#[dpor::test]
fn fails() {
    println!("::stop-commands::x\n  ::set-output name=a::b\n##[error]no\r::debug::c\u{1b}[2J \u{fffe}\u{ffff}");
    panic!("\n::add-mask::y \u{1b}[2J \u{fffe}");
}
#[dpor::test]
#[ignore = "because\n::notice::z \u{1b}[2J \u{ffff}"]
fn ignored() {}
"#;

#[test]
fn what_tests_say_does_not_act() {
    let project = Project::package("hostile", "").file("tests/t.rs", HOSTILE).file("src/lib.rs", "");
    let run = project.run("test -q --format github").expect_code(1);
    let is_command = |line: &&str| line.trim_start().starts_with("::") || line.contains("##[");
    let commands: Vec<&str> = run.stdout.split(['\n', '\r']).filter(is_command).collect();
    assert_eq!(commands.len(), 1, "{commands:?}");
    assert!(commands[0].starts_with("::error file="), "{commands:?}");
    for arguments in ["test -q", "test -q --nocapture", "test -q --format github", "test -q --format junit"] {
        let run = project.run(arguments).expect_code(1);
        assert!(!run.stdout.contains('\u{1b}'), "{arguments}: {}", run.stdout);
    }
    let xml = project.run("test -q --format junit").expect_code(1).stdout;
    assert!(!xml.contains(['\u{fffe}', '\u{ffff}']), "{xml}");
    quick_junit::Report::deserialize_from_str(&xml).unwrap();
}

/// A workflow command of GitHub: `::error file=a,line=1::message`
struct Annotation {
    properties: Vec<(String, String)>,
    message: String,
}

impl Annotation {
    fn parse(line: &str) -> Option<Annotation> {
        let (properties, message) = line.strip_prefix("::error ")?.split_once("::").unwrap();
        let plain = |text: &str| {
            let text = text.replace("%3A", ":").replace("%2C", ",");
            text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
        };
        let properties = properties.split(',').map(|property| {
            let (key, value) = property.split_once('=').unwrap();
            (key.to_owned(), plain(value))
        });
        Some(Annotation { properties: properties.collect(), message: plain(message) })
    }

    fn property(&self, key: &str) -> &str {
        &self.properties.iter().find(|(name, _)| name == key).unwrap().1
    }
}

#[test]
fn colors_are_for_those_who_want_them() {
    let project = project("colors");
    let run = |arguments: &str, variables: &[(&str, &str)]| {
        let mut command = project.cargo_dpor(&format!("test -q failed {arguments}"));
        Run::of(command.envs(variables.iter().copied())).stdout.contains('\u{1b}')
    };
    // The output of a test is no terminal.
    assert!(!run("", &[]));
    assert!(run("--color always", &[]));
    assert!(run("--color always", &[("NO_COLOR", "1")]));
    assert!(run("", &[("CLICOLOR_FORCE", "1")]));
    assert!(!run("--color never", &[("CLICOLOR_FORCE", "1")]));
    assert!(!run("--format json --color always", &[]));
}

#[test]
fn reports_fit_the_terminal() {
    let project = project("widths");
    for (columns, widest) in [("60", 60), ("100", 100), ("140", 140)] {
        let mut command = project.cargo_dpor("test -q failed --trace full");
        let run = Run::of(command.env("COLUMNS", columns));
        let rows = run.stdout.lines().filter(|line| line.starts_with('#') || line.starts_with("    "));
        for row in rows.filter(|row| !row.contains("FAIL") && !row.contains("PASS") && !row.contains("Summary")) {
            assert!(row.chars().count() <= widest, "{columns}: {row}");
        }
    }
}

#[test]
fn manifests_have_defaults_and_unknown_keys_are_errors() {
    let table = "[package.metadata.dpor]\nmodel = \"sc\"\nmax-executions = 1\n";
    let project = Project::package("defaults", table)
        .file("src/lib.rs", "")
        .file("tests/t.rs", "#[dpor::test]\nfn chooses() { dpor::choose(2); }\n");
    project.run("test -q").expect_code(1).expect_stdout(&["INCOMPLETE", "chooses (sc, 1 execution)"]);
    project
        .run("test -q --model pso --max-executions 3")
        .expect_code(0)
        .expect_stdout(&["chooses (pso, 2 executions)"]);
    let workspace = "[workspace.metadata.dpor]\nmodel = \"tso\"\nkeep_going = true\n";
    let project = Project::package("unknown_key", workspace).file("src/lib.rs", "");
    let expected = ["[workspace.metadata.dpor] in", "unknown field `keep_going`", "`keep-going`"];
    project.run("test -q").expect_code(2).expect_stderr(&expected);
    for (value, allowed) in
        [("timeout = nan", "a number of seconds"), ("unroll = inf", "at least 1"), ("spurious = 3", "true or false")]
    {
        let project =
            Project::package("bad_value", &format!("[package.metadata.dpor]\n{value}\n")).file("src/lib.rs", "");
        project.run("test -q").expect_code(2).expect_stderr(&[
            "[package.metadata.dpor] in",
            "Cargo.toml, line 9: key `",
            allowed,
        ]);
    }
}

/// Many threads that write: more executions than anybody waits for, in two tests. Neither is small, so the
/// second is not checked before the first has ended.
const ENDLESS: &str = r#"
use std::sync::atomic::{AtomicU32, Ordering::*};
fn writes() {
    static X: AtomicU32 = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for t in 0..6 {
            scope.spawn(move || for n in 0..4 { X.swap(4 * t + n, Relaxed); });
        }
    });
}
#[dpor::test]
fn a_long_one() { writes() }
#[dpor::test]
fn b_is_not_run() { writes() }
"#;

/// A check that is under way, and what it prints.
fn begun(name: &str, program: &str, arguments: &str) -> (Child, BufReader<ChildStdout>) {
    let project = Project::package(name, "").file("tests/t.rs", program).file("src/lib.rs", "");
    project.run("test -q --list").expect_code(0);
    let mut child = project.cargo_dpor(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    assert!(first.contains("Running "), "{first}");
    thread::sleep(Duration::from_millis(500));
    (child, stdout)
}

/// What Ctrl-C does.
fn interrupt(child: &Child) {
    send("-INT", child);
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn an_interrupt_ends_the_check_with_what_is_known() {
    let (mut child, mut stdout) = begun("interrupt", ENDLESS, "test -q");
    let start = Instant::now();
    interrupt(&child);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{rest}");
    assert!(start.elapsed() < Duration::from_secs(10), "it took {:?}", start.elapsed());
    for part in [
        "INCOMPLETE [",
        "interrupted: not all executions were explored",
        "1 incomplete, 1 not run",
        "Interrupted: tests",
    ] {
        assert!(rest.contains(part), "no {part:?} in\n{rest}");
    }
    assert_eq!(stderr, "", "there is no line of progress where there is no terminal");
}

/// Whether the end of the terminal's session is ignored here, as under `nohup`: the tool then ignores it, too.
fn is_hangup_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 1 == 1))
}

#[test]
fn other_signals_end_the_check_as_an_interrupt_does() {
    let hangup = (!is_hangup_ignored()).then_some("-HUP");
    for signal in ["-TERM"].into_iter().chain(hangup) {
        let (mut child, mut stdout) = begun("signals", ENDLESS, "test -q");
        send(signal, &child);
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{rest}");
        assert!(rest.contains("1 incomplete, 1 not run"), "{signal}: {rest}");
    }
}

/// A check that is killed while the second test is explored, and what it has written to a file by then.
fn killed(name: &str, format: &str) -> String {
    let project = Project::package(name, "").file("src/lib.rs", "").file("tests/t.rs", PASSES_THEN_ENDLESS);
    project.run("test -q --list").expect_code(0);
    let path = project.path("report");
    let report = fs::File::create(&path).unwrap();
    let mut child = project.cargo_dpor(&format!("test -q --format {format}")).stdout(report).spawn().unwrap();
    let start = Instant::now();
    while !fs::read_to_string(&path).unwrap().contains("a_first_one") && start.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(100));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    fs::read_to_string(&path).unwrap()
}

const PASSES_THEN_ENDLESS: &str = r#"
use std::sync::atomic::{AtomicU32, Ordering::*};
#[dpor::test]
fn a_first_one() { panic!("found"); }
#[dpor::test]
fn b_a_long_one() {
    static X: AtomicU32 = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for t in 0..6 {
            scope.spawn(move || for n in 0..4 { X.swap(4 * t + n, Relaxed); });
        }
    });
}
"#;

#[test]
fn reports_in_files_are_whole_also_of_a_check_that_is_killed() {
    let report = quick_junit::Report::deserialize_from_str(&killed("killed_junit", "junit")).unwrap();
    assert_eq!((report.tests, report.failures), (1, 1));
    let json = killed("killed_json", "json");
    let last: Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    assert_eq!((&last["name"], &last["outcome"]), (&"a_first_one".into(), &"failed".into()));
}

#[test]
fn a_report_is_added_to_what_a_file_has() {
    let project =
        Project::package("appended", "").file("src/lib.rs", "").file("tests/t.rs", "#[dpor::test] fn passes() {}");
    project.write("report", "before\n");
    for times in 1..=2 {
        let report = fs::File::options().append(true).open(project.path("report")).unwrap();
        assert!(project.cargo_dpor("test -q --format junit").stdout(report).status().unwrap().success());
        let text = fs::read_to_string(project.path("report")).unwrap();
        assert!(text.starts_with("before\n<?xml"), "{text}");
        assert_eq!(text.matches("</testsuites>").count(), times, "{text}");
    }
}

/// A test that prints more than fits into a pipe that nobody reads.
const MUCH_OUTPUT: &str = r#"
#[dpor::test]
fn prints() {
    panic!("{}", "much ".repeat(50_000));
}
"#;

/// What is to be printed is printed first, unless the user insists.
#[test]
fn a_second_interrupt_ends_it_at_once() {
    let (mut child, mut stdout) = begun("second_interrupt", MUCH_OUTPUT, "test -q");
    interrupt(&child);
    thread::sleep(Duration::from_millis(500));
    assert_eq!(child.try_wait().unwrap(), None, "it is not done with what it prints");
    let start = Instant::now();
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(start.elapsed() < Duration::from_secs(5), "it took {:?}", start.elapsed());
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("Summary"), "it has not come to its end");
}

/// `script` runs a command on a terminal of its own.
#[test]
fn long_checks_show_how_far_they_are_on_a_terminal() {
    let project = Project::package("progress", "").file("tests/t.rs", ENDLESS).file("src/lib.rs", "");
    project.run("test -q --list").expect_code(0);
    let arguments = "test -q --exact a_long_one --timeout 2 --color never";
    let command = format!("stty cols 120; {} dpor {arguments}", env!("CARGO_BIN_EXE_cargo-dpor"));
    let mut script = Command::new("script");
    script.current_dir(project.path("")).args(["-qec", &command, "/dev/null"]).stdin(Stdio::null());
    let Ok(output) = script.output() else {
        eprintln!("skipped: there is no `script` on this machine to make a terminal with");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.split(['\r', '\n']).find(|line| line.contains("Checking progress::t a_long_one: "));
    let line = line.unwrap_or_else(|| panic!("no line of progress in\n{text}"));
    assert!(line.contains(" executions, ") && line.contains("/s, "), "{line}");
    assert!(text.contains("INCOMPLETE ["), "{text}");
}
