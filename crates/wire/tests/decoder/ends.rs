//! W40 to W57 and W76: how an answer ends. (W57's header forms are tested beside their parser.)

use inferometer_wire::{Decoder, Dialect, End, Finish, Head, Progress};

use crate::common::{A, B, DONE, STOP, Scenario, USAGE, bytes, events};

#[test]
fn w40_no_done() {
    events(&[A, B, STOP]).check("a1 a3", "complete", "");
}

#[test]
fn w41_done_variants() {
    for ending in
        ["data:[DONE]\n\n", "data: [DONE] \n\n", "data: [DONE]\n", "data: [DONE]", "data: [DONE]\r\n\r\n"]
    {
        let answer = bytes(format!("data: {A}\n\n{ending}")).check("a1", "complete", "no_finish_reason");
        assert_eq!(answer.ignored, 0, "{ending:?}");
    }
    let answer = events(&[A, STOP, DONE, B, "{oops"]).check("a1", "complete", "");
    assert_eq!((answer.ignored, answer.transcript.content.as_str()), (2, "a"));
}

#[test]
fn w41_done_needs_no_blank_line() {
    for ending in ["data: [DONE]", "data: [DONE]\n", "data:[DONE]"] {
        let mut decoder =
            Decoder::new(Dialect::Chat, Head { status: 200, content_type: None, streaming: true });
        decoder.feed(format!("data: {A}\n\n{ending}").as_bytes(), &mut |_| {});
        assert_eq!(decoder.progress(), Progress::Done, "{ending:?}");
    }
}

#[test]
fn progress_of_a_stream() {
    let mut decoder = Decoder::new(Dialect::Chat, Head { status: 200, content_type: None, streaming: true });
    for (data, progress) in
        [(A, Progress::Open), (STOP, Progress::Finished), (USAGE, Progress::Finished), (DONE, Progress::Done)]
    {
        decoder.feed(format!("data: {data}\n\n").as_bytes(), &mut |_| {});
        assert_eq!(decoder.progress(), progress, "{data}");
    }
}

#[test]
fn w42_done_but_never_a_finish_reason() {
    let null = r#"{"choices":[{"delta":{"content":"a"},"finish_reason":null}]}"#;
    events(&[null, null, DONE]).check("a1 a1", "complete", "no_finish_reason");
}

#[test]
fn w43_clean_eof_without_a_terminal() {
    let answer = events(&[A, B]).check("a1 a3", "truncated", "");
    assert_eq!(answer.transcript.content, "a bc");
    bytes("").check("", "truncated", "");
}

#[test]
fn w44_empty_finish_reason_on_every_chunk() {
    let empty = r#"{"choices":[{"delta":{"content":"a"},"finish_reason":""}]}"#;
    events(&[empty, empty]).check("a1 a1", "truncated", "");
    events(&[empty, STOP]).check("a1", "complete", "");
}

#[test]
fn w45_odd_finish_reasons() {
    for (raw, finish, flags) in [
        (r#""eos""#, Some(Finish::Stop), ""),
        (r#""eos_token""#, Some(Finish::Stop), ""),
        (r#""end_turn""#, Some(Finish::Stop), ""),
        (r#""tool_calls""#, Some(Finish::ToolCalls), ""),
        (r#""sunset""#, Some(Finish::Unknown), "finish_unknown"),
        (r#""content_filter""#, Some(Finish::ContentFilter), "content_filtered"),
        (r#""null""#, None, "no_finish_reason"),
        ("7", None, "no_finish_reason"),
    ] {
        let event = format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":{raw},"end_turn":true}}]}}"#);
        let answer = events(&[A, &event, DONE]).check("a1", "complete", flags);
        assert_eq!(answer.finish, finish, "{raw}");
        assert_eq!(answer.finish_reason.is_some(), finish.is_some(), "{raw}");
    }
}

#[test]
fn w46_finish_reason_error() {
    let error = r#"{"choices":[{"delta":{},"finish_reason":"error"}]}"#;
    events(&[A, error, USAGE, DONE]).check("a1", "stream_error error -", "");
    events(&[A, error, r#"{"error":{"code":500,"message":"m"}}"#]).check("a1", "stream_error 500 m", "");
}

#[test]
fn w47_finish_on_the_last_chunk_or_apart() {
    let both = r#"{"choices":[{"delta":{"content":" bc"},"finish_reason":"stop"}]}"#;
    for data in [&[A, both, USAGE][..], &[A, B, STOP, USAGE], &[A, B, USAGE, STOP]] {
        let answer = events(data).check("a1 a3", "complete", "");
        assert_eq!(answer.usage.unwrap().output, Some(5));
    }
}

#[test]
fn w48_length_with_nothing_visible() {
    let so = r#"{"choices":[{"delta":{"reasoning":"so"}}]}"#;
    let length = r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#;
    let answer = events(&[so, length]).check("r2", "complete", "capped");
    assert!(answer.transcript.is_answerless());
}

#[test]
fn w49_error_object_in_a_data_line() {
    let error = r#"{"error":{"message":"engine stopped","code":500}}"#;
    events(&[A, error, DONE]).check("a1", "stream_error 500 engine stopped", "");
    events(&[error, DONE]).check("", "stream_error 500 engine stopped", "");
    let with_choice = r#"{"choices":[{"delta":{"content":""},"finish_reason":"error"}],"error":{"code":502,"message":"m"}}"#;
    events(&[A, with_choice]).check("a1", "stream_error 502 m", "");
    for none in [r#""error":null"#, r#""error":"""#, r#""error":{}"#] {
        let event = format!(r#"{{"choices":[{{"delta":{{"content":"a"}}}}],{none}}}"#);
        events(&[&event, STOP]).check("a1", "complete", "");
    }
}

#[test]
fn w50_event_error() {
    for (data, outcome) in [
        (r#"{"message":"busy"}"#, "stream_error - busy"),
        ("busy", "stream_error - busy"),
        ("", "stream_error - -"),
        (r#"{"error":{"code":529,"message":"m"}}"#, "stream_error 529 m"),
    ] {
        bytes(format!("data: {A}\n\nevent: error\ndata: {data}\n\n")).check("a1", outcome, "");
    }
}

#[test]
fn w51_error_as_a_foreign_field() {
    let body = "error: {\"code\":400,\"message\":\"too long\"}\n\ndata: [DONE]\n\n";
    bytes(body).check("", "stream_error 400 too long", "");
    bytes(format!("error: no JSON\ndata: {STOP}\n\n")).check("", "complete", "");
}

#[test]
fn w52_error_in_other_shapes() {
    for (event, outcome) in [
        (r#"{"type":"error","code":"x","message":"y"}"#, "stream_error x y"),
        (
            r#"{"type":"error","error":{"type":"overloaded_error","message":"y"}}"#,
            "stream_error overloaded_error y",
        ),
        (r#"{"error":"text"}"#, "stream_error - text"),
        (r#"{"object":"error","message":"y","code":40}"#, "stream_error 40 y"),
        (r#"{"detail":"y"}"#, "stream_error - y"),
        (r#"{"code":503,"message":"y"}"#, "stream_error 503 y"),
    ] {
        events(&[A, event]).check("a1", outcome, "");
    }
    events(&[A, r#"{"code":200,"message":"success"}"#, STOP]).check("a1", "complete", "");
    let long = format!(r#"{{"error":{{"message":"{}"}}}}"#, "x".repeat(5000));
    let answer = events(&[&long]).run(usize::MAX).1;
    assert_eq!(crate::common::describe(&answer.outcome).len(), "stream_error - ".len() + 2048);
}

fn json(body: &str) -> Scenario {
    Scenario { content_type: "application/json", ..bytes(body) }
}

#[test]
fn w53_error_document_with_status_200() {
    let body = r#"{"error":{"message":"quota"}}"#;
    json(body).check("", "stream_error not_a_stream quota", "not_streamed");
    Scenario { streaming: false, ..json(body) }.check("", "stream_error - quota", "");
    json(r#"{"error":{"message":"m","code":"full"}}"#).check("", "stream_error full m", "not_streamed");
    json(r#"[{"error":{"code":400,"message":"m"}}]"#).check("", "stream_error 400 m", "not_streamed");
    json(r#"{"status":"ok"}"#).check("", "protocol not_an_answer", "not_streamed");
}

#[test]
fn w54_whole_answer_in_place_of_a_stream() {
    let body = r#"{"id":"x","choices":[{"message":{"content":"a b c"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}"#;
    for (scenario, flags) in [(json(body), "not_streamed"), (Scenario { streaming: false, ..json(body) }, "")]
    {
        let answer = scenario.check("", "complete", flags);
        assert_eq!((answer.transcript.content.as_str(), answer.streamed), ("a b c", false));
        assert_eq!(answer.usage.unwrap().output, Some(3));
        assert_eq!(answer.event_tokens, None);
    }
    json(r#"{"choices":[{"message":{"content":"a"}}]}"#).check(
        "",
        "complete",
        "no_finish_reason not_streamed",
    );
    json(&body[..body.len() - 2]).check("", "truncated", "");
    let text = r#"{"choices":[{"text":"a b c","finish_reason":"stop"}]}"#;
    let completions = Scenario { dialect: Dialect::Completions, streaming: false, ..json(text) };
    assert_eq!(completions.check("", "complete", "").transcript.content, "a b c");
}

#[test]
fn w55_refusals() {
    let refused = |status, body: &str| Scenario { status, ..bytes(body) };
    refused(429, "").check("", "http_error - -", "");
    refused(400, "data: {\"error\":{\"message\":\"m\",\"code\":400}}\n\n").check("", "http_error 400 m", "");
    refused(404, r#"{"detail":"Not Found"}"#).check("", "http_error - Not Found", "");
    refused(503, "<html>busy</html>").check("", "http_error - <html>busy</html>", "");
    Scenario { end: End::Broken, ..refused(500, "oh") }.check("", "http_error - oh", "");
    refused(302, "").check("", "http_error - -", "");
    let long = refused(500, &"x".repeat(1 << 20));
    assert_eq!(crate::common::describe(&long.run(usize::MAX).1.outcome).len(), "http_error - ".len() + 2048);
}

#[test]
fn w55_no_more_than_64_kib_of_a_refusal_are_wanted() {
    let mut decoder = Decoder::new(Dialect::Chat, Head { status: 500, content_type: None, streaming: true });
    decoder.feed(&vec![b'x'; (64 << 10) - 1], &mut |_| {});
    assert_eq!(decoder.progress(), Progress::Open);
    decoder.feed(b"x", &mut |_| {});
    assert_eq!(decoder.progress(), Progress::Done);
}

#[test]
fn w56_malformed_event() {
    let answer =
        events(&[A, r#"{"choices":[{"delta":{"conte"#, STOP]).check("a1", "protocol malformed_event", "");
    assert_eq!(answer.malformed, 1);
    for payload in [": PROCESSING", "", "null"] {
        let answer = events(&[A, payload, STOP]).check("a1 k", "complete", "");
        assert_eq!((answer.malformed, answer.keepalives), (0, 1), "{payload}");
    }
    for payload in ["[]", "7", "\"a\"", r#"{"choices":7}"#] {
        events(&[A, payload, STOP]).check("a1", "protocol malformed_event", "");
    }
}

#[test]
fn w76_broken_after_a_terminal_or_before() {
    let broken = |data: &[&str]| Scenario { end: End::Broken, ..events(data) };
    broken(&[A, STOP, DONE]).check("a1", "complete", "unclean_close");
    broken(&[A, STOP]).check("a1", "complete", "unclean_close");
    broken(&[A]).check("a1", "broken", "");
    broken(&[A, r#"{"error":"m"}"#]).check("a1", "stream_error - m", "");
}

#[test]
fn cut_by_ourselves() {
    let cut = |data: &[&str]| Scenario { end: End::Cut, ..events(data) };
    cut(&[A]).check("a1", "cut", "");
    cut(&[]).check("", "cut", "");
    cut(&[A, STOP]).check("a1", "complete", "");
}

#[test]
fn w88_newline_delimited_json_is_named() {
    let line = "{\"message\":{\"content\":\"a\"},\"done\":false}\n";
    Scenario { content_type: "application/x-ndjson", ..bytes(line.repeat(2)) }.check(
        "",
        "protocol ndjson",
        "not_streamed",
    );
}

#[test]
fn a_page_is_no_answer() {
    let page = Scenario { content_type: "text/html", ..bytes("<html>\n<p>welcome</p>\n</html>") };
    page.check("", "protocol not_a_stream", "");
}
