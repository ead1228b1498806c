//! What attempts keep to.

use inferometer_clock::{Clock, Mono};
use inferometer_plan::Timeouts;
use inferometer_wire::Dialect;

/// What does not change between the attempts of a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShardRules {
    pub(crate) dialect: Dialect,
    pub(crate) streaming: bool,
    pub(crate) timeouts: Timeouts,
    pub(crate) retries: u32,
}

/// What an attempt keeps to.
pub(crate) struct Rules<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) shard: ShardRules,
    /// When the run cuts whatever is in flight.
    pub(crate) cut_at: Option<Mono>,
}
