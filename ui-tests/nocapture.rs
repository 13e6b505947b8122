//@ arguments: --nocapture

#[dpor::test]
fn prints() {
    println!("shown, though the test passes");
    print!("without a newline");
}

#[dpor::test]
fn silent() {}
