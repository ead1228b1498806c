//! The receiving path alone, without schedule, budget and worker, for the instruction counts.

use std::time::Duration;

use inferometer_clock::Clock;
use inferometer_plan::Timeouts;
use inferometer_transport::{Client, Connect, Request, Trace};
use inferometer_wire::Dialect;

use crate::Control;
use crate::attempt::{self, Attempt};
use crate::rules::{Rules, ShardRules};

/// The limits that a plan has by default.
const TIMEOUTS: Timeouts = Timeouts {
    connect: Duration::from_secs(10),
    first_token: None,
    idle: None,
    total: Duration::from_secs(300),
};

/// Asks once for a stream of chat events, as an attempt does, and takes the answer to its end; the output events seen.
#[doc(hidden)]
pub async fn receive<C: Connect>(
    clock: &Clock,
    client: &Client<C>,
    request: Request,
    control: &Control,
) -> usize {
    let shard = ShardRules {
        dialect: Dialect::Chat,
        streaming: true,
        think_tags: false,
        timeouts: TIMEOUTS,
        retries: 0,
    };
    let rules = Rules { clock, shard, cut_at: None, ticket: None };
    let way = client.target().connections();
    let seen = match attempt::run(&rules, client, (request, way), &Trace::new(), control.watch()).await {
        Attempt::Ended(seen) => *seen,
        Attempt::Complete(completing) => completing.finish().await,
    };
    seen.events.len()
}
