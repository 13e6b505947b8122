//@ arguments: --max-steps 1000000

#![allow(unconditional_recursion)]

#[dpor::test]
fn never_ends() {
    let mut number = 0u64;
    loop {
        number = number.wrapping_add(1);
        if number == 0 {
            break;
        }
    }
}

#[dpor::test]
fn recursion_without_end() {
    fn deeper(depth: u64) -> u64 {
        deeper(depth + 1) + 1
    }
    println!("{}", deeper(0));
}
