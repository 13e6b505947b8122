//! Accesses to memory that is no more.

use std::cell::Cell;
use std::hint::black_box;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::rc::Rc;
use std::thread;

#[dpor::test]
fn freed_box() {
    let boxed = Box::new(41);
    let pointer = &raw const *boxed;
    println!("{}", unsafe { *pointer });
    drop(boxed);
    println!("{}", unsafe { *pointer }); // ERROR: use-after-free
}

#[dpor::test]
fn write_to_a_freed_box() {
    let pointer = Box::into_raw(Box::new([0u8; 32]));
    drop(unsafe { Box::from_raw(pointer) });
    unsafe { (*pointer)[7] = 1 }; // ERROR: use-after-free
}

#[dpor::test]
fn write_before_the_box_is_freed() {
    let pointer = Box::into_raw(Box::new([0u8; 32]));
    unsafe { (*pointer)[7] = 1 };
    assert_eq!(unsafe { Box::from_raw(pointer) }[7], 1);
}

#[dpor::test]
fn element_of_a_grown_vector() {
    let mut list = vec![1, 2];
    list.shrink_to_fit();
    let first = list.as_ptr();
    list.push(3);
    println!("{}", unsafe { *first }); // ERROR: use-after-free
}

#[dpor::test]
fn element_of_a_vector_with_room() {
    let mut list = Vec::with_capacity(3);
    list.extend([1, 2]);
    let first = list.as_ptr();
    list.push(3);
    assert_eq!(unsafe { *first }, 1);
}

#[dpor::test]
fn returned_local() {
    let pointer = make_dangling(5);
    println!("{}", unsafe { *pointer }); // ERROR: use-after-free
}

fn make_dangling(n: i32) -> *const i32 {
    let local = n * 2;
    black_box(&raw const local)
}

#[dpor::test]
fn local_of_an_inner_scope() {
    let pointer;
    {
        let local = [1u64, 2, 3];
        pointer = black_box(&local).as_ptr();
        println!("{}", unsafe { *pointer });
    }
    println!("{}", unsafe { *pointer }); // ERROR: use-after-free
}

// Each iteration has a local of its own: that of the iteration before is gone, also while the next one lives.
#[dpor::test]
fn local_of_an_earlier_iteration_while_the_next_one_lives() {
    let mut previous: Option<*const u32> = None;
    for i in 0..3 {
        let local = i;
        if let Some(pointer) = previous {
            println!("{}", unsafe { *pointer }); // ERROR: use-after-free
        }
        previous = Some(black_box(&raw const local));
    }
}

#[dpor::test]
fn reference_of_an_earlier_iteration() {
    let mut previous: Option<*mut i32> = None;
    for i in 0..3 {
        let mut local = i;
        if let Some(pointer) = previous {
            unsafe { *pointer += 1 }; // ERROR: use-after-free
        }
        previous = Some(black_box(&mut local as *mut i32));
    }
}

#[dpor::test]
fn non_null_pointer_of_an_earlier_iteration() {
    let mut previous: Option<NonNull<[u32; 2]>> = None;
    let mut i = 0;
    while i < 3 {
        let mut local = [i, i];
        if let Some(pointer) = previous {
            println!("{:?}", unsafe { pointer.read() }); // ERROR: use-after-free
        }
        previous = Some(black_box(NonNull::from(&mut local)));
        i += 1;
    }
}

// What lives longer than the loop stays where it is.
#[dpor::test]
fn local_outside_of_the_loop() {
    let mut sum = 0;
    let pointer = &raw mut sum;
    for i in 0..3 {
        let local = i;
        let value = black_box(&raw const local);
        unsafe { *pointer += *value };
    }
    assert_eq!(sum, 3);
}

#[dpor::test]
fn local_of_an_earlier_iteration() {
    let mut previous: Option<*const u32> = None;
    for i in 0..3 {
        if let Some(pointer) = previous {
            println!("{}", unsafe { *pointer }); // ERROR: use-after-free
        }
        let local = i;
        previous = Some(black_box(&raw const local));
    }
}

#[dpor::test]
fn value_of_a_dropped_rc() {
    let shared = Rc::new([1u64, 2]);
    let pointer = Rc::as_ptr(&shared);
    let other = shared.clone();
    drop(shared);
    println!("{}", unsafe { (*pointer)[1] });
    drop(other);
    println!("{}", unsafe { (*pointer)[1] }); // ERROR: use-after-free
}

#[dpor::test]
fn one_count_too_few() {
    let shared = Rc::new(7);
    let pointer = Rc::into_raw(shared);
    unsafe {
        Rc::decrement_strong_count(pointer);
        Rc::decrement_strong_count(pointer); // ERROR: use-after-free
    }
}

thread_local! {
    static LOCAL: Cell<u32> = const { Cell::new(3) };
}

#[dpor::test]
fn thread_local_of_an_ended_thread() {
    let address = thread::spawn(|| LOCAL.with(|cell| cell.as_ptr().expose_provenance())).join().unwrap();
    let pointer = std::ptr::with_exposed_provenance::<u32>(address);
    println!("{}", unsafe { *pointer }); // ERROR: use-after-free
}

#[dpor::test]
fn thread_local_of_the_same_thread() {
    let pointer = LOCAL.with(Cell::as_ptr);
    LOCAL.set(5);
    assert_eq!(unsafe { *pointer }, 5);
}

#[dpor::test]
fn local_of_an_ended_thread() {
    let address = thread::spawn(|| {
        let local = black_box(17);
        (&raw const local).expose_provenance()
    });
    let pointer = std::ptr::with_exposed_provenance::<i32>(address.join().unwrap());
    println!("{}", unsafe { pointer.read() }); // ERROR: use-after-free
}

#[dpor::test]
fn contents_of_a_dropped_string() {
    let mut text = ManuallyDrop::new(String::from("text"));
    unsafe { ManuallyDrop::drop(&mut text) };
    println!("{}", text.as_bytes()[0]); // ERROR: use-after-free
}

#[dpor::test]
fn call_of_a_freed_closure() {
    let number = black_box(5);
    let boxed: Box<dyn Fn() -> i32> = Box::new(move || number + 1);
    let pointer = &raw const *boxed;
    println!("{}", unsafe { (*pointer)() });
    drop(boxed);
    println!("{}", unsafe { (*pointer)() }); // ERROR: use-after-free
}

struct Observer<'a> {
    log: &'a [u8],
}

impl Drop for Observer<'_> {
    fn drop(&mut self) {
        println!("{}", self.log.len());
    }
}

#[dpor::test]
fn use_in_a_destructor() {
    let bytes = Box::into_raw(vec![1, 2, 3].into_boxed_slice());
    let observer = LastByte { bytes };
    drop(unsafe { Box::from_raw(bytes) });
    drop(observer);
}

struct LastByte {
    bytes: *mut [u8],
}

impl Drop for LastByte {
    fn drop(&mut self) {
        let bytes = unsafe { &*self.bytes }; // ERROR: use-after-free
        println!("{:?}", bytes.last().map(|byte| byte + 1));
    }
}

#[dpor::test]
fn use_in_a_destructor_in_the_right_order() {
    let bytes = vec![1, 2, 3];
    let observer = Observer { log: &bytes };
    drop(observer);
    drop(bytes);
}

fn sum(numbers: *const u32, array: [u64; 4]) -> u32 {
    let array: u64 = array.iter().sum();
    unsafe { *numbers + array as u32 }
}

#[dpor::test]
fn what_a_tail_call_is_given() {
    fn calls(pointer: *const u32, _: [u64; 4]) -> u32 {
        let array = black_box([1u64, 2, 3, 4]);
        become sum(pointer, array)
    }
    assert_eq!(calls(&5, [0; 4]), 15);
}

#[dpor::test]
fn local_that_a_tail_call_ends() {
    fn calls(_: *const u32, array: [u64; 4]) -> u32 {
        let local = black_box(5u32);
        let pointer = &raw const local;
        become read(pointer, array)
    }
    black_box(calls(std::ptr::null(), [0; 4]));
}

fn read(pointer: *const u32, _: [u64; 4]) -> u32 {
    unsafe { *pointer } // ERROR: use-after-free
}
