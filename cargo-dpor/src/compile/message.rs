//! What cargo says with `--message-format=json`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::TargetKind;

/// One line of cargo's output.
#[derive(Debug, PartialEq)]
pub enum Message {
    /// What the compiler says, ready to be shown.
    Diagnostic(String),
    /// A target that was compiled as a test.
    TestTarget(Artifact),
    /// Not a message: what some program wrote to the same output.
    Text(String),
    /// Nothing that matters here.
    Other,
}

/// A target compiled as a test.
#[derive(Debug, PartialEq)]
pub struct Artifact {
    pub package_id: String,
    pub kind: TargetKind,
    pub procedural_macro: bool,
    pub target: String,
    /// The file with the crate's metadata.
    pub metadata: PathBuf,
}

#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Raw {
    CompilerMessage {
        message: RawDiagnostic,
    },
    CompilerArtifact {
        package_id: String,
        target: RawTarget,
        profile: RawProfile,
        filenames: Vec<PathBuf>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct RawDiagnostic {
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct RawTarget {
    kind: Vec<String>,
    name: String,
}

#[derive(Deserialize)]
struct RawProfile {
    test: bool,
}

impl Message {
    pub fn parse(line: String) -> Message {
        match serde_json::from_str(&line) {
            Ok(Raw::CompilerMessage { message }) => message.rendered.map_or(Message::Other, Message::Diagnostic),
            Ok(Raw::CompilerArtifact { package_id, target, profile, filenames }) if profile.test => {
                match filenames.into_iter().find(|path| is_metadata(path)) {
                    Some(metadata) => Message::TestTarget(Artifact::new(package_id, target, metadata)),
                    None => Message::Other,
                }
            }
            Ok(_) => Message::Other,
            Err(_) => Message::Text(line),
        }
    }
}

fn is_metadata(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rmeta")
}

impl Artifact {
    fn new(package_id: String, target: RawTarget, metadata: PathBuf) -> Artifact {
        let is = |kind: &str| target.kind.iter().any(|other| other == kind);
        let kind = match () {
            () if is("bin") => TargetKind::Bin,
            () if is("test") => TargetKind::Test,
            () if is("example") => TargetKind::Example,
            () if is("bench") => TargetKind::Bench,
            // All else is some kind of library: `lib`, `rlib`, `cdylib`, `proc-macro`…
            () => TargetKind::Lib,
        };
        Artifact { package_id, kind, procedural_macro: is("proc-macro"), target: target.name, metadata }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact(kind: &str, test: bool) -> Message {
        Message::parse(format!(
            r#"{{"reason":"compiler-artifact","package_id":"p","target":{{"kind":["{kind}"],"name":"t"}},
                "profile":{{"test":{test},"opt_level":"0"}},"filenames":["/x/libt-1.rmeta"],"fresh":true}}"#
        ))
    }

    #[test]
    fn only_targets_compiled_as_tests_count() {
        assert_eq!(artifact("lib", false), Message::Other);
        let Message::TestTarget(test) = artifact("cdylib", true) else { panic!() };
        assert_eq!((test.kind, test.procedural_macro), (TargetKind::Lib, false));
        let Message::TestTarget(test) = artifact("proc-macro", true) else { panic!() };
        assert_eq!((test.kind, test.procedural_macro), (TargetKind::Lib, true));
        let Message::TestTarget(test) = artifact("example", true) else { panic!() };
        assert_eq!((test.kind, test.metadata.as_path()), (TargetKind::Example, Path::new("/x/libt-1.rmeta")));
    }

    #[test]
    fn diagnostics_are_as_the_compiler_renders_them() {
        let line = r#"{"reason":"compiler-message","message":{"rendered":"warning: x\n"}}"#;
        assert_eq!(Message::parse(line.into()), Message::Diagnostic("warning: x\n".into()));
    }

    #[test]
    fn what_is_no_message_is_kept() {
        assert_eq!(Message::parse("hello".into()), Message::Text("hello".into()));
        assert_eq!(Message::parse(r#"{"reason":"build-finished","success":true}"#.into()), Message::Other);
    }
}
