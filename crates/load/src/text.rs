//! What an attempt asked and was told, for runs that keep it.

use inferometer_plan::Secrets;
use inferometer_record::{Call, Said, Text};
use inferometer_wire::Transcript;

use crate::finished::Finished;

/// The texts of `finished` without any of `secrets`.
pub(crate) fn text(finished: &Finished, secrets: &Secrets) -> Text {
    let said = finished.seen.answer.iter().flat_map(inferometer_wire::Answer::transcripts);
    Text {
        request: finished.request,
        attempt: finished.attempt,
        prompt: secrets.redact(&finished.prepared.item.prompt.text()).into_owned(),
        answers: said.map(|transcript| said_in(transcript, secrets)).collect(),
    }
}

fn said_in(transcript: &Transcript, secrets: &Secrets) -> Said {
    let clean = |text: &str| secrets.redact(text).into_owned();
    let call = |tool: &inferometer_wire::ToolCall| Call {
        name: clean(&tool.name),
        arguments: clean(&tool.arguments),
    };
    Said {
        content: clean(&transcript.content),
        reasoning: clean(&transcript.reasoning),
        refusal: clean(&transcript.refusal),
        tools: transcript.tools.iter().map(call).collect(),
    }
}
