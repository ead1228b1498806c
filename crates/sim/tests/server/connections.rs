//! Connections, keys, pages beside the answers, and TLS.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use inferometer_sim::config::Tls;
use inferometer_sim::{Config, Server, Truth};

use crate::client::{Client, chat_body, records, server};

const QUICK: &str = "[[model]]\nname = \"sim\"\nttft = \"1ms\"\nrate = \"flood\"\ntokens = 2\n";

#[test]
fn connections_are_kept_or_closed_as_told() {
    let check = |connection: &str, streamed_kept: bool, whole_kept: bool, announced: &str| {
        let server = server(&format!("connection = \"{connection}\"\n{QUICK}"));
        let kept = |body: &str| {
            let mut client = Client::new(&server);
            let answer = client.ask("POST", "/v1/chat/completions", body);
            assert!(answer.head.contains(announced), "{}", answer.head);
            client.tcp.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
            let rest = client.tcp.read(&mut [0; 1]);
            rest.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
        };
        let body = chat_body("sim", "a", "");
        assert_eq!(kept(&body), streamed_kept, "{connection}");
        assert_eq!(kept(&body.replace("true", "false")), whole_kept, "{connection}");
    };
    check("keep_alive", true, true, "");
    check("close", false, false, "connection: close");
    check("close_after_stream", false, true, "keep-alive: timeout=5");
}

#[test]
fn a_resting_connection_is_closed() {
    let server = server(&format!("keep_alive_idle = \"50ms\"\n{QUICK}"));
    let mut client = Client::new(&server);
    assert!(client.chat("", "").complete);
    assert_eq!(client.tcp.read(&mut [0; 1]).unwrap(), 0);
}

#[test]
fn keys_are_asked_for() {
    let server = server(&format!("require_key = \"k1\"\n{QUICK}"));
    let mut client = Client::new(&server);
    let body = chat_body("sim", "a", "");
    let mut status = |headers: &str| {
        client.send("POST", "/v1/chat/completions", headers, &body);
        client.read().status()
    };
    assert_eq!(status(""), 401);
    assert_eq!(status("authorization: Bearer k2\r\n"), 401);
    assert_eq!(status("authorization: Bearer k1\r\n"), 200);
    assert_eq!(client.ask("GET", "/v1/models", "").status(), 401);
    assert_eq!(server.settled(Duration::from_secs(5)).counters.by_status, [(200, 1), (401, 2)].into());
}

#[test]
fn paths_are_served_or_not_and_logged() {
    let server = server(QUICK);
    let mut client = Client::new(&server);
    let body = chat_body("sim", "a", "");
    let mut check = |method: &str, target: &str, status: u16| {
        assert_eq!(client.ask(method, target, &body).status(), status, "{method} {target}");
    };
    check("POST", "/v1/chat/completions", 200);
    check("POST", "/gw/openai/v1/chat/completions?api-version=x", 200);
    check("POST", "/v1/v1/chat/completions", 404);
    check("POST", "//v1/chat/completions", 404);
    check("GET", "/v1/chat/completions", 405);
    check("POST", "/v1/moderations", 404);
    check("GET", "/health", 200);
    check("GET", "/gw/openai/v1/models", 200);
    check("POST", "/v1/completions", 400);
    let paths = server.truth().counters.paths;
    assert_eq!(paths["/gw/openai/v1/chat/completions?api-version=x"], 1);
    assert_eq!(paths["//v1/chat/completions"], 1);
    assert_eq!(paths["/v1/chat/completions"], 2);
}

#[test]
fn truth_is_told_and_forgotten() {
    let server = server(QUICK);
    let mut client = Client::new(&server);
    let answer = client.chat("sim", "");
    assert!(answer.head.contains("x-request-id: sim-1\r\n"), "{}", answer.head);
    assert_eq!(client.chat("nobody", "").status(), 404);
    records(&server, 2);
    let told: Truth = serde_json::from_slice(&client.ask("GET", "/truth", "").body).unwrap();
    assert_eq!(told, server.truth());
    assert_eq!((told.requests[0].model.as_str(), told.requests[1].model.as_str()), ("sim", "nobody"));
    assert_eq!((told.counters.requests, told.counters.connections), (2, 1));
    client.ask("DELETE", "/truth", "");
    assert_eq!(server.truth().requests, []);
    assert!(client.chat("sim", "").head.contains("x-request-id: sim-1\r\n"));
}

#[test]
fn bad_requests_are_answered_or_dropped() {
    let server = server(QUICK);
    let raw = |request: &str| {
        let mut client = Client::new(&server);
        client.tcp.write_all(request.as_bytes()).unwrap();
        client.read().status()
    };
    assert_eq!(raw("nonsense\r\n\r\n"), 0);
    assert_eq!(raw("POST /v1/completions HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n"), 413);
    assert_eq!(raw("POST /v1/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"), 411);
    assert_eq!(raw("POST /v1/completions HTTP/1.1\r\ncontent-length: 2\r\n\r\n{]"), 400);
    // Two requests at once are answered one after the other.
    let mut client = Client::new(&server);
    client.send("POST", "/v1/chat/completions", "", &chat_body("sim", "a", ""));
    client.send("GET", "/health", "", "");
    assert!(client.read().complete);
    assert_eq!(client.read().text(), r#"{"status":"ok"}"#);
}

#[test]
fn a_client_that_leaves_is_noticed() {
    let server = server(QUICK);
    let mut client = Client::new(&server);
    client.send("POST", "/v1/chat/completions", "", &chat_body("s01", "a", ""));
    while server.truth().counters.in_flight == 0 {
        crate::client::rest(Duration::from_millis(2));
    }
    drop(client);
    let record = &records(&server, 1)[0];
    assert_eq!((record.end, record.answered_ns), (inferometer_sim::truth::End::ClientClosed, None));
}

#[test]
fn tls_with_a_certificate_of_its_own() {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let tls = Tls { cert: folder.path().join("cert.pem"), key: folder.path().join("key.pem") };
    std::fs::write(&tls.cert, certified.cert.pem()).unwrap();
    std::fs::write(&tls.key, certified.signing_key.serialize_pem()).unwrap();
    let config = Config { tls: Some(tls.clone()), ..Config::default() };
    let server = Server::start(config).unwrap();
    assert!(server.base_url().starts_with("https://localhost:"));

    let mut roots = rustls::RootCertStore::empty();
    roots.add(certified.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "localhost".try_into().unwrap();
    let session = rustls::ClientConnection::new(Arc::new(client), name).unwrap();
    let tcp = std::net::TcpStream::connect(server.addr).unwrap();
    let mut stream = rustls::StreamOwned::new(session, tcp);
    let body = chat_body("w43b", "a", "");
    let request =
        format!("POST /v1/chat/completions HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.contains(" word"), "{text}");
    assert_eq!(records(&server, 1)[0].sent_tokens, 2);

    std::fs::write(&tls.cert, "no certificate").unwrap();
    let error = Server::start(Config { tls: Some(tls), ..Config::default() }).unwrap_err();
    assert!(error.to_string().contains("cert.pem"), "{error}");
}
