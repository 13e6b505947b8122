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

/// A file of the standard library without where it was when that was compiled.
pub fn short_file(file: &str) -> &str {
    match file.strip_prefix("/rustc/").and_then(|rest| rest.split_once('/')) {
        Some((_, rest)) => rest,
        None => file,
    }
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
    fn files_of_the_library_are_relative() {
        assert_eq!(short_file("/rustc/abc/library/std/src/lib.rs"), "library/std/src/lib.rs");
        assert_eq!(short_file("src/lib.rs"), "src/lib.rs");
        assert_eq!(last_segment("a::b::X"), "X");
    }
}
