//! The progress line: how far a cell has come, on a terminal only.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use inferometer_clock::{Clock, Mono, block_until};
use inferometer_load::Live;
use inferometer_plan::Load;

/// Between two looks at the counts: what a person reads as alive, and nothing to a core.
const REFRESH: Duration = Duration::from_millis(200);

/// A progress line that is there until it is dropped.
pub(crate) struct Progress {
    over: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Progress {
    /// Starts a line for a cell under `load`; silent where `quiet` or where nobody looks.
    pub(crate) fn start(quiet: bool, title: String, load: &Load, warmup: u64, live: Arc<Live>) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        if quiet || !std::io::stderr().is_terminal() {
            return Self { over, thread: None };
        }
        let line = Line {
            bar: bar(load, title),
            clock: Clock::monotonic(),
            requests: load.stop.requests.map(|requests| requests + warmup),
            duration: load.stop.duration,
            before: (live.ended(), live.failed()),
            live,
        };
        let seen = over.clone();
        let thread =
            thread::Builder::new().name("progress".to_string()).spawn(move || line.show_until(&seen));
        Self { over, thread: thread.ok() }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The line is only for the eye: should its thread have panicked, nothing is lost.
            let _ = thread.join();
        }
    }
}

struct Line {
    bar: ProgressBar,
    clock: Clock,
    requests: Option<u64>,
    duration: Option<Duration>,
    before: (u64, u64),
    live: Arc<Live>,
}

impl Line {
    fn show_until(&self, over: &AtomicBool) {
        let started = self.clock.now();
        while !over.load(Ordering::Relaxed) {
            self.show(started);
            block_until(self.clock.now() + REFRESH);
        }
        self.bar.finish_and_clear();
    }

    fn show(&self, started: Mono) {
        let elapsed = self.clock.now() - started;
        let ended = self.live.ended() - self.before.0;
        let failed = self.live.failed() - self.before.1;
        let rate = ended as f64 / elapsed.as_secs_f64().max(1e-3);
        let left = time_left(elapsed, self.requests.map(|requests| (ended, requests)), self.duration);
        let left = left.map_or_else(|| "…".to_string(), |left| format!("{:.0} s left", left.as_secs_f64()));
        self.bar.set_position(match self.requests {
            Some(_) => ended,
            None => elapsed.as_millis() as u64,
        });
        self.bar.set_message(format!(
            "{ended} ended · {} in flight · {failed} failed · {rate:.1}/s · {left}",
            self.live.in_flight()
        ));
    }
}

/// Time until the first of the two bounds is reached, at the pace so far.
fn time_left(elapsed: Duration, ended: Option<(u64, u64)>, duration: Option<Duration>) -> Option<Duration> {
    let by_count = ended
        .filter(|(ended, _)| *ended > 0)
        .map(|(ended, requests)| elapsed.mul_f64(requests.saturating_sub(ended) as f64 / ended as f64));
    let by_time = duration.map(|duration| duration.saturating_sub(elapsed));
    match (by_count, by_time) {
        (Some(count), Some(time)) => Some(count.min(time)),
        (left, None) | (None, left) => left,
    }
}

fn bar(load: &Load, title: String) -> ProgressBar {
    let len = load.stop.requests.or(load.stop.duration.map(|duration| duration.as_millis() as u64));
    let bar = ProgressBar::new(len.unwrap_or(0));
    // The template is a constant: were it wrong, indicatif's own would show.
    if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:20}] {msg}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_prefix(title);
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_the_nearer_bound() {
        let s = Duration::from_secs;
        let check = |ended, duration, right: Option<u64>| {
            assert_eq!(time_left(s(10), ended, duration), right.map(s));
        };
        check(Some((50, 100)), None, Some(10));
        check(Some((0, 100)), None, None);
        check(None, Some(s(30)), Some(20));
        check(Some((50, 100)), Some(s(12)), Some(2));
        check(Some((100, 100)), None, Some(0));
    }
}
