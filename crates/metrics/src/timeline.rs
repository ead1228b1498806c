//! Output tokens over time, in bounded memory.

use std::collections::{BTreeMap, BTreeSet};

use inferometer_record::{Events, Phase, Sample, Status};

use crate::context::{CellContext, Window};
use crate::row::is_useful;
use crate::spans::Spans;

/// Finest width of a cell of time: 10 ms.
const FINEST_NS: u64 = 10_000_000;

/// Cells that a timeline may have: three quarters of an hour at 10 ms, three days at a second. Beyond it, ten cells
/// become one.
const MAX_CELLS: usize = 1 << 18;

/// Parts of a resumed run that are told apart; of more, nothing is said per second.
const MAX_SEGMENTS: usize = 1_000;

/// Time windows that are counted: a year of hours.
const MAX_TIME_WINDOWS: usize = 8_784;

/// Output in one cell of time.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// Tokens whose number is known.
    tokens: u64,
    /// Output events whose tokens are not known; each counts as the cell's tokens per event.
    events: u64,
}

/// Output inside the window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inside {
    /// Tokens whose number is known.
    pub(crate) tokens: u64,
    /// Output events whose tokens are not known.
    pub(crate) events: u64,
    /// Tokens of `tokens` that belong to attempts that did not end ok.
    pub(crate) unfinished_tokens: u64,
    /// Events of `events` that belong to attempts that did not end ok.
    pub(crate) unfinished_events: u64,
    /// Tokens of useful answers.
    pub(crate) useful_tokens: u64,
    /// Events of useful answers.
    pub(crate) useful_events: u64,
    /// Characters.
    pub(crate) chars: u64,
}

/// What each attempt put out, when.
#[derive(Debug)]
pub(crate) struct Timeline {
    /// When output counts as inside; `None`: always.
    spans: Option<Spans>,
    /// From the first start to the last end of each part of a resumed run.
    segments: BTreeMap<u32, Window>,
    /// The names of the time windows that samples come from.
    time_windows: BTreeSet<String>,
    origin_ns: u64,
    width_ns: u64,
    cells: Vec<Cell>,
    pub(crate) inside: Inside,
    /// Attempts with output whose events were not recorded: their tokens stand at their last event.
    pub(crate) without_events: u64,
}

/// What is known of an attempt's output tokens.
enum Known {
    /// So many over the whole attempt.
    Total(u64),
    /// Nothing but the events.
    Events,
}

impl Timeline {
    pub(crate) fn new(context: &CellContext) -> Self {
        let always = Window { from_ns: 0, to_ns: u64::MAX };
        let is_bounded = context.window.is_some() || !context.slices.is_empty();
        Timeline {
            spans: is_bounded.then(|| Spans::new(context.window.unwrap_or(always), &context.slices)),
            segments: BTreeMap::new(),
            time_windows: BTreeSet::new(),
            origin_ns: context.window.map_or(0, |window| window.from_ns),
            width_ns: FINEST_NS,
            cells: Vec::new(),
            inside: Inside::default(),
            without_events: 0,
        }
    }

    /// Puts an attempt's output where it was stamped. `degraded_is_useful` as in the cell's context.
    pub(crate) fn push(&mut self, sample: &Sample, events: Option<&Events>, degraded_is_useful: bool) {
        self.see_segment(sample);
        let known = known_tokens(sample, events);
        let kind =
            Kind { is_ok: sample.status == Status::Ok, is_useful: is_useful(sample, degraded_is_useful) };
        match events.and_then(|events| Some((events, events.first_us?))) {
            Some((events, first_us)) => self.spread(events, first_us, &known, kind),
            None => self.lump(sample, &known, kind),
        }
    }

    fn see_segment(&mut self, sample: &Sample) {
        let (Phase::Measure, Some(from_ns), Some(to_ns)) = (sample.phase, sample.start_ns, sample.end_ns)
        else {
            return;
        };
        if let Some(name) = sample.window.as_ref().filter(|_| self.time_windows.len() < MAX_TIME_WINDOWS) {
            self.time_windows.insert(name.clone());
        }
        if self.segments.len() <= MAX_SEGMENTS {
            let seen = self.segments.entry(sample.segment).or_insert(Window { from_ns, to_ns });
            seen.from_ns = seen.from_ns.min(from_ns);
            seen.to_ns = seen.to_ns.max(to_ns);
        }
    }

    /// From how many time windows samples come; those without a name are one.
    pub(crate) fn time_windows(&self) -> u64 {
        self.time_windows.len().max(1) as u64
    }

    /// The time that was the cell's, inside `window`: its slices, or the parts of a resumed run, between which nobody
    /// was there. None where such parts overlap: their stamps count from different origins, and two things that were
    /// hours apart would stand in one second.
    pub(crate) fn spans(&self, window: Window, slices: &[Window]) -> Spans {
        let mut parts: Vec<Window> = self.segments.values().copied().collect();
        parts.sort_unstable_by_key(|part| part.from_ns);
        let overlap = |pair: &[Window]| matches!(pair, [a, b] if b.from_ns < a.to_ns);
        if parts.len() > MAX_SEGMENTS || parts.windows(2).any(overlap) {
            Spans::none()
        } else if parts.len() > 1 && slices.is_empty() {
            Spans::new(window, &parts)
        } else {
            Spans::new(window, slices)
        }
    }

    /// Each event's tokens at its stamp.
    fn spread(&mut self, events: &Events, first_us: u64, known: &Known, kind: Kind) {
        let n = events.deltas_us.len() as u64 + 1;
        let told = events.tokens.as_deref().unwrap_or_default();
        let weights: &[u32] = match known {
            Known::Total(total) if sum(told) == *total && *total > 0 => told,
            _ => &events.chars,
        };
        let (mut at_us, mut weight, total_weight) = (first_us, 0, sum(weights));
        let mut given = 0;
        for i in 0..n {
            let index = i as usize;
            if let Some(delta) = index.checked_sub(1).and_then(|before| events.deltas_us.get(before)) {
                at_us = at_us.saturating_add(*delta);
            }
            weight += u64::from(weights.get(index).copied().unwrap_or(0));
            let chars = u64::from(events.chars.get(index).copied().unwrap_or(0));
            let put = match known {
                Known::Total(total) => {
                    // Shares of a running total, so that the parts sum to it exactly.
                    let until =
                        if i + 1 == n { *total } else { share(*total, weight, total_weight, i + 1, n) };
                    let tokens = until - given;
                    given = until;
                    Cell { tokens, events: 0 }
                }
                Known::Events => Cell { tokens: 0, events: 1 },
            };
            self.put(at_us.saturating_mul(1_000), put, chars, kind);
        }
    }

    /// Without events, all of it at the last event.
    fn lump(&mut self, sample: &Sample, known: &Known, kind: Kind) {
        let Some(at_ns) = sample.last_ns.or(sample.end_ns) else { return };
        let put = match known {
            Known::Total(tokens) => Cell { tokens: *tokens, events: 0 },
            Known::Events => Cell { tokens: 0, events: sample.chunks },
        };
        self.without_events += u64::from(sample.chunks > 0);
        self.put(at_ns, put, sample.output_chars, kind);
    }

    fn put(&mut self, at_ns: u64, put: Cell, chars: u64, kind: Kind) {
        let Some(since) = at_ns.checked_sub(self.origin_ns) else { return };
        while since / self.width_ns >= MAX_CELLS as u64 {
            self.coarsen();
        }
        let index = (since / self.width_ns) as usize;
        if index >= self.cells.len() {
            self.cells.resize(index + 1, Cell::default());
        }
        if let Some(cell) = self.cells.get_mut(index) {
            add(&mut cell.tokens, put.tokens);
            add(&mut cell.events, put.events);
        }
        if self.spans.as_ref().is_none_or(|spans| spans.contains(at_ns)) {
            self.inside.add(put, chars, kind);
        }
    }

    /// Ten cells become one: at most twelve times, since a `u64` of nanoseconds has no more room.
    fn coarsen(&mut self) {
        self.width_ns = self.width_ns.saturating_mul(10);
        let merge = |cells: &[Cell]| {
            let mut merged = Cell::default();
            for cell in cells {
                add(&mut merged.tokens, cell.tokens);
                add(&mut merged.events, cell.events);
            }
            merged
        };
        self.cells = self.cells.chunks(10).map(merge).collect();
    }

    /// Tokens per step of `step_ns` from `from_ns` on, `tokens_per_event` for each event of unknown count. Both are
    /// rounded to whole cells; the true start and step come back beside.
    pub(crate) fn series(&self, from_ns: u64, step_ns: u64, tokens_per_event: f64) -> Series {
        let skip = from_ns.saturating_sub(self.origin_ns).div_ceil(self.width_ns);
        let per_step = (step_ns / self.width_ns).max(1);
        let tail = self.cells.get(usize::try_from(skip).unwrap_or(usize::MAX)..).unwrap_or_default();
        let tokens = |cells: &[Cell]| {
            cells.iter().map(|cell| cell.tokens as f64 + cell.events as f64 * tokens_per_event).sum::<f64>()
        };
        Series {
            from_ns: self.origin_ns.saturating_add(skip.saturating_mul(self.width_ns)),
            step_ns: per_step.saturating_mul(self.width_ns),
            tokens: tail.chunks(per_step as usize).map(tokens).collect(),
        }
    }

    /// Width of a cell.
    pub(crate) fn width_ns(&self) -> u64 {
        self.width_ns
    }

    /// The instant that cells count from.
    pub(crate) fn origin_ns(&self) -> u64 {
        self.origin_ns
    }
}

/// Tokens per step of time.
pub(crate) struct Series {
    pub(crate) from_ns: u64,
    pub(crate) step_ns: u64,
    pub(crate) tokens: Vec<f64>,
}

/// Whose output it is.
#[derive(Clone, Copy)]
struct Kind {
    is_ok: bool,
    is_useful: bool,
}

impl Inside {
    fn add(&mut self, put: Cell, chars: u64, kind: Kind) {
        add(&mut self.tokens, put.tokens);
        add(&mut self.events, put.events);
        add(&mut self.chars, chars);
        if !kind.is_ok {
            add(&mut self.unfinished_tokens, put.tokens);
            add(&mut self.unfinished_events, put.events);
        }
        if kind.is_useful {
            add(&mut self.useful_tokens, put.tokens);
            add(&mut self.useful_events, put.events);
        }
    }
}

/// An ok attempt: the server's count, else the tokenizer's. An unfinished one: running usage. Else only its events.
fn known_tokens(sample: &Sample, events: Option<&Events>) -> Known {
    let reported = sample.output_tokens.filter(|tokens| *tokens > 0 || sample.chunks == 0);
    let counted = sample.counted_output_tokens.filter(|_| sample.status == Status::Ok);
    let running = events.and_then(|events| events.tokens.as_deref()).map(sum).filter(|tokens| *tokens > 0);
    reported.or(counted).or(running).map_or(Known::Events, Known::Total)
}

/// ⌊total · weight / total_weight⌋, by events where nothing has a weight.
fn share(total: u64, weight: u64, total_weight: u64, i: u64, n: u64) -> u64 {
    let (part, whole) = if total_weight > 0 { (weight, total_weight) } else { (i, n) };
    let share = u128::from(total) * u128::from(part) / u128::from(whole.max(1));
    u64::try_from(share).unwrap_or(total).min(total)
}

fn sum(weights: &[u32]) -> u64 {
    weights.iter().map(|weight| u64::from(*weight)).sum()
}

fn add(total: &mut u64, part: u64) {
    *total = total.saturating_add(part);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(tokens: Option<u64>, chunks: u64) -> Sample {
        Sample {
            status: Status::Ok,
            output_tokens: tokens,
            chunks,
            last_ns: Some(50_000_000),
            ..Sample::default()
        }
    }

    fn events(deltas_us: &[u64], chars: &[u32]) -> Events {
        Events {
            first_us: Some(0),
            deltas_us: deltas_us.to_vec(),
            chars: chars.to_vec(),
            ..Events::default()
        }
    }

    fn check(sample: &Sample, events: Option<&Events>, per_event: f64, expected: &[f64]) {
        let mut timeline = Timeline::new(&CellContext::default());
        timeline.push(sample, events, false);
        assert_eq!(timeline.series(0, FINEST_NS, per_event).tokens, expected);
    }

    #[test]
    fn tokens_stand_where_they_were_stamped() {
        check(&sample(Some(10), 2), Some(&events(&[10_000], &[1, 1])), 1.0, &[5.0, 5.0]);
        check(&sample(Some(10), 3), Some(&events(&[10_000, 0], &[1, 1, 1])), 1.0, &[3.0, 7.0]);
        check(&sample(Some(7), 2), Some(&events(&[20_000], &[0, 0])), 1.0, &[3.0, 0.0, 4.0]);
        check(&sample(None, 2), Some(&events(&[10_000], &[1, 1])), 4.0, &[4.0, 4.0]);
        check(&sample(Some(6), 2), None, 1.0, &[0.0, 0.0, 0.0, 0.0, 0.0, 6.0]);
        let told = Events { tokens: Some(vec![1, 9]), ..events(&[10_000], &[1, 1]) };
        check(&sample(Some(10), 2), Some(&told), 1.0, &[1.0, 9.0]);
        check(&sample(Some(12), 2), Some(&told), 1.0, &[6.0, 6.0]);
    }

    #[test]
    fn a_stamp_at_the_end_of_time_costs_no_memory() {
        let mut timeline = Timeline::new(&CellContext::default());
        timeline.push(&sample(Some(3), 1), Some(&events(&[], &[1])), false);
        timeline.push(
            &sample(Some(4), 1),
            Some(&Events { first_us: Some(u64::MAX), ..events(&[], &[1]) }),
            false,
        );
        assert!(timeline.cells.len() <= MAX_CELLS);
        assert_eq!(timeline.series(0, 1, 1.0).tokens.iter().sum::<f64>(), 7.0);
    }

    #[test]
    fn only_what_is_stamped_inside_counts() {
        let window = Window { from_ns: 10_000_000, to_ns: 30_000_000 };
        let mut timeline = Timeline::new(&CellContext { window: Some(window), ..CellContext::default() });
        timeline.push(&sample(Some(4), 4), Some(&events(&[10_000, 10_000, 10_000], &[1, 1, 1, 1])), false);
        assert_eq!(timeline.inside.tokens, 3, "both ends are inside");
        assert_eq!(timeline.series(10_000_000, 1, 1.0).tokens.iter().sum::<f64>(), 3.0);
    }

    /// Parts of a resumed run, as (segment, start, end) in ms: the cell's time in ms.
    fn check_segments(parts: &[(u32, u64, u64)], expected: &[(u64, u64)]) {
        let mut timeline = Timeline::new(&CellContext::default());
        for (segment, start, end) in parts {
            let stamps = [*start, *end].map(|ms| Some(ms * 1_000_000));
            let seen =
                Sample { segment: *segment, start_ns: stamps[0], end_ns: stamps[1], ..sample(None, 0) };
            timeline.push(&seen, None, false);
        }
        let spans = timeline.spans(Window { from_ns: 0, to_ns: 1_000_000_000 }, &[]);
        let shown = spans.as_slice().iter().map(|span| (span.from_ns / 1_000_000, span.to_ns / 1_000_000));
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_time_between_two_parts_of_a_resumed_run_is_nobody_s() {
        check_segments(&[(0, 10, 20), (0, 20, 30)], &[(0, 1_000)]);
        check_segments(&[(0, 10, 20), (1, 500, 530), (0, 20, 30)], &[(10, 30), (500, 530)]);
        check_segments(&[(0, 10, 20), (1, 12, 30)], &[]);
    }
}
