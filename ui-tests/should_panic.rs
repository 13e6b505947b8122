#[dpor::test]
#[should_panic]
fn panics() {
    panic!("on purpose");
}

#[dpor::test]
#[should_panic(expected = "on purpose")]
fn panics_with_the_text() {
    panic!("this is on purpose");
}

#[dpor::test]
#[should_panic(expected = "on purpose")]
fn panics_with_another_text() {
    panic!("by mistake");
}

#[dpor::test]
#[should_panic]
fn does_not_panic() {}
