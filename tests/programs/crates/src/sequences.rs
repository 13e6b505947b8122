//! itertools.

use itertools::{EitherOrBoth, Itertools, iproduct, izip};

#[dpor::test]
fn combinations() {
    println!("{:?}", (1..=4).combinations(2).map(|pair| pair.iter().sum::<i32>()).collect_vec());
    println!("{}", "abc".chars().permutations(3).map(|p| p.into_iter().collect::<String>()).join(" "));
    println!("{:?}", iproduct!(0..2, ["x", "y"]).collect_vec());
    println!("{:?}", [1, 2].iter().powerset().map(|set| set.len()).collect_vec());
    println!("{:?}", (0..3).tuple_combinations::<(_, _)>().collect_vec());
    println!("{:?}", (0..2).multi_cartesian_product_of(2));
}

trait Product: Iterator<Item: Clone> + Clone + Sized {
    fn multi_cartesian_product_of(self, n: usize) -> Vec<Vec<Self::Item>> {
        std::iter::repeat_n(self, n).multi_cartesian_product().collect()
    }
}

impl<I: Iterator<Item: Clone> + Clone> Product for I {}

#[dpor::test]
fn grouping() {
    let words = ["ant", "ape", "bee", "cat", "cow", "crab", "auk"];
    for (letter, group) in &words.iter().chunk_by(|word| word.chars().next()) {
        println!("{letter:?}: {}", group.format(", "));
    }
    let by_length = words.iter().map(|word| (word.len(), word)).into_group_map();
    println!("{:?}", by_length.iter().sorted().collect_vec());
    println!("{:?}", words.iter().counts_by(|word| word.len()).into_iter().sorted().collect_vec());
    println!("{:?}", words.iter().min_set_by_key(|word| word.len()).len());
    println!("{:?}", words.iter().minmax());
    println!("{:?}", words.iter().tuple_windows().filter(|(a, b)| a.as_bytes()[0] != b.as_bytes()[0]).count());
    println!(
        "{:?}",
        words.iter().chunks(3).into_iter().map(|chunk| chunk.map(|w| w.len()).sum::<usize>()).collect_vec()
    );
    println!("{:?}", [1, 1, 2, 3, 3].iter().dedup_with_count().collect_vec());
}

#[dpor::test]
fn merging() {
    println!("{:?}", [1, 4, 9].iter().merge([2, 3, 10].iter()).collect_vec());
    println!("{:?}", vec![vec![1, 5], vec![2, 6], vec![0]].into_iter().kmerge().collect_vec());
    println!("{:?}", (0..3).interleave(10..15).collect_vec());
    for pair in [1, 2].iter().zip_longest(["a", "b", "c"]) {
        match pair {
            EitherOrBoth::Both(n, s) => print!("{n}{s} "),
            EitherOrBoth::Left(n) => print!("{n} alone "),
            EitherOrBoth::Right(s) => print!("{s} alone "),
        }
    }
    println!();
    println!("{:?}", izip!(1.., "xyz".chars(), [true, false]).collect_vec());
    println!("{:?}", Itertools::intersperse(1..4, 0).collect_vec());
    println!(
        "{:?}",
        ["3", "1", "x"]
            .iter()
            .map(|s| s.parse::<u8>())
            .filter_ok(|n| *n > 1)
            .partition_result::<Vec<_>, Vec<_>, _, _>()
    );
    println!("{:?}", (1..=10).tree_reduce(|a, b| a * 2 + b));
    println!("{:?} {:?}", [5].iter().exactly_one(), (0..2).all_equal());
    println!("{:?}", [3, 1, 2].iter().sorted_by_key(|n| std::cmp::Reverse(**n)).position_max());
    println!("{:?}", "one two".split(' ').map(str::len).collect_tuple::<(_, _)>());
    println!("{:?}", (0..20).step_by(3).k_smallest(3).collect_vec());
}
