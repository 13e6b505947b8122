//! Cells.
//!
//! Whether accesses race is found by `cargo dpor`, which looks at the accesses themselves.

use std::fmt;

/// As [`std::cell::UnsafeCell`], with closures that get the pointer.
#[repr(transparent)]
pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

/// A pointer to read through.
pub struct ConstPtr<T: ?Sized>(*const T);

/// A pointer to write through.
pub struct MutPtr<T: ?Sized>(*mut T);

impl<T> UnsafeCell<T> {
    /// A cell with this value.
    pub const fn new(data: T) -> UnsafeCell<T> {
        UnsafeCell(std::cell::UnsafeCell::new(data))
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Gives a closure a pointer to read through.
    #[inline]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        f(self.0.get())
    }

    /// Gives a closure a pointer to write through.
    #[inline]
    pub fn with_mut<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        f(self.0.get())
    }

    /// A pointer to read through.
    pub fn get(&self) -> ConstPtr<T> {
        ConstPtr(self.0.get())
    }

    /// A pointer to write through.
    pub fn get_mut(&self) -> MutPtr<T> {
        MutPtr(self.0.get())
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("UnsafeCell { .. }")
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    fn default() -> UnsafeCell<T> {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}

impl<T: ?Sized> ConstPtr<T> {
    /// The value.
    ///
    /// # Safety
    ///
    /// As for a pointer.
    pub unsafe fn deref(&self) -> &T {
        // SAFETY: The caller sees to it.
        unsafe { &*self.0 }
    }

    /// Gives a closure the pointer.
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        f(self.0)
    }
}

impl<T: ?Sized> fmt::Debug for ConstPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("ConstPtr { .. }")
    }
}

impl<T: ?Sized> MutPtr<T> {
    /// The value.
    ///
    /// # Safety
    ///
    /// As for a pointer.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn deref(&self) -> &mut T {
        // SAFETY: The caller sees to it.
        unsafe { &mut *self.0 }
    }

    /// Gives a closure the pointer.
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        f(self.0)
    }
}

impl<T: ?Sized> fmt::Debug for MutPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("MutPtr { .. }")
    }
}

#[doc(no_inline)]
pub use std::cell::Cell;
