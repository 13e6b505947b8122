//! Our part of the user's target directory.
//!
//! Cargo does not know that what it keeps there depends on our driver and on our sysroot: when one of them is not the one
//! that was used last, everything is compiled again.
//!
//! A directory with our stamp is ours; nothing else is ever written to or removed.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result, bail};

use crate::cache;
use crate::lock;
use crate::style::Style;

/// Held while cargo runs and the programs are read.
const LOCK: &str = ".cargo-dpor.lock";
/// Names the driver and the sysroot that were used last.
const STAMP: &str = ".cargo-dpor.stamp";
/// What does not come from cargo, and is kept. The stamp stays until another takes its place: as long as anything is
/// left, the directory is known to be ours.
const KEPT: [&str; 4] = [LOCK, STAMP, "replay", cache::DIRECTORY];
/// What our directory is called, and where that is the name of somebody else's.
const NAMES: [&str; 2] = ["dpor", ".cargo-dpor"];

/// Our directory in a target directory. With `--target-dir .`, for example, a directory `dpor` may well be the user's.
pub fn within(target: &Path) -> Result<PathBuf> {
    match NAMES.map(|name| target.join(name)) {
        [usual, _] if is_ours(&usual) => Ok(usual),
        [_, other] if is_ours(&other) => Ok(other),
        [usual, other] => bail!("neither {} nor {} was created by cargo-dpor", usual.display(), other.display()),
    }
}

/// Whether a directory has our stamp, or has nothing yet, or nothing but our lock.
fn is_ours(path: &Path) -> bool {
    let Ok(entries) = fs::read_dir(path) else { return path.symlink_metadata().is_err() };
    let is_lock = |entry: fs::DirEntry| entry.file_name() == LOCK;
    path.join(STAMP).is_file() || entries.into_iter().all(|entry| entry.is_ok_and(is_lock))
}

/// Removes a part of our directory, or all of it, and says how many files that were. What has no stamp is left alone.
pub fn remove(path: &Path, part: Option<&str>, style: Style) -> Result<usize> {
    if !path.join(STAMP).is_file() {
        return Ok(0);
    }
    let _lock = lock::lock(&path.join(LOCK), "to compile the same crates", style)?;
    let removed = part.map_or_else(|| path.to_owned(), |part| path.join(part));
    let files = count(&removed);
    match fs::remove_dir_all(&removed) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", removed.display()))
        }
        _ => Ok(files),
    }
}

/// How many files are in a directory.
fn count(path: &Path) -> usize {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let files = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => count(&entry.path()),
        _ => 1,
    };
    entries.map(files).sum()
}

/// The directory, for this process alone as long as this lives.
pub struct TargetDirectory {
    path: PathBuf,
    _lock: File,
}

impl TargetDirectory {
    pub fn open(path: &Path, driver: &Path, sysroot: &Path, style: Style) -> Result<TargetDirectory> {
        let stamp = stamp(driver, sysroot)?;
        let cannot = || format!("cannot use the directory {}", path.display());
        fs::create_dir_all(path).with_context(cannot)?;
        let lock = lock::lock(&path.join(LOCK), "to compile the same crates", style)?;
        if !fs::read_to_string(path.join(STAMP)).is_ok_and(|last| last == stamp) {
            clear(path).with_context(cannot)?;
            fs::write(path.join(STAMP), stamp).with_context(cannot)?;
        }
        Ok(TargetDirectory { path: path.to_owned(), _lock: lock })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn stamp(driver: &Path, sysroot: &Path) -> Result<String> {
    let file = fs::metadata(driver).with_context(|| format!("cannot read {}", driver.display()))?;
    let modified = file.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    Ok(format!("{} {} {modified}\n{}\n", driver.display(), file.len(), sysroot.display()))
}

fn clear(path: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if KEPT.iter().any(|kept| entry.file_name() == *kept) {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_driver_or_sysroot_clears_the_directory() {
        let directory = std::env::temp_dir().join(format!("cargo-dpor-target-{}", std::process::id()));
        let driver = directory.join("driver");
        let target = directory.join("dpor");
        fs::create_dir_all(&target).unwrap();
        fs::write(&driver, "1").unwrap();
        let open =
            |sysroot: &str| drop(TargetDirectory::open(&target, &driver, sysroot.as_ref(), Style::plain()).unwrap());
        let build = || fs::write(target.join("program"), "").unwrap();
        let has_build = || target.join("program").exists();

        open("/a");
        build();
        let kept = ["replay", cache::DIRECTORY];
        kept.iter().for_each(|name| fs::create_dir(target.join(name)).unwrap());
        open("/a");
        assert!(has_build());
        open("/b");
        assert!(!has_build());
        build();
        fs::write(&driver, "22").unwrap();
        open("/b");
        assert!(!has_build());
        assert!(kept.iter().all(|name| target.join(name).is_dir()));
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn only_what_has_our_stamp_is_removed() {
        let target = std::env::temp_dir().join(format!("cargo-dpor-remove-{}", std::process::id()));
        fs::create_dir_all(target.join("cache")).unwrap();
        fs::write(target.join("cache/a"), "").unwrap();
        fs::write(target.join("thesis.tex"), "").unwrap();
        for part in [Some("cache"), None] {
            assert_eq!(remove(&target, part, Style::plain()).unwrap(), 0);
        }
        assert!(target.join("cache/a").exists());
        fs::write(target.join(STAMP), "").unwrap();
        assert_eq!(remove(&target, Some("cache"), Style::plain()).unwrap(), 1);
        assert_eq!(remove(&target, Some("cache"), Style::plain()).unwrap(), 0);
        assert!(!target.join("cache").exists() && target.join("thesis.tex").exists());
        remove(&target, None, Style::plain()).unwrap();
        assert!(!target.exists());
    }

    #[test]
    fn what_has_no_stamp_is_not_ours() {
        let target = std::env::temp_dir().join(format!("cargo-dpor-within-{}", std::process::id()));
        let (usual, other) = (target.join("dpor"), target.join(".cargo-dpor"));
        assert_eq!(within(&target).unwrap(), usual, "nothing is there");
        fs::create_dir_all(&usual).unwrap();
        fs::write(usual.join(LOCK), "").unwrap();
        assert_eq!(within(&target).unwrap(), usual, "nothing but a lock is there");
        fs::write(usual.join("thesis.tex"), "").unwrap();
        assert_eq!(within(&target).unwrap(), other);
        fs::write(&other, "a file").unwrap();
        assert!(within(&target).is_err());
        fs::write(usual.join(STAMP), "").unwrap();
        assert_eq!(within(&target).unwrap(), usual);
        fs::remove_dir_all(&target).unwrap();
    }
}
