//@ arguments: --max-memory 1M

//! A test that takes too much memory is incomplete, and the next one is checked.

#[dpor::test]
fn takes_too_much() {
    let mut number = 1u64;
    while number != 0 {
        number = number % 1000 + 1;
    }
}
