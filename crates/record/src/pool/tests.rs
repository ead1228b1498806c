use inferometer_clock::{Mono, Wall};

use super::*;
use crate::{Events, RunReader, RunWriter};

/// A run of one cell with samples that start at these times, each 1 s long, in blocks from 0.
fn run(folder: &tempfile::TempDir, id: &str, starts: &[u64]) -> Box<dyn Recording> {
    let mut manifest = Manifest::new(id, Wall::from_unix_nanos(7));
    manifest.segments = vec![Segment::default()];
    let mut writer = RunWriter::create(None, folder.path(), id, manifest, true).unwrap();
    for (nth, start) in starts.iter().enumerate() {
        let sample = Sample {
            run_id: id.to_owned(),
            target: "t".to_owned(),
            block: Some(nth as u32),
            request: nth as u64,
            start_ns: Some(*start),
            end_ns: Some(start + STEP_NS),
            ..Sample::default()
        };
        let events = Events { request: nth as u64, first_us: Some(start / 1_000), ..Events::default() };
        writer.push(&sample, Some(&events), Mono::default()).unwrap();
    }
    Box::new(RunReader::open(&writer.finish(State::Complete).unwrap()).unwrap())
}

#[test]
fn each_run_has_its_own_time_requests_and_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let mut pool = Pool::new(vec![
        run(&folder, "a", &[0, 5_000]),
        run(&folder, "b", &[0, 5_000]),
        run(&folder, "c", &[9]),
    ])
    .unwrap();
    pool.rename(1, "t", "t (b)");
    let all: Vec<Recorded> = pool.stream().unwrap().collect::<Result<_, _>>().unwrap();
    let of = |get: fn(&Sample) -> u64| all.iter().map(|(sample, _)| get(sample)).collect::<Vec<_>>();
    assert_eq!(of(|s| s.start_ns.unwrap()), [0, 5_000, 3 * STEP_NS, 3 * STEP_NS + 5_000, 6 * STEP_NS + 9]);
    assert_eq!(of(|s| s.request), [0, 1, 2, 3, 4]);
    assert_eq!(of(|s| u64::from(s.block.unwrap())), [0, 1, 2, 3, 4]);
    assert_eq!(of(|s| u64::from(s.segment)), [0, 0, 1, 1, 2]);
    for (sample, events) in &all {
        let events = events.as_ref().unwrap();
        assert_eq!((events.request, events.first_us), (sample.request, sample.start_ns.map(|ns| ns / 1_000)));
        assert_eq!(
            sample.window.as_deref(),
            Some(sample.run_id.as_str()),
            "its recording is its time window"
        );
        assert_eq!(sample.target, if sample.run_id == "b" { "t (b)" } else { "t" });
    }
    let manifest = pool.manifest();
    assert_eq!((manifest.run_id.as_str(), manifest.state), ("a+b+c", State::Complete));
    let offsets: Vec<u64> = manifest.segments.iter().map(|segment| segment.offset_ns).collect();
    assert_eq!(offsets, [0, 3 * STEP_NS, 6 * STEP_NS]);
    assert_eq!(manifest.environment["pooled"][2]["offset_ns"], 6 * STEP_NS);
    let ends: Vec<u64> = pool.parts().iter().map(Part::last_ns).collect();
    assert_eq!(ends, [STEP_NS + 5_000, 4 * STEP_NS + 5_000, 7 * STEP_NS + 9]);
    assert_eq!((pool.parts()[1].target("t"), pool.parts()[1].target("u")), ("t (b)", "u"));
}

#[test]
fn what_cannot_be_pooled_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let twice = Pool::new(vec![run(&folder, "a", &[0]), run(&folder, "a", &[0])]).unwrap_err();
    assert!(matches!(&twice, RecordError::Twice(run) if run == "a"), "{twice}");
    assert_eq!(twice.to_string(), "the run a is given twice: it would count twice; name each run once");
    let late = u64::MAX - STEP_NS;
    let full = Pool::new(vec![run(&folder, "d", &[late]), run(&folder, "e", &[0])]).unwrap_err();
    assert!(full.to_string().contains("too large"), "{full}");
    Pool::new(vec![run(&folder, "f", &[late])]).unwrap();
    let empty = Pool::new(vec![run(&folder, "g", &[]), run(&folder, "h", &[0])]).unwrap();
    assert_eq!(empty.stream().unwrap().count(), 1);
}
