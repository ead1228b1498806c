//! For any stream: how its bytes are cut, and what is added that is no output, changes nothing. And for any bytes
//! at all: they are taken.

use inferometer_wire::{Dialect, End, Event, Outcome};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::common::{A, B, DONE, ROLE, STOP, Scenario, USAGE, bytes, describe, notation};
use crate::story::every_dialect_s_events;

/// Events of every kind, whose order may be any.
const EVENTS: [&str; 20] = [
    A,
    B,
    ROLE,
    STOP,
    USAGE,
    r#"{"choices":[{"delta":{"content":"中\u2028😀\n"}}]}"#,
    r#"{"choices":[{"delta":{"reasoning_content":"so"}}]}"#,
    r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"AAAA"}]}}]}"#,
    r#"{"choices":[{"delta":{"content":"<think>"}}]}"#,
    r#"{"choices":[{"delta":{"content":"</think>"}}]}"#,
    r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}]}}]}"#,
    r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]}}]}"#,
    r#"{"choices":[{"index":1,"delta":{"content":"x"}}]}"#,
    r#"{"choices":[{"index":1,"text":"x","delta":{},"finish_reason":"length"}]}"#,
    r#"{"choices":[{"text":"map"}],"usage":{"completion_tokens":3}}"#,
    r#"{"choices":[{"delta":{"content":"a"}}],"usage":{"completion_tokens":7}}"#,
    r#"{"choices":[{"delta":{"content":""},"logprobs":{"content":[{"token":"a"}]}}]}"#,
    r#"{"choices":[{"delta":{},"finish_reason":"error"}]}"#,
    r#"{"error":{"code":500,"message":"m"}}"#,
    DONE,
];

/// Events that carry no output: W01, W20, W21, W27.
const SILENT: [&str; 4] = [
    ROLE,
    r#"{"choices":[{"index":0,"finish_reason":null,"content_filter_offsets":{"check_offset":4}}]}"#,
    r#"{"id":"","model":"","choices":[],"prompt_filter_results":[{"prompt_index":0}]}"#,
    USAGE,
];

/// Events that are alike but for what stands at `~`, some of which is new output.
const SHAPES: [&str; 8] = [
    r#"{"choices":[{"index":0,"delta":{"content":"~"}}]}"#,
    r#"{"choices":[{"index":0,"delta":{"content":"~"},"finish_reason":null}],"usage":null}"#,
    r#"{"choices":[{"index":1,"delta":{"content":"","reasoning_content":"~"}}]}"#,
    r#"{"choices":[{"index":0,"text":"~"}]}"#,
    r#"{"choices":[{"delta":{"role":"~","content":"a"}}]}"#,
    r#"{"choices":[{"delta":{"content":"~"},"finish_reason":"stop"}]}"#,
    r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"~"}]}"#,
    r#"{"choices":[{"delta":{"content":"~"}}],"usage":{"completion_tokens":3}}"#,
];

/// What may stand between quotes, or break out of them.
const TEXTS: [&str; 14] = [
    "a",
    " bc",
    "",
    "stop",
    r"\n",
    r"\u4e2d",
    "中\u{2028}",
    r"\ud83d",
    r"a\\",
    r#"x"},"content":"y"#,
    "\u{1}",
    "\u{7f}",
    "<think>",
    "</think>",
];

/// Lines that carry nothing, each with its end.
const NOISE: [&str; 4] = ["id: 7~", "retry: 3000~", "event: message~", "novel: field~"];

fn stream() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(select(&EVENTS[..]), 0..12)
}

fn scenario(dialect: Dialect, body: &str) -> Scenario {
    Scenario { dialect, ..bytes(body) }
}

fn dialects() -> impl Strategy<Value = Dialect> {
    select(Dialect::ALL)
}

fn render(stream: &[&str]) -> String {
    stream.iter().flat_map(|data| ["data: ", data, "\n\n"]).collect()
}

/// Output events alone: what every time is made of.
fn outputs(events: &[Event]) -> String {
    let outputs: Vec<Event> =
        events.iter().copied().filter(|event| matches!(event, Event::Output(_))).collect();
    notation(&outputs)
}

proptest! {
    #[test]
    fn any_cut_changes_nothing(
        stream in stream(),
        dialect in dialects(),
        cuts in prop::collection::vec(any::<Index>(), 0..8),
        end in select(&[End::Eof, End::Broken, End::Cut][..]),
        last in any::<Index>(),
    ) {
        let body = render(&stream).into_bytes();
        let body = &body[..body.len() - last.index(body.len() + 1) / 8];
        let scenario = Scenario { dialect, end, ..bytes(body) };
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        cuts.sort_unstable();
        let (whole, whole_answer) = scenario.run(usize::MAX);
        for (seen, answer) in [scenario.run_cut(&cuts), scenario.run(1)] {
            prop_assert_eq!(&seen, &whole);
            prop_assert_eq!(format!("{answer:?}"), format!("{whole_answer:?}"));
        }
    }

    #[test]
    fn comments_ids_line_ends_and_padding_change_nothing(
        stream in stream(),
        dialect in dialects(),
        line_end in select(&["\n", "\r\n", "\r"][..]),
        noise in prop::collection::vec((select(&NOISE[..]), any::<bool>()), 12),
    ) {
        let (plain, plain_answer) = scenario(dialect, &render(&stream)).run(usize::MAX);
        let noisy: Vec<String> = stream.iter().zip(&noise).map(|(data, (line, comment))| {
            let padded = data.strip_suffix('}').map(|open| format!("{open},\"obfuscation\":\"x9Qz\"}}"));
            let comment = if *comment { ": PROCESSING~~" } else { "" };
            format!("{comment}{line}data:{}~~", padded.as_deref().unwrap_or(data))
        }).collect();
        let (seen, mut answer) = scenario(dialect, &noisy.concat().replace('~', line_end)).run(1);
        answer.keepalives = plain_answer.keepalives;
        prop_assert_eq!(outputs(&seen), outputs(&plain));
        let unpadded = format!("{answer:?}").replace(",\\\"obfuscation\\\":\\\"x9Qz\\\"", "");
        prop_assert_eq!(unpadded, format!("{plain_answer:?}"));
    }

    /// An event like the one before it may be read without a parse; a number of its own makes each one be parsed.
    #[test]
    fn events_that_are_alike_are_read_as_if_they_were_not(
        stream in prop::collection::vec((select(&SHAPES[..3]), select(&SHAPES[..]), select(&TEXTS[..]), 0_u8..8), 0..40),
        dialect in dialects(),
    ) {
        // Mostly one shape, so that most events are alike.
        let common = stream.first().map_or(SHAPES[0], |(common, ..)| common);
        let alike: Vec<String> = stream
            .iter()
            .map(|(_, other, text, chance)| if *chance == 0 { other } else { &common }.replace('~', text))
            .collect();
        let unlike: Vec<String> = alike
            .iter()
            .enumerate()
            .map(|(n, event)| event.replacen('{', &format!("{{\"n\":{n},"), 1))
            .collect();
        let read = |events: &[String]| {
            let events: Vec<&str> = events.iter().map(String::as_str).collect();
            scenario(dialect, &render(&events)).run(usize::MAX)
        };
        let ((seen, answer), (parsed, right)) = (read(&alike), read(&unlike));
        prop_assert_eq!(notation(&seen), notation(&parsed));
        prop_assert_eq!(describe(&answer.outcome), describe(&right.outcome));
        prop_assert_eq!(answer.flags, right.flags);
        prop_assert_eq!(format!("{:?}", answer.transcripts().collect::<Vec<_>>()), format!("{:?}", right.transcripts().collect::<Vec<_>>()));
        prop_assert_eq!(format!("{:?}", answer.usage), format!("{:?}", right.usage));
        prop_assert_eq!((answer.finish_reason, answer.malformed), (right.finish_reason, right.malformed));
    }

    #[test]
    fn events_without_output_change_no_time(
        stream in stream(),
        dialect in dialects(),
        silent in prop::collection::vec((select(&SILENT[..]), any::<Index>()), 0..6),
    ) {
        let (plain, plain_answer) = scenario(dialect, &render(&stream)).run(usize::MAX);
        let mut longer = stream;
        for (event, at) in silent {
            longer.insert(at.index(longer.len() + 1), event);
        }
        let (seen, answer) = scenario(dialect, &render(&longer)).run(usize::MAX);
        // A silent event may open a second choice, and running usage of several choices gives no differences.
        let no_tokens = |events: &[Event]| -> Vec<String> {
            let words = outputs(events);
            words.split(' ').map(|word| word.split('/').next().unwrap_or_default().to_owned()).collect()
        };
        prop_assert_eq!(no_tokens(&seen), no_tokens(&plain));
        prop_assert_eq!(&answer.transcript.reasoning, &plain_answer.transcript.reasoning);
    }
}

/// Pieces of which streams that are almost right are made.
const FRAGMENTS: [&[u8]; 26] = [
    b"data: ",
    b"data:",
    b"\n",
    b"\r",
    b"\n\n",
    b"\r\n\r\n",
    b": ping\n\n",
    b"event: error\n",
    b"error: {\"code\":400}\n",
    b"[DONE]",
    b"data: [DONE]\n",
    b"{\"choices\":[",
    b"{\"delta\":{\"content\":\"a\"}}",
    b"{\"text\":\"a\"}",
    b"{\"delta\":{},\"finish_reason\":\"stop\"}",
    b"]}",
    b"{\"error\":{\"message\":\"m\"}}",
    b"{\"data\":[{\"embedding\":[0.5]}]}",
    b"{\"data\":[{\"embedding\":\"AAAAPw==\"}]}",
    b"\xEF\xBB\xBF",
    b"\xFF",
    b"\"",
    b"\\",
    b"[{",
    b"\"usage\":{\"completion_tokens\":1}",
    b",",
];

/// Without one of these a stream has no end.
const TERMINALS: [&[u8]; 9] = [
    b"[DONE]",
    b"finish_reason",
    b"finishReason",
    b"blockReason",
    b"message_stop",
    b"stop_reason",
    b"stopReason",
    b"\"done\":true",
    b"response.completed",
];

#[test]
fn any_bytes_are_taken_and_nonsense_is_no_success() {
    type Input = (Vec<u8>, u8, u8, bool, bool);
    let events = every_dialect_s_events();
    let fragments: Vec<&[u8]> = FRAGMENTS.iter().copied().chain(events.iter().map(Vec::as_slice)).collect();
    bolero::check!().with_type::<Input>().with_iterations(8000).for_each(
        |(choices, dialect, piece, streaming, is_refusal)| {
            let mut body = Vec::new();
            for choice in choices {
                match fragments.get(usize::from(*choice) % (fragments.len() + 8)) {
                    Some(fragment) => body.extend_from_slice(fragment),
                    None => body.push(*choice),
                }
            }
            let is_ended = TERMINALS.iter().any(|word| body.windows(word.len()).any(|at| at == *word));
            let dialect = Dialect::ALL[usize::from(*dialect) % Dialect::ALL.len()];
            let status = if *is_refusal { 500 } else { 200 };
            let scenario = Scenario { dialect, status, streaming: *streaming, ..bytes(body) };
            let (whole, whole_answer) = scenario.run(usize::MAX);
            let (seen, answer) = scenario.run(usize::from(piece % 8) + 1);
            assert_eq!(seen, whole);
            assert_eq!(format!("{answer:?}"), format!("{whole_answer:?}"));
            assert!(is_ended || !answer.streamed || answer.outcome != Outcome::Complete, "{dialect}");
        },
    );
}
