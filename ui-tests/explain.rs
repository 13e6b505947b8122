//@ arguments: --list
//@ then: explain
//@ then: explain data-race
//@ then: explain data race
//@ then: explain oops

#[dpor::test]
fn nothing() {}
