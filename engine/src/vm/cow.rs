//! A value that is shared until it is written.
//!
//! While it is owned, reading and writing it need no atomic operation. Taking a snapshot shares it; the first write
//! after that copies it, and it is owned again. (`Arc::make_mut` would do the same with a compare-and-swap per write.)

use std::sync::Arc;

/// A value, shared or owned.
#[derive(Debug)]
pub enum Cow<T> {
    Shared(Arc<T>),
    Owned(Box<T>),
}

impl<T> Cow<T> {
    /// An owned value.
    pub fn new(value: T) -> Cow<T> {
        Cow::Owned(Box::new(value))
    }

    #[inline(always)]
    pub fn get(&self) -> &T {
        match self {
            Cow::Shared(shared) => shared,
            Cow::Owned(owned) => owned,
        }
    }

    /// The value if it is owned: what a snapshot has to share.
    #[inline(always)]
    pub fn owned_mut(&mut self) -> Option<&mut T> {
        match self {
            Cow::Shared(_) => None,
            Cow::Owned(owned) => Some(owned),
        }
    }
}

impl<T: Clone + Default> Cow<T> {
    /// The value for writing: copied first where it is shared.
    #[inline(always)]
    pub fn get_mut(&mut self) -> &mut T {
        if let Cow::Shared(_) = self {
            self.own();
        }
        match self {
            Cow::Owned(owned) => owned,
            Cow::Shared(_) => unreachable!("it was just made owned"),
        }
    }

    #[cold]
    fn own(&mut self) {
        if let Cow::Shared(shared) = self {
            *self = Cow::new(T::clone(shared));
        }
    }

    /// Shares the value, so that cloning it is cheap.
    pub fn share(&mut self) {
        if let Cow::Owned(owned) = self {
            *self = Cow::Shared(Arc::new(std::mem::take(owned)));
        }
    }
}

impl<T: Clone> Clone for Cow<T> {
    /// Cheap where it is shared, a deep copy where it is not.
    fn clone(&self) -> Cow<T> {
        match self {
            Cow::Shared(shared) => Cow::Shared(Arc::clone(shared)),
            Cow::Owned(owned) => Cow::Owned(owned.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_after_sharing_do_not_show_in_the_copy() {
        let mut a = Cow::new(vec![1, 2]);
        a.get_mut().push(3);
        a.share();
        let mut b = a.clone();
        b.get_mut().push(4);
        a.get_mut().push(5);
        assert_eq!(a.get(), &[1, 2, 3, 5]);
        assert_eq!(b.get(), &[1, 2, 3, 4]);
    }
}
