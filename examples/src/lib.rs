//! Two tests for `cargo dpor test`: one passes, one fails.

use std::cell::UnsafeCell;

/// A stack with room for four numbers.
#[derive(Default)]
pub struct Stack {
    slots: UnsafeCell<[u32; 4]>,
    len: usize,
}

impl Stack {
    /// Puts a number on top.
    pub fn push(&mut self, number: u32) {
        self.slots.get_mut()[self.len] = number;
        self.len += 1;
    }

    /// Takes the number on top.
    pub fn pop(&mut self) -> Option<u32> {
        self.len = self.len.checked_sub(1)?;
        Some(self.slots.get_mut()[self.len])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[dpor::test]
    fn last_in_first_out() {
        let mut stack = Stack::default();
        stack.push(1);
        stack.push(2);
        assert_eq!(stack.pop(), Some(2));
        assert_eq!(stack.pop(), Some(1));
        assert_eq!(stack.pop(), None);
    }
}
