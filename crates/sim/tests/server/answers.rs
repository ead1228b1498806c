//! Answers that are right or wrong, to the prompts of the shipped workloads.

use inferometer_sim::Record;
use inferometer_tokens::Tokenizer;
use inferometer_workload::{Cache, Oracle, Prompts, Reply, Shipped, Source};
use serde_json::{Value, json};

use crate::client::{Answer, Client, records, server};

/// The seed of the run that asks.
const SEED: u64 = 7;

/// Prompt `seq` of `kind`, as that run sends it: behind a nonce.
pub(crate) fn prompt(kind: Shipped, seq: u64) -> String {
    let source = Source::Shipped { kind, input: None, output: None };
    let prompts = Prompts::prepare(&source, None, SEED, "run", Cache::Bust).unwrap();
    prompts.item(seq, seq).prompt.text().into_owned()
}

/// Asks `client`; `more` are further fields of the request.
fn ask(client: &mut Client, prompt: &str, more: &Value) -> Answer {
    let mut body = json!({"model": "m", "stream": true, "stream_options": {"include_usage": true},
                          "messages": [{"role": "user", "content": prompt}]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.ask("POST", "/v1/chat/completions", &body.to_string())
}

/// What a streamed answer says, joined: content, reasoning, tool name, arguments, finish reason, usage.
#[derive(Debug, Default, PartialEq)]
struct Heard {
    content: String,
    reasoning: String,
    name: String,
    arguments: String,
    finish: String,
    usage: Value,
    /// Events with output.
    events: usize,
}

impl Heard {
    fn of(answer: &Answer) -> Self {
        let mut heard = Self::default();
        for event in answer.events().iter().filter(|event| *event != "[DONE]") {
            let event: Value = serde_json::from_str(event).unwrap();
            heard.usage = event.get("usage").cloned().unwrap_or_default();
            let Some(choice) = event["choices"].get(0) else { continue };
            let delta = &choice["delta"];
            let call = &delta["tool_calls"][0]["function"];
            let parts = [&delta["content"], &delta["reasoning_content"], &call["name"], &call["arguments"]];
            let said = parts.map(|part| part.as_str().unwrap_or_default());
            heard.events += usize::from(said.iter().any(|text| !text.is_empty()));
            heard.content += said[0];
            heard.reasoning += said[1];
            heard.name += said[2];
            heard.arguments += said[3];
            heard.finish += choice["finish_reason"].as_str().unwrap_or_default();
        }
        heard
    }

    fn reply(&self) -> Reply {
        if self.name.is_empty() {
            Reply::Text(self.content.clone())
        } else {
            Reply::ToolCall { name: self.name.clone(), arguments: self.arguments.clone() }
        }
    }

    fn counts(&self) -> (u64, u64, u64) {
        let count = |path: &str| self.usage.pointer(path).and_then(Value::as_u64).unwrap_or(0);
        (
            count("/prompt_tokens"),
            count("/completion_tokens"),
            count("/completion_tokens_details/reasoning_tokens"),
        )
    }
}

const MODEL: &str = "[[model]]\nname = \"m\"\nttft = \"1ms\"\nrate = \"flood\"\n\
                     tasks = { kinds = [\"reason\", \"tools\", \"extract\"], seed = 7, count = 100 }\n";

#[test]
fn right_answers_are_streamed_token_by_token() {
    let server = server(MODEL);
    let mut client = Client::new(&server);
    let oracle =
        Oracle::new(&[(Shipped::Reason, None), (Shipped::Tools, None), (Shipped::Extract, None)], SEED, 3);
    let tokenizer = Tokenizer::o200k();
    for (kind, finish) in
        [(Shipped::Reason, "stop"), (Shipped::Tools, "tool_calls"), (Shipped::Extract, "stop")]
    {
        let prompt = prompt(kind, 2);
        let heard = Heard::of(&ask(&mut client, &prompt, &json!({})));
        let right = oracle.answer(&prompt).unwrap().right;
        assert_eq!((heard.reply(), heard.finish.as_str()), (right.clone(), finish), "{kind}");
        let tokens = match &right {
            Reply::Text(text) => tokenizer.count(text),
            Reply::ToolCall { name, arguments } => tokenizer.count(name) + tokenizer.count(arguments),
        };
        assert_eq!(heard.counts(), (tokenizer.count(&prompt), tokens, 0), "{kind}");
        let whole = ask(&mut client, &prompt, &json!({"stream": false})).json();
        assert_eq!(whole["choices"][0]["finish_reason"], finish);
        let message = &whole["choices"][0]["message"];
        match right {
            Reply::Text(text) => assert_eq!(message["content"], text),
            Reply::ToolCall { arguments, .. } => {
                assert_eq!(message["tool_calls"][0]["function"]["arguments"], arguments);
            }
        }
    }
    assert!(records(&server, 6).iter().all(|record| record.right == Some(true)));
}

#[test]
fn answers_are_right_in_their_share_and_others_say_nothing() {
    let server = server(&format!("{MODEL}accuracy = \"75%\"\nseed = 3\n"));
    let mut client = Client::new(&server);
    let oracle = Oracle::new(&[(Shipped::Reason, None)], SEED, 100);
    let mut heard = Vec::new();
    for seq in 0..100 {
        let prompt = prompt(Shipped::Reason, seq);
        let solution = oracle.answer(&prompt).unwrap();
        let reply = Heard::of(&ask(&mut client, &prompt, &json!({"temperature": 0}))).reply();
        assert!(reply == solution.right || reply == solution.wrong);
        heard.push(reply == solution.right);
    }
    let told: Vec<bool> = records(&server, 100).iter().map(|record| record.right.unwrap()).collect();
    assert_eq!(heard, told);
    let right = told.iter().filter(|right| **right).count();
    assert!((62..=88).contains(&right), "{right} of 100");
    let heard = Heard::of(&ask(&mut client, "something else", &json!({"max_tokens": 3})));
    assert_eq!((heard.content.as_str(), heard.finish.as_str()), (" north by west", "length"));
    assert_eq!(records(&server, 101)[100].right, None);
}

#[test]
fn reasoning_uses_up_the_limit_and_is_counted() {
    let check = |limit: u32, reasoning: u64, answer: bool, finish: &str| {
        let server = server(&format!("{MODEL}reasoning_tokens = 40\n"));
        let prompt = prompt(Shipped::Reason, 1);
        let answer_of = ask(&mut Client::new(&server), &prompt, &json!({"max_tokens": limit}));
        let heard = Heard::of(&answer_of);
        assert_eq!((heard.counts().2, heard.finish.as_str()), (reasoning, finish), "limit {limit}");
        assert_eq!((heard.content.is_empty(), heard.reasoning.is_empty()), (!answer, false), "limit {limit}");
        let record = &records(&server, 1)[0];
        assert_eq!(record.output_tokens, Some(heard.counts().1));
        assert_eq!(record.first_answer_ns.is_some(), answer);
    };
    check(500, 40, true, "stop");
    check(41, 40, true, "length");
    check(40, 40, false, "length");
    check(8, 8, false, "length");
}

#[test]
fn chunks_and_faults_divide_what_is_said() {
    let check = |kind, more: &str, events: usize, end: &str| {
        let server = server(&format!("{MODEL}{more}"));
        let answer = ask(&mut Client::new(&server), &prompt(kind, 0), &json!({}));
        let events_heard = Heard { usage: Value::Null, ..Heard::of(&answer) }.events;
        let record: &Record = &records(&server, 1)[0];
        let whole = record.output_tokens.unwrap() as usize;
        assert_eq!(events_heard, if events == 0 { whole } else { events }, "{more}");
        assert!(answer.text().contains(end), "{more}: {}", answer.text());
    };
    check(Shipped::Reason, "", 0, "[DONE]");
    // The name comes by itself.
    check(Shipped::Tools, "tokens_per_chunk = 1000\n", 2, "[DONE]");
    check(Shipped::Reason, "fault = [{ kind = \"truncate\", share = 1, after_tokens = 3 }]\n", 3, "content");
}

#[test]
fn the_cost_is_reported_exactly() {
    let server = server(&format!("{MODEL}price = {{ input = 0.15, output = 0.6, reported = true }}\n"));
    let heard = Heard::of(&ask(&mut Client::new(&server), &prompt(Shipped::Reason, 0), &json!({})));
    let (input, output, _) = heard.counts();
    // Hundredths of a dollar for a million tokens: 10⁻⁸ dollars.
    let cost = input * 15 + output * 60;
    let record = &records(&server, 1)[0];
    let told: f64 = record.cost.as_ref().unwrap().parse().unwrap();
    assert_eq!((told * 1e8).round() as u64, cost);
    assert_eq!(heard.usage["cost"], told);
}
