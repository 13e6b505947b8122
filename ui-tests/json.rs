//@ arguments: --format json

mod inner {
    #[dpor::test]
    fn passes() {}
}

#[dpor::test(model = "tso", buffer_bound = 2, equivalence = "reads-from")]
fn fails() {
    println!("a line");
    panic!("a \"message\"");
}

#[dpor::test]
#[ignore]
fn is_ignored() {}
