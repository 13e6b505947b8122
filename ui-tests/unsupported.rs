extern "C" {
    fn frobnicate(number: i32) -> i32;
}

fn through_a_function() -> i32 {
    unsafe { frobnicate(1) }
}

#[dpor::test]
fn foreign_function() {
    assert_eq!(through_a_function(), 1);
}

#[dpor::test]
fn file() {
    let text = std::fs::read_to_string("Cargo.toml").unwrap();
    println!("{text}");
}

#[dpor::test]
fn inline_assembly() {
    unsafe { std::arch::asm!("rdtscp", out("eax") _, out("edx") _, out("ecx") _) };
}

#[dpor::test]
fn unsupported_but_not_reached() {
    if !dpor::checking() {
        through_a_function();
    }
}
