//! A table in a terminal of a given width.

use crate::clean::clean;
use crate::page::{Column, Style, Table, Text};
use crate::wrap::{columns, wrap};

/// Columns between two columns of the table.
const GAP: usize = 2;

/// Indentation below the name of a row that has become a list.
const INDENT: usize = 2;

/// A line of a table: its pieces in order, the spaces between them included.
pub(crate) type Line = Vec<Text>;

/// `table` in lines of at most `width` columns. A table that is too wide breaks its cells at spaces; one that still is
/// loses its spare columns, from the right, and says which; else it becomes several below each other, each with the
/// names of the rows; where a single column is too wide beside the names, each row becomes a list.
pub(crate) fn lines(table: &Table, width: usize) -> Vec<Line> {
    let whole = cleaned(table);
    let (table, left_out) = without_spare(&whole, width).unwrap_or((whole, Vec::new()));
    let Some(parts) = split(&table, width) else { return listed(&table, width) };
    let drawn = parts.iter().map(|(part, widths)| draw(part, widths)).collect::<Vec<_>>();
    let mut lines = drawn.join(&Line::new());
    if !left_out.is_empty() {
        let said = format!("for want of room without {}", left_out.join(", "));
        lines.extend(wrap(&said, width).into_iter().map(|text| vec![Text::from(text)]));
    }
    lines
}

/// The table with as many of its spare columns as fit, and the heads of the others; `None` where it would not fit
/// without any of them.
fn without_spare(table: &Table, width: usize) -> Option<(Table, Vec<String>)> {
    let mut chosen: Vec<usize> = (0..table.columns.len()).collect();
    let mut left_out = Vec::new();
    while fit(&table.only(&chosen), width).is_none() {
        let is_spare = |i: &usize| table.columns.get(*i).is_some_and(|column| column.is_spare);
        let at = chosen.iter().rposition(is_spare)?;
        let column = table.columns.get(chosen.remove(at))?;
        left_out.insert(0, column.head.replace('\u{a0}', " "));
    }
    Some((table.only(&chosen), left_out))
}

/// The fewest tables, taken from left to right, that each fit; with the widths of their columns.
fn split(table: &Table, width: usize) -> Option<Vec<(Table, Vec<usize>)>> {
    let mut parts = Vec::new();
    let mut chosen = vec![0];
    for i in 1..table.columns.len() {
        chosen.push(i);
        if fit(&table.only(&chosen), width).is_none() {
            chosen.pop();
            parts.push(chosen);
            chosen = vec![0, i];
        }
    }
    parts.push(chosen);
    let fitted = parts.into_iter().map(|chosen| {
        let part = table.only(&chosen);
        let widths = fit(&part, width)?;
        Some((part, widths))
    });
    fitted.collect()
}

fn draw(table: &Table, widths: &[usize]) -> Vec<Line> {
    let head = table.columns.iter().map(|column| Text { style: Style::Strong, text: column.head.clone() });
    let rows = std::iter::once(head.collect()).chain(table.rows.iter().cloned());
    rows.flat_map(|row: Vec<Text>| draw_row(&row, &table.columns, widths)).collect()
}

/// The table with harmless text.
fn cleaned(table: &Table) -> Table {
    let clean = |cell: &Text| Text { style: cell.style, text: clean(&cell.text).into_owned() };
    let pruned = table.pruned();
    let rows = pruned.rows.iter().map(|row| row.iter().map(clean).collect()).collect();
    Table { columns: pruned.columns, rows }
}

/// A width for each column: natural ones where they fit; else heads give way, which costs one line, and then cells.
fn fit(table: &Table, width: usize) -> Option<Vec<usize>> {
    let cells = |i: usize| table.rows.iter().filter_map(move |row| row.get(i)).map(|cell| cell.text.as_str());
    let head = |i: usize| table.columns.get(i).map_or("", |column| column.head.as_str());
    let longest_word = |text: &str| text.split(' ').map(columns).max().unwrap_or(0);
    let of_cells = |i| cells(i).map(columns).max().unwrap_or(0);
    let count = table.columns.len();
    let mut widths: Vec<usize> = (0..count).map(|i| of_cells(i).max(columns(head(i)))).collect();
    let whole_cells: Vec<usize> = (0..count).map(|i| of_cells(i).max(longest_word(head(i)))).collect();
    let words = |i| cells(i).chain([head(i)]).map(longest_word).max().unwrap_or(0);
    let whole_words: Vec<usize> = (0..count).map(words).collect();
    let room = width.checked_sub(GAP * count.saturating_sub(1))?;
    let fits = narrow(&mut widths, &whole_cells, room) || narrow(&mut widths, &whole_words, room);
    fits.then_some(widths)
}

/// Narrows the widest columns to their `least` until all fit in `room`, each at once, so that its cells break alike.
fn narrow(widths: &mut [usize], least: &[usize], room: usize) -> bool {
    while widths.iter().sum::<usize>() > room {
        let can_give = widths.iter_mut().zip(least).filter(|(width, least)| **width > **least);
        let Some((widest, least)) = can_give.max_by_key(|(width, _)| **width) else { return false };
        *widest = *least;
    }
    true
}

/// One row of the table: as many lines as its tallest cell has.
fn draw_row(row: &[Text], heads: &[Column], widths: &[usize]) -> Vec<Line> {
    let cells: Vec<Vec<String>> =
        row.iter().zip(widths).map(|(cell, width)| wrap(&cell.text, *width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    (0..height).map(|at| draw_line(at, row, &cells, heads, widths)).collect()
}

fn draw_line(at: usize, row: &[Text], cells: &[Vec<String>], heads: &[Column], widths: &[usize]) -> Line {
    let mut line = Line::new();
    let mut owed = 0; // spaces not yet written, so that no line ends with one
    for (((cell, lines), head), width) in row.iter().zip(cells).zip(heads).zip(widths) {
        let text = lines.get(at).map_or("", String::as_str);
        let free = width.saturating_sub(columns(text));
        if head.is_right {
            owed += free;
        }
        if !text.is_empty() {
            line.push(Text::from(" ".repeat(owed)));
            line.push(Text { style: cell.style, text: text.to_owned() });
            owed = 0;
        }
        owed += GAP + if head.is_right { 0 } else { free };
    }
    line
}

/// Each row as its name and, below it, a line per cell.
fn listed(table: &Table, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for row in &table.rows {
        let Some((name, cells)) = row.split_first() else { continue };
        lines.extend(
            wrap(&name.text, width).into_iter().map(|text| vec![Text { style: Style::Strong, text }]),
        );
        let heads = table.columns.iter().skip(1).map(|column| column.head.as_str());
        for (cell, head) in cells.iter().zip(heads).filter(|(cell, _)| !cell.text.is_empty()) {
            let said = if head.is_empty() { cell.text.clone() } else { format!("{head}: {}", cell.text) };
            for text in wrap(&said, width.saturating_sub(INDENT)) {
                lines.push(vec![Text::from(" ".repeat(INDENT)), Text { style: cell.style, text }]);
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(width: usize, expected: &[&str]) {
        let columns =
            vec![Column::left("name"), Column::right("TTFT p50"), Column::left(""), Column::right("n")];
        let row = |name: &str, value: &str, n: &str| [name, value, "", n].map(Text::from).to_vec();
        let rows = vec![row("a", "9 ms [8–10]", "5"), row("longest-name", "120 ms [≥\u{a0}90]", "100")];
        let drawn = lines(&Table { columns, rows }, width);
        let drawn: Vec<String> =
            drawn.iter().map(|line| line.iter().map(|piece| piece.text.as_str()).collect()).collect();
        assert_eq!(drawn, expected, "at {width}");
    }

    #[test]
    fn spare_columns_go_first_and_are_named() {
        let columns = vec![Column::left("name"), Column::right("TTFT").spare(), Column::right("cost")];
        let rows = vec![["a", "120\u{a0}ms", "$0.1"].map(Text::from).to_vec()];
        let table = Table { columns, rows };
        let drawn = |width| -> Vec<String> {
            let text = |line: &Line| line.iter().map(|piece| piece.text.as_str()).collect();
            lines(&table, width).iter().map(text).collect()
        };
        assert_eq!(drawn(18), ["name    TTFT  cost", "a     120 ms  $0.1"]);
        assert_eq!(drawn(17), ["name  cost", "a     $0.1", "for want of room", "without TTFT"]);
        assert!(drawn(7).iter().any(|line| line.contains("120")), "where it helps not, nothing is left out");
    }

    #[test]
    fn gives_way_in_steps() {
        let natural = [
            "name               TTFT p50    n",
            "a               9 ms [8–10]    5",
            "longest-name  120 ms [≥ 90]  100",
        ];
        check(40, &natural);
        let broken_at_spaces = [
            "name            TTFT    n",
            "                 p50",
            "a               9 ms    5",
            "              [8–10]",
            "longest-name  120 ms  100",
            "              [≥ 90]",
        ];
        check(30, &broken_at_spaces);
        let two_tables = [
            "name            TTFT",
            "                 p50",
            "a               9 ms",
            "              [8–10]",
            "longest-name  120 ms",
            "              [≥ 90]",
            "",
            "name            n",
            "a               5",
            "longest-name  100",
        ];
        check(20, &two_tables);
        let lists = [
            "a",
            "  TTFT p50:",
            "  9 ms",
            "  [8–10]",
            "  n: 5",
            "longest-name",
            "  TTFT p50:",
            "  120 ms",
            "  [≥ 90]",
            "  n: 100",
        ];
        check(12, &lists);
    }
}
