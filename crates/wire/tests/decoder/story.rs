//! One story told in every dialect: what is read of it is the same, however its bytes are cut and whatever stands
//! between them; and without its end it is no answer.

use inferometer_wire::{Answer, Dialect, End, Event, Finish, Normal, Outcome, Output};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use crate::common::{Scenario, binary_event, bytes, notation};

/// What a model says, in no dialect's words.
#[derive(Clone, Debug)]
struct Story {
    thoughts: Vec<String>,
    text: Vec<String>,
    call: Option<Call>,
    end: Close,
    input: u64,
    cached: u64,
    output: u64,
    reasoning: u64,
}

#[derive(Clone, Debug)]
struct Call {
    name: String,
    arguments: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Close {
    Stop,
    Length,
    Filter,
}

/// What a dialect has words for, and how a story is told in it.
struct Writer {
    dialect: Dialect,
    /// Thoughts and calls of tools.
    thinks: bool,
    filters: bool,
    counts_cache: bool,
    counts_reasoning: bool,
    /// The events of the answer, and how many of them come before the first that ends it.
    events: fn(&Story) -> (Vec<String>, usize),
    /// An event as it is sent.
    framed: fn(&str) -> Vec<u8>,
    /// What may stand between the events and says nothing.
    noise: &'static [&'static str],
}

const COMMENTS: [&str; 2] = [": PROCESSING\n\n", "event: ping\ndata:\n\n"];

const CHAT: Writer = Writer {
    dialect: Dialect::Chat,
    thinks: true,
    filters: true,
    counts_cache: true,
    counts_reasoning: true,
    events: chat,
    framed: |event| event.as_bytes().to_vec(),
    noise: &["data: {\"choices\":[],\"sunset\":1}\n\n", "event: sunset\ndata: {\"choices\":null}\n\n"],
};

static WRITERS: [Writer; 8] = [
    CHAT,
    Writer {
        dialect: Dialect::Completions,
        thinks: false,
        events: completions,
        noise: &["data: {\"choices\":[{\"text\":\"\"}]}\n\n"],
        ..CHAT
    },
    Writer {
        dialect: Dialect::Azure,
        noise: &[
            "data: {\"id\":\"\",\"model\":\"\",\"choices\":[],\"prompt_filter_results\":[{\"prompt_index\":0}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"finish_reason\":null,\"content_filter_offsets\":{\"check_offset\":4}}]}\n\n",
        ],
        ..CHAT
    },
    Writer {
        dialect: Dialect::Gemini,
        events: gemini,
        noise: &[
            "data: {\"sunset\":1}\r\n\r\n",
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}]}}]}\n\n",
        ],
        ..CHAT
    },
    Writer {
        dialect: Dialect::Messages,
        counts_reasoning: false,
        events: messages,
        noise: &[
            "event: ping\ndata: {\"type\":\"ping\"}\n\n",
            "event: sunset\ndata: {\"type\":\"sunset\",\"text\":\"no\"}\n\n",
        ],
        ..CHAT
    },
    Writer {
        dialect: Dialect::Responses,
        events: responses,
        noise: &[
            "event: response.sunset\ndata: {\"type\":\"response.sunset\",\"delta\":\"no\"}\n\n",
            "event: keepalive\ndata: {\"type\":\"keepalive\",\"sequence_number\":3}\n\n",
        ],
        ..CHAT
    },
    Writer {
        dialect: Dialect::Ollama,
        filters: false,
        counts_cache: false,
        counts_reasoning: false,
        events: ollama,
        noise: &["\n", "{\"model\":\"m\",\"sunset\":1,\"done\":false}\n"],
        ..CHAT
    },
    Writer {
        dialect: Dialect::Bedrock,
        counts_reasoning: false,
        events: bedrock,
        framed: |event| {
            let (name, payload) = event.split_once(' ').unwrap();
            binary_event(name, payload)
        },
        noise: &[
            "sunset {\"contentBlockIndex\":0,\"delta\":{\"text\":\"no\"}}",
            "contentBlockDelta {\"contentBlockIndex\":0,\"delta\":{\"sunset\":{\"text\":\"no\"}}}",
            "contentBlockStop ",
        ],
        ..CHAT
    },
];

impl Writer {
    /// The story with all left out for which the dialect has no words.
    fn fit(&self, mut story: Story) -> Story {
        if !self.thinks {
            (story.thoughts, story.call, story.reasoning) = (Vec::new(), None, 0);
        }
        if !self.filters && story.end == Close::Filter {
            story.end = Close::Stop;
        }
        if !self.counts_cache {
            story.cached = 0;
        }
        story
    }

    fn scenario(&self, events: &[String]) -> Scenario {
        let body: Vec<u8> = events.iter().flat_map(|event| (self.framed)(event)).collect();
        Scenario { dialect: self.dialect, ..bytes(body) }
    }

    /// Whether its events are those of the web, which may have comments between them.
    fn has_comments(&self) -> bool {
        !matches!(self.dialect, Dialect::Ollama | Dialect::Bedrock)
    }

    /// What is to be read of the story's counts.
    fn counts(&self, story: &Story) -> Normal {
        let some = |count: u64| (count > 0).then_some(count);
        let reasoning = some(story.reasoning).filter(|_| self.counts_reasoning);
        let is_split = story.thoughts.is_empty() || reasoning.is_some();
        Normal {
            input_uncached: Some(story.input - story.cached),
            cache_read: some(story.cached),
            cache_write: None,
            output_visible: is_split.then(|| story.output - reasoning.unwrap_or(0)),
            output_reasoning: reasoning,
            output: Some(story.output),
        }
    }
}

impl Story {
    fn finish(&self) -> Finish {
        match self.end {
            Close::Stop if self.call.is_some() => Finish::ToolCalls,
            Close::Stop => Finish::Stop,
            Close::Length => Finish::Length,
            Close::Filter => Finish::ContentFilter,
        }
    }

    /// The dialect's word for the end: stop, tool, length, filter.
    fn word<'w>(&self, words: [&'w str; 4]) -> &'w str {
        match self.finish() {
            Finish::ToolCalls => words[1],
            Finish::Length => words[2],
            Finish::ContentFilter => words[3],
            _ => words[0],
        }
    }
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn named(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap())
}

/// What stands in a usage of this many details only where it is counted.
fn details(name: &str, count: u64) -> Value {
    if count > 0 { json!({ name: count }) } else { Value::Null }
}

fn openai_end(story: &Story, last: &Value, mut events: Vec<String>) -> (Vec<String>, usize) {
    let before = events.len();
    let usage = json!({
        "prompt_tokens": story.input, "completion_tokens": story.output, "total_tokens": story.input + story.output,
        "prompt_tokens_details": details("cached_tokens", story.cached),
        "completion_tokens_details": details("reasoning_tokens", story.reasoning),
    });
    events.push(data(&json!({"choices": [last]})));
    events.push(data(&json!({"choices": [], "usage": usage})));
    events.push("data: [DONE]\n\n".to_owned());
    (events, before)
}

fn chat(story: &Story) -> (Vec<String>, usize) {
    let delta = |delta: Value| data(&json!({"choices": [{"index": 0, "delta": delta}]}));
    let mut events = vec![delta(json!({"role": "assistant", "content": ""}))];
    events.extend(story.thoughts.iter().map(|text| delta(json!({"reasoning_content": text}))));
    events.extend(story.text.iter().map(|text| delta(json!({"content": text}))));
    if let Some(Call { name, arguments }) = &story.call {
        let call = |id: Value, function: Value| {
            delta(json!({"tool_calls": [{"index": 0, "id": id, "function": function}]}))
        };
        events.push(call(json!("c"), json!({"name": name, "arguments": ""})));
        let halves = halves(&arguments.to_string());
        events.extend(halves.iter().map(|half| call(Value::Null, json!({"arguments": half}))));
    }
    let word = story.word(["stop", "tool_calls", "length", "content_filter"]);
    openai_end(story, &json!({"index": 0, "delta": {}, "finish_reason": word}), events)
}

fn completions(story: &Story) -> (Vec<String>, usize) {
    let texts = story.text.iter().map(|text| data(&json!({"choices": [{"index": 0, "text": text}]})));
    let word = story.word(["stop", "tool_calls", "length", "content_filter"]);
    openai_end(story, &json!({"index": 0, "text": "", "finish_reason": word}), texts.collect())
}

fn gemini(story: &Story) -> (Vec<String>, usize) {
    let event = |part: Value| {
        let candidate = json!({"content": {"parts": [part], "role": "model"}, "index": 0});
        format!("data: {}\r\n\r\n", json!({"candidates": [candidate], "modelVersion": "m"}))
    };
    let mut events: Vec<_> =
        story.thoughts.iter().map(|text| event(json!({"text": text, "thought": true}))).collect();
    events.extend(story.text.iter().map(|text| event(json!({ "text": text }))));
    if let Some(Call { name, arguments }) = &story.call {
        events.push(event(json!({"functionCall": {"name": name, "args": arguments}})));
    }
    let before = events.len();
    let word = story.word(["STOP", "STOP", "MAX_TOKENS", "SAFETY"]);
    let mut usage = json!({
        "promptTokenCount": story.input, "candidatesTokenCount": story.output - story.reasoning,
        "totalTokenCount": story.input + story.output,
    });
    for (name, count) in [("cachedContentTokenCount", story.cached), ("thoughtsTokenCount", story.reasoning)]
    {
        if count > 0 {
            usage[name] = json!(count);
        }
    }
    let last = json!({"candidates": [{"finishReason": word, "index": 0}], "usageMetadata": usage});
    events.push(format!("data: {last}\r\n\r\n"));
    (events, before)
}

fn messages(story: &Story) -> (Vec<String>, usize) {
    let mut usage = json!({"input_tokens": story.input - story.cached, "output_tokens": 1});
    if story.cached > 0 {
        usage["cache_read_input_tokens"] = json!(story.cached);
    }
    let start = json!({"type": "message_start", "message": {"id": "m", "type": "message", "content": [], "usage": usage}});
    let mut events = vec![named(&start)];
    let mut blocks = 0;
    let mut block = |begin: Value, deltas: Vec<Value>| {
        events.push(named(&json!({"type": "content_block_start", "index": blocks, "content_block": begin})));
        events.extend(
            deltas
                .into_iter()
                .map(|delta| named(&json!({"type": "content_block_delta", "index": blocks, "delta": delta}))),
        );
        events.push(named(&json!({"type": "content_block_stop", "index": blocks})));
        blocks += 1;
    };
    if !story.thoughts.is_empty() {
        let delta = |text| json!({"type": "thinking_delta", "thinking": text});
        block(json!({"type": "thinking", "thinking": ""}), story.thoughts.iter().map(delta).collect());
    }
    let delta = |text| json!({"type": "text_delta", "text": text});
    block(json!({"type": "text", "text": ""}), story.text.iter().map(delta).collect());
    if let Some(Call { name, arguments }) = &story.call {
        let delta = |half| json!({"type": "input_json_delta", "partial_json": half});
        let begin = json!({"type": "tool_use", "id": "c", "name": name, "input": {}});
        block(begin, halves(&arguments.to_string()).iter().map(delta).collect());
    }
    let before = events.len();
    let word = story.word(["end_turn", "tool_use", "max_tokens", "refusal"]);
    let usage = json!({"output_tokens": story.output});
    events.push(named(&json!({"type": "message_delta", "delta": {"stop_reason": word}, "usage": usage})));
    events.push(named(&json!({"type": "message_stop"})));
    (events, before)
}

fn responses(story: &Story) -> (Vec<String>, usize) {
    let event = |kind: &str, rest: Value| named(&merged(json!({"type": format!("response.{kind}")}), &rest));
    let delta = |kind: &str, at: u64, text: &str| {
        event(&format!("{kind}.delta"), json!({"output_index": at, "delta": text}))
    };
    let mut events = vec![event("created", json!({"response": {"id": "r", "status": "in_progress"}}))];
    events.extend(story.thoughts.iter().map(|text| delta("reasoning_summary_text", 0, text)));
    events.extend(story.text.iter().map(|text| delta("output_text", 1, text)));
    events.push(event("output_text.done", json!({"output_index": 1, "text": story.text.concat()})));
    if let Some(Call { name, arguments }) = &story.call {
        let item = json!({"type": "function_call", "call_id": "c", "name": name, "arguments": ""});
        events.push(event("output_item.added", json!({"output_index": 2, "item": item})));
        let arguments = arguments.to_string();
        events.extend(halves(&arguments).iter().map(|half| delta("function_call_arguments", 2, half)));
        events
            .push(event("function_call_arguments.done", json!({"output_index": 2, "arguments": arguments})));
    }
    let before = events.len();
    let usage = json!({
        "input_tokens": story.input, "output_tokens": story.output, "total_tokens": story.input + story.output,
        "input_tokens_details": details("cached_tokens", story.cached),
        "output_tokens_details": details("reasoning_tokens", story.reasoning),
    });
    let reason = story.word(["", "", "max_output_tokens", "content_filter"]);
    let status = if reason.is_empty() { "completed" } else { "incomplete" };
    let message =
        json!({"type": "message", "content": [{"type": "output_text", "text": story.text.concat()}]});
    let response = json!({"status": status, "incomplete_details": {"reason": reason}, "output": [message], "usage": usage});
    events.push(event(status, json!({ "response": response })));
    (events, before)
}

fn ollama(story: &Story) -> (Vec<String>, usize) {
    let line = |message: Value, rest: Value| {
        format!("{}\n", merged(json!({"model": "m", "message": message}), &rest))
    };
    let open = || json!({"done": false});
    let mut events: Vec<_> =
        story.thoughts.iter().map(|text| line(json!({"content": "", "thinking": text}), open())).collect();
    events.extend(story.text.iter().map(|text| line(json!({ "content": text }), open())));
    if let Some(Call { name, arguments }) = &story.call {
        let calls = json!([{"function": {"name": name, "arguments": arguments}}]);
        events.push(line(json!({"content": "", "tool_calls": calls}), open()));
    }
    let before = events.len();
    let word = story.word(["stop", "stop", "length", "stop"]);
    let rest = json!({
        "done": true, "done_reason": word, "prompt_eval_count": story.input, "eval_count": story.output,
    });
    events.push(line(json!({"content": ""}), rest));
    (events, before)
}

/// Each event is its type and its payload.
fn bedrock(story: &Story) -> (Vec<String>, usize) {
    let mut events = vec![format!("messageStart {}", json!({"role": "assistant", "p": "abcd"}))];
    let mut index = 0;
    let mut block = |start: Option<Value>, deltas: Vec<Value>| {
        let of = |name: &str, rest: Value| {
            format!("{name} {}", merged(json!({"contentBlockIndex": index, "p": "abcdefgh"}), &rest))
        };
        events.extend(start.map(|start| of("contentBlockStart", json!({ "start": start }))));
        events.extend(deltas.into_iter().map(|delta| of("contentBlockDelta", json!({ "delta": delta }))));
        events.push(of("contentBlockStop", json!({})));
        index += 1;
    };
    if !story.thoughts.is_empty() {
        let delta = |text| json!({"reasoningContent": {"text": text}});
        block(None, story.thoughts.iter().map(delta).collect());
    }
    block(None, story.text.iter().map(|text| json!({ "text": text })).collect());
    if let Some(Call { name, arguments }) = &story.call {
        let delta = |half| json!({"toolUse": {"input": half}});
        let start = json!({"toolUse": {"toolUseId": "c", "name": name}});
        block(Some(start), halves(&arguments.to_string()).iter().map(delta).collect());
    }
    let before = events.len();
    let word = story.word(["end_turn", "tool_use", "max_tokens", "guardrail_intervened"]);
    events.push(format!("messageStop {}", json!({ "stopReason": word })));
    let mut usage = json!({
        "inputTokens": story.input - story.cached, "outputTokens": story.output,
        "totalTokens": story.input + story.output,
    });
    if story.cached > 0 {
        usage["cacheReadInputTokens"] = json!(story.cached);
    }
    events.push(format!("metadata {}", json!({"usage": usage, "metrics": {"latencyMs": 9}})));
    (events, before)
}

/// A text in two pieces, as arguments come.
fn halves(text: &str) -> [String; 2] {
    let (first, last) = text.split_at(text.floor_char_boundary(text.len() / 2));
    [first.to_owned(), last.to_owned()]
}

fn merged(mut value: Value, rest: &Value) -> Value {
    let fields = rest.as_object().cloned().unwrap_or_default();
    value.as_object_mut().unwrap().extend(fields);
    value
}

fn piece() -> impl Strategy<Value = String> {
    select(&["a", " bc", "\n", "中\u{2028}", "say \"hi\"", "\\", "😀", "data: x\n\n"][..])
        .prop_map(str::to_owned)
}

fn story() -> impl Strategy<Value = Story> {
    let call = ("[a-z]{1,8}", piece(), 0..9_u32)
        .prop_map(|(name, text, n)| Call { name, arguments: json!({"q": text, "n": n}) });
    let said = (
        prop::collection::vec(piece(), 0..4),
        prop::collection::vec(piece(), 1..5),
        prop::option::of(call),
        select(&[Close::Stop, Close::Stop, Close::Length, Close::Filter][..]),
    );
    let counts = (1..999_u64, 0..999_u64, 1..999_u64, 1..999_u64);
    (said, counts).prop_map(|((thoughts, text, call, end), (input, cached, visible, reasoning))| {
        let reasoning = if thoughts.is_empty() { 0 } else { reasoning };
        let (cached, output) = (cached % (input + 1), visible + reasoning);
        Story { thoughts, text, call, end, input, cached, output, reasoning }
    })
}

/// The channels of the output events, without repeats.
fn channels(events: &[Event]) -> String {
    let mut channels: Vec<String> = events
        .iter()
        .filter(|event| matches!(event, Event::Output(_)))
        .map(|event| notation(std::slice::from_ref(event))[..1].to_owned())
        .collect();
    channels.dedup();
    channels.concat()
}

fn chars(events: &[Event]) -> usize {
    let of =
        |event: &Event| if let Event::Output(Output { chars, .. }) = event { *chars as usize } else { 0 };
    events.iter().map(of).sum()
}

/// Everything of an answer but how it was kept alive and what was passed over.
fn told(mut answer: Answer) -> String {
    (answer.keepalives, answer.ignored) = (0, 0);
    format!("{answer:?}")
}

/// The events of a story in every dialect, as they are framed: what nonsense is made of.
pub(crate) fn every_dialect_s_events() -> Vec<Vec<u8>> {
    let call = Call { name: "f".to_owned(), arguments: json!({"a": 1}) };
    let story = Story {
        thoughts: vec!["so".to_owned()],
        text: vec!["a".to_owned()],
        call: Some(call),
        end: Close::Stop,
        input: 9,
        cached: 4,
        output: 5,
        reasoning: 2,
    };
    let events = |writer: &'static Writer| {
        let (events, _) = (writer.events)(&writer.fit(story.clone()));
        events.into_iter().map(|event| (writer.framed)(&event))
    };
    WRITERS.iter().flat_map(events).collect()
}

#[test]
fn every_dialect_that_tells_stories_has_a_writer() {
    for dialect in Dialect::ALL.iter().filter(|dialect| dialect.generates()) {
        assert!(WRITERS.iter().any(|writer| writer.dialect == *dialect), "{dialect}");
    }
}

proptest! {
    #[test]
    fn every_dialect_tells_the_same_story(story in story(), cuts in prop::collection::vec(any::<Index>(), 0..8)) {
        for writer in &WRITERS {
            let story = writer.fit(story.clone());
            let scenario = writer.scenario(&(writer.events)(&story).0);
            let (seen, answer) = scenario.run(usize::MAX);
            let name = writer.dialect;
            prop_assert_eq!(&answer.outcome, &Outcome::Complete, "{}", name);
            prop_assert_eq!(&answer.transcript.content, &story.text.concat(), "{}", name);
            prop_assert_eq!(&answer.transcript.reasoning, &story.thoughts.concat(), "{}", name);
            let calls: Vec<_> = answer.transcript.tools.iter().map(|call| (&call.name, call.arguments.parse().unwrap())).collect();
            let told_calls: Vec<(_, Value)> = story.call.iter().map(|call| (&call.name, call.arguments.clone())).collect();
            prop_assert_eq!(&calls, &told_calls, "{}", name);
            let order = [(!story.thoughts.is_empty(), "r"), (true, "a"), (story.call.is_some(), "t")];
            let order: String = order.iter().filter(|(is_there, _)| *is_there).map(|(_, channel)| *channel).collect();
            prop_assert_eq!(channels(&seen), order, "{}", name);
            let call_chars: usize = story.call.iter().map(|call| call.name.len() + call.arguments.to_string().chars().count()).sum();
            let text_chars = story.thoughts.concat().chars().count() + story.text.concat().chars().count();
            prop_assert_eq!(chars(&seen), text_chars + call_chars, "{}", name);
            prop_assert_eq!(answer.finish, Some(story.finish()), "{}", name);
            let usage = answer.usage.as_ref().unwrap();
            prop_assert_eq!((usage.input, usage.normal()), (Some(story.input), writer.counts(&story)), "{}", name);
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(scenario.body.len() + 1)).collect();
            places.sort_unstable();
            let (cut_seen, cut_answer) = scenario.run_cut(&places);
            prop_assert_eq!(cut_seen, seen, "{}", name);
            prop_assert_eq!(format!("{cut_answer:?}"), format!("{answer:?}"), "{}", name);
        }
    }

    #[test]
    fn signs_of_life_and_unknown_events_change_nothing(
        story in story(),
        places in prop::collection::vec((any::<Index>(), any::<Index>()), 1..6),
    ) {
        for writer in &WRITERS {
            let (mut events, _) = (writer.events)(&writer.fit(story.clone()));
            let (plain, plain_answer) = writer.scenario(&events).run(usize::MAX);
            let comments = if writer.has_comments() { &COMMENTS[..] } else { &[] };
            let noise: Vec<_> = comments.iter().chain(writer.noise).collect();
            for (place, which) in &places {
                events.insert(place.index(events.len() + 1), (*which.get(&noise)).to_string());
            }
            let (seen, answer) = writer.scenario(&events).run(1);
            let outputs = |events: &[Event]| -> Vec<Event> {
                events.iter().copied().filter(|event| matches!(event, Event::Output(_))).collect()
            };
            prop_assert_eq!(outputs(&seen), outputs(&plain), "{}", writer.dialect);
            prop_assert_eq!(told(answer), told(plain_answer), "{}", writer.dialect);
        }
    }

    /// The worst of all is a short answer that seems to be a whole one (W43).
    #[test]
    fn what_is_cut_before_its_end_is_no_answer(story in story(), cut in any::<Index>()) {
        for writer in &WRITERS {
            let (events, before) = (writer.events)(&writer.fit(story.clone()));
            let length = writer.scenario(&events[..before]).body.len();
            let mut scenario = writer.scenario(&events);
            scenario.body.truncate(cut.index(length + 1));
            for (end, right) in [(End::Eof, Outcome::Truncated), (End::Broken, Outcome::Broken), (End::Cut, Outcome::Cut)] {
                let (_, answer) = Scenario { end, ..scenario.clone() }.run(usize::MAX);
                prop_assert_eq!(answer.outcome, right, "{}", writer.dialect);
            }
        }
    }
}
