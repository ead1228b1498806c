//! One story in every dialect's words: whatever the dialect, the same is understood. And for any bytes at all: they are
//! taken, in any cut, and nonsense is no success.

use inferometer_wire::{Dialect, End, Event, Finish, Outcome};
use serde_json::{Value, json};

use crate::common::{Scenario, bytes, notation};

/// The story's events: reasoning, text, text, a call, its end with counts: 9 tokens in, 12 out, 5 of them reasoning where
/// the dialect tells them apart.
fn story(dialect: Dialect) -> Vec<Value> {
    match dialect {
        Dialect::Chat | Dialect::Azure => chat(),
        Dialect::Completions => vec![
            json!({"choices": [{"index": 0, "text": "abc"}]}),
            json!({"choices": [{"index": 0, "text": " de"}]}),
            json!({"choices": [{"index": 0, "text": "", "finish_reason": "stop"}],
                   "usage": {"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21}}),
        ],
        Dialect::Responses => responses(),
        Dialect::Messages => messages(),
        Dialect::Gemini => gemini(),
        Dialect::Ollama => ollama(),
    }
}

fn chat() -> Vec<Value> {
    let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    vec![
        delta(json!({"role": "assistant", "content": ""})),
        delta(json!({"reasoning_content": "so"})),
        delta(json!({"content": "abc"})),
        delta(json!({"content": " de"})),
        delta(
            json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{\"a\":1}"}}]}),
        ),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21,
               "completion_tokens_details": {"reasoning_tokens": 5}}}),
    ]
}

fn responses() -> Vec<Value> {
    let delta = |kind: &str, delta: &str| json!({"type": format!("response.{kind}.delta"), "output_index": 2, "delta": delta});
    vec![
        json!({"type": "response.created", "response": {"id": "r", "status": "in_progress"}}),
        delta("reasoning_summary_text", "so"),
        delta("output_text", "abc"),
        delta("output_text", " de"),
        json!({"type": "response.output_text.done", "text": "abc de"}),
        json!({"type": "response.output_item.done", "output_index": 3, "item": {"type": "message"}}),
        json!({"type": "response.output_item.added", "output_index": 2,
               "item": {"type": "function_call", "call_id": "c", "name": "f", "arguments": ""}}),
        delta("function_call_arguments", "{\"a\":1}"),
        json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "usage":
               {"input_tokens": 9, "output_tokens": 12, "total_tokens": 21, "output_tokens_details": {"reasoning_tokens": 5}}}}),
    ]
}

fn messages() -> Vec<Value> {
    let delta =
        |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    vec![
        json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 9, "output_tokens": 1}}}),
        delta(0, json!({"type": "thinking_delta", "thinking": "so"})),
        delta(1, json!({"type": "text_delta", "text": "abc"})),
        delta(1, json!({"type": "text_delta", "text": " de"})),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "c", "name": "f"}}),
        delta(2, json!({"type": "input_json_delta", "partial_json": "{\"a\":1}"})),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 12}}),
        json!({"type": "message_stop"}),
    ]
}

fn gemini() -> Vec<Value> {
    let part = |part: Value| json!({"candidates": [{"index": 0, "content": {"parts": [part]}}]});
    vec![
        part(json!({"text": "so", "thought": true})),
        part(json!({"text": "abc"})),
        part(json!({"text": " de"})),
        part(json!({"functionCall": {"name": "f", "args": {"a": 1}}})),
        json!({"candidates": [{"index": 0, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 9,
               "candidatesTokenCount": 7, "thoughtsTokenCount": 5, "totalTokenCount": 21}}),
    ]
}

fn ollama() -> Vec<Value> {
    let said = |message: Value| json!({"model": "m", "message": message, "done": false});
    vec![
        said(json!({"role": "assistant", "content": "", "thinking": "so"})),
        said(json!({"role": "assistant", "content": "abc"})),
        said(json!({"role": "assistant", "content": " de"})),
        said(
            json!({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}),
        ),
        json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
               "prompt_eval_count": 9, "eval_count": 12}),
    ]
}

/// The story framed as the dialect frames it, with `between` before each event.
fn told(dialect: Dialect, between: &str) -> Scenario {
    let frame = |event: Value| match dialect {
        Dialect::Ollama => format!("{event}\n"),
        _ => format!("{between}data: {event}\n\n"),
    };
    Scenario { dialect, ..bytes(story(dialect).into_iter().map(frame).collect::<String>()) }
}

/// Events without keep-alives and without where a call was cut.
fn outputs(seen: &[Event]) -> String {
    let outputs: Vec<_> = seen.iter().filter(|event| matches!(event, Event::Output(_))).copied().collect();
    notation(&outputs).replace("t1 t7", "t8")
}

#[test]
fn one_story_is_understood_alike() {
    for dialect in Dialect::ALL.iter().copied() {
        let speaks_text_alone = dialect == Dialect::Completions;
        for size in [usize::MAX, 1, 3] {
            let (seen, answer) = told(dialect, "").run(size);
            assert_eq!(answer.outcome, Outcome::Complete, "{dialect}");
            assert_eq!(outputs(&seen), if speaks_text_alone { "a3 a3" } else { "r2 a3 a3 t8" }, "{dialect}");
            let said = &answer.transcript;
            assert_eq!(said.content, "abc de", "{dialect}");
            let normal = answer.usage.as_ref().unwrap().normal();
            assert_eq!((normal.input_uncached, normal.output), (Some(9), Some(12)), "{dialect}");
            if !speaks_text_alone {
                let call = (said.tools[0].name.as_str(), said.tools[0].arguments.as_str());
                assert_eq!((said.reasoning.as_str(), call), ("so", ("f", r#"{"a":1}"#)), "{dialect}");
            }
            // Not every dialect has a word of its own for a turn that ends in a call.
            assert!(matches!(answer.finish, Some(Finish::Stop | Finish::ToolCalls)), "{dialect}");
        }
    }
}

#[test]
fn signs_of_life_and_foreign_fields_change_nothing() {
    for dialect in Dialect::ALL.iter().copied() {
        let (plain, answer) = told(dialect, "").run(usize::MAX);
        let (seen, padded) = told(dialect, ": ping\n\nid: 7\nretry: 9\n").run(5);
        assert_eq!(outputs(&seen), outputs(&plain), "{dialect}");
        assert_eq!(format!("{:?}", padded.transcript), format!("{:?}", answer.transcript), "{dialect}");
        assert_eq!(padded.outcome, answer.outcome, "{dialect}");
    }
}

#[test]
fn without_its_end_no_answer_is_complete() {
    for dialect in Dialect::ALL.iter().copied() {
        // What ends it is the last event that is not counts alone.
        let whole = told(dialect, "");
        let ends = story(dialect).iter().rposition(|event| event.to_string().contains("abc")).unwrap();
        let kept: String =
            String::from_utf8(whole.body.clone()).unwrap().split_inclusive('\n').take(2 * ends).collect();
        for end in [End::Eof, End::Broken, End::Cut] {
            let cut = Scenario { body: kept.clone().into_bytes(), end, ..whole.clone() };
            assert_ne!(cut.run(usize::MAX).1.outcome, Outcome::Complete, "{dialect} {end:?}");
        }
    }
}

/// What bytes of nonsense are made of: pieces of every dialect's events.
fn fragments() -> Vec<String> {
    let framing = [
        "data: ",
        "\n",
        "\n\n",
        "event: error\n",
        "event: ping\n",
        "[DONE]",
        "{",
        "}",
        "[",
        "]",
        "\"",
        ",",
        "\u{feff}",
    ];
    let events = Dialect::ALL.iter().flat_map(|dialect| story(*dialect)).map(|event| event.to_string());
    framing.iter().map(|piece| (*piece).to_owned()).chain(events).collect()
}

#[test]
fn any_bytes_in_any_dialect_are_taken_in_any_cut() {
    type Input = (Vec<u8>, u8, u8, bool);
    let fragments = fragments();
    bolero::check!().with_type::<Input>().with_iterations(4000).for_each(
        |(choices, dialect, piece, streaming)| {
            let mut body = Vec::new();
            for choice in choices {
                match fragments.get(usize::from(*choice) % (fragments.len() + 8)) {
                    Some(fragment) => body.extend_from_slice(fragment.as_bytes()),
                    None => body.push(*choice),
                }
            }
            let dialect = Dialect::ALL[usize::from(*dialect) % Dialect::ALL.len()];
            let scenario = Scenario { dialect, streaming: *streaming, ..bytes(body) };
            let (whole, whole_answer) = scenario.run(usize::MAX);
            let (seen, answer) = scenario.run(usize::from(piece % 8) + 1);
            assert_eq!(seen, whole);
            assert_eq!(format!("{answer:?}"), format!("{whole_answer:?}"));
        },
    );
}
