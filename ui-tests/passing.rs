mod inner {
    #[dpor::test]
    fn in_a_module() {
        assert!(dpor::checking());
    }
}

#[dpor::test]
fn adds() {
    assert_eq!(1 + 1, 2);
}

#[dpor::test]
fn returns_a_result() -> Result<(), std::num::ParseIntError> {
    assert_eq!("12".parse::<u8>()?, 12);
    Ok(())
}

#[dpor::test]
fn prints() {
    println!("not shown, as the test passes");
}
