//! What the answer is worth, into its sample.

use inferometer_judge::{self as judge, Expect};
use inferometer_record::{Sample, Verdict};

use crate::finished::Finished;

/// Judges the answer of `finished`; one that never came is not judged.
pub(crate) fn judge(sample: &mut Sample, finished: &Finished, streaming: bool) {
    let Some(answer) = &finished.seen.answer else { return };
    let judgement = judge::judge(answer, &Expect { streaming, max_tokens: finished.prepared.max_tokens });
    sample.verdict = Some(match judgement.verdict {
        judge::Verdict::Degraded => Verdict::Degraded,
        judge::Verdict::Invalid => Verdict::Invalid,
        judge::Verdict::Unverifiable => Verdict::Unverifiable,
        judge::Verdict::Valid => Verdict::Valid,
    });
    sample.verdict_flags = judgement.flags.iter().map(ToString::to_string).collect();
}
