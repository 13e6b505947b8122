//! `cargo dpor litmus`, driven by its arguments.

#[path = "../src/litmus.rs"]
mod litmus;

use clap::Parser;
use litmus::LitmusArgs;
use std::path::PathBuf;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    litmus: LitmusArgs,
}

/// Store buffering, with what the models allow; `allowed` is to be filled in.
fn store_buffering(rc11: &str, executions: u32) -> String {
    format!(
        r#"{{"id":"a","name":"SB","init":{{"x":0,"y":0}},"threads":[
            [{{"op":"store","loc":"x","val":1,"ord":"relaxed"}},{{"op":"load","loc":"y","ord":"relaxed","reg":"r0"}}],
            [{{"op":"store","loc":"y","val":1,"ord":"relaxed"}},{{"op":"load","loc":"x","ord":"relaxed","reg":"r0"}}]],
            "observed":["0:r0","1:r0"],"races":false,
            "allowed":{{"rc11":{rc11},"sc":[[0,1],[1,0],[1,1]]}},"executions":{{"rc11":{executions},"sc":3}}}}"#
    )
    .replace('\n', "")
}

fn run(name: &str, text: &str, more: &[&str]) -> u8 {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, text).expect("the temporary directory can be written to");
    let mut args = vec!["litmus".to_owned(), file.display().to_string()];
    args.extend(more.iter().map(|&arg| arg.to_owned()));
    let cli = Cli::try_parse_from(args).expect("the arguments are right");
    litmus::run(&cli.litmus).expect("the file can be read")
}

const ALL: &str = "[[0,0],[0,1],[1,0],[1,1]]";

#[test]
fn what_is_expected_gives_zero() {
    let text = store_buffering(ALL, 4);
    assert_eq!(run("match.jsonl", &text, &["--model", "rc11,sc", "--workers", "2", "--format", "json"]), 0);
    // Nothing is said about TSO.
    assert_eq!(run("none.jsonl", &text, &["--model", "tso"]), 0);
}

#[test]
fn another_state_or_count_gives_one() {
    assert_eq!(run("states.jsonl", &store_buffering("[[0,1],[1,0],[1,1]]", 4), &[]), 1);
    assert_eq!(run("count.jsonl", &store_buffering(ALL, 5), &[]), 1);
}

#[test]
fn a_malformed_line_gives_two() {
    let text = format!("{}\n{{\"name\":\"half\"\n", store_buffering(ALL, 4));
    assert_eq!(run("malformed.jsonl", &text, &["--format", "json"]), 2);
    let unknown = store_buffering(ALL, 4).replace("\"1:r0\"", "\"1:r9\"");
    assert_eq!(run("unknown.jsonl", &unknown, &[]), 2);
    let threads = vec!["[]"; 70_000].join(",");
    let many = format!("{{\"name\":\"many\",\"init\":{{}},\"threads\":[{threads}],\"observed\":[]}}\n");
    assert_eq!(run("many.jsonl", &many, &[]), 2);
}

#[test]
fn unknown_models_and_missing_files_are_errors() {
    assert!(Cli::try_parse_from(["litmus", "file", "--model", "arm"]).is_err());
    let cli = Cli::try_parse_from(["litmus", "/nonexistent/file"]).expect("the arguments are right");
    assert!(litmus::run(&cli.litmus).is_err());
}
