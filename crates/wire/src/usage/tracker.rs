//! The usage of one answer, over all the objects that stated it.

use serde_json::value::RawValue;

use super::counts::Counts;
use super::identity::resolve;
use super::{Identity, Usage, UsageSource};
use crate::flags::{Flag, Flags};

/// Merges the usage objects of a stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tracker {
    standard: Merged,
    extension: Merged,
}

#[derive(Clone, Debug, Default)]
struct Merged {
    counts: Counts,
    /// The last object that stated anything; one buffer for all of them.
    verbatim: String,
}

impl Tracker {
    /// Takes a standard usage object; returns the output tokens that the answer has now, where it states them.
    pub(crate) fn standard(&mut self, json: &str, flags: &mut Flags) -> Option<u64> {
        self.standard.take(json, flags)
    }

    /// Takes a usage object of an extension.
    pub(crate) fn extension(&mut self, json: &str, flags: &mut Flags) {
        self.extension.take(json, flags);
    }

    /// The usage in one form. `reasoning_seen`: reasoning text came.
    pub(crate) fn finish(self, reasoning_seen: bool, flags: &mut Flags) -> Option<Usage> {
        let (merged, source) = if self.standard.counts.is_empty() {
            (self.extension, UsageSource::ServerExt)
        } else {
            (self.standard, UsageSource::Server)
        };
        if merged.counts.is_empty() {
            return None;
        }
        let verbatim = RawValue::from_string(merged.verbatim).ok()?;
        Some(usage(merged.counts, verbatim, source, reasoning_seen, flags))
    }
}

impl Merged {
    fn take(&mut self, json: &str, flags: &mut Flags) -> Option<u64> {
        let counts = Counts::read(json, flags);
        if counts.is_empty() {
            return None;
        }
        let output = resolve(&counts).output;
        self.counts.merge(counts, flags);
        self.verbatim.clear();
        self.verbatim.push_str(json);
        output
    }
}

fn usage(
    counts: Counts,
    verbatim: Box<RawValue>,
    source: UsageSource,
    reasoning_seen: bool,
    flags: &mut Flags,
) -> Usage {
    let resolved = resolve(&counts);
    let unsplit = reasoning_seen && counts.reasoning.unwrap_or(0) == 0;
    let reasoning = counts.reasoning.filter(|_| !unsplit);
    let cached = counts.cache_read.unwrap_or(0) + counts.cache_write.unwrap_or(0);
    flags.set_if(resolved.identity == Identity::Additive, Flag::ReasoningAdditive);
    flags.set_if(
        resolved.input.is_some_and(|input| cached > input) || reasoning > resolved.output,
        Flag::UsageClamped,
    );
    Usage {
        verbatim,
        source,
        input: resolved.input,
        output: resolved.output,
        reasoning,
        cache_read: counts.cache_read,
        cache_write: counts.cache_write,
        identity: resolved.identity,
        cost: counts.cost,
        reasoning_unsplit: unsplit,
    }
}
