//! When a figure is known well enough to stop.

use inferometer_metrics::{Gate, name};
use inferometer_plan::Precision;
use inferometer_record::{Sample, Status};
use inferometer_stats::{ALPHA, Prob, Sorted, quantile, serial};

/// Trials of each target at the first look; every further look is at twice as many. Looking more often would find by
/// luck what is not there.
pub(crate) const FIRST_LOOK: u64 = 25;

/// Values of one lane that are kept; what comes later is not looked at.
pub(crate) const MAX_VALUES: usize = 1_000_000;

/// One quantile of one figure, and how well it must be known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    metric: &'static str,
    p: Prob,
    within: f64,
}

impl Goal {
    /// What `precision` asks for; `None` where it names no time with a quantile.
    pub(crate) fn new(precision: &Precision) -> Option<Self> {
        // A figure and its quantile are written as in a condition on them.
        let gate: Gate = format!("{}>0", precision.figure).parse().ok()?;
        Some(Self { metric: gate.metric(), p: gate.quantile()?, within: precision.goal })
    }

    /// What a final attempt adds to the figure, over all attempts: +∞ where the thing never happened.
    pub(crate) fn value(&self, sample: &Sample) -> Option<f64> {
        let ok = |value: Option<f64>| if sample.status == Status::Ok { value } else { Some(f64::INFINITY) };
        match self.metric {
            _ if sample.status.is_cancelled() => None,
            name::TTFT => Some(sample.ttft_ms.unwrap_or(f64::INFINITY)),
            name::TTFA => Some(sample.ttfa_ms.unwrap_or(f64::INFINITY)),
            name::LATENCY => ok(sample.request_latency_ms),
            name::TPOT => sample.tpot_ms.filter(|_| sample.status == Status::Ok),
            _ => None,
        }
    }

    /// Whether max(hi − x, x − lo) / x is within the goal, for `values` in the order they came.
    pub(crate) fn is_reached(&self, values: &[f64]) -> bool {
        let Ok(sorted) = Sorted::new(values.to_vec()) else { return false };
        let Some(at) = quantile::nearest(sorted.values(), self.p) else { return false };
        let below: Vec<bool> = values.iter().map(|value| *value <= at).collect();
        let n_eff = serial::n_eff(values.len(), serial::tau(&below));
        let known = quantile::estimate_with_n_eff(&sorted, self.p, ALPHA, n_eff);
        let Some((x, (lo, hi))) = known.and_then(|known| Some((known.value, known.lo.zip(known.hi)?))) else {
            return false;
        };
        x > 0.0 && x.is_finite() && (hi - x).max(x - lo) / x <= self.within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_reached_once_both_sides_are_near() {
        let goal = |figure: &str, goal| Goal::new(&Precision { figure: figure.to_string(), goal });
        let values: Vec<f64> = (0..100).map(|n| 100.0 + f64::from(n * 37 % 100) / 10.0).collect();
        let check = |figure, within, values: &[f64], right| {
            assert_eq!(goal(figure, within).unwrap().is_reached(values), right, "{figure} {within}");
        };
        check("ttft_p50", 0.02, &values, true);
        check("ttft_p50", 0.001, &values, false);
        check("ttft_p99", 0.5, &values, false);
        check("ttft_p50", 0.5, &[], false);
        check("ttft_p50", 0.5, &[f64::INFINITY; 100], false);
        assert!(goal("no_such_p50", 0.1).is_none() && goal("error_rate", 0.1).is_none());
    }

    #[test]
    fn failures_are_as_late_as_can_be() {
        let goal = Goal::new(&Precision { figure: "ttft_p50".to_string(), goal: 0.1 }).unwrap();
        let sample = |status, ttft_ms| Sample { status, ttft_ms, ..Sample::default() };
        assert_eq!(goal.value(&sample(Status::Ok, Some(5.0))), Some(5.0));
        assert_eq!(goal.value(&sample(Status::Timeout, None)), Some(f64::INFINITY));
        assert_eq!(goal.value(&sample(Status::Cancelled, None)), None);
    }
}
