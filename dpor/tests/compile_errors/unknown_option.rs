#[dpor::test(modle = "sc")]
fn misspelt() {}

#[dpor::test(model = "sc", frobnicate, 3)]
fn several() {}
