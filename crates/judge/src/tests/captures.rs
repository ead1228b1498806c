//! Real answers of a small model on llama.cpp, each judged in the light of its own request. Skipped with a line where
//! the captures are absent.

use std::path::PathBuf;

use super::*;

fn file(name: &str) -> Option<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/captures/llama-cpp");
    let read = std::fs::read(folder.join(name));
    if read.is_err() {
        println!("skipped: no capture {name}");
    }
    read.ok()
}

/// The verdict and the flags on the capture of `name`.
fn check(name: &str, flags: &str) {
    let (Some(raw), Some(request)) = (file(&format!("{name}.txt")), file(&format!("{name}.request.json")))
    else {
        return;
    };
    let at = raw.windows(4).position(|window| window == b"\r\n\r\n").expect("a head") + 4;
    let head = Head { status: 200, content_type: None, streaming: name.starts_with("stream") };
    let mut decoder = Decoder::new(Dialect::Chat, head);
    decoder.feed(&raw[at..], &mut |_| {});
    let answer = decoder.finish(End::Eof, &mut |_| {});
    let request: Map<String, Value> = serde_json::from_slice(&request).expect("a request");
    let messages = request["messages"].as_array().expect("messages").iter();
    let prompt: Vec<&str> = messages.filter_map(|message| message["content"].as_str()).collect();
    let expect = Expect {
        prompt: &prompt.join("\n\n"),
        model: request["model"].as_str().expect("a model"),
        max_tokens: request.get("max_tokens").and_then(Value::as_u64).map(|tokens| tokens as u32),
        parameters: Parameters { prompt: Some(&request), target: None },
        ..Expect::default()
    };
    let judgement = judge(&answer, &expect);
    let seen = format!("{} {}", judgement.verdict, judgement.flags.join(" "));
    assert_eq!(seen.trim_end(), flags, "{name}: {:?}", judgement.evidence);
}

#[test]
fn real_answers() {
    check("stream-normal", "valid");
    check("nonstream", "degraded capped");
    check("stream-max-tokens", "degraded capped");
    check("stream-unicode", "degraded capped");
    check("stream-json-schema", "valid");
    // So small a model calls again and again until the limit.
    check("stream-tools-required", "degraded capped tool_call_doubled");
    check("nonstream-tools-required", "degraded capped tool_call_doubled");
    check("stream-tools-named", "degraded capped tool_call_doubled");
    check("stream-tools-auto", "degraded capped tool_call_doubled");
    check("stream-logprobs", "degraded capped");
    check("stream-n2", "degraded capped");
}
