//! How a program was built that an execution belongs to: which packages and targets, with which features, in which
//! profile.
//!
//! A replay file may come from anybody. All that it says about how to build is here: it cannot make cargo do anything
//! but build other parts of the user's own workspace, and every name is validated before cargo sees it.

use std::path::{Component, Path, PathBuf};

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use crate::args::CargoArgs;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Build {
    /// The directory of the manifest, from the root of the workspace.
    directory: PathBuf,
    /// Whether there were settings on the command line that are not kept: they must be named again.
    pub configured: bool,
    all_tests: bool,
    package: Vec<String>,
    workspace: bool,
    exclude: Vec<String>,
    lib: bool,
    bins: bool,
    bin: Vec<String>,
    examples: bool,
    example: Vec<String>,
    tests: bool,
    test: Vec<String>,
    all_targets: bool,
    features: Vec<String>,
    all_features: bool,
    no_default_features: bool,
    profile: Option<String>,
}

impl Build {
    /// What of a command line matters to the program.
    pub fn new(args: &CargoArgs, directory: &Path) -> Build {
        let args = args.clone();
        Build {
            directory: directory.to_owned(),
            configured: !args.config.is_empty(),
            all_tests: args.all_tests,
            package: args.package,
            workspace: args.workspace,
            exclude: args.exclude,
            lib: args.lib,
            bins: args.bins,
            bin: args.bin,
            examples: args.examples,
            example: args.example,
            tests: args.tests,
            test: args.test,
            all_targets: args.all_targets,
            features: args.features,
            all_features: args.all_features,
            no_default_features: args.no_default_features,
            profile: if args.release { Some("release".to_owned()) } else { args.profile },
        }
    }

    /// Refuses what is not a name, and directories that may be outside of the workspace.
    pub fn validate(&self) -> Result<()> {
        let inside = self.directory.components().all(|component| matches!(component, Component::Normal(_)));
        ensure!(inside, "`directory` is not inside a workspace: {:?}", self.directory);
        let targets = self.bin.iter().chain(&self.example).chain(&self.test);
        check("package", self.package.iter().chain(&self.exclude), "_-.*?[]@:/#+")?;
        check("target", targets, "_-.*?[]")?;
        check("features", &self.features, "_-.+/?:, ")?;
        check("profile", &self.profile, "_-")
    }

    /// Where cargo is to be run, in the workspace with this root.
    pub fn directory(&self, root: &Path) -> PathBuf {
        root.join(&self.directory)
    }

    /// The same for cargo.
    pub fn args(&self) -> CargoArgs {
        let build = self.clone();
        CargoArgs {
            all_tests: build.all_tests,
            package: build.package,
            workspace: build.workspace,
            exclude: build.exclude,
            lib: build.lib,
            bins: build.bins,
            bin: build.bin,
            examples: build.examples,
            example: build.example,
            tests: build.tests,
            test: build.test,
            all_targets: build.all_targets,
            features: build.features,
            all_features: build.all_features,
            no_default_features: build.no_default_features,
            profile: build.profile,
            ..CargoArgs::default()
        }
    }
}

/// Names have letters, digits and some other characters, and do not look like options.
fn check<'a>(what: &str, names: impl IntoIterator<Item = &'a String>, others: &str) -> Result<()> {
    for name in names {
        let is_fine = name.chars().all(|c| c.is_alphanumeric() || others.contains(c));
        ensure!(is_fine && !name.is_empty() && !name.starts_with('-'), "`{what}` is not a name: {name:?}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::tests::parse;

    #[test]
    fn what_matters_to_the_program_is_kept() {
        let line = "cargo-dpor test --all-tests -p a@1.2 --lib --bin x-y --features a/b,c --no-default-features -r";
        let args = parse(&format!("{line} --config a.toml --target-dir t --manifest-path m --jobs 3 --locked")).cargo;
        let build = Build::new(&args, "member".as_ref());
        build.validate().unwrap();
        let line = line.replace("-r", "--profile release");
        assert_eq!(format!("{:?}", build.args()), format!("{:?}", parse(&line).cargo));
        assert!(build.configured);
    }

    #[test]
    fn nothing_else_reaches_cargo() {
        for json in [
            r#"{"config":["build.rustc='/tmp/x'"]}"#,
            r#"{"target_dir":"/home"}"#,
            r#"{"manifest_path":"/tmp/Cargo.toml"}"#,
            r#"{"directory":"/tmp"}"#,
            r#"{"directory":"a/../.."}"#,
            r#"{"package":["--config=a"]}"#,
            r#"{"bin":["a\n"]}"#,
            r#"{"features":["a\"b"]}"#,
            r#"{"profile":"x\"\nrustflags=[]"}"#,
            r#"{"profile":""}"#,
        ] {
            let build = serde_json::from_str(json).map_err(anyhow::Error::from);
            assert!(build.and_then(|build: Build| build.validate()).is_err(), "{json}");
        }
        serde_json::from_str::<Build>("{}").unwrap().validate().unwrap();
    }
}
