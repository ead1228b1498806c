//! The figures of one attempt.

use inferometer_record::Sample;

/// One output event of an attempt, stamped with the read that delivered its last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamped {
    /// Nanoseconds from the run's origin.
    pub at_ns: u64,
    /// Characters of output, all channels.
    pub chars: u32,
    /// Tokens, where the server told (running usage, else logprobs).
    pub tokens: Option<u32>,
    /// Carries anything that is not reasoning.
    pub answer: bool,
    /// Carries a piece of a tool call.
    pub tool: bool,
}

/// Fills in every figure.
pub fn fill(sample: &mut Sample, events: &[Stamped], own_lateness: &dyn Fn(u64, u64) -> u64) {
    let _ = (sample, events, own_lateness);
}
