//@ arguments: --format github
//! Annotations for GitHub.

use std::cell::UnsafeCell;
use std::thread;

struct Cell(UnsafeCell<u32>);
unsafe impl Sync for Cell {}

#[dpor::test]
fn races() {
    static CELL: Cell = Cell(UnsafeCell::new(0));
    let thread = thread::spawn(|| unsafe { *CELL.0.get() = 1 });
    unsafe { *CELL.0.get() = 2 };
    thread.join().unwrap();
}

#[dpor::test]
fn fails_with_a_long_message() {
    assert_eq!(1 + 1, 3, "100%, or\nnot");
}

#[dpor::test]
fn passes() {}
