//! The progress line: how far a cell has come, on a terminal only.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use inferometer_clock::{Clock, Mono, block_until};
use inferometer_load::Live;

/// Between two looks at the counts: what a person reads as alive, and nothing to a core.
const REFRESH: Duration = Duration::from_millis(200);

/// Where a line ends: whichever bound is reached first.
#[derive(Clone, Copy)]
pub(crate) struct Goal {
    /// So many requests, warm-ups among them.
    pub(crate) requests: Option<u64>,
    /// So long.
    pub(crate) duration: Option<Duration>,
}

/// A progress line that is there until it is dropped.
pub(crate) struct Progress {
    over: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Progress {
    /// Starts a line for what goes on until `goal`; silent where `quiet` or where nobody looks.
    pub(crate) fn start(quiet: bool, title: String, goal: Goal, live: Arc<Live>) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        if quiet || !std::io::stderr().is_terminal() {
            return Self { over, thread: None };
        }
        let line = Line {
            bar: bar(),
            title,
            clock: Clock::monotonic(),
            requests: goal.requests,
            duration: goal.duration,
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

/// A line for a wait of unknown length, there until it is dropped; silent as [`Progress`] is.
pub(crate) struct Waiting(ProgressBar);

impl Waiting {
    /// Shows what is waited for, and since when.
    pub(crate) fn start(quiet: bool, what: &'static str) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let line = ProgressBar::new_spinner().with_message(what);
        // The template is a constant: were it wrong, indicatif's own would show.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
            line.set_style(style);
        }
        line.enable_steady_tick(REFRESH);
        Self(line)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

struct Line {
    bar: ProgressBar,
    title: String,
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
        let counted = self.requests.map(|requests| (ended, requests));
        let left = time_left(elapsed, counted, self.duration).map_or_else(|| "…".to_string(), in_words);
        let message = format!(
            "{ended} ended · {rate:.1}/s · {} in flight · {failed} failed · {left}",
            self.live.in_flight()
        );
        let (title, message) = fit(&self.title, &message, columns());
        self.bar.set_position((share(elapsed, counted, self.duration) * BAR_STEPS as f64) as u64);
        self.bar.set_prefix(title);
        self.bar.set_message(message);
    }
}

/// How far a cell has come towards the nearer of its two bounds, from 0 to 1.
fn share(elapsed: Duration, ended: Option<(u64, u64)>, duration: Option<Duration>) -> f64 {
    let by_count = ended.map_or(0.0, |(ended, requests)| ended as f64 / requests.max(1) as f64);
    let by_time = duration.map_or(0.0, |duration| elapsed.as_secs_f64() / duration.as_secs_f64().max(1e-3));
    by_count.max(by_time).min(1.0)
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

fn in_words(left: Duration) -> String {
    match left.as_secs() {
        seconds if seconds < 120 => format!("{seconds} s left"),
        seconds => format!("{} min left", seconds.div_ceil(60)),
    }
}

/// Steps of the bar: finer than any terminal is wide.
const BAR_STEPS: u64 = 1_000;
/// Columns that the bar should have before a long title gets any more.
const BAR_COLUMNS: usize = 10;
/// Columns of a title that go before the bar's.
const TITLE_COLUMNS: usize = 16;
/// Columns where the terminal does not say.
const DEFAULT_COLUMNS: usize = 80;

fn bar() -> ProgressBar {
    let bar = ProgressBar::new(BAR_STEPS);
    // The template is a constant: were it wrong, indicatif's own would show.
    if let Ok(style) = ProgressStyle::with_template("{prefix} {wide_bar} {msg}") {
        bar.set_style(style.progress_chars("━╸─"));
    }
    bar
}

fn columns() -> usize {
    let size = terminal_size::terminal_size_of(std::io::stderr());
    size.map_or(DEFAULT_COLUMNS, |(width, _)| usize::from(width.0))
}

/// `title` and `message`, cut to go on one line of `columns` with a blank on each side of the bar; the bar takes
/// what they leave. A line that wraps would be drawn again and again below itself.
fn fit(title: &str, message: &str, columns: usize) -> (String, String) {
    let message = cut(message, columns.saturating_sub(2));
    let room = columns.saturating_sub(message.chars().count() + 2);
    let title = cut(title, room.saturating_sub(BAR_COLUMNS).max(room.min(TITLE_COLUMNS)));
    (title, message)
}

/// The first `columns` of `text`, marked where it goes on.
fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_string();
    }
    let kept = text.chars().take(columns.saturating_sub(1)).collect::<String>();
    if kept.is_empty() { kept } else { format!("{}…", kept.trim_end()) }
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

    #[test]
    fn the_share_is_of_the_nearer_bound() {
        let s = Duration::from_secs;
        let check = |ended, duration: Option<u64>, right: f64| {
            assert_eq!(share(s(10), ended, duration.map(s)), right);
        };
        check(Some((50, 100)), None, 0.5);
        check(None, Some(40), 0.25);
        check(Some((50, 100)), Some(40), 0.5);
        check(Some((0, 0)), None, 0.0);
        check(None, Some(5), 1.0);
    }

    #[test]
    fn the_line_fits_every_width() {
        let message = "1234 ended · 98.8/s · 16 in flight · 0 failed · 12 s left";
        for (title, columns, right) in [
            ("sim c4", 80, "sim c4"),
            ("meta-llama/Llama-3.3-70B-Instruct-Turbo c128", 80, "meta-llama/Llam…"),
            (
                "meta-llama/Llama-3.3-70B-Instruct-Turbo c128",
                120,
                "meta-llama/Llama-3.3-70B-Instruct-Turbo c128",
            ),
            ("sim c4", 60, ""),
        ] {
            assert_eq!(fit(title, message, columns), (right.to_string(), message.to_string()));
        }
        for columns in 0..130 {
            let (title, message) = fit("a long title of a long model", message, columns);
            let used = title.chars().count() + message.chars().count() + 2;
            assert!(used <= columns.max(2), "{used} of {columns}: {title} {message}");
        }
    }
}
