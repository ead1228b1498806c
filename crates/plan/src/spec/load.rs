//! How to ask.

use std::time::Duration;

use super::Fault;
use crate::{Arrival, ArrivalFlag, Counts, Load, Pattern, Rates, Stop};

/// Requests of a cell where neither a number nor a time is asked for: enough for a p95 to a factor.
pub(crate) const DEFAULT_REQUESTS: u64 = 100;
/// The same where a `production` profile is to be decided: enough for a p99, or 99 % reliability, if spotless.
pub(crate) const PRODUCTION_REQUESTS: u64 = 300;
/// At least so many requests for each slot, so that most of a closed load is not its own ramp and drain.
const DEFAULT_REQUESTS_PER_SLOT: u64 = 4;
/// Time between the first starts of two slots.
const RAMP_PER_SLOT: Duration = Duration::from_millis(5);
/// No default ramp is longer.
const MAX_RAMP: Duration = Duration::from_secs(1);
/// Cold starts or bursts of a cell where no number is asked for.
const DEFAULT_EPISODES: u64 = 5;
/// Rest before a burst where none is asked for.
const DEFAULT_REST: Duration = Duration::from_secs(2);

/// Loads as they were asked for: a curve of closed or open ones, cold starts, bursts.
#[derive(Default)]
pub(crate) struct LoadSpec {
    pub(crate) name: Option<String>,
    pub(crate) concurrency: Option<Counts>,
    pub(crate) request_rate: Option<Rates>,
    pub(crate) arrival: Option<ArrivalFlag>,
    pub(crate) burstiness: Option<f64>,
    pub(crate) requests: Option<u64>,
    pub(crate) duration: Option<Duration>,
    pub(crate) ramp: Option<Duration>,
    pub(crate) coldstart: Option<ColdStartSpec>,
    pub(crate) burst: Option<BurstSpec>,
    pub(crate) respect_rate_limits: bool,
    pub(crate) targets: Option<Vec<String>>,
    pub(crate) workloads: Option<Vec<String>>,
}

/// Cold starts as they were asked for.
pub(crate) struct ColdStartSpec {
    pub(crate) gap: Duration,
    pub(crate) episodes: Option<u64>,
}

/// Bursts as they were asked for.
pub(crate) struct BurstSpec {
    pub(crate) size: u32,
    pub(crate) rest: Option<Duration>,
    pub(crate) episodes: Option<u64>,
}

impl LoadSpec {
    /// The loads; `requests` is how many each has where nothing bounds it.
    pub(crate) fn resolve(self, requests: u64) -> Result<Vec<Load>, Fault> {
        self.check_respect()?;
        let mut loads = Vec::new();
        if self.has_requests() {
            loads = self.requests(requests)?;
        }
        if let Some(ColdStartSpec { gap, episodes }) = self.coldstart {
            loads.push(Load::new(Arrival::ColdStart { gap }, episode_stop(episodes)?));
        }
        if let Some(BurstSpec { size, rest, episodes }) = self.burst {
            let rest = rest.unwrap_or(DEFAULT_REST);
            loads.push(Load::new(Arrival::Burst { size, rest }, episode_stop(episodes)?));
        }
        let several = loads.len() > 1;
        for load in &mut loads {
            if let Some(name) = &self.name {
                load.name = if several { format!("{name}-{}", load.name) } else { name.clone() };
            }
            load.respect_rate_limits = self.respect_rate_limits;
            load.targets.clone_from(&self.targets);
            load.workloads.clone_from(&self.workloads);
        }
        Ok(loads)
    }

    /// A load that keeps its own time cannot wait for a limit: its lateness would be ours, or its burst none.
    fn check_respect(&self) -> Result<(), Fault> {
        let refuse = |first, reason| Err(Fault::Conflict { first, second: "respect_rate_limits", reason });
        if !self.respect_rate_limits {
            return Ok(());
        }
        if self.request_rate.is_some() {
            let reason = "an open load asks at its own rate, whatever the server does: ask with a concurrency, or at a rate below the limit";
            return refuse("request_rate", reason);
        }
        if self.burst.is_some() {
            return refuse("burst", "a burst shows what a server does when too much is asked at once");
        }
        Ok(())
    }

    /// Whether requests are asked for one by one, beside or without episodes.
    fn has_requests(&self) -> bool {
        let is_said = self.concurrency.is_some() || self.request_rate.is_some() || self.arrival.is_some();
        is_said || self.burstiness.is_some() || (self.coldstart.is_none() && self.burst.is_none())
    }

    fn requests(&self, default: u64) -> Result<Vec<Load>, Fault> {
        let pattern = self.pattern()?;
        match (&self.request_rate, &self.concurrency) {
            (Some(rates), slots) => {
                if slots.as_ref().is_some_and(|slots| slots.0.len() > 1) {
                    let reason = "with a rate, concurrency is one cap and no list";
                    return Err(Fault::Conflict { first: "concurrency", second: "request_rate", reason });
                }
                let cap = slots.as_ref().and_then(|slots| slots.0.first().copied());
                let stop = self.stop(default, 0)?;
                let open = |&rate: &f64| Load::new(Arrival::Open { rate, pattern, cap }, stop);
                Ok(rates.0.iter().map(open).collect())
            }
            (None, _) if self.arrival.is_some() || self.burstiness.is_some() => Err(Fault::Missing {
                field: "request_rate",
                remedy: "arrival and burstiness space an open load",
            }),
            (None, slots) => {
                let slots = slots.as_ref().map_or_else(|| vec![1], |slots| slots.0.clone());
                slots.into_iter().map(|slots| self.closed(default, slots)).collect()
            }
        }
    }

    fn closed(&self, default: u64, slots: u32) -> Result<Load, Fault> {
        let ramp = self.ramp.unwrap_or_else(|| (RAMP_PER_SLOT * slots.saturating_sub(1)).min(MAX_RAMP));
        Ok(Load::new(Arrival::Closed { slots, ramp }, self.stop(default, u64::from(slots))?))
    }

    fn pattern(&self) -> Result<Pattern, Fault> {
        if let Some(shape) = self.burstiness
            && !(0.001..=1_000.0).contains(&shape)
        {
            return Err(Fault::value("burstiness", shape.to_string(), "not between 0.001 and 1000"));
        }
        Ok(match (self.arrival, self.burstiness) {
            (None | Some(ArrivalFlag::Gamma), Some(burstiness)) => Pattern::Gamma { burstiness },
            (Some(ArrivalFlag::Gamma), None) => Pattern::Gamma { burstiness: 1.0 },
            (Some(_), Some(_)) => {
                let reason = "only gamma arrivals have a shape";
                return Err(Fault::Conflict { first: "burstiness", second: "arrival", reason });
            }
            (Some(ArrivalFlag::Constant), None) => Pattern::Constant,
            (Some(ArrivalFlag::Poisson) | None, None) => Pattern::Poisson,
        })
    }

    fn stop(&self, default: u64, slots: u64) -> Result<Stop, Fault> {
        if self.requests == Some(0) {
            return Err(Fault::value("requests", "0", "at least 1"));
        }
        if self.duration.is_some_and(|duration| duration.is_zero()) {
            return Err(Fault::value("duration", "0", "longer than nothing, as in 30s"));
        }
        let requests = match (self.requests, self.duration) {
            (None, None) => Some(default.max(slots * DEFAULT_REQUESTS_PER_SLOT)),
            (requests, _) => requests,
        };
        Ok(Stop { requests, duration: self.duration })
    }
}

fn episode_stop(episodes: Option<u64>) -> Result<Stop, Fault> {
    if episodes == Some(0) {
        return Err(Fault::value("episodes", "0", "at least 1"));
    }
    Ok(Stop { requests: Some(episodes.unwrap_or(DEFAULT_EPISODES)), duration: None })
}
