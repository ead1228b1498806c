//! The verdict on an answer, and what it rests on.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::evidence;

/// What an answer is worth, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Worth having.
    Valid,
    /// Worth having where the workload says so.
    Degraded,
    /// The checks could not run.
    Unverifiable,
    /// Not worth having.
    Invalid,
}

impl Verdict {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Valid => "valid",
            Verdict::Degraded => "degraded",
            Verdict::Unverifiable => "unverifiable",
            Verdict::Invalid => "invalid",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The verdict on one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The worst that was found.
    pub verdict: Verdict,
    /// Names of all that was found: what decided the verdict comes first, what is merely worth knowing last.
    pub flags: Vec<&'static str>,
    /// What the flags rest on, `flag: words`, at most [`crate::EVIDENCE_CHARS_MAX`] characters each. Holds text of the answer.
    pub evidence: Vec<String>,
    /// Whether the answer passed the workload's check; `None` where there is none, or it could not run.
    pub grade: Option<bool>,
}

/// What one check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) verdict: Verdict,
    /// A stable lower-case name.
    pub(crate) flag: &'static str,
    /// What it rests on, where the flag alone does not say it.
    pub(crate) evidence: Option<String>,
}

impl Finding {
    /// Worth knowing, no reason against the answer.
    pub(crate) const fn note(flag: &'static str) -> Finding {
        Finding { verdict: Verdict::Valid, flag, evidence: None }
    }

    pub(crate) const fn degraded(flag: &'static str) -> Finding {
        Finding { verdict: Verdict::Degraded, flag, evidence: None }
    }

    pub(crate) const fn invalid(flag: &'static str) -> Finding {
        Finding { verdict: Verdict::Invalid, flag, evidence: None }
    }

    pub(crate) const fn unverifiable(flag: &'static str) -> Finding {
        Finding { verdict: Verdict::Unverifiable, flag, evidence: None }
    }

    /// The same, with what it rests on.
    pub(crate) fn because(self, why: fmt::Arguments<'_>) -> Finding {
        let evidence = Some(evidence::bounded(format_args!("{}: {why}", self.flag)));
        Finding { evidence, ..self }
    }
}
