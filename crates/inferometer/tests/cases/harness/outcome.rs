//! What a run left: its folder, its output, and the server's truth beside it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use inferometer_sim::{Record, Truth};
use serde_json::Value;

use super::{Bench, Left, Sample, is_quiet};

/// What the server may take to notice that its client is gone.
const SETTLE: Duration = Duration::from_secs(5);

/// Where each byte is its own write, the server stamps the last byte of an event's chunk: its reader has all of the event
/// a few bytes before, and the server may have been held up between them.
const BYTE_BY_BYTE_NS: u64 = 50_000_000;

/// Failures by the names of `counts`.
const FAILED: [&str; 6] = ["http_error", "stream_error", "truncated", "timeout", "transport", "protocol"];

/// A run that has ended and left a report.
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) dir: PathBuf,
    pub(crate) samples: Vec<Sample>,
    pub(crate) summary: Value,
    pub(crate) manifest: Value,
    pub(crate) truth: Truth,
}

impl Outcome {
    /// Reads the folder, and holds it to what is true of every run.
    #[track_caller]
    pub(crate) fn read(left: Left, bench: &Bench) -> Self {
        let Left { ended, out } = left;
        let (samples, summary) = (lines(&out.join("samples.jsonl")), out.join("summary.json"));
        assert!(summary.exists(), "no summary: {ended:?}");
        let outcome = Self {
            code: ended.code.unwrap_or(-1),
            samples: samples.into_iter().map(Sample).collect(),
            summary: strict(&fs::read_to_string(summary).unwrap()),
            manifest: strict(&fs::read_to_string(out.join("run.json")).unwrap()),
            truth: bench.server.settled(SETTLE),
            stdout: ended.stdout,
            stderr: ended.stderr,
            dir: out,
        };
        outcome.check();
        outcome
    }

    /// What holds for every run: strict JSON, one final attempt a request, and counts that are the samples'.
    #[track_caller]
    fn check(&self) {
        let printed = strict(&self.stdout);
        assert_eq!(printed["cells"], self.summary["cells"], "what is printed is what is kept");
        let events = self.dir.join("events.jsonl");
        if events.exists() {
            lines(&events);
        }
        let mut finals: BTreeMap<u64, u32> = BTreeMap::new();
        let mut by_status: BTreeMap<&str, u64> = BTreeMap::new();
        for sample in self.measured() {
            *finals.entry(sample.count("request").unwrap()).or_default() += u32::from(sample.is_final());
            if sample.is_final() {
                *by_status.entry(sample.status()).or_default() += 1;
            }
        }
        assert!(finals.values().all(|count| *count == 1), "one final attempt each: {finals:?}");
        let of = |name: &str| by_status.get(name).copied().unwrap_or_default();
        let failed: u64 = FAILED.into_iter().map(of).sum();
        let cancelled = of("cancelled") + of("client_limit");
        assert_eq!(of("ok") + failed + cancelled, finals.len() as u64, "{by_status:?}");
        let sum = |name: &str| self.cells().map(|cell| cell["counts"][name].as_u64().unwrap()).sum::<u64>();
        let told = ["issued", "ok", "failed", "cancelled"].map(sum);
        assert_eq!(told, [finals.len() as u64, of("ok"), failed, cancelled], "{by_status:?}");
        for name in FAILED {
            assert_eq!(sum(name), of(name), "{name}");
        }
        assert_no_negative(&self.summary, "summary");
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = &Value> {
        self.summary["cells"].as_array().unwrap().iter()
    }

    /// The only cell.
    #[track_caller]
    pub(crate) fn cell(&self) -> &Value {
        let mut cells = self.cells();
        let cell = cells.next().unwrap();
        assert!(cells.next().is_none(), "several cells");
        cell
    }

    /// A count of the only cell.
    #[track_caller]
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.cell()["counts"][name].as_u64().unwrap_or_else(|| panic!("no count {name}"))
    }

    /// A figure of the only cell.
    #[track_caller]
    pub(crate) fn metric(&self, name: &str) -> &Value {
        let metrics = &self.cell()["metrics"];
        metrics.get(name).unwrap_or_else(|| panic!("no metric {name} in {metrics}"))
    }

    /// A value of the only cell, by its place: `throughput/peak`.
    #[track_caller]
    pub(crate) fn value(&self, place: &str) -> Option<f64> {
        let found = self.cell().pointer(&format!("/{place}"));
        found.unwrap_or_else(|| panic!("nothing at {place} in {}", self.cell())).as_f64()
    }

    /// Attempts of the measured phase.
    pub(crate) fn measured(&self) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(|sample| sample.text("phase") == "measure")
    }

    /// Attempts that ended so.
    pub(crate) fn with_status<'a>(&'a self, status: &'a str) -> impl Iterator<Item = &'a Sample> {
        self.measured().filter(move |sample| sample.status() == status)
    }

    /// An instant of a sample on the clock that both processes read.
    #[track_caller]
    pub(crate) fn instant(&self, sample: &Sample, name: &str) -> Option<u64> {
        let origin = self.manifest["segments"][0]["monotonic_origin_ns"].as_u64().unwrap();
        Some(origin + sample.count(name)?)
    }

    /// What the server did for the attempt.
    pub(crate) fn record(&self, sample: &Sample) -> Option<&Record> {
        let ordinal: u64 = sample.text("server_request_id").strip_prefix("sim-")?.parse().ok()?;
        self.truth.requests.iter().find(|record| record.ordinal == ordinal)
    }

    /// Holds first, answer and last output event of `samples` to the server's writes of the same: never before one, and
    /// half of them within 4 ms after it where nothing else runs (a build without optimisation, on two cores); beside
    /// other tests only no later than those can delay it. Where an answer failed, its reader may have stopped before its
    /// end.
    #[track_caller]
    pub(crate) fn check_stamps<'a>(&self, what: &str, samples: impl IntoIterator<Item = &'a Sample>) {
        self.check_stamps_within(if is_quiet() { 4 } else { 250 }, what, samples);
    }

    /// As [`Outcome::check_stamps`], with half of them within `median_ms`.
    #[track_caller]
    pub(crate) fn check_stamps_within<'a>(
        &self,
        median_ms: u64,
        what: &str,
        samples: impl IntoIterator<Item = &'a Sample>,
    ) {
        let early_ns = if what.contains("w66") { BYTE_BY_BYTE_NS } else { 0 };
        let mut late_ns: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for sample in samples {
            let record = self.record(sample).unwrap_or_else(|| panic!("{what}: no record of {}", sample.0));
            let pairs = [
                ("first_ns", record.first_output_ns),
                ("answer_ns", record.first_answer_ns.filter(|_| !sample.field("answer_ns").is_null())),
                ("last_ns", record.last_output_ns.filter(|_| sample.status() == "ok")),
            ];
            for (name, wrote) in pairs {
                let read =
                    self.instant(sample, name).filter(|_| sample.status() == "ok" || name != "last_ns");
                assert_eq!(read.is_some(), wrote.is_some(), "{what}: {name} of {}", sample.0);
                let Some((read, wrote)) = read.zip(wrote) else { continue };
                assert!(read + early_ns >= wrote, "{what}: {name} read {} ns before its write", wrote - read);
                late_ns.entry(name).or_default().push(read.saturating_sub(wrote));
            }
        }
        for (name, mut late_ns) in late_ns {
            late_ns.sort_unstable();
            let median_ns = late_ns[(late_ns.len() - 1) / 2];
            assert!(
                median_ns <= median_ms * 1_000_000,
                "{what}: {name} half the time more than {median_ns} ns after its write: {late_ns:?}"
            );
        }
    }
}

/// A JSON text by a strict parser: no bare NaN or Infinity passes.
#[track_caller]
pub(crate) fn strict(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// The lines of a JSONL file, each strict JSON and whole.
#[track_caller]
pub(crate) fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(text.is_empty() || text.ends_with('\n'), "a torn line in {}", path.display());
    text.lines().map(strict).collect()
}

/// Nothing that is counted or timed is below zero; interval bounds of differences may be.
#[track_caller]
fn assert_no_negative(value: &Value, place: &str) {
    match value {
        Value::Number(number) => {
            let may_be = ["/lo", "change_ms", "residual"].iter().any(|end| place.contains(end));
            assert!(may_be || number.as_f64().unwrap() >= 0.0, "{place} is {number}");
        }
        Value::Array(values) => values.iter().for_each(|value| assert_no_negative(value, place)),
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| assert_no_negative(value, &format!("{place}/{name}")));
        }
        _ => {}
    }
}
