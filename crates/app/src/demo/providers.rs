//! The demo's providers, and the plan that asks them.

use std::time::Duration;

use inferometer_sim::config::{Fault, FaultKind, Rate};
use inferometer_sim::{Cold, Config, Count, Distribution, Limit, Model, Price, Running, Server, Tasks};
use inferometer_workload::Shipped;

use super::truth::{COLD_MS, Character, FAILING, LET_IN, LET_IN_PER_S, Planted, REASONING_SIGMA, TARGETS};
use crate::Error;

/// The plan, but for its seed and its targets.
const PLAN: &str = include_str!("plan.toml");

/// Tokens in one event: what an engine under load sends at once.
const TOKENS_PER_CHUNK: u32 = 4;

/// Prompts whose answers the providers know: those of the largest cell, its warm-ups and its episodes.
const KNOWN_PROMPTS: u64 = 6_000;

/// Apart, so that no two models of a seed draw the same numbers.
const SEEDS_APART: u64 = 1_000;

/// The providers at work, each at an address of its own. They stop when this is dropped.
#[derive(Debug)]
pub struct Providers {
    seed: u64,
    servers: Vec<(&'static str, Running)>,
}

impl Providers {
    /// Starts them; `seed` fixes all that they do, and the prompts that they know.
    pub fn start(seed: u64) -> Result<Self, Error> {
        let mut servers: Vec<(&'static str, Running)> = Vec::new();
        for planted in &TARGETS {
            if servers.iter().all(|(provider, _)| *provider != planted.provider) {
                servers.push((planted.provider, serve(planted.provider, seed)?));
            }
        }
        Ok(Self { seed, servers })
    }

    /// Names and addresses.
    pub fn addresses(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.servers.iter().map(|(provider, server)| (*provider, server.base_url()))
    }

    /// The plan that asks them all.
    pub fn plan(&self) -> String {
        let mut plan = PLAN.replace("[protocol]\n", &format!("[protocol]\nseed = {}\n", self.seed));
        for planted in &TARGETS {
            let server = self.servers.iter().find(|(provider, _)| *provider == planted.provider);
            let url = server.map(|(_, server)| server.base_url()).unwrap_or_default();
            plan.push_str(&target(planted, &url));
        }
        plan
    }
}

/// A target of the plan.
fn target(planted: &Planted, url: &str) -> String {
    let (name, provider, model) = (planted.target(), planted.provider, planted.model.name);
    let (input, output) = planted.listed;
    format!(
        "\n[[target]]\nname = \"{name}\"\nprovider = \"{provider}\"\nurl = \"{url}\"\nmodel = \"{model}\"\n\
         price = {{ input = {input:.2}, output = {output:.2}, source = \"price list\", date = 2025-11-30 }}\n"
    )
}

fn serve(provider: &str, seed: u64) -> Result<Running, Error> {
    let failed = |reason: &dyn ToString| Error::Simulator(reason.to_string());
    let of_provider = TARGETS.iter().enumerate().filter(|(_, planted)| planted.provider == provider);
    let models = of_provider.map(|(place, planted)| {
        model(planted, seed, seed.wrapping_mul(SEEDS_APART).wrapping_add(place as u64))
    });
    let models = models.collect::<Result<Vec<_>, _>>().map_err(|error| failed(&error))?;
    let default_model = models.first().map(|model| model.name.clone()).unwrap_or_default();
    let config = Config { default_model, models, record_writes: false, ..Config::default() };
    Server::start(config).map_err(|error| failed(&error))
}

/// The model as the simulator serves it, to a run of seed `asked`.
fn model(planted: &Planted, asked: u64, seed: u64) -> Result<Model, String> {
    let (kind, millis) = (planted.model, Duration::from_millis);
    let (input, output) = planted.price;
    let plain = Model {
        name: kind.name.to_owned(),
        ttft: planted.ttft().parse()?,
        rate: Rate::PerSecond(f64::from(kind.rate)),
        tokens_per_chunk: TOKENS_PER_CHUNK,
        reasoning_tokens: match kind.reasoning {
            0 => Count::Fixed(0),
            median => Count::LogNormal { median, sigma: REASONING_SIGMA },
        },
        tasks: Some(Tasks { kinds: vec![Shipped::Chat], seed: asked, count: KNOWN_PROMPTS, input: None }),
        accuracy: kind.accuracy,
        price: Some(Price { input, output, reported: planted.character == Character::Stale }),
        seed,
        ..Model::default()
    };
    Ok(match planted.character {
        Character::Stale | Character::Tailed => plain,
        Character::Failing => Model { faults: vec![failure()], ..plain },
        Character::Sleepy => {
            let (after, start) = COLD_MS;
            let law = Distribution::constant(millis(start));
            Model {
                cold: Some(Cold { after: millis(after), law }),
                limit: Some(Limit { requests_per_s: LET_IN_PER_S, burst: LET_IN }),
                ..plain
            }
        }
    })
}

/// Fails at once: what is left looks all the faster.
fn failure() -> Fault {
    Fault { kind: FaultKind::Http, share: FAILING, after_tokens: 0, status: 503, retry_after: None }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use inferometer_plan::{Arrival, Plan};

    use super::super::truth::{BURST, MAX_TOKENS};
    use super::*;

    #[test]
    fn the_plan_asks_what_is_planted() {
        let providers = Providers::start(7).unwrap();
        let text = providers.plan();
        let plan = Plan::from_toml(&text, Path::new("demo.toml"), |_| None, 1, None).unwrap();
        assert_eq!((plan.protocol.seed, plan.targets.len()), (7, TARGETS.len()));
        assert!(plan.workloads.iter().all(|workload| workload.max_tokens == Some(MAX_TOKENS)));
        for (target, planted) in plan.targets.iter().zip(&TARGETS) {
            assert_eq!((&target.name, target.provider.as_str()), (&planted.target(), planted.provider));
            assert!(target.price.is_some());
        }
        let bursts = plan.loads.iter().filter_map(|load| match load.arrival {
            Arrival::Burst { size, .. } => Some(size),
            _ => None,
        });
        assert_eq!(bursts.collect::<Vec<_>>(), [BURST]);
        let gaps = plan.loads.iter().filter_map(|load| match load.arrival {
            Arrival::ColdStart { gap } => Some(gap),
            _ => None,
        });
        assert!(gaps.into_iter().all(|gap| gap > Duration::from_millis(COLD_MS.0)));
        assert_eq!(plan.profiles.len(), 3);
    }
}
