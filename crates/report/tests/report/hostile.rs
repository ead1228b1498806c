//! Whatever a server says and however narrow the terminal is: lines keep their width, nothing hostile passes.

use inferometer_metrics::{CellSummary, Num, Rate};
use inferometer_report::Format;
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr as _;

use crate::fixture::{Run, failing, gate, healthy, not_valid, point};

/// What a terminal would obey, and what would make a reader see another text than there is.
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Texts that servers like to send.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,80}",
        any::<String>(),
        "[ -~]{0,300}",
        Just("\u{1b}[2J\u{1b}]0;owned\u{7}\r\n\u{9b}31m\u{202e}gnp.exe\u{200b}".to_owned()),
        Just("=cmd|' /C calc'!A0".to_owned()),
        Just("模型".repeat(60)),
        Just("e\u{301}👩\u{200d}👩\u{200d}👧❤\u{fe0f}".repeat(20)),
    ]
}

/// A cell in which every text is `text` and many numbers are `value`.
fn cell(text: &str, value: f64) -> CellSummary {
    let mut cell = failing();
    text.clone_into(&mut cell.target);
    text.clone_into(&mut cell.workload);
    text.clone_into(&mut cell.load);
    cell.warnings = vec![text.to_owned()];
    cell.client.valid = false;
    cell.client.reasons = vec![text.to_owned()];
    cell.client.notes = vec![text.to_owned()];
    for cause in &mut cell.failures {
        cause.code = Some(text.to_owned());
        cause.message = Some(text.repeat(4));
    }
    for metric in cell.metrics.values_mut() {
        metric.notes = vec![text.to_owned()];
        metric.p50 = point(value, value * 0.9, value * 1.1, "max of n");
        metric.max = Num::new(value);
        if let Some(all) = &mut metric.all_attempts {
            all.p50.clone_from(&metric.p50);
        }
    }
    cell.throughput.output_token_throughput =
        Rate { value: Num::new(value), lo: Num::new(value), hi: None, note: Some(text.to_owned()) };
    cell.gates = vec![gate(text, inferometer_metrics::GateResult::Unproven, u64::MAX, Some(u64::MAX), text)];
    cell.cost.total_usd = Some(text.to_owned());
    cell.validity.flags = [(text.to_owned(), u64::MAX)].into();
    cell
}

fn run(text: &str, value: f64, more: usize) -> Run {
    let mut cells = vec![cell(text, value)];
    cells.extend((0..more).map(|i| if i % 2 == 0 { healthy(4, 100, value) } else { not_valid() }));
    let mut run = Run::new(cells);
    run.summary.warnings = vec![text.to_owned()];
    run
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn lines_keep_their_width(text in text(), value in 0.0..1e18_f64, width in 0_usize..200, more in 0_usize..6) {
        let shown = run(&text, value, more).render(Format::Table, width, false);
        for line in shown.lines() {
            prop_assert!(line.width() <= width.max(40), "{} columns of {width}: {line}", line.width());
            prop_assert_eq!(line.trim_end(), line);
        }
    }

    #[test]
    fn nothing_hostile_passes(text in text(), value in 0.0..1e18_f64, more in 0_usize..6) {
        let run = run(&text, value, more);
        for format in Format::ALL {
            let shown = run.render(format, 80, false);
            let ends = if format == Format::Csv { "\r\n" } else { "\n" };
            prop_assert!(shown.ends_with(ends));
            let hostile = shown.replace(ends, "").chars().find(|c| is_obeyed(*c));
            prop_assert_eq!(hostile, None, "{}: {}", format, shown);
        }
        let colored = run.render(Format::Table, 80, true);
        let ours = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[31m", "\u{1b}[33m", "\n"];
        let bare = ours.iter().fold(colored, |text, code| text.replace(code, ""));
        prop_assert!(!bare.contains(is_obeyed));
    }

    #[test]
    fn a_server_adds_no_line_to_markdown(text in text()) {
        let lines = |text: &str| run(text, 100.0, 2).render(Format::Md, 80, false).lines().count();
        prop_assert_eq!(lines(&format!("x{text}")), lines("x"));
    }
}

#[test]
fn numbers_are_never_broken() {
    let value = 987_654_321.0;
    for width in [40, 60, 80, 120] {
        let shown = run("x", value, 3).render(Format::Table, width, false);
        assert!(shown.contains("987,654 s"), "{shown}");
        assert!(shown.contains("[888,889–1,086,420]"), "{shown}");
    }
}
