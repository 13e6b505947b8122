//! Hints.

#[doc(no_inline)]
pub use std::hint::spin_loop;

/// Panics: it must not be reached.
///
/// # Safety
///
/// As for [`std::hint::unreachable_unchecked`].
#[track_caller]
pub unsafe fn unreachable_unchecked() -> ! {
    unreachable!("unreachable_unchecked was reached!");
}
