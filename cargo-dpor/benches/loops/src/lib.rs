//! Loops that measure the speed of an interpreter. Each runs as many iterations as the environment variable `ROUNDS`
//! says, so that the cost of an iteration is the difference between two runs.

#![cfg(test)]

use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;

fn rounds() -> u64 {
    std::env::var("ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1)
}

/// Additions, multiplications, shifts and branches on integers.
#[dpor::test]
fn arithmetic() {
    let mut x: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut i = 0;
    let end = rounds() * 1000;
    while i < end {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(i);
        x ^= x >> 29;
        if x & 1 == 0 {
            x = x.rotate_left(7);
        }
        i += 1;
    }
    black_box(x);
}

/// A recursive function.
#[dpor::test]
fn calls() {
    fn fibonacci(n: u32) -> u64 {
        if n < 2 { u64::from(n) } else { fibonacci(n - 1) + fibonacci(n - 2) }
    }
    for _ in 0..rounds() {
        black_box(fibonacci(black_box(12)));
    }
}

/// Reads and writes of an array through indices: sieves, and sums it up.
#[dpor::test]
fn memory() {
    let mut sieve = vec![0u8; 400];
    for _ in 0..rounds() {
        sieve.fill(0);
        let mut i = 2;
        while i < sieve.len() {
            if sieve[i] == 0 {
                let mut j = i * i;
                while j < sieve.len() {
                    sieve[j] = 1;
                    j += i;
                }
            }
            i += 1;
        }
        let mut sum = 0u64;
        let mut k = 0;
        while k < sieve.len() {
            sum += u64::from(sieve[k]);
            k += 1;
        }
        black_box(sum);
    }
}

/// Vectors, hash maps, B-trees, strings, sorting.
#[dpor::test]
fn collections() {
    for round in 0..rounds() {
        let mut numbers: Vec<u64> = (0..40).map(|i| (i * 7919 + round) % 101).collect();
        numbers.sort();
        let mut counts = HashMap::new();
        let mut tree = BTreeMap::new();
        for n in &numbers {
            *counts.entry(n % 10).or_insert(0u32) += 1;
            tree.insert(*n, round);
        }
        let text: String = tree.keys().take(10).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        black_box((counts.len(), text.len()));
    }
}
