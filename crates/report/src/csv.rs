//! One row per cell, for a spreadsheet.
//!
//! A spreadsheet user sorts, filters and plots cells against each other (TTFT over concurrency), which needs a cell
//! on a row and each figure in a column of its own; a long form (a row per figure) would have to be pivoted first,
//! and who wants to compute on everything has the JSON. The header is the same for every run: scripts may rely on it,
//! new columns come at the end. Absent is empty, infinity is `inf`, a quantile that was censored `>` and its lower
//! bound; RFC 4180 quoting and line ends.
//!
//! A text that begins with = + - @ (also their full-width forms), a tab or a line break is a formula to a
//! spreadsheet: it gets a leading apostrophe. Numbers that we made are numbers, the negative ones too.

use inferometer_metrics::{
    Bursts, CellSummary, ColdStarts, Metric, Num, Proportion, QuantilePoint, Rate, name,
};
use inferometer_record::{State, Status};

use crate::RunView;
use crate::clean::clean;

/// Quantiles of a time that somebody waits.
const WAITED: &[&str] = &["p50", "p90", "p95", "p99"];
/// Quantiles of a speed, whose bad tail is the low one.
const SPEED: &[&str] = &["p05", "p50"];
/// Quantiles of what is only checked: the client's own lateness, connections.
const CHECKED: &[&str] = &["p50", "p99"];
/// Quantiles of a count of tokens.
const COUNTED: &[&str] = &["p50"];

/// Distributions: the name in the header (with the unit), the one in the summary, and the quantiles shown.
const DISTRIBUTIONS: [(&str, &str, &[&str]); 12] = [
    ("time_to_first_token_ms", name::TTFT, WAITED),
    ("time_to_first_output_token_ms", name::TTFA, WAITED),
    ("time_per_output_token_ms", name::TPOT, WAITED),
    ("request_latency_ms", name::LATENCY, WAITED),
    ("inter_chunk_latency_ms", name::CHUNK_GAP, WAITED),
    ("schedule_lag_ms", name::SCHEDULE_LAG, CHECKED),
    ("connect_time_ms", name::CONNECT, CHECKED),
    ("output_token_throughput_per_user_tokens_per_s", name::SPEED, SPEED),
    ("e2e_output_token_throughput_tokens_per_s", name::SPEED_E2E, SPEED),
    ("input_sequence_length_tokens", name::INPUT, COUNTED),
    ("output_sequence_length_tokens", name::OUTPUT, COUNTED),
    ("reasoning_token_count_tokens", name::REASONING, COUNTED),
];

/// Distributions whose all-attempts quantiles stand beside the ok ones.
const ALL_ATTEMPTS: [(&str, &str); 2] =
    [("time_to_first_token_all_attempts_ms", name::TTFT), ("request_latency_all_attempts_ms", name::LATENCY)];

/// What stands in a cell of the sheet.
enum Value {
    /// Anybody's words.
    Text(String),
    /// A number that we made.
    Number(String),
}

/// The columns of one row, in order.
#[derive(Default)]
struct Row(Vec<(String, Value)>);

impl Row {
    fn text(&mut self, head: &str, text: impl Into<String>) {
        self.0.push((head.to_owned(), Value::Text(text.into())));
    }

    fn number(&mut self, head: impl Into<String>, number: Option<Num>) {
        let number = number.map_or_else(String::new, |number| number.to_string());
        self.0.push((head.into(), Value::Number(number)));
    }

    fn count(&mut self, head: impl Into<String>, count: u64) {
        self.0.push((head.into(), Value::Number(count.to_string())));
    }

    fn flag(&mut self, head: &str, flag: Option<bool>) {
        self.text(head, flag.map_or_else(String::new, |flag| flag.to_string()));
    }

    /// An exact decimal: a number, unless somebody put something else there.
    fn decimal(&mut self, head: &str, text: Option<&str>) {
        let text = text.unwrap_or_default();
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_number = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
        let value = if is_number { Value::Number(text.to_owned()) } else { Value::Text(text.to_owned()) };
        self.0.push((head.to_owned(), value));
    }

    fn interval(&mut self, head: &str, value: Option<Num>, lo: Option<Num>, hi: Option<Num>) {
        self.number(head, value);
        self.number(format!("{head}_lo"), lo);
        self.number(format!("{head}_hi"), hi);
    }

    fn rate(&mut self, head: &str, rate: &Rate) {
        self.interval(head, rate.value, rate.lo, rate.hi);
    }

    fn share(&mut self, head: &str, share: &Proportion) {
        self.count(format!("{head}_n"), share.n);
        self.interval(head, share.value, share.lo, share.hi);
    }

    fn point(&mut self, head: &str, point: Option<&QuantilePoint>) {
        let part = |part: fn(&QuantilePoint) -> Option<Num>| point.and_then(part);
        match (part(|p| p.value), point) {
            (Some(value), Some(point)) if point.above => self.text(head, format!(">{value}")),
            (value, _) => self.number(head, value),
        }
        self.number(format!("{head}_lo"), part(|p| p.lo));
        self.number(format!("{head}_hi"), part(|p| p.hi));
    }
}

/// The sheet: a header, then a row per cell.
pub(crate) fn write(run: &RunView<'_>) -> String {
    let header = row(run, &CellSummary::default()).0.into_iter().map(|(head, _)| Value::Text(head));
    let mut sheet = line(header);
    for cell in &run.summary.cells {
        sheet += &line(row(run, cell).0.into_iter().map(|(_, value)| value));
    }
    sheet
}

fn row(run: &RunView<'_>, cell: &CellSummary) -> Row {
    let mut row = Row::default();
    row.text("run_id", &run.summary.run_id);
    row.text("state", state(run.summary.state));
    row.text("target", &cell.target);
    row.text("workload", &cell.workload);
    row.text("load", &cell.load);
    row.flag("valid", Some(cell.client.valid));
    row.text("not_valid_because", cell.client.reasons.join("; "));
    counts(&mut row, cell);
    for (head, metric, quantiles) in DISTRIBUTIONS {
        distribution(&mut row, head, cell.metrics.get(metric), quantiles);
    }
    for (head, metric) in ALL_ATTEMPTS {
        let all = cell.metrics.get(metric).and_then(|metric| metric.all_attempts.as_deref());
        distribution(&mut row, head, all, WAITED);
    }
    rates(&mut row, cell);
    money(&mut row, cell);
    client(&mut row, cell);
    shares(&mut row, cell);
    episodes(&mut row, cell);
    row
}

fn state(state: State) -> &'static str {
    match state {
        State::Running => "incomplete",
        State::Complete => "complete",
        State::Interrupted => "interrupted",
    }
}

fn counts(row: &mut Row, cell: &CellSummary) {
    let counts = &cell.counts;
    row.count("issued", counts.issued);
    row.count("failed", counts.failed);
    for status in Status::ALL {
        row.count(status.name(), counts.of(status));
    }
    row.count("useful", counts.useful);
    row.count("empty", counts.empty);
    row.count("capped", counts.capped);
    row.count("attempts", counts.attempts);
    row.count("retries", counts.retries);
    row.count("rate_limited", counts.rate_limited);
    row.count("throttled", counts.throttled);
    row.count("stale_reconnects", counts.stale_reconnects);
    let tokens = &cell.tokens;
    let told = [
        ("input_tokens", tokens.input),
        ("output_tokens", tokens.output),
        ("reasoning_tokens", tokens.reasoning),
        ("cache_read_tokens", tokens.cache_read),
    ];
    for (head, count) in told {
        row.number(head, count.and_then(|count| Num::new(count as f64)));
    }
    let lengths: Vec<String> = cell.dimensions.iter().map(u64::to_string).collect();
    row.text("dimensions", lengths.join(" "));
}

fn distribution(row: &mut Row, head: &str, metric: Option<&Metric>, quantiles: &[&str]) {
    let absent = Metric::default();
    let metric = metric.unwrap_or(&absent);
    row.count(format!("{head}_n"), metric.n);
    row.number(format!("{head}_mean"), metric.mean);
    row.number(format!("{head}_min"), metric.min);
    row.number(format!("{head}_max"), metric.max);
    let points = [
        ("p05", &metric.p05),
        ("p50", &metric.p50),
        ("p90", &metric.p90),
        ("p95", &metric.p95),
        ("p99", &metric.p99),
    ];
    for (name, point) in points.into_iter().filter(|(name, _)| quantiles.contains(name)) {
        row.point(&format!("{head}_{name}"), point.as_ref());
    }
}

fn rates(row: &mut Row, cell: &CellSummary) {
    let errors = cell.metrics.get(name::ERROR_RATE);
    row.count("request_error_rate_n", errors.map_or(0, |errors| errors.n));
    let part = |part: fn(&Metric) -> Option<Num>| errors.and_then(part);
    row.interval("request_error_rate", part(|e| e.value), part(|e| e.lo), part(|e| e.hi));
    row.share("useful_rate", &cell.validity.useful);
    row.number("window_s", cell.throughput.window_s);
    row.rate("output_token_throughput_tokens_per_s", &cell.throughput.output_token_throughput);
    row.rate("request_throughput_requests_per_s", &cell.throughput.request_throughput);
    row.rate("input_token_throughput_tokens_per_s", &cell.throughput.input_token_throughput);
    let goodput = cell.goodput.as_ref();
    row.share("goodput", &goodput.map(|goodput| goodput.share).unwrap_or_default());
    row.number("goodput_requests_per_s", goodput.and_then(|goodput| goodput.per_second));
    row.rate("time_to_first_token_spread_ms", &cell.stability.spread_ms);
}

fn money(row: &mut Row, cell: &CellSummary) {
    row.decimal("cost_usd", cell.cost.total_usd.as_deref());
    row.flag("cost_is_lower_bound", cell.cost.total_usd.as_ref().map(|_| cell.cost.lower_bound));
    row.rate("cost_per_useful_usd", &cell.cost.per_useful_usd);
}

fn client(row: &mut Row, cell: &CellSummary) {
    row.number("client_error_ms", cell.client.error_ms);
    row.number("asked_rate", cell.client.asked_rate);
    row.number("achieved_rate", cell.client.achieved_rate);
    row.flag("rate_held", cell.client.rate_held);
}

/// Where the money went, and what was not measured.
fn shares(row: &mut Row, cell: &CellSummary) {
    let cost = &cell.cost;
    for part in ["input", "cache_read", "cache_write", "output", "reasoning", "request"] {
        row.decimal(&format!("cost_{part}_usd"), cost.parts_usd.get(part).map(String::as_str));
    }
    row.number("cost_reasoning_share", cost.reasoning_share);
    row.number("cost_waste_share", cost.waste_share);
    row.rate("cost_per_month_usd", &cost.per_month_usd);
    row.count("missing", cell.counts.missing);
    row.text("gap", cell.gap.clone().unwrap_or_default());
}

/// Cold starts by the state of the connection, and bursts.
fn episodes(row: &mut Row, cell: &CellSummary) {
    let absent = ColdStarts::default();
    let cold = cell.cold_starts.as_ref();
    row.number("cold_start_gap_s", cold.and_then(|cold| Num::new(cold.gap_s)));
    let cold = cold.unwrap_or(&absent);
    for (state, start) in [("fresh", &cold.fresh), ("kept", &cold.kept)] {
        row.count(format!("cold_start_{state}_n"), start.n);
        row.point(&format!("cold_start_{state}_penalty_ms_p50"), start.penalty.p50.as_ref());
    }
    let absent = Bursts::default();
    let burst = cell.bursts.as_ref().unwrap_or(&absent);
    row.count("bursts", burst.n);
    row.share("burst_refused", &burst.refused);
    row.share("burst_failed", &burst.failed);
    row.point("burst_time_to_first_token_ms_p50", burst.ttft.p50.as_ref());
    row.rate("burst_recovery_ms", &burst.recovery);
}

fn line(values: impl Iterator<Item = Value>) -> String {
    let fields: Vec<String> = values.map(|value| field(&value)).collect();
    fields.join(",") + "\r\n"
}

fn field(value: &Value) -> String {
    let text = match value {
        Value::Number(number) => return number.clone(),
        Value::Text(text) => text,
    };
    let shown = clean(text);
    let is_formula = shown.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    // A line break or a tab at the front has become a space, and is marked all the same.
    let is_formula = is_formula || text.starts_with(['\t', '\r', '\n']);
    let shown = if is_formula { format!("'{shown}") } else { shown.into_owned() };
    if shown.contains([',', '"']) || shown.starts_with(' ') || shown.ends_with(' ') {
        format!("\"{}\"", shown.replace('"', "\"\""))
    } else {
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, shown: &str) {
        assert_eq!(field(&Value::Text(text.to_owned())), shown, "{text:?}");
    }

    #[test]
    fn formulas_are_neutralised_and_quotes_doubled() {
        check("plain", "plain");
        check("a,b", "\"a,b\"");
        check("say \"hi\"", "\"say \"\"hi\"\"\"");
        check("=1+1", "'=1+1");
        check("=HYPERLINK(\"http://x\",\"y\")", "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
        check("+1", "'+1");
        check("-1", "'-1");
        check("@SUM(A1)", "'@SUM(A1)");
        check("\t=1", "\"' =1\"".trim_matches('"'));
        check("\rx", "' x");
        check("  =1", "'  =1");
        check("＝1", "'＝1");
        check("a\r\nb", "a  b");
        check("\u{1b}[31m\u{202e}", "\\u{1b}[31m\\u{202e}");
    }

    #[test]
    fn our_own_numbers_stay_numbers() {
        let mut row = Row::default();
        row.number("a", Num::new(-3.5));
        row.number("b", None);
        row.number("c", Some(Num::INFINITY));
        row.decimal("d", Some("-0.0020"));
        row.decimal("e", Some("=1"));
        row.decimal("f", None);
        assert_eq!(line(row.0.into_iter().map(|(_, value)| value)), "-3.5,,inf,-0.0020,'=1,\r\n");
    }
}
