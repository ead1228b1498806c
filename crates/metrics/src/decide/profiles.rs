//! What each kind of application needs unless its plan says otherwise: what must hold, and in which order the rest
//! decides.

use std::collections::BTreeSet;

use crate::names::name;
use crate::{Gate, Profile, ProfileKind, Statistic, compare};

/// What decides between targets that hold what must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Criterion {
    /// 95th percentile of the time to first token over all attempts: quick and steady at once.
    TtftP95,
    /// 95th percentile of latency over all attempts.
    LatencyP95,
    /// Cost of all attempts ÷ useful answers.
    CostPerUseful,
    /// Output tokens of useful answers per second.
    UsefulThroughput,
    /// Time to first token, pair by pair: what few requests can already tell.
    TypicalTtft,
    /// Latency, pair by pair.
    TypicalLatency,
}

impl Criterion {
    /// The figure's name, and which part of it is compared.
    pub(super) fn figure(self) -> (&'static str, Statistic) {
        match self {
            Criterion::TtftP95 => (name::TTFT, Statistic::P95),
            Criterion::LatencyP95 => (name::LATENCY, Statistic::P95),
            Criterion::CostPerUseful => (name::COST_PER_USEFUL, Statistic::CostPerUseful),
            Criterion::UsefulThroughput => (name::USEFUL_TOKENS_RATE, Statistic::Rate),
            Criterion::TypicalTtft => (name::TTFT, Statistic::Typical),
            Criterion::TypicalLatency => (name::LATENCY, Statistic::Typical),
        }
    }

    /// Its name in summaries.
    pub(super) fn name(self) -> &'static str {
        match self {
            Criterion::TtftP95 => "time_to_first_token_p95",
            Criterion::LatencyP95 => "request_latency_p95",
            Criterion::CostPerUseful => name::COST_PER_USEFUL,
            Criterion::UsefulThroughput => name::USEFUL_TOKENS_RATE,
            Criterion::TypicalTtft => name::TTFT,
            Criterion::TypicalLatency => name::LATENCY,
        }
    }

    /// In words, within a sentence.
    pub(super) fn words(self) -> &'static str {
        match self {
            Criterion::TtftP95 => "TTFT p95",
            Criterion::LatencyP95 => "latency p95",
            Criterion::CostPerUseful => "cost per useful answer",
            Criterion::UsefulThroughput => "useful throughput",
            Criterion::TypicalTtft => "typical TTFT",
            Criterion::TypicalLatency => "typical latency",
        }
    }

    /// Unit of its value.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Criterion::CostPerUseful => "USD",
            Criterion::UsefulThroughput => "tokens/s",
            _ => "ms",
        }
    }

    /// Whether little is good.
    pub(super) fn lower_is_better(self) -> bool {
        compare::lower_is_better(self.figure().0)
    }
}

/// The declared headline of a profile, then what decides between those that it cannot tell apart, and last the typical
/// speed.
pub(super) fn order(kind: ProfileKind) -> [Criterion; 3] {
    use Criterion::{CostPerUseful, LatencyP95, TtftP95, TypicalLatency, TypicalTtft, UsefulThroughput};
    match kind {
        ProfileKind::Chat => [TtftP95, CostPerUseful, TypicalTtft],
        ProfileKind::Rag => [CostPerUseful, TtftP95, TypicalTtft],
        ProfileKind::Batch => [UsefulThroughput, CostPerUseful, TypicalLatency],
        ProfileKind::Production => [LatencyP95, CostPerUseful, TypicalLatency],
        ProfileKind::Agent => [CostPerUseful, LatencyP95, TypicalLatency],
    }
}

/// The conditions that break a profile, as typed. Reliability is the share of failed requests and that of useful
/// answers; a deadline of `batch` is the user's to name (`useful_throughput<...`).
const fn typed(kind: ProfileKind) -> &'static [&'static str] {
    match kind {
        ProfileKind::Chat => {
            &["error_rate>2%", "useful_rate<50%", "ttft_p95>2s", "ttft_spread>1500ms", "e2el_p95>20s"]
        }
        ProfileKind::Rag => &["error_rate>2%", "useful_rate<50%", "ttft_p95>5s"],
        ProfileKind::Batch => &["error_rate>5%", "useful_rate<50%"],
        ProfileKind::Production => &[
            "availability<99%",
            "error_rate>1%",
            "useful_rate<50%",
            "e2el_p95>15s",
            "e2el_p99>30s",
            "burst_error_rate>5%",
            "burst_ttft_p95>5s",
        ],
        ProfileKind::Agent => &["tool_calls<95%", "error_rate>1%", "useful_rate<50%", "ttft_p95>3s"],
    }
}

impl Profile {
    /// What must hold unless a plan says otherwise, each as the condition that breaks it.
    pub fn defaults(kind: ProfileKind) -> Vec<Gate> {
        typed(kind).iter().filter_map(|typed| typed.parse().ok()).collect()
    }

    /// What must hold: the defaults, each replaced by the plan's own limits on the same figure, and its others.
    pub fn constraints(&self) -> Vec<Gate> {
        let of = |gate: &Gate| (gate.metric(), gate.quantile().map(|p| p.as_f64().to_bits()));
        let own: BTreeSet<_> = self.limits.iter().map(of).collect();
        let mut gates = Vec::new();
        for default in Self::defaults(self.kind) {
            let key = of(&default);
            if own.contains(&key) {
                gates.extend(self.limits.iter().filter(|gate| of(gate) == key).cloned());
            } else {
                gates.push(default);
            }
        }
        for gate in &self.limits {
            if !gates.contains(gate) {
                gates.push(gate.clone());
            }
        }
        gates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_can_be_read() {
        for kind in ProfileKind::ALL {
            assert_eq!(Profile::defaults(kind).len(), typed(kind).len(), "{kind:?}");
            assert!(order(kind)[0] != order(kind)[1]);
        }
    }

    fn check(kind: ProfileKind, own: &[&str], expected: &[&str]) {
        let limits = own.iter().map(|typed| typed.parse().unwrap()).collect();
        let profile = Profile { kind, limits, ..Profile::default() };
        let shown: Vec<String> = profile.constraints().iter().map(Gate::to_string).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_plan_s_limit_takes_the_place_of_the_default_on_the_same_figure() {
        check(ProfileKind::Batch, &[], &["error_rate>5%", "useful_rate<50%"]);
        check(
            ProfileKind::Batch,
            &["request_error_rate>1%", "useful_throughput<200"],
            &["request_error_rate>1%", "useful_rate<50%", "useful_throughput<200"],
        );
        check(
            ProfileKind::Rag,
            &["ttft_p99>9s", "ttft_p95>3s"],
            &["error_rate>2%", "useful_rate<50%", "ttft_p95>3s", "ttft_p99>9s"],
        );
    }
}
