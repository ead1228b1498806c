//! Chosen streams with the stamps of their output events: what a raster of arrivals is drawn from.

use inferometer_record::{Events, Sample, Status};

use super::dots::hash;

/// Streams kept of a cell that were drawn by chance.
const BY_CHANCE: usize = 3;
/// Stamps kept of a stream: of longer ones the first so many.
const STAMPS_MAX: usize = 3_000;
/// A gap that is felt, µs: the absolute rule of a stall.
const STALL_US: u64 = 500_000;

/// Why a stream was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// By its hash.
    Chance,
    /// It has the longest gap of its cell.
    LongestGap,
    /// It has the latest first token of its cell.
    LatestFirst,
}

impl Why {
    /// In words.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Why::Chance => "drawn by chance",
            Why::LongestGap => "longest gap",
            Why::LatestFirst => "latest first token",
        }
    }
}

/// One stream: microseconds after its request's start.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stream {
    pub(super) request: u64,
    pub(super) attempt: u32,
    pub(super) status: Status,
    /// Instants of its output events, ascending.
    pub(super) stamps_us: Vec<u64>,
    /// Events beyond the stamps.
    pub(super) cut: usize,
}

impl Stream {
    fn of(sample: &Sample, start_ns: u64, events: &Events) -> Option<Self> {
        let mut at = events.first_us?.checked_sub(start_ns / 1000)?;
        let mut stamps_us = vec![at];
        for delta in events.deltas_us.iter().take(STAMPS_MAX - 1) {
            at = at.saturating_add(*delta);
            stamps_us.push(at);
        }
        let cut = (events.deltas_us.len() + 1).saturating_sub(STAMPS_MAX);
        Some(Self { request: sample.request, attempt: sample.attempt, status: sample.status, stamps_us, cut })
    }

    /// The gaps that are felt: from, to.
    pub(super) fn stalls(&self) -> impl Iterator<Item = (u64, u64)> {
        let pairs = self.stamps_us.windows(2).filter_map(|pair| match pair {
            [from, to] => Some((*from, *to)),
            _ => None,
        });
        pairs.filter(|(from, to)| to - from >= STALL_US)
    }

    /// Its last stamp.
    pub(super) fn end_us(&self) -> u64 {
        self.stamps_us.last().copied().unwrap_or(0)
    }
}

/// The chosen streams of a cell.
#[derive(Debug, Default)]
pub(super) struct Streams {
    longest_gap: Option<(u64, Stream)>,
    latest_first: Option<(u64, Stream)>,
    /// The smallest hashes, ascending.
    by_chance: Vec<(u64, Stream)>,
}

impl Streams {
    /// Looks whether `sample` is one to keep.
    pub(super) fn push(&mut self, sample: &Sample, start_ns: u64, events: Option<&Events>) {
        let Some(events) = events.filter(|events| events.first_us.is_some()) else { return };
        let hash = hash(sample.request, sample.attempt ^ 0x5EED);
        let gap = events.deltas_us.iter().copied().max().unwrap_or(0);
        let first = sample.first_ns.unwrap_or(0).saturating_sub(start_ns);
        let is_more =
            |kept: &Option<(u64, Stream)>, value| kept.as_ref().is_none_or(|(most, _)| value > *most);
        let is_drawn =
            self.by_chance.len() < BY_CHANCE || self.by_chance.last().is_some_and(|(most, _)| hash < *most);
        let (is_gap, is_late) = (is_more(&self.longest_gap, gap), is_more(&self.latest_first, first));
        if !(is_gap || is_late || is_drawn) {
            return;
        }
        let Some(stream) = Stream::of(sample, start_ns, events) else { return };
        if is_gap {
            self.longest_gap = Some((gap, stream.clone()));
        }
        if is_late {
            self.latest_first = Some((first, stream.clone()));
        }
        if is_drawn {
            self.by_chance.push((hash, stream));
            self.by_chance.sort_by_key(|(hash, _)| *hash);
            self.by_chance.truncate(BY_CHANCE);
        }
    }

    /// At most `max` streams, each once: the remarkable ones first, then those by chance.
    pub(super) fn chosen(&self, max: usize) -> Vec<(Why, &Stream)> {
        let longest = self.longest_gap.iter().map(|(_, stream)| (Why::LongestGap, stream));
        let latest = self.latest_first.iter().map(|(_, stream)| (Why::LatestFirst, stream));
        let chance = self.by_chance.iter().map(|(_, stream)| (Why::Chance, stream));
        let mut chosen: Vec<(Why, &Stream)> = Vec::new();
        for (why, stream) in longest.chain(latest).chain(chance) {
            let is_new = |(_, known): &(Why, &Stream)| {
                (known.request, known.attempt) != (stream.request, stream.attempt)
            };
            if chosen.len() < max && chosen.iter().all(is_new) {
                chosen.push((why, stream));
            }
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(streams: &mut Streams, request: u64, first_us: u64, deltas_us: Vec<u64>) {
        let start_ns = 1_000_000_000;
        let first_ns = Some(start_ns + first_us * 1000);
        let sample = Sample { request, attempt: 1, start_ns: Some(start_ns), first_ns, ..Sample::default() };
        let events = Events {
            request,
            attempt: 1,
            first_us: Some(1_000_000 + first_us),
            deltas_us,
            ..Events::default()
        };
        streams.push(&sample, start_ns, Some(&events));
    }

    #[test]
    fn the_remarkable_streams_are_kept_among_those_by_chance() {
        let mut streams = Streams::default();
        for request in 0..100 {
            let gap = if request == 70 { 900_000 } else { 20_000 };
            push(&mut streams, request, if request == 30 { 5_000_000 } else { 100_000 }, vec![10_000, gap]);
        }
        let chosen = streams.chosen(5);
        assert_eq!(chosen.len(), 5);
        let of = |why| chosen.iter().find(|(is, _)| *is == why).unwrap().1;
        assert_eq!(of(Why::LatestFirst).request, 30);
        let stalled = of(Why::LongestGap);
        assert_eq!((stalled.request, stalled.stamps_us.as_slice()), (70, &[100_000, 110_000, 1_010_000][..]));
        assert_eq!(stalled.stalls().collect::<Vec<_>>(), [(110_000, 1_010_000)]);
        assert_eq!(streams.chosen(1).len(), 1);
    }

    #[test]
    fn hostile_stamps_are_cut_and_do_not_overflow() {
        let mut streams = Streams::default();
        push(&mut streams, 1, 5, vec![u64::MAX; STAMPS_MAX + 10]);
        let (_, stream) = streams.chosen(1)[0];
        assert_eq!((stream.stamps_us.len(), stream.cut, stream.end_us()), (STAMPS_MAX, 11, u64::MAX));
        let early = Events { first_us: Some(0), ..Events::default() };
        streams.push(&Sample::default(), 1_000_000_000, Some(&early));
        assert_eq!(streams.chosen(5).len(), 1);
    }
}
