//! Samples as CSV.

use std::io::Write;
use std::path::Path;

use super::{COLUMNS, ColumnValue};
use crate::{RecordError, Recording, Sample};

/// Writes the samples of `recording` to `out` as CSV: a header of [`COLUMNS`], then a row for each sample, in the order
/// in which they ended. Returns how many. `path` names the file in errors.
///
/// RFC 4180: fields with a comma, a quote or a line end stand in quotes, lines end in CRLF. Absent is empty. A text that
/// begins with = + - @, a tab or a line end would be a formula to a spreadsheet: it gets an apostrophe in front.
pub fn export_csv(recording: &dyn Recording, path: &Path, out: &mut dyn Write) -> Result<u64, RecordError> {
    let failed = |source| RecordError::Write { path: path.to_owned(), source };
    let mut line = COLUMNS.iter().map(|column| column.name).collect::<Vec<_>>().join(",");
    line.push_str("\r\n");
    out.write_all(line.as_bytes()).map_err(failed)?;
    let mut count = 0;
    for recorded in recording.stream()? {
        line.clear();
        push_row(&mut line, &recorded?.0);
        out.write_all(line.as_bytes()).map_err(failed)?;
        count += 1;
    }
    out.flush().map_err(failed)?;
    Ok(count)
}

fn push_row(line: &mut String, sample: &Sample) {
    for (nth, column) in COLUMNS.iter().enumerate() {
        if nth > 0 {
            line.push(',');
        }
        match column.value(sample) {
            None => {}
            Some(ColumnValue::Text(text)) => push_text(line, &text, column.unit.is_empty()),
            Some(ColumnValue::Count(count)) => line.push_str(&count.to_string()),
            Some(ColumnValue::Real(real)) => line.push_str(&real.to_string()),
            Some(ColumnValue::Truth(truth)) => line.push_str(&truth.to_string()),
        }
    }
    line.push_str("\r\n");
}

/// `is_words`: anybody's, and not a number that is kept as text.
fn push_text(line: &mut String, text: &str, is_words: bool) {
    let is_formula =
        is_words && text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let needs_quotes = text.contains(['"', ',', '\r', '\n']);
    if needs_quotes {
        line.push('"');
    }
    if is_formula {
        line.push('\'');
    }
    line.push_str(&text.replace('"', "\"\""));
    if needs_quotes {
        line.push('"');
    }
}
