//! Locks between processes.

use std::fs::{File, TryLockError};
use std::path::Path;

use anyhow::{Context, Result};

use crate::style::Style;

/// Waits, and says so, while another process has the lock. The lock lasts as long as the file is open.
pub fn lock(path: &Path, purpose: &str, style: Style) -> Result<File> {
    let cannot = || format!("cannot lock {}", path.display());
    let file = File::create(path).with_context(cannot)?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::WouldBlock) => {
            eprintln!("{} for another cargo-dpor {purpose}", style.status("Waiting"));
        }
        Err(TryLockError::Error(error)) => return Err(error).with_context(cannot),
    }
    file.lock().with_context(cannot)?;
    Ok(file)
}
