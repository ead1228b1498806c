//! The client over the whole run: what `run.json` says of it.

use inferometer_metrics::{CellSummary, Lateness, Num, Summary};
use serde::Serialize;

/// The client's health over the whole run, out of the figures of its cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct RunClient {
    /// Cells that were measured.
    pub(crate) cells: u64,
    /// Those whose figures are valid.
    pub(crate) valid_cells: u64,
    /// Largest client error of a cell, ms.
    pub(crate) error_ms: Option<Num>,
    /// Largest 99th percentile of a cell's wake-up lateness, ms.
    pub(crate) lateness_p99_ms: Option<Num>,
    /// Largest wake-up lateness, ms.
    pub(crate) lateness_max_ms: Option<Num>,
    /// Largest share of one core that a shard used in a cell, 0 to 1.
    pub(crate) shard_cpu: Option<Num>,
    /// Planned starts that never became a request.
    pub(crate) dropped_starts: u64,
    /// Ended samples that found the channel to the writer full.
    pub(crate) channel_full: u64,
}

impl RunClient {
    /// What the cells of `summary` come to.
    pub(crate) fn of(summary: &Summary) -> Self {
        let clients = || summary.cells.iter().map(|cell| &cell.client);
        let sum =
            |count: fn(&CellSummary) -> u64| summary.cells.iter().map(count).fold(0_u64, u64::saturating_add);
        let lateness = |of: fn(&Lateness) -> Option<f64>| {
            largest(clients().filter_map(|client| of(&client.health.wakeup_lateness)))
        };
        Self {
            cells: summary.cells.len() as u64,
            valid_cells: clients().filter(|client| client.valid).count() as u64,
            error_ms: largest(clients().filter_map(|client| client.error_ms.map(Num::get))),
            lateness_p99_ms: lateness(|lateness| lateness.p99_ms),
            lateness_max_ms: lateness(|lateness| lateness.max_ms),
            shard_cpu: largest(clients().flat_map(|client| client.health.shard_cpu.iter().copied())),
            dropped_starts: sum(|cell| cell.client.health.dropped_starts),
            channel_full: sum(|cell| cell.client.health.channel_full),
        }
    }
}

fn largest(values: impl Iterator<Item = f64>) -> Option<Num> {
    values.reduce(f64::max).and_then(Num::new)
}

#[cfg(test)]
mod tests {
    use inferometer_metrics::{Client, ClientHealth};

    use super::*;

    fn cell(valid: bool, p99_ms: Option<f64>, shard_cpu: &[f64]) -> CellSummary {
        let wakeup_lateness =
            Lateness { n: 7, p99_ms, max_ms: p99_ms.map(|ms| 2.0 * ms), ..Lateness::default() };
        let health = ClientHealth {
            wakeup_lateness,
            shard_cpu: shard_cpu.to_vec(),
            dropped_starts: 3,
            channel_full: u64::MAX,
            ..ClientHealth::default()
        };
        let client = Client { valid, error_ms: p99_ms.and_then(Num::new), health, ..Client::default() };
        CellSummary { client, ..CellSummary::default() }
    }

    #[test]
    fn the_worst_of_the_cells() {
        let cells =
            vec![cell(true, Some(0.5), &[0.1, 0.4]), cell(false, None, &[]), cell(true, Some(1.5), &[0.2])];
        let right = RunClient {
            cells: 3,
            valid_cells: 2,
            error_ms: Num::new(1.5),
            lateness_p99_ms: Num::new(1.5),
            lateness_max_ms: Num::new(3.0),
            shard_cpu: Num::new(0.4),
            dropped_starts: 9,
            channel_full: u64::MAX,
        };
        assert_eq!(RunClient::of(&Summary { cells, ..Summary::default() }), right);
        assert_eq!(RunClient::of(&Summary::default()), RunClient::default());
    }
}
