//! `self-check`: how well this machine can measure.
//!
//! The same runner that measures a provider measures a simulated one whose truth is known, in a process of its own. What
//! comes out is a property of this machine and version: it is kept under the user's cache folder and every run carries
//! it.

mod cache;
mod figures;
mod measure;
mod provider;

use clap::Args;
use inferometer_metrics::Ceiling;
use serde_json::Value;

pub(crate) use figures::SelfCheck;

use crate::console::say;
use crate::{Error, Exit, console};

/// Arguments of `self-check`.
#[derive(Args, Clone, Debug)]
pub struct SelfCheckCommand {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Measures this machine, prints and keeps the result.
pub fn self_check(command: &SelfCheckCommand) -> Result<Exit, Error> {
    let checked = measure::measure()?;
    cache::store(&checked);
    let text = if command.json {
        format!("{:#}\n", serde_json::to_value(&checked).unwrap_or_default())
    } else {
        checked.to_string()
    };
    console::print(&text)?;
    Ok(Exit::Done)
}

/// The kept self-check of this machine; measured now where there is none, or where `again` asks for it.
pub(crate) fn of_this_machine(again: bool) -> Result<Value, Error> {
    let kept = if again { None } else { cache::load() };
    let checked = if let Some(checked) = kept {
        checked
    } else {
        say("measuring how well this machine can measure (once; --self-check repeats it)");
        let checked = measure::measure()?;
        cache::store(&checked);
        checked
    };
    Ok(serde_json::to_value(&checked).unwrap_or_default())
}

/// What a cell is held against.
pub(crate) fn ceiling(self_check: &Value) -> Option<Ceiling> {
    let checked: SelfCheck = serde_json::from_value(self_check.clone()).ok()?;
    Some(Ceiling {
        requests_per_s: checked.requests_per_s,
        events_per_s: checked.events_per_s,
        stamp_error_p99_ms: checked.stamp_error.p99_us.map(|us| us / 1e3),
    })
}
