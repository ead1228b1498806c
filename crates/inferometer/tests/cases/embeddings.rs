//! Cases of embeddings: vectors have a latency and dimensions, and nothing that comes token by token.

use inferometer_sim::Config;
use serde_json::Value;

use crate::harness::{Bench, assert_ms};

/// Figures that say nothing of a vector.
const OF_TEXT: [&str; 9] = [
    "time_to_first_token",
    "time_to_first_output_token",
    "time_per_output_token",
    "inter_chunk_latency_max",
    "output_token_throughput_per_user",
    "e2e_output_token_throughput",
    "output_character_throughput_per_user",
    "output_sequence_length",
    "reasoning_token_count",
];

fn bench() -> Bench {
    let config = "[[model]]\nname = \"m\"\nttft = \"40ms\"\nprefill_per_token = \"0\"\n\
                  [[model]]\nname = \"flaky\"\nttft = \"1ms\"\n\
                  fault = [{ kind = \"http\", share = 0.5, status = 500 }]\n\
                  [[model]]\nname = \"hollow\"\nttft = \"1ms\"\nfault = [{ kind = \"empty\", share = 1 }]\n\
                  [[scenario]]\nname = \"nan\"\nscript = 'raw {\"data\":[{\"embedding\":[0.5,NaN]}]}'\n\
                  [[scenario]]\nname = \"zero\"\nscript = 'raw {\"data\":[{\"embedding\":[0,0,0]}]}'\n\
                  [[scenario]]\nname = \"two\"\n\
                  script = 'odd: raw {\"data\":[{\"embedding\":[1,0]}]} | even: raw {\"data\":[{\"embedding\":[1]}]}'\n";
    Bench::with(Config::from_toml(config).unwrap())
}

#[test]
fn vectors_have_a_latency_and_dimensions_and_no_tokens() {
    let bench = bench();
    let run = bench.run("m", "--dialect embeddings -n 6 -c 2 --price input=2,output=9").done(&bench);
    assert_eq!((run.code, run.count("ok"), run.count("empty")), (0, 6, 0), "{}", run.stderr);
    for sample in run.measured() {
        assert_eq!(
            (sample.count("dimensions"), sample.text("verdict")),
            (Some(64), "valid"),
            "{:?}",
            sample.0
        );
        assert_ms("latency", sample.number("request_latency_ms"), 40.0);
        let record = run.record(sample).unwrap();
        assert_eq!(sample.count("input_tokens"), Some(record.input_tokens));
        assert!(sample.count("counted_input_tokens").unwrap() > 5);
        let absent = [
            "ttft_ms",
            "tpot_ms",
            "first_ns",
            "output_tokens",
            "counted_output_tokens",
            "first_chunk_tokens",
        ];
        for name in absent {
            assert!(sample.field(name).is_null(), "{name} of {:?}", sample.0);
        }
        assert_eq!(sample.text("tokens_source"), "none");
        let usd = sample.count("input_tokens").unwrap() as f64 * 2e-6;
        assert!((sample.text("cost_usd").parse::<f64>().unwrap() - usd).abs() < 1e-12, "{:?}", sample.0);
    }
    assert_eq!(run.cell()["dimensions"], serde_json::json!([64]));
    assert_eq!(run.metric("request_latency")["n"], 6);
    for name in OF_TEXT {
        assert_eq!((&run.metric(name)["n"], &run.metric(name)["value"]), (&0.into(), &Value::Null), "{name}");
    }
    let rate = run.value("throughput/input_token_throughput/value").unwrap();
    let told: u64 = run.measured().map(|sample| sample.count("input_tokens").unwrap()).sum();
    let window = run.value("throughput/window_s").unwrap();
    assert!((rate * window - told as f64).abs() < 0.5, "{rate} over {window} s is not {told}");
    for place in
        ["output_token_throughput/value", "output_character_throughput", "output_tokens", "buckets", "peak"]
    {
        assert_eq!(run.value(&format!("throughput/{place}")), None, "{place}");
    }
    let page = crate::harness::report(&run.dir, "table");
    for words in ["vectors of 64 dimensions", "input tokens/s", "latency"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    for words in ["TTFA", "0 tokens/s", "characters", "not_streamed"] {
        assert!(!page.contains(words), "{words}: {page}");
    }
}

/// The fields of one's own go into the body, and what it is asked is the text of the prompt alone.
#[test]
fn dimensions_are_asked_for_in_the_dialect_s_own_words() {
    let bench = bench();
    for format in ["float", "base64"] {
        let run = bench.run("m", "--dialect embeddings -n 2");
        let run = run.arg("--extra").arg(format!(r#"{{"dimensions":300,"encoding_format":"{format}"}}"#));
        let run = run.done(&bench);
        assert_eq!(run.count("ok"), 2, "{}", run.stderr);
        assert!(run.measured().all(|sample| sample.count("dimensions") == Some(300)));
    }
    let paths = bench.server.truth().counters.paths;
    assert!(paths.keys().all(|path| path == "/v1/embeddings"), "{paths:?}");
}

/// A failed vector has no first token that never came, and no speed of 0.
#[test]
fn failures_are_counted_and_no_figure_of_text_is_made_of_them() {
    let bench = bench();
    let run = bench.measure("flaky", "--dialect embeddings -n 12");
    let failed = run.count("http_error");
    assert!(failed > 0 && failed < 12, "{failed}");
    for name in OF_TEXT {
        let all = &run.metric(name)["all_attempts"]["n"];
        assert!(all.is_null() || *all == 0, "{name}: {all}");
    }
    assert_eq!(run.metric("request_latency")["all_attempts"]["n"], 12);
}

#[test]
fn what_is_no_vector_is_no_success() {
    let bench = bench();
    let run = bench.measure("nan", "--dialect embeddings -n 2");
    assert_eq!(run.count("protocol"), 2);
    for sample in run.measured() {
        assert_eq!(sample.text("error_code"), "malformed_event");
        assert!(sample.text("error_message").contains("near"), "{:?}", sample.0);
        assert!(sample.text("error_message").contains("0.5,NaN"), "{:?}", sample.0);
    }
    for (model, flag) in [("hollow", "empty"), ("zero", "zero_vector")] {
        let run = bench.measure(model, "--dialect embeddings -n 2");
        assert_eq!((run.count("ok"), run.count("useful")), (2, 0), "{model}");
        for sample in run.measured() {
            assert_eq!(sample.field("verdict_flags"), &serde_json::json!([flag]), "{model}");
        }
    }
    let run = bench.measure("two", "--dialect embeddings -n 4");
    assert_eq!(run.cell()["dimensions"], serde_json::json!([1, 2]));
    let said = run.cell()["warnings"].to_string();
    assert!(said.contains("vectors of 1 and 2 dimensions"), "{said}");
}

/// What breaks a stream breaks a vector, and half of one is none.
#[test]
fn a_broken_vector_is_none() {
    let fault = |kind: &str| {
        format!(
            "[[model]]\nname = \"{kind}\"\nttft = \"1ms\"\nfault = [{{ kind = \"{kind}\", share = 1 }}]\n"
        )
    };
    let ways = [
        ("stream_error", "stream_error", "engine stopped"),
        ("truncate", "truncated", "nothing that says the answer is complete"),
        ("cut", "transport", "broke its answer off"),
        ("reset", "transport", "reset by peer"),
    ];
    let bench = Bench::with(Config::from_toml(&ways.map(|(kind, ..)| fault(kind)).concat()).unwrap());
    for (kind, status, words) in ways {
        let run = bench.measure(kind, "--dialect embeddings -n 2");
        assert_eq!(run.with_status(status).count(), 2, "{kind}: {}", run.stderr);
        for sample in run.measured() {
            assert!(sample.text("error_message").contains(words), "{kind}: {:?}", sample.0);
            assert!(sample.field("dimensions").is_null() && sample.text("verdict") == "invalid", "{kind}");
        }
    }
}

#[test]
fn what_cannot_be_said_is_refused_before_the_run() {
    let bench = bench();
    for (arguments, what) in [
        ("--osl 8", "`max_tokens`"),
        ("--temperature 0.7", "`temperature`"),
        ("--reasoning low", "reasoning"),
    ] {
        let left = bench.run("m", &format!("--dialect embeddings -n 2 {arguments}")).refused();
        assert_eq!(left.ended.code, Some(2), "{arguments}: {}", left.ended.stderr);
        assert!(left.ended.stderr.contains(what), "{arguments}: {}", left.ended.stderr);
    }
    assert_eq!(bench.server.truth().counters.requests, 0);
}
