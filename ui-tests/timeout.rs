//@ arguments: --timeout 0.2

//! A test that takes too long is incomplete.

#[dpor::test]
fn takes_for_ever() {
    println!("begins");
    let mut number = 1u64;
    while number != 0 {
        number = number % 1000 + 1;
    }
}

#[dpor::test]
fn is_quick() {}
