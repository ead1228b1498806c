//! A run of the demo, and what its summary says.

use std::path::Path;

use inferometer_app::demo::truth::Planted;
use inferometer_metrics::{CellSummary, Decision, GateResult, Summary, name};

use crate::support::{Ended, inferometer};

/// Runs until one is valid, at most.
const TRIES: u32 = 3;

/// What a run of the demo has seen.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) summary: Summary,
}

impl Seen {
    /// Runs the demo.
    #[track_caller]
    pub(crate) fn of(seed: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut command = inferometer(dir.path());
        command.args(["demo", "--no-progress", "--out", "run", "--seed", &seed.to_string()]);
        let ended: Ended = command.output().unwrap().into();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let text = std::fs::read_to_string(dir.path().join("run/summary.json")).unwrap();
        if let Some(kept) = std::env::var_os("INFEROMETER_KEEP_DEMO") {
            std::fs::write(Path::new(&kept).join(format!("summary-{seed}.json")), &text).unwrap();
            std::fs::write(Path::new(&kept).join(format!("report-{seed}.txt")), &ended.stdout).unwrap();
        }
        Self { summary: serde_json::from_str(&text).unwrap() }
    }

    #[track_caller]
    pub(crate) fn cell(&self, target: &str, load: &str) -> &CellSummary {
        let found = self.summary.cells.iter().find(|cell| cell.target == target && cell.load == load);
        found.unwrap_or_else(|| panic!("no cell of {target} under {load}"))
    }

    #[track_caller]
    pub(crate) fn steady(&self, target: &str) -> &CellSummary {
        self.cell(target, "steady")
    }

    #[track_caller]
    pub(crate) fn decision(&self, profile: &str) -> &Decision {
        let found = self.summary.profiles.iter().find(|decision| decision.profile == profile);
        found.unwrap_or_else(|| panic!("no decision for {profile}"))
    }

    /// Median TTFT over complete answers, ms.
    #[track_caller]
    pub(crate) fn ttft_p50(&self, planted: &Planted) -> f64 {
        let p50 = self.steady(&planted.target()).metrics[name::TTFT].p50.clone();
        p50.and_then(|p50| p50.value).unwrap_or_else(|| panic!("{} has no TTFT", planted.target())).get()
    }

    /// The constraints of `profile` that `target` is shown to miss.
    #[track_caller]
    pub(crate) fn missed(&self, profile: &str, target: &str) -> Vec<String> {
        let candidates = &self.decision(profile).candidates;
        let candidate = candidates.iter().find(|candidate| candidate.target == target).unwrap();
        let missed = candidate.constraints.iter().filter(|gate| gate.result == GateResult::Missed);
        missed.map(|gate| gate.gate.clone()).collect()
    }

    /// Runs the demo, again where this machine was too busy with something else for its figures to be valid.
    #[track_caller]
    pub(crate) fn valid(seed: u64) -> Self {
        let mut faults = Vec::new();
        for _ in 0..TRIES {
            let seen = Self::of(seed);
            faults = seen.faults();
            if faults.is_empty() {
                return seen;
            }
        }
        panic!("{TRIES} runs, none of them valid; the last: {faults:#?}");
    }

    /// What makes a cell not worth checking.
    fn faults(&self) -> Vec<String> {
        let is_whole =
            |cell: &&CellSummary| cell.client.valid && cell.gap.is_none() && cell.counts.missing == 0;
        let faulty = self.summary.cells.iter().filter(|cell| !is_whole(cell));
        let said = |cell: &CellSummary| {
            let (target, load, missing) = (&cell.target, &cell.load, cell.counts.missing);
            format!("{target} under {load}: {:?}, {:?}, {missing} missing", cell.client.reasons, cell.gap)
        };
        faulty.map(said).collect()
    }
}
