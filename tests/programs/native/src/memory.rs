//! `std::mem`, raw pointers, manual allocation and pinning.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, realloc};
use std::marker::PhantomPinned;
use std::mem::{self, ManuallyDrop};
use std::ops::{Deref, DerefMut};
use std::pin::{Pin, pin};
use std::ptr::{self, NonNull};

struct Named(String);

impl Drop for Named {
    fn drop(&mut self) {
        println!("drop {}", self.0);
    }
}

/// Would say so if it were dropped.
struct Silent;

impl Drop for Silent {
    fn drop(&mut self) {
        println!("this must not be");
    }
}

fn named(name: &str) -> Named {
    Named(name.into())
}

#[dpor::test]
fn mem_functions() {
    let (mut a, mut b) = (named("a"), named("b"));
    mem::swap(&mut a, &mut b);
    let old = mem::replace(&mut a, named("c"));
    println!("{} {} {}", a.0, b.0, old.0);
    let mut list = vec![1, 2, 3];
    println!("{:?} {:?}", mem::take(&mut list), list);
    mem::forget(Silent);
    println!("{} {}", size_of_val("héllo"), size_of_val(&[0u16; 7][..]));
    println!("{} {}", mem::needs_drop::<Named>(), mem::needs_drop::<&Named>());
    // SAFETY: every bit pattern is valid for arrays of integers.
    println!("{:x?}", unsafe { mem::transmute::<[f32; 2], [u16; 4]>([1.0, -2.5]) });
    // SAFETY: arrays of bytes have no padding and no invalid values.
    println!("{:?}", unsafe { mem::transmute::<[[u8; 2]; 3], [u8; 6]>([[1, 2], [3, 4], [5, 6]]) });
    drop(old);
    println!("end");
}

#[dpor::test]
fn manually_dropped() {
    let mut kept = ManuallyDrop::new(named("kept"));
    kept.0.push_str(" a while");
    println!("{}", kept.0);
    let copy = ManuallyDrop::into_inner(ManuallyDrop::new(named("copied out")));
    // SAFETY: the value is not used after this.
    unsafe { ManuallyDrop::drop(&mut kept) };
    println!("still {}", copy.0);
}

#[dpor::test]
fn boxes_and_raw_pointers() {
    let raw = Box::into_raw(Box::new(named("raw")));
    // SAFETY: the pointer comes from a box that was given up, and is given back once.
    let again = unsafe {
        (*raw).0.push('!');
        Box::from_raw(raw)
    };
    println!("{}", again.0);
    let leaked: &'static mut [u32] = Box::leak(vec![1, 2, 3].into_boxed_slice());
    leaked[1] = 20;
    println!("{leaked:?}");
    // SAFETY: the slice was leaked from a box of the same type; this is the only reference to it.
    drop(unsafe { Box::from_raw(leaked) });
    let (pointer, len, capacity) = {
        let mut vec = ManuallyDrop::new(Vec::<u16>::with_capacity(10));
        vec.extend([5, 6, 7]);
        (vec.as_mut_ptr(), vec.len(), vec.capacity())
    };
    // SAFETY: these are the parts of a vector that was not dropped.
    println!("{:?}", unsafe { Vec::from_raw_parts(pointer, len, capacity) });
    let mut boxed = Box::new(5);
    *boxed += 1;
    let moved = *boxed;
    println!("{moved} {}", Box::new([1, moved]).into_iter().sum::<i32>());
}

#[dpor::test]
fn pointer_arithmetic() {
    let mut array = [10, 20, 30, 40, 50];
    let start = array.as_mut_ptr();
    // SAFETY: all pointers stay within the array.
    unsafe {
        *start.add(1) += 5;
        let third = start.offset(2);
        println!("{} {} {}", *third.sub(1), *third, third.offset_from(start));
        ptr::swap(start, start.add(4));
        ptr::copy(start, start.add(1), 3);
        println!("{:?}", std::slice::from_raw_parts(start, 5));
        let read = ptr::read(third);
        ptr::write(third, read * 2);
        println!("{} {}", ptr::replace(start, 7), start.read());
        ptr::copy_nonoverlapping([1, 2].as_ptr(), start.add(3), 2);
        for cell in std::slice::from_raw_parts_mut(third, 3) {
            *cell = -*cell;
        }
    }
    println!("{array:?}");
    let bytes = array.as_ptr().cast::<u8>();
    // SAFETY: the byte is within the array.
    println!("{} {}", unsafe { *bytes.add(4) }, bytes.is_null());
    let mut nothing: *const u8 = ptr::null();
    // SAFETY: null gives none.
    println!("{:?} {:?}", nothing, unsafe { nothing.as_ref() });
    nothing = nothing.wrapping_add(5);
    println!("{} {}", nothing.addr(), ptr::eq(nothing, ptr::without_provenance(5)));
    let words = [0u32; 4];
    // SAFETY: bytes may be seen as any number of bytes.
    let (before, middle, after) = unsafe { words.align_to::<u8>() };
    println!("{} {} {}", before.len(), middle.len(), after.len());
    let tagged = (&raw const words[0]).addr() | 1;
    println!("{} {}", tagged & 1, (tagged & !1) as *const u32 == words.as_ptr());
}

/// A growable array, by hand.
struct Stack<T> {
    items: NonNull<T>,
    len: usize,
    capacity: usize,
}

impl<T> Stack<T> {
    fn new() -> Self {
        Stack { items: NonNull::dangling(), len: 0, capacity: 0 }
    }

    fn push(&mut self, item: T) {
        if self.len == self.capacity {
            let new_capacity = (2 * self.capacity).max(2);
            let new_layout = Layout::array::<T>(new_capacity).unwrap();
            // SAFETY: the layout has a size, and the old block has the layout it was allocated with.
            let block = unsafe {
                if self.capacity == 0 {
                    alloc(new_layout)
                } else {
                    let layout = Layout::array::<T>(self.capacity).unwrap();
                    realloc(self.items.as_ptr().cast(), layout, new_layout.size())
                }
            };
            self.items = NonNull::new(block.cast()).expect("memory");
            self.capacity = new_capacity;
        }
        // SAFETY: there is room for one more item.
        unsafe { self.items.add(self.len).write(item) };
        self.len += 1;
    }

    fn pop(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        // SAFETY: the item is initialized, and nobody will use it again.
        Some(unsafe { self.items.add(self.len).read() })
    }
}

impl<T> Drop for Stack<T> {
    fn drop(&mut self) {
        while self.pop().is_some() {}
        if self.capacity > 0 {
            // SAFETY: this is the layout of the allocation.
            unsafe { dealloc(self.items.as_ptr().cast(), Layout::array::<T>(self.capacity).unwrap()) };
        }
    }
}

#[dpor::test]
fn manual_allocation() {
    let mut stack = Stack::new();
    for i in 0..5 {
        stack.push(named(&format!("item {i}")));
    }
    println!("{} {}", stack.len, stack.capacity);
    drop(stack.pop());
    println!("rest");
    drop(stack);
    let layout = Layout::from_size_align(64, 32).unwrap();
    // SAFETY: the layout has a size; the block is freed with it.
    unsafe {
        let block = alloc_zeroed(layout);
        println!("{} {}", block.addr() % 32, *block.add(63));
        dealloc(block, layout);
    }
    println!("{layout:?} {:?}", Layout::from_size_align(1, 3).is_err());
    println!("{:?}", Layout::new::<(u8, u32)>().extend(Layout::new::<u64>()).map(|(l, at)| (l.size(), at)));
}

/// A value that points into itself.
struct SelfReference {
    text: String,
    first_word: *const str,
    _pinned: PhantomPinned,
}

impl SelfReference {
    fn new(text: &str) -> Pin<Box<SelfReference>> {
        let mut pinned = Box::pin(SelfReference { text: text.into(), first_word: "", _pinned: PhantomPinned });
        let word: *const str = pinned.text.split(' ').next().unwrap();
        // SAFETY: the value is not moved.
        unsafe { pinned.as_mut().get_unchecked_mut().first_word = word };
        pinned
    }

    fn first_word(self: Pin<&Self>) -> &str {
        // SAFETY: the pointer is into `text`, which does not change while the value is pinned.
        unsafe { &*self.first_word }
    }
}

#[dpor::test]
fn pinned_values() {
    let pinned = SelfReference::new("hello pinned world");
    let moved = pinned;
    println!("{} {}", moved.as_ref().first_word(), moved.text.len());
    let mut local = pin!(7);
    *local.as_mut() += 1;
    println!("{local}");
    println!("{}", Pin::into_inner(local));
}

/// A smart pointer with a count of its uses.
struct Counted<T> {
    value: T,
    uses: std::cell::Cell<u32>,
}

impl<T> Deref for Counted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.uses.set(self.uses.get() + 1);
        &self.value
    }
}

impl<T> DerefMut for Counted<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.uses.set(self.uses.get() + 10);
        &mut self.value
    }
}

#[dpor::test]
fn smart_pointers() {
    let mut counted = Counted { value: vec![3, 1, 2], uses: 0.into() };
    counted.sort();
    println!("{} {} {:?}", counted.len(), counted[0], counted.iter().max());
    println!("{}", counted.uses.get());
}
