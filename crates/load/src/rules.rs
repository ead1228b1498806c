//! What attempts keep to.

use inferometer_clock::{Clock, Mono};
use inferometer_plan::{Plan, Target, Timeouts};
use inferometer_wire::Dialect;

use crate::gate::Ticket;

/// What does not change between the attempts of a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShardRules {
    pub(crate) dialect: Dialect,
    pub(crate) streaming: bool,
    /// Whether a leading think block is reasoning.
    pub(crate) think_tags: bool,
    pub(crate) timeouts: Timeouts,
    pub(crate) retries: u32,
}

impl ShardRules {
    /// Of the attempts at `target`.
    pub(crate) fn of(plan: &Plan, target: &Target) -> Self {
        Self {
            dialect: target.dialect,
            streaming: target.stream,
            think_tags: target.think_tags,
            timeouts: plan.protocol.timeouts,
            retries: plan.protocol.retries,
        }
    }
}

/// What an attempt keeps to.
pub(crate) struct Rules<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) shard: ShardRules,
    /// When the run cuts whatever is in flight.
    pub(crate) cut_at: Option<Mono>,
    /// What its answer's headers are told to, where its target's limits are kept.
    pub(crate) ticket: Option<&'a Ticket>,
}
