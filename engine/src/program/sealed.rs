//! Files of ours: a header (what it is, in which version, the length and the checksum of what follows), then the
//! contents. Whatever else is in a file is refused before anybody looks at it.

use thiserror::Error;

/// A kind of file.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// What every such file begins with.
    pub magic: &'static [u8; 8],
    /// Changes with every change of the contents; a file of another version is refused.
    pub version: u32,
}

/// The magic, the version, the length and the checksum.
pub const HEADER: usize = 8 + 4 + 8 + 4;

/// Why a file is refused.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SealError {
    #[error("it is another kind of file")]
    Foreign,
    #[error("it has format {found}, and this cargo-dpor reads format {expected}")]
    Version { found: u32, expected: u32 },
    #[error("it is damaged")]
    Damaged,
}

impl Kind {
    /// The bytes of a file with these contents.
    pub fn seal(self, contents: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + contents.len());
        bytes.extend_from_slice(self.magic);
        bytes.extend_from_slice(&self.version.to_le_bytes());
        bytes.extend_from_slice(&(contents.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(contents).to_le_bytes());
        bytes.extend_from_slice(contents);
        bytes
    }

    /// The contents of a file.
    pub fn open(self, bytes: &[u8]) -> Result<&[u8], SealError> {
        if !bytes.starts_with(self.magic) {
            return Err(SealError::Foreign);
        }
        let (header, contents) = bytes.split_at_checked(HEADER).ok_or(SealError::Damaged)?;
        let found = number(&header[8..12]) as u32;
        if found != self.version {
            return Err(SealError::Version { found, expected: self.version });
        }
        let is_whole = number(&header[12..20]) == contents.len() as u64;
        let is_right = number(&header[20..]) == u64::from(crc32fast::hash(contents));
        if is_whole && is_right { Ok(contents) } else { Err(SealError::Damaged) }
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind { magic: b"dportest", version: 3 };

    #[test]
    fn only_what_was_sealed_is_opened() {
        let bytes = KIND.seal(b"contents");
        assert_eq!(KIND.open(&bytes), Ok(&b"contents"[..]));
        assert_eq!(KIND.open(b"ELF"), Err(SealError::Foreign));
        assert_eq!(Kind { magic: b"dporprog", ..KIND }.open(&bytes), Err(SealError::Foreign));
        let version = SealError::Version { found: 3, expected: 4 };
        assert_eq!(Kind { version: 4, ..KIND }.open(&bytes), Err(version));
        for len in 8..bytes.len() {
            assert_eq!(KIND.open(&bytes[..len]), Err(SealError::Damaged), "{len} bytes");
        }
        for at in 12..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            assert_eq!(KIND.open(&bytes), Err(SealError::Damaged), "byte {at}");
        }
    }
}
