//! Cases of Amazon's Bedrock: binary streams, signed requests, and what a refused signature says.

use inferometer_sim::Config;

use crate::harness::{Bench, Left, Measure};

const ACCESS: &str = "AKIDEXAMPLE7PLANTED";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYPLANTEDKEY";
const TOKEN: &str = "FwoGZXIvYXdzEPLANTED/session+token==";

/// A provider that wants its access key.
fn bench() -> Bench {
    let config = "[[model]]\nname = \"maker.model-v1:0\"\nttft = \"5ms\"\nrate = 1000\ntokens = 5\n\
                  [[model]]\nname = \"failing\"\nttft = \"1ms\"\nrate = \"flood\"\ntokens = 9\n\
                  fault = [{ kind = \"stream_error\", share = 1, after_tokens = 3 }]\n\
                  [[scenario]]\nname = \"late\"\nscript = 'http 403 x-amzn-errortype=InvalidSignatureException:x \
                  date=19941106T084937Z · raw {\"message\":\"Signature expired\"}'\n\
                  [[scenario]]\nname = \"stale\"\nscript = 'http 403 x-amzn-errortype=ExpiredTokenException · \
                  raw {\"message\":\"The security token included in the request is expired\"}'\n";
    Bench::with(Config { require_key: Some(ACCESS.to_owned()), ..Config::from_toml(config).unwrap() })
}

/// A run with these credentials, and none of this machine's.
fn signed(bench: &Bench, model: &str, arguments: &str) -> Measure {
    let measure = bench.run(model, &format!("--dialect bedrock {arguments}"));
    let none = ["AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK"];
    let measure = none.into_iter().fold(measure, |measure, name| measure.env(name, ""));
    let measure = measure.env("HOME", bench.dir.path()).env("AWS_REGION", "us-east-1");
    measure
        .env("AWS_ACCESS_KEY_ID", ACCESS)
        .env("AWS_SECRET_ACCESS_KEY", SECRET)
        .env("AWS_SESSION_TOKEN", TOKEN)
}

/// No part of the credentials is in anything that was printed or left behind.
#[track_caller]
fn assert_absent(left: &Left) {
    let files = std::fs::read_dir(&left.out).unwrap().map(|entry| entry.unwrap().path());
    let files = files.map(|path| std::fs::read_to_string(path).unwrap());
    for text in files.chain([left.ended.stdout.clone(), left.ended.stderr.clone()]) {
        for secret in [ACCESS, SECRET, TOKEN] {
            assert!(!text.contains(&secret[..secret.len() - 4]), "{secret} is in {text}");
        }
    }
}

#[test]
fn signed_streams_and_whole_answers_are_measured() {
    let bench = bench();
    for (arguments, is_stream) in [("-n 3 --keep-text", true), ("-n 3 --no-stream", false)] {
        let left = signed(&bench, "maker.model-v1:0", arguments).start().end();
        assert_absent(&left);
        let run = crate::harness::Outcome::read(left, &bench);
        assert_eq!((run.code, run.count("ok")), (0, 3), "{}", run.stderr);
        for sample in run.measured() {
            assert_eq!(sample.count("output_tokens"), Some(5), "{:?}", sample.0);
            assert_eq!(sample.text("tokens_source"), "server");
            assert!(!sample.field("server_timing").is_null() && !sample.field("server_request_id").is_null());
        }
        if is_stream {
            run.check_stamps("bedrock", run.measured());
        }
    }
}

/// An exception in the stream is an error of it, by its name (W89).
#[test]
fn w89_an_exception_is_no_answer() {
    let bench = bench();
    let run = signed(&bench, "failing", "-n 2 --no-preflight").done(&bench);
    assert_eq!(run.count("stream_error"), 2, "{}", run.stderr);
    for sample in run.measured() {
        assert_eq!(
            (sample.text("error_code"), sample.text("error_message")),
            ("internalServerException", "engine stopped")
        );
    }
}

#[test]
fn a_refused_signature_says_why() {
    let bench = bench();
    let check = |measure: Measure, right: &[&str]| {
        let left = measure.start().end();
        assert_absent(&left);
        assert_eq!(left.ended.code, Some(3), "{}", left.ended.stderr);
        for words in right {
            assert!(left.ended.stderr.contains(words), "{words}: {}", left.ended.stderr);
        }
    };
    let clocks = ["Signature expired", "clock said 19941106T084937Z, ours 20", "set ours right"];
    check(signed(&bench, "late", "-n 2"), &clocks);
    let expired = ["security token included in the request is expired", "AWS_ACCESS_KEY_ID have expired"];
    check(signed(&bench, "stale", "-n 2"), &expired);
    let other = signed(&bench, "failing", "-n 2").env("AWS_ACCESS_KEY_ID", "AKIDOTHER");
    check(other, &["the credentials of AWS_ACCESS_KEY_ID were refused"]);
}
