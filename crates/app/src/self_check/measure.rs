//! The measurements, each a small run of the runner itself.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use inferometer_clock::{Clock, Mono, Pacer, Wall, block_until};
use inferometer_load::{Control, Runner, Sink, SinkError};
use inferometer_plan::{Counts, Plan, Rates, RunFlags, Span};
use inferometer_record::{Events, Sample, Status};
use inferometer_transport::Environment;
use inferometer_workload::Prompts;

use super::figures::{AtRate, Micros, SelfCheck};
use super::provider::Provider;
use crate::Error;

/// Rates at which a pacer's lateness is looked at.
const WAKEUP_RATES: [u32; 3] = [100, 1_000, 5_000];
/// Rates of requests that are tried, until one is not held.
const REQUEST_RATES: [u32; 5] = [200, 1_000, 2_000, 4_000, 8_000];
/// How long each rate is looked at.
const LOOK: Duration = Duration::from_millis(400);
/// A rate counts as held while p99 of schedule lag stays under this.
const HELD_LAG_US: f64 = 1_000.0;
/// Streams open at once when memory is measured.
const OPEN_STREAMS: u32 = 500;
/// Between two looks at our own memory.
const MEMORY_LOOK: Duration = Duration::from_millis(20);

/// Measures this machine: about six seconds.
pub(super) fn measure() -> Result<SelfCheck, Error> {
    let wakeup = WAKEUP_RATES.into_iter().map(wakeup).collect::<Result<_, _>>()?;
    let schedule_lag = schedule_lag()?;
    let held = |rate: &&AtRate| rate.lateness.p99_us.is_some_and(|us| us < HELD_LAG_US);
    Ok(SelfCheck {
        at: Wall::now().to_string(),
        wakeup,
        requests_per_s: schedule_lag.iter().rfind(held).map(|rate| rate.per_s),
        schedule_lag,
        stamp_error: stamp_error()?,
        events_per_s: events_per_s()?,
        stream_kib: stream_kib()?,
    })
}

/// How late a pacer wakes at `rate` a second.
fn wakeup(rate: u32) -> Result<AtRate, Error> {
    let failed = |source| Error::System { doing: "measuring wake-ups", source };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let late = runtime.block_on(async {
        let clock = Clock::monotonic();
        let mut pacer = Pacer::new(&clock)?;
        let (gap, started) = (Duration::from_secs(1) / rate, clock.now());
        let mut late = Vec::new();
        for due in (1..).map(|beat| started + gap * beat).take_while(|due| *due - started < LOOK) {
            pacer.wait_until(due).await?;
            late.push((clock.now() - due).as_secs_f64() * 1e6);
        }
        Ok(late)
    });
    Ok(AtRate { per_s: f64::from(rate), lateness: Micros::of(late.map_err(failed)?) })
}

/// How late requests start, rate by rate, up to the first that is not held.
fn schedule_lag() -> Result<Vec<AtRate>, Error> {
    let provider = Provider::start(&["--ttft", "0ms", "--tokens", "1"])?;
    let mut rates = Vec::new();
    for rate in REQUEST_RATES {
        let flags = RunFlags {
            request_rate: Some(Rates(vec![f64::from(rate)])),
            duration: Some(Span(LOOK)),
            ..flags(&provider)
        };
        let lags =
            samples(&flags)?.iter().filter_map(|sample| sample.schedule_lag_ms).map(|ms| ms * 1e3).collect();
        let lateness = Micros::of(lags);
        rates.push(AtRate { per_s: f64::from(rate), lateness });
        if lateness.p99_us.is_none_or(|us| us >= HELD_LAG_US) {
            break;
        }
    }
    Ok(rates)
}

/// Our stamp of the first event − the simulator's write of it.
fn stamp_error() -> Result<Micros, Error> {
    let provider = Provider::start(&["--ttft", "50ms", "--rate", "100", "--tokens", "50"])?;
    let flags = RunFlags { concurrency: Some(Counts(vec![64])), requests: Some(128), ..flags(&provider) };
    let (samples, truth) = (samples_from(&flags, Mono::from_nanos(0))?, provider.first_writes()?);
    let error = |sample: &Sample| {
        let written = truth.get(sample.server_request_id.as_ref()?)?;
        Some((sample.first_ns? as f64 - *written as f64) / 1e3)
    };
    Ok(Micros::of(samples.iter().filter_map(error).collect()))
}

/// Streamed events a second, as fast as they come.
fn events_per_s() -> Result<Option<f64>, Error> {
    let provider = Provider::start(&["--ttft", "0ms", "--rate", "flood", "--tokens", "2000"])?;
    let flags = RunFlags { concurrency: Some(Counts(vec![16])), requests: Some(64), ..flags(&provider) };
    let samples = samples(&flags)?;
    let events: u64 = samples.iter().map(|sample| sample.chunks).sum();
    let first = samples.iter().filter_map(|sample| sample.start_ns).min();
    let last = samples.iter().filter_map(|sample| sample.end_ns).max();
    let span = first.zip(last).map(|(first, last)| last.saturating_sub(first)).filter(|span| *span > 0);
    Ok(span.map(|span| events as f64 * 1e9 / span as f64))
}

/// Resident memory of one more open stream.
fn stream_kib() -> Result<Option<f64>, Error> {
    let provider = Provider::start(&["--ttft", "700ms", "--tokens", "1"])?;
    let flags = RunFlags {
        concurrency: Some(Counts(vec![OPEN_STREAMS])),
        requests: Some(u64::from(OPEN_STREAMS)),
        ramp: Some(Span(Duration::from_millis(200))),
        ..flags(&provider)
    };
    let before = resident_kib();
    let over = Arc::new(AtomicBool::new(false));
    let watcher = thread::spawn({
        let over = over.clone();
        move || most_resident_kib(&over)
    });
    let ran = samples(&flags);
    over.store(true, Ordering::Relaxed);
    let most = watcher.join().ok().flatten();
    ran?;
    Ok(before.zip(most).map(|(before, most)| most.saturating_sub(before) as f64 / f64::from(OPEN_STREAMS)))
}

fn most_resident_kib(over: &AtomicBool) -> Option<u64> {
    let clock = Clock::monotonic();
    let mut most = None;
    while !over.load(Ordering::Relaxed) {
        most = most.max(resident_kib());
        block_until(clock.now() + MEMORY_LOOK);
    }
    most
}

fn resident_kib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn flags(provider: &Provider) -> RunFlags {
    RunFlags {
        url: Some(provider.base().to_string()),
        model: Some("sim".to_string()),
        seed: Some(1),
        ..RunFlags::default()
    }
}

/// The ok samples of a run of `flags`, with times from the run's own origin.
fn samples(flags: &RunFlags) -> Result<Vec<Sample>, Error> {
    samples_from(flags, Clock::monotonic().now())
}

/// The ok samples of a run of `flags`, with times from `origin`.
fn samples_from(flags: &RunFlags, origin: Mono) -> Result<Vec<Sample>, Error> {
    let plan: Plan = flags.resolve(|_| None, 1)?;
    let mut kept = Kept(Vec::new());
    for cell in plan.cells() {
        let wanted = cell.load.stop.requests;
        let prompts = Prompts::prepare(&cell.workload.source, wanted, 1, "self-check", plan.protocol.cache)?;
        let mut runner = Runner::new(&plan, "self-check", origin, Environment::default(), Control::default());
        runner.measure(cell, &prompts, &mut kept)?;
    }
    Ok(kept.0)
}

/// Keeps the ok samples of a run.
struct Kept(Vec<Sample>);

impl Sink for Kept {
    fn accept(&mut self, sample: Sample, _events: Option<Events>) -> Result<(), SinkError> {
        if sample.status == Status::Ok {
            self.0.push(sample);
        }
        Ok(())
    }

    fn tick(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}
