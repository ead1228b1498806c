//! Is this answer worth having: validity checks on one finished answer.
//!
//! Each check is one small function and one row of a table. The rows stand in order of precedence: transport, then
//! termination, then content. An answer that never came whole is judged by its transport alone, since every later
//! check would only find the same lack again. Of what is found, the worst verdict counts; its flag comes first.

mod check;
mod content;
mod termination;
mod transport;

use std::fmt;

use inferometer_wire::Answer;
use serde::{Deserialize, Serialize};

pub use check::{Check, CheckError, Grade, Grader};

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

/// What was asked for, as far as the checks need it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// Whether a stream was asked for.
    pub streaming: bool,
    /// The most tokens that were asked for.
    pub max_tokens: Option<u32>,
}

/// What one check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Finding {
    verdict: Verdict,
    /// A stable lower-case name.
    flag: &'static str,
}

impl Finding {
    const fn degraded(flag: &'static str) -> Finding {
        Finding { verdict: Verdict::Degraded, flag }
    }

    const fn invalid(flag: &'static str) -> Finding {
        Finding { verdict: Verdict::Invalid, flag }
    }

    const fn unverifiable(flag: &'static str) -> Finding {
        Finding { verdict: Verdict::Unverifiable, flag }
    }
}

/// The verdict on one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The worst that was found.
    pub verdict: Verdict,
    /// All that was found; what decided the verdict comes first.
    pub flags: Vec<&'static str>,
}

type Rule = fn(&Answer, &Expect) -> Option<Finding>;

/// Whether the answer came whole. Something found here ends the judgement.
const TRANSPORT: [Rule; 1] = [transport::outcome];

/// Checks of an answer that came whole, in order of precedence. A further check is a row here.
const WHOLE: [Rule; 3] = [termination::finish, content::empty, content::invisible];

/// Judges one finished answer.
pub fn judge(answer: &Answer, expect: &Expect) -> Judgement {
    let run = |checks: &[Rule]| -> Vec<Finding> {
        checks.iter().filter_map(|check| check(answer, expect)).collect()
    };
    let mut findings = run(&TRANSPORT);
    if findings.is_empty() {
        findings = run(&WHOLE);
    }
    // Stable: findings of one verdict stay in order of precedence.
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.verdict));
    Judgement {
        verdict: findings.first().map_or(Verdict::Valid, |finding| finding.verdict),
        flags: findings.iter().map(|finding| finding.flag).collect(),
    }
}

#[cfg(test)]
mod tests;
