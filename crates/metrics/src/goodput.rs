//! Requests against the objectives.

use inferometer_stats::Point;

use crate::distribution::proportion_of;
use crate::figures::of_request;
use crate::row::Row;
use crate::spans::Spans;
use crate::{Goodput, Num, Objectives};

/// How a request stands to all objectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Met,
    Missed,
    Unknown,
    Excluded,
}

/// Goodput over requests, in the cell's time; `None` without objectives.
pub(crate) fn of(objectives: &Objectives, requests: &[Row], spans: &Spans) -> Option<Goodput> {
    if objectives.is_empty() {
        return None;
    }
    let mut goodput = Goodput { objectives: objectives.to_string(), ..Goodput::default() };
    let mut met_inside = 0_u64;
    for row in requests {
        match standing(objectives, row) {
            Standing::Met => {
                goodput.met += 1;
                met_inside += u64::from(row.end.get().is_some_and(|end| spans.contains(end)));
            }
            Standing::Missed => goodput.missed += 1,
            Standing::Unknown => goodput.unknown += 1,
            Standing::Excluded => goodput.excluded += 1,
        }
    }
    let all = goodput.met + goodput.missed + goodput.unknown;
    goodput.share = proportion_of(goodput.met, all);
    let upper = proportion_of(goodput.met + goodput.unknown, all).value;
    goodput.attainment = goodput.share.value.zip(upper).map(|(lower, upper)| [lower, upper]);
    goodput.per_second = spans.seconds().and_then(|seconds| Num::new(met_inside as f64 / seconds));
    Some(goodput)
}

/// Not ok is missed; one objective missed is missed, also when the request was cut afterwards; cut by the run before
/// that is excluded; an objective that cannot be evaluated leaves the rest unknown.
fn standing(objectives: &Objectives, row: &Row) -> Standing {
    if row.status.is_failure() {
        return Standing::Missed;
    }
    let mut is_unknown = false;
    for objective in objectives.iter() {
        match of_request(objective.metric(), row) {
            Some(point) if objective.is_missed_by(point.number()) => return Standing::Missed,
            Some(Point::Exact(_)) => {}
            Some(Point::Above(_)) | None => is_unknown = true,
        }
    }
    match (row.is_ok(), is_unknown) {
        (false, _) => Standing::Excluded,
        (true, true) => Standing::Unknown,
        (true, false) => Standing::Met,
    }
}
