//! The run's folder: named before the first request, never written over.

use std::fs;

use crate::bench::{Bench, json};

#[test]
fn a_second_run_never_writes_over_the_first() {
    let bench = Bench::new();
    let few = "-n 2 --warmup 0 --no-preflight";
    assert_eq!(bench.run("sim", &format!("{few} --out first")).code, Some(0));
    let first = fs::read(bench.dir.path().join("first/samples.jsonl")).unwrap();
    let second = bench.run("sim", &format!("{few} --out first"));
    assert_eq!(second.code, Some(1));
    assert!(
        second.stderr.contains("first is not empty: a run never writes over another"),
        "{}",
        second.stderr
    );
    assert_eq!(fs::read(bench.dir.path().join("first/samples.jsonl")).unwrap(), first);
    // Without --out each has a folder of its own, also within a second.
    for _ in 0..3 {
        assert_eq!(bench.run("sim", few).code, Some(0));
    }
    let runs = fs::read_dir(bench.dir.path().join("runs")).unwrap();
    let names: Vec<_> = runs.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names.iter().all(|name| name.contains("-sim")), "{names:?}");
    assert_eq!(bench.truth().counters.requests, 4 * 2);
}

#[test]
fn a_folder_that_cannot_be_written_is_said_before_the_first_request() {
    let bench = Bench::new();
    fs::write(bench.dir.path().join("file"), "").unwrap();
    fs::create_dir(bench.dir.path().join("full")).unwrap();
    fs::write(bench.dir.path().join("full/mine"), "").unwrap();
    for (out, says) in [
        ("file", "cannot create file"),
        ("file/below/it", "cannot create file/below/it"),
        ("full", "full is not empty"),
        #[cfg(target_os = "linux")]
        ("/proc/run", "cannot create /proc/run"),
    ] {
        let ended = bench.run("sim", &format!("--out {out}"));
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert!(ended.stderr.contains(says), "{}", ended.stderr);
    }
    assert_eq!(bench.truth().counters.requests, 0);
}

#[test]
fn a_folder_that_is_no_run() {
    let bench = Bench::new();
    fs::create_dir(bench.dir.path().join("other")).unwrap();
    let mut report = crate::support::inferometer(bench.dir.path());
    let ended: crate::support::Ended = report.args(["report", "other"]).output().unwrap().into();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    assert!(ended.stderr.contains("cannot read other/run.json"), "{}", ended.stderr);
}

#[test]
fn a_run_that_its_preflight_stopped_is_not_complete() {
    let bench = Bench::new();
    assert_eq!(bench.run("other", "--out run").code, Some(3));
    assert_eq!(json(&bench.dir.path().join("run/run.json"))["state"], "interrupted");
}

#[test]
fn the_client_over_the_whole_run() {
    let bench = Bench::new();
    assert_eq!(bench.run("sim", "-n 4 -c 1,2 --warmup 0 --out run").code, Some(0));
    let read = |name: &str| json(&bench.dir.path().join("run").join(name));
    let (client, cells) = (read("run.json")["client"].take(), read("summary.json")["cells"].take());
    let cells = cells.as_array().unwrap();
    let valid = cells.iter().filter(|cell| cell["client"]["valid"] == true).count();
    let latest = |cell: &serde_json::Value| cell["client"]["health"]["wakeup_lateness"]["p99_ms"].as_f64();
    let latest = cells.iter().filter_map(latest).reduce(f64::max);
    assert_eq!(client["cells"], 2);
    assert_eq!(client["valid_cells"], valid);
    assert_eq!(client["lateness_p99_ms"].as_f64(), latest);
    // One that its preflight stopped measured nothing.
    assert_eq!(bench.run("unknown", "-n 4 --out stopped").code, Some(3));
    assert!(json(&bench.dir.path().join("stopped/run.json"))["client"].is_null());
}
