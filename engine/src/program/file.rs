//! Programs as [files](super::sealed).

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Program;
use super::sealed::{Kind, SealError};

/// Changes with every change of the format; a file of another version is refused.
pub const FORMAT_VERSION: u32 = 14;

const KIND: Kind = Kind { magic: b"dporprog", version: FORMAT_VERSION };

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
        KIND.seal(&self.contents())
    }

    fn contents(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a program is plain data: nothing in it can fail to serialize")
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
        let payload = KIND.open(bytes).map_err(|error| match error {
            SealError::Foreign => LoadError::Foreign { path: path.clone() },
            SealError::Version { found, .. } => LoadError::Version { path: path.clone(), found },
            SealError::Damaged => LoadError::Damaged { path: path.clone() },
        })?;
        let program = postcard::from_bytes(payload).map_err(|_| LoadError::Damaged { path: path.clone() })?;
        match crate::vm::validate(&program) {
            Ok(()) => Ok(program),
            Err(what) => Err(LoadError::Invalid { path, what }),
        }
    }
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
