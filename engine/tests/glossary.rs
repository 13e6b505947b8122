//! Every name in docs/glossary.md exists in the file that the glossary gives for it.

use std::fs;
use std::path::Path;

/// The file and the name of a row of a table.
fn row(line: &str) -> Option<(&str, &str)> {
    let cells: Vec<&str> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
    let [.., file, name] = cells[..] else { return None };
    Some((file.strip_prefix('`')?.strip_suffix('`')?, name.strip_prefix('`')?.strip_suffix('`')?))
}

/// Whether a text defines a name: as a function, a type, a trait, or a variant.
fn defines(text: &str, name: &str) -> bool {
    let follows = |start: &str| text.match_indices(start).any(|(at, _)| !continues(&text[at + start.len()..]));
    ["fn ", "struct ", "enum ", "trait ", "type "].iter().any(|kind| follows(&format!("{kind}{name}")))
        || text.lines().any(|line| line.trim_start().strip_prefix(name).is_some_and(is_variant))
}

fn continues(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

fn is_variant(rest: &str) -> bool {
    rest.starts_with([',', '(']) || rest.starts_with(" {")
}

#[test]
fn every_name_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let glossary = fs::read_to_string(root.join("../docs/glossary.md")).unwrap();
    let rows: Vec<(&str, &str)> = glossary.lines().filter_map(row).collect();
    assert!(rows.len() > 30, "there are only {} rows", rows.len());
    for (file, name) in rows {
        let text = fs::read_to_string(root.join("src").join(file)).unwrap_or_else(|_| panic!("there is no {file}"));
        assert!(defines(&text, name), "{file} does not define `{name}`");
    }
}
