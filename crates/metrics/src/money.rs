//! What a cell cost: exact sums over all attempts, and the cost of a useful answer.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use inferometer_record::Sample;
use inferometer_stats::{ALPHA, ratio};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use crate::{CellSummary, Cost, Num, Rate};

/// Distinct price sources that are named.
const MAX_SOURCES: usize = 8;

/// An exact sum that may have none or too large a sum.
#[derive(Debug, Default)]
struct Sum {
    total: Option<Decimal>,
    /// A part did not fit: the sum is a lower bound.
    overflow: bool,
}

impl Sum {
    fn add(&mut self, part: Decimal) {
        match self.total.unwrap_or_default().checked_add(part) {
            Some(total) => self.total = Some(total),
            None => self.overflow = true,
        }
    }

    fn text(&self) -> Option<String> {
        self.total.map(|total| total.normalize().to_string())
    }

    fn float(&self) -> Option<f64> {
        self.total.and_then(|total| total.to_f64())
    }
}

/// The money of a cell, attempt by attempt.
#[derive(Debug, Default)]
pub(crate) struct Money {
    total: Sum,
    parts: BTreeMap<&'static str, Sum>,
    waste: Sum,
    warmup: Sum,
    reported: Sum,
    residual: Sum,
    /// Ours, over the attempts that have both.
    beside_reported: Sum,
    priced: u64,
    unknown: u64,
    /// Whether any attempt told what its reasoning cost, be it nothing.
    told_reasoning: bool,
    sources: BTreeSet<String>,
    /// Per prompt, by the hash of its id: cost and useful answers.
    prompts: HashMap<u64, (f64, f64), BuildHasherDefault<DefaultHasher>>,
}

impl Money {
    /// An attempt in the figures. Failed and useless ones cost too; one that was never sent costs nothing.
    pub(crate) fn push(&mut self, sample: &Sample, is_useful: bool) {
        let cost = amount(sample.cost_usd.as_deref());
        let cost = cost.or_else(|| sample.sent_ns.is_none().then_some(Decimal::ZERO));
        let prompt = BuildHasherDefault::<DefaultHasher>::default().hash_one(&sample.prompt_id);
        let cluster = self.prompts.entry(prompt).or_default();
        cluster.1 += f64::from(u8::from(is_useful));
        match cost {
            Some(cost) => {
                cluster.0 += cost.to_f64().unwrap_or(0.0);
                self.priced += 1;
                self.total.add(cost);
                self.push_parts(sample);
                if !is_useful {
                    self.waste.add(cost);
                }
            }
            None => self.unknown += 1,
        }
        if let Some(reported) = amount(sample.cost_reported_usd.as_deref()) {
            self.reported.add(reported);
            if let Some((cost, residual)) = cost.and_then(|cost| Some((cost, reported.checked_sub(cost)?))) {
                self.residual.add(residual);
                self.beside_reported.add(cost);
            }
        }
        if let Some(source) = sample.cost_source.as_ref().filter(|_| self.sources.len() < MAX_SOURCES) {
            self.sources.insert(source.clone());
        }
    }

    fn push_parts(&mut self, sample: &Sample) {
        let parts = [
            ("input", &sample.cost_input_usd),
            ("cache_read", &sample.cost_cache_read_usd),
            ("cache_write", &sample.cost_cache_write_usd),
            ("output", &sample.cost_output_usd),
            ("reasoning", &sample.cost_reasoning_usd),
            ("request", &sample.cost_request_usd),
        ];
        self.told_reasoning |= amount(sample.cost_reasoning_usd.as_deref()).is_some();
        for (name, part) in parts {
            if let Some(part) = amount(part.as_deref()).filter(|part| !part.is_zero()) {
                self.parts.entry(name).or_default().add(part);
            }
        }
    }

    /// A warm-up or preflight: paid for, in no figure.
    pub(crate) fn push_warmup(&mut self, sample: &Sample) {
        if let Some(cost) = amount(sample.cost_usd.as_deref()) {
            self.warmup.add(cost);
        }
    }

    /// The cell's money. `ok` and `useful` count final attempts.
    pub(crate) fn finish(&self, ok: u64, useful: u64) -> Cost {
        // Attempts that were never sent are known to cost nothing; where no price is known at all, that is no cost of
        // the cell.
        let is_priced = !self.sources.is_empty() || self.total.total.is_some_and(|total| !total.is_zero());
        if !is_priced {
            return Cost { unknown: self.unknown, lower_bound: self.unknown > 0, ..self.unpriced() };
        }
        let total = self.total.float();
        let per = |n: u64, factor: f64| total.filter(|_| n > 0).and_then(|t| Num::new(t / n as f64 * factor));
        let share = |part: &Sum| Num::new(part.float().unwrap_or(0.0) / total.filter(|t| *t > 0.0)?);
        Cost {
            total_usd: self.total.text(),
            parts_usd: self
                .parts
                .iter()
                .filter_map(|(name, sum)| Some(((*name).to_owned(), sum.text()?)))
                .collect(),
            priced: self.priced,
            unknown: self.unknown,
            lower_bound: self.is_lower_bound(),
            per_useful_usd: self.per_useful(useful),
            per_1000_answers_usd: per(ok, 1_000.0),
            waste_share: share(&self.waste),
            reasoning_share: self.reasoning().and_then(share),
            ..self.unpriced()
        }
    }

    /// What reasoning cost; `None` where no attempt told it.
    fn reasoning(&self) -> Option<&Sum> {
        const NOTHING: &Sum = &Sum { total: None, overflow: false };
        self.told_reasoning.then(|| self.parts.get("reasoning").unwrap_or(NOTHING))
    }

    /// What is known without any price of ours.
    fn unpriced(&self) -> Cost {
        Cost {
            warmup_usd: self.warmup.text(),
            reported_usd: self.reported.text(),
            residual_usd: self.residual.text(),
            sources: self.sources.iter().cloned().collect(),
            ..Cost::default()
        }
    }

    /// By which share of ours the cost that the provider reports differs from it, over the attempts that have both.
    pub(crate) fn deviation(&self) -> Option<f64> {
        let ours = self.beside_reported.float().filter(|ours| *ours > 0.0)?;
        Some(self.residual.float()? / ours)
    }

    fn is_lower_bound(&self) -> bool {
        self.unknown > 0 || self.total.overflow
    }

    /// Σ cost of all attempts ÷ useful answers, with Fieller's interval on totals by prompt. None useful: at least
    /// C̄/(1 − 0.05^(1/n)). Nothing asked: nothing.
    fn per_useful(&self, useful: u64) -> Rate {
        let asked = self.priced + self.unknown;
        let lower = "a cost is unknown: a lower bound";
        if useful == 0 {
            let mean = self.total.float().filter(|_| asked > 0).map(|total| total / asked as f64);
            let lo = mean.and_then(|mean| ratio::zero_useful_lower(mean, asked, ALPHA)).and_then(Num::new);
            let note = (asked > 0).then(|| "none useful".to_owned());
            return Rate { value: None, lo, hi: None, note };
        }
        let mut clusters: Vec<(u64, (f64, f64))> =
            self.prompts.iter().map(|(id, totals)| (*id, *totals)).collect();
        clusters.sort_unstable_by_key(|(id, _)| *id); // sums of floats depend on their order, a report must not
        let totals: Vec<(f64, f64)> = clusters.into_iter().map(|(_, totals)| totals).collect();
        let fieller = ratio::fieller(&totals, ALPHA);
        let is_lower_bound = self.is_lower_bound();
        Rate {
            value: self.total.float().and_then(|total| Num::new(total / useful as f64)),
            lo: fieller.and_then(|ratio| ratio.bounds.lo).and_then(Num::new),
            hi: fieller.and_then(|ratio| ratio.bounds.hi).filter(|_| !is_lower_bound).and_then(Num::new),
            note: is_lower_bound.then(|| lower.to_owned()),
        }
    }
}

/// `cell` with what a month costs at `requests` a month, each of which must have a useful answer in the end: × cost per
/// useful answer, bounds alike.
pub(crate) fn by_month(mut cell: CellSummary, requests: Option<u64>) -> CellSummary {
    let Some(requests) = requests else { return cell };
    let per_useful = cell.cost.per_useful_usd.clone();
    let times = |value: Option<Num>| value.and_then(|value| Num::new(value.get() * requests as f64));
    cell.cost.per_month_usd = Rate {
        value: times(per_useful.value),
        lo: times(per_useful.lo),
        hi: times(per_useful.hi),
        note: per_useful.note,
    };
    cell
}

/// A cost as recorded; what is no decimal, or negative, is not known.
fn amount(text: Option<&str>) -> Option<Decimal> {
    let text = text?;
    let parsed = Decimal::from_str_exact(text).or_else(|_| Decimal::from_scientific(text));
    parsed.ok().filter(|amount| !amount.is_sign_negative() || amount.is_zero())
}
