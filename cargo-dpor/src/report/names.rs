//! Short names of functions and files: enough to recognise them.

/// The last part of a path: `a::b::C` is `C`.
pub fn last_segment(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// What the compiler makes to drop a value of a type.
const DROP_GLUE: &str = "std::ptr::drop_glue::<";

/// Whether a function is a method of an atomic, or a fence.
pub fn is_atomic_method(name: &str) -> bool {
    without_generics(name).contains("sync::atomic::")
}

/// A function without modules and generic arguments: `<std::sync::Arc<u8> as std::ops::Drop>::drop` is `Arc::drop`.
pub fn short_function(name: &str) -> String {
    let name = name.split(" - shim").next().unwrap_or(name);
    if let Some((kind, _)) = name.strip_prefix(DROP_GLUE).and_then(split_qualified) {
        if kind.starts_with("{closure") {
            return "drop of a closure".to_owned();
        }
        return format!("drop of {}", last_segment(&without_generics(kind)));
    }
    let (kind, rest) = match name.strip_prefix('<').and_then(split_qualified) {
        Some((kind, rest)) => (Some(kind), rest),
        None => (None, name),
    };
    let plain = without_generics(rest);
    let mut segments: Vec<&str> = plain.split("::").filter(|segment| !segment.is_empty()).collect();
    let kind = kind.map(without_generics);
    if let Some(kind) = &kind {
        segments.insert(0, last_segment(kind));
    }
    // A type, or a module, and the function: what is inside of it belongs to it.
    let is_closure = |segment: &&&str| segment.starts_with('{');
    let end = segments.iter().rposition(|segment| !is_closure(&segment)).map_or(0, |last| last + 1);
    segments[end.saturating_sub(2)..end].join("::")
}

/// A function without its own generic arguments, if closures are among them: these are long, and the stack has them.
pub fn without_arguments(name: &str) -> &str {
    let mut depth = 0;
    for (at, character) in name.char_indices().rev() {
        match character {
            '>' if !name[..at].ends_with('-') => depth += 1,
            '<' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let (path, arguments) = name.split_at(at);
            let is_long = arguments.ends_with('>') && arguments.contains("{closure@");
            return path.strip_suffix("::").filter(|_| is_long).unwrap_or(name);
        }
    }
    name
}

/// `Type as Trait>::rest` or `Type>::rest`: the type, and the rest.
fn split_qualified(text: &str) -> Option<(&str, &str)> {
    let mut depth = 1;
    let mut end_of_type = None;
    for (at, character) in text.char_indices() {
        match character {
            '<' => depth += 1,
            '>' if !text[..at].ends_with('-') => depth -= 1,
            ' ' if depth == 1 && text[at..].starts_with(" as ") => end_of_type = end_of_type.or(Some(at)),
            _ => {}
        }
        if depth == 0 {
            return Some((&text[..end_of_type.unwrap_or(at)], &text[at + 1..]));
        }
    }
    None
}

fn without_generics(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut depth = 0;
    let mut last = ' ';
    for character in text.chars() {
        match character {
            '<' => depth += 1,
            '>' if last != '-' => depth -= 1,
            _ if depth == 0 => plain.push(character),
            _ => {}
        }
        last = character;
    }
    plain
}

/// A file without the directory that holds all sources of its kind: `library/std/src/lib.rs` of the standard library,
/// `heapless-0.9.3/src/spsc.rs` of a dependency that cargo has downloaded.
pub fn short_file(file: &str) -> &str {
    let in_std = file.strip_prefix("/rustc/");
    let after = |directory: &str| file.split_once(directory).map(|(_, rest)| rest);
    let within_registry = || after("/registry/src/").and_then(|rest| rest.split_once('/'));
    match in_std.and_then(|rest| rest.split_once('/')).or_else(within_registry) {
        Some((_, rest)) => rest,
        None => after("/git/checkouts/").unwrap_or(file),
    }
}

/// The end of a path that tells it apart from other paths: the file's name, with as many directories as that needs.
/// `lib.rs` and `mod.rs` say too little without theirs.
/// Of the root of a crate, the name of the crate is enough: `spin/lib.rs` for `spin-0.5.1/src/lib.rs`.
pub fn distinct(path: &str, others: &[&str]) -> String {
    let is_other = |other: &&&str| **other != path;
    match crate_root(path)
        .filter(|root| others.iter().filter(is_other).all(|other| crate_root(other).as_ref() != Some(root)))
    {
        Some(root) if !is_alone(path, others) => root,
        _ => distinct_end(path, others).to_owned(),
    }
}

/// Whether no other path is the root of a crate.
fn is_alone(path: &str, others: &[&str]) -> bool {
    others.iter().all(|other| *other == path || !other.ends_with("src/lib.rs"))
}

/// The root of a crate, with its name.
fn crate_root(path: &str) -> Option<String> {
    let directory = path.strip_suffix("/src/lib.rs")?.rsplit('/').next()?;
    let versioned = directory.rsplit_once('-').filter(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()));
    Some(format!("{}/lib.rs", versioned.map_or(directory, |(name, _)| name)))
}

fn distinct_end<'p>(path: &'p str, others: &[&str]) -> &'p str {
    let ends = path.rmatch_indices('/').map(|(at, _)| &path[at + 1..]).filter(|end| !end.is_empty());
    let says_little = |end: &str| matches!(end, "lib.rs" | "mod.rs" | "main.rs");
    let ends_with =
        |other: &str, end: &str| other.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    let is_distinct = |end: &str| others.iter().all(|other| *other == path || !ends_with(other, end));
    ends.into_iter().find(|end| !says_little(end) && is_distinct(end)).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_keep_their_type_and_name() {
        for (name, short) in [
            ("std::sync::Mutex::<i32>::lock", "Mutex::lock"),
            ("<std::sync::Arc<Shared<u8>> as std::ops::Drop>::drop", "Arc::drop"),
            ("<std::sync::Arc<fn(u8) -> u8> as std::clone::Clone>::clone", "Arc::clone"),
            ("<[u8]>::sort", "[u8]::sort"),
            ("std::thread::park", "thread::park"),
            ("std::sync::Once::call_once::<{closure@src/lib.rs:3:5: 3:7}>::{closure#0}", "Once::call_once"),
            ("std::ptr::drop_glue::<std::sync::Arc<[u8; 2]>> - shim(Some(std::sync::Arc<[u8; 2]>))", "drop of Arc"),
            ("std::ptr::drop_glue::<{closure@src/lib.rs:1:2: 1:3}>", "drop of a closure"),
            ("main", "main"),
        ] {
            assert_eq!(short_function(name), short);
        }
        assert!(is_atomic_method("std::sync::atomic::Atomic::<u8>::load"));
        assert!(!is_atomic_method("std::ptr::drop_glue::<std::sync::Arc<std::sync::atomic::Atomic<u8>>>"));
    }

    #[test]
    fn closures_are_no_arguments() {
        let with = "dependency::SpinLock::<u32>::with::<(), {closure@tests/a.rs:10:46: 10:53}>";
        assert_eq!(without_arguments(with), "dependency::SpinLock::<u32>::with");
        for name in ["a::f::<u32>", "f", "a::<{closure@a.rs:1:2: 1:3}>::{closure#0}"] {
            assert_eq!(without_arguments(name), name);
        }
    }

    #[test]
    fn files_are_told_apart() {
        let files =
            ["src/lib.rs", "spin-0.5.1/src/lib.rs", "spin-0.5.1/src/mutex.rs", "tests/mutex.rs", "a/src/once.rs"];
        let short = files.map(|file| distinct(file, &files));
        assert_eq!(short, ["src/lib.rs", "spin/lib.rs", "src/mutex.rs", "tests/mutex.rs", "once.rs"]);
        assert_eq!(distinct("crates/stack/src/lib.rs", &["crates/stack/src/lib.rs"]), "src/lib.rs");
    }

    #[test]
    fn files_of_the_library_are_relative() {
        assert_eq!(short_file("/rustc/abc/library/std/src/lib.rs"), "library/std/src/lib.rs");
        assert_eq!(short_file("src/lib.rs"), "src/lib.rs");
        let registry = "/home/me/.cargo/registry/src/example.org-1949cf8c6b5b557f/heapless-0.9.3/src/spsc.rs";
        assert_eq!(short_file(registry), "heapless-0.9.3/src/spsc.rs");
        assert_eq!(short_file("/home/me/.cargo/git/checkouts/a-0123/4567/src/lib.rs"), "a-0123/4567/src/lib.rs");
        assert_eq!(last_segment("a::b::X"), "X");
    }
}
