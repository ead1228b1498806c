//! The events of a streamed response: its number, and the item that is open.

use std::fmt::Write as _;

use super::item::{Item, Kind};
use super::{Status, response};
use crate::chunk::{Call, Chunk, Facts, Say, Usage};
use crate::dialect::Writer;

/// An answer's events.
pub(super) struct Events<'a> {
    facts: Facts<'a>,
    /// The next event's number.
    sequence: u64,
    open: Option<Item>,
    /// The items that are complete, as JSON.
    items: Vec<String>,
    status: Status,
    /// Whether the response has ended.
    ended: bool,
}

impl Writer for Events<'_> {
    fn event(&mut self, say: Say) -> Vec<u8> {
        let mut out = String::new();
        match say {
            Say::Chunk(chunk) => self.chunk(chunk, &mut out),
            Say::Error => {
                self.ended = true;
                let error = r#","code":"server_error","message":"engine stopped","param":null"#;
                self.write("error", error, &mut out);
            }
            Say::Malformed => out.push_str("event: response.output_text.delta\ndata: {\"type\":\"respon\n\n"),
            Say::Done if self.ended => {}
            Say::Done => {
                self.close(&mut out);
                self.end(self.facts.usage, &mut out);
            }
        }
        out.into_bytes()
    }
}

impl<'a> Events<'a> {
    pub(super) fn new(facts: Facts<'a>) -> Self {
        let (status, items) = (Status::InProgress, Vec::new());
        Self { facts, sequence: 0, open: None, items, status, ended: false }
    }

    fn chunk(&mut self, chunk: &Chunk, out: &mut String) {
        self.start(out);
        if let Some((_, text)) = &chunk.reasoning {
            self.open(Kind::Reasoning, out);
            self.delta(text, out);
        }
        if let Some(text) = &chunk.content {
            self.open(Kind::Message, out);
            self.delta(text, out);
        }
        match &chunk.call {
            Some(Call::Opens(name)) => {
                // A second call of the same tool is an item of its own.
                self.close(out);
                self.open(Kind::Call(name.clone()), out);
            }
            Some(Call::Arguments(text)) => self.delta(text, out),
            None => {}
        }
        if let Some(finish) = &chunk.finish {
            self.close(out);
            self.status = Status::of(finish);
        }
        if let Some(usage) = chunk.usage.filter(|_| self.status != Status::InProgress) {
            self.end(usage, out);
        }
    }

    /// The response's beginning, once.
    fn start(&mut self, out: &mut String) {
        if self.sequence == 0 {
            let response = response(self.facts, Status::InProgress, "", None);
            for name in ["response.created", "response.in_progress"] {
                self.write(name, &format!(r#","response":{response}"#), out);
            }
        }
    }

    /// Opens an item, unless it is the open one.
    fn open(&mut self, kind: Kind, out: &mut String) {
        if self.open.as_ref().is_some_and(|item| item.kind == kind) {
            return;
        }
        self.close(out);
        let item = Item::new(kind, String::new());
        let index = self.items.len();
        let added = format!(r#","output_index":{index},"item":{}"#, item.json(false));
        self.write("response.output_item.added", &added, out);
        if let Some((added, _)) = item.events().part {
            let fields = format!(r#"{},"part":{}"#, self.place(&item), item.part());
            self.write(added, &fields, out);
        }
        self.open = Some(item);
    }

    fn delta(&mut self, text: &str, out: &mut String) {
        let Some(mut item) = self.open.take() else { return };
        item.text.push_str(text);
        let fields = format!(r#"{},"delta":"{text}""#, self.place(&item));
        self.write(item.events().delta, &fields, out);
        self.open = Some(item);
    }

    /// Closes the open item, which repeats all of it (W79).
    fn close(&mut self, out: &mut String) {
        let Some(item) = self.open.take() else { return };
        let (place, events) = (self.place(&item), item.events());
        self.write(events.done, &format!(r#"{place},"{}":"{}""#, events.key, item.text), out);
        if let Some((_, done)) = events.part {
            self.write(done, &format!(r#"{place},"part":{}"#, item.part()), out);
        }
        let (index, item) = (self.items.len(), item.json(true));
        self.write("response.output_item.done", &format!(r#","output_index":{index},"item":{item}"#), out);
        self.items.push(item);
    }

    /// The response's end, once.
    fn end(&mut self, usage: Usage, out: &mut String) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.start(out);
        let (name, status) = match self.status {
            Status::Incomplete => ("response.incomplete", Status::Incomplete),
            Status::Completed | Status::InProgress => ("response.completed", Status::Completed),
        };
        let response = response(self.facts, status, &self.items.join(","), Some(usage));
        self.write(name, &format!(r#","response":{response}"#), out);
    }

    /// Where an item's text belongs.
    fn place(&self, item: &Item) -> String {
        let (id, index, place) = (item.id(), self.items.len(), item.events().place);
        format!(r#","item_id":"{id}","output_index":{index}{place}"#)
    }

    /// Appends an event of this name, which stands in its data too.
    fn write(&mut self, name: &str, fields: &str, out: &mut String) {
        let sequence = self.sequence;
        self.sequence += 1;
        let _ = write!(
            out,
            "event: {name}\ndata: {{\"type\":\"{name}\",\"sequence_number\":{sequence}{fields}}}\n\n"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::Responses;
    use crate::dialect::testing::{answer, broken, events, tool_call};

    /// `EVENT FIELDS` of each line as the bytes of a stream, from the event of number `first`.
    fn bytes(first: usize, lines: &[&str]) -> String {
        let event = |(i, line): (usize, &&str)| {
            let (name, fields) = line.split_once(' ').unwrap();
            let number = first + i;
            format!("event: {name}\ndata: {{\"type\":\"{name}\",\"sequence_number\":{number},{fields}}}\n\n")
        };
        lines.iter().enumerate().map(event).collect()
    }

    fn response(event: &str, status: &str, details: &str, output: &str, usage: &str) -> String {
        format!(
            r#"{event} "response":{{"id":"resp_sim","object":"response","created_at":1796051544,"status":"{status}","error":null,"incomplete_details":{details},"model":"m","output":[{output}],"usage":{usage}}}"#
        )
    }

    const USAGE: &str = r#"{"input_tokens":7,"input_tokens_details":{"cached_tokens":3},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":12}"#;
    const THOUGHT: &str =
        r#"{"id":"rs_sim","type":"reasoning","summary":[{"type":"summary_text","text":" so"}]}"#;
    const MESSAGE: &str = r#"{"id":"msg_sim","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":" a\"b","annotations":[]}]}"#;
    const CALL: &str = r#"{"id":"fc_sim","type":"function_call","status":"completed","call_id":"call_sim","name":"f","arguments":"{\"a\":1}"}"#;

    fn start() -> String {
        let event = |name| response(name, "in_progress", "null", "", "null");
        bytes(0, &[&event("response.created"), &event("response.in_progress")])
    }

    #[test]
    fn items_open_and_close_round_what_is_said() {
        let place = r#""item_id":"rs_sim","output_index":0,"summary_index":0"#;
        let thinks = bytes(
            2,
            &[
                r#"response.output_item.added "output_index":0,"item":{"id":"rs_sim","type":"reasoning","summary":[]}"#,
                &format!(
                    r#"response.reasoning_summary_part.added {place},"part":{{"type":"summary_text","text":""}}"#
                ),
                &format!(r#"response.reasoning_summary_text.delta {place},"delta":" so""#),
            ],
        );
        let says = r#""item_id":"msg_sim","output_index":1,"content_index":0"#;
        let speaks = bytes(
            5,
            &[
                &format!(r#"response.reasoning_summary_text.done {place},"text":" so""#),
                &format!(
                    r#"response.reasoning_summary_part.done {place},"part":{{"type":"summary_text","text":" so"}}"#
                ),
                &format!(r#"response.output_item.done "output_index":0,"item":{THOUGHT}"#),
                r#"response.output_item.added "output_index":1,"item":{"id":"msg_sim","type":"message","status":"in_progress","role":"assistant","content":[]}"#,
                &format!(
                    r#"response.content_part.added {says},"part":{{"type":"output_text","text":"","annotations":[]}}"#
                ),
                &format!(r#"response.output_text.delta {says},"delta":" a""#),
            ],
        );
        let more = bytes(11, &[&format!(r#"response.output_text.delta {says},"delta":"\"b""#)]);
        let closes = bytes(
            12,
            &[
                &format!(r#"response.output_text.done {says},"text":" a\"b""#),
                &format!(
                    r#"response.content_part.done {says},"part":{{"type":"output_text","text":" a\"b","annotations":[]}}"#
                ),
                &format!(r#"response.output_item.done "output_index":1,"item":{MESSAGE}"#),
            ],
        );
        let items = format!("{THOUGHT},{MESSAGE}");
        let ends = bytes(15, &[&response("response.completed", "completed", "null", &items, USAGE)]);
        let expected = [start(), thinks, speaks, more, closes, ends, String::new()];
        assert_eq!(events(&Responses, &answer("stop")), expected);
    }

    #[test]
    fn a_tool_call_is_an_item() {
        let place = r#""item_id":"fc_sim","output_index":0"#;
        let told = events(&Responses, &tool_call());
        let added = r#"response.output_item.added "output_index":0,"item":{"id":"fc_sim","type":"function_call","status":"in_progress","call_id":"call_sim","name":"f","arguments":""}"#;
        assert_eq!(told[1], bytes(2, &[added]));
        let delta = format!(r#"response.function_call_arguments.delta {place},"delta":":1}}""#);
        assert_eq!(told[3], bytes(4, &[&delta]));
        let done = format!(r#"response.function_call_arguments.done {place},"arguments":"{{\"a\":1}}""#);
        let closed = format!(r#"response.output_item.done "output_index":0,"item":{CALL}"#);
        assert_eq!(told[4], bytes(5, &[&done, &closed]));
        assert_eq!(told[5], bytes(7, &[&response("response.completed", "completed", "null", CALL, USAGE)]));
    }

    #[test]
    fn ends_by_a_limit_without_usage_or_with_an_error() {
        let told = events(&Responses, &answer("length")[..5]);
        let items = format!("{THOUGHT},{MESSAGE}");
        let reason = r#"{"reason":"max_output_tokens"}"#;
        assert_eq!(
            told[5],
            bytes(15, &[&response("response.incomplete", "incomplete", reason, &items, USAGE)])
        );
        let error = r#"error "code":"server_error","message":"engine stopped","param":null"#;
        assert_eq!(broken(&Responses), [bytes(5, &[error]), bytes(6, &[])]);
    }
}
