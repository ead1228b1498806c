//! Named scenarios, scripts and combinations.

use std::io::Read;
use std::time::Duration;

use inferometer_sim::config::Capture;
use inferometer_sim::truth::End;
use inferometer_sim::{Config, Running, Server};

use crate::client::{Answer, Client, chat_body, records};

fn server() -> Running {
    Server::start(Config::default()).unwrap()
}

#[test]
fn the_first_case_is_served_to_the_letter() {
    let server = server();
    let answer = Client::new(&server).chat("c01", "");
    let events = answer.events();
    assert_eq!(events.len(), 9);
    assert!(events[0].contains(r#""delta":{"role":"assistant","content":""}"#));
    assert!(events[6].contains(r#""finish_reason":"stop""#));
    assert!(events[7].contains(r#""prompt_tokens":7,"completion_tokens":5"#));
    let record = &records(&server, 1)[0];
    let since = |at: Option<u64>| Duration::from_nanos(at.unwrap() - record.read_ns).as_millis();
    assert!(since(record.first_write_ns) >= 50 && since(record.first_output_ns) >= 400);
    assert!(since(record.last_output_ns) >= 480 && since(record.last_output_ns) < 1_000);
    assert_eq!(record.planned_last_ns, Some(record.read_ns + 480_000_000));
    assert_eq!((record.input_tokens, record.output_tokens, record.sent_tokens), (7, Some(5), 5));
}

#[test]
fn literal_bytes_go_out_as_they_stand() {
    let server = server();
    let check = |model: &str, body: &[u8]| {
        let answer = Client::new(&server).chat(model, "");
        assert_eq!(answer.body, body, "{model}: {}", answer.text());
        assert!(answer.complete, "{model}");
    };
    check("w50", b"data: {\"id\":\"chatcmpl-sim\",\"object\":\"chat.completion.chunk\",\"created\":1796051544,\"model\":\"sim\",\
        \"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"finish_reason\":null}]}\n\n\
        event: error\ndata: {\"message\":\"busy\"}\n\n");
    check("w52b", b"data: {\"error\":\"text\"}\n\n");
    check("w53", b"{\"error\":{\"message\":\"quota\"}}");
    check("script:raw data: a⏎⏎;5 raw ⟨FF 00⟩␍+w66", b"data: a\n\n\xFF\0\r");
    check(
        "script:raw data: a⏎⏎;D+w58+w59+w60",
        b": keep-alive\r\n\r\ndata:a\r\n\r\n: keep-alive\r\n\r\ndata:[DONE]\r\n\r\n",
    );
    check("w59c+w66", &Client::new(&server).chat("w59c", "").body);
    check("w67+w65", &Client::new(&server).chat("w67", "").body);
    check("sim+w72", &Client::new(&server).chat("sim", "").body);
}

#[test]
fn every_scenario_is_served_and_recorded() {
    let server = server();
    let names: Vec<String> = Client::new(&server).ask("GET", "/v1/models", "").json()["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| model["id"].as_str().unwrap().to_owned())
        .collect();
    // Those that take seconds by nature, or megabytes.
    let short: Vec<_> =
        names.iter().filter(|name| !["c16", "c22", "s01", "w41d", "w68b"].contains(&name.as_str())).collect();
    std::thread::scope(|scope| {
        for name in &short {
            let server = &server;
            scope.spawn(move || {
                let answer = Client::new(server).chat(name, "");
                assert!(answer.status() >= 200, "{name}: {answer:?}");
            });
        }
    });
    for record in records(&server, short.len()) {
        let name = &record.model;
        assert!(record.end != End::ClientClosed, "{name}");
        assert!(record.first_output_ns <= record.last_output_ns, "{name}");
        assert!(record.answered_ns.is_some_and(|at| at >= record.read_ns), "{name}");
        let literal = ["w26", "w49b", "w52b", "w52c", "w52d", "w53"].contains(&name.as_str());
        assert_eq!(record.first_output_ns.is_none(), literal || record.status != 200, "{name}");
    }
}

#[test]
fn ends_are_what_they_are_called() {
    let server = server();
    let ask = |model: &str| -> Answer { Client::new(&server).chat(model, "") };
    let check = |model: &str, complete: bool, reset: bool| {
        let answer = ask(model);
        assert_eq!((answer.complete, answer.reset), (complete, reset), "{model}: {answer:?}");
    };
    check("w43", true, false);
    check("w43b", true, false);
    check("w76", false, false);
    check("w75", false, true);
    check("w73", true, false);
    let answer = ask("w43b");
    assert!(answer.head.contains("connection: close") && !answer.head.contains("transfer-encoding"));
    let mut kept = Client::new(&server);
    assert!(kept.chat("w73", "").complete);
    assert_eq!(kept.read().head, "", "the connection is closed though nobody said so");
    let ends: Vec<_> = records(&server, 7).iter().map(|record| record.end).collect();
    assert_eq!(ends.iter().filter(|end| **end == End::Cut).count(), 1);
    assert_eq!(ends.iter().filter(|end| **end == End::Reset).count(), 1);
}

#[test]
fn branches_go_by_ordinal_and_by_prompt() {
    let server = server();
    let mut client = Client::new(&server);
    let mut statuses = |model: &str, prompts: &[&str]| -> Vec<u16> {
        let ask = |prompt: &&str| {
            client.ask("POST", "/v1/chat/completions", &chat_body(model, prompt, "")).status()
        };
        prompts.iter().map(ask).collect()
    };
    let thrice = "script:try<=2: http 429 retry-after=1 | else: D";
    assert_eq!(statuses(thrice, &["a", "b", "a", "a", "b", "b"]), [429, 429, 429, 200, 429, 200]);
    assert_eq!(statuses("script:40%: http 500 | 60%: D", &["a"; 5]), [500, 500, 200, 200, 200]);
    let counters = server.settled(Duration::from_secs(5)).counters;
    assert_eq!(counters.by_status, [(200, 5), (429, 4), (500, 2)].into());
    assert_eq!(counters.distinct_prompts, 2);
}

#[test]
fn fields_are_refused_and_scripts_answer_whole() {
    let server = server();
    let mut client = Client::new(&server);
    let usage = r#","stream_options":{"include_usage":true}"#;
    assert_eq!(client.chat("w35", usage).status(), 400);
    assert_eq!(client.chat("sim+w35", usage).status(), 400);
    assert!(client.chat("w35b", r#","max_tokens":5"#).text().contains("max_tokens"));
    assert_eq!(client.chat("w35", "").status(), 200);
    let body = chat_body("c20", "a", "").replace("true", "false");
    assert_eq!(client.ask("POST", "/v1/chat/completions", &body).json()["usage"]["completion_tokens"], 1);
    let answer = client.chat("script:50 rolle", "");
    assert_eq!(answer.status(), 400);
    assert!(answer.text().contains("character 4"), "{}", answer.text());
}

/// What an event stream says, read in the simplest way: its payloads.
fn payloads(answer: &Answer) -> Vec<String> {
    let mut text = String::new();
    if answer.head.contains("content-encoding: gzip") {
        flate2::read::GzDecoder::new(answer.body.as_slice()).read_to_string(&mut text).unwrap();
    } else {
        text = answer.text();
    }
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines = text.lines().filter_map(|line| line.strip_prefix("data:"));
    lines.map(|payload| payload.trim_start().to_owned()).collect()
}

/// The text of an answer, and its last usage.
fn meaning(answer: &Answer) -> (String, String) {
    let mut meaning = (String::new(), String::new());
    for payload in payloads(answer) {
        let Ok(event) = serde_json::from_str::<serde_json::Value>(&payload) else { continue };
        meaning.0.push_str(event["choices"][0]["delta"]["content"].as_str().unwrap_or_default());
        if event["usage"].is_object() {
            meaning.1 = event["usage"].to_string();
        }
    }
    meaning
}

#[test]
fn no_combination_of_transforms_changes_what_is_said() {
    let server = server();
    let all = [
        "w01",
        "w20",
        "w21",
        "w27",
        "padding",
        "w62",
        "w58",
        "w60",
        "unterminated",
        "w59",
        "w59cr",
        "w65",
        "w72",
        "w71",
        "w71whole",
        "w66",
    ];
    let script = r#"script:1 role;2 T" a", T" b\"c";3 fin, U(7,2), D"#;
    let mut client = Client::new(&server);
    let plain = meaning(&client.chat(script, ""));
    assert_eq!(plain.0, " a b\"c");
    for one in all {
        // Two line ends, or two compressions, are not one answer.
        for other in all.iter().filter(|other| *other == &one || other.get(..3) != one.get(..3)) {
            let answer = client.chat(&format!("{script}+{one}+{other}"), "");
            assert_eq!(meaning(&answer), plain, "{one}+{other}: {}", answer.text());
        }
    }
    let model = meaning(&client.chat("sim", r#","max_tokens":3"#)).0;
    assert_eq!(meaning(&client.chat("sim+w59+w60+w71", r#","max_tokens":3"#)).0, model);
}

#[test]
fn heads_and_framings_are_as_the_script_says() {
    let server = server();
    let mut client = Client::new(&server);
    let answer = client
        .chat("script:framing length;http 200 x-a=\"b c\" content-type=text/plain;5 raw ab;9 raw c", "");
    assert!(
        answer.head.contains("x-a: b c\r\n") && answer.head.contains("content-length: 3\r\n"),
        "{}",
        answer.head
    );
    assert_eq!(answer.text(), "abc");
    client.chat("script:head 5;60 T;D", "");
    client.chat("script:freeze 0..50;10 T;D", "");
    let records = records(&server, 3);
    assert!(records[1].answered_ns.unwrap() + 40_000_000 < records[1].first_write_ns.unwrap());
    assert_eq!(records[2].planned_first_ns, Some(records[2].read_ns + 60_000_000));
}

#[test]
fn recordings_of_a_real_server_are_served_again() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/captures/llama-cpp");
    let Ok(entries) = std::fs::read_dir(folder) else {
        eprintln!("skipped: no recordings at {folder}");
        return;
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let stem = |path: &std::path::Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|kind| kind == "txt") && !stem(path).contains(".timed"))
        .collect();
    let capture =
        |path: &std::path::PathBuf| Capture { name: stem(path), path: path.clone(), gap: Duration::ZERO };
    let captures = paths.iter().map(capture).collect();
    let server = Server::start(Config { captures, ..Config::default() }).unwrap();
    for path in &paths {
        let recorded = std::fs::read(path).unwrap();
        let answer = Client::new(&server).chat(&stem(path), "");
        assert!(answer.complete && recorded.ends_with(&answer.body), "{}: {answer:?}", path.display());
        assert!(
            recorded.starts_with(format!("HTTP/1.1 {}", answer.status()).as_bytes()),
            "{}",
            path.display()
        );
    }
}
