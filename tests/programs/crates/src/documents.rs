//! serde_json: parse and print documents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const DOCUMENT: &str = r#"{
    "name": "Ünïcode \u00e9\n\"quoted\"",
    "version": 3,
    "ratio": -1.25e-3,
    "big": 18446744073709551615,
    "tags": ["a", "b", null, true],
    "nested": {"deep": {"deeper": [[], {}, [1, [2, [3]]]]}},
    "empty": ""
}"#;

#[dpor::test]
fn values() {
    let mut value: Value = serde_json::from_str(DOCUMENT).unwrap();
    println!("{value}");
    println!("{}", serde_json::to_string_pretty(&value).unwrap());
    println!("{} {:?}", value["nested"]["deep"]["deeper"][2][1][0], value.pointer("/tags/3"));
    value["tags"].as_array_mut().unwrap().push(json!({"x": [1.5, 2]}));
    value["version"] = 4.into();
    println!("{:?} {:?} {}", value["big"].as_u64(), value["ratio"].as_f64(), value["missing"]);
    let again: Value = serde_json::from_slice(&serde_json::to_vec(&value).unwrap()).unwrap();
    println!("{} {}", again == value, again["tags"]);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Order {
    order_id: u64,
    customer: Option<String>,
    #[serde(default)]
    items: Vec<Item>,
    status: Status,
    #[serde(flatten)]
    extra: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Item(String, u32, f32);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data")]
enum Status {
    New,
    Sent { days: i8 },
    Failed(String),
}

#[dpor::test]
fn derived_types() {
    let text = r#"{"orderId": 17, "items": [["bolt", 100, 0.25], ["nut", 90, 0.1]],
        "status": {"kind": "Sent", "data": {"days": -3}}, "note": "fragile", "weight": 12.5}"#;
    let order: Order = serde_json::from_str(text).unwrap();
    println!("{order:#?}");
    println!("{}", serde_json::to_string(&order).unwrap());
    for status in [Status::New, Status::Failed("lost".into())] {
        let text = serde_json::to_string(&Order { status, items: Vec::new(), ..order.clone() }).unwrap();
        println!("{text} {}", serde_json::from_str::<Order>(&text).is_ok());
    }
}

#[dpor::test]
fn errors() {
    for text in [r#"{"orderId": -1}"#, r#"{"orderId": 1}"#, "[1, 2", "{\"a\": tru}", "1 2", "\"\\x\"", ""] {
        let error = serde_json::from_str::<Order>(text).unwrap_err();
        println!("{text}: {error} ({:?})", error.classify());
    }
    println!("{:?}", serde_json::from_str::<Vec<u8>>("[1, 256]").map_err(|e| e.to_string()));
    println!("{:?}", serde_json::from_str::<(bool, char, [f64; 2])>(r#"[true, "é", [1e3, -0.0]]"#));
    println!("{:?}", serde_json::to_string(&f64::NAN));
    println!("{:?}", serde_json::to_value(BTreeMap::from([(1, 'x')])).unwrap());
}

#[dpor::test]
fn streams() {
    let stream = serde_json::Deserializer::from_str("1 [2, 3] {\"four\": 4} \"five\" nul").into_iter::<Value>();
    for value in stream {
        match value {
            Ok(value) => println!("{value}"),
            Err(error) => println!("error: {error}"),
        }
    }
}
