//! Cases of tokens, money and prompts.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::harness::{Bench, Outcome, Sample, now, wait_until};

/// Prompts that the server saw, by their hashes.
fn prompts(run: &Outcome) -> BTreeSet<&str> {
    run.truth.requests.iter().map(|record| record.prompt_hash.as_str()).collect()
}

/// A sum of the cell's cost, as it is written.
fn cost<'a>(run: &'a Outcome, place: &str) -> &'a str {
    run.cell()["cost"].pointer(place).and_then(|value| value.as_str()).unwrap_or_default()
}

#[test]
fn c30_running_usage_is_not_summed() {
    let bench = Bench::new();
    for model in ["c30", "c30b"] {
        let run = bench.measure(model, "-n 10 -c 10");
        assert_eq!(run.count("ok"), 10, "{model}");
        for sample in run.measured() {
            assert_eq!((sample.count("input_tokens"), sample.count("output_tokens")), (Some(40), Some(100)));
            assert_eq!(sample.text("tokens_source"), "server", "{model}");
        }
        assert_eq!(run.value("tokens/input"), Some(400.0), "{model}");
        assert_eq!(run.value("tokens/output"), Some(1_000.0), "{model}");
    }
    let running = bench.measure("c30", "-n 1");
    let sample = running.measured().next().unwrap();
    assert_eq!(sample.count("first_chunk_tokens"), Some(10), "differences of usage tell the first chunk");
    assert!(!sample.has_flag("first_chunk_estimated"));
}

#[test]
fn c33_cached_tokens_are_paid_once() {
    let bench = Bench::new();
    let run = bench.measure("c33", "-n 2 -c 2 --price input=1.00,cache_read=0.10,output=4.00");
    let parts = ["cost_usd", "cost_input_usd", "cost_cache_read_usd", "cost_output_usd"];
    for sample in run.measured() {
        assert_eq!(parts.map(|name| sample.text(name)), ["0.0048", "0.002", "0.0008", "0.002"]);
        assert_eq!(sample.count("cache_read_tokens"), Some(8_000));
    }
    let places = ["/total_usd", "/parts_usd/input", "/parts_usd/cache_read", "/parts_usd/output"];
    assert_eq!(places.map(|place| cost(&run, place)), ["0.0096", "0.004", "0.0016", "0.004"]);
    let full = bench.measure("c33", "-n 1 --price input=1.00,output=4.00");
    let sample = full.measured().next().unwrap();
    assert_eq!(sample.text("cost_usd"), "0.012");
    assert!(sample.has_flag("cache_read_at_full_price"), "{:?}", sample.flags());
}

#[test]
fn s03_no_prompt_comes_twice() {
    let bench = Bench::new();
    let first = bench.measure("s03", "-n 100 -c 4 --isl 24 --osl 2");
    assert_eq!(first.count("ok"), 100);
    assert_eq!(first.truth.counters.distinct_prompts, 100);
    assert_eq!(first.value("tokens/cached_share"), Some(0.0));
    let seen: BTreeSet<String> = prompts(&first).into_iter().map(str::to_owned).collect();
    bench.server.reset();
    // Neither another seed nor the same one meets the prompts of the run before.
    let seed = first.manifest["plan"]["protocol"]["seed"].to_string();
    for arguments in ["-n 20 -c 4 --isl 24".to_owned(), format!("-n 20 -c 4 --isl 24 --seed {seed}")] {
        let again = bench.measure("s03", &arguments);
        assert!(prompts(&again).iter().all(|prompt| !seen.contains(*prompt)), "{arguments}");
    }
}

#[test]
fn s03_what_a_cache_served_is_said() {
    let bench = Bench::new();
    let run = bench.measure("s03", "-n 40 -c 4 --cache as-is");
    let distinct = run.truth.counters.distinct_prompts;
    assert!(distinct < 40, "built-in prompts as they are come again");
    let cached = (40 - distinct) as f64 * 6.0 / (40.0 * 7.0);
    assert!((run.value("tokens/cached_share").unwrap() - cached).abs() < 1e-9);
    let warnings = run.cell()["warnings"].to_string();
    assert!(warnings.contains("came from a cache"), "{warnings}");
}

#[test]
fn s03_a_warm_cache_knows_every_prompt() {
    let bench = Bench::new();
    let run = bench.measure("s03", "-n 12 -c 4 --isl 24 --osl 2 --cache warm --warmup 1");
    assert_eq!((run.count("ok"), &run.cell()["counts"]["warmup"]), (12, &13.into()));
    assert_eq!((run.truth.counters.distinct_prompts, run.truth.counters.requests), (13, 25));
    assert!((run.value("tokens/cached_share").unwrap() - 6.0 / 7.0).abs() < 1e-9);
}

#[test]
fn s09_what_nobody_told_is_not_zero() {
    let bench = Bench::new();
    let run = bench.measure("s09", "-n 4 -c 4 --price input=1,output=4");
    for sample in run.measured() {
        for name in ["input_tokens", "output_tokens", "cost_usd", "usage"] {
            assert!(sample.field(name).is_null(), "{name}");
        }
        assert_eq!(sample.text("tokens_source"), "estimated");
        assert!(sample.count("counted_output_tokens").is_some_and(|count| count > 0));
        assert!(sample.field("tpot_ms").is_null() || sample.has_flag("tokens_estimated"));
    }
    assert_eq!((run.value("tokens/output"), cost(&run, "/total_usd")), (None, ""));
    assert_eq!(run.cell()["cost"]["unknown"], 4);
    // A price that nobody named costs nothing that is known.
    let unpriced = bench.measure("c28", "-n 1");
    assert!(unpriced.measured().all(|sample| sample.field("cost_usd").is_null()));
    assert!(unpriced.cell()["cost"]["total_usd"].is_null());
}

#[test]
fn w26_tokens_that_nobody_saw_are_said_aloud() {
    let bench = Bench::new();
    let run = bench.measure("w26", "-n 2 -c 2");
    assert_eq!((run.count("ok"), &run.metric("time_to_first_token")["n"]), (2, &0.into()));
    let warnings = run.cell()["warnings"].to_string();
    assert!(warnings.contains("visible"), "{warnings}");
}

#[test]
fn whole_answers_and_the_older_dialect_say_the_same_tokens() {
    let bench = Bench::new();
    let tokens = |sample: &Sample| ["input_tokens", "output_tokens"].map(|name| sample.count(name));
    let completions = bench.measure("c01", "-n 2 -c 2 --dialect completions");
    completions.check_stamps("completions", completions.measured());
    assert!(completions.truth.counters.paths.contains_key("/v1/completions"));
    let whole = bench.measure("c01", "-n 2 -c 2 --no-stream");
    for sample in completions.measured().chain(whole.measured()) {
        assert_eq!((sample.status(), tokens(sample)), ("ok", [Some(7), Some(5)]));
    }
    for sample in whole.measured() {
        assert!(sample.field("ttft_ms").is_null() && sample.field("tpot_ms").is_null());
        assert!(sample.number("request_latency_ms").unwrap() >= 480.0);
    }
}

/// A dataset of `lines` prompts of 4 KiB, no two alike.
fn dataset(path: &Path, lines: usize) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let filler = "measure ".repeat(505);
    for line in 0..lines {
        writeln!(file, r#"{{"prompt":"{line:08} {filler}"}}"#).unwrap();
    }
    file.flush().unwrap();
}

/// Peak resident memory in MiB of a process, while it lives.
fn peak_mib(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? / 1_024)
}

/// Asks `asked` of `lines` prompts; the time to the first request in seconds, and the peak memory in MiB.
fn read_dataset(lines: usize, asked: u64) -> (f64, u64) {
    let bench = Bench::new();
    // On the disk of the build: the one for small files may be memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("prompts.jsonl");
    dataset(&path, lines);
    let started = now().as_nanos();
    let arguments = format!("--no-preflight -n {asked} -c 16 --dataset");
    let run = bench.run("s12", &arguments).arg(&path).start();
    let status = format!("/proc/{}/status", run.id());
    let mut peak = 0;
    wait_until("all prompts are asked", || {
        peak = std::fs::read_to_string(&status).ok().as_deref().and_then(peak_mib).unwrap_or(0).max(peak);
        bench.server.truth().counters.requests >= asked
    });
    let run = Outcome::read(run.end(), &bench);
    assert_eq!((run.count("ok"), run.truth.counters.distinct_prompts), (asked, asked));
    assert!(peak > 0, "no peak memory in {status}");
    let first = run.truth.requests.iter().map(|record| record.head_ns).min().unwrap();
    ((first - started) as f64 / 1e9, peak)
}

#[test]
fn s12_a_large_dataset_is_a_stream() {
    // Twenty megabytes take no more memory than two hundred kilobytes: a file that is read whole would.
    let (_, small) = read_dataset(50, 50);
    let (start_s, peak) = read_dataset(5_000, 50);
    assert!(start_s < 15.0, "started after {start_s} s");
    assert!(peak < small + 10, "peak memory {peak} MiB for 20 MB, {small} MiB for 0.2 MB");
}

#[test]
fn s12_half_a_million_lines_start_at_once() {
    // A dataset of 2 GB: not in every run of the tests, but in ./test.
    if std::env::var_os("INFEROMETER_FULL").is_none() {
        return;
    }
    let disk = rustix::fs::statvfs(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let free_gb = disk.f_bavail as f64 * disk.f_frsize as f64 / 1e9;
    if free_gb < 3.0 {
        println!("skipped: the dataset of 500,000 lines takes 2 GB of disk, and {free_gb:.1} GB are free");
        return;
    }
    let (start_s, peak) = read_dataset(500_000, 1_000);
    println!("500,000 lines: first request after {start_s:.2} s, peak memory {peak} MiB");
    assert!(start_s < 5.0, "started after {start_s} s");
    assert!(peak < 300, "peak memory {peak} MiB");
}
