//! What a plan would send, cost and prove, before anything is sent.

use std::time::Duration;

use inferometer_metrics::{Gate, Profile, name};
use inferometer_price::{Decimal, Price};
use inferometer_tokens::Tokenizer;
use inferometer_wire::Normal;
use inferometer_workload::Prompts;
use serde::Serialize;

use crate::{Arrival, Cell, Error, Load, Plan, Workload};

/// Prompts of a cell that are counted; the others are taken to be as long on average.
const COUNTED_PROMPTS_MAX: u64 = 32;
/// Prompts that are looked at for a token limit before a run with a limit on money.
const CHECKED_PROMPTS_MAX: u64 = 100_000;
/// Slices of each target below which time and target are hard to tell apart.
const SLICES_MIN: u32 = 5;
/// No slice is shorter.
const SLICE_MIN: Duration = Duration::from_secs(10);
/// Requests of one cold-start episode: cold and warm, on a fresh connection and on a kept one.
const COLD_START_REQUESTS: u64 = 4;

/// What a plan would do.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// Each cell, in the plan's order.
    pub cells: Vec<CellEstimate>,
    /// Requests of all cells, warm-ups and the request before each target's load among them; `None` where a load ends
    /// by time alone.
    pub requests: Option<u64>,
    /// Prompt tokens of all requests, about: by the pinned tokenizer, each prompt as long as those that were counted.
    pub input_tokens: Option<u64>,
    /// Output tokens at most; `None` where a request has no limit.
    pub output_tokens_max: Option<u64>,
    /// US dollars with no output at all, about; `None` where a price or a number is not known.
    pub cost_min_usd: Option<Decimal>,
    /// US dollars with each answer at its token limit, about; `None` where a price, a number or a limit is not known.
    pub cost_max_usd: Option<Decimal>,
    /// Time that the loads take by themselves, whatever the targets do: gaps, rests, stated durations.
    #[serde(serialize_with = "crate::load::as_seconds", rename = "at_least_s")]
    pub at_least: Duration,
    /// Gates and limits of profiles, each counted once.
    pub conditions: usize,
    /// A line for each gate and limit that cannot be proved.
    pub unprovable: Vec<String>,
    /// A line for each load whose targets take turns by time, in how many slices.
    pub slices: Vec<String>,
}

/// What one cell would do.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CellEstimate {
    /// Name of the target.
    pub target: String,
    /// Name of the workload.
    pub workload: String,
    /// Name of the load.
    pub load: String,
    /// Measured requests; `None` where the load ends by time alone.
    pub requests: Option<u64>,
    /// Requests sent first and dropped, those that warm a cache among them.
    pub warmup: u64,
    /// Prompt tokens of a request on average, by the pinned tokenizer.
    pub input_tokens_mean: u64,
    /// Output tokens of a request at most, on average; `None` where one has no limit.
    pub output_tokens_max_mean: Option<u64>,
    /// US dollars with no output at all.
    pub cost_min_usd: Option<Decimal>,
    /// US dollars with each answer at its token limit.
    pub cost_max_usd: Option<Decimal>,
}

impl Plan {
    /// What the plan would send and cost, and what it could not prove. `prompts` are those of each workload, in order.
    pub fn estimate(&self, prompts: &[Prompts]) -> Estimate {
        let sizes: Vec<Size> = self
            .workloads
            .iter()
            .zip(prompts)
            .map(|(workload, prompts)| Size::of(prompts, workload.max_tokens))
            .collect();
        let estimate = |cell: Cell<'_>| {
            let place = self.workloads.iter().position(|workload| std::ptr::eq(workload, cell.workload));
            let of = |place: usize| Some((*sizes.get(place)?, self.warmed(cell.load, prompts.get(place)?)));
            let (size, warmed) = place.and_then(of).unwrap_or_default();
            self.cell_estimate(cell, size, warmed)
        };
        let cells: Vec<CellEstimate> = self.cells().map(estimate).collect();
        let sum = |of: &dyn Fn(&CellEstimate) -> Option<u64>| {
            cells.iter().map(of).try_fold(0_u64, |sum, part| sum.checked_add(part?))
        };
        let money = |of: &dyn Fn(&CellEstimate) -> Option<Decimal>| {
            cells.iter().map(of).try_fold(Decimal::ZERO, |sum, part| sum.checked_add(part?))
        };
        // One request before the load of each target shows that it can be asked.
        let preflight = self.targets.len() as u64;
        Estimate {
            requests: sum(&|cell| cell.all_requests()).map(|requests| requests.saturating_add(preflight)),
            input_tokens: sum(&|cell| cell.all_requests()?.checked_mul(cell.input_tokens_mean)),
            output_tokens_max: sum(&|cell| cell.all_requests()?.checked_mul(cell.output_tokens_max_mean?)),
            cost_min_usd: money(&|cell| cell.cost_min_usd),
            cost_max_usd: money(&|cell| cell.cost_max_usd),
            at_least: self.cells().map(|cell| least_time(cell.load)).sum(),
            conditions: self.all_conditions().count(),
            unprovable: self.unprovable(),
            slices: self.loads.iter().filter_map(|load| self.slices_of(load)).collect(),
            cells,
        }
    }

    fn cell_estimate(&self, cell: Cell<'_>, size: Size, warmed: u64) -> CellEstimate {
        let output = if cell.target.dialect.generates() { size.output } else { Some(0) };
        let mut estimate = CellEstimate {
            target: cell.target.name.clone(),
            workload: cell.workload.name.clone(),
            load: cell.load.name.clone(),
            requests: requests(cell.load),
            warmup: self.protocol.warmup.saturating_add(warmed),
            input_tokens_mean: size.input,
            output_tokens_max_mean: output,
            ..CellEstimate::default()
        };
        let cost = |output: Option<u64>| {
            let price = cell.target.price.as_ref()?;
            let each = cost_of(price, size.input, output?)?;
            each.checked_mul(Decimal::from(estimate.all_requests()?))
        };
        let (min, max) = (cost(Some(0)), cost(output));
        (estimate.cost_min_usd, estimate.cost_max_usd) = (min, max);
        estimate
    }

    /// A line for each gate, and each limit of a profile, that a load's number of requests cannot prove to be met,
    /// whatever the answers are.
    pub fn unprovable(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for load in &self.loads {
            let at = if self.loads.len() > 1 { format!(" at {}", load.name) } else { String::new() };
            let mut note = |what: String, gate: &Gate| {
                if gate.metric() == name::AVAILABILITY {
                    return;
                }
                let n = observations(load, is_of_bursts(gate));
                lines.extend(n.and_then(|n| cannot_prove(&what, gate, n)));
            };
            self.gates.iter().for_each(|gate| note(format!("gate {gate}{at}"), gate));
            for profile in
                self.profiles.iter().filter(|it| it.load.as_ref().is_none_or(|it| *it == load.name))
            {
                let kind = profile.kind.name();
                profile.constraints().iter().for_each(|gate| note(format!("{kind}, {gate}{at}"), gate));
            }
        }
        let has_bursts = self.loads.iter().any(|load| matches!(load.arrival, Arrival::Burst { .. }));
        for profile in self.profiles.iter().filter(|_| !has_bursts) {
            let unmeasured = profile.constraints().into_iter().filter(is_of_bursts);
            let kind = profile.kind.name();
            lines.extend(unmeasured.map(|gate| format!("{kind}, {gate}: no load has bursts")));
        }
        let gates = self.gates.iter().map(|gate| (format!("gate {gate}"), gate.metric()));
        let limits = self.profiles.iter().flat_map(|profile| {
            let constraints = profile.constraints().into_iter();
            constraints.map(|gate| (format!("{}, {gate}", profile.kind.name()), gate.metric()))
        });
        let of_days = gates.chain(limits).filter(|(_, metric)| *metric == name::AVAILABILITY);
        lines.extend(
            of_days.map(|(what, _)| format!("{what}: it takes time windows over days, no single run")),
        );
        lines
    }

    /// Every gate, and every limit of a profile.
    fn all_conditions(&self) -> impl Iterator<Item = Gate> {
        self.gates.iter().cloned().chain(self.profiles.iter().flat_map(Profile::constraints))
    }

    /// In how many slices each target is measured under `load`, where the targets take turns by time.
    fn slices_of(&self, load: &Load) -> Option<String> {
        let blocks = self.protocol.blocks.filter(|blocks| !blocks.together && self.targets.len() > 1)?;
        let length = match load.arrival {
            Arrival::Closed { slots, .. } if slots > 1 => load.stop.duration,
            Arrival::Open { rate, .. } => {
                let by_count = load.stop.requests.map(|n| Duration::try_from_secs_f64(n as f64 / rate));
                let by_count = by_count.and_then(Result::ok);
                load.stop.duration.into_iter().chain(by_count).min()
            }
            _ => return None,
        };
        let (load_name, slice) = (&load.name, blocks.slice.as_secs_f64());
        let remedy = if blocks.slice > SLICE_MIN { "a shorter slice, " } else { "" };
        let remedy = format!("use more trials, {remedy}or interleave = \"together\"");
        let Some(length) = length else {
            let said = format!("how many slices of {slice} s");
            return Some(format!(
                "{load_name}: {said} each target gets is up to its speed; below {SLICES_MIN}, {remedy}"
            ));
        };
        let slices = (length.as_secs_f64() / slice).ceil();
        let most = if load.stop.requests.is_some() && load.stop.duration.is_some() { "at most " } else { "" };
        let said = format!("{load_name}: {most}{slices} of {slice} s for each target");
        let few = if slices <= 1.0 { "one piece" } else { "few pieces" };
        Some(if slices < f64::from(SLICES_MIN) {
            format!("{said}: each target is measured in {few}: {remedy}")
        } else {
            said
        })
    }

    /// Refuses a limit on money where a request has no token limit: what it may cost could not be reserved. `prompts`
    /// are those of each workload, in order.
    pub fn check_spend(&self, prompts: &[Prompts]) -> Result<(), Error> {
        self.check_prices()?;
        if self.budget.money.is_none() {
            return Ok(());
        }
        let needs_limit = |workload: &&Workload| {
            let of =
                |cell: Cell<'_>| std::ptr::eq(cell.workload, *workload) && cell.target.dialect.generates();
            self.cells().any(of)
        };
        for (workload, prompts) in
            self.workloads.iter().zip(prompts).filter(|(workload, _)| needs_limit(workload))
        {
            let has_limit =
                |seq| workload.max_tokens.is_some() || prompts.item(seq, seq).max_tokens.is_some();
            let all = prompts.distinct().unwrap_or(1).min(CHECKED_PROMPTS_MAX);
            if !(0..all).all(has_limit) {
                return Err(Error::Money {
                    needs: format!("a token limit for each request of '{}'", workload.name),
                    remedy: "give it with --osl, or as max_tokens in the plan",
                });
            }
        }
        Ok(())
    }
}

impl CellEstimate {
    /// Warm-ups among them.
    fn all_requests(&self) -> Option<u64> {
        self.requests?.checked_add(self.warmup)
    }
}

/// Tokens of a request of one workload, on average.
#[derive(Clone, Copy, Default)]
struct Size {
    input: u64,
    output: Option<u64>,
}

impl Size {
    fn of(prompts: &Prompts, max_tokens: Option<u32>) -> Self {
        let tokenizer = Tokenizer::o200k();
        let n = prompts.distinct().unwrap_or(COUNTED_PROMPTS_MAX).clamp(1, COUNTED_PROMPTS_MAX);
        let (mut input, mut output) = (0, Some(0));
        for seq in 0..n {
            let item = prompts.item(seq, seq);
            input += tokenizer.count(&item.prompt.text());
            let limit = item.max_tokens.or(max_tokens).map(u64::from);
            output = output.and_then(|sum: u64| Some(sum + limit?));
        }
        // Upwards: an estimate of money that is too low is of no use.
        Self { input: input.div_ceil(n), output: output.map(|output| output.div_ceil(n)) }
    }
}

/// US dollars of one request, the output as dear as it can be: as an answer, or as reasoning.
fn cost_of(price: &Price, input: u64, output: u64) -> Option<Decimal> {
    let cost = |visible: u64, reasoning: u64| {
        let usage = Normal {
            input_uncached: Some(input),
            output_visible: Some(visible),
            output_reasoning: Some(reasoning),
            output: Some(output),
            ..Normal::default()
        };
        price.cost(&usage).map(|cost| cost.total)
    };
    Some(cost(output, 0)?.max(cost(0, output)?))
}

/// Requests of a cell under `load`, warm-ups not counted.
fn requests(load: &Load) -> Option<u64> {
    let stop = load.stop.requests;
    match load.arrival {
        Arrival::Closed { .. } => stop,
        Arrival::Open { rate, .. } => match (stop, load.stop.duration) {
            (stop, None) => stop,
            (stop, Some(duration)) => {
                let by_time = (rate * duration.as_secs_f64()).ceil() as u64;
                Some(stop.map_or(by_time, |stop| stop.min(by_time)))
            }
        },
        Arrival::ColdStart { .. } => stop?.checked_mul(COLD_START_REQUESTS),
        // One at rest and one back at rest, at least.
        Arrival::Burst { size, .. } => stop?.checked_mul(u64::from(size).saturating_add(2)),
    }
}

/// Whether a condition is on bursts alone.
fn is_of_bursts(gate: &Gate) -> bool {
    gate.metric().starts_with("burst_")
}

/// Observations that a condition is held against; `None` where their number is open, or the load has none of them.
fn observations(load: &Load, of_bursts: bool) -> Option<u64> {
    match load.arrival {
        Arrival::Closed { .. } | Arrival::Open { .. } if !of_bursts => requests(load),
        Arrival::Burst { size, .. } if of_bursts => load.stop.requests?.checked_mul(u64::from(size)),
        _ => None,
    }
}

/// Time that a load takes whatever the target does.
fn least_time(load: &Load) -> Duration {
    let episodes = u32::try_from(load.stop.requests.unwrap_or(0)).unwrap_or(u32::MAX);
    match load.arrival {
        Arrival::ColdStart { gap } => gap.saturating_mul(episodes.saturating_mul(2)),
        Arrival::Burst { rest, .. } => rest.saturating_mul(episodes),
        Arrival::Open { rate, .. } if load.stop.duration.is_none() => {
            let requests = load.stop.requests.unwrap_or(0) as f64;
            Duration::try_from_secs_f64(requests / rate).unwrap_or_default()
        }
        // A count may end it before its time does.
        Arrival::Closed { .. } | Arrival::Open { .. } if load.stop.requests.is_some() => Duration::ZERO,
        Arrival::Closed { .. } | Arrival::Open { .. } => load.stop.duration.unwrap_or_default(),
    }
}

/// What is said of a condition that `n` observations cannot prove to be met.
fn cannot_prove(what: &str, gate: &Gate, n: u64) -> Option<String> {
    let needed = gate.needed_n().filter(|needed| n < *needed)?;
    let requests = if n == 1 { "request" } else { "requests" };
    let none = match gate.quantile() {
        Some(_) if gate.op().is_upper() => "if none is over",
        Some(_) => "if none is under",
        None => "if none counts against it",
    };
    Some(format!("{what}: {n} {requests} cannot prove it, {needed} could {none}"))
}
