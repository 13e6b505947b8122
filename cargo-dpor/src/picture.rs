//! Pages with pictures of failing executions: one file each, which needs nothing else to be looked at, and the same graph
//! for Graphviz.

mod dot;
mod graph;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::report::{Sources, TestResult};
use graph::Graph;

/// What a page looks like; the data of the execution is put into it.
const PAGE: &str = include_str!("picture/page.html");

/// Where pages go.
pub struct Gallery {
    directory: PathBuf,
    /// What paths of the source are relative to.
    sources: Sources,
}

impl Gallery {
    pub fn open(directory: &Path, sources: &Sources) -> Result<Gallery> {
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot create the directory {}", directory.display()))?;
        Ok(Gallery { directory: directory.to_owned(), sources: sources.clone() })
    }

    /// Draws the failing executions of a test; `name` is that of the test, as a file.
    pub fn draw(&self, result: &mut TestResult, name: &str) -> Result<()> {
        let mut number = 0;
        for index in 0..result.verdict.findings.len() {
            let finding = &result.verdict.findings[index];
            let Some(execution) = finding.execution.as_ref().filter(|execution| !execution.trace.steps.is_empty())
            else {
                continue;
            };
            number += 1;
            let name = if number == 1 { name.to_owned() } else { format!("{name}.{number}") };
            let graph = Graph::new(result, finding, &execution.trace, &mut self.sources.clone());
            let path = self.directory.join(format!("{name}.html"));
            write(&path, &page(&graph)?)?;
            write(&path.with_extension("dot"), &dot::render(&graph))?;
            if let Some(execution) = &mut result.verdict.findings[index].execution {
                execution.picture = Some(path);
            }
        }
        Ok(())
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn page(graph: &Graph) -> Result<String> {
    let title = format!("{} in {}", graph.kind, graph.test);
    // Nothing in the data may look like a tag or a comment.
    let data = serde_json::to_string(graph)?.replace('<', "\\u003c");
    Ok(PAGE.replacen("{{title}}", &escape(&title), 1).replacen("{{data}}", &data, 1))
}

/// As it must be in HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
