#[dpor::test]
fn assertion() {
    let sum = 1 + 1;
    assert_eq!(sum, 3, "the sum of {} and {}", 1, 1);
}

#[dpor::test]
fn plain_message() {
    panic!("with a message");
}

fn first(numbers: &[u32]) -> u32 {
    *numbers.first().unwrap()
}

#[dpor::test]
fn in_a_function() {
    println!("looking for the first");
    eprintln!("of none");
    first(&[]);
}

#[dpor::test]
fn in_a_closure() {
    let total: u32 = [1u32, 2, 3].iter().map(|number| 10 / (number - 2)).sum();
    assert_eq!(total, 0);
}

#[dpor::test]
fn out_of_range() {
    let numbers = vec![1, 2, 3];
    let index = numbers.len();
    println!("{}", numbers[index]);
}

#[dpor::test]
fn result() -> Result<(), std::num::ParseIntError> {
    "x".parse::<u8>()?;
    Ok(())
}

#[dpor::test]
fn in_a_thread() {
    std::thread::spawn(|| assert!(1 > 2)).join().unwrap();
}
