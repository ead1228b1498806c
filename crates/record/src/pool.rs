//! Several recordings as one: samples are pooled, percentiles never averaged.
//!
//! Each recording keeps its place on one line of time: its times begin behind every stamp of the one before, so that no
//! window holds times of two. Requests, blocks and segments are numbered on, so that nothing of one run is taken for
//! something of another; and each sample names its recording as its time window, unless it names one of its own.

use std::collections::{BTreeMap, HashSet};

use serde_json::json;

use crate::{Manifest, RecordError, Recorded, Recording, SCHEMA, Sample, Segment, State, Stream};

/// The lines of time of two recordings lie this far apart, ns; offsets are whole multiples of it.
const STEP_NS: u64 = 1_000_000_000;

/// One recording and its place in the pool.
#[derive(Debug)]
pub struct Part {
    recording: Box<dyn Recording>,
    shift: Shift,
    /// The last stamp, on the pool's line of time.
    last_ns: u64,
    renamed: BTreeMap<String, String>,
}

/// What is added to the numbers of a recording.
#[derive(Clone, Copy, Debug, Default)]
struct Shift {
    ns: u64,
    request: u64,
    block: u32,
    segment: u32,
}

/// Several recordings as one.
#[derive(Debug)]
pub struct Pool {
    parts: Vec<Part>,
    manifest: Manifest,
}

impl Part {
    /// The recording's own manifest.
    pub fn manifest(&self) -> &Manifest {
        self.recording.manifest()
    }

    /// What is added to its times, ns.
    pub fn offset_ns(&self) -> u64 {
        self.shift.ns
    }

    /// The last of its times on the pool's line of time, ns; its offset where it has none.
    pub fn last_ns(&self) -> u64 {
        self.last_ns
    }

    /// What `target` of the recording is called in the pool.
    pub fn target<'a>(&'a self, target: &'a str) -> &'a str {
        self.renamed.get(target).map_or(target, String::as_str)
    }

    /// A sample as it stands in the pool.
    fn place(&self, (mut sample, mut events): Recorded) -> Recorded {
        let Shift { ns, request, block, segment } = self.shift;
        if let Some(name) = self.renamed.get(&sample.target) {
            sample.target.clone_from(name);
        }
        for stamp in stamps(&mut sample).into_iter().flatten() {
            *stamp = stamp.saturating_add(ns);
        }
        sample.request = sample.request.saturating_add(request);
        sample.segment = sample.segment.saturating_add(segment);
        sample.block = sample.block.map(|own| own.saturating_add(block));
        sample.window.get_or_insert_with(|| self.manifest().run_id.clone());
        if let Some(events) = &mut events {
            events.request = sample.request;
            events.first_us = events.first_us.map(|us| us.saturating_add(ns / 1_000));
        }
        (sample, events)
    }

    /// Its samples as they stand in the pool.
    fn stream(&self) -> Result<Stream<'_>, RecordError> {
        let stream = self.recording.stream()?;
        Ok(Box::new(stream.map(|recorded| recorded.map(|recorded| self.place(recorded)))))
    }

    /// Finds the last stamp, and what is added to the recording behind this one; reads all samples.
    fn measure(&mut self) -> Result<Option<Shift>, RecordError> {
        let Shift { ns, request, block, segment } = self.shift;
        let (mut last_ns, mut last) = (ns, Shift { ns, request, block, segment });
        let mut has_blocks = false;
        for recorded in self.stream()? {
            let (mut sample, _) = recorded?;
            last_ns = stamps(&mut sample).into_iter().flatten().map(|stamp| *stamp).fold(last_ns, u64::max);
            last.request = sample.request.max(last.request);
            last.segment = sample.segment.max(last.segment);
            has_blocks |= sample.block.is_some();
            last.block = sample.block.map_or(last.block, |block| block.max(last.block));
        }
        self.last_ns = last_ns;
        let next = || {
            Some(Shift {
                ns: last_ns.checked_next_multiple_of(STEP_NS)?.checked_add(STEP_NS)?,
                request: last.request.checked_add(1)?,
                block: last.block.checked_add(u32::from(has_blocks))?,
                segment: last.segment.checked_add(1)?,
            })
        };
        Ok(next())
    }

    fn refused(&self, reason: &str) -> RecordError {
        RecordError::NotARun { path: self.manifest().run_id.clone().into(), reason: reason.to_owned() }
    }
}

impl Pool {
    /// Pools `recordings`, at least one, in their order. Reads all samples once; a run that is given twice is refused,
    /// since it would count twice. The manifest holds no cells and no study: they are the crates' above, which know how
    /// to pool them (`metrics::pooled`).
    pub fn new(recordings: Vec<Box<dyn Recording>>) -> Result<Self, RecordError> {
        let mut parts: Vec<Part> = Vec::with_capacity(recordings.len());
        let mut seen = HashSet::new();
        let mut next = Some(Shift::default());
        for recording in recordings {
            let mut part = Part { recording, shift: Shift::default(), last_ns: 0, renamed: BTreeMap::new() };
            if !seen.insert(part.manifest().run_id.clone()) {
                return Err(RecordError::Twice(part.manifest().run_id.clone()));
            }
            // A number at the end of its range leaves no room for another run, and is no run's of ours.
            part.shift = next.ok_or_else(|| {
                part.refused("the numbers of the run before it are too large for it to stand behind")
            })?;
            next = part.measure()?;
            parts.push(part);
        }
        let manifest = manifest(&parts);
        Ok(Self { parts, manifest })
    }

    /// The recordings, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Calls `target` of the recording at `part` something else, in its samples: the same name means something else in
    /// another recording.
    pub fn rename(&mut self, part: usize, target: &str, name: &str) {
        if let Some(part) = self.parts.get_mut(part) {
            part.renamed.insert(target.to_owned(), name.to_owned());
        }
    }

    /// Changes the manifest: whoever knows what cells and studies mean puts them in.
    pub fn update(&mut self, change: impl FnOnce(&mut Manifest)) {
        change(&mut self.manifest);
    }
}

impl Recording for Pool {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn stream(&self) -> Result<Stream<'_>, RecordError> {
        let streams: Result<Vec<_>, _> = self.parts.iter().map(Part::stream).collect();
        let mut all = streams?.into_iter().flatten();
        let mut failed = false;
        Ok(Box::new(std::iter::from_fn(move || {
            let next = if failed { None } else { all.next() };
            failed = matches!(next, Some(Err(_)));
            next
        })))
    }
}

fn manifest(parts: &[Part]) -> Manifest {
    let first = parts.first().map(Part::manifest);
    let of = |state| parts.iter().any(|part| part.manifest().state == state);
    let runs: Vec<_> = parts.iter().map(|part| (part.manifest(), part.offset_ns())).collect();
    Manifest {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        run_id: runs.iter().map(|(manifest, _)| manifest.run_id.as_str()).collect::<Vec<_>>().join("+"),
        created: first.map(|manifest| manifest.created.clone()).unwrap_or_default(),
        state: [State::Running, State::Interrupted]
            .into_iter()
            .find(|state| of(*state))
            .unwrap_or(State::Complete),
        segments: runs
            .iter()
            .flat_map(|(manifest, offset_ns)| shifted(&manifest.segments, *offset_ns))
            .collect(),
        plan: first.map(|manifest| manifest.plan.clone()).unwrap_or_default(),
        environment: json!({
            "pooled": runs.iter().map(|(manifest, offset_ns)| json!({
                "run_id": manifest.run_id, "created": manifest.created, "offset_ns": offset_ns,
                "environment": manifest.environment,
            })).collect::<Vec<_>>(),
        }),
        ..Manifest::default()
    }
}

fn shifted(segments: &[Segment], offset_ns: u64) -> impl Iterator<Item = Segment> {
    segments.iter().map(move |segment| Segment {
        offset_ns: segment.offset_ns.saturating_add(offset_ns),
        ..segment.clone()
    })
}

/// Every time of a sample that counts from the run's origin.
fn stamps(sample: &mut Sample) -> [Option<&mut u64>; 12] {
    [
        sample.sched_ns.as_mut(),
        sample.start_ns.as_mut(),
        sample.dns_ns.as_mut(),
        sample.connect_ns.as_mut(),
        sample.tls_ns.as_mut(),
        sample.sent_ns.as_mut(),
        sample.headers_ns.as_mut(),
        sample.byte_ns.as_mut(),
        sample.first_ns.as_mut(),
        sample.answer_ns.as_mut(),
        sample.last_ns.as_mut(),
        sample.end_ns.as_mut(),
    ]
}

#[cfg(test)]
mod tests;
