//! What the tool asks of the C library. This is its only unsafe code: all other crates forbid it.

/// Returns memory that was freed, and that the allocator keeps for later, to the operating system.
pub fn release_freed_memory() {
    unsafe extern "C" {
        fn malloc_trim(pad: usize) -> i32;
    }
    // SAFETY: `malloc_trim` accepts any number, may be called at any time from any thread, and releases only memory that is
    // not in use.
    unsafe { malloc_trim(0) };
}
