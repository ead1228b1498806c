//! The page as GitHub-flavoured Markdown, to paste into an issue.

use crate::clean::clean;
use crate::page::{Block, Fact, Style, Table, Text};

/// `blocks` as Markdown.
pub(crate) fn draw(blocks: &[Block]) -> String {
    let parts: Vec<String> = blocks.iter().map(block).collect();
    parts.join("\n")
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("### {}\n", escape(text)),
        Block::Notice(text) => format!("> {}\n", styled(text)),
        Block::Table(drawn) => table(&drawn.pruned()),
        Block::Facts(facts) => facts.iter().flat_map(fact).collect(),
    }
}

fn table(table: &Table) -> String {
    let heads = table.columns.iter().map(|column| escape(&column.head));
    let rules = table.columns.iter().map(|column| if column.is_right { "---:" } else { "---" }.to_owned());
    let rows = table.rows.iter().map(|cells| row(cells.iter().map(styled)));
    [row(heads), row(rules)].into_iter().chain(rows).collect()
}

fn row(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// A list item; several lines are a list below it.
fn fact(fact: &Fact) -> Vec<String> {
    match fact.lines.as_slice() {
        [] => Vec::new(),
        [only] => vec![format!("- **{}**: {}\n", fact.label, styled(only))],
        several => {
            let label = format!("- **{}**:\n", fact.label);
            let lines = several.iter().map(|line| format!("  - {}\n", styled(line)));
            std::iter::once(label).chain(lines).collect()
        }
    }
}

/// The text, bold where it should stand out.
fn styled(text: &Text) -> String {
    let said = escape(&text.text);
    if text.style == Style::Plain || said.is_empty() { said } else { format!("**{said}**") }
}

/// `text` such that Markdown shows it and does nothing else with it: no cell ends, no markup or HTML begins, no link
/// is made of two halves, nobody is mentioned.
pub(crate) fn escape(text: &str) -> String {
    let cleaned = clean(text);
    let text = cleaned.trim();
    let mut shown = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '\u{a0}' => shown.push(' '),
            '<' => shown.push_str("&lt;"),
            '&' => shown.push_str("&amp;"),
            '@' if !before.is_alphanumeric() => shown.push_str("&#64;"),
            '(' | '[' | ':' if before == ']' => escaped(&mut shown, c),
            '\\' | '`' | '*' | '_' | '~' | '|' | '!' => escaped(&mut shown, c),
            c => shown.push(c),
        }
        before = c;
    }
    shown
}

fn escaped(shown: &mut String, c: char) {
    shown.push('\\');
    shown.push(c);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, shown: &str) {
        assert_eq!(escape(text), shown);
    }

    #[test]
    fn hostile_text_stays_text() {
        check("a|b\\|c", "a\\|b\\\\\\|c");
        check("line\n\n# not a heading", "line  # not a heading");
        check("<img src=x onerror=1> &lt;", "&lt;img src=x onerror=1> &amp;lt;");
        check("[click](http://x) ![i](u) [r]: u", "[click]\\(http://x) \\![i]\\(u) [r]\\: u");
        check("*b* _i_ `c` ~~s~~", "\\*b\\* \\_i\\_ \\`c\\` \\~\\~s\\~\\~");
        check("@torvalds and model@host", "&#64;torvalds and model@host");
        check("412\u{a0}ms [398–431]", "412 ms [398–431]");
        check("\u{1b}[31m", "\\\\u{1b}[31m");
    }
}
