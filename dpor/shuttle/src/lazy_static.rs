//! Statics that are initialized at their first use in each execution.

#[doc(no_inline)]
pub use crate::lazy_static;
#[doc(no_inline)]
pub use loom::lazy_static::Lazy;

/// What [`lazy_static!`](crate::lazy_static!) has declared.
pub trait LazyStatic {
    #[doc(hidden)]
    fn initialize(lazy: &Self);
}

/// Initializes a static now, if it was not before.
pub fn initialize<T: LazyStatic>(lazy: &T) {
    LazyStatic::initialize(lazy);
}

/// Declares statics that are initialized at their first use in each execution.
#[macro_export]
macro_rules! lazy_static {
    () => {};
    ($(#[$attr:meta])* $vis:vis static ref $name:ident: $t:ty = $init:expr; $($rest:tt)*) => {
        #[allow(missing_copy_implementations, non_camel_case_types, dead_code)]
        $(#[$attr])*
        $vis struct $name {
            __private_field: (),
        }
        #[doc(hidden)]
        $vis static $name: $name = $name { __private_field: () };
        impl ::core::ops::Deref for $name {
            type Target = $t;

            fn deref(&self) -> &$t {
                fn __init() -> $t {
                    $init
                }
                static LAZY: $crate::lazy_static::Lazy<$t> = $crate::lazy_static::Lazy::__new(__init);
                LAZY.get()
            }
        }
        impl $crate::lazy_static::LazyStatic for $name {
            fn initialize(lazy: &Self) {
                let _ = &**lazy;
            }
        }
        $crate::lazy_static!($($rest)*);
    };
}
