//! smallvec, arrayvec, slab, bitvec.

use arrayvec::{ArrayString, ArrayVec};
use bitvec::prelude::*;
use slab::Slab;
use smallvec::{SmallVec, smallvec};

struct Noisy(u32);

impl Drop for Noisy {
    fn drop(&mut self) {
        print!("drop {} ", self.0);
    }
}

#[dpor::test]
fn small_vectors() {
    let mut list: SmallVec<[String; 3]> = SmallVec::new();
    for i in 0..6 {
        list.push(format!("item {i}"));
        print!("{} ", list.spilled());
    }
    println!("{list:?}");
    list.insert(1, "inserted".into());
    println!("{:?} {:?} {}", list.remove(0), list.swap_remove(1), list.len());
    list.retain(|text| !text.ends_with('4'));
    list.shrink_to_fit();
    println!("{list:?} {}", list.spilled());
    println!("{:?} {list:?}", list.drain(1..).collect::<Vec<_>>());
    let mut numbers: SmallVec<[u16; 4]> = smallvec![5, 3, 9];
    numbers.extend_from_slice(&[1, 1]);
    numbers.sort_unstable();
    numbers.dedup();
    println!("{numbers:?} {:?} {:?}", numbers.binary_search(&9), numbers.iter().max());
    println!("{:?}", numbers.into_iter().rev().map(|n| n * 2).collect::<SmallVec<[u16; 8]>>());
    let noisy: SmallVec<[Noisy; 2]> = (0..3).map(Noisy).collect();
    let mut iter = noisy.into_iter();
    println!("{:?}", iter.next().map(|noisy| noisy.0));
    drop(iter);
    println!();
    let nested: SmallVec<[SmallVec<[u8; 2]>; 2]> = smallvec![smallvec![1], smallvec![2, 3, 4]];
    println!("{nested:?} {}", nested.clone() == nested);
}

#[dpor::test]
fn array_vectors() {
    let mut list: ArrayVec<Box<u32>, 4> = ArrayVec::new();
    for n in 0..6 {
        match list.try_push(Box::new(n * n)) {
            Ok(()) => print!("pushed {n} "),
            Err(error) => print!("{error}: {} ", error.clone().element()),
        }
    }
    println!("{list:?} {}", list.is_full());
    println!("{:?} {:?} {list:?}", list.pop_at(1), list.pop());
    list.extend([7, 8].map(Box::new));
    println!("{:?} {:?}", list.clone().into_inner().is_ok(), list.drain(..2).map(|n| *n).sum::<u32>());
    let array: Result<[u8; 3], _> = ArrayVec::from([1, 2, 3]).into_inner();
    println!("{array:?}");
    let mut text: ArrayString<8> = ArrayString::new();
    text.push_str("héllo");
    println!("{text} {:?} {} {:?}", text.try_push_str("long"), text.len(), text.pop());
    println!("{}", text.as_str().to_uppercase());
    let noisy: ArrayVec<Noisy, 3> = (0..3).map(Noisy).collect();
    drop(noisy);
    println!();
}

#[dpor::test]
fn slabs() {
    let mut slab = Slab::with_capacity(2);
    let keys: Vec<usize> = ["a", "b", "c", "d"].map(|name| slab.insert(name.to_owned())).to_vec();
    println!("{keys:?} {}", slab.remove(keys[1]) + &slab.remove(keys[2]));
    println!("{} {}", slab.contains(1), slab.vacant_key());
    let entry = slab.vacant_entry();
    let key = entry.key();
    println!("{}", entry.insert(format!("at {key}")));
    println!("{}", slab.insert("x".into()));
    slab[0].push('!');
    println!("{slab:?}");
    slab.retain(|key, value| key != 3 && value.len() > 1);
    println!("{:?} {}", slab.iter().collect::<Vec<_>>(), slab.len());
    println!("{:?}", slab.try_remove(3));
    slab.compact(|value, from, to| {
        println!("{value} moves from {from} to {to}");
        true
    });
    println!("{:?}", slab.drain().collect::<Vec<_>>());
}

#[dpor::test]
fn bit_vectors() {
    let mut bits: BitVec<u8, Msb0> = bitvec![u8, Msb0; 1, 0, 1, 1];
    bits.extend([true, false, false, true, true].iter());
    println!("{bits} {} {}", bits.len(), bits.count_ones());
    println!("{:?} {:?}", bits.as_raw_slice(), bits.iter_ones().collect::<Vec<_>>());
    bits.set(1, true);
    bits[2..6].reverse();
    println!("{bits:b} {:?} {:?}", bits.pop(), bits.first_zero());
    println!("{} {}", bits[..4].load_be::<u8>(), bits[4..].load_be::<u8>());
    let mut word = 0u32;
    let view = word.view_bits_mut::<Lsb0>();
    view[4..12].store_le(0xabu8);
    view.set(31, true);
    println!("{word:#010x}");
    let other = bitvec![u8, Msb0; 0, 1, 1, 0, 1, 1, 0, 1];
    println!("{} {} {}", bits.clone() & other.clone(), bits.clone() ^ &other, !other);
    bits.rotate_left(3);
    println!("{bits} {:?}", bits.chunks(3).map(|chunk| chunk.any()).collect::<Vec<_>>());
    let mut array: BitArray<[u16; 2]> = BitArray::ZERO;
    array[7..20].fill(true);
    println!("{:?} {:x?}", array.trailing_zeros(), array.into_inner());
}
