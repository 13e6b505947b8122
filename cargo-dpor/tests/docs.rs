//! What the documentation says is so.

mod support;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use support::{Project, repository, without_times};

/// A block of a page.
struct Block {
    language: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let parts = page.split("```").skip(1).step_by(2);
    let block = |part: &str| {
        let (language, text) = part.split_once('\n').unwrap();
        Block { language: language.to_owned(), text: text.to_owned() }
    };
    parts.map(block).collect()
}

/// The tutorial followed to the letter: code goes to `src/lib.rs`, commands are run, and print what is shown.
#[test]
fn the_tutorial_shows_what_happens() {
    let path = repository().join("docs/tutorial.md");
    let page = fs::read_to_string(&path).unwrap();
    let project = Project::package("tutorial", "");
    let (mut printed, mut expected) = (String::new(), Vec::new());
    for block in blocks(&page) {
        match block.language.as_str() {
            "rust" => project.write("src/lib.rs", &block.text),
            "sh" => {
                let arguments = block.text.trim().strip_prefix("cargo dpor ").unwrap();
                printed = without_times(&project.run(arguments).stdout);
            }
            "text" => expected.push((block.text, printed.clone())),
            other => panic!("what is {other}?"),
        }
    }
    assert_eq!(expected.len(), 3);
    if env::var_os("BLESS").is_some_and(|value| value == "1") {
        let mut parts: Vec<String> = page.split("```text\n").map(str::to_owned).collect();
        for (part, (_, printed)) in parts[1..].iter_mut().zip(&expected) {
            let rest = part.find("```").unwrap();
            part.replace_range(..rest, printed);
        }
        return fs::write(&path, parts.join("```text\n")).unwrap();
    }
    for (shown, printed) in expected {
        assert_eq!(without_times(&shown), printed);
    }
}

/// The examples of the pages on memory models fail as they say.
#[test]
fn the_examples_of_the_models_fail_as_they_say() {
    let project = Project::package("model_pages", "").file("src/lib.rs", "");
    let mut pages = 0;
    for entry in fs::read_dir(repository().join("docs/models")).unwrap() {
        let path = entry.unwrap().path();
        let code = blocks(&fs::read_to_string(&path).unwrap());
        let code: String =
            code.iter().filter(|block| block.language == "rust").map(|block| block.text.as_str()).collect();
        project.write(&format!("tests/{}.rs", path.file_stem().unwrap().to_str().unwrap()), &code);
        pages += 1;
    }
    assert_eq!(pages, 4);
    project.run("test -q --no-fail-fast").expect_code(0).expect_stdout(&["4 tests run: 4 passed"]);
}

fn pages(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") && !path.ends_with(".git") {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// Links to other files of the repository lead somewhere.
#[test]
fn links_lead_somewhere() {
    let mut found = vec![repository().join("README.md")];
    pages(&repository().join("docs"), &mut found);
    for page in found {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            assert!(page.parent().unwrap().join(file).exists(), "{}: {link}", page.display());
        }
    }
}

/// The recipe for GitHub has options that there are.
#[test]
fn the_recipe_for_github_runs() {
    let recipe = fs::read_to_string(repository().join("docs/ci/dpor.yml")).unwrap();
    let command = recipe.lines().find_map(|line| line.trim().strip_prefix("run: cargo dpor ")).unwrap();
    let project =
        Project::package("recipe", "").file("src/lib.rs", "#[cfg(test)]\n#[dpor::test]\nfn fails() { panic!() }\n");
    project.run(command).expect_code(1).expect_stdout(&["::error file=src/lib.rs,line=3"]);
}
