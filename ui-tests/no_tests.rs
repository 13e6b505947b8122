//@ arguments: --format json no_such_test
//@ then: test --quiet --test no_tests no_such_test --no-tests warn
//@ then: test --quiet --test no_tests no_such_test --no-tests pass
//@ then: test --quiet --test no_tests --partition count:2/2
//@ then: test --quiet --test no_tests --partition count:3/2

//! A filter that matches no test is an error.

#[dpor::test]
fn a() {}

#[dpor::test]
fn b() {}
