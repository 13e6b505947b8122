//! Small complete algorithms.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, VecDeque};

const ROUND_CONSTANTS: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
];

fn sha256(message: &[u8]) -> [u8; 32] {
    let mut state: [u32; 8] =
        [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    padded.extend_from_slice(&(8 * message.len() as u64).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut w = [0u32; 64];
        for (word, bytes) in w.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_be_bytes(bytes.try_into().unwrap());
        }
        for i in 16..64 {
            let s0 = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ (w[i - 15] >> 3);
            let s1 = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ (w[i - 2] >> 10);
            w[i] = w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for i in 0..64 {
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = (e & f) ^ (!e & g);
            let t1 = h.wrapping_add(s1).wrapping_add(choice).wrapping_add(ROUND_CONSTANTS[i]).wrapping_add(w[i]);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let majority = (a & b) ^ (a & c) ^ (b & c);
            (h, g, f, e, d, c, b, a) =
                (g, f, e, d.wrapping_add(t1), c, b, a, t1.wrapping_add(s0.wrapping_add(majority)));
        }
        for (word, add) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *word = word.wrapping_add(add);
        }
    }
    let mut digest = [0; 32];
    for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

#[dpor::test]
fn sha256_digests() {
    for message in ["", "abc", "The quick brown fox jumps over the lazy dog", &"x".repeat(120)] {
        let digest: String = sha256(message.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        println!("{digest}");
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn encode(data: &[u8]) -> String {
    let mut text = String::new();
    for chunk in data.chunks(3) {
        let bits = chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let letter = ALPHABET[(bits >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= chunk.len() { letter.into() } else { '=' });
        }
    }
    text
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let mut bits = 0;
        for letter in group {
            bits = bits << 6 | ALPHABET.iter().position(|a| a == letter)? as u32;
        }
        bits <<= 6 * (4 - group.len());
        data.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(data)
}

#[dpor::test]
fn base64() {
    for text in ["", "M", "Ma", "Man", "light work.", "π ≈ 3.14"] {
        let encoded = encode(text.as_bytes());
        println!("{text:?} {encoded} {}", decode(&encoded).as_deref() == Some(text.as_bytes()));
    }
    println!("{:?}", decode("a*b="));
}

/// A natural number in base a billion, lowest digits first.
#[derive(Clone, PartialEq)]
struct Big(Vec<u32>);

impl Big {
    const BASE: u64 = 1_000_000_000;

    fn times(&mut self, factor: u32) {
        let mut carry = 0;
        for digit in &mut self.0 {
            let product = u64::from(*digit) * u64::from(factor) + carry;
            *digit = (product % Self::BASE) as u32;
            carry = product / Self::BASE;
        }
        while carry > 0 {
            self.0.push((carry % Self::BASE) as u32);
            carry /= Self::BASE;
        }
    }

    fn plus(&self, other: &Big) -> Big {
        let mut digits = Vec::new();
        let mut carry = 0;
        for i in 0..self.0.len().max(other.0.len()) {
            let sum = self.0.get(i).unwrap_or(&0) + other.0.get(i).unwrap_or(&0) + carry;
            digits.push(sum % Self::BASE as u32);
            carry = sum / Self::BASE as u32;
        }
        if carry > 0 {
            digits.push(carry);
        }
        Big(digits)
    }
}

impl std::fmt::Display for Big {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (last, rest) = self.0.split_last().expect("at least one digit");
        write!(f, "{last}")?;
        rest.iter().rev().try_for_each(|digit| write!(f, "{digit:09}"))
    }
}

#[dpor::test]
fn big_numbers() {
    let mut factorial = Big(vec![1]);
    for n in 1..=60 {
        factorial.times(n);
    }
    println!("60! = {factorial}");
    let (mut a, mut b) = (Big(vec![0]), Big(vec![1]));
    for _ in 0..200 {
        (a, b) = (b.clone(), a.plus(&b));
    }
    println!("fib(200) = {a}");
    println!("{:>40}|", factorial.to_string().chars().rev().take_while(|c| *c == '0').count());
}

#[dpor::test]
fn game_of_life() {
    let mut alive: BTreeSet<(i32, i32)> = [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)].into();
    for generation in 0..5 {
        println!("generation {generation}");
        for y in 0..5 {
            let line: String = (0..5).map(|x| if alive.contains(&(x, y)) { '#' } else { '.' }).collect();
            println!("  {line}");
        }
        let mut neighbours: BTreeMap<(i32, i32), u32> = BTreeMap::new();
        for &(x, y) in &alive {
            for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))).filter(|d| *d != (0, 0)) {
                *neighbours.entry((x + dx, y + dy)).or_default() += 1;
            }
        }
        alive = neighbours
            .into_iter()
            .filter(|(cell, n)| *n == 3 || *n == 2 && alive.contains(cell))
            .map(|(cell, _)| cell)
            .collect();
    }
}

#[dpor::test]
fn shortest_paths() {
    let roads =
        [("a", "b", 7), ("a", "c", 3), ("c", "b", 1), ("b", "d", 2), ("c", "d", 8), ("d", "e", 2), ("f", "a", 1)];
    let mut graph: HashMap<&str, Vec<(&str, u32)>> = HashMap::new();
    for (from, to, length) in roads {
        graph.entry(from).or_default().push((to, length));
    }
    let mut distance: BTreeMap<&str, (u32, Option<&str>)> = BTreeMap::from([("a", (0, None))]);
    let mut queue = BinaryHeap::from([Reverse((0, "a"))]);
    while let Some(Reverse((length, node))) = queue.pop() {
        if distance[node].0 < length {
            continue;
        }
        for &(next, step) in graph.get(node).into_iter().flatten() {
            let candidate = length + step;
            if distance.get(next).is_none_or(|(known, _)| candidate < *known) {
                distance.insert(next, (candidate, Some(node)));
                queue.push(Reverse((candidate, next)));
            }
        }
    }
    println!("{distance:?}");
    let path: Vec<&str> = std::iter::successors(Some("e"), |node| distance[node].1).collect();
    println!("{path:?}");
}

#[dpor::test]
fn maze() {
    let maze = ["S.#.....", "..#.###.", ".##.#...", "....#.#E"];
    let cell = |x: usize, y: usize| maze.get(y).and_then(|row| row.as_bytes().get(x)).copied().filter(|c| *c != b'#');
    let mut queue = VecDeque::from([(0, 0, 0)]);
    let mut seen = std::collections::HashSet::from([(0, 0)]);
    while let Some((x, y, steps)) = queue.pop_front() {
        if cell(x, y) == Some(b'E') {
            println!("out after {steps} steps, {} cells seen", seen.len());
            return;
        }
        for (nx, ny) in [(x + 1, y), (x.wrapping_sub(1), y), (x, y + 1), (x, y.wrapping_sub(1))] {
            if cell(nx, ny).is_some() && seen.insert((nx, ny)) {
                queue.push_back((nx, ny, steps + 1));
            }
        }
    }
    panic!("no way out");
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let cost = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

fn common_subsequence(a: &[u8], b: &[u8]) -> String {
    let mut table = vec![vec![0u16; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            table[i][j] = if a[i] == b[j] { table[i + 1][j + 1] + 1 } else { table[i + 1][j].max(table[i][j + 1]) };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut common = String::new();
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            common.push(a[i].into());
            (i, j) = (i + 1, j + 1);
        } else if table[i + 1][j] >= table[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    common
}

#[dpor::test]
fn edit_distances() {
    for (a, b) in [("kitten", "sitting"), ("", "abc"), ("flaw", "lawn"), ("Straße", "strasse")] {
        println!("{a} {b} {} {:?}", edit_distance(a, b), common_subsequence(a.as_bytes(), b.as_bytes()).len());
    }
    println!("{}", common_subsequence(b"dynamic programming", b"memory and time"));
}

/// Fills the empty cells of a four by four sudoku.
fn solve(board: &mut [[u8; 4]; 4], tried: &mut u32) -> bool {
    let Some((y, x)) = (0..16).map(|i| (i / 4, i % 4)).find(|&(y, x)| board[y][x] == 0) else {
        return true;
    };
    for digit in 1..=4 {
        *tried += 1;
        let (top, left) = (y / 2 * 2, x / 2 * 2);
        let free =
            (0..4).all(|i| board[y][i] != digit && board[i][x] != digit && board[top + i / 2][left + i % 2] != digit);
        if free {
            board[y][x] = digit;
            if solve(board, tried) {
                return true;
            }
            board[y][x] = 0;
        }
    }
    false
}

#[dpor::test]
fn sudoku() {
    let mut board = [[0, 0, 3, 0], [0, 3, 0, 0], [0, 0, 2, 0], [1, 0, 0, 0]];
    let mut tried = 0;
    println!("solved: {}, {tried} before", solve(&mut board, &mut tried));
    for row in board {
        println!("{row:?}");
    }
    println!("{tried} digits tried");
}

#[dpor::test]
fn matrix_multiplication() {
    let size = 12;
    let a: Vec<Vec<f64>> = (0..size).map(|i| (0..size).map(|j| f64::from(i * j % 7) - 2.5).collect()).collect();
    let mut product = vec![vec![0.0; 12]; 12];
    for i in 0..12 {
        for j in 0..12 {
            product[i][j] = (0..12).map(|k| a[i][k] * a[k][j]).sum();
        }
    }
    println!("{:?}", product[3]);
    println!("trace {}", (0..12).map(|i| product[i][i]).sum::<f64>());
}

#[dpor::test]
fn huffman_codes() {
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    enum Tree {
        Leaf(char),
        Node(Box<Tree>, Box<Tree>),
    }
    fn codes(tree: &Tree, prefix: String, table: &mut BTreeMap<char, String>) {
        match tree {
            Tree::Leaf(c) => drop(table.insert(*c, prefix)),
            Tree::Node(left, right) => {
                codes(left, prefix.clone() + "0", table);
                codes(right, prefix + "1", table);
            }
        }
    }
    let text = "abracadabra alakazam";
    let mut counts = BTreeMap::new();
    text.chars().for_each(|c| *counts.entry(c).or_insert(0u32) += 1);
    let mut heap: BinaryHeap<Reverse<(u32, Tree)>> =
        counts.iter().map(|(c, n)| Reverse((*n, Tree::Leaf(*c)))).collect();
    while heap.len() > 1 {
        let Some((Reverse((n, a)), Reverse((m, b)))) = heap.pop().zip(heap.pop()) else { unreachable!() };
        heap.push(Reverse((n + m, Tree::Node(Box::new(a), Box::new(b)))));
    }
    let mut table = BTreeMap::new();
    codes(&heap.pop().unwrap().0.1, String::new(), &mut table);
    println!("{table:?}");
    let encoded: String = text.chars().map(|c| &*table[&c]).collect();
    println!("{} bits: {encoded}", encoded.len());
}
