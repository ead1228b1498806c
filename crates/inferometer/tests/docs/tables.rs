//! Tables of fields: as the types have them.

use std::collections::BTreeSet;
use std::fs;

use crate::types::{is_in_a_file, items, name_of, rows};
use crate::{read, root};

/// Documents with tables, and where the types are that they show: each type there that goes into or out of a file.
const DOCUMENTS: [(&str, &[&str]); 2] = [
    (
        "docs/run-folder.md",
        &[
            "crates/record/src/manifest.rs",
            "crates/record/src/sample.rs",
            "crates/record/src/text.rs",
            "crates/plan/src/plan.rs",
            "crates/plan/src/target.rs",
            "crates/plan/src/load.rs",
            "crates/metrics/src/context.rs",
            "crates/metrics/src/health.rs",
            "crates/metrics/src/gate.rs",
            "crates/metrics/src/study.rs",
            "crates/metrics/src/compare/mod.rs",
            "crates/metrics/src/decide/mod.rs",
            "crates/metrics/src/episode.rs",
            "crates/metrics/src/checks/mod.rs",
            "crates/metrics/src/summary.rs",
            "crates/metrics/src/told.rs",
            "crates/app/src/client.rs",
            "crates/app/src/self_check/figures.rs",
            "crates/wire/src/flags.rs",
            "crates/wire/src/limits/mod.rs",
        ],
    ),
    (
        "docs/simulator.md",
        &[
            "crates/sim/src/config.rs",
            "crates/sim/src/cold.rs",
            "crates/sim/src/slots.rs",
            "crates/sim/src/limit.rs",
            "crates/sim/src/answers.rs",
            "crates/sim/src/price.rs",
            "crates/sim/src/truth.rs",
        ],
    ),
];

/// Begins a table: `<!-- fields of Sample in crates/record/src/sample.rs -->`.
const BEGIN: &str = "<!-- fields of ";
/// Ends it.
const END: &str = "<!-- end of fields -->";

#[test]
fn every_field_is_shown() {
    for (path, _) in DOCUMENTS {
        let written = read(path);
        let fresh = with_tables(&written);
        if std::env::var_os("INFEROMETER_WRITE_DOCS").is_some() {
            fs::write(root().join(path), &fresh).unwrap();
            continue;
        }
        let differing = written.lines().zip(fresh.lines()).find(|(written, fresh)| written != fresh);
        assert!(
            written == fresh,
            "{path} is not what the types say, first in {differing:?}: INFEROMETER_WRITE_DOCS=1 writes it anew"
        );
    }
}

#[test]
fn every_type_is_shown() {
    for (path, sources) in DOCUMENTS {
        let document = read(path);
        let shown: BTreeSet<(String, String)> = document.lines().filter_map(marker).collect();
        let there = sources.iter().flat_map(|source| {
            let types = items(source).into_iter().filter(is_in_a_file);
            types.map(|item| (name_of(&item), (*source).to_string()))
        });
        let there: BTreeSet<(String, String)> = there.collect();
        let differing: Vec<_> = shown.symmetric_difference(&there).collect();
        assert!(differing.is_empty(), "{path} shows what is not there, or not what is: {differing:?}");
        for (name, _) in &shown {
            assert!(document.contains(&format!("\n### {name}\n")), "{path}: no heading for {name}");
        }
        assert!(!document.contains("|  |"), "{path}: a field without a doc comment");
    }
}

/// The type and the file that a line begins the table of.
fn marker(line: &str) -> Option<(String, String)> {
    let (name, path) = line.strip_prefix(BEGIN)?.strip_suffix(" -->")?.split_once(" in ")?;
    Some((name.to_string(), path.to_string()))
}

/// `document` with every table as the types are now.
fn with_tables(document: &str) -> String {
    let mut fresh = String::new();
    let mut inside = false;
    for line in document.lines() {
        inside = inside && line != END;
        if inside {
            continue;
        }
        fresh.push_str(line);
        fresh.push('\n');
        if let Some((name, path)) = marker(line) {
            fresh.push_str(&table(&name, &path));
            inside = true;
        }
    }
    fresh
}

fn table(name: &str, path: &str) -> String {
    let rows = rows(name, path);
    let head = if rows.iter().all(|row| row.matches(" | ").count() == 1) {
        "| value | meaning |\n|---|---|\n"
    } else {
        "| field | type | meaning |\n|---|---|---|\n"
    };
    format!("\n{head}{}\n\n", rows.join("\n"))
}

/// Where else flags are given, and what stands before the name of one.
const FLAGS: [(&str, &str); 9] = [
    ("crates/metrics/src/fill.rs", "flag(sample, \""),
    ("crates/metrics/src/fill/gaps.rs", "flag(sample, \""),
    ("crates/metrics/src/fill/tokens.rs", "flag(sample, \""),
    ("crates/load/src/appraise.rs", "(\""),
    ("crates/price/src/cost.rs", ": &str = \""),
    ("crates/judge/src/content.rs", "=> \""),
    ("crates/judge/src/content.rs", "Finding::invalid(\""),
    ("crates/judge/src/termination.rs", "Finding::degraded(\""),
    ("crates/judge/src/transport.rs", "(\""),
];

#[test]
fn every_flag_is_shown() {
    let document = read("docs/run-folder.md");
    for (path, lead) in FLAGS {
        let source = read(path);
        let given: BTreeSet<&str> =
            source.split(lead).skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(!given.is_empty(), "{path} gives no flag after {lead}");
        let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        for flag in given.into_iter().filter(is_name) {
            assert!(document.contains(&format!("| `{flag}` |")), "{path} gives {flag}");
        }
    }
}

#[test]
fn a_field_that_is_not_shown_is_found() {
    let marker = "<!-- fields of Segment in crates/record/src/manifest.rs -->\n";
    let document = format!("{marker}\n| `monotonic_origin_ns` | integer | wrong |\n\n{END}\n");
    let fresh = with_tables(&document);
    assert_ne!(fresh, document);
    assert!(fresh.contains("| `wall_start` | string |"), "{fresh}");
    assert_eq!(with_tables(&fresh), fresh);
}
