//! The shadow of memory: one byte beside every byte.
//!
//! Bit 0 says that the byte is initialized, bit 1 that it may be accessed at all (the slots of a stack frame come to
//! life and die; a byte of a heap block is accessible as long as the block lives). A load may read a byte only where
//! both are set, so one wide comparison checks a whole scalar. Bit 2 says that the byte belongs to an atomic of a thread's
//! own whose value the execution graph has: as long as nothing else is written there, memory has the same value.

/// Accessible, not initialized.
pub const LIVE: u8 = 2;
/// Accessible and initialized.
pub const INIT: u8 = 3;
/// Accessible, initialized, and as the execution graph has it.
pub const IN_GRAPH: u8 = 7;

/// The shadow of eight readable bytes.
const INIT_WORD: u64 = 0x0303_0303_0303_0303;
const LIVE_WORD: u64 = 0x0202_0202_0202_0202;

/// Whether all bytes may be read. `N` is 1, 2, 4 or 8.
#[inline(always)]
pub fn readable<const N: usize>(shadow: [u8; N]) -> bool {
    let init = INIT_WORD & mask::<N>();
    word(shadow) & init == init
}

/// Whether all bytes may be written. `N` is 1, 2, 4 or 8.
#[inline(always)]
pub fn writable<const N: usize>(shadow: [u8; N]) -> bool {
    let live = LIVE_WORD & mask::<N>();
    word(shadow) & live == live
}

/// Whether all bytes of a range may be read.
#[inline]
pub fn all_readable(shadow: &[u8]) -> bool {
    shadow.iter().fold(INIT, |all, byte| all & byte) == INIT
}

/// Whether all bytes of a range may be written.
#[inline]
pub fn all_writable(shadow: &[u8]) -> bool {
    shadow.iter().fold(LIVE, |all, byte| all & byte) & LIVE == LIVE
}

/// Whether a byte is initialized.
#[inline(always)]
pub fn is_init(shadow: u8) -> bool {
    shadow & INIT == INIT
}

/// The shadow of a copy: what is uninitialized stays so, but everything copied to is accessible.
#[inline(always)]
pub fn of_copy(shadow: u8) -> u8 {
    shadow & INIT | LIVE
}

/// Makes all data 0 that is not initialized: nobody can tell the difference, but equal contents look equal then.
pub fn wipe(data: &mut [u8], shadow: &[u8]) {
    for (byte, shadow) in data.iter_mut().zip(shadow) {
        *byte &= 0u8.wrapping_sub(u8::from(is_init(*shadow)));
    }
}

#[inline(always)]
const fn mask<const N: usize>() -> u64 {
    u64::MAX >> (64 - 8 * N)
}

/// Bytes as a little-endian number.
#[inline(always)]
pub fn word<const N: usize>(bytes: [u8; N]) -> u64 {
    let mut whole = [0; 8];
    whole[..N].copy_from_slice(&bytes);
    u64::from_le_bytes(whole)
}

/// The low bytes of a number.
#[inline(always)]
pub fn low_bytes<const N: usize>(value: u64) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&value.to_le_bytes()[..N]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_scalar_counts() {
        assert!(readable([INIT; 4]));
        assert!(writable([LIVE, INIT, LIVE, INIT]));
        for at in 0..8 {
            let mut shadow = [INIT; 8];
            shadow[at] = LIVE;
            assert!(!readable(shadow) && writable(shadow));
            assert!(!all_readable(&shadow) && all_writable(&shadow));
            shadow[at] = 0;
            assert!(!readable(shadow) && !writable(shadow));
            assert!(!all_readable(&shadow) && !all_writable(&shadow));
        }
    }

    #[test]
    fn numbers_and_bytes() {
        assert_eq!(word([1, 2]), 0x0201);
        assert_eq!(low_bytes::<2>(0x0403_0201), [1, 2]);
    }
}
