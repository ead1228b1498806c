//! A run of four providers and three models, made up: samples of a known law, and decisions written by hand.
//!
//! The cells' figures are reckoned out of the samples as those of a real run are, so that drawings and numbers agree.

use inferometer_metrics::{Arrival, CellContext, ClientHealth, Lateness, Num, Summary, summarize};
use inferometer_record::{Events, Manifest, Sample, State, Status, TokensSource, Verdict};
use inferometer_report::html::Dots;
use serde_json::{Value, json};

use super::verdicts;

pub(crate) const WORKLOAD: &str = "chat";
/// Providers by name, and what is wrong with each.
const PROVIDERS: [Provider; 4] = [
    Provider { name: "alder", speed: 1.0, bad_tail: 0.02, fails: 0.003, price: 1.0, stalls: 0.0 },
    Provider { name: "birch", speed: 0.8, bad_tail: 0.01, fails: 0.04, price: 0.9, stalls: 0.0 },
    Provider { name: "cedar", speed: 0.9, bad_tail: 0.11, fails: 0.0, price: 0.7, stalls: 0.15 },
    Provider { name: "dogwood", speed: 1.5, bad_tail: 0.01, fails: 0.0, price: 0.6, stalls: 0.02 },
];
const MODELS: [Model; 3] = [
    Model {
        name: "small-8b",
        ttft_ms: 190.0,
        tokens: 70.0,
        tpot_ms: 9.0,
        usd_per_million: 0.2,
        useful: 0.92,
    },
    Model {
        name: "main-70b",
        ttft_ms: 420.0,
        tokens: 90.0,
        tpot_ms: 17.0,
        usd_per_million: 2.5,
        useful: 0.985,
    },
    Model {
        name: "think-r1",
        ttft_ms: 900.0,
        tokens: 700.0,
        tpot_ms: 11.0,
        usd_per_million: 7.0,
        useful: 0.55,
    },
];

struct Provider {
    name: &'static str,
    speed: f64,
    bad_tail: f64,
    fails: f64,
    price: f64,
    stalls: f64,
}

struct Model {
    name: &'static str,
    ttft_ms: f64,
    tokens: f64,
    tpot_ms: f64,
    usd_per_million: f64,
    useful: f64,
}

/// A run with everything that its page is made of.
pub(crate) struct Made {
    pub(crate) summary: Summary,
    pub(crate) manifest: Manifest,
    pub(crate) dots: Dots,
}

/// Numbers that look random and are the same everywhere (Knuth's MMIX generator).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn is(&mut self, probability: f64) -> bool {
        self.next() < probability
    }

    /// About 1, log-normal of this σ.
    fn about(&mut self, sigma: f64) -> f64 {
        let (u, v) = (self.next().max(1e-12), self.next());
        (sigma * (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()).exp()
    }
}

/// Four providers, three models, `requests` each; further loads and loads of episodes.
pub(crate) fn full(requests: u64) -> Made {
    let mut made = Making::new();
    for (p, provider) in PROVIDERS.iter().enumerate() {
        for (m, model) in MODELS.iter().enumerate() {
            let seed = (p * MODELS.len() + m) as u64;
            made.cell(
                &name(provider, model),
                "c4",
                4,
                |chance, request| sample(chance, provider, model, request),
                requests,
                seed,
            );
        }
    }
    for slots in [1_u32, 16] {
        for provider in &PROVIDERS[..2] {
            let slowed = move |chance: &mut Chance, request: u64| {
                let mut slow = sample(chance, provider, &MODELS[0], request);
                slow.1.deltas_us.iter_mut().for_each(|us| *us = *us * u64::from(slots + 12) / 16);
                slow
            };
            made.cell(&name(provider, &MODELS[0]), &format!("c{slots}"), slots, slowed, 60, u64::from(slots));
        }
    }
    let mut made = made.finish();
    verdicts::fill(&mut made.summary);
    made
}

/// One target and one cell, and no decision.
pub(crate) fn single() -> Made {
    let mut made = Making::new();
    made.cell(
        "alder-small-8b",
        "c1",
        1,
        |chance, request| sample(chance, &PROVIDERS[0], &MODELS[0], request),
        40,
        1,
    );
    let mut made = made.finish();
    made.manifest.study = Value::Null;
    made
}

/// Two targets of one model, and few requests.
pub(crate) fn pair() -> Made {
    let mut made = Making::new();
    for (seed, provider) in PROVIDERS[..2].iter().enumerate() {
        let of = |chance: &mut Chance, request| sample(chance, provider, &MODELS[0], request);
        made.cell(&name(provider, &MODELS[0]), "c4", 4, of, 30, seed as u64);
    }
    made.finish()
}

fn name(provider: &Provider, model: &Model) -> String {
    format!("{}-{}", provider.name, model.name)
}

struct Making {
    samples: Vec<(Sample, Option<Events>)>,
    contexts: Vec<Value>,
    request: u64,
}

impl Making {
    fn new() -> Self {
        Self { samples: Vec::new(), contexts: Vec::new(), request: 0 }
    }

    fn cell(
        &mut self,
        target: &str,
        load: &str,
        slots: u32,
        of: impl Fn(&mut Chance, u64) -> (Sample, Events),
        requests: u64,
        seed: u64,
    ) {
        let mut chance = Chance(seed.wrapping_mul(7919) + 17);
        for seq in 0..requests {
            self.request += 1;
            let (mut sample, mut events) = of(&mut chance, self.request);
            let start_ns = seq * 1_000_000_000 + seed * 40_000_000;
            place(&mut sample, &mut events, start_ns);
            let (target, workload, load) = (target.to_owned(), WORKLOAD.to_owned(), load.to_owned());
            let prompt_id = format!("p{}", seq % 25);
            sample =
                Sample { target, workload, load, seq, prompt_id, block: Some((seq / 25) as u32), ..sample };
            let has_output = sample.first_ns.is_some();
            self.samples.push((sample, has_output.then_some(events)));
        }
        let wakeup_lateness =
            Lateness { n: 5_000, p50_ms: Some(0.02), p99_ms: Some(0.21), max_ms: Some(0.8) };
        let health = ClientHealth {
            wakeup_lateness,
            shard_cpu: vec![0.07],
            planned_starts: Some(requests),
            ..ClientHealth::default()
        };
        let (target, workload, load) = (target.to_owned(), WORKLOAD.to_owned(), load.to_owned());
        let context = CellContext {
            target,
            workload,
            load,
            arrival: Arrival::Closed { slots },
            health,
            ..CellContext::default()
        };
        self.contexts.push(serde_json::to_value(context).unwrap_or_default());
    }

    fn finish(self) -> Made {
        let mut manifest = Manifest {
            schema: 1,
            version: "0.1.0".to_owned(),
            run_id: "20261130T101500Z-providers".to_owned(),
            created: "2026-11-30T10:15:00Z".to_owned(),
            argv: ["inferometer", "run", "providers.toml"].map(str::to_owned).to_vec(),
            state: State::Complete,
            plan: json!({"name": "Four providers, three models", "protocol": {"seed": 42, "warmup": 3, "temperature": 0, "cache": "bust", "blocks": 12}}),
            environment: json!({"system": "Linux 6.1", "cores": 2, "memory_gib": 7.8}),
            self_check: json!({"requests_per_s": 2000, "stamp_error_p99_ms": 0.31}),
            cells: self.contexts,
            ..Manifest::default()
        };
        let mut dots = Dots::new();
        self.samples.iter().for_each(|(sample, events)| dots.push(sample, events.as_ref()));
        let summary = summarize(&manifest, self.samples.into_iter()).unwrap_or_default();
        manifest.study = study();
        Made { summary, manifest, dots }
    }
}

fn study() -> Value {
    let targets = PROVIDERS.iter().flat_map(|provider| {
        MODELS.iter().map(move |model| json!({
        "name": name(provider, model),
        "provider": provider.name,
        "model": model.name,
        "price": format!("input={:.3},output={:.3}", usd(provider, model) / 4.0, usd(provider, model)),
        "price_source": "price list of 2026-11-01",
        "region": if provider.name == "cedar" { Value::Null } else { "eu-west".into() },
        "precision": if model.name == "main-70b" { "fp8" } else { "bf16" },
    }))
    });
    json!({"targets": targets.collect::<Vec<_>>(), "seed": 42})
}

fn usd(provider: &Provider, model: &Model) -> f64 {
    provider.price * model.usd_per_million
}

/// One request, timed from 0: nanoseconds in the sample, microseconds in its events.
fn sample(chance: &mut Chance, provider: &Provider, model: &Model, request: u64) -> (Sample, Events) {
    let tail = if chance.is(provider.bad_tail) { 6.0 * chance.about(0.3) } else { 1.0 };
    let ttft_us = (1000.0 * model.ttft_ms * provider.speed * chance.about(0.14) * tail) as u64;
    let tokens = ((model.tokens * chance.about(0.3)) as u64).max(2);
    let base = Sample {
        request,
        attempt: 1,
        attempts: 1,
        is_final: true,
        sent_ns: Some(200_000),
        ..Sample::default()
    };
    if chance.is(provider.fails) {
        return (failed(base, ttft_us), Events::default());
    }
    let mut deltas_us: Vec<u64> = Vec::with_capacity(tokens as usize);
    for _ in 1..tokens {
        let stall = if chance.is(provider.stalls / tokens as f64) {
            500_000.0 + 900_000.0 * chance.next()
        } else {
            0.0
        };
        deltas_us.push((1000.0 * model.tpot_ms * provider.speed * chance.about(0.25) + stall) as u64);
    }
    let last_us = ttft_us + deltas_us.iter().sum::<u64>();
    let is_useful = chance.is(model.useful);
    let reasoning = if model.name == "think-r1" { tokens * 4 / 5 } else { 0 };
    let price = usd(provider, model) / 1e6;
    let parts = [30.0 * price, (tokens - reasoning) as f64 * price, reasoning as f64 * price];
    let money = |usd: f64| Some(format!("{usd:.9}"));
    let sample = Sample {
        first_ns: Some(ttft_us * 1000),
        answer_ns: Some(ttft_us * 1000),
        last_ns: Some(last_us * 1000),
        end_ns: Some(last_us * 1000 + 300_000),
        status: Status::Ok,
        http_status: Some(200),
        input_tokens: Some(120),
        output_tokens: Some(tokens),
        reasoning_tokens: (reasoning > 0).then_some(reasoning),
        tokens_source: TokensSource::Server,
        first_chunk_tokens: Some(1),
        chunks: tokens,
        output_chars: tokens * 4,
        verdict: Some(if is_useful { Verdict::Valid } else { Verdict::Invalid }),
        verdict_flags: if is_useful { Vec::new() } else { vec!["empty_answer".to_owned()] },
        stalls: Some(deltas_us.iter().filter(|us| **us >= 500_000).count() as u32),
        ttft_ms: Some(ttft_us as f64 / 1e3),
        ttfa_ms: Some(ttft_us as f64 / 1e3),
        tpot_ms: Some((last_us - ttft_us) as f64 / 1e3 / (tokens - 1) as f64),
        request_latency_ms: Some(last_us as f64 / 1e3),
        schedule_lag_ms: Some(0.05),
        cost_usd: money(parts.iter().sum()),
        cost_input_usd: money(parts[0]),
        cost_output_usd: money(parts[1]),
        cost_reasoning_usd: (reasoning > 0).then(|| money(parts[2])).flatten(),
        cost_reported_usd: (provider.name == "dogwood")
            .then(|| money(1.25 * parts.iter().sum::<f64>()))
            .flatten(),
        cost_source: Some("price list of 2026-11-01".to_owned()),
        ..base
    };
    let chars = vec![4; deltas_us.len() + 1];
    (sample, Events { request, attempt: 1, first_us: Some(ttft_us), deltas_us, chars, tokens: None })
}

fn failed(base: Sample, end_us: u64) -> Sample {
    Sample {
        status: Status::HttpError,
        http_status: Some(503),
        error_code: Some("overloaded".to_owned()),
        error_message: Some("The model is overloaded. Please try again later.".to_owned()),
        end_ns: Some(end_us * 200),
        cost_usd: Some("0".to_owned()),
        ..base
    }
}

/// Moves a request to where it was started.
fn place(sample: &mut Sample, events: &mut Events, start_ns: u64) {
    sample.sched_ns = Some(start_ns);
    sample.start_ns = Some(start_ns);
    for stamp in [
        &mut sample.sent_ns,
        &mut sample.first_ns,
        &mut sample.answer_ns,
        &mut sample.last_ns,
        &mut sample.end_ns,
    ] {
        *stamp = stamp.map(|ns| ns + start_ns);
    }
    events.first_us = events.first_us.map(|us| us + start_ns / 1000);
}

/// A number that is there.
pub(crate) fn num(value: f64) -> Option<Num> {
    Num::new(value)
}
