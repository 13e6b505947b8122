#[dpor::test]
fn type_error() {
    let number: u32 = "no";
}

#[dpor::test]
fn result() -> Result<(), std::num::ParseIntError> {
    "1".parse::<u8>()
}
