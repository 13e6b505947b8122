#[dpor::test(model)]
fn without_value() {}

#[dpor::test(unroll =)]
fn without_anything() {}

#[dpor::test(unroll(3))]
fn parenthesized() {}

#[dpor::test(unroll = 3 model = "sc")]
fn without_comma() {}
