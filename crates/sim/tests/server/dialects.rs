//! Each dialect over a socket: an answer at its times, with its key, and its refusals.

use inferometer_sim::Record;
use inferometer_workload::Shipped;
use serde_json::json;

use crate::answers::prompt;
use crate::client::{Answer, Client, records, server};

/// How a dialect's client asks.
struct Dialect {
    /// `MODEL` stands for the model's name, where the path has it.
    path: &'static str,
    /// The same for an answer that is not streamed, where it has a path of its own.
    whole_path: Option<&'static str>,
    /// A body about `one two three`.
    body: fn(model: &str, stream: bool) -> serde_json::Value,
    /// The header before the key.
    key: &'static str,
    content_type: &'static str,
    /// What the first output is, what the last bytes of a stream contain, what a whole answer contains, and a refusal.
    marks: [&'static str; 4],
    /// The input tokens: words of the prompt's JSON.
    input: u64,
}

const ANTHROPIC: Dialect = Dialect {
    path: "/v1/messages",
    whole_path: None,
    body: |model, stream| {
        let messages = json!([{"role": "user", "content": "one two three"}]);
        json!({"model": model, "stream": stream, "max_tokens": 50, "messages": messages})
    },
    key: "x-api-key: ",
    content_type: "text/event-stream",
    marks: [
        r#""delta":{"type":"text_delta","text":" north"}"#,
        "\"output_tokens\":3}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        r#""content":[{"type":"text","text":" north by west"}],"stop_reason":"end_turn""#,
        r#"{"error":{"message":"Incorrect API key provided","type":"authentication_error"},"type":"error"}"#,
    ],
    input: 3,
};

const AZURE: Dialect = Dialect {
    path: "/openai/deployments/MODEL/chat/completions?api-version=2024-10-21",
    whole_path: None,
    body: |_, stream| json!({"stream": stream, "messages": [{"role": "user", "content": "one two three"}]}),
    key: "api-key: ",
    content_type: "text/event-stream",
    marks: [
        r#""delta":{"content":" north"}"#,
        "data: [DONE]\n\n",
        r#""content":" north by west""#,
        r#"{"error":{"code":"401","#,
    ],
    input: 3,
};

const OLLAMA: Dialect = Dialect {
    path: "/api/chat",
    whole_path: None,
    body: |model, stream| json!({"model": model, "stream": stream, "messages": [{"role": "user", "content": "one two three"}]}),
    key: "authorization: Bearer ",
    content_type: "application/x-ndjson",
    marks: [
        r#""content":" north"},"done":false}"#,
        r#""eval_count":3,"eval_duration":30000000}"#,
        r#""content":" north by west"},"done":true,"done_reason":"stop""#,
        r#"{"error":""#,
    ],
    input: 3,
};

const GEMINI: Dialect = Dialect {
    path: "/v1beta/models/MODEL:streamGenerateContent?alt=sse",
    whole_path: Some("/v1beta/models/MODEL:generateContent"),
    body: |_, _| json!({"contents": [{"role": "user", "parts": [{"text": "one two three"}]}]}),
    key: "x-goog-api-key: ",
    content_type: "text/event-stream",
    marks: [
        r#"{"parts":[{"text":" north"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1,"#,
        "\"candidatesTokenCount\":3,\"totalTokenCount\":6},\"modelVersion\":\"m\",\"responseId\":\"sim\"}\r\n\r\n",
        r#"{"parts":[{"text":" north by west"}],"role":"model"},"finishReason":"STOP""#,
        r#"{"error":{"code":401,"#,
    ],
    input: 3,
};

const RESPONSES: Dialect = Dialect {
    path: "/v1/responses",
    whole_path: None,
    body: |model, stream| json!({"model": model, "stream": stream, "input": "one two three"}),
    key: "authorization: Bearer ",
    content_type: "text/event-stream",
    marks: [
        r#""type":"response.output_text.delta","sequence_number":4,"item_id":"msg_sim","output_index":0,"content_index":0,"delta":" north""#,
        "\"total_tokens\":6}}}\n\n",
        r#""content":[{"type":"output_text","text":" north by west","annotations":[]}]}],"usage":{"input_tokens":3,"#,
        r#"{"error":{"code":401,"#,
    ],
    input: 3,
};

const BEDROCK: Dialect = Dialect {
    path: "/model/MODEL/converse-stream",
    whole_path: Some("/model/MODEL/converse"),
    body: |_, _| json!({"messages": [{"role": "user", "content": [{"text": "one two three"}]}]}),
    key: "authorization: AWS4-HMAC-SHA256 Signature=0, Credential=",
    content_type: "application/vnd.amazon.eventstream",
    marks: [
        r#"{"contentBlockIndex":0,"delta":{"text":" north"},"p":""#,
        r#""inputTokens":3,"outputTokens":3,"totalTokens":6},"p":""#,
        r#""output":{"message":{"content":[{"text":" north by west"}],"role":"assistant"}},"stopReason":"end_turn""#,
        r#"{"message":""#,
    ],
    input: 3,
};

const DIALECTS: [Dialect; 6] = [ANTHROPIC, AZURE, BEDROCK, GEMINI, OLLAMA, RESPONSES];

impl Dialect {
    fn ask(&self, client: &mut Client, model: &str, key: &str, stream: bool) -> Answer {
        let path = if stream { self.path } else { self.whole_path.unwrap_or(self.path) };
        client.send("POST", &path.replace("MODEL", model), key, &(self.body)(model, stream).to_string());
        client.read()
    }
}

fn check_record(record: &Record, dialect: &Dialect, stream: bool) {
    let planned = record.planned_first_ns.unwrap();
    let last = if stream { planned + 20_000_000 } else { planned };
    assert_eq!(record.planned_last_ns, Some(last), "{}", dialect.path);
    assert!(record.first_output_ns >= record.planned_first_ns, "{}", dialect.path);
    assert_eq!((record.sent_tokens, record.output_tokens), (3, Some(3)), "{}", dialect.path);
    assert_eq!((record.model.as_str(), record.stream), ("m", stream), "{}", dialect.path);
    assert_eq!(record.input_tokens, dialect.input, "{}", dialect.path);
}

#[test]
fn answers_come_at_their_times_in_each_dialect() {
    for dialect in DIALECTS {
        let server = server("[[model]]\nname = \"m\"\nttft = \"20ms\"\nrate = 100\ntokens = 3\n");
        let mut client = Client::new(&server);
        let answer = dialect.ask(&mut client, "m", "", true);
        let text = answer.text();
        assert!(answer.complete && answer.status() == 200, "{}: {text}", dialect.path);
        let content_type = format!("\r\ncontent-type: {}\r\n", dialect.content_type);
        assert!(answer.head.contains(&content_type), "{}", answer.head);
        assert!(answer.head.contains("\r\ntransfer-encoding: chunked\r\n"), "{}", answer.head);
        let [first, last, whole, _] = dialect.marks;
        assert!(text.contains(first), "{}: {text}", dialect.path);
        assert!(text.contains(last), "{}: {text}", dialect.path);
        let answer = dialect.ask(&mut client, "m", "", false);
        assert!(answer.text().contains(whole), "{}: {}", dialect.path, answer.text());
        let records = records(&server, 2);
        check_record(&records[0], &dialect, true);
        check_record(&records[1], &dialect, false);
    }
}

#[test]
fn refusals_and_keys_have_each_dialects_form() {
    for dialect in DIALECTS {
        let server = server("require_key = \"k\"\n[[model]]\nname = \"m\"\nttft = \"0\"\nrate = \"flood\"\n");
        let mut client = Client::new(&server);
        let mut check = |model: &str, key: &str, status: u16| {
            let header = if key.is_empty() { String::new() } else { format!("{}{key}\r\n", dialect.key) };
            let answer = dialect.ask(&mut client, model, &header, true);
            assert_eq!(answer.status(), status, "{}: {}", dialect.path, answer.text());
            answer.text()
        };
        let refusal = check("m", "", 401);
        assert!(refusal.starts_with(dialect.marks[3]), "{}: {refusal}", dialect.path);
        check("m", "x", 401);
        check("m", "k", 200);
        check("other", "k", 404);
        client.send("PUT", &dialect.path.replace("MODEL", "m"), "", "");
        assert_eq!(client.read().status(), 405, "{}", dialect.path);
    }
}

#[test]
fn scripts_and_faults_speak_each_dialect() {
    for dialect in DIALECTS {
        let toml = "[[model]]\nname = \"m\"\nttft = \"0\"\nrate = \"flood\"\n\
                    fault = [{ kind = \"stream_error\", share = 1, after_tokens = 3 }]\n\
                    [[scenario]]\nname = \"s\"\nscript = \"1 role · 2,3,4 T · 5 fin U(7,3) · D\"\n";
        let server = server(toml);
        let mut client = Client::new(&server);
        let failed = dialect.ask(&mut client, "m", "", true);
        assert!(failed.complete && failed.text().contains("engine stopped"), "{}", failed.text());
        let said = dialect.ask(&mut client, "s", "", true);
        assert!(said.complete && said.text().matches(" word").count() >= 3, "{}", said.text());
        let records = records(&server, 2);
        assert_eq!((records[0].sent_tokens, records[1].sent_tokens), (3, 3), "{}", dialect.path);
    }
}

/// A dialect that tells a call only when it is complete must not lose the tokens before, nor plan them too early.
#[test]
fn tool_calls_count_all_their_tokens_in_each_dialect() {
    for dialect in DIALECTS {
        let server = server(
            "[[model]]\nname = \"m\"\nttft = \"5ms\"\nrate = 1000\n\
             tasks = { kinds = [\"tools\"], seed = 7, count = 10 }\n",
        );
        let mut client = Client::new(&server);
        let quoted = serde_json::Value::from(prompt(Shipped::Tools, 2)).to_string();
        let body = (dialect.body)("m", true).to_string().replace("\"one two three\"", &quoted);
        client.send("POST", &dialect.path.replace("MODEL", "m"), "", &body);
        let answer = client.read();
        let record = &records(&server, 1)[0];
        assert_eq!(record.right, Some(true), "{}: {}", dialect.path, answer.text());
        assert_eq!(Some(record.sent_tokens), record.output_tokens, "{}", dialect.path);
        assert!(record.first_output_ns >= record.planned_first_ns, "{}", dialect.path);
        assert_eq!(record.first_answer_ns, record.first_output_ns, "{}", dialect.path);
        assert!(answer.text().contains("\"name\":"), "{}: {}", dialect.path, answer.text());
    }
}

/// Vectors come when the prompt has been read, whole and always the same.
#[test]
fn vectors_come_at_their_time() {
    let server = server(
        "require_key = \"k\"\n[[model]]\nname = \"m\"\nttft = \"20ms\"\nprefill_per_token = \"2ms\"\nrate = 10\n\
         [[model]]\nname = \"f\"\nttft = \"0\"\nfault = [{ kind = \"stream_error\", share = 1 }]\n\
         [[scenario]]\nname = \"s\"\nscript = \"1 role · 2,30 T · fin U(7,3) · D\"\n",
    );
    let mut client = Client::new(&server);
    let mut ask = |model: &str, key: &str, more: &str| {
        let body = format!(r#"{{"model":"{model}","input":"one two three"{more}}}"#);
        client.send("POST", "/v1/embeddings", &format!("authorization: Bearer {key}\r\n"), &body);
        client.read()
    };
    let first = ask("m", "k", "");
    assert!(first.head.contains("\r\ncontent-type: application/json\r\n"), "{}", first.head);
    let vector = |answer: &Answer| answer.json()["data"][0]["embedding"].as_array().unwrap().clone();
    assert_eq!(vector(&first).len(), 64);
    assert_eq!(first.json()["usage"], json!({"prompt_tokens": 3, "total_tokens": 3}));
    assert_eq!(ask("m", "k", "").body, first.body);
    assert_eq!(vector(&ask("m", "k", r#","dimensions":5,"user":"x""#)).len(), 5);
    assert_eq!(ask("s", "k", "").json()["usage"]["prompt_tokens"], 7);
    assert!(ask("f", "k", "").text().contains("engine stopped"));
    let refused = [ask("m", "x", ""), ask("other", "k", ""), ask("m", "k", r#","dimensions":0"#)];
    assert_eq!(refused.map(|answer| answer.status()), [401, 404, 400]);
    let records = records(&server, 8);
    let spent = |record: &Record| record.planned_first_ns.unwrap() - record.read_ns;
    // No token is waited for: 20 ms, and 2 ms for each of three of the prompt.
    assert_eq!((spent(&records[0]), records[0].planned_last_ns), (26_000_000, records[0].planned_first_ns));
    assert_eq!((records[0].sent_tokens, records[0].output_tokens, records[0].stream), (0, Some(0), false));
    assert!(records[0].first_output_ns >= records[0].planned_first_ns);
    assert_eq!(spent(&records[3]), 30_000_000);
}
