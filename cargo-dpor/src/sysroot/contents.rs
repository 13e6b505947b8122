//! What a sysroot contains: a line for each file, with its length, a hash and its path.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Care;

/// Notes what a sysroot contains that is to have this name.
pub fn note(built: &Path, sysroot: &Path) -> Result<()> {
    let mut text = String::new();
    for path in files(built).with_context(|| format!("cannot read {}", built.display()))? {
        let bytes = fs::read(built.join(&path)).with_context(|| format!("cannot read {}", path.display()))?;
        text += &format!("{} {:016x} {}\n", bytes.len(), hash(&bytes), path.display());
    }
    let path = list(sysroot);
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Whether a sysroot contains what was noted. Of one that nothing was noted of, the libraries must be there.
pub fn is_whole(sysroot: &Path, care: Care) -> bool {
    if !sysroot.is_dir() {
        return false;
    }
    match fs::read_to_string(list(sysroot)) {
        Ok(text) => !text.is_empty() && text.lines().all(|line| is_there(sysroot, line, care).unwrap_or(false)),
        Err(_) => has_libraries(sysroot),
    }
}

fn list(sysroot: &Path) -> PathBuf {
    sysroot.with_added_extension("contents")
}

/// Whether the file of a line is there; `None` where the line is damaged itself.
fn is_there(sysroot: &Path, line: &str, care: Care) -> Option<bool> {
    let (len, rest) = line.split_once(' ')?;
    let (expected, path) = rest.split_once(' ')?;
    let path = sysroot.join(path);
    let same_length = len.parse() == Ok(path.metadata().ok()?.len());
    let same = || Some(hash(&fs::read(&path).ok()?) == u64::from_str_radix(expected, 16).ok()?);
    Some(same_length && (care == Care::Usual || same()?))
}

fn has_libraries(sysroot: &Path) -> bool {
    let Ok(files) = files(sysroot) else { return false };
    let is_library = |path: &Path, name: &str| {
        let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
        file.starts_with(name) && sysroot.join(path).metadata().is_ok_and(|metadata| metadata.len() > 0)
    };
    ["libcore-", "liballoc-", "libstd-"].iter().all(|name| files.iter().any(|path| is_library(path, name)))
}

/// All files below a directory, in order, by their paths from there.
fn files(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut rest = vec![PathBuf::new()];
    while let Some(path) = rest.pop() {
        for entry in fs::read_dir(directory.join(&path))? {
            let entry = entry?;
            let path = path.join(entry.file_name());
            if entry.file_type()?.is_dir() { rest.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    Ok(files)
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_changed_is_noticed() {
        let directory = std::env::temp_dir().join(format!("cargo-dpor-contents-{}", std::process::id()));
        let sysroot = directory.join("sysroot");
        fs::create_dir_all(sysroot.join("lib")).unwrap();
        let write = |text: &str| fs::write(sysroot.join("lib/libcore-1.rmeta"), text).unwrap();
        let look = || [Care::Usual, Care::Thorough].map(|care| is_whole(&sysroot, care));
        write("core");
        assert_eq!(look(), [false, false], "there are no libraries");
        note(&sysroot, &sysroot).unwrap();
        assert_eq!(look(), [true, true]);
        write("cure");
        assert_eq!(look(), [true, false]);
        write("co");
        assert_eq!(look(), [false, false]);
        fs::remove_file(sysroot.join("lib/libcore-1.rmeta")).unwrap();
        assert_eq!(look(), [false, false]);
        fs::remove_dir_all(&directory).unwrap();
    }
}
