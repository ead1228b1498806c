//! The machine that measures: what it is, and what it did to the measurement.

use std::fs;
use std::thread;

use inferometer_clock::{Clock, Mono, Wall};
use serde_json::{Value, json};

/// What the machine is, for the run's manifest.
pub(crate) fn describe() -> Value {
    json!({
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
        "cores": cores(),
        "processor": first_value("/proc/cpuinfo", "model name"),
        "kernel": line("/proc/sys/kernel/osrelease"),
        "clocksource": line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "inferometer": env!("CARGO_PKG_VERSION"),
    })
}

/// A name under which figures of this machine may be kept: another processor, kernel or version is another machine.
pub(crate) fn identity() -> String {
    let parts = [
        first_value("/proc/cpuinfo", "model name").unwrap_or_default(),
        line("/proc/sys/kernel/osrelease").unwrap_or_default(),
        cores().to_string(),
        env!("CARGO_PKG_VERSION").to_string(),
    ];
    parts.join("|")
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn line(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_string())
}

fn first_value(path: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

/// The machine at one instant, to be compared with a later one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    at: Mono,
    wall: Wall,
    ticks: Option<Ticks>,
}

/// Processor time of the whole machine, in the kernel's ticks.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    total: u64,
    steal: u64,
}

impl Moment {
    pub(crate) fn now(clock: &Clock) -> Self {
        let ticks = fs::read_to_string("/proc/stat").ok().and_then(|stat| Ticks::parse(&stat));
        Self { at: clock.now(), wall: Wall::now(), ticks }
    }

    /// Share of the machine's time that went to other guests since then, 0 to 1.
    pub(crate) fn steal_share_until(&self, later: &Moment) -> Option<f64> {
        let (before, after) = (self.ticks?, later.ticks?);
        let total = after.total.checked_sub(before.total).filter(|total| *total > 0)?;
        Some(after.steal.saturating_sub(before.steal) as f64 / total as f64)
    }

    /// How far the wall clock moved against the monotonic one since then, ms.
    pub(crate) fn clock_step_ms_until(&self, later: &Moment) -> f64 {
        let wall = (later.wall.unix_nanos() - self.wall.unix_nanos()) as f64;
        let monotonic = (later.at - self.at).as_nanos() as f64;
        (wall - monotonic).abs() / 1e6
    }
}

impl Ticks {
    /// Reads the first line of `/proc/stat`: user nice system idle iowait irq softirq steal (guest is within user).
    fn parse(stat: &str) -> Option<Self> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = line.split_whitespace().take(8).filter_map(|tick| tick.parse().ok()).collect();
        Some(Self { total: ticks.iter().sum(), steal: *ticks.get(7)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks() {
        let ticks = Ticks::parse("cpu  10 0 20 60 0 0 0 10 5 0\ncpu0 1 2 3\n").unwrap();
        assert_eq!((ticks.total, ticks.steal), (100, 10));
        assert!(Ticks::parse("").is_none());
        assert!(Ticks::parse("cpu  1 2 3").is_none());
    }
}
