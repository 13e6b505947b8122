//! Programs as files: a header (magic, format version, length and checksum of what follows), then the program.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Program;

/// Changes with every change of the format; a file of another version is refused.
pub const FORMAT_VERSION: u32 = 13;

const MAGIC: &[u8; 8] = b"dporprog";
const HEADER: usize = MAGIC.len() + 4 + 8 + 4;

/// Why a program cannot be loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    #[error("cannot read {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} is not a program of cargo-dpor", path.display())]
    Foreign { path: PathBuf },
    #[error("{} has format {found}, this cargo-dpor reads format {FORMAT_VERSION}", path.display())]
    Version { path: PathBuf, found: u32 },
    #[error("{} is damaged", path.display())]
    Damaged { path: PathBuf },
    #[error("{} is damaged: it has {what}", path.display())]
    Invalid { path: PathBuf, what: &'static str },
}

impl Program {
    /// The program as the bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let payload =
            postcard::to_allocvec(self).expect("a program is plain data: nothing in it can fail to serialize");
        let mut bytes = Vec::with_capacity(HEADER + payload.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
        bytes.extend_from_slice(&payload);
        bytes
    }

    /// Tells programs apart: equal programs have equal ones, and others hardly ever.
    pub fn fingerprint(&self) -> String {
        let bytes = self.to_bytes();
        format!("{:08x}-{:x}", crc32fast::hash(&bytes[HEADER..]), bytes.len() - HEADER)
    }

    /// Writes the program to a file.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        std::fs::write(path, self.to_bytes())
    }

    /// Reads a program from a file.
    pub fn load(path: &Path) -> Result<Program, LoadError> {
        let bytes = std::fs::read(path).map_err(|source| LoadError::Io { path: path.to_owned(), source })?;
        Program::from_bytes(&bytes, path)
    }

    /// Reads a program from the bytes of a file, which is named in errors.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Program, LoadError> {
        let path = path.to_owned();
        if !bytes.starts_with(MAGIC) {
            return Err(LoadError::Foreign { path });
        }
        let Some((header, payload)) = bytes.split_at_checked(HEADER) else {
            return Err(LoadError::Damaged { path });
        };
        let version = read_u32(header, 8);
        if version != FORMAT_VERSION {
            return Err(LoadError::Version { path, found: version });
        }
        let len = u64::from(read_u32(header, 12)) | u64::from(read_u32(header, 16)) << 32;
        if len != payload.len() as u64 || read_u32(header, 20) != crc32fast::hash(payload) {
            return Err(LoadError::Damaged { path });
        }
        let program = postcard::from_bytes(payload).map_err(|_| LoadError::Damaged { path: path.clone() })?;
        match crate::vm::validate(&program) {
            Ok(()) => Ok(program),
            Err(what) => Err(LoadError::Invalid { path, what }),
        }
    }
}

fn read_u32(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(bytes: &[u8]) -> Result<Program, LoadError> {
        Program::from_bytes(bytes, Path::new("x.dpor"))
    }

    #[test]
    fn a_program_survives_the_round_trip() {
        let program =
            Program { crate_name: "stack".into(), messages: vec!["inline assembly".into()], ..Program::default() };
        assert_eq!(load(&program.to_bytes()).unwrap(), program);
        assert_eq!(load(&program.to_bytes()).unwrap().fingerprint(), program.fingerprint());
        assert_ne!(Program { crate_name: "other".into(), ..program.clone() }.fingerprint(), program.fingerprint());
    }

    #[test]
    fn damaged_and_foreign_files_are_refused() {
        let mut bytes = Program { crate_name: "stack".into(), ..Program::default() }.to_bytes();
        assert!(matches!(load(b"ELF"), Err(LoadError::Foreign { .. })));
        assert!(matches!(load(&bytes[..10]), Err(LoadError::Damaged { .. })));
        assert!(matches!(load(&bytes[..bytes.len() - 1]), Err(LoadError::Damaged { .. })));
        *bytes.last_mut().unwrap() ^= 1;
        assert!(matches!(load(&bytes), Err(LoadError::Damaged { .. })));
        bytes[8] = 99;
        assert!(matches!(load(&bytes), Err(LoadError::Version { found: 99, .. })));
    }
}
