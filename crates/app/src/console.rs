//! What is said to whoever runs a command: the report on standard output, all else on standard error.

use crate::Error;

/// Writes `text` to standard output; a reader that has gone (`| head`) is no error.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    use std::io::Write;

    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(source) if source.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::System { doing: "writing to standard output", source })
        }
        _ => Ok(()),
    }
}

/// Says something to whoever runs this; standard output is for the report.
pub fn say(text: &str) {
    use std::io::Write;

    // Nobody may listen any more (`2>&1 | head`); that is no reason to stop measuring.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Lines of cells, each column as wide as its widest cell; the first line says how many there are.
pub(crate) fn columns(lines: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..lines.first().map_or(0, Vec::len)).map(width).collect();
    let line = |cells: &Vec<String>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
    };
    lines.iter().map(line).collect()
}
