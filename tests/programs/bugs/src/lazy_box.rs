//! once_cell's `race` module (once_cell#186): a weak compare-exchange that fails spuriously says that the cell is still
//! empty, and that was taken for the value of another thread.

use crate::sync::atomic::{AtomicUsize, Ordering::*};
use std::num::NonZero;

use crate::plain::two;

#[dpor::test(spurious = true)]
fn fixed() {
    set_by_two(exchange);
}

// Where weak compare-exchanges do not fail spuriously, nothing is wrong.
#[dpor::test]
fn broken_without_spurious_failures() {
    set_by_two(exchange_weak);
}

// The thread that panics is joined: the panic goes on in the test.
#[dpor::test(spurious = true, expect = "panic")]
fn broken() {
    set_by_two(exchange_weak);
}

/// A number that is set once; 0 where it is not.
#[derive(Default)]
struct Cell(AtomicUsize);

fn exchange(cell: &AtomicUsize, value: usize) -> Result<usize, usize> {
    cell.compare_exchange(0, value, AcqRel, Acquire)
}

fn exchange_weak(cell: &AtomicUsize, value: usize) -> Result<usize, usize> {
    cell.compare_exchange_weak(0, value, AcqRel, Acquire)
}

type Exchange = fn(&AtomicUsize, usize) -> Result<usize, usize>;

impl Cell {
    /// The number, which is `value` if nobody was quicker.
    fn get_or_set(&self, value: usize, exchange: Exchange) -> NonZero<usize> {
        match NonZero::new(self.0.load(Acquire)) {
            Some(value) => value,
            None => {
                let set = match exchange(&self.0, value) {
                    Ok(_) => value,
                    Err(other) => other,
                };
                NonZero::new(set).unwrap()
            }
        }
    }
}

fn set_by_two(exchange: Exchange) {
    let cell = Cell::default();
    let (first, second) = two(|| cell.get_or_set(1, exchange), || cell.get_or_set(2, exchange));
    assert_eq!(first, second);
}
