//! Why the model stopped.

/// What a finish reason means. The raw text is kept beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finish {
    /// The model ended its answer, or a stop sequence did.
    Stop,
    /// The token limit, or the context's end.
    Length,
    /// The model asks for a tool.
    ToolCalls,
    /// The provider's filter.
    ContentFilter,
    /// The server failed in mid-answer (W46).
    Error,
    /// A reason that we do not know: terminal all the same (W45).
    Unknown,
}

impl Finish {
    /// Reads a raw finish reason. Empty text and the text `null` are no reason (W44, W45), nor is Gemini's name for none.
    pub fn parse(raw: &str) -> Option<Finish> {
        let raw = raw.trim();
        let is_none = |name: &&str| raw.eq_ignore_ascii_case(name);
        if ["", "null", "FINISH_REASON_UNSPECIFIED"].iter().any(is_none) {
            return None;
        }
        let known = NAMES.iter().find(|(name, _)| raw.eq_ignore_ascii_case(name));
        Some(known.map_or(Finish::Unknown, |(_, finish)| *finish))
    }
}

/// Names seen at OpenAI, TGI, Bedrock, Anthropic, Mistral and Gemini front ends, matched without case.
const NAMES: &[(&str, Finish)] = &[
    ("stop", Finish::Stop),
    ("eos", Finish::Stop),
    ("eos_token", Finish::Stop),
    ("end_turn", Finish::Stop),
    ("stop_sequence", Finish::Stop),
    ("complete", Finish::Stop),
    ("length", Finish::Length),
    ("max_tokens", Finish::Length),
    ("max_output_tokens", Finish::Length),
    ("model_length", Finish::Length),
    ("model_context_window_exceeded", Finish::Length),
    ("tool_calls", Finish::ToolCalls),
    ("tool_use", Finish::ToolCalls),
    ("function_call", Finish::ToolCalls),
    ("content_filter", Finish::ContentFilter),
    ("content_filtered", Finish::ContentFilter),
    ("refusal", Finish::ContentFilter),
    ("safety", Finish::ContentFilter),
    ("blocked", Finish::ContentFilter),
    ("blocklist", Finish::ContentFilter),
    ("prohibited_content", Finish::ContentFilter),
    ("recitation", Finish::ContentFilter),
    ("spii", Finish::ContentFilter),
    ("image_safety", Finish::ContentFilter),
    ("image_prohibited_content", Finish::ContentFilter),
    ("model_armor", Finish::ContentFilter),
    ("guardrail_intervened", Finish::ContentFilter),
    ("malformed_function_call", Finish::Error),
    ("malformed_model_output", Finish::Error),
    ("malformed_tool_use", Finish::Error),
    ("error", Finish::Error),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons() {
        for (raw, expected) in [
            ("", None),
            ("null", None),
            (" ", None),
            ("FINISH_REASON_UNSPECIFIED", None),
            ("stop", Some(Finish::Stop)),
            ("eos_token", Some(Finish::Stop)),
            ("MAX_TOKENS", Some(Finish::Length)),
            ("BLOCKLIST", Some(Finish::ContentFilter)),
            ("OTHER", Some(Finish::Unknown)),
            ("tool_calls", Some(Finish::ToolCalls)),
            ("content_filter", Some(Finish::ContentFilter)),
            ("error", Some(Finish::Error)),
            ("sunset", Some(Finish::Unknown)),
        ] {
            assert_eq!(Finish::parse(raw), expected, "{raw:?}");
        }
    }
}
