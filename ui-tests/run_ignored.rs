//@ arguments: --ignored

#[dpor::test]
#[ignore]
fn is_run() {}

#[dpor::test]
fn is_not_run() {}
