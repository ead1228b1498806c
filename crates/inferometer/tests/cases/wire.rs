//! Each wire quirk over a socket: what its scenario must become in `samples.jsonl`.

use std::collections::{BTreeMap, BTreeSet};

use crate::harness::{Bench, Outcome, Sample, assert_ms};

/// What a scenario's samples must say. Words: `c3` output events, `t5` output tokens by the server, `first8` tokens of
/// the first event, `in9` prompt tokens, `read8` and `write4` cached, `think3` reasoning tokens, `keep4` keep-alives,
/// `wait2000` ms of Retry-After, `http429`; `code=…`, `finish=…`, `from=…` the tokens' source; `+flag` a flag;
/// `no-ttft`, `no-ttfa`, `no-tpot`. What is not named is not there: no tokens, no other flag, no keep-alive.
const RIGHT: &[(&str, &str)] = &[
    // First token and chunk content.
    ("w01", "ok c3 t3 in7 first1 +first_chunk_estimated"),
    ("w02", "ok c3 t3 in7 first1 +first_chunk_estimated"),
    ("w03", "ok c3 t4 in7 think3 first1 +first_chunk_estimated"),
    ("w04", "ok c2 t2 in7 think1 first1 +first_chunk_estimated"),
    ("w04b", "ok c2 t2 in7 think1 first1 +first_chunk_estimated"),
    ("w04c", "ok c3 t4 in7 think3 first1 +first_chunk_estimated"),
    ("w05", "ok c2 t2 in7 think1 first1 +first_chunk_estimated"),
    ("w05b", "ok c2 t2 in7 think1 first1 +first_chunk_estimated"),
    ("w05c", "ok c2 t2 in7 think1 first1 +first_chunk_estimated +unknown_reasoning_shape"),
    ("w06", "ok c2 t12 in7 think10 first1 +first_chunk_estimated +hidden_reasoning"),
    ("w07", "ok c4 t8 in7 first2 +first_chunk_estimated +think_tags no-ttfa"),
    ("w08", "ok c3 t3 in7 think1 first2 +first_chunk_estimated"),
    ("w09", "ok c3 t3 in7 first1 +first_chunk_estimated"),
    ("w10", "ok c3 t3 in7 first1 +first_chunk_estimated"),
    ("w11", "ok c3 t9 in7 first1 +first_chunk_estimated finish=tool_calls"),
    ("w12", "ok c4 t12 in7 first1 +first_chunk_estimated finish=tool_calls"),
    ("w13", "ok c1 t9 in7 first1 +first_chunk_estimated finish=tool_calls no-tpot"),
    ("w13b", "ok c3 t9 in7 first1 +first_chunk_estimated finish=tool_calls"),
    ("w14", "ok c3 t9 in7 first3 +first_chunk_estimated"),
    ("w15", "ok c5 t12 in7 first9 +first_chunk_estimated"),
    ("w15b", "ok c5 t12 in7 first8"),
    ("w16", "ok c3 t2 in7 first1 +first_chunk_estimated"),
    ("w17", "ok c2 t2 in7 first1 +first_chunk_estimated"),
    ("w18", "ok c5 t5 in7 first1 +first_chunk_estimated +cumulative_deltas"),
    ("w19", "ok c3 t3 in7 first1 +first_chunk_estimated"),
    ("w20", "ok c3 t3 in7 first1 +first_chunk_estimated"),
    ("w21", "ok c3 t3 in7 first1 +first_chunk_estimated"),
    ("w22", "ok c3 t3 in7 first1 +first_chunk_estimated"),
    ("w23", "ok c3 t3 in7 first1 +first_chunk_estimated timing"),
    ("w24", "ok c2 t2 in7 first1 +first_chunk_estimated"),
    ("w25", "ok c2 from=estimated +tokens_estimated first1 +first_chunk_estimated +logprobs"),
    ("w26", "ok c0 t128 in7 +output_invisible no-ttft no-tpot"),
    // Usage.
    ("w27", "ok c3 t5 in9 first2 +first_chunk_estimated"),
    ("w28", "ok c3 t5 in9 first2 +first_chunk_estimated"),
    ("w29", "ok c3 t3 in9 first1 +first_chunk_estimated"),
    ("w30", "ok c3 t3 in9 first1 +first_chunk_estimated"),
    ("w31", "ok c3 t4 in9 first1"),
    ("w32", "ok c2 t2 in9 first1 +first_chunk_estimated from=server_ext timing"),
    ("w32b", "ok c2 t2 in9 first1 +first_chunk_estimated timing"),
    ("w33", "ok c2 t2 in9 first1 +first_chunk_estimated"),
    ("w34", "ok c2 first1 +first_chunk_estimated from=estimated +tokens_estimated"),
    ("w34b", "ok c2 first1 +first_chunk_estimated from=estimated +tokens_estimated"),
    ("w35", "http_error http400 c0 code=400 no-ttft no-tpot"),
    ("w35b", "ok c5 t5 in7 first1 +first_chunk_estimated"),
    ("w35c", "ok c5 t5 in7 first1 +first_chunk_estimated"),
    ("w35d", "ok c5 t5 in7 first1 +first_chunk_estimated"),
    ("w36", "ok c2 t60 in21 think60 first30 +first_chunk_estimated +reasoning_additive"),
    ("w37", "ok c2 t474 in21 first237 +first_chunk_estimated"),
    ("w38", "ok c2 t2 in100 read64 first1 +first_chunk_estimated"),
    ("w38b", "ok c2 t2 in100 read60 write4 first1 +first_chunk_estimated"),
    ("w39", "ok c2 t3 in9 first5 +usage_nonmonotonic no-tpot"),
    ("w39b", "ok c2 in9 first1 +first_chunk_estimated from=estimated +usage_invalid +tokens_estimated"),
    // Ends, finish reasons, errors.
    ("w40", "ok c2 t2 in7 first1 +first_chunk_estimated"),
    ("w41", "ok c2 t2 in7 first1 +first_chunk_estimated"),
    ("w41b", "ok c2 t2 in7 first1 +first_chunk_estimated"),
    ("w41c", "ok c2 t2 in7 first1 +first_chunk_estimated"),
    ("w41d", "ok c2 t2 in7 first1 +first_chunk_estimated"),
    ("w42", "ok c2 t2 in7 first1 +first_chunk_estimated +no_finish_reason finish="),
    ("w43", "truncated c2 code=truncated"),
    ("w43b", "truncated c2 code=truncated"),
    ("w44", "ok c2 t2 in7 first1 +first_chunk_estimated"),
    ("w44b", "truncated c2 code=truncated"),
    ("w45", "ok c2 t2 in7 first1 +first_chunk_estimated finish=eos"),
    ("w45b", "ok c2 t2 in7 first1 +first_chunk_estimated finish=end_turn"),
    ("w45c", "ok c2 t2 in7 first1 +first_chunk_estimated +finish_unknown finish=planetary_alignment"),
    ("w46", "stream_error c2 code=error finish=error"),
    ("w47", "ok c3 t3 in7 first1 +first_chunk_estimated"),
    ("w47b", "ok c3 t3 in7 first1 +first_chunk_estimated"),
    ("w48", "ok c3 t3 in7 think3 first1 +first_chunk_estimated +capped finish=length no-ttfa"),
    ("w49", "stream_error c2 code=500"),
    ("w49b", "stream_error c0 code=500 no-ttft"),
    ("w50", "stream_error c1 code="),
    ("w50b", "stream_error c1 code="),
    ("w51", "stream_error c1 code=400"),
    ("w52", "stream_error c1 code=x"),
    ("w52b", "stream_error c0 code= no-ttft"),
    ("w52c", "stream_error c0 code=400 no-ttft"),
    ("w52d", "stream_error c0 code= no-ttft"),
    ("w53", "stream_error c0 code=not_a_stream no-ttft +not_streamed"),
    ("w54", "ok c0 t3 in9 no-ttft no-tpot +not_streamed"),
    ("w55", "http_error http429 c0 code= no-ttft +throttled"),
    ("w55b", "http_error http400 c0 code= no-ttft"),
    ("w55c", "http_error http502 c0 code= no-ttft"),
    ("w56", "protocol c3 t3 in7 code=malformed_event"),
    ("w56b", "ok c2 t2 in7 first1 +first_chunk_estimated keep1"),
    ("w57", "http_error http429 c0 code= no-ttft wait2000 +throttled"),
    ("w57b", "http_error http429 c0 code= no-ttft wait1500 +throttled"),
    ("w57c", "http_error http429 c0 code= no-ttft wait-long +throttled"),
    ("w57d", "http_error http503 c0 code= no-ttft wait0 +throttled"),
    ("w57e", "http_error http429 c0 code= no-ttft wait250 +throttled"),
    ("w57f", "http_error http429 c0 code= no-ttft wait-long +throttled"),
    ("w57g", "http_error http429 c0 code= no-ttft +throttled"),
    // Framing.
    ("w58", "ok c2 t2 in7 first1 +first_chunk_estimated"),
    ("w59", "ok c2 t2 in7 first1 +first_chunk_estimated"),
    ("w59b", "ok c2 t2 in7 first1 +first_chunk_estimated"),
    ("w59c", "ok c2 t2 in7 first1 +first_chunk_estimated"),
    ("w60", "ok c2 t2 in7 first1 +first_chunk_estimated keep4"),
    ("w61", "ok c0 t3 in9 no-ttft no-tpot +not_streamed"),
    ("w62", "ok c2 t2 in7 first1 +first_chunk_estimated"),
    ("w63", "ok c2 t2 in7 first1 +first_chunk_estimated"),
    ("w64", "ok c2 t2 in7 first1 +first_chunk_estimated keep3"),
    ("w65", "ok c3 t3 in7 first1 +first_chunk_estimated +zero_gap"),
    ("w66", "ok c2 t2 in7 first1 +first_chunk_estimated"),
    ("w67", "ok c2 t2 in7 first1 +first_chunk_estimated"),
    ("w68", "ok c3 t40000 in7 first1 +first_chunk_estimated"),
    ("w69", "ok c2 first1 +first_chunk_estimated from=estimated +tokens_estimated +unterminated_event"),
    ("w69b", "ok c2 first1 +first_chunk_estimated from=estimated +tokens_estimated +unterminated_event"),
    ("w70", "ok c2 t2 in7 first1 +first_chunk_estimated"),
    ("w70b", "ok c2 t2 in7 first1 +first_chunk_estimated +invalid_utf8"),
    // Sixteen megabytes, beside which nothing else is read in time.
    ("w68b", "protocol code=event_too_large +event_too_large c1"),
    // Transport.
    ("w71", "ok c5 t5 in7 first1 +first_chunk_estimated +compressed"),
    ("w71b", "ok c5 t5 in7 first1 +first_chunk_estimated +compressed +zero_gap no-tpot"),
    ("w72", "ok c10 t10 in7 first1 +first_chunk_estimated +coalesced +zero_gap no-tpot"),
    ("w73", "ok c2 t2 in7 first1 +first_chunk_estimated"),
    ("w75", "transport c2 code=body"),
    ("w76", "ok c2 t2 in7 first1 +first_chunk_estimated +unclean_close"),
    ("w76b", "transport c2 code=body"),
];

/// Requests to each scenario.
const EACH: usize = 3;

#[test]
fn each_scenario_has_its_right_answer() {
    let names = inferometer_sim::scenarios().map(|(name, _)| name);
    let known: BTreeSet<&str> = names.filter(|name| name.starts_with('w')).collect();
    let rows: BTreeSet<&str> = RIGHT.iter().map(|(name, _)| *name).collect();
    assert_eq!(rows, known);
}

#[test]
fn w01_to_w26_first_token_and_content() {
    check("w01", "w26", "");
}

#[test]
fn w27_to_w39_usage() {
    check("w27", "w39b", "");
}

#[test]
fn w40_to_w57_ends_and_errors() {
    check("w40", "w57g", "");
}

#[test]
fn w58_to_w70_framing() {
    check("w58", "w70b", "");
}

#[test]
fn w68_an_event_that_is_too_long_for_anyone() {
    check("w68b", "w68b", "");
}

#[test]
fn w71_to_w76_transport() {
    check("w71", "w76b", "");
}

/// Too long to be sent byte by byte, or not what its row says once it is.
const NOT_BYTE_BY_BYTE: &[&str] = &["w65", "w68", "w68b", "w71b", "w72"];

#[test]
fn any_cut_of_the_bytes_says_the_same() {
    for (from, to) in [("w01", "w39b"), ("w40", "w76b")] {
        check(from, to, " · with w66");
    }
}

/// Runs the scenarios `from` to `to` side by side in one run, each `with` that, and holds each to its row.
fn check(from: &str, to: &str, with: &str) {
    let place = |of: &str| RIGHT.iter().position(|(name, _)| *name == of).unwrap();
    let rows = RIGHT[place(from)..=place(to)].iter();
    let rows: Vec<_> = rows.filter(|(name, _)| with.is_empty() || !NOT_BYTE_BY_BYTE.contains(name)).collect();
    // A percent each: the nth request of the model gets the scenario at n − 1.
    let branches: Vec<String> = rows.iter().map(|(name, _)| format!("1%: case {name}{with}")).collect();
    let script = format!("script:{} | else: case c20", branches.join(" | "));
    let bench = Bench::new();
    let run = bench.measure(&script, &format!("-n {} -c 16", 100 * EACH));
    let mut found: BTreeMap<usize, Vec<&Sample>> = BTreeMap::new();
    for sample in run.measured() {
        let record = run.record(sample).unwrap_or_else(|| panic!("no record of {}", sample.0));
        found.entry((record.nth as usize - 1) % 100).or_default().push(sample);
    }
    let mut wrong = BTreeSet::new();
    for (place, (name, right)) in rows.iter().enumerate() {
        let samples = &found[&place];
        assert_eq!(samples.len(), EACH, "{name}");
        wrong.extend(samples.iter().filter_map(|sample| difference(&run, name, right, sample)));
        if !right.contains("no-ttft") {
            run.check_stamps(&format!("{name}{with}"), samples.iter().copied());
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let others = found.iter().filter(|(place, _)| **place >= rows.len()).flat_map(|(_, samples)| samples);
    for sample in others {
        assert_eq!(sample.status(), "ok", "beside them: {}", sample.0);
    }
}

/// How a sample differs from its row, in the row's own words.
fn difference(run: &Outcome, name: &str, right: &str, sample: &Sample) -> Option<String> {
    let right: BTreeSet<String> = right.split(' ').map(str::to_owned).collect();
    let is = words(run, sample, &right);
    let lacks: Vec<_> = right.difference(&is).collect();
    let besides: Vec<_> = is.difference(&right).collect();
    let differs = !lacks.is_empty() || !besides.is_empty();
    differs.then(|| format!("{name}: lacks {lacks:?}, has besides {besides:?}"))
}

/// A sample in the words of its row. What stands there only where it is unusual is left out where it is usual.
fn words(run: &Outcome, sample: &Sample, right: &BTreeSet<String>) -> BTreeSet<String> {
    let mut words =
        BTreeSet::from([sample.status().to_owned(), format!("c{}", sample.count("chunks").unwrap())]);
    let counts = [
        ("t", "output_tokens"),
        ("in", "input_tokens"),
        ("think", "reasoning_tokens"),
        ("read", "cache_read_tokens"),
        ("write", "cache_write_tokens"),
        ("first", "first_chunk_tokens"),
    ];
    for (word, name) in counts {
        words.extend(sample.count(name).map(|count| format!("{word}{count}")));
    }
    words.extend(sample.count("keepalives").filter(|n| *n > 0).map(|n| format!("keep{n}")));
    words.extend(
        sample.count("http_status").filter(|status| *status != 200).map(|status| format!("http{status}")),
    );
    // The cap is at what a wait of ours may be, not at what the server said.
    words.extend(
        sample
            .count("retry_after_ms")
            .map(|ms| if ms > 50_000 { "wait-long".to_owned() } else { format!("wait{ms}") }),
    );
    if sample.status() != "ok" {
        words.insert(format!("code={}", sample.text("error_code")));
    }
    for (word, name, usual) in [("finish", "finish_reason", "stop"), ("from", "tokens_source", "server")] {
        let is_named = right.iter().any(|right| right.starts_with(&format!("{word}=")));
        if is_named || (sample.status() == "ok" && sample.text(name) != usual) {
            words.insert(format!("{word}={}", sample.text(name)));
        }
    }
    // Two events in one read are the machine's doing, but where the row says that they are the server's.
    let flags = sample.flags().into_iter().map(|flag| format!("+{flag}"));
    words.extend(flags.filter(|flag| flag != "+zero_gap" || right.contains(flag)));
    if !sample.field("server_timing").is_null() {
        words.insert("timing".to_owned());
    }
    words.extend(absences(run, sample, right));
    words
}

/// Which of the three times are not there, as far as that is unusual.
fn absences(run: &Outcome, sample: &Sample, right: &BTreeSet<String>) -> Vec<String> {
    let is_absent = |name: &str| sample.field(name).is_null();
    let said = |word: &str| right.contains(word);
    let mut words = Vec::new();
    if is_absent("ttft_ms") {
        words.push("no-ttft".to_owned());
    } else {
        // The answer begins where the server's did; it has none of its own where the server wrote none.
        let record = run.record(sample);
        let has_answer = record.is_some_and(|record| record.first_answer_ns.is_some());
        if is_absent("ttfa_ms") && (has_answer || said("no-ttfa")) {
            words.push("no-ttfa".to_owned());
        }
    }
    let is_measured = sample.status() == "ok" && sample.text("tokens_source").starts_with("server");
    // One stamp for all of them is the machine's doing, but where the row says that it is the server's.
    let has_span = sample.count("first_ns") < sample.count("last_ns");
    if is_absent("tpot_ms") && (is_measured && has_span || said("no-tpot")) {
        words.push("no-tpot".to_owned());
    }
    words
}

#[test]
fn w72_a_buffering_proxy_is_said() {
    let bench = Bench::new();
    let run = bench.measure("w72", "-n 3 -c 3");
    assert_eq!((run.count("ok"), run.code), (3, 0));
    for sample in run.measured() {
        // Written from 100 ms to 280, passed on in one piece at the end.
        assert!(sample.has_flag("coalesced"), "{:?}", sample.flags());
        assert_ms("ttft", sample.number("ttft_ms"), 280.0);
        assert_eq!(sample.field("first_ns"), sample.field("last_ns"));
        assert!(sample.field("tpot_ms").is_null(), "no rate of what came at one instant");
        assert_eq!((sample.count("chunks"), sample.count("output_tokens")), (Some(10), Some(10)));
    }
    let warnings = run.cell()["warnings"].to_string();
    assert!(warnings.contains("coalesced"), "{warnings}");
    run.check_stamps("w72", run.measured());
}

#[test]
fn w75_a_reset_in_the_body_keeps_what_had_come() {
    let bench = Bench::new();
    let run = bench.measure("w75", "-n 3 -c 3");
    assert_eq!((run.count("ok"), run.count("transport"), run.code), (0, 3, 5));
    for sample in run.measured() {
        assert_eq!((sample.text("error_code"), sample.count("http_status")), ("body", Some(200)));
        assert_eq!(sample.count("chunks"), Some(2));
        assert_ms("ttft", sample.number("ttft_ms"), 100.0);
        assert!(sample.field("request_latency_ms").is_null());
        let end = sample.count("end_ns").unwrap() - sample.count("start_ns").unwrap();
        assert_ms("end", Some(end as f64 / 1e6), 130.0);
    }
    // Two tokens of each, in no figure of what succeeded.
    assert_eq!((run.value("tokens/partial"), run.value("tokens/output")), (Some(6.0), None));
    assert_eq!(run.metric("request_latency")["n"], 0);
    assert_eq!(run.cell()["failures"][0]["count"], 3);
}

#[test]
fn quirks_may_come_together() {
    let bench = Bench::new();
    let plain = bench.measure("c01", "-n 3 -c 3");
    for model in [
        "c01+w59+w66+w60",
        "c01+w58+w62+w65",
        "c01+w01+w21+w20+w27",
        "c01+w59cr+w60+padding+unterminated",
        "c35+w66",
    ] {
        let run = bench.measure(model, "-n 3 -c 3");
        run.check_stamps(model, run.measured());
        for (sample, plain) in run.measured().zip(plain.measured()) {
            for name in [
                "status",
                "finish_reason",
                "input_tokens",
                "output_tokens",
                "chunks",
                "output_chars",
                "first_chunk_tokens",
                "tokens_source",
            ] {
                assert_eq!(sample.field(name), plain.field(name), "{model}: {name}");
            }
            let malformed = sample
                .flags()
                .into_iter()
                .find(|flag| flag.contains("invalid") || flag.contains("malformed"));
            assert_eq!(malformed, None, "{model}");
        }
    }
}
