//! The page in a terminal.

use crate::clean::clean;
use crate::grid::{self, Line};
use crate::page::{Block, Fact, Style, Text};
use crate::wrap::{columns, wrap};

/// No terminal is taken for narrower than this: numbers with their units and intervals need it.
const MIN_WIDTH: usize = 40;

/// Columns of a fact's label, the space after it included.
const LABEL: usize = 12;

/// `blocks` in lines of at most `width` columns.
pub(crate) fn draw(blocks: &[Block], width: usize, color: bool) -> String {
    let width = width.max(MIN_WIDTH);
    let mut page = String::new();
    for (i, block) in blocks.iter().enumerate() {
        let follows_notice = i > 0 && matches!(blocks.get(i - 1), Some(Block::Notice(_)));
        let is_joined = follows_notice && matches!(block, Block::Notice(_));
        let follows_heading = i > 0 && matches!(blocks.get(i - 1), Some(Block::Heading(_)));
        if i > 0 && !is_joined && !follows_heading {
            page.push('\n');
        }
        for line in lines(block, width) {
            write_line(&mut page, &line, color);
        }
    }
    page
}

fn lines(block: &Block, width: usize) -> Vec<Line> {
    match block {
        Block::Heading(text) => {
            let mut lines = paragraph(Style::Strong, text, width);
            lines.push(vec![Text::from("─".repeat(width))]);
            lines
        }
        Block::Notice(text) => paragraph(text.style, &text.text, width),
        Block::Table(table) => grid::lines(table, width),
        Block::Facts(facts) => facts.iter().flat_map(|fact| fact_lines(fact, width)).collect(),
    }
}

fn paragraph(style: Style, text: &str, width: usize) -> Vec<Line> {
    wrap(&glued(text), width).into_iter().map(|text| vec![Text { style, text }]).collect()
}

/// Harmless text whose percent signs stay with their numbers, in other people's sentences too.
fn glued(text: &str) -> String {
    clean(text).replace(" %", "\u{a0}%")
}

/// The label, and what is said beside it.
fn fact_lines(fact: &Fact, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for said in &fact.lines {
        for text in wrap(&glued(&said.text), width - LABEL) {
            let label = if lines.is_empty() { fact.label } else { "" };
            let space = " ".repeat(LABEL.saturating_sub(columns(label)));
            lines.push(vec![
                Text { style: Style::Strong, text: label.to_owned() },
                Text::from(space),
                Text { style: said.style, text },
            ]);
        }
    }
    lines
}

/// Writes one line. The only escapes that ever reach the page are written here.
fn write_line(page: &mut String, line: &[Text], color: bool) {
    for piece in line {
        let code = match piece.style {
            Style::Plain => "",
            Style::Strong => "\u{1b}[1m",
            Style::Warn => "\u{1b}[33m",
            Style::Bad => "\u{1b}[31m",
        };
        if color && !code.is_empty() && !piece.text.is_empty() {
            page.push_str(code);
            page.push_str(&piece.text);
            page.push_str("\u{1b}[0m");
        } else {
            page.push_str(&piece.text);
        }
    }
    page.push('\n');
}
