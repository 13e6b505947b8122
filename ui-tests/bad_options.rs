//@ arguments: --model x86
//@ then: test --model
//@ then: test --model rc11,
//@ then: test --buffer-bound -1
//@ then: test --workers 0
//@ then: test --max-executions 1e6
//@ then: test --timeout 0
//@ then: test --equivalence coherence
//@ then: replay

#[dpor::test]
fn is_not_run() {}
