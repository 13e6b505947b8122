#[dpor::test(model = "arm")]
fn model() {}

#[dpor::test(model = "sc,x86")]
fn models() {}

#[dpor::test(buffer_bound = "2")]
fn buffer_bound() {}

#[dpor::test(buffer_bound = -1)]
fn negative() {}

#[dpor::test(equivalence = "co")]
fn equivalence() {}

#[dpor::test(expect = "race")]
fn expect() {}

#[dpor::test(unroll = 0)]
fn unroll() {}

#[dpor::test(max_executions = 1e6)]
fn max_executions() {}

#[dpor::test(spurious = "yes")]
fn spurious() {}

#[dpor::test(allow = "race")]
fn allow() {}
