//@ arguments: --list --format json
//@ then: test --quiet --test list_json --list

mod module {
    #[dpor::test]
    fn one() {}
}

#[dpor::test]
#[ignore]
fn another() {}

#[test]
fn ordinary() {}
