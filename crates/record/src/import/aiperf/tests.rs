use std::fs;

use super::*;
use crate::{Events, Phase, Sample, Status, TokensSource};

const OK: &str = r#"{"metadata":{"session_num":45,"x_request_id":"7609","conversation_id":"77aa","turn_index":0,"credit_issued_ns":1759813207532000000,"request_start_ns":1759813207532900363,"request_ack_ns":1759813207650730976,"request_end_ns":1759813207838764604,"worker_id":"w","record_processor_id":"p","benchmark_phase":"profiling","was_cancelled":false,"cancellation_time_ns":null},"metrics":{"input_sequence_length":{"value":550,"unit":"tokens"},"time_to_first_token":{"value":255.5,"unit":"ms"},"time_to_first_token":{"value":250,"unit":"ms"},"request_latency":{"value":297.5,"unit":"ms"},"inter_chunk_latency":{"value":[4.5,40.0,3.0],"unit":"ms"},"output_sequence_length":{"value":9,"unit":"tokens"},"inter_token_latency":{"value":5.25,"unit":"ms"}},"error":null}"#;
const CANCELLED: &str = r#"{"metadata":{"session_num":80,"turn_index":2,"conversation_id":"c","request_start_ns":1759813208000000000,"request_ack_ns":null,"request_end_ns":1759813208000625000,"benchmark_phase":"warmup","was_cancelled":true},"metrics":{"error_isl":{"value":550,"unit":"tokens"}},"error":{"code":499,"type":"RequestCancellationError","message":"Request was cancelled after 0.000 seconds"}}"#;

/// An export of these lines, with this summary beside it.
fn export(lines: &str, summary: Option<&str>) -> (tempfile::TempDir, Result<AiperfExport, RecordError>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(AiperfExport::FILE);
    fs::write(&path, lines).unwrap();
    if let Some(summary) = summary {
        fs::write(path.with_file_name("profile_export_aiperf.json"), summary).unwrap();
    }
    let export = AiperfExport::open(&path);
    (folder, export)
}

fn records(lines: &str) -> Vec<(Sample, Option<Events>)> {
    let (_folder, export) = export(lines, None);
    export.unwrap().stream().unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_record_says_what_it_knows_and_no_more() {
    let (sample, events) = records(&format!("{OK}\n{CANCELLED}\n")).remove(0);
    assert_eq!(
        (sample.status, sample.phase, sample.seq, sample.request),
        (Status::Ok, Phase::Measure, 45, 0)
    );
    assert_eq!((sample.prompt_id.as_str(), sample.is_final, sample.attempt), ("77aa", true, 1));
    assert_eq!((sample.sched_ns, sample.start_ns), (Some(0), Some(900_363)));
    assert_eq!(sample.headers_ns, Some(118_730_976));
    assert_eq!((sample.first_ns, sample.last_ns), (Some(250_900_363), Some(298_400_363)));
    assert_eq!(sample.end_ns, Some(306_764_604));
    assert_eq!(
        (sample.ttft_ms, sample.tpot_ms, sample.request_latency_ms),
        (Some(250.0), Some(5.25), Some(297.5))
    );
    assert!((sample.schedule_lag_ms.unwrap() - 0.900_363).abs() < 1e-9);
    assert_eq!((sample.input_tokens, sample.output_tokens), (Some(550), Some(9)));
    assert_eq!(
        (sample.tokens_source, sample.chunks, sample.gap_max_ns),
        (TokensSource::Estimated, 4, Some(40_000_000))
    );
    assert_eq!((sample.verdict, sample.grade, sample.ttfa_ms, sample.cost_usd), (None, None, None, None));
    assert_eq!(sample.flags, ["imported", "wall_clock"]);
    let events = events.unwrap();
    assert_eq!((events.first_us, events.deltas_us), (Some(250_900), vec![4_500, 40_000, 3_000]));
}

#[test]
fn failures_keep_their_kind() {
    let (cancelled, events) = records(CANCELLED).remove(0);
    assert_eq!(
        (cancelled.status, cancelled.http_status, cancelled.phase),
        (Status::Cancelled, None, Phase::Warmup)
    );
    assert_eq!((cancelled.input_tokens, cancelled.end_ns, events), (Some(550), Some(625_000), None));
    assert_eq!(
        (cancelled.prompt_id.as_str(), cancelled.error_code.as_deref()),
        ("c:2", Some("RequestCancellationError"))
    );
    let check = |error: &str, status: Status, http: Option<u16>| {
        let line = format!(r#"{{"metadata":{{"timestamp_ns":7}},"metrics":null,"error":{error}}}"#);
        let sample = records(&line).remove(0).0;
        assert_eq!((sample.status, sample.http_status), (status, http), "{error}");
        assert!(sample.error_message.is_none_or(|message| message.len() <= 2_048));
    };
    check(r#"{"code":503,"type":"Service Unavailable","message":"busy"}"#, Status::HttpError, Some(503));
    check(r#"{"error_code":"503","error_type":"x","error_message":"busy"}"#, Status::HttpError, Some(503));
    check(r#"{"code":429,"type":null,"message":null}"#, Status::HttpError, Some(429));
    check(r#"{"code":null,"type":"TimeoutError","message":"x"}"#, Status::Timeout, None);
    check(r#"{"type":"ClientConnectorError"}"#, Status::Transport, None);
    check(r#"{"type":"SSEResponseError"}"#, Status::StreamError, None);
    check(r#"{"code":-99999,"type":"InvalidInferenceResultError"}"#, Status::Protocol, None);
    check(&format!(r#"{{"message":"{}"}}"#, "é".repeat(2_000)), Status::Protocol, None);
}

#[test]
fn whole_answers_and_unknown_events_are_marked() {
    let line = |metrics: &str| {
        format!(r#"{{"metadata":{{"request_start_ns":5}},"metrics":{{{metrics}}},"error":null}}"#)
    };
    let whole = records(&line(r#""request_latency":{"value":3,"unit":"ms"}"#)).remove(0).0;
    assert_eq!((whole.first_ns, whole.last_ns, whole.end_ns), (None, None, None));
    assert_eq!((whole.request_latency_ms, whole.chunks), (Some(3.0), 0));
    assert_eq!(whole.flags, ["imported", "not_streamed", "wall_clock"]);
    let (stream, events) = records(&line(r#""time_to_first_token":{"value":3,"unit":"ms"}"#)).remove(0);
    assert_eq!((stream.first_ns, stream.chunks, events), (Some(3_000_000), 1, None));
    assert_eq!(stream.flags, ["events_unknown", "imported", "wall_clock"]);
    for bad in
        [r#"{"value":3,"unit":"sec"}"#, r#"{"value":-1}"#, r#"{"value":1e300}"#, r#"{"value":"3"}"#, "7"]
    {
        assert_eq!(
            records(&line(&format!(r#""time_to_first_token":{bad}"#))).remove(0).0.ttft_ms,
            None,
            "{bad}"
        );
    }
}

#[test]
fn the_names_of_the_first_versions_are_read() {
    let line = r#"{"metadata":{"timestamp_ns":5,"credit_phase":"warmup"},"metrics":{"ttft":{"value":3.5,"unit":"ms"}}}"#;
    let (sample, _) = records(line).remove(0);
    assert_eq!((sample.phase, sample.ttft_ms, sample.start_ns), (Phase::Warmup, Some(3.5), Some(0)));
}

#[test]
fn the_manifest_names_the_source_and_what_the_summary_says() {
    let (_folder, plain) = export(OK, None);
    let plain = plain.unwrap();
    let manifest = plain.manifest();
    assert_eq!((manifest.state, manifest.created.as_str()), (State::Complete, "2025-10-07T05:00:07.532Z"));
    assert_eq!(
        (&manifest.environment["imported_from"], &manifest.environment["records"]),
        (&json!("aiperf"), &json!(1))
    );
    let summary = r#"{"aiperf_version":"0.14.0","benchmark_id":"b1","was_cancelled":true,"input_config":{"endpoint":{"model_names":["m/8b"],"api_key":"planted-secret"},"loadgen":{"concurrency":16}}}"#;
    let (_folder, named) = export(OK, Some(summary));
    let named = named.unwrap();
    assert_eq!(
        (named.manifest().state, named.manifest().run_id.as_str()),
        (State::Interrupted, "aiperf-20251007T050007Z-b1")
    );
    assert!(!serde_json::to_string(named.manifest()).unwrap().contains("planted"));
    let (sample, _) = named.stream().unwrap().next().unwrap().unwrap();
    assert_eq!(
        (sample.target.as_str(), sample.load.as_str(), sample.workload.as_str()),
        ("m/8b", "c16", "aiperf")
    );
    assert_eq!(sample.run_id, named.manifest().run_id);
}

#[test]
fn what_is_no_export_is_refused_with_its_line() {
    let refused = |lines: &str| export(lines, None).1.unwrap_err().to_string();
    assert!(refused("").contains("no record of AIPerf's"));
    let foreign = refused("{}\n");
    assert!(foreign.contains("no record of AIPerf's either (missing field `metadata`"), "{foreign}");
    assert!(refused(&format!("{OK}\n{{\"metadata\":{{}}}}\n")).contains("line 2"));
    assert!(refused(&format!("{OK}\nplain text\n{OK}\n")).contains("line 2: expected"));
    let (_folder, torn) = export(&format!("{OK}\n{{\"meta"), None);
    assert_eq!(torn.unwrap().manifest().state, State::Interrupted);
}

/// Fuzz target of the import; a bounded smoke of it runs with the tests.
#[test]
fn any_line_is_a_record_or_an_error() {
    let place = Place { origin_ns: 1 << 40, ..Place::default() };
    bolero::check!().with_iterations(3_000).with_max_len(256).for_each(|bytes| {
        let number = bytes.iter().take(8).fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
        let real = f64::from_bits(number);
        let lines = [
            String::from_utf8_lossy(bytes).into_owned(),
            format!(
                r#"{{"metadata":{{"request_start_ns":{number},"request_end_ns":{},"credit_issued_ns":{}}},"metrics":{{"time_to_first_token":{{"value":{real:e}}},"request_latency":{{"value":{number}}},"output_sequence_length":{{"value":{real:e}}},"inter_chunk_latency":{{"value":[{},{number}]}}}},"error":{{"code":{}}}}}"#,
                number >> 1,
                number << 1,
                number >> 30,
                number as i64,
            ),
        ];
        for line in lines {
            let Ok(line) = serde_json::from_str::<Line>(&line) else { continue };
            let (sample, events) = line.record(&place, number);
            assert!(sample.ttft_ms.is_none_or(|ms| ms >= 0.0));
            assert!(sample.last_ns.is_none_or(|last| sample.end_ns >= Some(last)));
            assert!(events.is_none_or(|events| events.deltas_us.len() as u64 + 1 == sample.chunks));
        }
    });
}
