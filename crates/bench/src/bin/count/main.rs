//! Subjects of the instruction counts: `count NAME` does one piece of work that `benches/instructions` runs under
//! callgrind, which collects only inside the functions named `subject_…`. What they are given is made outside them.
#![expect(clippy::print_stdout, reason = "a program whose output is its result")]

mod receive;

use std::error::Error;
use std::hint::black_box;

use clap::{Parser, ValueEnum};
use inferometer_metrics::{Arrival, CellAccumulator, CellContext, Window};
use inferometer_record::{Events, Phase, Sample, Status, TokensSource, Verdict};
use inferometer_wire::{Decoder, Dialect, End, Head};

/// Does one piece of work, to be counted.
#[derive(Parser)]
struct Args {
    subject: Subject,
}

#[derive(Clone, Copy, ValueEnum)]
enum Subject {
    /// Parse 10,000 events of a chat stream.
    ParseChat,
    /// Receive 64 chat streams of 500 events, each event in a read of its own.
    Receive,
    /// Summarise 100,000 samples with their events.
    Summarise,
}

/// Events in the parsed stream.
const CHAT_EVENTS: usize = 10_000;
/// A read of the socket.
const READ_BYTES: usize = 8 * 1024;
/// Samples in the summarised cell.
const SAMPLES: u64 = 100_000;
/// Output events of each of them.
const SAMPLE_EVENTS: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let done = match Args::parse().subject {
        Subject::ParseChat => subject_parse_chat(chat_stream(CHAT_EVENTS).concat().as_bytes()),
        Subject::Receive => {
            let shard = receive::Shard::new(&chat_stream(receive::EVENTS))?;
            subject_receive(shard)
        }
        Subject::Summarise => subject_summarise(context(), &samples()),
    };
    println!("{done}");
    Ok(())
}

/// Output events decoded.
#[inline(never)]
fn subject_parse_chat(stream: &[u8]) -> u64 {
    let head = Head { status: 200, content_type: Some("text/event-stream"), streaming: true };
    let mut decoder = Decoder::new(Dialect::Chat, head);
    let mut events = 0;
    for read in stream.chunks(READ_BYTES) {
        decoder.feed(read, &mut |event| {
            black_box(event);
            events += 1;
        });
    }
    black_box(decoder.finish(End::Eof, &mut |_| events += 1));
    events
}

/// Output events received.
#[inline(never)]
fn subject_receive(shard: receive::Shard) -> u64 {
    shard.run()
}

/// The events of a stream as OpenAI-compatible servers send it: about 230 bytes each, usage at the end.
fn chat_stream(events: usize) -> Vec<String> {
    let frame = |choices: &str, more: &str| {
        format!(
            "data: {{\"id\":\"chatcmpl-9f2c41d7a6b34e\",\"object\":\"chat.completion.chunk\",\"created\":1796051544,\
             \"model\":\"some-model-70b-instruct\",\"system_fingerprint\":\"fp_3f1c0a52\",\"choices\":[{choices}]{more}}}\n\n"
        )
    };
    let piece = |delta: &str, reason: &str| {
        frame(
            &format!("{{\"index\":0,\"delta\":{{{delta}}},\"logprobs\":null,\"finish_reason\":{reason}}}"),
            "",
        )
    };
    let words = [" the", " sea", ",", " and\\n", " caf\\u00e9", " \\\"so\\\"", " ships", "."];
    let mut stream = vec![piece("\"role\":\"assistant\",\"content\":\"\"", "null")];
    for index in 0..events - 4 {
        stream.push(piece(&format!("\"content\":\"{}\"", words[index % words.len()]), "null"));
    }
    stream.push(piece("", "\"stop\""));
    let usage = "\"prompt_tokens\":24,\"completion_tokens\":9996,\"total_tokens\":10020";
    stream.push(frame("", &format!(",\"usage\":{{{usage}}}")));
    stream.push("data: [DONE]\n\n".to_string());
    stream
}

/// Requests that the summary says were answered.
#[inline(never)]
fn subject_summarise(context: CellContext, samples: &[(Sample, Events)]) -> u64 {
    let mut cell = CellAccumulator::new(context);
    for (sample, events) in samples {
        cell.push(sample, Some(events));
    }
    black_box(cell.finish()).counts.ok
}

fn context() -> CellContext {
    CellContext {
        target: "target".into(),
        workload: "workload".into(),
        load: "load".into(),
        arrival: Arrival::Open { asked_rate: Some(1_000.0) },
        window: Some(Window { from_ns: 0, to_ns: SAMPLES * START_GAP_NS }),
        objectives: "ttft:300 tpot:20".parse().unwrap_or_default(),
        ..CellContext::default()
    }
}

/// From one planned send to the next.
const START_GAP_NS: u64 = 1_000_000;

fn samples() -> Vec<(Sample, Events)> {
    let mut noise = Noise(1);
    (0..SAMPLES).map(|request| sample(request, &mut noise)).collect()
}

/// One answer of about 200 ms and 16 events, one in 64 of them refused.
fn sample(request: u64, noise: &mut Noise) -> (Sample, Events) {
    let sched = request * START_GAP_NS;
    let first = sched + 150_000_000 + noise.below(100_000_000);
    let deltas_us: Vec<u64> = (1..SAMPLE_EVENTS).map(|_| 2_000 + noise.below(4_000)).collect();
    let last = first + deltas_us.iter().sum::<u64>() * 1_000;
    let mut sample = Sample {
        target: "target".into(),
        workload: "workload".into(),
        load: "load".into(),
        phase: Phase::Measure,
        request,
        seq: request,
        attempt: 1,
        attempts: 1,
        is_final: true,
        sched_ns: Some(sched),
        start_ns: Some(sched + 60_000),
        sent_ns: Some(sched + 90_000),
        end_ns: Some(last + 50_000),
        http_status: Some(200),
        schedule_lag_ms: Some(0.06),
        ..Sample::default()
    };
    if noise.below(64) == 0 {
        sample.status = Status::HttpError;
        sample.http_status = Some(429);
        sample.verdict = Some(Verdict::Invalid);
        return (sample, Events { request, attempt: 1, ..Events::default() });
    }
    answered(&mut sample, sched + 60_000, first, last);
    let chars = vec![4; SAMPLE_EVENTS];
    (sample, Events { request, attempt: 1, first_us: Some(first / 1_000), deltas_us, chars, tokens: None })
}

fn answered(sample: &mut Sample, start: u64, first: u64, last: u64) {
    let millis = |span: u64| Some(span as f64 / 1e6);
    sample.status = Status::Ok;
    sample.verdict = Some(Verdict::Valid);
    sample.headers_ns = Some(first - 10_000);
    sample.byte_ns = Some(first);
    sample.first_ns = Some(first);
    sample.answer_ns = Some(first);
    sample.last_ns = Some(last);
    sample.input_tokens = Some(24);
    sample.output_tokens = Some(SAMPLE_EVENTS as u64);
    sample.tokens_source = TokensSource::Server;
    sample.first_chunk_tokens = Some(1);
    sample.chunks = SAMPLE_EVENTS as u64;
    sample.gap_max_ns = Some(6_000_000);
    sample.stalls = Some(0);
    sample.stall_share = Some(0.0);
    sample.ttft_ms = millis(first - start);
    sample.ttfa_ms = sample.ttft_ms;
    sample.tpot_ms = millis((last - first) / (SAMPLE_EVENTS as u64 - 1));
    sample.request_latency_ms = millis(last - start);
}

/// Numbers that are the same on every machine and in every version: a linear congruential generator.
struct Noise(u64);

impl Noise {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}
