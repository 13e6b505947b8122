//! Slices and arrays: sorting, searching, splitting, moving things about.

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    key: u32,
    name: String,
}

/// A sequence of numbers that looks random and is the same everywhere.
fn numbers(n: usize) -> Vec<u32> {
    let mut state = 1u32;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 22
    })
    .take(n)
    .collect()
}

#[dpor::test]
fn sorting() {
    for n in [0, 1, 5, 25, 120] {
        let mut stable = numbers(n);
        let mut unstable = stable.clone();
        stable.sort();
        unstable.sort_unstable_by(|a, b| b.cmp(a));
        unstable.reverse();
        assert_eq!(stable, unstable);
        println!("{n}: {:?}", &stable[..n.min(8)]);
    }
    let mut items: Vec<Item> =
        numbers(30).into_iter().enumerate().map(|(i, key)| Item { key: key % 5, name: format!("n{i}") }).collect();
    items.sort_by_key(|item| item.key);
    println!("{:?}", items.iter().map(|item| &*item.name).collect::<Vec<_>>().join(" "));
    items.sort_by_cached_key(|item| item.name.len());
    println!("{:?}", items.first());
    let mut floats = [2.5, -1.0, f64::INFINITY, 0.0, -7.5];
    floats.sort_by(f64::total_cmp);
    println!("{floats:?}");
    let mut words = ["pear", "Apple", "fig", "banana"];
    words.sort_unstable_by_key(|word| word.to_lowercase());
    println!("{words:?}");
}

#[dpor::test]
fn searching() {
    let sorted = [1, 3, 5, 7, 7, 7, 9];
    println!("{:?} {:?} {:?}", sorted.binary_search(&5), sorted.binary_search(&4), sorted.binary_search(&100));
    println!("{} {}", sorted.partition_point(|&n| n < 7), sorted.partition_point(|&n| n <= 7));
    println!("{:?}", sorted.binary_search_by_key(&18, |n| n * 2));
    println!("{} {}", sorted.starts_with(&[1, 3]), sorted.ends_with(&[7]));
    println!("{:?} {:?}", sorted.iter().rposition(|n| *n == 7), sorted.contains(&8));
    let mut list = numbers(40);
    let (below, median, above) = list.select_nth_unstable(20);
    println!("{} {} {}", below.iter().all(|n| *n <= *median), median, above.iter().all(|n| *n >= *median));
}

#[dpor::test]
fn moving() {
    let mut letters: Vec<char> = "abcdefghij".chars().collect();
    letters.rotate_left(3);
    println!("{letters:?}");
    letters[2..8].rotate_right(2);
    letters.swap(0, 9);
    letters[..4].reverse();
    println!("{}", letters.iter().collect::<String>());
    letters.copy_within(0..3, 5);
    letters[8..].fill('z');
    println!("{}", letters.iter().collect::<String>());
    let (left, right) = letters.split_at_mut(5);
    left.swap_with_slice(right);
    left[0] = right[4];
    println!("{}", letters.iter().collect::<String>());
    let mut target = [0u8; 6];
    target[1..4].copy_from_slice(b"xyz");
    target[4..].clone_from_slice(&[9, 8]);
    println!("{target:?} {:?}", target.iter().rev().step_by(2).collect::<Vec<_>>());
    let mut strings = vec![String::from("a"); 4];
    strings[1..3].fill_with(|| "filled".into());
    println!("{strings:?}");
}

#[dpor::test]
fn splitting() {
    let list = [1, 1, 2, 3, 3, 3, 1, 8, 8];
    println!("{:?}", list.chunk_by(|a, b| a == b).collect::<Vec<_>>());
    println!("{:?} {:?}", list.split_first(), list.split_last().map(|(last, _)| last));
    println!("{:?}", list.splitn(2, |n| *n == 3).collect::<Vec<_>>());
    println!("{:?} {:?}", list.first_chunk::<3>(), list.last_chunk::<20>());
    println!("{:?}", list.split_at_checked(50));
    let [first, .., before_last, _] = list;
    println!("{first} {before_last}");
    match &list[..] {
        [] => println!("empty"),
        [a, b, rest @ ..] if a == b => println!("twice {a}, then {}", rest.len()),
        [a, ..] => println!("starts with {a}"),
    }
    let mut grid = [[0; 4]; 3];
    for (y, row) in grid.iter_mut().enumerate() {
        for (x, cell) in row.iter_mut().enumerate() {
            *cell = x * y;
        }
    }
    println!("{grid:?} {:?}", grid.as_flattened().iter().sum::<usize>());
    let mut pairs = [5, 6, 7, 8, 9];
    for chunk in pairs.chunks_mut(2) {
        chunk.reverse();
    }
    println!("{pairs:?} {:?}", pairs.get_disjoint_mut([0, 4]).map(|[a, b]| std::mem::swap(a, b)));
    println!("{pairs:?} {:?} {:?}", pairs.get(1..3), pairs.get(4..9));
}

#[dpor::test]
fn arrays() {
    let squares: [u64; 6] = std::array::from_fn(|i| (i * i) as u64);
    println!("{squares:?} {:?}", squares.map(|n| n.to_string()));
    let array: [i32; 3] = vec![1, 2, 3].try_into().unwrap();
    println!("{array:?} {:?}", <[i32; 2]>::try_from(&array[..]).map_err(|e| e.to_string()));
    println!("{} {:?}", array == [1, 2, 3], array.cmp(&[1, 3, 0]));
    let [x, y, z] = array;
    println!("{}", x * y - z);
    println!("{:?} {:?}", array.each_ref().map(|n| *n + 1), [[1, 2], [3, 4]].concat());
    println!("{:?} {:?}", [vec![1], vec![]].iter().map(Vec::len).collect::<Vec<_>>(), ["a"; 3].join("+"));
    let boxed: Box<[String]> = ["x", "y"].map(String::from).into();
    for text in boxed {
        print!("{text} ");
    }
    println!();
    let large = [7u16; 5_000];
    println!("{}", large.iter().map(|n| u64::from(*n)).sum::<u64>());
}
