//! The house keeps its own rules: floors, sizes, the map, and what no tracked file may hold.
//!
//! Each rule is a function from text to findings, shown to fail on a bad input beside the test that holds the tree
//! to it.
#![expect(clippy::unwrap_used, reason = "helpers of tests: a panic is the failure")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use syn::visit::Visit;

/// The floors, from the ground up. A crate uses only crates on floors below its own. `ARCHITECTURE.md` shows the same.
const FLOORS: &[(u8, &str)] = &[
    (0, "stats"),
    (0, "wire"),
    (0, "tokens"),
    (0, "clock"),
    (1, "price"),
    (1, "judge"),
    (1, "transport"),
    (2, "record"),
    (2, "workload"),
    (3, "metrics"),
    (4, "plan"),
    (5, "load"),
    (5, "sim"),
    (6, "report"),
    (7, "parquet"),
    (7, "app"),
    (8, "inferometer"),
    (8, "bench"),
];

/// What never enters a crate, beyond the floors: the packages that it must not name, in any kind of dependency but
/// for tests.
const NEVER: &[(&str, &[&str])] = &[
    ("stats", PURE),
    ("wire", PURE),
    ("tokens", SOCKETS),
    ("price", PURE),
    ("judge", PURE),
    ("record", SOCKETS),
    ("workload", SOCKETS),
    ("metrics", PURE),
    ("plan", SOCKETS),
    ("report", SOCKETS),
    ("transport", &["serde", "serde_json", "inferometer-wire"]),
    // The simulator's bytes are literal: through the client's own encoder they would prove only that we agree
    // with ourselves.
    ("sim", &["inferometer-wire", "inferometer-transport", "hyper"]),
];
const SOCKETS: &[&str] = &["tokio", "hyper", "hyper-util", "socket2", "rustls", "tokio-rustls"];
const PURE: &[&str] =
    &["tokio", "hyper", "hyper-util", "socket2", "rustls", "tokio-rustls", "inferometer-clock"];

/// The longest function body, in lines between its braces.
const BODY_LINES_MAX: usize = 70;
/// The longest source file, in lines.
const FILE_LINES_MAX: usize = 800;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The name in the house of a package: `inferometer-wire` lives in `wire`.
fn short(package: &str) -> &str {
    package.strip_prefix("inferometer-").unwrap_or(package)
}

fn floor_of(name: &str) -> Option<u8> {
    FLOORS.iter().find(|(_, known)| *known == name).map(|(floor, _)| *floor)
}

fn assert_none(rule: &str, findings: &[String]) {
    assert!(findings.is_empty(), "{rule}:\n  {}", findings.join("\n  "));
}

// Floors.

/// A dependency as `cargo metadata` tells it: who, on whom, and of which kind (`None` is normal).
#[derive(serde::Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(serde::Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

#[derive(serde::Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

fn workspace() -> Vec<Package> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice::<Metadata>(&output.stdout).unwrap().packages
}

/// Arrows between our crates that do not lead down, tests and build scripts included.
fn arrows_not_down(packages: &[Package]) -> Vec<String> {
    let ours: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let mut findings = Vec::new();
    for package in packages {
        let Some(from) = floor_of(short(&package.name)) else {
            findings.push(format!("{} stands on no floor", package.name));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|it| ours.contains(it.name.as_str())) {
            if floor_of(short(&dependency.name)).is_none_or(|to| to >= from) {
                findings.push(format!("{} (floor {from}) uses {}", package.name, dependency.name));
            }
        }
    }
    findings
}

/// Dependencies, other than for tests, that a crate must never have.
fn forbidden_uses(packages: &[Package]) -> Vec<String> {
    let never: BTreeMap<&str, &[&str]> = NEVER.iter().copied().collect();
    let mut findings = Vec::new();
    for package in packages {
        let banned = never.get(short(&package.name)).copied().unwrap_or_default();
        for dependency in &package.dependencies {
            if dependency.kind.as_deref() != Some("dev") && banned.contains(&dependency.name.as_str()) {
                findings.push(format!("{} must never use {}", package.name, dependency.name));
            }
        }
    }
    findings
}

fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
    let dependencies = dependencies
        .iter()
        .map(|(name, kind)| Dependency { name: (*name).to_owned(), kind: kind.map(str::to_owned) })
        .collect();
    Package { name: name.to_owned(), dependencies }
}

#[test]
fn every_arrow_leads_down() {
    assert_none("a crate uses only crates on floors below its own", &arrows_not_down(&workspace()));
}

#[test]
fn an_arrow_that_leads_up_or_along_is_found() {
    let bad = [
        package("inferometer-stats", &[("inferometer-wire", None)]),
        package("inferometer-wire", &[("inferometer-load", Some("dev"))]),
        package("inferometer-load", &[("inferometer-wire", None), ("tokio", None)]),
        package("inferometer-attic", &[]),
    ];
    let expected = [
        "inferometer-stats (floor 0) uses inferometer-wire",
        "inferometer-wire (floor 0) uses inferometer-load",
        "inferometer-attic stands on no floor",
    ];
    assert_eq!(arrows_not_down(&bad), expected);
}

#[test]
fn what_never_enters_a_crate_stays_out() {
    assert_none("what never enters", &forbidden_uses(&workspace()));
}

#[test]
fn what_never_enters_is_found() {
    let bad = [
        package("inferometer-metrics", &[("inferometer-clock", None), ("serde", None)]),
        package("inferometer-sim", &[("inferometer-wire", Some("dev")), ("hyper", Some("build"))]),
    ];
    let expected =
        ["inferometer-metrics must never use inferometer-clock", "inferometer-sim must never use hyper"];
    assert_eq!(forbidden_uses(&bad), expected);
}

// The map.

/// The rows `| floor | crate | …` of a Markdown text; the crate stands in back-ticks.
fn table_of_floors(markdown: &str) -> Vec<(u8, String)> {
    let row = |line: &str| {
        let mut cells = line.trim().strip_prefix('|')?.split('|').map(str::trim);
        let floor = cells.next()?.parse().ok()?;
        let name = cells.next()?.strip_prefix('`')?.strip_suffix('`')?;
        Some((floor, name.to_owned()))
    };
    markdown.lines().filter_map(row).collect()
}

#[test]
fn the_map_shows_the_tested_floors() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let tested: Vec<(u8, String)> = FLOORS.iter().map(|(floor, name)| (*floor, (*name).to_owned())).collect();
    assert_eq!(table_of_floors(&map), tested, "ARCHITECTURE.md and FLOORS tell different floors");
}

#[test]
fn the_tested_floors_are_the_workspace() {
    let tested: BTreeSet<String> = FLOORS.iter().map(|(_, name)| (*name).to_owned()).collect();
    let there: BTreeSet<String> = workspace().iter().map(|package| short(&package.name).to_owned()).collect();
    assert_eq!(tested, there);
}

#[test]
fn a_row_of_the_map_is_read_as_it_stands() {
    let map = "| floor | crate | what |\n|---|---|---|\n| 3 | `metrics` | definitions |\n| x | `y` | |\ntext";
    assert_eq!(table_of_floors(map), [(3, "metrics".to_owned())]);
}

// Sizes.

/// Every Rust file of the crates: sources, tests, benches, fuzz targets.
fn rust_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The functions of a file whose body is too long: name, line, lines of the body.
#[derive(Default)]
struct LongBodies(Vec<(String, usize, usize)>);

impl LongBodies {
    fn measure(&mut self, name: &syn::Ident, body: &syn::Block) {
        let span = body.brace_token.span;
        let (open, close) = (span.open().start().line, span.close().start().line);
        let lines = close.saturating_sub(open + 1);
        if lines > BODY_LINES_MAX {
            self.0.push((name.to_string(), name.span().start().line, lines));
        }
    }
}

impl<'ast> Visit<'ast> for LongBodies {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.measure(&item.sig.ident, &item.block);
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.measure(&item.sig.ident, &item.block);
        syn::visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.measure(&item.sig.ident, body);
        }
        syn::visit::visit_trait_item_fn(self, item);
    }
}

/// What is too long in one source text.
fn too_long(path: &str, source: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let lines = source.lines().count();
    if lines > FILE_LINES_MAX {
        findings.push(format!("{path}: {lines} lines, at most {FILE_LINES_MAX}"));
    }
    match syn::parse_file(source) {
        Err(error) => findings.push(format!("{path}:{}: {error}", error.span().start().line)),
        Ok(file) => {
            let mut long = LongBodies::default();
            long.visit_file(&file);
            findings.extend(long.0.iter().map(|(name, line, lines)| {
                format!("{path}:{line}: the body of {name} has {lines} lines, at most {BODY_LINES_MAX}")
            }));
        }
    }
    findings
}

#[test]
fn no_function_and_no_file_is_too_long() {
    let root = root();
    let findings: Vec<String> = rust_files()
        .iter()
        .flat_map(|path| {
            let shown = path.strip_prefix(&root).unwrap().display().to_string();
            too_long(&shown, &std::fs::read_to_string(path).unwrap())
        })
        .collect();
    assert_none("sizes", &findings);
}

#[test]
fn what_is_too_long_is_found() {
    let body = |lines: usize| "    work();\n".repeat(lines);
    let held = format!("fn held() {{\n{}}}\n", body(BODY_LINES_MAX));
    assert_none("at the bound", &too_long("a.rs", &held));
    let long = body(BODY_LINES_MAX + 1);
    for (name, source) in [
        ("item", format!("fn item() {{\n{long}}}\n")),
        ("method", format!("impl X {{\nfn method(&self) {{\n{long}}}\n}}\n")),
        ("provided", format!("trait X {{\nfn provided(&self) {{\n{long}}}\n}}\n")),
        ("inner", format!("mod tests {{\n#[test]\nfn inner() {{\n{long}}}\n}}\n")),
    ] {
        let findings = too_long("a.rs", &source);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].contains(&format!("the body of {name} has 71 lines")), "{findings:?}");
    }
    let tall = "// a line\n".repeat(FILE_LINES_MAX + 1);
    assert_eq!(too_long("a.rs", &tall), ["a.rs: 801 lines, at most 800"]);
    assert_eq!(too_long("a.rs", "fn broken( {").len(), 1);
}

// Tracked text.

/// Names that only a machine this was built on could bring: its folders and its package mirrors. Split, so that
/// this file does not find itself.
const MACHINE: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/fa", "rm/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("/tm", "p/t/"),
    concat!("artif", "actory"),
];
/// Marks of unfinished work, which need the number of the issue that will finish it.
const UNFINISHED: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// What a tracked file must not hold, line by line.
fn not_for_the_tree(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let place = format!("{path}:{}", index + 1);
        if let Some(found) = MACHINE.iter().find(|needle| names_a_root(line, needle)) {
            findings.push(format!("{place}: `{found}` is of one machine"));
        }
        if let Some(found) = UNFINISHED.iter().find(|mark| has_word(line, mark) && !has_issue_number(line)) {
            findings.push(format!("{place}: {found} without the number of an issue"));
        }
    }
    findings
}

/// Whether the line holds the needle as the start of a path: the name of a folder within a path of ours is none.
fn names_a_root(line: &str, needle: &str) -> bool {
    let is_start =
        |at: usize| !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '.');
    line.match_indices(needle).any(|(at, _)| !needle.starts_with('/') || is_start(at))
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|letter: char| !letter.is_alphanumeric()).any(|part| part == word)
}

fn has_issue_number(line: &str) -> bool {
    line.split('#').skip(1).any(|after| after.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// The tracked files, or `None` where this is no checkout of Git.
fn tracked() -> Option<Vec<PathBuf>> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output().ok()?;
    let names = String::from_utf8(output.stdout).ok()?;
    let files = names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect();
    output.status.success().then_some(files)
}

#[test]
fn no_tracked_file_holds_what_is_not_for_the_tree() {
    let Some(files) = tracked() else {
        println!("skipped: not a Git checkout, so no list of tracked files");
        return;
    };
    // A file that is tracked and gone, or not text, has no lines to judge.
    let findings: Vec<String> = files
        .iter()
        .filter_map(|path| Some((path, std::fs::read_to_string(root().join(path)).ok()?)))
        .flat_map(|(path, text)| not_for_the_tree(&path.display().to_string(), &text))
        .collect();
    assert_none("tracked files", &findings);
}

#[test]
fn what_is_not_for_the_tree_is_found() {
    let bad = format!(
        "see {}main\n// {} later\n// {} later, #12\nat src/{}x.rs\nhttps://{}/x\n",
        MACHINE[0],
        UNFINISHED[0],
        UNFINISHED[0],
        &MACHINE[0][1..],
        MACHINE[6],
    );
    let findings = not_for_the_tree("a", &bad);
    let places: Vec<&str> = findings.iter().map(|finding| &finding[..3]).collect();
    assert_eq!(places, ["a:1", "a:2", "a:5"], "{findings:?}");
}
