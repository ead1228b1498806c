//! Tables of figures: a number, its interval, and the interval drawn.

use askama::Template;
use inferometer_metrics::{Num, Proportion, QuantilePoint, Rate};

use crate::number::{NONE, digits, is_max, percent, point, rate, share, time, time_point};

/// What money is shown of.
const THOUSAND: f64 = 1000.0;

/// A table with everything that a reader without eyes needs: a caption, and heads with their scopes.
#[derive(Clone, Debug, Default, Template)]
#[template(path = "table.html")]
pub(super) struct Table {
    /// Unique on the page.
    pub(super) id: String,
    pub(super) caption: String,
    /// The head of the column that names the rows.
    pub(super) corner: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
}

impl askama::filters::HtmlSafe for Table {}

/// A column's head.
#[derive(Clone, Debug, Default)]
pub(super) struct Column {
    pub(super) head: String,
    /// Below the head: what it counts.
    pub(super) hint: String,
    /// Below that: the scale of its bars.
    pub(super) scale: String,
    /// What its numbers are in `summary.json`, and so where they are copied to.
    pub(super) unit: &'static str,
    pub(super) is_number: bool,
}

impl Column {
    pub(super) fn number(head: &str, hint: &str) -> Self {
        Self { head: head.to_owned(), hint: hint.to_owned(), is_number: true, ..Self::default() }
    }

    pub(super) fn text(head: &str) -> Self {
        Self { head: head.to_owned(), ..Self::default() }
    }

    /// What it is called where it is copied to.
    pub(super) fn name(&self) -> String {
        // A unit of its own replaces one that is for the eye.
        let hint = if self.unit.starts_with("USD") { "" } else { self.hint.as_str() };
        let parts = [self.head.as_str(), hint, self.unit];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

/// A row: its name, and as many cells as there are columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub(super) head: String,
    pub(super) detail: String,
    /// The number of its colour; 0 is none.
    pub(super) color: usize,
    pub(super) cells: Vec<Cell>,
}

/// How a cell should be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tone {
    #[default]
    Plain,
    Good,
    Warn,
    Bad,
    Faint,
}

impl Tone {
    /// The class in the style sheet.
    pub(super) const fn class(self) -> &'static str {
        match self {
            Tone::Plain => "plain",
            Tone::Good => "good",
            Tone::Warn => "warn",
            Tone::Bad => "bad",
            Tone::Faint => "faint",
        }
    }
}

/// One figure, or a word.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) text: String,
    /// Below it, small: the interval, a note.
    pub(super) detail: String,
    pub(super) tone: Tone,
    pub(super) figure: Option<Figure>,
    pub(super) bar: Option<Bar>,
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    pub(super) fn toned(tone: Tone, text: impl Into<String>) -> Self {
        Self { text: text.into(), tone, ..Self::default() }
    }

    /// Where there is no value.
    pub(super) fn none() -> Self {
        Self::toned(Tone::Faint, NONE)
    }

    pub(super) fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    /// The same cell with its counts behind its interval.
    pub(super) fn with_count(mut self, counts: &str) -> Self {
        self.detail =
            if self.detail.is_empty() { counts.to_owned() } else { format!("{} {counts}", self.detail) };
        self
    }

    pub(super) fn figured(mut self, at: &str, value: Option<Num>, lo: Option<Num>, hi: Option<Num>) -> Self {
        self.figure = Some(Figure { at: at.to_owned(), value, lo, hi });
        self
    }

    /// The same cell, whose one value stands at `at` in `summary.json`.
    pub(super) fn standing(self, at: &str, value: Option<Num>) -> Self {
        self.figured(at, value, None, None)
    }

    /// A quantile of a time; `at` is where it stands in `summary.json`.
    pub(super) fn time(at: &str, point: Option<&QuantilePoint>) -> Self {
        let Some(quantile) = point.filter(|point| point.value.is_some()) else { return Self::none() };
        let (text, interval) = time_point(point);
        let max = if is_max(point) { " largest seen" } else { "" };
        Self::text(text).with_detail(format!("{interval}{max}")).figured(
            at,
            quantile.value,
            quantile.lo,
            quantile.hi,
        )
    }

    /// A quantile without a unit of its own.
    pub(super) fn quantile(at: &str, quantile: Option<&QuantilePoint>) -> Self {
        let shown = quantile.and_then(|quantile| point(quantile, crate::number::Scale::PLAIN));
        let (Some(quantile), Some(shown)) = (quantile, shown) else { return Self::none() };
        Self::split(&shown).figured(at, quantile.value, quantile.lo, quantile.hi)
    }

    /// A value with its interval.
    pub(super) fn rate(at: &str, value: &Rate, unit: Unit) -> Self {
        let Some(number) = value.value else {
            return value.lo.map_or_else(Self::none, |lo| {
                Self::toned(Tone::Bad, "none").with_detail(format!("≥\u{a0}{}", unit.shown(lo))).figured(
                    at,
                    None,
                    Some(lo),
                    value.hi,
                )
            });
        };
        let shown = match (value.lo, value.hi) {
            (None, None) => unit.shown(number),
            (lo, hi) => format!("{} {}", unit.shown(number), unit.interval(value, lo, hi)),
        };
        Self::split(&shown).figured(at, value.value, value.lo, value.hi)
    }

    /// A share with Wilson's interval and its counts.
    pub(super) fn proportion(at: &str, value: &Proportion) -> Self {
        let Some(shown) = share(value.value, value.lo, value.hi) else { return Self::none() };
        Self::split(&shown).figured(at, value.value, value.lo, value.hi)
    }

    /// A share that stands as a figure.
    pub(super) fn share(at: &str, value: Option<Num>, lo: Option<Num>, hi: Option<Num>) -> Self {
        share(value, lo, hi).map_or_else(Self::none, |shown| Self::split(&shown).figured(at, value, lo, hi))
    }

    /// `value [lo–hi]`: the interval below.
    fn split(shown: &str) -> Self {
        let (value, interval) = shown.split_once(" [").unwrap_or((shown, ""));
        let detail = if interval.is_empty() { String::new() } else { format!("[{interval}") };
        Self::text(value).with_detail(detail)
    }
}

/// What a value with an interval is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Ms,
    /// Dollars, shown of a thousand: one answer costs too little to be read.
    UsdPerThousand,
    Share,
    /// One against another.
    Ratio,
    /// A difference of shares, in percentage points.
    Points,
    Plain,
}

impl Unit {
    /// By the summary's word for it.
    pub(super) fn of(word: &str) -> Self {
        match word {
            "ms" => Unit::Ms,
            "USD" => Unit::UsdPerThousand,
            "share" => Unit::Points,
            "ratio" => Unit::Ratio,
            _ => Unit::Plain,
        }
    }

    /// What a number is in the summary, before it is made readable.
    const fn in_summary(self) -> &'static str {
        match self {
            Unit::Ms => "ms",
            Unit::UsdPerThousand => "USD per useful answer",
            Unit::Share | Unit::Points => "share",
            Unit::Ratio => "ratio",
            Unit::Plain => "",
        }
    }

    pub(super) fn shown(self, value: Num) -> String {
        match self {
            Unit::Ms => time(value),
            Unit::UsdPerThousand => format!("${}", digits(value.get() * THOUSAND)),
            Unit::Share => percent(value.get()),
            Unit::Ratio => format!("×\u{a0}{}", digits(value.get())),
            Unit::Points => format!("{}\u{a0}points", digits(value.get() * 100.0)),
            Unit::Plain => digits(value.get()),
        }
        .replace('-', "−")
    }

    /// `[lo–hi]`, in the unit of the value; `to` between numbers that have signs.
    fn interval(self, value: &Rate, lo: Option<Num>, hi: Option<Num>) -> String {
        let scaled = |factor: f64| {
            let of = |value: Option<Num>| value.and_then(|value| Num::new(value.get() * factor));
            rate(&Rate { value: of(value.value), lo: of(lo), hi: of(hi), note: None }, "")
        };
        let shown = match self {
            Unit::Ms => crate::number::time_rate(value),
            Unit::Share => share(value.value, lo, hi),
            Unit::UsdPerThousand => scaled(THOUSAND),
            Unit::Points => scaled(100.0),
            Unit::Ratio | Unit::Plain => rate(value, ""),
        };
        let bounds = shown.and_then(|text| text.split_once(" [").map(|(_, bounds)| bounds.to_owned()));
        let bounds = bounds.unwrap_or_default();
        let between = if bounds.contains('-') { " to " } else { "–" };
        if bounds.is_empty() {
            bounds
        } else {
            format!("[{}", bounds.replace('–', between).replace('-', "−"))
        }
    }
}

/// A figure of `summary.json`, as it stands there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figure {
    /// JSON pointer to it.
    pub(super) at: String,
    pub(super) value: Option<Num>,
    pub(super) lo: Option<Num>,
    pub(super) hi: Option<Num>,
}

impl Figure {
    /// A number as an attribute holds it; nothing where there is none.
    pub(super) fn attribute(value: Option<Num>) -> String {
        value.map_or_else(String::new, |value| value.to_string())
    }
}

/// An interval drawn: percent of the bar's width.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bar {
    /// From, to; `None` where there is no interval.
    pub(super) span: Option<(f64, f64)>,
    pub(super) at: Option<f64>,
    /// Where no difference would stand.
    pub(super) zero: Option<f64>,
    /// A side that n cannot bound.
    pub(super) is_open: bool,
}

/// The common scale of a column's bars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    Linear { lo: f64, hi: f64 },
    Log { lo: f64, hi: f64 },
}

impl Scale {
    /// A scale on which every finite number of `figures` has its place: of a ratio above 6 logarithmic, else from 0 on.
    pub(super) fn over<'a>(figures: impl Iterator<Item = &'a Figure>, zero: Option<f64>) -> Option<Self> {
        const LOG_FROM_RATIO: f64 = 6.0;
        let finite = figures.flat_map(|figure| [figure.value, figure.lo, figure.hi]);
        let finite = finite.flatten().filter_map(Num::finite).chain(zero);
        let (lo, hi) =
            finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), value| (lo.min(value), hi.max(value)));
        // A ratio and its inverse lie equally far from 1.
        if lo > 0.0 && hi > lo && (hi / lo > LOG_FROM_RATIO || zero.is_some()) {
            return Some(Scale::Log { lo, hi });
        }
        (hi > lo.min(0.0)).then_some(Scale::Linear { lo: lo.min(0.0), hi })
    }

    fn place(self, value: f64) -> f64 {
        let share = match self {
            Scale::Linear { lo, hi } => (value - lo) / (hi - lo),
            Scale::Log { lo, hi } => (value.max(lo) / lo).ln() / (hi / lo).ln(),
        };
        // The marks at the ends keep their whole width.
        if share.is_finite() { 4.0 + 92.0 * share.clamp(0.0, 1.0) } else { 100.0 }
    }

    /// The bar of a figure on this scale.
    pub(super) fn bar(self, figure: &Figure) -> Bar {
        let place = |side: Option<Num>, open: f64| side.map_or(open, |value| self.place(value.get()));
        let is_open = figure.hi.is_none_or(|hi| hi.finite().is_none()) || figure.lo.is_none();
        let has_interval = figure.lo.is_some() || figure.hi.is_some();
        Bar {
            span: has_interval.then(|| (place(figure.lo, 0.0), place(figure.hi, 100.0))),
            at: figure.value.map(|value| self.place(value.get())),
            zero: None,
            is_open,
        }
    }

    fn words(self, unit: Unit) -> String {
        let (lo, hi, log) = match self {
            Scale::Linear { lo, hi } => (lo, hi, ""),
            Scale::Log { lo, hi } => (lo, hi, ", log"),
        };
        let shown =
            |value: f64| Num::new(value).filter(|value| value.get() != 0.0).map(|value| unit.shown(value));
        let zero = || "0".to_owned();
        let (lo, hi) = (shown(lo).unwrap_or_else(zero), shown(hi).unwrap_or_else(zero));
        // A unit that both have is said once.
        let unit_of = |text: &str| text.split_once('\u{a0}').map(|(_, unit)| unit.to_owned());
        let lo = match unit_of(&lo) {
            Some(unit) if unit_of(&hi) == Some(unit.clone()) && !lo.starts_with('×') => {
                lo.replace(&format!("\u{a0}{unit}"), "")
            }
            _ => lo,
        };
        let between = if lo.starts_with('−') { " to " } else { "–" };
        format!("{lo}{between}{hi}{log}")
    }
}

/// Draws the bars of a column and says their scale in its head; of fewer than two figures there is nothing to compare.
pub(super) fn draw_bars(table: &mut Table, column: usize, unit: Unit) {
    draw_bars_around(table, column, unit, None);
}

/// As [`draw_bars`], with a mark where two targets would not differ.
pub(super) fn draw_bars_around(table: &mut Table, column: usize, unit: Unit, zero: Option<f64>) {
    if let Some(head) = table.columns.get_mut(column) {
        head.unit = unit.in_summary();
    }
    let figures: Vec<Figure> =
        table.rows.iter().filter_map(|row| row.cells.get(column)?.figure.clone()).collect();
    let is_comparable = figures.len() > 1 || zero.is_some();
    let Some(scale) = Scale::over(figures.iter(), zero).filter(|_| is_comparable) else { return };
    let zero = zero.map(|zero| scale.place(zero));
    for cell in table.rows.iter_mut().filter_map(|row| row.cells.get_mut(column)) {
        cell.bar = cell.figure.as_ref().map(|figure| Bar { zero, ..scale.bar(figure) });
    }
    if let Some(head) = table.columns.get_mut(column) {
        head.scale = scale.words(unit);
    }
}
