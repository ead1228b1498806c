//! Real failures of measuring tools, as inputs with their right answers.

use inferometer_metrics::{CellSummary, Num, QuantilePoint, name};
use inferometer_record::Status;

use crate::cell::{Attempt, MS, answer, closed, metric, open, shape, sum_up, value, window_ms};

const C01: [u64; 5] = [400, 420, 440, 460, 480];

fn one_after_another(count: u64, of: impl Fn(u64) -> Attempt) -> Vec<Attempt> {
    (0..count).map(of).collect()
}

fn num(value: Option<Num>) -> Option<f64> {
    value.map(Num::get)
}

#[test]
fn c01_ttft_tpot_and_gaps() {
    let cell = sum_up(closed(1), one_after_another(20, |i| answer(i, i * 500, &C01, Some(5))));
    assert_eq!(shape(metric(&cell, name::TTFT)), [20.0, 400.0, 400.0, 400.0, 400.0, 400.0]);
    assert_eq!(shape(metric(&cell, name::TPOT)), [20.0, 20.0, 20.0, 20.0, 20.0, 20.0]);
    assert_eq!(shape(metric(&cell, name::SPEED)), [20.0, 50.0, 50.0, 50.0, 50.0, 50.0]);
    assert_eq!(metric(&cell, name::CHUNK_GAP).n, 80, "the TTFT is in no gap list");
    assert_eq!(value(metric(&cell, name::CHUNK_GAP).p50.as_ref()), Some(20.0));
    assert_eq!((cell.tokens.output, cell.tokens.input), (Some(100), Some(140)));
}

#[test]
fn c03_absent_is_never_zero() {
    let cell = sum_up(
        closed(1),
        one_after_another(40, |i| {
            if i % 2 == 0 {
                return answer(i, i * 500, &[300, 330], Some(2));
            }
            let mut reasoning = answer(i, i * 500, &[300, 330, 360], Some(3));
            reasoning.events.iter_mut().for_each(|event| event.answer = false);
            reasoning.with(|sample| sample.finish_reason = Some("length".into()))
        }),
    );
    assert_eq!(shape(metric(&cell, name::TTFT))[..3], [40.0, 300.0, 300.0]);
    assert_eq!(shape(metric(&cell, name::TTFA))[..3], [20.0, 300.0, 300.0]);
    assert_eq!(cell.counts.capped, 20);
}

#[test]
fn c05_empty_answers() {
    let cell = sum_up(
        closed(1),
        one_after_another(20, |i| match i % 5 {
            0 => {
                answer(i, i * 500, &[], Some(0)).with(|s| s.end_ns = s.start_ns.map(|start| start + 40 * MS))
            }
            _ => answer(i, i * 500, &C01, Some(5)),
        }),
    );
    assert_eq!((cell.counts.ok, cell.counts.empty), (20, 4));
    assert_eq!(shape(metric(&cell, name::TTFT))[..3], [16.0, 400.0, 400.0]);
    assert_eq!(metric(&cell, name::TPOT).n, 16);
    assert_eq!(shape(metric(&cell, name::LATENCY))[..3], [20.0, 40.0, 480.0]);
}

#[test]
fn c07_chunks_and_tokens() {
    let of = |i| {
        let mut chunky = answer(i, i * 500, &[100, 140, 180, 220, 260], Some(20));
        chunky.events.iter_mut().for_each(|event| event.chars = 20);
        chunky
    };
    let cell = sum_up(closed(1), one_after_another(20, of));
    assert_eq!(value(metric(&cell, name::TPOT).p50.as_ref()), Some(10.0));
    assert_eq!(value(metric(&cell, name::CHUNK_GAP).p50.as_ref()), Some(40.0));
    assert_eq!(num(cell.tokens.per_chunk), Some(4.0));
    assert!(metric(&cell, name::CHUNK_GAP).notes.iter().any(|note| note.contains("cannot be known")));
    assert!(cell.warnings.iter().any(|warning| warning.contains("4.00 tokens per chunk")));
}

#[test]
fn c10_peak_is_not_below_the_mean() {
    let events: Vec<u64> = (0..50).map(|i| 100 + i * 10).collect();
    let cell = sum_up(closed(4), one_after_another(40, |i| answer(i, i / 4 * 600, &events, Some(200))));
    let buckets = cell.throughput.buckets.as_ref().unwrap();
    let total: f64 = buckets.tokens.iter().map(|tokens| tokens.get()).sum();
    assert_eq!((total, cell.tokens.output), (8_000.0, Some(8_000)));
    assert!(buckets.full >= 5);
    assert!(num(cell.throughput.peak).unwrap() >= num(cell.throughput.mean).unwrap());
}

#[test]
fn c12_an_error_in_the_answer_is_a_failure() {
    let of = |i| match i % 5 {
        0 | 2 => answer(i, i * 500, &[100, 120, 140], None).failed(Status::StreamError, 150).with(|s| {
            s.error_code = Some("500".into());
            s.error_message = Some("engine stopped".into());
        }),
        _ => answer(i, i * 500, &C01, Some(5)),
    };
    let cell = sum_up(closed(1), one_after_another(50, of));
    assert_eq!((cell.counts.ok, cell.counts.stream_error, cell.counts.failed), (30, 20, 20));
    assert_eq!(metric(&cell, name::LATENCY).n, 30);
    assert_eq!((cell.tokens.output, num(cell.tokens.partial)), (Some(150), Some(60.0)));
    let [cause] = cell.failures.as_slice() else { panic!("one cause, not {:?}", cell.failures) };
    assert_eq!((cause.count, cause.http_status, cause.code.as_deref()), (20, Some(200), Some("500")));
    let all = metric(&cell, name::LATENCY).all_attempts.as_ref().unwrap();
    assert_eq!(
        (all.n, value(all.p50.as_ref()), value(all.p90.as_ref())),
        (50, Some(480.0), Some(f64::INFINITY))
    );
    let ttft = metric(&cell, name::TTFT).all_attempts.as_ref().unwrap();
    assert_eq!(num(ttft.max), Some(400.0), "a first token is that time, whatever followed");
}

#[test]
fn c14_failed_requests_are_no_throughput() {
    let of = |i| {
        answer(i, i, &[], None).failed(Status::Transport, 1).with(|sample| {
            sample.http_status = None;
            sample.sent_ns = None;
            sample.error_message = Some(format!("connection {i} refused"));
        })
    };
    let cell = sum_up(closed(1), one_after_another(60, of));
    assert_eq!((cell.counts.ok, cell.counts.transport), (0, 60));
    assert_eq!(num(cell.throughput.request_throughput.value), Some(0.0));
    assert_eq!(shape(metric(&cell, name::LATENCY)), [0.0, -1.0, -1.0, -1.0, -1.0, -1.0]);
    assert_eq!((cell.failures.len(), cell.failures[0].count), (1, 60));
    assert_eq!(cell.failures[0].message.as_deref(), Some("connection 0 refused"));
    assert_eq!(num(metric(&cell, name::ERROR_RATE).value), Some(1.0));
}

#[test]
fn c16_work_in_flight_at_the_end_counts() {
    let events: Vec<u64> = (1..=49).map(|i| i * 100).collect();
    let of = |i| answer(i, 5, &events, None).failed(Status::Cancelled, 4_995);
    let context = inferometer_metrics::CellContext { window: Some(window_ms(0, 5_000)), ..closed(10) };
    let cell = sum_up(context, one_after_another(10, of));
    assert_eq!((cell.counts.ok, cell.counts.cancelled, cell.counts.failed), (0, 10, 0));
    assert_eq!(num(cell.throughput.output_token_throughput.value), Some(98.0));
    assert!(cell.throughput.includes_unfinished);
    assert_eq!(cell.throughput.sources, ["events"]);
    assert_eq!(metric(&cell, name::LATENCY).n, 0);
    let latency = metric(&cell, name::LATENCY).all_attempts.as_ref().unwrap();
    assert_eq!((value(latency.p50.as_ref()), latency.p50.as_ref().unwrap().above), (Some(4_995.0), true));
}

#[test]
fn c22_a_frozen_server_is_seen_from_the_plan() {
    // 20/s for 10 s; whoever is planned while the server is frozen (3.0 to 5.0 s) is answered at 5.01 s.
    let of = |i| {
        let planned = i * 50;
        let frozen = (3_000..5_000).contains(&planned);
        let latency = if frozen { 5_010 - planned } else { 10 };
        answer(i, planned, &[latency], Some(1))
    };
    let cell = sum_up(open(20.0), one_after_another(200, of));
    let sched = metric(&cell, name::LATENCY_SCHED);
    assert_eq!(shape(sched), [200.0, 10.0, 10.0, 1010.0, 1910.0, 2010.0]);
    assert_eq!(metric(&cell, name::LATENCY).n, 200, "latency from send stands apart");
}

#[test]
fn c22_waiting_in_the_client_is_in_the_plan_only() {
    let cell =
        sum_up(open(20.0), one_after_another(20, |i| answer(i, 1_000 + i * 50, &[10], Some(1)).late(40)));
    assert_eq!(shape(metric(&cell, name::LATENCY_SCHED))[1], 50.0);
    assert_eq!(shape(metric(&cell, name::TTFT))[1], 10.0);
    assert!(!cell.client.valid, "{:?}", cell.client);
}

#[test]
fn c26_percentiles_of_few() {
    let cell = sum_up(closed(1), one_after_another(10, |i| answer(i, i * 500, &[(i + 1) * 10], Some(1))));
    let ttft = metric(&cell, name::TTFT);
    assert_eq!(shape(ttft), [10.0, 10.0, 50.0, 90.0, 100.0, 100.0]);
    assert_eq!(value(ttft.p95.as_ref()), Some(100.0));
    let marked = |point: &Option<QuantilePoint>| {
        point.as_ref().unwrap().note.as_deref().is_some_and(|note| note.contains("max of n"))
    };
    assert!(marked(&ttft.p95) && marked(&ttft.p99) && marked(&ttft.p999) && !marked(&ttft.p50));
    let one = sum_up(closed(1), [answer(0, 0, &[70], Some(1))]);
    assert_eq!(shape(metric(&one, name::TTFT)), [1.0, 70.0, 70.0, 70.0, 70.0, 70.0]);
}

#[test]
fn c28_one_token_answers() {
    let cell = sum_up(closed(1), one_after_another(5, |i| answer(i, i * 100, &[100], Some(1))));
    assert_eq!(shape(metric(&cell, name::TPOT)), [0.0, -1.0, -1.0, -1.0, -1.0, -1.0]);
    assert_eq!((cell.client.asked_rate, cell.client.rate_held), (None, None));
}

#[test]
fn c30_running_usage_is_not_summed() {
    let of = |i| {
        let mut running = answer(i, i * 500, &[100, 200, 300], Some(100)).with(|s| s.input_tokens = Some(40));
        for (event, tokens) in running.events.iter_mut().zip([10, 40, 50]) {
            event.tokens = Some(tokens);
        }
        running
    };
    let cell = sum_up(closed(1), one_after_another(10, of));
    assert_eq!((cell.tokens.input, cell.tokens.output), (Some(400), Some(1_000)));
    assert_eq!(value(metric(&cell, name::TPOT).p50.as_ref()), Num::new(200.0 / 90.0).map(Num::get));
}

fn retried(seq: u64) -> [Attempt; 3] {
    let refused = |attempt: u32, at: u64| {
        answer(seq, seq * 3_000 + at, &[], None).failed(Status::HttpError, 0).with(|sample| {
            (sample.attempt, sample.is_final, sample.http_status) = (attempt, false, Some(429));
        })
    };
    let answered = answer(seq, seq * 3_000 + 2_000, &C01, Some(5)).with(|sample| sample.attempt = 3);
    [refused(1, 0), refused(2, 1_000), answered]
}

#[test]
fn c39_retries_are_seen() {
    let cell = sum_up(closed(1), (0..10).flat_map(retried));
    assert_eq!((cell.counts.issued, cell.counts.attempts, cell.counts.rate_limited), (10, 30, 20));
    assert_eq!((cell.counts.ok, cell.counts.retries, cell.counts.failed), (10, 20, 0));
    assert_eq!(value(metric(&cell, name::TTFT).p50.as_ref()), Some(400.0), "from the last try");
    assert_eq!(value(metric(&cell, name::TTFT_FIRST_TRY).p50.as_ref()), Some(2_400.0));
    let attempts = metric(&cell, name::TTFT).all_attempts.as_ref().unwrap();
    assert_eq!((attempts.n, value(attempts.p50.as_ref())), (30, Some(f64::INFINITY)));
    let once =
        sum_up(closed(1), (0..10).map(|seq| retried(seq)[0].clone().with(|sample| sample.is_final = true)));
    assert_eq!((once.counts.issued, once.counts.attempts, once.counts.http_error), (10, 10, 10));
    assert!(!once.metrics.contains_key(name::TTFT_FIRST_TRY), "without retries there is one TTFT");
}

#[test]
fn censored_and_absent_are_told_apart() {
    let cut_after = |i, ms| answer(i, i * 1_000, &[], None).failed(Status::Cancelled, ms);
    let never_began = cut_after(9, 0).with(|sample| sample.start_ns = None);
    let one_piece = answer(8, 8_000, &[700], Some(5)).with(|sample| sample.flags.push("not_streamed".into()));
    let timed_out = answer(7, 7_000, &[], None).failed(Status::Timeout, 5_000);
    let cell = sum_up(closed(1), [answer(0, 0, &C01, Some(5)), timed_out, one_piece, never_began]);
    let all = |name| metric(&cell, name).all_attempts.as_ref().unwrap();
    assert_eq!((all(name::TTFT).n, all(name::LATENCY).n), (2, 3));
    let p99 = all(name::LATENCY).p99.as_ref().unwrap();
    assert_eq!((value(Some(p99)), p99.above, p99.hi), (Some(5_000.0), true, None), "> 5000");
    assert_eq!(value(all(name::LATENCY).p50.as_ref()), Some(700.0));
}

#[test]
fn s03_what_a_cache_gave_is_said() {
    let warnings = |prompt: u64, cached: fn(u64) -> u64| {
        let of = |i| {
            answer(i, i * 500, &C01, Some(5)).with(|sample| {
                (sample.input_tokens, sample.cache_read_tokens) = (Some(prompt), Some(cached(i)));
            })
        };
        let context = inferometer_metrics::CellContext { cache_busted: true, ..closed(1) };
        sum_up(context, one_after_another(20, of)).warnings
    };
    assert!(warnings(36, |_| 1).is_empty(), "the mark of a text's beginning, in every request");
    assert!(warnings(10, |_| 4).is_empty());
    assert!(warnings(1_000, |_| 12).is_empty());
    let said = warnings(100, |i| if i % 2 == 0 { 84 } else { 1 });
    assert_eq!(said, ["42.5 % of the prompt tokens came from a cache, though every prompt was made new"]);
    assert_eq!(warnings(100, |_| 7).len(), 1);
}

#[test]
fn s09_unknown_is_not_zero() {
    let cell: CellSummary = sum_up(closed(1), one_after_another(5, |i| answer(i, i * 500, &C01, None)));
    assert_eq!((cell.tokens.output, cell.tokens.input), (None, None));
    assert_eq!((cell.cost.total_usd, cell.cost.per_useful_usd.value), (None, None));
    assert_eq!(metric(&sum_up(closed(1), []), name::TTFT).n, 0);
    // Answers of which neither usage nor an event tells: no rate, and none of 0.
    let untold =
        |i| answer(i, i * 500, &[], None).with(|s| s.end_ns = s.start_ns.map(|start| start + 400 * MS));
    let throughput = sum_up(closed(1), one_after_another(60, untold)).throughput;
    assert_eq!((throughput.output_token_throughput.value, throughput.output_tokens), (None, None));
    assert_eq!((throughput.peak, throughput.useful_token_throughput), (None, None));
    assert_eq!(throughput.steady.unwrap().output_token_throughput.value, None);
    assert!(throughput.request_throughput.value.is_some());
}

#[test]
fn w74_reused_connections_apart() {
    let of = |i| {
        let is_new = i == 0;
        answer(i, i * 500, &[if is_new { 500 } else { 400 }], Some(1)).with(|sample| {
            sample.conn_reused = Some(!is_new);
            sample.connect_ns = is_new.then_some(100 * MS);
        })
    };
    let cell = sum_up(closed(1), one_after_another(5, of));
    assert_eq!(shape(metric(&cell, name::TTFT))[5], 500.0);
    assert_eq!(shape(metric(&cell, name::TTFT_REUSED))[..2], [4.0, 400.0]);
    assert_eq!(shape(metric(&cell, name::CONNECT))[..2], [1.0, 100.0]);
}
