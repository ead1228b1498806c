//! The documentation keeps up with the code: `docs/run-folder.md` shows every field of every file of a run,
//! `docs/simulator.md` every key of its configuration, and `docs/figures.md` every figure under its names.
//!
//! The tables of the first two are made from the types and their doc comments. To write them anew:
//!
//! ```text
//! INFEROMETER_WRITE_DOCS=1 cargo test --package inferometer --test docs
//! ```
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests: a panic is the failure")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use inferometer_metrics::{Arrival, CellAccumulator, CellContext, Gate, Objectives, name};
use inferometer_record::Sample;
use syn::{Attribute, Expr, Fields, GenericArgument, Item, Lit, Meta, PathArguments, Type};

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
            "crates/metrics/src/summary.rs",
            "crates/app/src/self_check/figures.rs",
            "crates/wire/src/flags.rs",
        ],
    ),
    ("docs/simulator.md", &["crates/sim/src/config.rs", "crates/sim/src/truth.rs"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

// Tables of fields.

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
        assert_eq!(
            written, fresh,
            "{path}: the types say otherwise, first in {differing:?}: see this file's head"
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
        assert_eq!(shown, there.collect::<BTreeSet<_>>(), "{path}");
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

fn items(path: &str) -> Vec<Item> {
    syn::parse_file(&read(path)).unwrap().items
}

fn name_of(item: &Item) -> String {
    match item {
        Item::Struct(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        _ => String::new(),
    }
}

/// Whether a type goes into or out of a file. Flags are written by their names.
fn is_in_a_file(item: &Item) -> bool {
    let (Item::Struct(syn::ItemStruct { attrs, .. }) | Item::Enum(syn::ItemEnum { attrs, .. })) = item else {
        return false;
    };
    attrs.iter().any(|attr| attr.path().is_ident("derive") && tokens(attr).contains("erialize"))
        || name_of(item) == "Flag"
}

fn table(name: &str, path: &str) -> String {
    let item = items(path).into_iter().find(|item| name_of(item) == name);
    let rows: Vec<String> = match item.unwrap_or_else(|| panic!("{path} has no {name}")) {
        Item::Struct(item) => fields(&item.fields).into_iter().map(|field| field.row()).collect(),
        Item::Enum(item) => item.variants.iter().map(variant_row).collect(),
        _ => Vec::new(),
    };
    let head = if rows.iter().all(|row| row.matches(" | ").count() == 1) {
        "| value | meaning |\n|---|---|\n"
    } else {
        "| field | type | meaning |\n|---|---|---|\n"
    };
    format!("\n{head}{}\n\n", rows.join("\n"))
}

/// A field as JSON has it.
struct Field {
    name: String,
    kind: String,
    doc: String,
}

impl Field {
    fn row(&self) -> String {
        format!("| `{}` | {} | {} |", self.name, self.kind, self.doc)
    }
}

fn fields(fields: &Fields) -> Vec<Field> {
    let kept = fields.iter().filter(|field| !has_serde(&field.attrs, "skip"));
    let shown = kept.map(|field| {
        let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
        let kind = match serde_value(&field.attrs, "serialize_with").as_deref() {
            Some("as_seconds") => "number".to_string(),
            Some("as_optional_seconds") => "number or null".to_string(),
            Some("names_only") => "list of string".to_string(),
            Some("as_text") => "string".to_string(),
            Some("as_optional_text") => "string or null".to_string(),
            Some(other) => panic!("how does {other} serialise?"),
            None => kind(&field.ty),
        };
        let kind = match kind.strip_suffix(" or null") {
            Some(kind) if has_serde(&field.attrs, "skip_serializing_if") => format!("{kind}, or absent"),
            None if has_serde(&field.attrs, "skip_serializing_if") => format!("{kind}, or absent"),
            _ => kind,
        };
        Field { name: serde_value(&field.attrs, "rename").unwrap_or(name), kind, doc: doc(&field.attrs) }
    });
    shown.collect()
}

fn variant_row(variant: &syn::Variant) -> String {
    let inner = fields(&variant.fields).into_iter().map(|field| {
        let name = if field.name.is_empty() { String::new() } else { format!("`{}` ", field.name) };
        let doc = if field.doc.is_empty() { String::new() } else { format!(": {}", field.doc) };
        format!(" With {name}({}){doc}", field.kind)
    });
    let text = doc(&variant.attrs) + &inner.collect::<String>();
    format!("| `{}` | {text} |", snake_case(&variant.ident.to_string()))
}

fn snake_case(camel: &str) -> String {
    let lower = camel.char_indices().map(|(at, letter)| {
        let gap = if at > 0 && letter.is_uppercase() { "_" } else { "" };
        format!("{gap}{}", letter.to_lowercase())
    });
    lower.collect()
}

/// What a type is in JSON.
fn kind(of: &Type) -> String {
    if let Type::Array(array) = of {
        return format!("list of {}", kind(&array.elem));
    }
    let Type::Path(path) = of else { return "JSON".to_string() };
    let last = path.path.segments.last().unwrap();
    let inner = match &last.arguments {
        PathArguments::AngleBracketed(inside) => inside.args.iter().filter_map(|argument| match argument {
            GenericArgument::Type(inner) => Some(kind(inner)),
            _ => None,
        }),
        _ => return plain(&last.ident.to_string()),
    };
    let inner = inner.last().unwrap_or_default();
    match last.ident.to_string().as_str() {
        "Option" => format!("{inner} or null"),
        "Vec" => format!("list of {inner}"),
        "BTreeMap" => format!("object of {inner}"),
        "Box" => inner,
        _ => "JSON".to_string(),
    }
}

fn plain(ident: &str) -> String {
    match ident {
        "u8" | "u16" | "u32" | "u64" | "usize" | "NonZeroU32" => "integer".to_string(),
        "f64" | "Num" => "number".to_string(),
        "Duration" => "time".to_string(),
        "SocketAddr" => "address".to_string(),
        "Distribution" => "law".to_string(),
        "bool" => "boolean".to_string(),
        "String" | "PathBuf" | "Dialect" | "Objectives" | "Gate" | "Cache" => "string".to_string(),
        "Value" | "RawValue" | "Map" | "Source" => "JSON".to_string(),
        other => other.to_string(),
    }
}

fn tokens(attr: &Attribute) -> String {
    match &attr.meta {
        Meta::List(list) => list.tokens.to_string(),
        _ => String::new(),
    }
}

/// The words of every `#[serde(…)]`: `rename = "final"`, `skip`.
fn serde_words(attrs: &[Attribute]) -> Vec<String> {
    let serde = attrs.iter().filter(|attr| attr.path().is_ident("serde"));
    serde
        .flat_map(|attr| tokens(attr).split(',').map(|word| word.trim().to_string()).collect::<Vec<_>>())
        .collect()
}

fn has_serde(attrs: &[Attribute], word: &str) -> bool {
    serde_words(attrs).iter().any(|said| said == word || said.starts_with(&format!("{word} =")))
}

fn serde_value(attrs: &[Attribute], word: &str) -> Option<String> {
    let words = serde_words(attrs);
    let said = words.iter().find_map(|said| said.strip_prefix(word)?.trim().strip_prefix('='))?;
    Some(said.trim().trim_matches('"').to_string())
}

/// A doc comment as one cell of a table.
fn doc(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value().trim().to_string()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let text = lines.collect::<Vec<_>>().join(" ");
    text.trim().replace("[`", "`").replace("`crate::", "`").replace("`]", "`").replace('|', "\\|")
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

// Figures.

/// One section of `docs/figures.md`: `### name`, then `unit · in gates \`a\`, \`b\` · in objectives \`a\``.
struct Figure {
    name: String,
    unit: String,
    gates: Vec<String>,
    objectives: Vec<String>,
}

fn figures(document: &str) -> Vec<Figure> {
    let sections = document.split("\n### ").skip(1);
    let figure = |section: &str| {
        let mut lines = section.lines().filter(|line| !line.is_empty());
        let name = lines.next().unwrap_or_default().trim_matches('`').to_string();
        let facts: Vec<&str> = lines.next().unwrap_or_default().split(" · ").collect();
        let named = |lead: &str| {
            let listed = facts.iter().find_map(|fact| fact.strip_prefix(lead)).unwrap_or_default();
            listed
                .split(", ")
                .filter(|name| !name.is_empty())
                .map(|name| name.trim_matches('`').to_string())
                .collect()
        };
        Figure {
            name,
            unit: facts.first().copied().unwrap_or_default().to_string(),
            gates: named("in gates "),
            objectives: named("in objectives "),
        }
    };
    sections.map(figure).collect()
}

/// Every name in `metrics::name`, out of its source.
fn names() -> BTreeSet<String> {
    let items = items("crates/metrics/src/names.rs");
    let inside = items.into_iter().find_map(|item| match item {
        Item::Mod(module) if module.ident == "name" => module.content.map(|(_, items)| items),
        _ => None,
    });
    let constants = inside.unwrap_or_default().into_iter().filter_map(|item| match item {
        Item::Const(constant) => match *constant.expr {
            Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    constants.collect()
}

/// The figure that a gate on `given` is about: a distribution by its p95, a single number by itself.
fn gated(given: &str) -> Option<&'static str> {
    let parsed = [format!("{given}_p95>1"), format!("{given}>1")]
        .into_iter()
        .find_map(|gate| gate.parse::<Gate>().ok());
    parsed.map(|gate| gate.metric())
}

#[test]
fn every_figure_is_shown() {
    let shown: Vec<String> =
        figures(&read("docs/figures.md")).into_iter().map(|figure| figure.name).collect();
    assert_eq!(shown.iter().cloned().collect::<BTreeSet<_>>(), names());
    assert_eq!(shown.len(), names().len(), "a figure is shown twice");
}

#[test]
fn every_name_in_gates_and_objectives_is_one() {
    for figure in figures(&read("docs/figures.md")) {
        let name = figure.name.as_str();
        for alias in &figure.gates {
            assert_eq!(gated(alias), Some(name), "{alias}");
        }
        assert_eq!(gated(name).is_some(), !figure.gates.is_empty(), "is {name} in gates?");
        for alias in &figure.objectives {
            let objectives: Objectives = format!("{alias}:1").parse().unwrap();
            assert!(objectives.limit(name).is_some(), "{alias}");
        }
        assert_eq!(
            format!("{name}:1").parse::<Objectives>().is_ok(),
            !figure.objectives.is_empty(),
            "{name}"
        );
    }
}

#[test]
fn every_unit_is_the_summary_s() {
    let shown = figures(&read("docs/figures.md"));
    let context = CellContext { arrival: Arrival::Open { asked_rate: Some(1.0) }, ..CellContext::default() };
    let mut cell = CellAccumulator::new(context);
    for attempt in 1..=2 {
        let sample = Sample { attempt, attempts: attempt, is_final: attempt == 2, ..Sample::default() };
        cell.push(&sample, None);
    }
    let summary = cell.finish();
    assert!(summary.metrics.contains_key(name::TTFT));
    for (name, metric) in &summary.metrics {
        let figure = shown.iter().find(|figure| figure.name == *name).unwrap();
        assert_eq!(figure.unit, metric.unit, "{name}");
    }
}
