//@ arguments: --list --skip skipped

mod inner {
    #[dpor::test]
    fn b() {}
}

#[dpor::test]
fn a() {}

#[dpor::test]
#[ignore]
fn ignored() {}

#[dpor::test]
fn skipped() {}
