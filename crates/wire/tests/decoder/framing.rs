//! W58 to W70: server-sent events as they are really sent.

use inferometer_wire::{Decoder, Dialect, End, Head, MAX_EVENT};

use crate::common::{A, B, DONE, STOP, Scenario, bytes, events};

#[test]
fn w58_no_space_after_the_colon() {
    bytes(format!("data:{A}\n\ndata:{STOP}\n\n")).check("a1", "complete", "");
}

#[test]
fn w59_line_ends() {
    for end in ["\n", "\r\n", "\r"] {
        bytes(format!("data: {A}{end}{end}data: {B}{end}{end}data: {STOP}{end}{end}"))
            .check("a1 a3", "complete", "");
    }
    bytes(format!("data: {A}\r\n\ndata: {B}\r\rdata: {STOP}\n\r\n")).check("a1 a3", "complete", "");
}

#[test]
fn w59_crlf_cut_between_reads_makes_no_blank_line() {
    // A blank line too many after the first data line would cut the event in two.
    let body = "data: {\"choices\":\r\ndata: [{\"delta\":{\"content\":\"a\"}}]}\r\n\r\n";
    bytes([body, &format!("data: {STOP}\r\n\r\n")].concat()).check("a1", "complete", "");
}

#[test]
fn w60_comments_as_keep_alive() {
    let answer = bytes(format!(": PROCESSING\n\n: keep-alive\n\n:\ndata: {A}\n\ndata: {STOP}\n\n"))
        .check("k k k a1", "complete", "");
    assert_eq!(answer.keepalives, 3);
}

#[test]
fn w61_blank_lines_before_a_json_body() {
    let body = r#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}"#;
    let scenario = Scenario { streaming: false, ..bytes(["\n".repeat(50).as_str(), " \r\n", body].concat()) };
    assert_eq!(scenario.check("", "complete", "").transcript.content, "a");
}

#[test]
fn w62_event_id_and_retry_lines() {
    bytes(format!("event: message\nid: 7\nretry: 3000\ndata: {A}\n\nretry: 1\n\nid: 8\n\ndata: {STOP}\n\n"))
        .check("a1", "complete", "");
}

#[test]
fn w63_data_over_several_lines() {
    let body = "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"a\"}}]}\n\n";
    bytes([body, &format!("data: {STOP}\n\n")].concat()).check("a1", "complete", "");
}

#[test]
fn w64_empty_data() {
    let answer = bytes(format!("data:\n\nevent: ping\n\ndata\n\nevent: ping\ndata: {{\"type\":\"ping\"}}\n\ndata: {A}\n\ndata: {STOP}\n\n"))
        .check("k k k k a1", "complete", "");
    assert_eq!((answer.keepalives, answer.malformed), (4, 0));
}

#[test]
fn w65_several_events_in_one_read() {
    let scenario = events(&[A, B, STOP]);
    let mut decoder = Decoder::new(Dialect::Chat, Head { status: 200, content_type: None, streaming: true });
    let mut count = 0;
    decoder.feed(&scenario.body, &mut |_| count += 1);
    assert_eq!(count, 2);
    scenario.check("a1 a3", "complete", "");
}

#[test]
fn w66_event_cut_inside_a_character() {
    let answer =
        events(&["{\"choices\":[{\"delta\":{\"content\":\"中😀\"}}]}", STOP]).check("a2", "complete", "");
    assert_eq!(answer.transcript.content, "中😀");
}

#[test]
fn w66_events_are_told_with_their_last_byte() {
    for (body, ends) in [
        (format!("data: {A}\n\ndata: {B}\n\n"), [A.len() + 8, A.len() + B.len() + 16]),
        (format!("data: {A}\r\n\r\ndata: {B}\r\n\r\n"), [A.len() + 9, A.len() + B.len() + 19]),
    ] {
        let mut decoder =
            Decoder::new(Dialect::Chat, Head { status: 200, content_type: None, streaming: true });
        let mut told = Vec::new();
        for (at, byte) in body.bytes().enumerate() {
            decoder.feed(&[byte], &mut |_| told.push(at + 1));
        }
        assert_eq!(told, ends, "{body:?}");
    }
}

#[test]
fn w67_unicode_line_separators() {
    let text = "a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f";
    let raw = text.replace(['\u{b}', '\u{c}'], "");
    let answer = events(&[&format!("{{\"choices\":[{{\"delta\":{{\"content\":\"{raw}\"}}}}]}}"), STOP])
        .check("a9", "complete", "");
    assert_eq!(answer.transcript.content, raw);
}

#[test]
fn w68_very_long_line() {
    let event = format!(r#"{{"choices":[{{"delta":{{"content":"{}"}}}}]}}"#, "x".repeat(300 << 10));
    events(&[&event, STOP]).check(&format!("a{}", 300 << 10), "complete", "");
}

#[test]
fn w68_event_too_large() {
    let event = format!("data: {A}\n\ndata: {}\n\ndata: {STOP}\n\n", "x".repeat(MAX_EVENT + 1));
    for size in [usize::MAX, 1 << 20] {
        let (seen, answer) = bytes(&event).run(size);
        assert_eq!(crate::common::notation(&seen), "a1");
        assert_eq!(crate::common::describe(&answer.outcome), "protocol event_too_large");
        assert_eq!(answer.flags.names().collect::<Vec<_>>(), ["event_too_large"]);
    }
    let lines = "data: 0123456789\n".repeat(MAX_EVENT / 10);
    let (_, answer) = bytes(lines).run(1 << 16);
    assert_eq!(crate::common::describe(&answer.outcome), "protocol event_too_large");
}

#[test]
fn an_endless_answer_is_bounded() {
    let event = format!(r#"{{"choices":[{{"delta":{{"content":"{}"}}}}]}}"#, "x".repeat(15 << 20));
    let answer = events(&[&event, &event, &event, &event]).run(usize::MAX).1;
    assert_eq!(crate::common::describe(&answer.outcome), "protocol answer_too_large");
    assert_eq!(answer.transcript.content.len(), 45 << 20);
}

#[test]
fn w69_last_event_without_its_blank_line() {
    for ending in ["\n", "", "\r\n", "\r"] {
        bytes(format!("data: {A}\n\ndata: {STOP}{ending}")).check("a1", "complete", "unterminated_event");
        bytes(format!("data: {STOP}\n\ndata: {A}{ending}")).check("a1", "complete", "unterminated_event");
    }
    let answer = bytes(format!("data: {A}\n\ndata: {}", &STOP[..20])).check("a1", "truncated", "");
    assert_eq!(answer.malformed, 0);
    let inside_a_character =
        [b"data: ", A.as_bytes(), b"\n\ndata: {\"choices\":[{\"text\":\"\xE4\xB8"].concat();
    bytes(inside_a_character).check("a1", "truncated", "");
    Scenario { end: End::Broken, ..bytes(format!("data: {A}\n\ndata: {}", &STOP[..20])) }
        .check("a1", "broken", "");
}

#[test]
fn w70_byte_order_mark_and_invalid_bytes() {
    let mark = [b"\xEF\xBB\xBFdata: ", A.as_bytes(), b"\n\n", b"data: ", STOP.as_bytes(), b"\n\n"].concat();
    bytes(mark).check("a1", "complete", "");
    let stray =
        [b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xFF\"}}]}\n\ndata: ", STOP.as_bytes(), b"\n\n"]
            .concat();
    assert_eq!(bytes(stray).check("a2", "complete", "invalid_utf8").transcript.content, "a\u{fffd}");
}

#[test]
fn c35_all_of_it_at_once() {
    let body = format!(
        ": hello\r\n\r\nevent: message\r\nid: 1\r\ndata:{A}\r\n\r\n: PROCESSING\r\n\r\nid: 2\r\ndata:{B}\r\n\r\ndata:{STOP}\r\n\r\ndata:{DONE}"
    );
    let answer = bytes(body).check("k a1 k a3", "complete", "");
    assert_eq!((answer.keepalives, answer.malformed), (2, 0));
}
