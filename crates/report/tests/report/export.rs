//! What programs read: JSON and CSV.

use inferometer_metrics::{CellSummary, Summary};
use inferometer_report::Format;

use crate::fixture::{Run, cause, dead, failing, healthy};

/// The rows of a sheet by RFC 4180.
fn rows(sheet: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut is_quoted = false;
    let mut chars = sheet.chars().peekable();
    while let Some(c) = chars.next() {
        let row = rows.last_mut().expect("never empty");
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                row.last_mut().expect("never empty").push(chars.next().unwrap());
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(String::new()),
            '\n' if !is_quoted => rows.push(vec![String::new()]),
            '\r' if !is_quoted => {}
            c => row.last_mut().expect("never empty").push(c),
        }
    }
    rows.pop();
    rows
}

fn value(rows: &[Vec<String>], row: usize, head: &str) -> String {
    let at = rows[0].iter().position(|name| name == head).unwrap_or_else(|| panic!("no column {head}"));
    rows[row][at].clone()
}

#[test]
fn json_is_the_summary_as_it_is_written() {
    let run = Run::new(vec![healthy(4, 100, 412.0), failing(), dead()]);
    let shown = run.render(Format::Json, 0, true);
    assert_eq!(shown, serde_json::to_string_pretty(&run.summary).unwrap() + "\n");
    assert_eq!(serde_json::from_str::<Summary>(&shown).unwrap(), run.summary);
}

#[test]
fn hostile_text_comes_back_out_of_json_as_it_was() {
    let mut run = Run::new(vec![failing()]);
    let message = "\u{1b}[31m\u{9b}\u{7f}\u{202e}\u{e0041}\"\\\n";
    run.summary.cells[0].failures = vec![cause(inferometer_record::Status::Protocol, None, "x", message, 1)];
    let shown = run.render(Format::Json, 80, false);
    assert!(!shown.replace('\n', "").contains(|c: char| c.is_control() || c == '\u{202e}'));
    let read: Summary = serde_json::from_str(&shown).unwrap();
    assert_eq!(read.cells[0].failures[0].message.as_deref(), Some(message));
}

#[test]
fn a_row_per_cell_under_one_header() {
    let sheet = Run::new(vec![healthy(4, 100, 412.0), failing(), dead()]).render(Format::Csv, 80, false);
    let rows = rows(&sheet);
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    for (row, head, shown) in [
        (1, "target", "gemma-3-270m@127.0.0.1:8080"),
        (1, "valid", "true"),
        (1, "time_to_first_token_ms_p50", "412"),
        (1, "time_to_first_token_ms_p50_lo", "399.64"),
        (1, "cost_usd", "0.0126"),
        (1, "output_tokens", "10000"),
        (1, "reasoning_tokens", ""),
        (2, "time_to_first_token_ms_p95_hi", "638.6"),
        (2, "time_to_first_token_all_attempts_ms_p95", "inf"),
        (2, "http_error", "4"),
        (3, "time_to_first_token_ms_n", "0"),
        (3, "time_to_first_token_ms_p50", ""),
        (3, "cost_usd", ""),
    ] {
        assert_eq!(value(&rows, row, head), shown, "{head} of row {row}");
    }
}

#[test]
fn a_censored_quantile_does_not_pass_for_a_value() {
    let mut cell = healthy(4, 100, 412.0);
    let p95 = cell.metrics.get_mut("time_to_first_token").and_then(|ttft| ttft.p95.as_mut());
    p95.unwrap().above = true;
    let rows = rows(&Run::new(vec![cell]).render(Format::Csv, 80, false));
    assert_eq!(value(&rows, 1, "time_to_first_token_ms_p95"), ">576.8");
}

#[test]
fn the_header_is_the_same_for_every_run() {
    let header = |cells: Vec<CellSummary>| {
        let sheet = Run::new(cells).render(Format::Csv, 80, false);
        sheet.lines().next().unwrap_or_default().to_owned()
    };
    let full = header(vec![healthy(4, 100, 412.0)]);
    assert_eq!(full, header(vec![]));
    insta::assert_snapshot!("csv_header", full.replace(',', "\n"));
}

#[test]
fn formulas_do_not_reach_a_spreadsheet() {
    for hostile in ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1", " =1", "=HYPERLINK(\"http://x\",\"y\")"]
    {
        let mut cell = healthy(4, 100, 412.0);
        cell.target = hostile.to_owned();
        cell.cost.total_usd = Some(hostile.to_owned());
        let rows = rows(&Run::new(vec![cell]).render(Format::Csv, 80, false));
        assert_eq!(rows.len(), 2, "{hostile:?} makes no row");
        assert!(value(&rows, 1, "target").starts_with('\''), "{hostile:?}");
        let cost = value(&rows, 1, "cost_usd");
        assert!(cost.starts_with('\'') || cost == "-1", "{hostile:?} as money is {cost:?}");
    }
}
