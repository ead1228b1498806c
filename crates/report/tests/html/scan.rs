//! Reading a page without a browser: enough of HTML for what our own templates write.

use std::path::Path;

use inferometer_report::RunView;
use inferometer_report::html::page;

use super::fixture::Made;

/// The page of a made-up run.
pub(crate) fn page_of(made: &Made) -> String {
    page(&RunView::new(&made.summary, &made.manifest, Some(Path::new("runs/made-up"))), &made.dots)
}

/// The page without what its scripts and its style hold.
pub(crate) fn without_scripts(page: &str) -> String {
    let cut = |text: &str, start: &str, end: &str| {
        let mut parts = text.split(start);
        let head = parts.next().unwrap_or_default().to_owned();
        parts.fold(head, |kept, part| kept + part.split_once(end).map_or("", |(_, rest)| rest))
    };
    cut(&cut(page, "<script", "</script>"), "<style>", "</style>")
}

/// Every tag, without its brackets.
pub(crate) fn tags(page: &str) -> Vec<&str> {
    page.split('<').skip(1).filter_map(|part| part.split_once('>').map(|(tag, _)| tag)).collect()
}

/// The value of an attribute, its entities read.
pub(crate) fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    let (value, _) = rest.split_once('"')?;
    let entities = [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")];
    Some(entities.iter().fold(value.to_owned(), |text, (entity, letter)| text.replace(entity, letter)))
}
