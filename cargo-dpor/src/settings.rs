//! How a test is checked: as its attribute says and, where that says nothing, as the command line does.

use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use dpor_engine::check::Allowed;
use dpor_engine::explore::{AwaitLevel, Config, Equivalence, Sampling};
use dpor_engine::model::MemoryModel;
use dpor_engine::program::TestConfig;
use dpor_engine::verdict::ErrorKind;
use serde::{Deserialize, Serialize};

use crate::args::{ExploreArgs, Switch};
use crate::defaults::Defaults;
use crate::memory;

/// How many jumps and calls an execution has at most, where nothing else is said.
const MAX_STEPS: u64 = 500_000_000;

/// How a test is checked under one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    pub model: MemoryModel,
    /// None without a bound, and under a model without buffers.
    pub buffer_bound: Option<u32>,
    pub equivalence: Equivalence,
    #[serde(rename = "await")]
    pub awaiting: AwaitLevel,
    pub spurious: bool,
    pub unroll: Option<u32>,
    pub max_steps: u64,
    /// The label at which an execution ends, to be shown.
    #[serde(skip)]
    pub show_cover: Option<String>,
    /// Errors that are accepted.
    #[serde(skip)]
    pub allow: Vec<Allowed>,
    // What follows says how much is explored, and does not matter to one execution.
    #[serde(skip)]
    pub commute: bool,
    #[serde(skip)]
    pub symmetry: bool,
    #[serde(skip)]
    pub max_executions: Option<u64>,
    #[serde(skip)]
    pub timeout: Option<Duration>,
    #[serde(skip)]
    pub max_memory: Option<u64>,
    #[serde(skip)]
    pub sampling: Option<Sampling>,
    #[serde(skip)]
    pub keep_going: bool,
    #[serde(skip)]
    pub workers: usize,
}

impl Settings {
    /// The settings for a test under each model that it is to be checked under.
    pub fn resolve(args: &ExploreArgs, defaults: &Defaults, config: &TestConfig) -> Result<Vec<Settings>> {
        let named = config.equivalence.as_deref().map(str::parse).transpose();
        let named = named.context("cannot read the option `equivalence` of a test")?;
        let equivalence = named.or(args.equivalence).or(defaults.equivalence).unwrap_or_default();
        let models = models(args, defaults, config)?;
        let allow = allowed(args, defaults, config)?;
        let under =
            |model| Settings { allow: allow.clone(), ..Settings::under(model, equivalence, args, defaults, config) };
        Ok(models.into_iter().map(under).collect())
    }

    fn under(
        model: MemoryModel,
        equivalence: Equivalence,
        args: &ExploreArgs,
        defaults: &Defaults,
        config: &TestConfig,
    ) -> Settings {
        let buffer_bound = config.buffer_bound.or(args.buffer_bound).or(defaults.buffer_bound);
        let spurious = config.spurious.unwrap_or(args.spurious || defaults.spurious.unwrap_or(false));
        let max_executions = args.max_executions.map(NonZero::get).or(defaults.max_executions);
        let max_steps = args.max_steps.map(NonZero::get).or(defaults.max_steps);
        Settings {
            model,
            buffer_bound: buffer_bound.filter(|_| model.has_buffers()),
            equivalence,
            awaiting: args.r#await.or(defaults.awaiting).unwrap_or(AwaitLevel::Full),
            commute: args.commute.map(Switch::is_on).or(defaults.commute).unwrap_or(true),
            symmetry: args.symmetry.map(Switch::is_on).or(defaults.symmetry).unwrap_or(true),
            spurious,
            allow: Vec::new(),
            unroll: config.unroll.or(args.unroll.map(NonZero::get)).or(defaults.unroll),
            max_executions: config.max_executions.or(max_executions),
            max_steps: max_steps.unwrap_or(MAX_STEPS),
            show_cover: args.show_cover.clone(),
            timeout: args.timeout.or(defaults.timeout),
            max_memory: args.max_memory.or(defaults.max_memory).or_else(memory::default_limit),
            sampling: args
                .sample
                .map(|samples| Sampling { samples: samples.get(), seed: args.seed.unwrap_or_else(seed) }),
            keep_going: args.keep_going || defaults.keep_going.unwrap_or(false),
            workers: workers(args),
        }
    }

    /// The same for the explorer.
    pub fn config(&self) -> Config {
        Config {
            buffer_bound: self.buffer_bound.map(|bound| bound as usize),
            max_executions: self.max_executions,
            timeout: self.timeout,
            max_memory: self.max_memory,
            sampling: self.sampling,
            keep_going: self.keep_going,
            workers: self.workers,
            awaiting: self.awaiting,
            equivalence: self.equivalence,
            commute: self.commute,
            symmetry: self.symmetry,
            ..Config::new(self.model)
        }
    }
}

/// A random seed, for runs without a given one.
fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(now.subsec_nanos() ^ now.as_secs() as u32)
}

/// The errors that are accepted: what the test, the command line and the manifest say adds up.
fn allowed(args: &ExploreArgs, defaults: &Defaults, config: &TestConfig) -> Result<Vec<Allowed>> {
    let named = config.allow.as_deref().map(Allowed::list).transpose();
    let mut allowed = named.context("cannot read the option `allow` of a test")?.unwrap_or_default();
    allowed.extend(args.allow.iter().cloned());
    allowed.extend(defaults.allow.iter().flatten().cloned());
    if args.allow_leaks {
        allowed.push(Allowed { kind: ErrorKind::MemoryLeak, pattern: None });
    }
    Ok(allowed)
}

/// How many threads explore.
pub fn workers(args: &ExploreArgs) -> usize {
    args.workers.or_else(|| available_parallelism().ok()).map_or(1, NonZero::get)
}

/// The models that a test is to be checked under, each once.
fn models(args: &ExploreArgs, defaults: &Defaults, config: &TestConfig) -> Result<Vec<MemoryModel>> {
    let named = match &config.model {
        None if !args.model.is_empty() => args.model.clone(),
        None => defaults.model.clone().unwrap_or_else(|| vec![MemoryModel::default()]),
        Some(names) => {
            let models = names.split(',').map(str::parse).collect::<Result<_, _>>();
            models.context("cannot read the option `model` of a test")?
        }
    };
    let mut models = Vec::new();
    for model in named {
        if !models.contains(&model) {
            models.push(model);
        }
    }
    Ok(models)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::tests::parse;

    fn resolve_with(line: &str, defaults: &Defaults, config: &str) -> Vec<Settings> {
        Settings::resolve(&parse(line).explore, defaults, &TestConfig::parse(config).unwrap()).unwrap()
    }

    fn resolve(line: &str, config: &str) -> Vec<Settings> {
        resolve_with(line, &Defaults::default(), config)
    }

    #[test]
    fn the_default_is_everything_under_rc11() {
        let settings = &resolve("cargo-dpor test", "")[0];
        assert_eq!((settings.model, settings.buffer_bound, settings.spurious), (MemoryModel::Rc11, None, false));
        assert_eq!((settings.max_executions, settings.timeout, settings.keep_going), (None, None, false));
        assert!(settings.workers >= 1);
    }

    #[test]
    fn the_command_line_decides_what_the_attribute_leaves_open() {
        let line = "cargo-dpor test --model sc,tso,sc --buffer-bound 3 --max-executions 9 --spurious --workers 2";
        let settings = resolve(line, "");
        assert_eq!(settings.iter().map(|s| s.model).collect::<Vec<_>>(), [MemoryModel::Sc, MemoryModel::Tso]);
        assert_eq!(settings.iter().map(|s| s.buffer_bound).collect::<Vec<_>>(), [None, Some(3)]);
        assert!(settings.iter().all(|s| s.spurious && s.max_executions == Some(9) && s.workers == 2));
    }

    #[test]
    fn the_manifest_decides_what_the_command_line_leaves_open() {
        let defaults = Defaults {
            model: Some(vec![MemoryModel::Tso]),
            buffer_bound: Some(4),
            max_steps: Some(7),
            keep_going: Some(true),
            ..Defaults::default()
        };
        let settings = &resolve_with("cargo-dpor test", &defaults, "")[0];
        assert_eq!((settings.model, settings.buffer_bound), (MemoryModel::Tso, Some(4)));
        assert_eq!((settings.max_steps, settings.keep_going), (7, true));
        let settings = &resolve_with("cargo-dpor test --model pso --max-steps 8", &defaults, "buffer_bound=1")[0];
        assert_eq!((settings.model, settings.buffer_bound, settings.max_steps), (MemoryModel::Pso, Some(1), 8));
    }

    #[test]
    fn what_is_allowed_adds_up() {
        let defaults = Defaults { allow: Some(Allowed::list("panic in parser::").unwrap()), ..Defaults::default() };
        let line = "cargo-dpor test --allow data-race=seqlock:: --allow-leaks";
        let allowed = &resolve_with(line, &defaults, "allow=deadlock")[0].allow;
        let names: Vec<String> = allowed.iter().map(Allowed::to_string).collect();
        assert_eq!(names, ["deadlock", "data-race in seqlock::", "panic in parser::", "memory-leak"]);
        assert!(resolve("cargo-dpor test", "")[0].allow.is_empty());
    }

    #[test]
    fn the_attribute_wins() {
        let line = "cargo-dpor test --model sc --buffer-bound 3 --max-executions 9 --spurious";
        let settings = resolve(line, "model=pso\nbuffer_bound=0\nmax_executions=5\nspurious=false");
        assert_eq!(settings.len(), 1);
        let Settings { model, buffer_bound, max_executions, spurious, .. } = settings[0];
        assert_eq!((model, buffer_bound, max_executions, spurious), (MemoryModel::Pso, Some(0), Some(5), false));
    }

    #[test]
    fn threads_that_are_alike_are_explored_in_one_order_unless_that_is_switched_off() {
        let commute = |line| resolve(line, "")[0].commute;
        assert!(commute("cargo-dpor test") && !commute("cargo-dpor test --commute off"));
        let symmetry = |line| resolve(line, "")[0].symmetry;
        assert!(symmetry("cargo-dpor test") && symmetry("cargo-dpor test --symmetry on"));
        assert!(!symmetry("cargo-dpor test --symmetry off"));
    }

    #[test]
    fn the_equivalence_is_that_of_the_attribute_or_of_the_command_line() {
        let equivalence = |line, config| resolve(line, config)[0].equivalence;
        assert_eq!(equivalence("cargo-dpor test", ""), Equivalence::Trace);
        assert_eq!(equivalence("cargo-dpor test --equivalence reads-from", ""), Equivalence::ReadsFrom);
        assert_eq!(equivalence("cargo-dpor test", "equivalence=reads-from"), Equivalence::ReadsFrom);
        assert_eq!(equivalence("cargo-dpor test --equivalence reads-from", "equivalence=trace"), Equivalence::Trace);
    }
}
