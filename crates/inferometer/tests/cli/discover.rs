//! `discover`: a simulated provider that answers, canned ones that say why they do not, and OpenRouter's list.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::{fs, thread};

use inferometer_sim::{Config, Model, Running, Server};
use serde_json::{Value, json};

use crate::support::{Ended, inferometer};

const OFFERS: &str = r#"{"data":{"id":"maker/sim","endpoints":[
    {"provider_name":"Alpha","tag":"alpha/fp8","quantization":"fp8","context_length":131072,"status":0,
     "pricing":{"prompt":"0.0000001","completion":"0.0000005"}}]}}"#;

/// A server that answers each path (the first whose name the request's path ends in) with a status and a body.
fn canned(pages: &'static [(&'static str, u16, &'static str)]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let (mut first, mut length) = (String::new(), 0);
            reader.read_line(&mut first).unwrap();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
            }
            reader.read_exact(&mut vec![0; length]).unwrap();
            let path = first.split(' ').nth(1).unwrap_or_default();
            let page = pages.iter().find(|(end, ..)| path.ends_with(end));
            let (status, body) = page.map_or((404, "{}"), |(_, status, body)| (*status, *body));
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            reader.get_mut().write_all([head.as_bytes(), body.as_bytes()].concat().as_slice()).unwrap();
        }
    });
    address
}

fn discover(dir: &std::path::Path, arguments: &[&str]) -> Ended {
    inferometer(dir).arg("discover").args(arguments).output().unwrap().into()
}

/// Four providers and an address where nobody is, as a plan; and the router.
fn providers() -> (Running, String, String) {
    let sim = Server::start(Config::single(Model::default())).unwrap();
    let dedicated = canned(&[
        ("/models", 200, r#"{"data":[{"id":"maker/Sim","context_length":4096},{"id":"other"}]}"#),
        (
            "/chat/completions",
            400,
            r#"{"error":{"message":"Unable to access non-serverless model: create a dedicated endpoint"}}"#,
        ),
    ]);
    let retired = canned(&[("/models", 200, r#"{"data":[{"id":"sim","active":false}]}"#)]);
    let none = canned(&[("/models", 200, r#"{"data":[{"id":"another"}]}"#)]);
    let router = canned(&[("/models/maker/sim/endpoints", 200, OFFERS)]);
    let target = |name: &str, url: &str| {
        format!(
            "[[target]]\nname = \"{name}\"\nurl = \"{url}\"\nmodel = \"sim\"\nregion = \"eu\"\nprice = \"input=1,output=2\"\n"
        )
    };
    let targets = [
        ("a", sim.base_url()),
        ("b", dedicated),
        ("c", retired),
        ("d", none),
        ("e", "http://127.0.0.1:1".into()),
    ];
    let plan: String = targets.iter().map(|(name, url)| target(name, url)).collect();
    (sim, plan, router)
}

#[test]
fn each_provider_s_own_words_decide() {
    let dir = tempfile::tempdir().unwrap();
    let (_sim, plan, router) = providers();
    fs::write(dir.path().join("plan.toml"), plan).unwrap();
    let ask = [
        "maker/sim",
        "--plan",
        "plan.toml",
        "--openrouter",
        &router,
        "--format",
        "json",
        "--into",
        "new.toml",
    ];
    let ended = discover(dir.path(), &ask);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    let row = |row: &Value| {
        json!([
            row["target"],
            row["model"],
            row["availability"],
            row["price"],
            row["precision"],
            row["context"]
        ])
    };
    let rows: Vec<Value> = found.as_array().unwrap().iter().map(row).collect();
    assert_eq!(
        rows,
        [
            json!([null, "maker/sim", "unknown", "input=0.1,output=0.5", "fp8", 131_072]),
            json!(["a", "sim", "callable", "input=1,output=2", null, null]),
            json!(["b", "maker/Sim", "dedicated_only", null, null, 4096]),
            json!(["c", "sim", "retired", "input=1,output=2", null, null]),
        ]
    );
    assert!(found[2]["evidence"].as_str().unwrap().contains("non-serverless model"));
    assert!(ended.stderr.contains("d: its list has no model of this name"), "{}", ended.stderr);
    assert!(ended.stderr.contains("e: "), "{}", ended.stderr);
    // Without a key for the router its offers cannot be asked, so that they are not written.
    assert!(ended.stderr.contains("set OPENROUTER_API_KEY"), "{}", ended.stderr);
    let written = fs::read_to_string(dir.path().join("new.toml")).unwrap();
    assert_eq!(written.matches("[[target]]").count(), 1, "{written}");
    let planned: Ended =
        inferometer(dir.path()).args(["run", "new.toml", "--dry-run"]).output().unwrap().into();
    assert_eq!(planned.code, Some(0), "{}", planned.stderr);
    let again = discover(dir.path(), &ask);
    assert!(again.stderr.contains("new.toml: 0 targets written, 1 were there"), "{}", again.stderr);
}

#[test]
fn nobody_to_ask_and_nobody_who_serves_it() {
    let dir = tempfile::tempdir().unwrap();
    let none = discover(dir.path(), &["sim", "--no-openrouter"]);
    assert_eq!(
        (none.code, none.stdout.as_str()),
        (Some(5), "nobody who was asked serves sim\n"),
        "{}",
        none.stderr
    );
    assert!(none.stderr.contains("there is nobody to ask"), "{}", none.stderr);
    let missing = discover(dir.path(), &["sim", "--plan", "no.toml"]);
    assert_eq!(missing.code, Some(2), "{}", missing.stderr);
}
