//! W01 to W26: which events carry output, and what.

use crate::common::{A, B, DONE, ROLE, STOP, Scenario, USAGE, bytes, events, notation};
use inferometer_wire::{Dialect, EventTokens, Spelling, ToolCall};

#[test]
fn w01_role_only_opener() {
    let answer = events(&[ROLE, A, B, STOP, DONE]).check("a1 a3", "complete", "");
    assert_eq!(answer.transcript.content, "a bc");
}

#[test]
fn w02_opener_with_null_content() {
    let opener = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}"#;
    events(&[opener, A, STOP, DONE]).check("a1", "complete", "");
}

#[test]
fn w03_reasoning_before_content() {
    let so = r#"{"choices":[{"delta":{"reasoning_content":"so"}}]}"#;
    let answer = events(&[so, A, STOP, DONE]).check("r2 a1", "complete", "");
    assert_eq!((answer.transcript.reasoning.as_str(), answer.transcript.content.as_str()), ("so", "a"));
}

#[test]
fn w04_reasoning_under_other_names() {
    for delta in [
        r#"{"reasoning":"so"}"#,
        r#"{"reasoning":"so","reasoning_content":"so"}"#,
        r#"{"reasoning_details":[{"type":"reasoning.text","text":"so"}]}"#,
        r#"{"reasoning_details":[{"type":"reasoning.summary","summary":"so"}]}"#,
        r#"{"reasoning":"so","reasoning_details":[{"type":"reasoning.text","text":"so","index":0}]}"#,
    ] {
        let event = format!(r#"{{"choices":[{{"delta":{delta}}}]}}"#);
        let answer = events(&[&event, A, STOP]).check("r2 a1", "complete", "");
        assert_eq!(answer.transcript.reasoning, "so", "{delta}");
    }
}

#[test]
fn w05_reasoning_as_object_or_array() {
    for (delta, seen, flags) in [
        (r#"{"reasoning_content":{"text":"so"}}"#, "r2 a1", ""),
        (r#"{"reasoning":[{"text":"so"}]}"#, "r2 a1", ""),
        (r#"{"reasoning":["s","o"]}"#, "r2 a1", ""),
        (r#"{"reasoning":{"volume":7}}"#, "a1", "unknown_reasoning_shape"),
        (
            r#"{"reasoning":{"parts":{"type":"x","deep":["s","o"],"data":"AA"}}}"#,
            "r2 a1",
            "unknown_reasoning_shape",
        ),
        (r#"{"reasoning":42}"#, "a1", "unknown_reasoning_shape"),
        (r#"{"reasoning":{}}"#, "a1", ""),
    ] {
        let event = format!(r#"{{"choices":[{{"delta":{delta}}}]}}"#);
        events(&[&event, A, STOP]).check(seen, "complete", flags);
    }
}

#[test]
fn w06_opaque_reasoning() {
    let opaque =
        r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"AAAA"}]}}]}"#;
    events(&[opaque, A, STOP]).check("o a1", "complete", "");
}

#[test]
fn w07_think_tags_in_content() {
    let pieces = ["<th", "ink>", "so", "</thi", "nk>", "42"];
    let stream: Vec<_> =
        pieces.iter().map(|text| format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#)).collect();
    let mut data: Vec<&str> = stream.iter().map(String::as_str).collect();
    data.push(STOP);
    let mut scenario = events(&data);
    let answer = scenario.check("r3 r4 r2 r5 r3 r2", "complete", "think_tags");
    assert_eq!(answer.transcript.content, pieces.concat());
    assert_eq!(answer.transcript.visible(), "42");
    scenario.think_tags = true;
    scenario.check("r3 r4 r2 r5 a3 a2", "complete", "think_tags");
}

#[test]
fn w08_content_as_typed_parts() {
    let thinking = r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"so"}]}]}}]}"#;
    let text = r#"{"choices":[{"delta":{"content":[{"type":"text","text":"42"}]}}]}"#;
    let answer = events(&[thinking, text, A, STOP]).check("r2 a2 a1", "complete", "");
    assert_eq!((answer.transcript.reasoning.as_str(), answer.transcript.content.as_str()), ("so", "42a"));
}

#[test]
fn w09_empty_deltas_in_the_middle() {
    events(&[A, ROLE, ROLE, B, STOP]).check("a1 a3", "complete", "");
}

#[test]
fn w10_white_space_is_output() {
    let space = r#"{"choices":[{"delta":{"content":" "}}]}"#;
    let lines = r#"{"choices":[{"delta":{"content":"\n\n"}}]}"#;
    events(&[space, lines, A, STOP]).check("a1 a2 a1", "complete", "");
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
}

fn tools(pieces: &[&str]) -> Vec<String> {
    pieces.iter().map(|piece| format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{piece}]}}}}]}}"#)).collect()
}

#[track_caller]
fn check_tools(pieces: &[&str], seen: &str, calls: &[ToolCall]) {
    let stream = tools(pieces);
    let data: Vec<&str> = stream.iter().map(String::as_str).chain([STOP]).collect();
    assert_eq!(events(&data).check(seen, "complete", "").transcript.tools, calls);
}

#[test]
fn w11_only_tool_calls() {
    let pieces = [
        r#"{"index":0,"id":"c1","type":"function","function":{"name":"","arguments":""}}"#,
        r#"{"index":0,"function":{"name":"lookup","arguments":""}}"#,
        r#"{"index":0,"function":{"arguments":"{\"q\":"}}"#,
        r#"{"index":0,"function":{"arguments":"1}"}}"#,
    ];
    check_tools(&pieces, "t6 t5 t2", &[call("c1", "lookup", "{\"q\":1}")]);
}

#[test]
fn w11_legacy_function_call() {
    let event = r#"{"choices":[{"delta":{"function_call":{"name":"lookup","arguments":"{}"}}}]}"#;
    let answer = events(&[event, STOP]).check("t8", "complete", "");
    assert_eq!(answer.transcript.tools, [call("", "lookup", "{}")]);
}

#[test]
fn w12_tool_index_missing_null_or_colliding() {
    let missing = [
        r#"{"id":"c1","function":{"name":"f","arguments":"{"}}"#,
        r#"{"function":{"arguments":"}"}}"#,
        r#"{"index":null,"id":"c2","function":{"name":"g","arguments":"{}"}}"#,
    ];
    check_tools(&missing, "t2 t1 t3", &[call("c1", "f", "{}"), call("c2", "g", "{}")]);
    let colliding = [
        r#"{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}}"#,
        r#"{"index":0,"id":"c2","function":{"name":"g","arguments":"["}}"#,
        r#"{"index":0,"function":{"arguments":"]"}}"#,
    ];
    check_tools(&colliding, "t3 t2 t1", &[call("c1", "f", "{}"), call("c2", "g", "[]")]);
}

#[test]
fn w13_tool_arguments_whole_first_or_with_the_name_repeated() {
    check_tools(
        &[r#"{"index":0,"function":{"name":"lookup","arguments":"{\"q\":\"map\"}"}}"#],
        "t17",
        &[call("", "lookup", "{\"q\":\"map\"}")],
    );
    let first =
        [r#"{"index":0,"function":{"arguments":"{}"}}"#, r#"{"index":0,"id":"c","function":{"name":"f"}}"#];
    check_tools(&first, "t2 t1", &[call("c", "f", "{}")]);
    let repeated = [
        r#"{"index":0,"function":{"name":"f","arguments":"{"}}"#,
        r#"{"index":0,"function":{"name":"f","arguments":""}}"#,
        r#"{"index":0,"function":{"name":"f","arguments":"}"}}"#,
    ];
    check_tools(&repeated, "t2 t1", &[call("", "f", "{}")]);
    check_tools(&[r#"{"function":{"name":"f","arguments":{"q":1}}}"#], "t8", &[call("", "f", "{\"q\":1}")]);
}

#[test]
fn w14_several_tokens_per_chunk() {
    let words = r#"{"choices":[{"delta":{"content":"north by north"}}]}"#;
    let answer = events(&[words, words, STOP, USAGE]).check("a14 a14", "complete", "");
    assert_eq!(answer.usage.unwrap().output, Some(5));
    assert_eq!(answer.event_tokens, None);
}

#[test]
fn w15_first_chunk_bundles_many_tokens() {
    let first = r#"{"choices":[{"delta":{"content":"a b c d e f g h"}}],"usage":{"completion_tokens":8}}"#;
    let next = r#"{"choices":[{"delta":{"content":" i"}}],"usage":{"completion_tokens":9}}"#;
    let answer = events(&[ROLE, first, next, STOP]).check("a15/8 a2/1", "complete", "");
    assert_eq!(answer.event_tokens, Some(EventTokens::Usage));
}

#[test]
fn w16_chunk_that_tokenises_to_nothing() {
    let mark = r#"{"choices":[{"delta":{"content":"\u0301"}}],"usage":{"completion_tokens":1}}"#;
    let first = r#"{"choices":[{"delta":{"content":"a"}}],"usage":{"completion_tokens":1}}"#;
    events(&[first, mark, STOP]).check("a1/1 a1/0", "complete", "");
}

#[test]
fn w17_text_and_delta_both_present() {
    let both = r#"{"choices":[{"text":"maps","delta":{"content":"map","token_id":7}}]}"#;
    let chat = events(&[both, STOP]);
    assert_eq!(chat.check("a3", "complete", "").transcript.content, "map");
    let completions = Scenario { dialect: Dialect::Completions, ..chat };
    assert_eq!(completions.check("a4", "complete", "").transcript.content, "maps");
}

#[test]
fn w18_cumulative_deltas() {
    let deltas = |texts: &[&str]| -> Vec<String> {
        texts.iter().map(|text| format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#)).collect()
    };
    for (texts, flags) in [
        (["a", "a b", "a b c", "a b c d"], "cumulative_deltas"),
        (["6", "66", "6", "66"], ""),
        (["6", "6", "6", "6"], ""),
    ] {
        let stream = deltas(&texts);
        let data: Vec<&str> = stream.iter().map(String::as_str).chain([STOP]).collect();
        let (seen, _) = events(&data).run(usize::MAX);
        let answer = events(&data).check(&notation(&seen), "complete", flags);
        assert_eq!((seen.len(), answer.transcript.content), (4, texts.concat()));
    }
}

#[test]
fn w19_whole_answer_repeated_at_the_end() {
    let whole =
        r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"a bc"},"finish_reason":"stop"}]}"#;
    assert_eq!(events(&[A, B, whole]).check("a1 a3", "complete", "").transcript.content, "a bc");
    assert_eq!(events(&[ROLE, whole]).check("a4", "complete", "").transcript.content, "a bc");
}

#[test]
fn w20_choice_without_delta() {
    let filter =
        r#"{"choices":[{"index":0,"finish_reason":null,"content_filter_offsets":{"check_offset":4}}]}"#;
    events(&[A, filter, B, STOP, filter]).check("a1 a3", "complete", "");
}

#[test]
fn w21_azure_prompt_filter_first() {
    let filter = r#"{"id":"","model":"","choices":[],"prompt_filter_results":[{"prompt_index":0}]}"#;
    let named = r#"{"id":"x1","model":"m-2026","choices":[{"delta":{"content":"a"}}]}"#;
    let answer = events(&[filter, named, filter, STOP]).check("a1", "complete", "");
    assert_eq!((answer.id.as_deref(), answer.model.as_deref()), (Some("x1"), Some("m-2026")));
}

#[test]
fn w22_several_choices_interleaved() {
    let piece = |index: u8, text: &str| {
        format!(r#"{{"choices":[{{"index":{index},"delta":{{"content":"{text}"}}}}]}}"#)
    };
    let stop = r#"{"choices":[{"index":1,"delta":{},"finish_reason":"length"}]}"#;
    let stream = [piece(1, "x"), piece(0, "a"), piece(1, "yz"), piece(0, "b")];
    let data: Vec<&str> = stream.iter().map(String::as_str).chain([stop, STOP]).collect();
    let answer = events(&data).check("a1 a1 a2 a1", "complete", "");
    assert_eq!(answer.transcript.content, "ab");
    assert_eq!(answer.finish_reason.as_deref(), Some("stop"));
    assert_eq!(answer.others.iter().map(|said| said.content.as_str()).collect::<Vec<_>>(), ["xyz"]);
    events(&data[..5]).check("a1 a1 a2 a1", "truncated", "");
}

#[test]
fn w23_progress_and_timing_extras() {
    let progress = r#"{"choices":[{"index":0,"delta":{}}],"prompt_progress":{"total":9,"processed":4},"timings":{"prompt_ms":1.5}}"#;
    let answer = events(&[progress, A, STOP]).check("a1", "complete", "");
    assert_eq!(answer.server_timing.unwrap().get(), r#"{"prompt_ms":1.5}"#);
    let dynamo = r#"{"choices":[],"nvext":{"timing":{"total_ms":3}}}"#;
    let answer = events(&[A, STOP, dynamo]).check("a1", "complete", "");
    assert_eq!(answer.server_timing.unwrap().get(), r#"{"timing":{"total_ms":3}}"#);
}

#[test]
fn w24_padding_field() {
    let padded = r#"{"choices":[{"index":0,"delta":{"content":"a"}}],"obfuscation":"x9Qz"}"#;
    assert_eq!(events(&[padded, STOP]).check("a1", "complete", "").transcript.content, "a");
}

#[test]
fn w25_logprob_only_events() {
    let only =
        r#"{"choices":[{"delta":{"content":""},"logprobs":{"content":[{"token":"ma","bytes":[109,97]}]}}]}"#;
    let with =
        r#"{"choices":[{"delta":{"content":"map"},"logprobs":{"content":[{"token":"p","bytes":[112]}]}}]}"#;
    let answer = events(&[only, with, with, STOP]).check("a3/2 a3/1", "complete", "logprobs");
    assert_eq!(answer.event_tokens, Some(EventTokens::Logprobs));
    assert_eq!(answer.transcript.spelling, Spelling::Bytes(b"mapp".to_vec()));
    let legacy =
        r#"{"choices":[{"text":"map","logprobs":{"tokens":["m","ap"],"token_logprobs":[-1.0,-2.0]}}]}"#;
    let scenario = Scenario { dialect: Dialect::Completions, ..events(&[legacy, STOP]) };
    scenario.check("a3/2", "complete", "logprobs");
}

#[test]
fn what_logprobs_spell_is_of_the_content() {
    let listed = r#""logprobs":{"content":[{"token":"map","bytes":null}]}"#;
    let check = |given: &[&str], right: Spelling| {
        let (_, answer) = events(given).run(usize::MAX);
        assert_eq!(answer.transcript.spelling, right, "{given:?}");
    };
    let choice = |inside: &str| format!(r#"{{"choices":[{{{inside},{listed}}}]}}"#);
    let map = || Spelling::Bytes(b"map".to_vec());
    let content = choice(r#""delta":{"content":"map"}"#);
    check(&[&content, STOP], map());
    // Those of other channels are none of the content's (sglang#26778), nor is `null` anything.
    for other in [r#""reasoning_content":"so""#, r#""refusal":"no""#, r#""tool_calls":[{"id":"x"}]"#] {
        let other = choice(&format!(r#""delta":{{{other},"content":null}}"#));
        check(&[&other, &content, STOP], map());
        check(&[&other, STOP], Spelling::Absent);
    }
    check(&[r#"{"choices":[{"delta":{"content":"a"},"logprobs":null}]}"#, STOP], Spelling::Absent);
    // The whole answer again at the end (W19).
    check(&[&content, &choice(r#""message":{"content":"map"},"finish_reason":"stop""#)], map());
}

#[test]
fn w26_tokens_but_no_text() {
    let unknown = r#"{"choices":[{"delta":{"novel_key":"map"}}]}"#;
    events(&[ROLE, unknown, STOP, USAGE]).check("", "complete", "output_invisible");
}

#[test]
fn refusals_and_audio_are_output() {
    let refusal = r#"{"choices":[{"delta":{"refusal":"no"}}]}"#;
    let audio = r#"{"choices":[{"delta":{"audio":{"id":"x","data":"AAAA","transcript":"hi"}}}]}"#;
    let answer = events(&[refusal, audio, STOP]).check("a2 a2", "complete", "");
    assert_eq!((answer.transcript.refusal.as_str(), answer.transcript.audio.as_str()), ("no", "hi"));
}

#[test]
fn fields_of_the_wrong_shape_fail_nothing() {
    let odd = r#"{"id":7,"model":null,"choices":[{"index":"0","delta":{"content":"a","role":1,"tool_calls":null},"finish_reason":false}]}"#;
    events(&[odd, STOP]).check("a1", "complete", "");
    let twice = r#"{"id":"x","choices":[{"delta":{"content":"z"}}],"choices":[{"delta":{"content":"a"}}]}"#;
    events(&[twice, STOP]).check("a1", "complete", "");
    let half = r#"{"choices":[{"delta":{"content":"\ud83d"}}]}"#;
    assert_eq!(events(&[half, STOP]).check("a1", "complete", "invalid_utf8").transcript.content, "\u{fffd}");
}

#[test]
fn completions_stream() {
    let body = "data: {\"choices\":[{\"text\":\" a\",\"index\":0,\"finish_reason\":null}]}\n\n\
                data: {\"choices\":[{\"text\":\"\",\"index\":0,\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":4,\"completion_tokens\":1,\"total_tokens\":5}}\n\n\
                data: [DONE]\n\n";
    let scenario = Scenario { dialect: Dialect::Completions, ..bytes(body) };
    assert_eq!(scenario.check("a2", "complete", "capped").transcript.content, " a");
}
