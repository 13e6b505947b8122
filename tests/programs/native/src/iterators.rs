//! Iterators: adapters, consumers, and iterators of one's own.

use std::collections::BTreeMap;
use std::iter;

#[dpor::test]
fn chains() {
    let numbers = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5];
    let result: Vec<String> = numbers
        .iter()
        .skip(1)
        .filter(|n| *n % 2 == 1)
        .map(|n| n * n)
        .chain(100..103)
        .step_by(2)
        .enumerate()
        .map(|(i, n)| format!("{i}:{n}"))
        .collect();
    println!("{result:?}");
    println!("{:?}", numbers.iter().rev().skip_while(|n| **n != 9).take(4).collect::<Vec<_>>());
    println!("{:?}", numbers.iter().copied().take_while(|n| *n < 9).collect::<Vec<i32>>());
    println!("{:?}", numbers.iter().map_while(|n| u8::try_from(n - 1).ok()?.checked_sub(1)).collect::<Vec<_>>());
    println!("{:?}", (1..=3).cycle().take(8).collect::<Vec<_>>());
    println!("{:?}", numbers.iter().inspect(|n| print!("<{n}>")).position(|&n| n == 4));
}

#[dpor::test]
fn zip_and_flat_map() {
    let names = ["one", "two", "three"];
    for (name, n) in names.iter().zip(1u8..) {
        print!("{name}={n} ");
    }
    println!();
    let (short, long): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| name.len() < 4);
    println!("{short:?} {long:?}");
    let letters: String = names.iter().flat_map(|name| name.chars().rev()).collect();
    println!("{letters}");
    let nested = vec![Some(vec![1, 2]), None, Some(vec![]), Some(vec![3])];
    println!("{:?}", nested.into_iter().flatten().flatten().collect::<Vec<i32>>());
    let (evens, squares): (Vec<i32>, Vec<i32>) = (0..6).filter(|n| n % 2 == 0).map(|n| (n, n * n)).unzip();
    println!("{evens:?} {squares:?}");
}

#[dpor::test]
fn folds_and_scans() {
    let text = "a=1;b=22;c=333";
    let total = text.split(';').filter_map(|pair| pair.split_once('=')?.1.parse::<u32>().ok()).fold(0, |a, b| a + b);
    println!("{total}");
    let balance: Vec<i32> = [5, -3, 10, -20, 7]
        .iter()
        .scan(0, |sum, n| {
            *sum += n;
            (*sum > -10).then_some(*sum)
        })
        .collect();
    println!("{balance:?}");
    println!("{:?}", (1..=5).try_fold(1i8, |product, n| product.checked_mul(n * 2)));
    println!("{:?}", (1..=20u64).product::<u64>());
    println!("{:?}", ["x", "y", "z"].iter().rfold(String::new(), |text, s| text + s));
    println!("{:?}", (1..10).reduce(|a, b| a * 2 - b));
    let sum: Option<u32> = ["1", "2", "x"].iter().map(|s| s.parse::<u32>().ok()).sum();
    let list: Result<Vec<u32>, _> = ["1", "2", "3x"].iter().map(|s| s.parse::<u32>()).collect();
    println!("{sum:?} {list:?}");
}

#[dpor::test]
fn peekable_groups() {
    let mut runs = Vec::new();
    let mut letters = "aaabccddddde".chars().peekable();
    while let Some(letter) = letters.next() {
        let mut count = 1;
        while letters.next_if_eq(&letter).is_some() {
            count += 1;
        }
        runs.push((letter, count));
    }
    println!("{runs:?}");
    let mut digits = "123abc".chars().peekable();
    let number: String = iter::from_fn(|| digits.next_if(char::is_ascii_digit)).collect();
    println!("{number} then {:?}", digits.peek());
    println!("{:?}", digits.collect::<String>());
}

#[dpor::test]
fn windows_and_chunks() {
    let values = [1, 4, 9, 16, 25, 36, 49];
    println!("{:?}", values.windows(2).map(|w| w[1] - w[0]).collect::<Vec<_>>());
    println!("{:?}", values.chunks(3).map(|c| c.iter().sum::<i32>()).collect::<Vec<_>>());
    println!("{:?} {:?}", values.chunks_exact(2).rev().next(), values.chunks_exact(2).remainder());
    println!("{:?}", values.rchunks(4).collect::<Vec<_>>());
    println!("{:?}", values.split(|n| n % 3 == 0).collect::<Vec<_>>());
    println!("{:?}", values.as_chunks::<2>());
}

/// The Collatz sequence from a number down to one.
struct Collatz(u64);

impl Iterator for Collatz {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let current = self.0;
        self.0 = match current {
            0 => return None,
            1 => 0,
            n if n % 2 == 0 => n / 2,
            n => 3 * n + 1,
        };
        Some(current)
    }
}

/// Counts from both ends.
struct Both {
    low: i32,
    high: i32,
}

impl Iterator for Both {
    type Item = i32;

    fn next(&mut self) -> Option<i32> {
        (self.low < self.high).then(|| {
            self.low += 1;
            self.low - 1
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = (self.high - self.low).max(0) as usize;
        (len, Some(len))
    }
}

impl DoubleEndedIterator for Both {
    fn next_back(&mut self) -> Option<i32> {
        (self.low < self.high).then(|| {
            self.high -= 1;
            self.high
        })
    }
}

impl ExactSizeIterator for Both {}

#[dpor::test]
fn custom_iterators() {
    println!("{:?}", Collatz(27).take(12).collect::<Vec<_>>());
    println!("{} steps, peak {:?}", Collatz(27).count(), Collatz(27).max());
    let longest = (1..60).max_by_key(|n| Collatz(*n).count());
    println!("{longest:?}");
    let mut both = Both { low: 0, high: 7 };
    println!("{:?} {:?} {:?} {}", both.next(), both.next_back(), both.nth(1), both.len());
    println!("{:?}", both.rev().zip("xyz".chars()).collect::<BTreeMap<_, _>>());
}

fn evens(limit: u32) -> impl DoubleEndedIterator<Item = u32> + Clone {
    (0..limit).filter(|n| n % 2 == 0)
}

fn boxed(kind: &str) -> Box<dyn Iterator<Item = u32> + '_> {
    match kind {
        "evens" => Box::new(evens(9)),
        "empty" => Box::new(iter::empty()),
        text => Box::new(text.bytes().map(u32::from)),
    }
}

#[dpor::test]
fn opaque_and_boxed_iterators() {
    println!("{:?} {:?}", evens(10).collect::<Vec<_>>(), evens(10).rev().last());
    for kind in ["evens", "empty", "abc"] {
        println!("{kind}: {:?}, {:?}", boxed(kind).collect::<Vec<_>>(), boxed(kind).min());
    }
    let mut iters: Vec<Box<dyn Iterator<Item = u32>>> = vec![boxed("evens"), Box::new(iter::repeat_n(7, 2))];
    let merged: Vec<u32> = iter::from_fn(|| {
        let next = iters.iter_mut().find_map(|iter| iter.next());
        iters.rotate_left(1);
        next
    })
    .collect();
    println!("{merged:?}");
}

#[dpor::test]
fn generators_from_functions() {
    let mut state = (0u64, 1u64);
    let fibonacci = iter::from_fn(move || {
        state = (state.1, state.0.checked_add(state.1)?);
        Some(state.0)
    });
    println!("{:?}", fibonacci.skip(80).collect::<Vec<_>>());
    println!("{:?}", iter::successors(Some(1u16), |n| n.checked_mul(10)).collect::<Vec<_>>());
    println!("{:?}", iter::once(1).chain(iter::repeat_with(|| 2).take(2)).collect::<Vec<_>>());
}

#[dpor::test]
fn comparisons_of_sequences() {
    let a = [1.0, 2.0, f64::NAN];
    let b = [1.0, 2.0, 3.0];
    println!("{:?} {:?}", a.iter().partial_cmp(b.iter()), b.iter().partial_cmp(&b));
    println!("{} {}", a.iter().lt(b.iter()), [1, 2].iter().lt([1, 2, 0].iter()));
    println!("{} {}", [1, 2, 2, 9].is_sorted(), ["b", "a"].is_sorted());
    println!("{:?} {:?}", b.iter().copied().fold(f64::MIN, f64::max), b.iter().min_by(|x, y| x.total_cmp(y)));
    let words = ["pear", "fig", "apple", "kiwi"];
    println!("{:?} {:?}", words.iter().min_by_key(|w| w.len()), words.iter().max_by_key(|w| w.len()));
    println!("{} {}", words.iter().any(|w| w.contains("iw")), words.iter().all(|w| w.is_ascii()));
}
