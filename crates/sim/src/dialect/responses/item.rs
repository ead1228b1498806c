//! The items that a response consists of, and the events that belong to each kind.

/// An item and its text so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) kind: Kind,
    /// As it stands in a JSON string.
    pub(super) text: String,
}

/// What an item is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Reasoning,
    Message,
    /// A call of the tool of this name.
    Call(String),
}

/// The events of an item's text.
pub(super) struct Events {
    /// The names of an added and of a finished part, where there are parts.
    pub(super) part: Option<(&'static str, &'static str)>,
    pub(super) delta: &'static str,
    pub(super) done: &'static str,
    /// What a text at its end is called.
    pub(super) key: &'static str,
    /// Which part of the item is meant.
    pub(super) place: &'static str,
}

const REASONING: Events = Events {
    part: Some(("response.reasoning_summary_part.added", "response.reasoning_summary_part.done")),
    delta: "response.reasoning_summary_text.delta",
    done: "response.reasoning_summary_text.done",
    key: "text",
    place: r#","summary_index":0"#,
};

const MESSAGE: Events = Events {
    part: Some(("response.content_part.added", "response.content_part.done")),
    delta: "response.output_text.delta",
    done: "response.output_text.done",
    key: "text",
    place: r#","content_index":0"#,
};

const CALL: Events = Events {
    part: None,
    delta: "response.function_call_arguments.delta",
    done: "response.function_call_arguments.done",
    key: "arguments",
    place: "",
};

impl Item {
    pub(super) const fn new(kind: Kind, text: String) -> Self {
        Self { kind, text }
    }

    pub(super) const fn id(&self) -> &'static str {
        match self.kind {
            Kind::Reasoning => "rs_sim",
            Kind::Message => "msg_sim",
            Kind::Call(_) => "fc_sim",
        }
    }

    pub(super) const fn events(&self) -> &'static Events {
        match self.kind {
            Kind::Reasoning => &REASONING,
            Kind::Message => &MESSAGE,
            Kind::Call(_) => &CALL,
        }
    }

    /// The part with its text; for a call, none.
    pub(super) fn part(&self) -> String {
        let text = &self.text;
        match self.kind {
            Kind::Reasoning => format!(r#"{{"type":"summary_text","text":"{text}"}}"#),
            Kind::Message => format!(r#"{{"type":"output_text","text":"{text}","annotations":[]}}"#),
            Kind::Call(_) => String::new(),
        }
    }

    /// The item, as it is at its beginning or when it is complete.
    pub(super) fn json(&self, complete: bool) -> String {
        let (id, text) = (self.id(), &self.text);
        let part = if complete { self.part() } else { String::new() };
        let status = if complete { "completed" } else { "in_progress" };
        match &self.kind {
            Kind::Reasoning => format!(r#"{{"id":"{id}","type":"reasoning","summary":[{part}]}}"#),
            Kind::Message => format!(
                r#"{{"id":"{id}","type":"message","status":"{status}","role":"assistant","content":[{part}]}}"#
            ),
            Kind::Call(name) => format!(
                r#"{{"id":"{id}","type":"function_call","status":"{status}","call_id":"call_sim","name":"{name}","arguments":"{text}"}}"#
            ),
        }
    }
}
