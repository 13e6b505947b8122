#[dpor::test]
#[ignore]
fn without_reason() {
    panic!("not run");
}

#[dpor::test]
#[ignore = "takes too long"]
fn with_reason() {
    panic!("not run");
}

#[dpor::test]
#[cfg_attr(all(), ignore = "a condition holds")]
fn under_a_condition() {
    panic!("not run");
}

#[dpor::test]
fn is_run() {}
