//! The graph of an execution for Graphviz.

use std::fmt::Write;

use super::graph::{Event, Graph, Lane};

/// The colors of edges, as on the page.
const COLORS: [(&str, &str); 3] = [("rf", "#1f7a3d"), ("co", "#a35a00"), ("sw", "#1f5fbf")];

/// A cluster for each thread, and all edges.
pub fn render(graph: &Graph) -> String {
    let mut text = format!("digraph {} {{\n", quoted(&graph.test));
    text += "  node [shape=box, fontname=\"monospace\"];\n  edge [fontname=\"monospace\"];\n";
    for lane in &graph.threads {
        thread(lane, graph, &mut text);
    }
    let kinds = [&graph.edges.rf, &graph.edges.co, &graph.edges.sw];
    for ((name, color), edges) in COLORS.iter().zip(kinds) {
        for (from, to) in edges {
            line(
                &mut text,
                format_args!("  {from} -> {to} [label={name}, color={}, constraint=false];", quoted(color)),
            );
        }
    }
    text + "}\n"
}

fn thread(lane: &Lane, graph: &Graph, text: &mut String) {
    let events: Vec<&Event> = graph.events.iter().filter(|event| event.thread == lane.number).collect();
    line(text, format_args!("  subgraph cluster_{} {{\n    label={};", lane.number, quoted(&lane.name)));
    for event in &events {
        let number = event.step.map(|step| format!("#{step} ")).unwrap_or_default();
        let color = if event.bad { ", color=\"#c4232f\", fontcolor=\"#c4232f\"" } else { "" };
        line(text, format_args!("    {} [label={}{color}];", event.id, quoted(&format!("{number}{}", event.text))));
    }
    for pair in events.windows(2) {
        line(text, format_args!("    {} -> {} [label=po];", pair[0].id, pair[1].id));
    }
    line(text, format_args!("  }}"));
}

fn line(text: &mut String, line: std::fmt::Arguments) {
    writeln!(text, "{line}").expect("strings take all");
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
