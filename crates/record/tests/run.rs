//! A run's folder: written, killed, read again.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use inferometer_clock::{Mono, Wall};
use inferometer_record::{
    EVENTS_FILE, Events, Manifest, RUN_FILE, RecordError, RunReader, RunWriter, SAMPLES_FILE, Sample,
    Segment, State, Tail,
};

const CREATED: Wall = Wall::from_unix_nanos(1_796_051_544_123_456_789);

fn at_ms(ms: u64) -> Mono {
    Mono::from_nanos(ms * 1_000_000)
}

fn sample(request: u64) -> Sample {
    Sample { request, attempt: 1, is_final: true, ..Sample::default() }
}

fn events(request: u64) -> Events {
    Events { request, attempt: 1, first_us: Some(5), deltas_us: vec![1], chars: vec![1, 2], tokens: None }
}

fn writer(root: &Path) -> RunWriter {
    RunWriter::create(None, root, "test", Manifest::new("id", CREATED), true).unwrap()
}

/// A run of three samples, the second without events.
fn run_of_three(root: &Path) -> PathBuf {
    let mut run = writer(root);
    for request in 0..3 {
        let events = (request != 1).then(|| events(request));
        run.push(&sample(request), events.as_ref(), at_ms(request)).unwrap();
    }
    run.finish(State::Complete).unwrap()
}

/// Requests in order, each with whether its events came with it, and what was lost at the end.
fn read(dir: &Path) -> Result<(Vec<(u64, bool)>, Tail), RecordError> {
    let mut samples = RunReader::open(dir)?.samples()?;
    let read: Result<Vec<_>, _> =
        samples.by_ref().map(|r| r.map(|(s, e)| (s.request, e.is_some()))).collect();
    Ok((read?, samples.tail()))
}

fn append(path: &Path, bytes: &[u8]) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

/// Buffers fill at their own pace; what is in the files at any moment still belongs together.
#[test]
fn no_sample_is_in_its_file_before_its_events() {
    let root = tempfile::tempdir().unwrap();
    let mut run = writer(root.path());
    for request in 0..2_000 {
        // All within one flush interval: only full buffers reach the files.
        let now = if request == 0 { at_ms(0) } else { at_ms(1) };
        run.push(&sample(request), Some(&events(request)), now).unwrap();
    }
    let lines = |name: &str| fs::read_to_string(run.dir().join(name)).unwrap().lines().count();
    let (samples, events) = (lines(SAMPLES_FILE), lines(EVENTS_FILE));
    assert!(samples > 100 && events >= samples, "{samples} samples, {events} events");
}

#[test]
fn what_was_written_is_read() {
    let root = tempfile::tempdir().unwrap();
    let dir = run_of_three(root.path());
    assert_eq!(dir.file_name().unwrap(), "20261130T151224Z-test");
    let reader = RunReader::open(&dir).unwrap();
    assert_eq!((reader.manifest().state, reader.manifest().run_id.as_str()), (State::Complete, "id"));
    assert!(!reader.is_incomplete());
    assert_eq!(read(&dir).unwrap(), (vec![(0, true), (1, false), (2, true)], Tail::default()));
}

#[test]
fn a_run_never_overwrites_another() {
    let root = tempfile::tempdir().unwrap();
    let names: Vec<_> =
        (0..3).map(|_| run_of_three(root.path()).file_name().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["20261130T151224Z-test", "20261130T151224Z-test-2", "20261130T151224Z-test-3"]);

    let out = root.path().join("out/deep");
    let create = || RunWriter::create(Some(&out), root.path(), "x", Manifest::new("id", CREATED), false);
    assert_eq!(create().unwrap().dir(), out);
    assert!(!out.join(EVENTS_FILE).exists());
    let error = create().unwrap_err();
    assert!(matches!(error, RecordError::NotEmpty(_)) && error.to_string().contains("out/deep is not empty"));
}

#[test]
fn what_cannot_be_written_is_said_before_the_run() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "x").unwrap();
    let error = RunWriter::create(None, &file.join("runs"), "x", Manifest::default(), true).unwrap_err();
    assert!(matches!(error, RecordError::Create { .. }), "{error}");
    assert!(error.to_string().starts_with("cannot create "), "{error}");
}

#[test]
fn hostile_names_stay_in_their_folder() {
    let root = tempfile::tempdir().unwrap();
    for (name, folder) in [
        ("../../etc/x y", "20261130T151224Z-etc-x-y"),
        ("", "20261130T151224Z-run"),
        ("é", "20261130T151224Z-run-2"),
    ] {
        let run = RunWriter::create(None, root.path(), name, Manifest::new("id", CREATED), false).unwrap();
        assert_eq!(run.dir(), root.path().join(folder), "{name:?}");
    }
}

#[test]
fn a_kill_costs_at_most_what_was_not_flushed() {
    let root = tempfile::tempdir().unwrap();
    let mut run = writer(root.path());
    let dir = run.dir().to_owned();
    let on_disk = || read(&dir).unwrap().0.len();
    run.push(&sample(0), None, at_ms(0)).unwrap();
    assert_eq!(on_disk(), 1, "the first goes out at once");
    run.push(&sample(1), None, at_ms(100)).unwrap();
    assert_eq!(on_disk(), 1);
    run.tick(at_ms(499)).unwrap();
    assert_eq!(on_disk(), 1);
    run.tick(at_ms(500)).unwrap();
    assert_eq!(on_disk(), 2);
    assert!(RunReader::open(&dir).unwrap().is_incomplete());
}

#[test]
fn the_manifest_is_always_whole() {
    let root = tempfile::tempdir().unwrap();
    let mut run = writer(root.path());
    run.update(|manifest| manifest.cells.push(serde_json::json!({"target": "a"}))).unwrap();
    assert_eq!(RunReader::open(run.dir()).unwrap().manifest(), run.manifest());
    run.write_summary(&serde_json::json!({"cells": []})).unwrap();
    let mut names: Vec<_> = fs::read_dir(run.dir())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["events.jsonl", "run.json", "samples.jsonl", "summary.json"],
        "no temporary file stays"
    );
}

#[test]
fn lines_are_strict_json_whatever_the_server_sent() {
    let root = tempfile::tempdir().unwrap();
    let mut run = writer(root.path());
    let usage = serde_json::value::RawValue::from_string("{\n\t\"a\":\r\n 1e999}".to_owned()).unwrap();
    let odd = Sample {
        usage: Some(usage),
        ttft_ms: Some(f64::NAN),
        tpot_ms: Some(f64::INFINITY),
        error_message: Some("line\nbreak \u{2028} \0".to_owned()),
        ..sample(0)
    };
    run.push(&odd, None, at_ms(0)).unwrap();
    let dir = run.finish(State::Interrupted).unwrap();
    let text = fs::read_to_string(dir.join(SAMPLES_FILE)).unwrap();
    assert_eq!((text.lines().count(), text.contains("NaN"), text.contains(":inf")), (1, false, false));
    let (read, _) = RunReader::open(&dir).unwrap().samples().unwrap().next().unwrap().unwrap();
    assert_eq!((read.ttft_ms, read.tpot_ms, read.error_message), (None, None, odd.error_message));
}

#[test]
fn a_torn_end_is_counted() {
    let root = tempfile::tempdir().unwrap();
    let dir = run_of_three(root.path());
    append(&dir.join(SAMPLES_FILE), b"{\"request\":3,\"att");
    append(&dir.join(EVENTS_FILE), b"{\"request\":3,\"attempt\":1}\n{\"req");
    let (samples, tail) = read(&dir).unwrap();
    assert_eq!(samples.len(), 3);
    assert_eq!(tail, Tail { torn_samples: 1, torn_events: 1, unmatched_events: 1 });
}

#[test]
fn a_whole_last_line_without_its_end_is_read() {
    let root = tempfile::tempdir().unwrap();
    let dir = run_of_three(root.path());
    append(&dir.join(SAMPLES_FILE), b"{\"request\":3,\"later_field\":[1]}");
    let (samples, tail) = read(&dir).unwrap();
    assert_eq!((samples.last(), tail), (Some(&(3, false)), Tail::default()));
}

/// A run that was killed goes on: what was whole stays, what was torn goes, and new events find their samples.
#[test]
fn a_killed_run_is_gone_on_with() {
    let check = |samples: &str, events_tail: &str, before: u64| {
        let root = tempfile::tempdir().unwrap();
        let dir = run_of_three(root.path());
        append(&dir.join(SAMPLES_FILE), samples.as_bytes());
        append(&dir.join(EVENTS_FILE), events_tail.as_bytes());
        let segment = Segment::at_offset(at_ms(7), CREATED, 9_000);
        let mut run = RunWriter::reopen(&dir, segment.clone()).unwrap();
        assert!(RunReader::open(&dir).unwrap().is_incomplete(), "running again");
        run.push(&sample(9), Some(&events(9)), at_ms(0)).unwrap();
        assert_eq!(run.finish(State::Complete).unwrap(), dir);
        let (read, tail) = read(&dir).unwrap();
        assert_eq!((read.len() as u64, read.last(), tail), (before + 1, Some(&(9, true)), Tail::default()));
        assert_eq!(RunReader::open(&dir).unwrap().manifest().segments, [segment]);
    };
    check("", "", 3);
    check("{\"request\":3,\"att", "{\"request\":3,\"attempt\":1}\n{\"req", 3);
    check("{\"request\":3}", "", 4);
    check("{\"request\":3}\n", "{\"request\":4,\"attempt\":1}", 4);
}

#[test]
fn a_malformed_line_is_named() {
    for (bad, reason) in [
        ("nonsense", "expected"),
        ("{\"request\":\"x\"}", "invalid type"),
        ("", "EOF"),
        ("\u{0}\u{0}", "expected"),
    ] {
        let root = tempfile::tempdir().unwrap();
        let dir = run_of_three(root.path());
        append(&dir.join(SAMPLES_FILE), format!("{bad}\n{{\"request\":4}}\n").as_bytes());
        let error = read(&dir).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, RecordError::Line { line: 4, .. }), "{text}");
        assert!(text.contains("samples.jsonl, line 4: ") && text.contains(reason), "{text}");
        assert!(!text.contains("line 1"), "{text}");
        let mut samples = RunReader::open(&dir).unwrap().samples().unwrap();
        assert_eq!((samples.by_ref().take_while(Result::is_ok).count(), samples.next().is_none()), (3, true));
    }
}

#[test]
fn only_a_run_that_this_version_knows_is_opened() {
    let root = tempfile::tempdir().unwrap();
    let open = |text: &str| {
        fs::write(root.path().join(RUN_FILE), text).unwrap();
        RunReader::open(root.path()).map(|_| ()).map_err(|error| error.to_string())
    };
    assert!(open("{\"schema\":1,\"unknown\":{},\"state\":\"running\"}").is_ok());
    let newer = open("{\"schema\":2,\"state\":{\"new\":\"shape\"}}").unwrap_err();
    assert!(newer.contains("schema 2; this version reads up to 1"), "{newer}");
    for not_a_run in ["{}", "[]", "", "{\"schema\":-1}", "{\"schema\":1,\"state\":\"odd\"}"] {
        assert!(open(not_a_run).unwrap_err().contains("is not a run"), "{not_a_run}");
    }
    fs::remove_file(root.path().join(RUN_FILE)).unwrap();
    assert!(matches!(RunReader::open(root.path()), Err(RecordError::Read { .. })));
}
