//! What is planted, as numbers, and the intervals that a report prints for them.

use inferometer_app::demo::truth::{
    BURST, COLD_MS, Character, FAILING, LET_IN, MAX_TOKENS, Planted, REASONING_SIGMA, SIGMA, TAIL, TARGETS,
};
use inferometer_metrics::{Num, QuantilePoint, name};
use inferometer_stats::special::{normal_cdf, normal_quantile};
use inferometer_tokens::Tokenizer;
use inferometer_workload::{Cache, Oracle, Prompts, Reply, Shipped, Source};

use crate::seen::Seen;

/// Measured prompts of each target.
const PROMPTS: u64 = 300;

/// One planted truth, and what was printed for it.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) what: String,
    truth: f64,
    lo: Option<Num>,
    hi: Option<Num>,
}

impl Claim {
    fn new(what: String, truth: f64, lo: Option<Num>, hi: Option<Num>) -> Self {
        Self { what, truth, lo, hi }
    }

    fn of_point(what: String, truth: f64, point: Option<&QuantilePoint>) -> Self {
        Self::new(what, truth, point.and_then(|point| point.lo), point.and_then(|point| point.hi))
    }

    /// Whether the interval is closed and holds the truth.
    pub(crate) fn holds(&self) -> bool {
        let within = |lo: Num, hi: Num| lo.get() <= self.truth && self.truth <= hi.get();
        self.lo.zip(self.hi).is_some_and(|(lo, hi)| within(lo, hi))
    }
}

/// Every planted truth that has an interval.
pub(crate) fn claims(seen: &Seen, seed: u64) -> Vec<Claim> {
    let lengths = answer_tokens(seed);
    let mut claims: Vec<Claim> =
        TARGETS.iter().flat_map(|planted| of_target(seen, planted, &lengths)).collect();
    let cold = &seen.cell("finch@dune", "after-rest").cold_starts.as_ref().unwrap().either.penalty;
    claims.push(Claim::of_point("cold start of finch@dune".into(), COLD_MS.1 as f64, cold.p50.as_ref()));
    let refused = seen.cell("finch@dune", "burst").bursts.as_ref().unwrap().refused;
    let share = f64::from(BURST - LET_IN) / f64::from(BURST);
    claims.push(Claim::new("refused of a burst at finch@dune".into(), share, refused.lo, refused.hi));
    claims
}

fn of_target(seen: &Seen, planted: &Planted, lengths: &[u32]) -> Vec<Claim> {
    let (target, cell) = (planted.target(), seen.steady(&planted.target()));
    let what = |figure: &str| format!("{figure} of {target}");
    let ttft = &cell.metrics[name::TTFT];
    let useful = cell.validity.useful;
    let mut claims = vec![
        Claim::of_point(what("TTFT p50"), ttft_ms(planted, 0.5), ttft.p50.as_ref()),
        Claim::new(what("useful answers"), useful_share(planted, lengths), useful.lo, useful.hi),
    ];
    match planted.character {
        Character::Tailed => {
            claims.push(Claim::of_point(what("TTFT p95"), ttft_ms(planted, 0.95), ttft.p95.as_ref()));
        }
        Character::Failing => {
            let errors = &cell.metrics[name::ERROR_RATE];
            claims.push(Claim::new(what("failures"), FAILING, errors.lo, errors.hi));
        }
        Character::Stale | Character::Sleepy => {}
    }
    claims
}

/// The quantile of the law of the time to first token, ms.
fn ttft_ms(planted: &Planted, p: f64) -> f64 {
    let (share, tail_ms, tail_sigma) = match planted.character {
        Character::Tailed => TAIL,
        _ => (0.0, 1, 0.0),
    };
    // The late ones are all later than the others, but for one in millions.
    if p <= 1.0 - share {
        planted.ttft_ms as f64 * (SIGMA * normal_quantile(p / (1.0 - share))).exp()
    } else {
        tail_ms as f64 * (tail_sigma * normal_quantile((p - (1.0 - share)) / share)).exp()
    }
}

/// The share of useful answers: right, not failed, and no longer than the limit leaves room for behind the reasoning.
fn useful_share(planted: &Planted, lengths: &[u32]) -> f64 {
    let median = planted.model.reasoning;
    let fits = |answer: &u32| {
        if median == 0 {
            return f64::from(u8::from(*answer <= MAX_TOKENS));
        }
        // Numbers of tokens are rounded.
        let room = f64::from(MAX_TOKENS) - f64::from(*answer) + 0.5;
        if room <= 0.0 { 0.0 } else { normal_cdf((room / f64::from(median)).ln() / REASONING_SIGMA) }
    };
    let fit = lengths.iter().map(fits).sum::<f64>() / lengths.len() as f64;
    let failing = if planted.character == Character::Failing { FAILING } else { 0.0 };
    planted.model.accuracy * fit * (1.0 - failing)
}

/// Tokens of the right answers to the run's prompts.
fn answer_tokens(seed: u64) -> Vec<u32> {
    let source = Source::Shipped { kind: Shipped::Chat, input: None, output: None };
    let prompts = Prompts::prepare(&source, Some(PROMPTS), seed, "", Cache::AsIs).unwrap();
    let oracle = Oracle::new(&[(Shipped::Chat, None)], seed, PROMPTS);
    let tokens = |seq| match oracle.answer(&prompts.item(seq, seq).prompt.text()).unwrap().right {
        Reply::Text(text) => Tokenizer::o200k().count(&text) as u32,
        Reply::ToolCall { .. } => panic!("chat calls no tool"),
    };
    (0..PROMPTS).map(tokens).collect()
}
