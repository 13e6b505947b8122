//! `cargo dpor`: checks the tests of a crate.
//!
//! A run prepares the [`toolchain`] and the [`sysroot`]; [`compile`] runs cargo with our driver on the selected targets and
//! loads the programs that the driver writes; [`select`] picks the tests; [`run`] explores each of them
//! ([`check`]) as its [`settings`] say, [`expectation`] compares what was found with what the tests expect, and [`report`] says
//! how they went. Failing executions are kept in files, which [`replay`] runs again. The program of a test can be an
//! [`artifact`] of its own, to be checked elsewhere.

#![forbid(unsafe_code)]

mod advice;
mod args;
mod artifact;
mod cache;
mod check;
mod clean;
mod compile;
mod defaults;
mod expectation;
mod explain;
mod finding;
#[cfg(test)]
mod fuzz;
mod litmus;
mod lock;
mod memory;
mod overlay;
mod partition;
mod picture;
mod pool;
mod progress;
mod reason;
mod replay;
mod report;
mod run;
mod select;
mod settings;
mod style;
mod sysroot;
mod toolchain;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use cache::Cache;

use args::{Cli, ColorChoice, Command, NoTests, SetupArgs, TestArgs};
use dpor_engine::interrupt::Interrupt;
use picture::Gallery;
use replay::Recorder;
use report::Sources;
use run::Run;
use select::Selection;
use settings::Settings;
use style::Style;
use sysroot::Care;
use toolchain::Toolchain;

/// Every test passed.
const PASSED: u8 = 0;
/// Some test did not pass.
const NOT_PASSED: u8 = 1;
/// The check could not be made.
const NOT_CHECKED: u8 = 2;
/// There was nothing to check.
const NO_TESTS: u8 = 4;

fn main() -> ExitCode {
    let cli = Cli::parse_from(args::without_subcommand_name(std::env::args_os()));
    let style = match &cli.command {
        Command::Test(args) => Style::for_stderr(args.color),
        Command::Replay(args) => Style::for_stderr(args.color),
        Command::Setup(args) => Style::for_stderr(args.color),
        Command::Clean(args) => Style::for_stderr(args.color),
        Command::Build(args) => Style::for_stderr(args.color),
        Command::Run(args) => Style::for_stderr(args.color),
        Command::Litmus(_) | Command::Explain(_) => Style::for_stderr(ColorChoice::Auto),
    };
    let result = match cli.command {
        Command::Test(args) => test(&args),
        Command::Replay(args) => replay::replay(&args),
        Command::Setup(args) => setup(&args),
        Command::Clean(args) => clean::clean(&args),
        Command::Build(args) => artifact::build(&args),
        Command::Run(args) => artifact::run(*args),
        Command::Litmus(args) => litmus::run(&args),
        Command::Explain(args) => explain::explain(&args),
    };
    ExitCode::from(result.unwrap_or_else(|error| {
        eprintln!("{}: {error:#}", style.error("error"));
        NOT_CHECKED
    }))
}

/// `cargo dpor test`
fn test(args: &TestArgs) -> Result<u8> {
    args.validate()?;
    let toolchain = Toolchain::find()?;
    let sysroot = sysroot::prepare(&toolchain, Care::Usual, Style::for_stderr(args.color))?;
    let workspace = workspace::Workspace::load(&toolchain, &args.cargo)?;
    let Some(binaries) = compile::compile(&toolchain, &sysroot, &workspace, &args.cargo, args.color)? else {
        return Ok(NOT_CHECKED);
    };
    let selection = select::select(&binaries, &args.filter);
    let sources = Sources::new(workspace.root.clone());
    let mut report = report::for_args(args, &sources);
    if args.filter.list {
        report.list(&selection)?;
        return Ok(PASSED);
    }
    warn_of_options_without_effect(&selection, args)?;
    let recorder = Recorder::new(&workspace, &args.cargo, &selection)?;
    let gallery = args.report.as_deref().map(|directory| Gallery::open(directory, &sources)).transpose()?;
    let cache = (!args.no_cache).then(|| Cache::new(&workspace.target_directory));
    let interrupt = Interrupt::default();
    let run = Run { args, recorder: &recorder, root: &workspace.root, gallery, interrupt, cache };
    let summary = run.run(&selection, &mut *report)?;
    Ok(match summary.all_passed() {
        true if selection.tests() == 0 => without_tests(&selection, args),
        true => PASSED,
        false => NOT_PASSED,
    })
}

/// Nothing was checked: says so, and what to do about it, unless that is fine.
fn without_tests(selection: &Selection, args: &TestArgs) -> u8 {
    let style = Style::for_stderr(args.color);
    let (what, code) = match args.no_tests {
        NoTests::Pass => return PASSED,
        NoTests::Warn => (style.warning("warning"), PASSED),
        NoTests::Fail => (style.error("error"), NO_TESTS),
    };
    let reason = match selection.filtered_out {
        0 => "the selected targets have no tests".to_owned(),
        1 => "the only test does not match".to_owned(),
        others => format!("none of the {others} tests matches"),
    };
    eprintln!("{what}: no tests to run: {reason} (`--no-tests pass` accepts that)");
    code
}

/// Says so where an option changes nothing for any of the selected tests.
fn warn_of_options_without_effect(selection: &Selection, args: &TestArgs) -> Result<()> {
    let mut bounded = args.explore.buffer_bound.is_none() || selection.tests() == 0;
    for target in &selection.targets {
        for selected in &target.tests {
            let settings = Settings::resolve(&args.explore, &target.binary.defaults, &selected.test.config)?;
            bounded |= settings.iter().any(|settings| settings.model.has_buffers());
        }
    }
    if !bounded {
        let warning = Style::for_stderr(args.color).warning("warning");
        eprintln!("{warning}: `--buffer-bound` has no effect: no test is checked under tso or pso (add `--model tso`)");
    }
    Ok(())
}

/// `cargo dpor setup`
fn setup(args: &SetupArgs) -> Result<u8> {
    let toolchain = Toolchain::find()?;
    let style = Style::for_stderr(args.color);
    let sysroot = sysroot::prepare(&toolchain, Care::Thorough, style)?;
    eprintln!("{} the standard library of {} is at {}", style.status("Ready"), toolchain::name(), sysroot.display());
    Ok(PASSED)
}
