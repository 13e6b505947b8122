#[dpor::test(unroll = 1, unroll = 2)]
fn option() {}

#[dpor::test]
#[test]
fn attribute() {}
