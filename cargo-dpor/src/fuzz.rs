//! What others have written, with mistakes: for tests that read it. `DPOR_FUZZ_INPUTS` says how many inputs are tried
//! (`docs/testing.md`).

use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// How many inputs of each kind a run of the tests tries.
const INPUTS: u32 = 2_000;

pub fn config() -> ProptestConfig {
    let cases = std::env::var("DPOR_FUZZ_INPUTS").ok().and_then(|inputs| inputs.parse().ok()).unwrap_or(INPUTS);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Any JSON, with words that mean something somewhere.
pub fn value() -> impl Strategy<Value = Value> {
    let words = ["rc11", "tso", "reads-from", "off", "nan", "--config=x", "../..", "/", "a\u{1b}[2J", "", "😀\u{fffe}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        (-3i64..20).prop_map(Value::from),
        prop::sample::select(words.to_vec()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Object(Map::from_iter(map))),
        ]
    })
}

/// Replaces one of all the values that JSON is made of, or takes it away where there is none to replace it.
pub fn replace(json: &mut Value, at: usize, by: Option<Value>) {
    let at = at % count(json);
    replace_at(json, &mut { at }, &by);
}

fn count(json: &Value) -> usize {
    1 + match json {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

/// Whether it was there.
fn replace_at(json: &mut Value, left: &mut usize, by: &Option<Value>) -> bool {
    if *left == 0 {
        *json = by.clone().unwrap_or_default();
        return true;
    }
    *left -= 1;
    match json {
        Value::Array(items) => items.iter_mut().any(|item| replace_at(item, left, by)),
        Value::Object(map) => {
            let mut found = None;
            for (key, value) in map.iter_mut() {
                let here = *left == 0;
                if replace_at(value, left, by) {
                    found = Some((key.clone(), here));
                    break;
                }
            }
            if let (Some((key, true)), None) = (&found, by) {
                map.remove(key);
            }
            found.is_some()
        }
        _ => false,
    }
}
