//! Is this answer worth having: validity checks on one finished answer, and the checks that a workload names.
//!
//! [`judge`] takes an answer and what was asked for ([`Expect`]), and gives a verdict, flags, the evidence they rest
//! on and, where the workload has a check ([`Grader`]), a grade. Each rule is one small function and one row of a
//! table. The rows stand in order of precedence: transport, envelope, termination, channel, content, task. An answer
//! that never came whole is judged by its transport alone, since every later rule would only find the same lack
//! again. Of what is found, the worst verdict counts; its flag comes first. What is merely worth knowing (a *note*)
//! leaves the verdict as it is. Each kind of finding has an id, by which the rules name it (`v.` in front). Rules
//! that need to know what was asked for are silent where that is not known.
//!
//! | id | what is looked for | flag | verdict | stays silent on |
//! |---|---|---|---|---|
//! | http200.error_body | 200 with an error in it | `stream_error`, `protocol` | invalid | Azure's first chunk, the usage chunk |
//! | http200.no_delta | a stream that carried nothing | `no_delta` | invalid | an answer that stops at its first token |
//! | finish.missing | no finish reason | `no_finish_reason` | degraded | |
//! | finish.length | stopped by the limit | `capped` | degraded; invalid for a task | |
//! | finish.cap_as_stop | stopped by the limit, said to have stopped by itself | `cap_as_stop` | degraded | a count at the limit alone |
//! | finish.tool_mismatch | finish reason and tool calls differ | `finish_tool_mismatch` | degraded | `stop` where a tool was forced |
//! | finish.nonstandard | a finish reason of another interface; one nobody knows | `finish_nonstandard`; `finish_unknown` | note; degraded | |
//! | stream.no_done | an end that nothing announced | `truncated` | invalid | a stream that ends with a finish reason |
//! | stream.cut_tool | arguments of a tool cut short | `tool_arguments_cut` | invalid | no arguments |
//! | content.empty | no text, tool call, refusal | `empty`, `whitespace_only` | invalid | tool calls alone |
//! | content.reasoning_only | reasoning and no answer | `reasoning_only` | invalid | |
//! | content.tokens_vanished | tokens counted, nothing seen | `output_invisible` | invalid | hidden reasoning |
//! | reasoning.unfinished | stopped in the midst of reasoning | `reasoning_unfinished` | invalid | reasoning that ends in a full stop |
//! | reasoning.misfiled | the answer stands in the reasoning | `reasoning_misfiled` (switched off); `answer_in_reasoning` | invalid; note | an answer that says it too |
//! | leak.think_tag | think tags in the text | `think_tag_leaked` | degraded | prompts about tags, quoted tags, agreed tags |
//! | leak.special | control tokens in the text; in a tool's name | `special_token_leaked` | degraded; invalid | the prompt's own, quoted ones |
//! | leak.tool_text | tool calls as text | `tool_text_leaked` | invalid | prompts that ask for JSON |
//! | repeat.loop | a loop at the end | `loop` | invalid | tables, poems, base64, repetition asked for |
//! | repeat.degenerate | one character or word over and over | `degenerate` | invalid | repetition asked for |
//! | json.truncated, json.wrapped | JSON cut short; wrapped; none | `json_truncated`; `json_wrapped`; `json_invalid` | invalid; degraded; invalid | prose that nobody wanted as JSON |
//! | schema.invalid | JSON against the request's schema | `schema_invalid` | invalid | formats |
//! | tool.args_json, tool.args_schema | arguments of a tool that are no JSON; against its schema | `tool_arguments_invalid`; `tool_arguments_schema` | invalid | none for a tool that takes none (`tool_arguments_empty`, a note) |
//! | tool.unknown_name, tool.missing_id | a tool that was not offered; a call without an id | `tool_unknown`; `tool_id_missing` | invalid; degraded | |
//! | tool.dup_or_merged | two calls in one; one call twice | `tool_calls_merged`; `tool_call_doubled` | invalid; degraded | parallel calls |
//! | utf8.wire | bytes that are no UTF-8 | `invalid_utf8` | degraded | characters cut by a read |
//! | utf8.replacement | replacement characters | `replacement_character` | degraded | the prompt's own, one cut by the limit |
//! | lang.wrong | wrong language; foreign letters within a text | `language_wrong`; `foreign_script` | invalid where demanded, else degraded | names, quotations, prompts about languages |
//! | refusal | a refusal; words like one | `refusal`, `content_filtered`; `refusal_phrase` | invalid or degraded; note | |
//! | usage.mismatch | text and usage differ | `usage_mismatch` | note | reasoning, other tokenizers |
//! | usage.arith | a total that is no sum | `usage_arithmetic` | note | additive and disjoint sums |
//! | stop.leaked | a stop string in the text | `stop_leaked` | degraded | one that is only reported |
//! | cap.exceeded | more output than asked for | `cap_exceeded` | note | reasoning, one token |
//! | model.echo | another model's name | `model_differs` | note | dates, vendor prefixes, variants |
//! | logprob.text | log probabilities of other tokens than the text's; of tokens whose text cannot be known | `logprob_text_differs`; `logprob_text_unavailable` | note | those of reasoning, control tokens, half characters, stop strings |
//! | prompt_echo | the prompt or a template at the beginning | `prompt_echo` | degraded | a short prompt |
//! | vector.empty, vector.zero | no vector; one whose components are all 0 | `empty`; `zero_vector` | invalid | answers that are text |
//! | task.wrong | a wrong answer | `task_wrong`, and the grade | note | |
//!
//! Not here, since one answer cannot show them: the same answer twice (replay), a model's name that changes within a
//! run (model.echo), input that was cut without a word (input.truncated), a stream that differs from the whole answer
//! (stream_diff). `metrics` holds the answers of a cell, and of several, against each other.
//!
//! Invariants: nothing here reads a clock or a socket, or fetches a schema; nothing can panic, whatever was answered;
//! work is linear in the answer, and what is kept of it is bounded.

mod case;
mod channel;
mod check;
mod content;
mod envelope;
mod evidence;
mod expect;
mod grader;
mod json;
mod language;
mod logprobs;
mod number;
mod repeat;
mod schema;
mod script;
mod task;
mod termination;
mod text;
mod tools;
mod transport;
mod vectors;
mod verdict;

use std::cmp::Reverse;

use inferometer_wire::Answer;

pub(crate) use case::Case;
pub use check::{Check, CheckError};
pub use envelope::is_same_model;
pub use evidence::EVIDENCE_CHARS_MAX;
pub use expect::{Expect, Parameters};
pub use grader::{Grade, Grader};
use verdict::Finding;
pub use verdict::{Judgement, Verdict};

type Rule = fn(&Case<'_>) -> Option<Finding>;

/// Whether the answer came whole. Something found here ends the judgement.
const TRANSPORT: [Rule; 1] = [transport::outcome];

/// Rules for an answer that came whole, in order of precedence. A further rule is a row here.
const WHOLE: [Rule; 35] = [
    envelope::no_delta,
    envelope::bytes,
    envelope::model,
    envelope::arithmetic,
    envelope::mismatch,
    envelope::beyond_cap,
    termination::finish,
    termination::cap_as_stop,
    termination::tool_mismatch,
    termination::nonstandard,
    termination::stop_leaked,
    termination::refusal,
    tools::unreadable,
    channel::misfiled,
    channel::unfinished,
    channel::think_tag,
    channel::special,
    channel::tool_text,
    content::empty,
    content::invisible,
    repeat::looped,
    repeat::degenerate,
    json::form,
    json::schema,
    tools::unknown,
    tools::schema,
    tools::missing_id,
    tools::doubled,
    tools::no_arguments,
    content::replacement,
    script::wrong,
    script::foreign_run,
    content::prompt_echo,
    content::refusal_phrase,
    logprobs::text,
];

/// Rules for an answer that is vectors: nothing of it was generated, so that nothing has an end, a channel or a language.
const VECTORS: [Rule; 5] =
    [envelope::bytes, envelope::model, envelope::arithmetic, vectors::empty, vectors::zero];

/// Judges one finished answer, and grades it where the workload has a check.
pub fn judge(answer: &Answer, expect: &Expect<'_>) -> Judgement {
    let case = Case::new(answer, expect);
    let run = |rules: &[Rule]| -> Vec<Finding> { rules.iter().filter_map(|rule| rule(&case)).collect() };
    let mut findings = run(&TRANSPORT);
    let mut grade = None;
    if findings.is_empty() && answer.vectors.is_some() {
        findings = run(&VECTORS);
    } else if findings.is_empty() {
        findings = run(&WHOLE);
        let (passed, wrong) = task::grade(&case);
        grade = passed;
        findings.extend(wrong);
    }
    // Stable: findings of one verdict stay in order of precedence.
    findings.sort_by_key(|finding| Reverse(finding.verdict));
    Judgement {
        verdict: findings.first().map_or(Verdict::Valid, |finding| finding.verdict),
        flags: findings.iter().map(|finding| finding.flag).collect(),
        evidence: findings.into_iter().filter_map(|finding| finding.evidence).collect(),
        grade,
    }
}

#[cfg(test)]
mod tests;
