//! What a manifest says about how tests are checked: the tables `[package.metadata.dpor]` and, for all packages of a
//! workspace, `[workspace.metadata.dpor]`. The command line wins over them, and the attribute of a test over that.

use std::fs;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use dpor_engine::check::Allowed;
use dpor_engine::explore::{AwaitLevel, Equivalence};
use dpor_engine::model::MemoryModel;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::memory;

/// What is said, and what is left open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Defaults {
    pub model: Option<Vec<MemoryModel>>,
    pub buffer_bound: Option<u32>,
    pub equivalence: Option<Equivalence>,
    pub awaiting: Option<AwaitLevel>,
    pub commute: Option<bool>,
    pub symmetry: Option<bool>,
    pub unroll: Option<u32>,
    pub spurious: Option<bool>,
    pub max_executions: Option<u64>,
    pub timeout: Option<Duration>,
    pub max_memory: Option<u64>,
    pub max_steps: Option<u64>,
    pub keep_going: Option<bool>,
    pub allow: Option<Vec<Allowed>>,
}

/// The table as it is written: the keys are the names of options.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Table {
    model: Option<Names>,
    buffer_bound: Option<u32>,
    equivalence: Option<String>,
    r#await: Option<String>,
    commute: Option<String>,
    symmetry: Option<String>,
    unroll: Option<NonZeroU32>,
    spurious: Option<bool>,
    max_executions: Option<NonZeroU64>,
    timeout: Option<f64>,
    max_memory: Option<String>,
    max_steps: Option<NonZeroU64>,
    keep_going: Option<bool>,
    allow: Option<Names>,
}

/// `"rc11,tso"` or `["rc11", "tso"]`
#[derive(Deserialize)]
#[serde(untagged, expecting = "neither a string nor a list of strings")]
enum Names {
    Text(String),
    List(Vec<String>),
}

impl Names {
    /// Each of them.
    fn list(self) -> Vec<String> {
        match self {
            Names::Text(text) => text.split(',').map(|name| name.trim().to_owned()).collect(),
            Names::List(list) => list,
        }
    }
}

impl Defaults {
    /// Reads the table `dpor` of the metadata of a package or a workspace, if there is one.
    pub fn read(metadata: &Value, name: &str, manifest: &Path) -> Result<Defaults> {
        let Some(table) = metadata.get("dpor") else { return Ok(Defaults::default()) };
        let place = || format!("[{name}.metadata.dpor] in {}", manifest.display());
        for (key, value) in table.as_object().into_iter().flatten() {
            check_key(key, value).with_context(|| {
                let line = line_of(&fs::read_to_string(manifest).unwrap_or_default(), name, key);
                line.map_or_else(place, |line| format!("{}, line {line}", place()))
            })?;
        }
        let table: Table = serde_json::from_value(table.clone()).with_context(place)?;
        table.check().with_context(place)
    }

    /// The same, and what the other says where this says nothing.
    pub fn or(self, other: Defaults) -> Defaults {
        Defaults {
            model: self.model.or(other.model),
            buffer_bound: self.buffer_bound.or(other.buffer_bound),
            equivalence: self.equivalence.or(other.equivalence),
            awaiting: self.awaiting.or(other.awaiting),
            commute: self.commute.or(other.commute),
            symmetry: self.symmetry.or(other.symmetry),
            unroll: self.unroll.or(other.unroll),
            spurious: self.spurious.or(other.spurious),
            max_executions: self.max_executions.or(other.max_executions),
            timeout: self.timeout.or(other.timeout),
            max_memory: self.max_memory.or(other.max_memory),
            max_steps: self.max_steps.or(other.max_steps),
            keep_going: self.keep_going.or(other.keep_going),
            allow: self.allow.or(other.allow),
        }
    }
}

/// What is allowed for each key.
const ALLOWED: [(&str, &str); 14] = [
    ("model", "names of memory models: rc11, sc, tso, pso"),
    ("buffer-bound", "a whole number, at least 0"),
    ("equivalence", "trace or reads-from"),
    ("await", "full, in-place, stale or off"),
    ("commute", "on or off"),
    ("symmetry", "on or off"),
    ("unroll", "a whole number, at least 1"),
    ("spurious", "true or false"),
    ("max-executions", "a whole number, at least 1"),
    ("timeout", "a number of seconds greater than 0"),
    ("max-memory", "a size such as 512M or 4G"),
    ("max-steps", "a whole number, at least 1"),
    ("keep-going", "true or false"),
    ("allow", "kinds of errors, as in \"memory-leak, data-race in seqlock::\""),
];

/// Refuses a value that is not allowed, and says what is. Numbers that are none (`nan`, `inf`) are null for cargo.
fn check_key(key: &str, value: &Value) -> Result<()> {
    let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == key) else { return Ok(()) };
    let table = serde_json::json!({ key: value });
    let checked = match value.is_null() {
        true => Err(anyhow!("not a number")),
        false => serde_json::from_value(table).map_err(anyhow::Error::from).and_then(|table: Table| table.check()),
    };
    checked.map(drop).with_context(|| format!("key `{key}`: expected {allowed}"))
}

/// The line where a manifest has a key of the table.
fn line_of(manifest: &str, name: &str, key: &str) -> Option<usize> {
    let header = format!("[{name}.metadata.dpor]");
    let mut lines = manifest.lines().enumerate().skip_while(|(_, line)| line.trim() != header).skip(1);
    let is_key = |line: &str| line.split('=').next().is_some_and(|before| before.trim().trim_matches('"') == key);
    let inside = lines.by_ref().take_while(|(_, line)| !line.trim_start().starts_with('['));
    inside.into_iter().find(|(_, line)| is_key(line)).map(|(index, _)| index + 1)
}

impl Table {
    fn check(self) -> Result<Defaults> {
        let model = self.model.map(Names::list);
        let parse = |names: Vec<String>| names.iter().map(|name| name.parse()).collect::<Result<Vec<_>, _>>();
        let model: Option<Vec<MemoryModel>> = model.map(parse).transpose().context("key `model`")?;
        ensure!(model.as_ref().is_none_or(|models| !models.is_empty()), "key `model`: names no model");
        let allow = |names: Vec<String>| names.iter().map(|name| name.parse()).collect::<Result<Vec<_>, _>>();
        let allow: Option<Vec<Allowed>> = self.allow.map(Names::list).map(allow).transpose().context("key `allow`")?;
        let equivalence = self.equivalence.map(|kind| kind.parse()).transpose().context("key `equivalence`")?;
        let awaiting = self.r#await.map(|level| level.parse()).transpose().context("key `await`")?;
        let commute = self.commute.map(|text| switch(&text)).transpose().context("key `commute`")?;
        let symmetry = self.symmetry.map(|text| switch(&text)).transpose().context("key `symmetry`")?;
        let timeout = self.timeout.map(Duration::try_from_secs_f64).transpose().ok().context("key `timeout`")?;
        ensure!(timeout.is_none_or(|timeout| !timeout.is_zero()), "key `timeout`: must be greater than 0");
        let max_memory = self.max_memory.as_deref().map(memory::parse).transpose();
        let max_memory = max_memory.map_err(|wrong| anyhow!("key `max-memory`: {wrong}"))?;
        Ok(Defaults {
            model,
            buffer_bound: self.buffer_bound,
            equivalence,
            awaiting,
            commute,
            symmetry,
            unroll: self.unroll.map(NonZeroU32::get),
            spurious: self.spurious,
            max_executions: self.max_executions.map(NonZeroU64::get),
            timeout,
            max_memory,
            max_steps: self.max_steps.map(NonZeroU64::get),
            keep_going: self.keep_going,
            allow,
        })
    }
}

/// Whether something is done: `on` or `off`.
fn switch(text: &str) -> Result<bool> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => bail!("unknown switch `{text}`: expected one of on, off"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::fuzz;

    fn read(table: Value) -> Result<Defaults> {
        Defaults::read(&json!({ "dpor": table, "other": 1 }), "package", "/x/Cargo.toml".as_ref())
    }

    #[test]
    fn keys_are_the_names_of_options() {
        let defaults = read(json!({
            "model": ["rc11", "tso"], "buffer-bound": 2, "equivalence": "reads-from", "await": "off",
            "commute": "off", "symmetry": "off", "unroll": 3, "spurious": true, "max-executions": 10, "timeout": 1.5, "max-memory": "1G", "max-steps": 1000, "keep-going": true,
            "allow": "memory-leak, data-race in seqlock::"
        }));
        let expected = Defaults {
            model: Some(vec![MemoryModel::Rc11, MemoryModel::Tso]),
            buffer_bound: Some(2),
            equivalence: Some(Equivalence::ReadsFrom),
            awaiting: Some(AwaitLevel::Off),
            commute: Some(false),
            symmetry: Some(false),
            unroll: Some(3),
            spurious: Some(true),
            max_executions: Some(10),
            timeout: Some(Duration::from_millis(1500)),
            max_memory: Some(1 << 30),
            max_steps: Some(1000),
            keep_going: Some(true),
            allow: Some(Allowed::list("memory-leak,data-race in seqlock::").unwrap()),
        };
        assert_eq!(defaults.unwrap(), expected);
        assert_eq!(read(json!({ "model": "sc, pso" })).unwrap().model, Some(vec![MemoryModel::Sc, MemoryModel::Pso]));
        assert_eq!(Defaults::read(&Value::Null, "package", "/x".as_ref()).unwrap(), Defaults::default());
    }

    #[test]
    fn unknown_keys_and_bad_values_are_errors_that_say_where() {
        for (table, reason) in [
            (json!({ "modle": "sc" }), "unknown field `modle`, expected one of `model`"),
            (json!({ "model": "x86" }), "expected one of rc11, sc, tso, pso"),
            (json!({ "model": [] }), "names no model"),
            (json!({ "equivalence": "some" }), "expected one of trace, reads-from"),
            (json!({ "await": "some" }), "expected one of full, in-place, stale, off"),
            (json!({ "symmetry": "some" }), "expected one of on, off"),
            (json!({ "unroll": 0 }), "nonzero"),
            (json!({ "allow": ["leak"] }), "`leak` names no errors"),
            (json!({ "timeout": -1.0 }), "key `timeout`"),
            (json!({ "max-memory": "lots" }), "such as 512M or 4G"),
            (json!({ "timeout": 0.0 }), "greater than 0"),
            (json!({ "spurious": "yes" }), "boolean"),
            (json!({ "spurious": "yes" }), "key `spurious`: expected true or false"),
            (json!({ "timeout": null }), "key `timeout`: expected a number of seconds greater than 0"),
            (json!({ "unroll": null }), "at least 1"),
            (
                json!({ "model": 3 }),
                "names of memory models: rc11, sc, tso, pso: neither a string nor a list of strings",
            ),
            (json!(3), "[package.metadata.dpor]"),
        ] {
            let error = format!("{:#}", read(table).unwrap_err());
            assert!(error.contains(reason) && error.contains("[package.metadata.dpor] in /x/Cargo.toml"), "{error}");
        }
    }

    #[test]
    fn the_line_of_a_key_is_known() {
        let manifest =
            "[package]\nunroll = 1\n[package.metadata.dpor]\nmodel = 'sc'\n\"unroll\" = 'x'\n[other]\nawait = 1\n";
        assert_eq!(line_of(manifest, "package", "unroll"), Some(5));
        assert_eq!(line_of(manifest, "package", "await"), None);
        assert_eq!(line_of(manifest, "workspace", "unroll"), None);
    }

    #[test]
    fn a_package_wins_over_its_workspace() {
        let package = read(json!({ "model": "sc" })).unwrap();
        let workspace = read(json!({ "model": "tso", "unroll": 2 })).unwrap();
        let both = package.or(workspace);
        assert_eq!((both.model, both.unroll), (Some(vec![MemoryModel::Sc]), Some(2)));
    }

    proptest! {
        #![proptest_config(fuzz::config())]

        /// What is allowed can be used; anything else is an error that names the table.
        #[test]
        fn tables_with_mistakes_are_read_or_refused(
            keys in prop::collection::vec((0..ALLOWED.len() + 1, fuzz::value()), 0..4),
            manifest in any::<String>(),
        ) {
            let name = |key: usize| ALLOWED.get(key).map_or("other", |(name, _)| name).to_owned();
            let table = keys.into_iter().map(|(key, value)| (name(key), value)).collect();
            match read(Value::Object(table)) {
                Ok(defaults) => prop_assert!(defaults.timeout.is_none_or(|timeout| timeout > Duration::ZERO)),
                Err(error) => {
                    let message = format!("{error:#}");
                    prop_assert!(message.contains("[package.metadata.dpor]"));
                }
            }
            let _ = line_of(&manifest, "package", "timeout");
        }

        #[test]
        fn anything_is_read_or_refused(table in fuzz::value()) {
            let _ = read(table);
        }
    }
}
