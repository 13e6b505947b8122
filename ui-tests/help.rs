//@ arguments: --help
//@ then: --help
//@ then: replay --help
//@ then: setup --help
//@ then: explain --help
//@ then: litmus --help
//@ then:
//@ then: tset

#[dpor::test]
fn nothing() {}
