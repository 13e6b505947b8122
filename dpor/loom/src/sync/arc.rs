use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc as Std;

/// As [`std::sync::Arc`].
#[repr(transparent)]
pub struct Arc<T: ?Sized>(Std<T>);

impl<T> Arc<T> {
    /// A counted value.
    #[track_caller]
    pub fn new(value: T) -> Arc<T> {
        Arc(Std::new(value))
    }

    /// A counted value that is pinned.
    pub fn pin(data: T) -> Pin<Arc<T>> {
        // SAFETY: What is counted does not move, and nobody gets a mutable reference to it.
        unsafe { Pin::new_unchecked(Arc::new(data)) }
    }

    /// The value, if there is no other reference.
    #[track_caller]
    pub fn try_unwrap(this: Arc<T>) -> Result<T, Arc<T>> {
        Std::try_unwrap(this.0).map_err(Arc)
    }
}

impl<T: ?Sized> Arc<T> {
    /// The same as one of the standard library's, which may be of a type without a size.
    ///
    /// # Panics
    ///
    /// If there is another reference.
    #[track_caller]
    pub fn from_std(mut std: Std<T>) -> Arc<T> {
        assert!(Std::get_mut(&mut std).is_some(), "Arc provided to `from_std` is not unique");
        Arc(std)
    }

    /// How many references there are.
    #[track_caller]
    pub fn strong_count(this: &Arc<T>) -> usize {
        Std::strong_count(&this.0)
    }

    /// Counts one reference more.
    ///
    /// # Safety
    ///
    /// As for [`std::sync::Arc::increment_strong_count`].
    #[track_caller]
    pub unsafe fn increment_strong_count(ptr: *const T) {
        // SAFETY: The caller sees to it.
        unsafe { Std::increment_strong_count(ptr) }
    }

    /// Counts one reference less.
    ///
    /// # Safety
    ///
    /// As for [`std::sync::Arc::decrement_strong_count`].
    #[track_caller]
    pub unsafe fn decrement_strong_count(ptr: *const T) {
        // SAFETY: The caller sees to it.
        unsafe { Std::decrement_strong_count(ptr) }
    }

    /// The value, if there is no other reference.
    #[track_caller]
    pub fn get_mut(this: &mut Arc<T>) -> Option<&mut T> {
        Std::get_mut(&mut this.0)
    }

    /// Whether both are references to the same value.
    pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        Std::ptr_eq(&this.0, &other.0)
    }

    /// A pointer to the value, which stays counted.
    pub fn into_raw(this: Arc<T>) -> *const T {
        Std::into_raw(this.0)
    }

    /// A pointer to the value.
    pub fn as_ptr(this: &Arc<T>) -> *const T {
        Std::as_ptr(&this.0)
    }

    /// The reference that a pointer was made of.
    ///
    /// # Safety
    ///
    /// As for [`std::sync::Arc::from_raw`].
    #[track_caller]
    pub unsafe fn from_raw(ptr: *const T) -> Arc<T> {
        // SAFETY: The caller sees to it.
        Arc(unsafe { Std::from_raw(ptr) })
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Arc<T> {
        Arc(self.0.clone())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Arc<T> {
        Arc::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    #[track_caller]
    fn from(value: T) -> Arc<T> {
        Arc::new(value)
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}
