use inferometer_record::{Sample, Status, TokensSource};

use super::*;

const MS: u64 = 1_000_000;

/// An output event at so many ms, with so many characters.
fn text(ms: u64, chars: u32) -> Stamped {
    Stamped { at_ns: ms * MS, chars, answer: true, ..Stamped::default() }
}

fn reasoning(ms: u64, chars: u32) -> Stamped {
    Stamped { answer: false, ..text(ms, chars) }
}

fn told(ms: u64, chars: u32, tokens: u32) -> Stamped {
    Stamped { tokens: Some(tokens), ..text(ms, chars) }
}

/// An ok sample that started at 0 and says it put out so many tokens.
fn ok(tokens: Option<u64>) -> Sample {
    Sample {
        status: Status::Ok,
        start_ns: Some(0),
        end_ns: Some(1_000 * MS),
        output_tokens: tokens,
        tokens_source: TokensSource::Server,
        ..Sample::default()
    }
}

fn filled(mut sample: Sample, events: &[Stamped]) -> Sample {
    fill(&mut sample, events, &|_, _| 0);
    sample
}

fn evenly(count: u64, from_ms: u64, gap_ms: u64, chars: u32) -> Vec<Stamped> {
    (0..count).map(|i| text(from_ms + i * gap_ms, chars)).collect()
}

#[test]
fn c01_the_role_chunk_is_no_token() {
    let sample = filled(Sample { byte_ns: Some(50 * MS), ..ok(Some(5)) }, &evenly(5, 400, 20, 3));
    assert_eq!((sample.ttft_ms, sample.ttfa_ms), (Some(400.0), Some(400.0)));
    assert_eq!((sample.tpot_ms, sample.chunks), (Some(20.0), 5));
    assert_eq!((sample.gap_p50_ns, sample.gap_max_ns), (Some(20 * MS), Some(20 * MS)));
    assert_eq!(sample.request_latency_ms, Some(480.0));
    assert_eq!(sample.flags, ["first_chunk_estimated"]);
}

#[test]
fn c03_reasoning_has_no_answer_time() {
    let sample = filled(ok(Some(3)), &[reasoning(300, 4), reasoning(330, 4), reasoning(360, 4)]);
    assert_eq!((sample.ttft_ms, sample.ttfa_ms, sample.answer_ns), (Some(300.0), None, None));
}

#[test]
fn c05_an_empty_answer_has_an_end_and_no_token() {
    let sample = filled(Sample { end_ns: Some(40 * MS), ..ok(Some(0)) }, &[]);
    assert_eq!((sample.ttft_ms, sample.tpot_ms, sample.request_latency_ms), (None, None, Some(40.0)));
    assert_eq!((sample.first_ns, sample.gap_max_ns, sample.stalls), (None, None, None));
}

#[test]
fn c07_a_chunk_is_not_a_token() {
    let sample = filled(ok(Some(20)), &evenly(5, 100, 40, 20));
    assert_eq!((sample.tpot_ms, sample.first_chunk_tokens), (Some(10.0), Some(4)));
    assert_eq!(sample.flags, ["first_chunk_estimated"]);
}

#[test]
fn first_chunk_from_the_server_where_it_told() {
    let sample = filled(ok(Some(11)), &[told(100, 30, 8), told(110, 3, 1), told(120, 3, 2)]);
    assert_eq!((sample.first_chunk_tokens, sample.tpot_ms), (Some(8), Some(20.0 / 3.0)));
    assert!(sample.flags.is_empty());
    let late = filled(ok(Some(2)), &[told(100, 3, 0), told(120, 3, 2)]);
    assert_eq!(
        (late.first_chunk_tokens, late.tpot_ms),
        (Some(1), Some(20.0)),
        "0 for an event with text is no count"
    );
    let tool = Stamped { tool: true, ..text(100, 90) };
    let called = filled(ok(Some(11)), &[tool, text(200, 10)]);
    assert_eq!((called.first_chunk_tokens, called.tpot_ms), (Some(1), Some(10.0)));
}

/// tpot that must be absent, each for its own reason.
#[test]
fn tpot_null_rules() {
    let null = |sample: Sample, events: &[Stamped], why: &str| {
        assert_eq!(filled(sample, events).tpot_ms, None, "{why}");
    };
    let flagged = |sample: Sample, flag: &str| Sample { flags: vec![flag.to_owned()], ..sample };
    null(ok(Some(1)), &[text(100, 3)], "one event");
    null(ok(Some(1)), &[text(100, 3), text(200, 3)], "no token after the first");
    null(ok(Some(9)), &[text(100, 3), text(100, 3)], "one stamp");
    null(ok(None), &evenly(5, 100, 10, 3), "N unknown");
    null(ok(Some(0)), &evenly(5, 100, 10, 3), "the server says 0");
    null(Sample { status: Status::Truncated, ..ok(Some(5)) }, &evenly(5, 100, 10, 3), "not ok");
    null(flagged(ok(Some(5)), "not_streamed"), &evenly(5, 100, 10, 3), "one piece");
    null(
        flagged(ok(Some(50)), "hidden_reasoning"),
        &evenly(5, 100, 10, 3),
        "hidden reasoning of unknown size",
    );
    null(ok(Some(20)), &[evenly(19, 100, 0, 3), vec![text(101, 3)]].concat(), "coalesced");
}

#[test]
fn hidden_reasoning_is_not_in_n() {
    let sample =
        Sample { reasoning_tokens: Some(95), flags: vec!["hidden_reasoning".into()], ..ok(Some(100)) };
    // The first visible event carries the hidden tokens in the running usage: its own share is by characters.
    let sample = filled(sample, &[told(500, 4, 96), told(510, 4, 1), told(520, 4, 1), told(530, 8, 2)]);
    assert_eq!((sample.first_chunk_tokens, sample.tpot_ms), (Some(1), Some(7.5)));
}

#[test]
fn tokens_of_the_tokenizer_are_flagged() {
    let sample = filled(Sample { counted_output_tokens: Some(5), ..ok(None) }, &evenly(5, 100, 10, 3));
    assert_eq!((sample.tpot_ms, sample.tokens_source), (Some(10.0), TokensSource::Estimated));
    assert_eq!(sample.flags, ["first_chunk_estimated", "tokens_estimated"]);
}

#[test]
fn an_answer_in_one_piece_has_no_first_token() {
    let sample = Sample { flags: vec!["not_streamed".into()], ..ok(Some(5)) };
    let sample = filled(sample, &[text(700, 20)]);
    assert_eq!((sample.ttft_ms, sample.ttfa_ms, sample.request_latency_ms), (None, None, Some(700.0)));
}

#[test]
fn think_tags_hide_when_the_answer_began() {
    let sample = Sample { flags: vec!["think_tags".into()], ..ok(Some(5)) };
    let sample = filled(sample, &evenly(5, 400, 20, 3));
    assert_eq!((sample.ttft_ms, sample.ttfa_ms, sample.answer_ns), (Some(400.0), None, None));
}

#[test]
fn only_ok_has_a_latency() {
    let events = [text(100, 3), text(120, 3)];
    let sample = filled(Sample { status: Status::StreamError, ..ok(None) }, &events);
    assert_eq!((sample.ttft_ms, sample.request_latency_ms), (Some(100.0), None));
}

#[test]
fn coalesced_needs_ten_events_and_two_stamps() {
    let coalesced = |events: &[Stamped]| has_flag(&filled(ok(Some(20)), events), "coalesced");
    assert!(!coalesced(&evenly(9, 100, 0, 1)), "nine events");
    assert!(coalesced(&evenly(10, 100, 0, 1)));
    assert!(coalesced(&[evenly(10, 100, 0, 1), evenly(10, 200, 0, 1), evenly(2, 300, 10, 1)].concat()));
    assert!(!coalesced(&[evenly(9, 100, 0, 1), evenly(9, 200, 0, 1), evenly(2, 300, 10, 1)].concat()));
}

#[test]
fn stalls_absolute_and_relative() {
    let stream = [evenly(5, 100, 10, 1), evenly(5, 740, 10, 1), evenly(2, 1_030, 10, 1)].concat();
    let sample = filled(ok(Some(12)), &stream);
    assert_eq!((sample.stalls, sample.stalls_relative), (Some(1), Some(2)), "600 and 250 ms");
    assert_eq!(sample.stall_max_ns, Some(600 * MS));
    assert_eq!(sample.stall_share, Some(600.0 / 940.0));
    let short = filled(ok(Some(3)), &[text(0, 1), text(600, 1), text(610, 1)]);
    assert_eq!(
        (short.stalls, short.stalls_relative),
        (Some(1), None),
        "too few gaps to know the stream's own"
    );
}

#[test]
fn our_own_lateness_is_no_stall() {
    let mut sample = ok(Some(3));
    let late = |from, to| if (from..to).contains(&(300 * MS)) { 150 * MS } else { 0 };
    fill(&mut sample, &[text(0, 1), text(600, 1), text(1_100, 1)], &late);
    assert_eq!(
        (sample.stalls, sample.stall_max_ns),
        (Some(1), Some(500 * MS)),
        "600 − 150 is none, 500 is one"
    );
}

#[test]
fn phases_of_a_connection() {
    let stamps = |reused| Sample {
        sched_ns: Some(10 * MS),
        start_ns: Some(12 * MS),
        connect_ns: Some(20 * MS),
        tls_ns: Some(32 * MS),
        conn_reused: Some(reused),
        ..ok(Some(1))
    };
    let new = filled(stamps(false), &[text(112, 3)]);
    assert_eq!((new.connect_ms, new.schedule_lag_ms, new.ttft_ms), (Some(20.0), Some(2.0), Some(100.0)));
    assert_eq!(filled(stamps(true), &[]).connect_ms, None);
}

#[test]
fn events_file_keeps_every_stamp_to_the_microsecond() {
    let at = |ns| Stamped { at_ns: ns, chars: 1, ..Stamped::default() };
    let events = [at(1_999), at(3_001), at(3_999), at(5_000)];
    let record = events_of(&ok(None), &events).unwrap();
    assert_eq!((record.first_us, record.deltas_us.as_slice()), (Some(1), [2, 0, 2].as_slice()));
    assert_eq!((record.chars.len(), record.tokens), (4, None));
    assert_eq!(events_of(&ok(None), &[]), None);
    let partly = events_of(&ok(None), &[told(1, 1, 3), text(2, 1)]).unwrap();
    assert_eq!(partly.tokens, Some(vec![3, 0]));
}
