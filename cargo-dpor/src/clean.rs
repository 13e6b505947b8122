//! `cargo dpor clean`: forgets verdicts, or removes all that cargo-dpor has written to the target directory.

use anyhow::Result;

use crate::PASSED;
use crate::args::{CargoArgs, CleanArgs};
use crate::cache;
use crate::compile::target_directory;
use crate::style::Style;
use crate::toolchain::Toolchain;
use crate::workspace::Workspace;

/// `cargo dpor clean`
pub fn clean(args: &CleanArgs) -> Result<u8> {
    let style = Style::for_stderr(args.color);
    let (manifest_path, target_dir) = (args.manifest_path.clone(), args.target_dir.clone());
    let cargo = CargoArgs { manifest_path, target_dir, ..CargoArgs::default() };
    let workspace = Workspace::load(&Toolchain::find()?, &cargo)?;
    let part = (!args.all).then_some(cache::DIRECTORY);
    let files = target_directory::remove(&workspace.target_directory, part, style)?;
    let noun = match (args.all, files) {
        (true, 1) => "file",
        (true, _) => "files",
        (false, 1) => "verdict",
        (false, _) => "verdicts",
    };
    eprintln!("{} {files} {noun} in {}", style.status("Removed"), workspace.target_directory.display());
    Ok(PASSED)
}
