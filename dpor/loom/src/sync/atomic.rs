//! Atomics: those of the standard library, with loom's additions.

use std::sync::atomic as std_atomic;

#[doc(no_inline)]
pub use std_atomic::{fence, Ordering};

/// Tells that the thread waits in a loop.
pub fn spin_loop_hint() {
    std::hint::spin_loop();
}

/// The ordering of a `compare_and_swap` that fails.
fn failure(order: Ordering) -> Ordering {
    match order {
        Ordering::Relaxed | Ordering::Release => Ordering::Relaxed,
        Ordering::Acquire | Ordering::AcqRel => Ordering::Acquire,
        _ => Ordering::SeqCst,
    }
}

/// What all atomics have: the name, the value, and generic parameters.
macro_rules! atomic {
    ($name:ident, $value:ty $(, $t:ident)?) => {
        #[doc = concat!("As [`std::sync::atomic::", stringify!($name), "`].")]
        #[repr(transparent)]
        pub struct $name$(<$t>)?(std_atomic::$name$(<$t>)?);

        impl$(<$t>)? $name$(<$t>)? {
            /// An atomic with this value.
            #[inline]
            pub const fn new(value: $value) -> Self {
                Self(std_atomic::$name::new(value))
            }

            /// Reads it without synchronization.
            ///
            /// # Safety
            ///
            /// No other thread writes it.
            #[inline]
            #[track_caller]
            pub unsafe fn unsync_load(&self) -> $value {
                // SAFETY: The caller sees to it.
                unsafe { *self.0.as_ptr() }
            }

            /// Gives a closure the value, which no other thread can access.
            #[inline]
            #[track_caller]
            pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $value) -> R) -> R {
                f(self.0.get_mut())
            }

            /// The value, which no other thread can access. loom has [`with_mut`](Self::with_mut) only.
            #[inline]
            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            /// The value.
            #[inline]
            #[track_caller]
            pub fn into_inner(self) -> $value {
                self.0.into_inner()
            }

            /// Reads it.
            #[inline]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                self.0.load(order)
            }

            /// Writes it.
            #[inline]
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                self.0.store(value, order)
            }

            /// Replaces the value.
            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.0.swap(value, order)
            }

            /// Replaces the value if it is `current`, and gives the old one.
            #[inline]
            #[track_caller]
            pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
                match self.0.compare_exchange(current, new, order, failure(order)) {
                    Ok(old) | Err(old) => old,
                }
            }

            /// Replaces the value if it is `current`.
            #[inline]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange(current, new, success, failure)
            }

            /// Replaces the value if it is `current`; may fail spuriously.
            #[inline]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange_weak(current, new, success, failure)
            }

            /// Replaces the value by what a function makes of it.
            #[inline]
            #[track_caller]
            // The other name is younger than the Rust that this is for.
            #[allow(deprecated)]
            pub fn fetch_update<F>(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                f: F,
            ) -> Result<$value, $value>
            where
                F: FnMut($value) -> Option<$value>,
            {
                self.0.fetch_update(set_order, fetch_order, f)
            }
        }

        impl$(<$t>)? std::fmt::Debug for $name$(<$t>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl$(<$t>)? Default for $name$(<$t>)? {
            fn default() -> Self {
                Self(Default::default())
            }
        }

        impl$(<$t>)? From<$value> for $name$(<$t>)? {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }
    };
}

/// Operations with a value that give the old one.
macro_rules! operations {
    ($name:ident, $value:ty, $($operation:ident)*) => {
        impl $name {
            $(
                #[doc = concat!("As [`std::sync::atomic::", stringify!($name), "::", stringify!($operation), "`].")]
                #[inline]
                #[track_caller]
                pub fn $operation(&self, value: $value, order: Ordering) -> $value {
                    self.0.$operation(value, order)
                }
            )*
        }
    };
}

macro_rules! integers {
    ($($name:ident $value:ty)*) => {
        $(
            atomic!($name, $value);
            operations!($name, $value, fetch_add fetch_sub fetch_and fetch_nand fetch_or fetch_xor fetch_max fetch_min);
        )*
    };
}

integers! {
    AtomicU8 u8
    AtomicU16 u16
    AtomicU32 u32
    AtomicU64 u64
    AtomicUsize usize
    AtomicI8 i8
    AtomicI16 i16
    AtomicI32 i32
    AtomicI64 i64
    AtomicIsize isize
}

atomic!(AtomicBool, bool);
operations!(AtomicBool, bool, fetch_and fetch_nand fetch_or fetch_xor);
atomic!(AtomicPtr, *mut T, T);
