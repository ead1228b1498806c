//! How cells are measured.

use std::time::Duration;

use inferometer_workload::Cache;

use super::Fault;
use crate::{Blocks, Precision, Protocol, Timeouts};

/// A slice of a block at concurrency above 1: below this, ramp and drain are most of it.
const DEFAULT_SLICE: Duration = Duration::from_secs(10);
/// Blocks that a target may lag behind.
const DEFAULT_MAX_LAG: u32 = 3;
/// How long one trial may hold up the other targets.
const DEFAULT_PATIENCE: Duration = Duration::from_secs(30);

/// The protocol as it was asked for.
#[derive(Default)]
pub(crate) struct ProtocolSpec {
    pub(crate) warmup: Option<u64>,
    pub(crate) retries: Option<u32>,
    pub(crate) seed: Option<u64>,
    pub(crate) cache: Option<Cache>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) first_token_timeout: Option<Duration>,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) grace: Option<Duration>,
    pub(crate) keep_text: bool,
    pub(crate) interleave: Option<Interleave>,
    pub(crate) order_seed: Option<u64>,
    pub(crate) slice: Option<Duration>,
    pub(crate) max_lag: Option<u32>,
    pub(crate) patience: Option<Duration>,
    pub(crate) precision: Option<Precision>,
}

/// How the cells of several targets follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interleave {
    /// Blocks in which the targets take turns.
    Turns,
    /// Blocks in which all targets are asked at once.
    Together,
    /// One cell after the other.
    Off,
}

impl Interleave {
    /// The names, as a plan writes them.
    pub(crate) const NAMES: &[&str] = &["turns", "together", "off"];

    /// By its name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let place = Self::NAMES.iter().position(|known| *known == name)?;
        [Self::Turns, Self::Together, Self::Off].get(place).copied()
    }
}

impl ProtocolSpec {
    /// Requests of a cell that are dropped, where nothing else is asked for.
    pub(crate) const WARMUP: u64 = 3;

    /// The protocol for so many targets; `fresh_seed` is used where no seed was given.
    pub(crate) fn resolve(self, targets: usize, fresh_seed: u64) -> Result<Protocol, Fault> {
        let seed = self.seed.unwrap_or(fresh_seed);
        let timeouts = Timeouts {
            connect: self.connect_timeout.unwrap_or(Duration::from_secs(10)),
            first_token: self.first_token_timeout,
            idle: self.idle_timeout,
            total: self.timeout.unwrap_or(Duration::from_secs(300)),
        };
        for (field, span) in [
            ("timeout", Some(timeouts.total)),
            ("connect_timeout", Some(timeouts.connect)),
            ("first_token_timeout", timeouts.first_token),
            ("idle_timeout", timeouts.idle),
            ("slice", self.slice),
            ("patience", self.patience),
        ] {
            if span.is_some_and(|span| span.is_zero()) {
                return Err(Fault::value(field, "0", "longer than nothing, as in 60s"));
            }
        }
        if self.slice.is_some_and(|slice| slice < DEFAULT_SLICE) {
            return Err(Fault::value(
                "slice",
                "…",
                "at least 10s: less says more of its ends than of a target",
            ));
        }
        Ok(Protocol {
            warmup: self.warmup.unwrap_or(Self::WARMUP),
            retries: self.retries.unwrap_or(0),
            seed,
            cache: self.cache.unwrap_or_default(),
            timeouts,
            grace: self.grace.unwrap_or(Duration::from_secs(30)),
            keep_text: self.keep_text,
            blocks: self.blocks(targets, seed),
            precision: self.precision,
        })
    }

    /// Several targets take turns unless told otherwise; one has nobody to take turns with.
    fn blocks(&self, targets: usize, seed: u64) -> Option<Blocks> {
        let default = if targets > 1 { Interleave::Turns } else { Interleave::Off };
        let interleave = self.interleave.unwrap_or(default);
        (interleave != Interleave::Off).then(|| Blocks {
            order_seed: self.order_seed.unwrap_or(seed),
            slice: self.slice.unwrap_or(DEFAULT_SLICE),
            max_lag: self.max_lag.unwrap_or(DEFAULT_MAX_LAG),
            together: interleave == Interleave::Together,
            patience: self.patience.unwrap_or(DEFAULT_PATIENCE),
        })
    }
}
