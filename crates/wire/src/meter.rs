//! Tokens of each output event, where the server tells them.

/// Where the tokens of single events come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventTokens {
    /// Differences of usage that came with every output event (W31).
    Usage,
    /// Lengths of the logprobs lists.
    Logprobs,
}

/// Counts tokens per output event. The first output event decides the source: usage that begins later is no
/// running usage but the total at the end (W29), and its difference would be a wrong count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    source: Option<EventTokens>,
    decided: bool,
    /// Running output tokens at the last output event.
    last: u64,
    /// Logprobs of events that carried no output: their tokens became visible in the next event (W25).
    pending_logprobs: u64,
}

impl Meter {
    /// Takes one event's logprobs.
    pub(crate) fn logprobs(&mut self, count: u64) {
        self.pending_logprobs = self.pending_logprobs.saturating_add(count);
    }

    /// The tokens of an output event, given the output tokens that its own usage states.
    pub(crate) fn output_event(&mut self, usage: Option<u64>) -> Option<u32> {
        let logprobs = std::mem::take(&mut self.pending_logprobs);
        if !self.decided {
            self.decided = true;
            let by_logprobs = (logprobs > 0).then_some(EventTokens::Logprobs);
            self.source = usage.map(|_| EventTokens::Usage).or(by_logprobs);
        }
        match self.source? {
            EventTokens::Usage => {
                let tokens = usage?.checked_sub(self.last);
                self.last = self.last.max(usage?);
                u32::try_from(tokens?).ok()
            }
            EventTokens::Logprobs => u32::try_from(logprobs).ok().filter(|count| *count > 0),
        }
    }

    pub(crate) fn source(&self) -> Option<EventTokens> {
        self.source
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_usage_by_differences() {
        let mut meter = Meter::default();
        let tokens: Vec<_> =
            [Some(8), Some(9), None, Some(12), Some(11)].map(|u| meter.output_event(u)).into();
        assert_eq!(tokens, [Some(8), Some(1), None, Some(3), None]);
        assert_eq!(meter.source(), Some(EventTokens::Usage));
    }

    #[test]
    fn usage_at_the_end_is_no_running_usage() {
        let mut meter = Meter::default();
        assert_eq!([None, None, Some(3)].map(|usage| meter.output_event(usage)), [None, None, None]);
        assert_eq!(meter.source(), None);
    }

    #[test]
    fn logprobs_of_invisible_events_join_the_next() {
        let mut meter = Meter::default();
        meter.logprobs(1);
        meter.logprobs(1);
        assert_eq!(meter.output_event(None), Some(2));
        assert_eq!(meter.output_event(None), None);
        assert_eq!(meter.source(), Some(EventTokens::Logprobs));
    }
}
