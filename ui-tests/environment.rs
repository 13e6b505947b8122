//@ arguments: --nocapture

use std::collections::HashMap;
use std::env;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

#[dpor::test]
fn variables_are_as_set() {
    assert_eq!(env::var("CARGO_PKG_NAME").unwrap(), "ui");
    assert!(env::var("CARGO_MANIFEST_DIR").unwrap().ends_with("ui"));
    assert!(env::var("NO_SUCH_VARIABLE").is_err());
    assert!(env::var("RUST_BACKTRACE").is_err());
}

#[dpor::test]
fn hash_maps_have_the_same_order_every_time() {
    let map: HashMap<u32, ()> = (0..8).map(|key| (key, ())).collect();
    println!("{:?}", map.keys().collect::<Vec<_>>());
}

#[dpor::test]
fn time_advances() {
    let (instant, time) = (Instant::now(), SystemTime::now());
    thread::sleep(Duration::from_secs(3600));
    assert!(instant.elapsed() >= Duration::from_secs(3600));
    assert!(time.elapsed().unwrap() >= Duration::from_secs(3600));
}

#[dpor::test]
fn there_are_several_processors() {
    println!("{}", thread::available_parallelism().unwrap());
}

#[dpor::test]
fn choices_and_assumptions() {
    println!("{}", dpor::choose(3));
    dpor::assume(false);
    println!("not reached");
}
