//! The address space of a checked program: which addresses mean what, in every execution alike.
//!
//! Addresses are plain 64-bit numbers below 2^47, so that programs which tag the low bits of a pointer, or pack data
//! into its upper 16 bits, work. They are deterministic: a heap address is a function of (thread, n-th allocation of
//! that thread), a stack address of (thread, n-th frame of that thread, offset). They are never reused, so a dangling
//! pointer is always recognised, and allocations lie at least a granule apart, so an access that runs over the end of
//! one never hits another.
//!
//! ```text
//! bit 46 set   stack   | thread: 10 bits | frame serial: 22 bits | offset: 14 bits |
//! bit 46 clear region  | region: 10 bits | granule: 24 bits      | offset: 12 bits |
//!              region 0: code, region 1: globals, region 2 + t: the heap of thread t
//! ```

/// Log2 of the size of a granule: an allocation takes one or more whole granules of its region.
pub const GRANULE_BITS: u32 = 12;
/// Log2 of the size of a region.
pub const REGION_BITS: u32 = 36;
/// How many granules a region has.
pub const GRANULES_PER_REGION: u64 = 1 << (REGION_BITS - GRANULE_BITS);
/// The region of function addresses.
pub const CODE_REGION: u64 = 0;
/// The region of statics, constants and vtables.
pub const GLOBAL_REGION: u64 = 1;
/// The heap of thread `t` is region `HEAP_REGION + t`.
pub const HEAP_REGION: u64 = 2;
/// How many threads an execution can have.
pub const MAX_THREADS: usize = 1000;
/// The bit that marks stack addresses.
pub const STACK_BIT: u64 = 1 << 46;
/// Where the address space ends.
pub const END: u64 = 1 << 47;
/// Log2 of the largest frame.
pub const FRAME_BITS: u32 = 14;
/// The largest frame, in bytes; locals that do not fit are allocated on their own.
pub const MAX_FRAME: u32 = 1 << FRAME_BITS;
/// Bits of a frame's serial number.
pub const SERIAL_BITS: u32 = 22;

/// Where functions begin: not at a number that programs use for something else, since what looks like the address of a function
/// is taken for one when it is asked what a test may call.
const CODE_BASE: u64 = 0x7_35a9_2000;
const CODE_STEP: u64 = 16;

/// The address of the `index`-th function.
pub fn code_address(index: u32) -> u64 {
    CODE_BASE + u64::from(index) * CODE_STEP
}

/// The function that starts at `address`, if it is one.
pub fn code_index(address: u64) -> Option<u32> {
    let offset = address.checked_sub(CODE_BASE)?;
    if address >> REGION_BITS != CODE_REGION || !offset.is_multiple_of(CODE_STEP) {
        return None;
    }
    u32::try_from(offset / CODE_STEP).ok()
}

/// Where an allocation of `size` bytes with alignment `align` goes in a region whose first free granule is `granule`:
/// its offset in the region, and the next free granule.
///
/// The offset is aligned to `align` and, where that fits, to no more than `align`, so that relying on a larger
/// alignment than the one asked for shows.
pub fn place_in_region(granule: u64, size: u64, align: u64) -> (u64, u64) {
    let start = granule << GRANULE_BITS;
    let offset = if align < 1 << (GRANULE_BITS - 1) { start + align } else { start.next_multiple_of(align) };
    let end = offset.saturating_add(size).saturating_add(1);
    (offset, end.div_ceil(1 << GRANULE_BITS) + 1)
}

/// The address of `offset` in `region`.
pub fn region_address(region: u64, offset: u64) -> u64 {
    (region << REGION_BITS) | offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_addresses_round_trip() {
        for index in [0, 1, 77, 1 << 20] {
            assert_eq!(code_index(code_address(index)), Some(index));
        }
        assert_eq!(code_index(code_address(3) + 1), None);
        assert_eq!(code_index(0), None);
        // Powers of two and their multiples are sizes, limits and masks.
        let sizes = (0..36).flat_map(|bits| [1, 3, 5, 10].map(|factor| factor << bits));
        assert!(sizes.into_iter().all(|size| code_index(size).is_none_or(|index| index > 1 << 20)));
        assert_eq!(code_index(region_address(GLOBAL_REGION, 0x1000)), None);
    }

    #[test]
    fn placement_is_aligned_exactly_and_leaves_a_gap() {
        for align_log in 0..11 {
            let align = 1 << align_log;
            let (offset, next) = place_in_region(5, 100, align);
            assert_eq!(offset % align, 0);
            assert_ne!(offset % (2 * align), 0);
            assert!((next << GRANULE_BITS) - (offset + 100) > 1 << GRANULE_BITS >> 1);
        }
        let (offset, _) = place_in_region(5, 100, 1 << 14);
        assert_eq!(offset % (1 << 14), 0);
    }
}
