//! The kept self-check: one file for each user, good for one machine and version.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::SelfCheck;
use crate::machine;

#[derive(Serialize, Deserialize)]
struct Kept {
    machine: String,
    self_check: SelfCheck,
}

/// The self-check that was kept of this machine.
pub(super) fn load() -> Option<SelfCheck> {
    let text = fs::read_to_string(path()?).ok()?;
    let kept: Kept = serde_json::from_str(&text).ok()?;
    (kept.machine == machine::identity()).then_some(kept.self_check)
}

/// Keeps `checked`, unless the machine was so busy that it held no rate at all: the next run then looks again. A cache that cannot be written only costs the next run its time.
pub(super) fn store(checked: &SelfCheck) {
    if checked.requests_per_s.is_none() {
        return;
    }
    let kept = Kept { machine: machine::identity(), self_check: checked.clone() };
    let (Some(path), Ok(text)) = (path(), serde_json::to_string_pretty(&kept)) else { return };
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
        // Renamed into place: two runs that check at once leave one whole file.
        let fresh = path.with_extension(format!("{}.tmp", std::process::id()));
        fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, &path))
    });
    if let Err(error) = written {
        crate::console::say(&format!("the self-check could not be kept in {}: {error}", path.display()));
    }
}

fn path() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    Some(cache?.join("inferometer").join("self-check.json"))
}
