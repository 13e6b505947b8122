//! `thread_local!` and `lazy_static!`.

/// Declares thread-locals that are fresh in each execution of a model: see [`LocalKey`](crate::thread::LocalKey).
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = const $init:block $(; $($rest:tt)*)?) => {
        $crate::thread_local!($(#[$attr])* $vis static $name: $t = $init);
        $($crate::thread_local!($($rest)*);)?
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = $init:expr; $($rest:tt)*) => {
        $crate::thread_local!($(#[$attr])* $vis static $name: $t = $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = $init:expr) => {
        $(#[$attr])*
        $vis static $name: $crate::thread::LocalKey<$t> = {
            fn __init() -> $t {
                $init
            }
            $crate::thread::LocalKey { init: __init, _p: ::std::marker::PhantomData }
        };
    };
}

/// Declares statics that are initialized at their first use in each execution of a model: see
/// [`Lazy`](crate::lazy_static::Lazy).
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
        $crate::lazy_static!($($rest)*);
    };
}
