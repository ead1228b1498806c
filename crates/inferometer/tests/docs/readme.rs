//! The report that `README.md` shows: with the lines that reports have, each explained below it.

use std::collections::BTreeSet;
use std::fs;

use crate::{read, root};

/// The labels that stand at the beginning of a report's lines.
fn printed() -> BTreeSet<String> {
    let parts = fs::read_dir(root().join("crates/report/src/part")).unwrap();
    let sources = parts.map(|part| fs::read_to_string(part.unwrap().path()).unwrap()).collect::<String>();
    let facts = sources.split("label: \"").skip(1).filter_map(|rest| rest.split('"').next());
    // The rows of the table of times: ("TTFT", name::TTFT).
    let rows = sources.split("\", name::").filter_map(|before| before.rsplit("(\"").next());
    let is_label = |label: &&str| label.len() < 20 && !label.contains(['"', '\n']);
    facts.chain(rows).filter(is_label).map(str::to_owned).collect()
}

/// The labels of the report in `document`: the first words of each line under the title's rule that begins at the
/// margin. A warning has none.
fn shown(document: &str) -> BTreeSet<String> {
    let (_, block) = document.split_once("```text\n$ inferometer run").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let lines = block.lines().skip_while(|line| !line.starts_with('─')).skip(1);
    let begins = lines.filter(|line| line.starts_with(|c: char| c.is_alphabetic()));
    begins.filter_map(|line| line.split_once("  ")).map(|(label, _)| label.to_owned()).collect()
}

/// The labels in the first column of the table "line by line".
fn explained(document: &str) -> BTreeSet<String> {
    let (_, table) = document.split_once("| line | says |\n|---|---|\n").unwrap();
    let rows = table.lines().map_while(|row| row.strip_prefix("| ")?.split_once(" | "));
    rows.flat_map(|(labels, _)| labels.split(", ")).map(str::to_owned).collect()
}

#[test]
fn the_report_shown_is_one_that_is_printed() {
    let document = read("README.md");
    let (printed, shown) = (printed(), shown(&document));
    let strange: Vec<_> = shown.difference(&printed).collect();
    assert!(strange.is_empty(), "no report has the lines {strange:?}, only {printed:?}");
    for label in ["TTFT", "latency", "TPOT", "tail", "throughput", "requests", "errors", "client", "folder"] {
        assert!(shown.contains(label), "{label} is not shown");
    }
    assert!(!document.contains("[≥ -"), "what cannot be below zero has no bound there");
}

#[test]
fn each_line_of_the_report_is_explained() {
    let document = read("README.md");
    assert_eq!(explained(&document), shown(&document));
}
