//! Recursive algorithms.

use std::hint::black_box;

fn ackermann(m: u64, n: u64) -> u64 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

fn hanoi(n: u32, from: char, to: char, via: char, moves: &mut Vec<(char, char)>) {
    if n > 0 {
        hanoi(n - 1, from, via, to, moves);
        moves.push((from, to));
        hanoi(n - 1, via, to, from, moves);
    }
}

fn permutations<T: Clone>(items: &mut Vec<T>, k: usize, visit: &mut dyn FnMut(&[T])) {
    if k == items.len() {
        visit(items);
        return;
    }
    for i in k..items.len() {
        items.swap(k, i);
        permutations(items, k + 1, visit);
        items.swap(k, i);
    }
}

#[dpor::test]
fn classics() {
    println!("{} {} {}", ackermann(1, 5), ackermann(2, 3), ackermann(3, 3));
    let mut moves = Vec::new();
    hanoi(5, 'A', 'C', 'B', &mut moves);
    println!("{} moves: {:?}", moves.len(), &moves[..4]);
    let mut shown = 0;
    permutations(&mut vec!['a', 'b', 'c', 'd'], 0, &mut |order| {
        shown += 1;
        if shown % 5 == 0 {
            println!("{shown}: {}", order.iter().collect::<String>());
        }
    });
    fn is_even(n: u32) -> bool {
        n == 0 || is_odd(n - 1)
    }
    fn is_odd(n: u32) -> bool {
        n != 0 && is_even(n - 1)
    }
    println!("{} {}", is_even(100), is_odd(7));
}

fn queens(n: usize, row: usize, columns: &mut Vec<usize>, solutions: &mut Vec<Vec<usize>>) {
    if row == n {
        solutions.push(columns.clone());
        return;
    }
    for column in 0..n {
        let safe = columns.iter().enumerate().all(|(r, &c)| c != column && c.abs_diff(column) != row - r);
        if safe {
            columns.push(column);
            queens(n, row + 1, columns, solutions);
            columns.pop();
        }
    }
}

#[dpor::test]
fn eight_queens() {
    for n in 1..=6 {
        let mut solutions = Vec::new();
        queens(n, 0, &mut Vec::new(), &mut solutions);
        println!("{n}: {} solutions, first {:?}", solutions.len(), solutions.first());
    }
}

fn subsets<'a>(items: &'a [&'a str]) -> Vec<Vec<&'a str>> {
    match items {
        [] => vec![vec![]],
        [first, rest @ ..] => {
            let without = subsets(rest);
            let with = without.iter().map(|set| [&[*first][..], set].concat());
            without.iter().cloned().chain(with).collect()
        }
    }
}

fn flood(map: &mut [Vec<u8>], x: usize, y: usize) -> usize {
    if map[y][x] != b'.' {
        return 0;
    }
    map[y][x] = b'~';
    let mut size = 1;
    for (dx, dy) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
        if let (Some(nx), Some(ny)) = (x.checked_add_signed(dx), y.checked_add_signed(dy))
            && ny < map.len()
            && nx < map[ny].len()
        {
            size += flood(map, nx, ny);
        }
    }
    size
}

#[dpor::test]
fn subsets_and_floods() {
    println!("{:?}", subsets(&["x", "y", "z"]));
    let mut map: Vec<Vec<u8>> =
        ["..#...", ".##.#.", "..#.#.", "#...##"].iter().map(|line| line.bytes().collect()).collect();
    println!("{} {}", flood(&mut map, 0, 0), flood(&mut map, 5, 2));
    for line in &map {
        println!("{}", String::from_utf8_lossy(line));
    }
}

fn merge_sort<T: PartialOrd + Copy>(items: &[T]) -> Vec<T> {
    if items.len() < 2 {
        return items.to_vec();
    }
    let (left, right) = items.split_at(items.len() / 2);
    let (left, right) = (merge_sort(left), merge_sort(right));
    let (mut i, mut j) = (0, 0);
    let mut merged = Vec::with_capacity(items.len());
    while i < left.len() && j < right.len() {
        if left[i] <= right[j] {
            merged.push(left[i]);
            i += 1;
        } else {
            merged.push(right[j]);
            j += 1;
        }
    }
    merged.extend_from_slice(&left[i..]);
    merged.extend_from_slice(&right[j..]);
    merged
}

fn quick_sort<T: Ord>(items: &mut [T]) {
    if items.len() < 2 {
        return;
    }
    let last = items.len() - 1;
    let mut store = 0;
    for i in 0..last {
        if items[i] < items[last] {
            items.swap(i, store);
            store += 1;
        }
    }
    items.swap(store, last);
    let (left, right) = items.split_at_mut(store);
    quick_sort(left);
    quick_sort(&mut right[1..]);
}

#[dpor::test]
fn sorting_by_hand() {
    println!("{:?}", merge_sort(&[2.5, -1.0, 7.25, 0.0, 3.5]));
    let mut words: Vec<String> = "sphinx of black quartz judge my vow".split(' ').map(String::from).collect();
    quick_sort(&mut words);
    println!("{words:?}");
}

#[dpor::test]
fn calls_at_the_end_take_no_space() {
    fn sum(n: u64, so_far: u64) -> u64 {
        if n == 0 {
            return so_far;
        }
        become sum(n - 1, so_far + n)
    }
    fn swapped(n: u32, a: &str, b: &str) -> String {
        let digit = &n;
        if *digit == 0 {
            return format!("{a}{b}");
        }
        become swapped(n - 1, b, a)
    }
    fn counted(n: u64, mut counts: [u64; 8]) -> [u64; 8] {
        if n == 0 {
            return counts;
        }
        counts[n as usize % 8] += n;
        become counted(n - 1, counts)
    }
    println!("{:?}", counted(black_box(200_000), [0; 8]));
    println!("{} {} {}", sum(black_box(3_000_000), 0), swapped(3, "a", "b"), swapped(4, "a", "b"));
}
