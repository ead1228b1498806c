//! The way from the conductor to the shards: an order to run a phase, and the report that comes back.

use std::io;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::phase::Phase;
use crate::shard::ShardReport;

/// Runs a phase on one shard of one lane.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) lane: usize,
    pub(crate) phase: Arc<Phase>,
    pub(crate) reply: oneshot::Sender<io::Result<ShardReport>>,
}

/// Every shard's thread. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Band(Arc<Vec<mpsc::Sender<Order>>>);

impl Band {
    pub(crate) fn new(seats: Vec<mpsc::Sender<Order>>) -> Self {
        Self(Arc::new(seats))
    }

    /// Runs `phase` of `lane` on the shards that have a share in it, until the last of them has ended.
    pub(crate) async fn run(self, lane: usize, phase: Arc<Phase>) -> io::Result<Vec<ShardReport>> {
        let shards = phase.shards(self.0.len() as u32) as usize;
        let mut awaited = Vec::with_capacity(shards);
        for seat in self.0.iter().take(shards) {
            let (reply, report) = oneshot::channel();
            let order = Order { lane, phase: Arc::clone(&phase), reply };
            seat.send(order).await.map_err(|_| io::Error::other("a shard has ended"))?;
            awaited.push(report);
        }
        let mut reports = Vec::with_capacity(shards);
        for report in awaited {
            reports.push(report.await.map_err(|_| io::Error::other("a shard panicked"))?);
        }
        reports.into_iter().collect()
    }
}
