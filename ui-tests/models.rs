#[dpor::test(model = "sc")]
fn one() {}

#[dpor::test(model = "tso, pso")]
fn several() {}

#[dpor::test(model = "tso, pso")]
#[ignore]
fn ignored() {}
