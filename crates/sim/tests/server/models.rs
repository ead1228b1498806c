//! Models with a timing law.

use inferometer_sim::{Config, Server};

use crate::client::{Client, chat_body, records};

fn server(toml: &str) -> inferometer_sim::Running {
    Server::start(Config::from_toml(toml).unwrap()).unwrap()
}

#[test]
fn a_stream_comes_in_its_order_and_at_its_times() {
    let server = server(
        r#"
        [[model]]
        name = "m"
        ttft = "60ms"
        rate = 50
        reasoning_tokens = 2
        tokens = 3
        "#,
    );
    let answer = Client::new(&server).chat("m", r#","stream_options":{"include_usage":true}"#);
    assert_eq!((answer.status(), answer.complete), (200, true));
    let events = answer.events();
    let deltas: Vec<_> = events.iter().filter_map(|event| event.split_once("\"delta\":")).collect();
    let deltas: Vec<_> = deltas.iter().map(|(_, delta)| delta.split_once('}').unwrap().0).collect();
    assert_eq!(
        deltas,
        [
            r#"{"role":"assistant","content":"""#,
            r#"{"reasoning_content":" north""#,
            r#"{"reasoning_content":" by""#,
            r#"{"content":" north""#,
            r#"{"content":" by""#,
            r#"{"content":" west""#,
            "{",
        ]
    );
    assert!(
        events[7].contains(r#""usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8"#),
        "{}",
        events[7]
    );
    assert_eq!(events[8], "[DONE]");

    let record = &records(&server, 1)[0];
    assert_eq!((record.sent_tokens, record.output_tokens, record.writes_us.len()), (5, Some(5), 9));
    let planned_first = record.planned_first_ns.unwrap();
    assert_eq!(planned_first, record.read_ns + 60_000_000);
    assert_eq!(record.planned_last_ns, Some(planned_first + 80_000_000));
    assert!(record.first_output_ns >= record.planned_first_ns);
    assert!(record.first_answer_ns.unwrap() >= planned_first + 40_000_000);
    assert!(record.last_output_ns >= record.planned_last_ns);
}

#[test]
fn both_endpoints_answer_streamed_and_not() {
    let server = server("[[model]]\nname = \"m\"\nttft = \"1ms\"\nrate = \"flood\"\n");
    let mut client = Client::new(&server);
    let chat = client.ask("POST", "/v1/chat/completions", &chat_body("m", "a", "").replace("true", "false"));
    assert_eq!(chat.json()["usage"]["completion_tokens"], 100);
    let body = r#"{"model":"m","prompt":"a b","stream":true,"max_tokens":4}"#;
    let streamed = client.ask("POST", "/v1/completions", body);
    assert!(streamed.events()[0].contains(r#""text":" north""#));
    assert!(streamed.events()[4].contains(r#""finish_reason":"length""#));
    let whole = client.ask("POST", "/gw/openai/v1/completions", &body.replace("true", "false"));
    assert_eq!(whole.json()["choices"][0]["text"], " north by west lies");
    let records = records(&server, 3);
    assert!(records.iter().all(|record| record.connection == 1));
    assert_eq!(records[2].connection_request, 3);
}
