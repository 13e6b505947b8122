//! The command line.

use std::ffi::OsString;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, Parser, Subcommand, ValueEnum};
use dpor_engine::check::Allowed;
use dpor_engine::explore::{AwaitLevel, Equivalence};
use dpor_engine::model::MemoryModel;

use crate::litmus::LitmusArgs;
use crate::memory;
use crate::partition::Partition;
use crate::report::Extent;

#[derive(Debug, Parser)]
#[command(name = "cargo-dpor", bin_name = "cargo dpor", version, about, disable_help_subcommand = true)]
#[command(
    after_help = "Examples:\n  cargo dpor test                 check all tests of the crate\n  cargo dpor test --suggest pop   suggest changes that make a failing test pass\n  cargo dpor explain data-race    what the error means, with an example"
)]
#[command(styles = clap::builder::Styles::styled())]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check the tests of a crate: explore every execution of each
    Test(Box<TestArgs>),
    /// Replay a failing execution that `test` has recorded
    Replay(ReplayArgs),
    /// Build the standard library with its MIR, once (`test` does this on its first run)
    Setup(SetupArgs),
    /// Write the program of a test to a file, to be checked by `run`
    Build(Box<BuildArgs>),
    /// Check a test whose program `build` has written, without a compiler
    Run(Box<RunArgs>),
    /// Forget which tests have passed
    Clean(CleanArgs),
    /// Explain a kind of error, with an example
    Explain(ExplainArgs),
    /// Run litmus tests, without a compiler
    Litmus(LitmusArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "The standard library is kept in $DPOR_SYSROOT_DIR, or in the user's cache directory if that is not set."
)]
pub struct SetupArgs {
    /// When to use colors (auto: if the output is a terminal)
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo dpor build -o pop.dpor --exact tests::pop   the program of one test\n  cargo dpor build -o programs/                     of each, in a file named by its digest\n  cargo dpor run pop.dpor                           check it: no compiler, no source is needed"
)]
pub struct BuildArgs {
    /// Only tests whose name contains one of these
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// Match the filters against full names
    #[arg(long)]
    pub exact: bool,
    /// The file for the program; or a directory, in which each program gets a file named by its digest
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// When to use colors (auto: if the output is a terminal)
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    #[command(flatten)]
    pub cargo: CargoArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The report is that of `cargo dpor test`, and the options mean the same.\nExit codes: 0 the test passed; 1 it did not; 2 it could not be run."
)]
pub struct RunArgs {
    /// The file that `cargo dpor build` has written
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Show the output of the test, also if it passes
    #[arg(long, alias = "no-capture")]
    pub nocapture: bool,
    /// Print human-readable text, JSON lines, JUnit XML, or annotations for GitHub
    #[arg(long, default_value = "human")]
    pub format: Format,
    /// Show the relevant steps of a failing execution, or all of them
    #[arg(long, value_name = "EXTENT", default_value = "relevant", hide_possible_values = true)]
    pub trace: Extent,
    /// When to use colors (auto: if the output is a terminal)
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// Write a page with a picture of each failing execution
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Say why exploring began again
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub verbose: u8,
    #[command(flatten)]
    pub explore: ExploreArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Nothing is removed but what cargo-dpor itself has written.")]
pub struct CleanArgs {
    /// Remove everything that cargo-dpor has in the target directory: builds and recorded executions, too
    #[arg(long)]
    pub all: bool,
    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// Directory for all generated artifacts; cargo-dpor uses its subdirectory `dpor`
    #[arg(long, value_name = "DIRECTORY")]
    pub target_dir: Option<PathBuf>,
    /// When to use colors (auto: if the output is a terminal)
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

#[derive(Debug, Args)]
#[command(after_help = "Example: cargo dpor explain data-race")]
pub struct ExplainArgs {
    /// An error kind, `incomplete` or `unsupported` [default: list all of them]
    #[arg(value_name = "KIND")]
    pub kind: Option<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 1 the failure was reproduced; 2 it was not: the program has changed or does not build."
)]
pub struct ReplayArgs {
    /// The file named in the report of the failure
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Path to Cargo.toml, if FILE is not in the target directory of the crate
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// Override a configuration value; use the same values as when the execution was recorded
    #[arg(long, value_name = "KEY=VALUE|PATH")]
    pub config: Vec<String>,
    /// Directory for all generated artifacts; cargo-dpor uses its subdirectory `dpor`
    #[arg(long, value_name = "DIRECTORY")]
    pub target_dir: Option<PathBuf>,
    /// Run without accessing the network
    #[arg(long)]
    pub offline: bool,
    /// Print human-readable text, or JSON with the whole trace
    #[arg(long, default_value = "human")]
    pub format: Format,
    /// Show the relevant steps of the execution, or all of them
    #[arg(long, value_name = "EXTENT", default_value = "relevant", hide_possible_values = true)]
    pub trace: Extent,
    /// When to use colors (auto: if the output is a terminal)
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// Print less of cargo's progress
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
#[command(override_help = include_str!("help/test.txt"))]
pub struct TestArgs {
    #[command(flatten)]
    pub filter: Filter,
    /// What to do if no test is selected: pass, warn, fail
    #[arg(long, value_name = "ACTION", default_value = "fail")]
    pub no_tests: NoTests,
    /// List the slowest tests at the end
    #[arg(long)]
    pub slow: bool,
    /// Show the output of tests, including those that pass
    #[arg(long, alias = "no-capture")]
    pub nocapture: bool,
    /// Run the other targets after a target had a failing test
    #[arg(long)]
    pub no_fail_fast: bool,
    /// Check all tests, also those that have passed before and have not changed since
    #[arg(long)]
    pub no_cache: bool,
    /// Print human-readable text, JSON lines, JUnit XML, or annotations for GitHub
    #[arg(long, default_value = "human")]
    pub format: Format,
    /// Show the relevant steps of a failing execution, or all of them
    #[arg(long, value_name = "EXTENT", default_value = "relevant", hide_possible_values = true)]
    pub trace: Extent,
    /// When to use colors (auto: if the output is a terminal)
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// Write a page with a picture of each failing execution
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Suggest changes with which a failing test passes
    #[arg(long)]
    pub suggest: bool,
    /// Find weaker orderings with which a passing test still passes
    #[arg(long)]
    pub relax: bool,
    #[command(flatten)]
    pub explore: ExploreArgs,
    #[command(flatten)]
    pub cargo: CargoArgs,
}

/// Whether something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

impl Switch {
    /// Whether it is.
    pub fn is_on(self) -> bool {
        self == Switch::On
    }
}

/// How the executions of a test are explored. What the attribute of a test says wins.
#[derive(Debug, Args)]
pub struct ExploreArgs {
    /// The memory models to check each test under: rc11, sc, tso, pso [default: rc11]
    #[arg(long, value_name = "MODEL", value_delimiter = ',', help_heading = "Exploration")]
    pub model: Vec<MemoryModel>,
    /// How many delayed stores a buffer holds at most under tso and pso [default: any number]
    #[arg(
        long,
        value_name = "K",
        value_parser = at_least_zero,
        allow_negative_numbers = true,
        help_heading = "Exploration"
    )]
    pub buffer_bound: Option<u32>,
    /// Equivalence: which executions are explored once: trace, reads-from [default: trace]
    #[arg(long, value_name = "KIND", help_heading = "Exploration")]
    pub equivalence: Option<Equivalence>,
    /// How spin loops are handled: full, in-place, stale, off [default: full]
    #[arg(long, value_name = "LEVEL", help_heading = "Exploration")]
    pub r#await: Option<AwaitLevel>,
    /// Explore commuting updates in one order only: on, off [default: on]
    #[arg(long, value_name = "SWITCH", help_heading = "Exploration")]
    pub commute: Option<Switch>,
    /// Explore identical threads in one order only: on, off [default: on]
    #[arg(long, value_name = "SWITCH", help_heading = "Exploration")]
    pub symmetry: Option<Switch>,
    /// Bound for loops that do not end by themselves: after N iterations, the test is incomplete
    #[arg(
        long,
        value_name = "N",
        value_parser = at_least_one::<NonZeroU32>,
        allow_negative_numbers = true,
        help_heading = "Exploration"
    )]
    pub unroll: Option<NonZeroU32>,
    /// Let `compare_exchange_weak` fail spuriously
    #[arg(long, help_heading = "Exploration")]
    pub spurious: bool,
    /// Number of exploring threads [default: all cores]
    #[arg(
        long,
        value_name = "N",
        value_parser = workers,
        allow_negative_numbers = true,
        help_heading = "Exploration"
    )]
    pub workers: Option<NonZeroUsize>,
    /// Stop a test after N executions: it is incomplete
    #[arg(
        long,
        value_name = "N",
        value_parser = at_least_one::<NonZeroU64>,
        allow_negative_numbers = true,
        help_heading = "Exploration"
    )]
    pub max_executions: Option<NonZeroU64>,
    /// Stop a test after this many seconds: it is incomplete
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = seconds,
        allow_negative_numbers = true,
        help_heading = "Exploration"
    )]
    pub timeout: Option<Duration>,
    /// Stop a test when the process uses this much memory, such as 4G: it is incomplete [default: 3/4 of what is free]
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = memory::parse,
        allow_negative_numbers = true,
        help_heading = "Exploration"
    )]
    pub max_memory: Option<u64>,
    /// Stop an execution after N jumps and calls: the test is incomplete [default: 500 million]
    #[arg(
        long,
        value_name = "N",
        value_parser = at_least_one::<NonZeroU64>,
        allow_negative_numbers = true,
        help_heading = "Exploration"
    )]
    pub max_steps: Option<NonZeroU64>,
    /// Run N random executions instead of all
    #[arg(
        long,
        value_name = "N",
        value_parser = at_least_one::<NonZeroU64>,
        allow_negative_numbers = true,
        help_heading = "Exploration"
    )]
    pub sample: Option<NonZeroU64>,
    /// Where random executions begin [default: another one each time]
    #[arg(long, value_name = "S", requires = "sample", help_heading = "Exploration")]
    pub seed: Option<u64>,
    /// Show an execution that reaches this label of `dpor::cover!`
    #[arg(long, value_name = "LABEL", help_heading = "Exploration")]
    pub show_cover: Option<String>,
    /// Continue after an error, and report each distinct one
    #[arg(long, help_heading = "Exploration")]
    pub keep_going: bool,
    /// Accept errors of a kind, or those that have the pattern in the name of an active function or in their place
    #[arg(long, value_name = "KIND[=PATTERN]", help_heading = "Exploration")]
    pub allow: Vec<Allowed>,
    /// Accept memory leaks: the same as `--allow memory-leak`
    #[arg(long, help_heading = "Exploration")]
    pub allow_leaks: bool,
}

fn at_least_one<T: FromStr>(text: &str) -> Result<T, &'static str> {
    text.parse().map_err(|_| "it must be a whole number, and at least 1")
}

/// More threads than this are of no use to anybody.
const MAX_WORKERS: usize = 1024;

fn workers(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok().filter(|number: &NonZeroUsize| number.get() <= MAX_WORKERS);
    number.ok_or_else(|| format!("it must be a whole number, at least 1 and at most {MAX_WORKERS}"))
}

fn at_least_zero(text: &str) -> Result<u32, &'static str> {
    text.parse().map_err(|_| "it must be a whole number, and at least 0")
}

fn seconds(text: &str) -> Result<Duration, &'static str> {
    const WRONG: &str = "it must be a number of seconds greater than 0, such as 60 or 0.5";
    let seconds: f64 = text.parse().map_err(|_| WRONG)?;
    Duration::try_from_secs_f64(seconds).ok().filter(|duration| !duration.is_zero()).ok_or(WRONG)
}

/// Which tests of the selected targets are run.
#[derive(Debug, Default, Args)]
pub struct Filter {
    /// Run only tests whose name contains one of these
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// Match the filters against full names
    #[arg(long)]
    pub exact: bool,
    /// Skip tests whose name contains this
    #[arg(long, value_name = "FILTER")]
    pub skip: Vec<String>,
    /// List the tests without running them
    #[arg(long)]
    pub list: bool,
    /// Run only the ignored tests
    #[arg(long, conflicts_with = "include_ignored")]
    pub ignored: bool,
    /// Run the ignored tests as well
    #[arg(long)]
    pub include_ignored: bool,
    /// Run one part of the tests: count:M/N or hash:M/N
    #[arg(long, value_name = "PART")]
    pub partition: Option<Partition>,
}

/// What is done where no test is selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum NoTests {
    /// Nothing: the check is good.
    Pass,
    /// It is said so, and the check is good.
    Warn,
    /// It is an error.
    #[default]
    Fail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Human,
    Json,
    Junit,
    Github,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    Auto,
    Always,
    Never,
}

/// What cargo is asked to build, as in `cargo test`.
#[derive(Clone, Debug, Default, Args)]
pub struct CargoArgs {
    /// Print less of cargo's progress
    #[arg(short, long, help_heading = "Cargo")]
    pub quiet: bool,
    /// Print more of what cargo does (-vv: also the output of build scripts)
    #[arg(short, long, action = clap::ArgAction::Count, help_heading = "Cargo")]
    pub verbose: u8,

    /// Check every `#[test]`, not only each `#[dpor::test]`
    #[arg(long)]
    pub all_tests: bool,

    /// Check the tests of this package
    #[arg(short, long, value_name = "SPEC", help_heading = "Package selection")]
    pub package: Vec<String>,
    /// Check the tests of all packages in the workspace
    #[arg(long, alias = "all", help_heading = "Package selection")]
    pub workspace: bool,
    /// Exclude this package
    #[arg(long, value_name = "SPEC", requires = "workspace", help_heading = "Package selection")]
    pub exclude: Vec<String>,

    /// Check only the library's unit tests
    #[arg(long, help_heading = "Target selection")]
    pub lib: bool,
    /// Check all binaries
    #[arg(long, help_heading = "Target selection")]
    pub bins: bool,
    /// Check only this binary
    #[arg(long, value_name = "NAME", help_heading = "Target selection")]
    pub bin: Vec<String>,
    /// Check all examples
    #[arg(long, help_heading = "Target selection")]
    pub examples: bool,
    /// Check only this example
    #[arg(long, value_name = "NAME", help_heading = "Target selection")]
    pub example: Vec<String>,
    /// Check all targets that have `test = true` set (the default)
    #[arg(long, help_heading = "Target selection")]
    pub tests: bool,
    /// Check only this integration test
    #[arg(long, value_name = "NAME", help_heading = "Target selection")]
    pub test: Vec<String>,
    /// Check all targets
    #[arg(long, help_heading = "Target selection")]
    pub all_targets: bool,

    /// Features to activate, separated by commas or spaces
    #[arg(short = 'F', long, value_name = "FEATURES", help_heading = "Feature selection")]
    pub features: Vec<String>,
    /// Activate all features
    #[arg(long, help_heading = "Feature selection")]
    pub all_features: bool,
    /// Do not activate the `default` feature
    #[arg(long, help_heading = "Feature selection")]
    pub no_default_features: bool,

    /// Use the settings of the `release` profile: no debug assertions, no overflow checks
    #[arg(short, long, conflicts_with = "profile", help_heading = "Compilation")]
    pub release: bool,
    /// Use the settings of this profile
    #[arg(long, value_name = "NAME", help_heading = "Compilation")]
    pub profile: Option<String>,
    /// How many jobs cargo runs at a time
    #[arg(short, long, value_name = "N", help_heading = "Compilation")]
    pub jobs: Option<String>,
    /// Directory for all generated artifacts; cargo-dpor uses its subdirectory `dpor`
    #[arg(long, value_name = "DIRECTORY", help_heading = "Compilation")]
    pub target_dir: Option<PathBuf>,

    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH", help_heading = "Manifest")]
    pub manifest_path: Option<PathBuf>,
    /// Override a configuration value
    #[arg(long, value_name = "KEY=VALUE|PATH", help_heading = "Manifest")]
    pub config: Vec<String>,
    /// Assert that `Cargo.lock` will remain unchanged
    #[arg(long, help_heading = "Manifest")]
    pub locked: bool,
    /// Run without accessing the network
    #[arg(long, help_heading = "Manifest")]
    pub offline: bool,
    /// Equivalent to both --locked and --offline
    #[arg(long, help_heading = "Manifest")]
    pub frozen: bool,
}

/// The arguments without the `dpor` that cargo puts before them.
pub fn without_subcommand_name(args: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    args.enumerate().filter(|(index, arg)| *index != 1 || arg != "dpor").map(|(_, arg)| arg)
}

impl TestArgs {
    /// Rejects command lines that clap accepts but that cannot be meant.
    pub fn validate(&self) -> Result<()> {
        if let Some(option) = self.filter.filters.iter().find(|filter| filter.starts_with('-')) {
            bail!(
                "`{option}` after `--` is a filter here, and no test has such a name\n\nOptions of cargo dpor need no `--` before them: cargo dpor test {option}"
            );
        }
        Ok(())
    }
}

impl CargoArgs {
    /// The arguments that choose packages, targets, features and the profile.
    pub fn selection(&self) -> Vec<OsString> {
        let mut list = List::default();
        list.values("--package", &self.package);
        list.flag("--workspace", self.workspace);
        list.values("--exclude", &self.exclude);
        list.flag("--lib", self.lib);
        list.flag("--bins", self.bins);
        list.values("--bin", &self.bin);
        list.flag("--examples", self.examples);
        list.values("--example", &self.example);
        list.flag("--tests", self.tests || !self.selects_targets());
        list.values("--test", &self.test);
        list.flag("--all-targets", self.all_targets);
        list.values("--features", &self.features);
        list.flag("--all-features", self.all_features);
        list.flag("--no-default-features", self.no_default_features);
        list.values("--jobs", self.jobs.as_slice());
        list.arguments
    }

    /// The settings of the profile `test`, which alone makes `cargo check` compile tests: where another profile is
    /// wanted, it takes its settings from there.
    pub fn profile(&self) -> Vec<OsString> {
        let settings = if self.release { Some("release") } else { self.profile.as_deref() };
        let mut list = List::default();
        list.values("--profile", &["test"]);
        if let Some(name) = settings.filter(|name| *name != "test") {
            list.values("--config", &[format!("profile.test.inherits={name:?}")]);
        }
        list.arguments
    }

    /// The arguments that say where the manifest is and how cargo treats it.
    pub fn manifest(&self) -> Vec<OsString> {
        let mut list = List::default();
        if let Some(path) = &self.manifest_path {
            list.arguments.extend(["--manifest-path".into(), path.into()]);
        }
        list.values("--config", &self.config);
        list.flag("--locked", self.locked);
        list.flag("--offline", self.offline);
        list.flag("--frozen", self.frozen);
        list.arguments
    }

    /// The arguments that say how much cargo prints.
    pub fn verbosity(&self) -> Vec<OsString> {
        let mut list = List::default();
        list.flag("--quiet", self.quiet);
        for _ in 0..self.verbose {
            list.flag("--verbose", true);
        }
        list.arguments
    }

    fn selects_targets(&self) -> bool {
        let lists = [&self.bin, &self.example, &self.test];
        let flags = [self.lib, self.bins, self.examples, self.tests, self.all_targets];
        flags.contains(&true) || lists.iter().any(|list| !list.is_empty())
    }
}

#[derive(Default)]
struct List {
    arguments: Vec<OsString>,
}

impl List {
    fn flag(&mut self, name: &str, set: bool) {
        if set {
            self.arguments.push(name.into());
        }
    }

    fn values(&mut self, name: &str, values: &[impl AsRef<str>]) {
        for value in values {
            self.arguments.extend([OsString::from(name), OsString::from(value.as_ref())]);
        }
    }
}

#[cfg(test)]
pub mod tests {
    use clap::CommandFactory;

    use super::*;

    pub fn parse(line: &str) -> Box<TestArgs> {
        let words = line.split_whitespace().map(OsString::from);
        match Cli::parse_from(without_subcommand_name(words)).command {
            Command::Test(args) => args,
            _ => panic!("`{line}` is not a test command"),
        }
    }

    fn selection(line: &str) -> String {
        let args = parse(line).cargo.selection();
        args.join(" ".as_ref()).into_string().unwrap()
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// It is written by hand, so that all of it can be seen at once.
    #[test]
    fn the_help_names_every_option_and_fits_on_a_screen() {
        let help = include_str!("help/test.txt");
        let command = Cli::command();
        let test = command.find_subcommand("test").unwrap();
        for option in test.get_arguments().filter_map(|argument| argument.get_long()) {
            assert!(help.contains(&format!("--{option}")), "--{option} is missing");
        }
        assert!(help.lines().count() <= 48, "{} lines", help.lines().count());
        let wide: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{wide:?}");
    }

    #[test]
    fn cargo_puts_the_name_of_the_subcommand_first() {
        assert_eq!(parse("cargo-dpor dpor test a dpor").filter.filters, ["a", "dpor"]);
        assert_eq!(parse("cargo-dpor test dpor").filter.filters, ["dpor"]);
    }

    #[test]
    fn all_targets_with_tests_are_the_default() {
        assert_eq!(selection("cargo-dpor test"), "--tests");
        assert_eq!(selection("cargo-dpor test -p a -p b --lib --test x"), "--package a --package b --lib --test x");
    }

    #[test]
    fn other_profiles_lend_their_settings() {
        let profile = |line: &str| parse(line).cargo.profile().join(" ".as_ref()).into_string().unwrap();
        assert_eq!(profile("cargo-dpor test"), "--profile test");
        assert_eq!(profile("cargo-dpor test -r"), "--profile test --config profile.test.inherits=\"release\"");
        assert_eq!(profile("cargo-dpor test --profile x"), "--profile test --config profile.test.inherits=\"x\"");
    }

    #[test]
    fn bad_values_are_refused_with_advice() {
        let error = |line: &str| {
            let words = line.split_whitespace().map(OsString::from);
            Cli::try_parse_from(without_subcommand_name(words)).unwrap_err().to_string()
        };
        for (line, advice) in [
            ("cargo-dpor test --model x86", "expected one of rc11, sc, tso, pso"),
            ("cargo-dpor test --workers 0", "at least 1"),
            ("cargo-dpor test --workers 1000000000", "at most 1024"),
            ("cargo-dpor test --max-executions none", "at least 1"),
            ("cargo-dpor test --max-steps 0", "at least 1"),
            ("cargo-dpor test --timeout -1", "greater than 0"),
            ("cargo-dpor test --workers -1", "at least 1"),
            ("cargo-dpor test --timeout 0", "greater than 0"),
            ("cargo-dpor test --timeout soon", "greater than 0"),
            ("cargo-dpor test --buffer-bound many", "--buffer-bound"),
        ] {
            assert!(error(line).contains(advice), "{line}: {}", error(line));
        }
        assert_eq!(parse("cargo-dpor test --timeout 0.5").explore.timeout, Some(Duration::from_millis(500)));
    }

    #[test]
    fn an_option_of_the_test_harness_is_refused_with_advice() {
        let error = parse("cargo-dpor test -- --nocapture").validate().unwrap_err().to_string();
        assert!(error.contains("cargo dpor test --nocapture"), "{error}");
    }
}
