//! What the answer is worth, into its sample.

use inferometer_judge::{self as judge, Expect, Parameters};
use inferometer_plan::{Cell, Secrets};
use inferometer_record::{Sample, Verdict};
use inferometer_wire::{Answer, Spelling, Transcript};

use crate::finished::Finished;

/// Judges and grades the answer of `finished`, in the light of what `cell` asked for; one that never came is not
/// judged. Comes after the counting: the count of the answer is part of what is judged.
pub(crate) fn judge(sample: &mut Sample, finished: &Finished, cell: Cell<'_>, secrets: &Secrets) {
    let Some(answer) = &finished.seen.answer else { return };
    let item = &finished.prepared.item;
    let judgement = judge::judge(
        answer,
        &Expect {
            max_tokens: finished.prepared.max_tokens,
            prompt: &item.prompt.text(),
            model: &cell.target.model,
            parameters: Parameters { prompt: Some(&item.parameters), target: Some(&cell.target.extra) },
            think_tags: cell.target.think_tags,
            counted_output: sample.counted_output_tokens,
            grader: item.grader.as_deref(),
        },
    );
    sample.verdict = Some(match judgement.verdict {
        judge::Verdict::Degraded => Verdict::Degraded,
        judge::Verdict::Invalid => Verdict::Invalid,
        judge::Verdict::Unverifiable => Verdict::Unverifiable,
        judge::Verdict::Valid => Verdict::Valid,
    });
    sample.verdict_flags = judgement.flags.iter().map(ToString::to_string).collect();
    if !judgement.evidence.is_empty() && is_clean(answer, secrets) {
        sample.verdict_evidence = judgement.evidence;
    }
    sample.grade = judgement.grade;
}

/// Whether no secret stands in what evidence may quote. It quotes pieces, and half a key would not be known for one.
fn is_clean(answer: &Answer, secrets: &Secrets) -> bool {
    let named = [&answer.model, &answer.finish_reason, &answer.id].into_iter().flatten();
    let mut named = named.map(|name| secrets.redact(name) == *name);
    named.all(|is_clean| is_clean) && answer.transcripts().all(|said| is_clean_said(said, secrets))
}

fn is_clean_said(said: &Transcript, secrets: &Secrets) -> bool {
    let tools = said.tools.iter().flat_map(|call| [&call.name, &call.id, &call.arguments]);
    let texts = [&said.content, &said.reasoning, &said.refusal];
    let spelt = match &said.spelling {
        Spelling::Bytes(bytes) => String::from_utf8_lossy(bytes),
        Spelling::Absent | Spelling::Unreadable => "".into(),
    };
    let mut texts = texts.into_iter().chain(tools);
    texts.all(|text| secrets.redact(text) == *text) && secrets.redact(&spelt) == spelt
}
