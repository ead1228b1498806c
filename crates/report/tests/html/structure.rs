//! That the page is one file, of bounded size, and that it can be used without eyes and without a script.

use std::collections::BTreeSet;

use super::fixture::{full, single};
use super::scan::{attribute, page_of, tags, without_scripts};

/// What a page may weigh.
const BYTES_MAX: usize = 2 * 1024 * 1024;

#[test]
fn a_page_of_many_targets_is_under_two_mebibytes() {
    let page = page_of(&full(700));
    assert!(page.len() < BYTES_MAX, "{} bytes", page.len());
    assert!(page.contains("that many are drawn"), "it says that not all are drawn");
    assert!(page.contains("without the-silent-one: nothing of its"), "who is in no lever is said beside it");
}

#[test]
fn the_page_asks_for_nothing() {
    let page = page_of(&full(20));
    for tag in tags(&without_scripts(&page)) {
        let asks = ["src", "srcset", "poster", "action", "data", "background"];
        assert!(asks.iter().all(|name| attribute(tag, name).is_none()), "<{tag}>");
        assert!(attribute(tag, "href").is_none_or(|to| to.starts_with('#')), "<{tag}>");
    }
    let (_, style) = page.split_once("<style>").unwrap();
    let (style, _) = style.split_once("</style>").unwrap();
    assert!(!style.contains("url(") && !style.contains("@import"));
    let policy = "content=\"default-src &#39;none&#39;; script-src &#39;sha256-";
    assert!(page.contains(policy) && !page.contains("unsafe-eval"));
}

/// What could not be checked is told, so that nobody takes it for passed.
#[test]
fn checks_that_could_not_run_are_unavailable() {
    let page = page_of(&single());
    let (_, list) = page.split_once("<dt>Checks over several answers</dt>").unwrap();
    let (list, _) = list.split_once("</dd>").unwrap();
    for id in ["input.truncated", "stream_diff", "replay", "logprob.text"] {
        let line = format!("<code>{id}</code>: unavailable in 1\u{a0}cell (it takes ");
        let line = if id == "logprob.text" { line.replace("it takes ", "no answer ") } else { line };
        assert!(list.contains(&line), "no {id} in {list}");
    }
}

fn check_structure(page: &str) {
    let page = without_scripts(page);
    let tags = tags(&page);
    let ids: Vec<String> = tags.iter().filter_map(|tag| attribute(tag, "id")).collect();
    let known: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(known.len(), ids.len(), "an id stands once");
    let mut level = 0;
    for tag in &tags {
        for to in ["aria-labelledby", "data-table", "data-plot", "data-text"]
            .iter()
            .filter_map(|name| attribute(tag, name))
        {
            assert!(known.contains(&to), "<{tag}>");
        }
        if let Some(to) = attribute(tag, "href") {
            assert!(known.contains(&to[1..].to_owned()), "<{tag}>");
        }
        if tag.starts_with("th ") || *tag == "th" {
            assert!(attribute(tag, "scope").is_some(), "<{tag}>");
        }
        if let Some(next) = tag.strip_prefix('h').and_then(|rest| rest.chars().next()?.to_digit(10)) {
            assert!(next <= level + 1, "<{tag}> after a heading of level {level}");
            level = next;
        }
        if attribute(tag, "role").as_deref() == Some("img") || tag.starts_with("nav") {
            assert!(attribute(tag, "aria-label").is_some_and(|label| !label.is_empty()), "<{tag}>");
        }
    }
    let count = |name: &str| tags.iter().filter(|tag| tag.split(' ').next() == Some(name)).count();
    assert_eq!((count("h1"), count("main"), count("nav"), count("header"), count("footer")), (1, 1, 1, 1, 1));
    assert_eq!(count("table"), count("caption"));
}

#[test]
fn a_page_can_be_used_without_eyes() {
    check_structure(&page_of(&full(20)));
    check_structure(&page_of(&single()));
}

#[test]
fn what_decides_comes_first() {
    let page = page_of(&full(20));
    let places: Vec<usize> =
        ["decision", "figures", "models", "settings", "plots", "episodes", "comparisons", "methods"]
            .iter()
            .map(|id| page.find(&format!("<section id=\"{id}\"")).unwrap_or_else(|| panic!("no {id}")))
            .collect();
    assert!(places.is_sorted());
    let lead = "<p class=\"lead\">Take alder-small-8b: it is shown to meet every constraint";
    assert!(page.find(lead).is_some_and(|at| at < places[1]));
}

#[test]
fn one_target_makes_a_shorter_page() {
    let page = page_of(&single());
    for absent in ["decision", "models", "episodes", "comparisons"] {
        assert!(!page.contains(&format!("<section id=\"{absent}\"")), "{absent}");
    }
    assert!(page.contains("<section id=\"plots\"") && page.contains("<section id=\"figures\""));
}
