#[dpor::test(expect = "panic")]
fn panics() {
    panic!("on purpose");
}

#[dpor::test(expect = "memory-leak")]
fn leaks() {
    std::mem::forget(Box::new(1));
}

#[dpor::test(expect = "memory-leak")]
fn panics_where_a_leak_is_expected() {
    panic!("not a leak");
}

#[dpor::test(expect = "double-free")]
fn does_nothing() {}
