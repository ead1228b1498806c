//! A client on a bare socket: what it reads is what was on the wire.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use inferometer_sim::{Config, Record, Running, Server};

/// No answer of these tests takes longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// One answer, as it was on the wire.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// Status line and headers.
    pub(crate) head: String,
    /// The body, taken out of its chunks.
    pub(crate) body: Vec<u8>,
    /// Whether the body ended as its framing asks.
    pub(crate) complete: bool,
    /// Whether the connection failed with a reset.
    pub(crate) reset: bool,
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.head.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The payloads of its events.
    pub(crate) fn events(&self) -> Vec<String> {
        let text = self.text();
        let events = text.split("\n\n").filter(|event| !event.is_empty());
        events.map(|event| event.strip_prefix("data: ").unwrap_or(event).to_owned()).collect()
    }
}

/// A connection.
pub(crate) struct Client {
    pub(crate) tcp: TcpStream,
    ahead: Vec<u8>,
}

impl Client {
    pub(crate) fn new(server: &Running) -> Self {
        let tcp = TcpStream::connect(server.addr).unwrap();
        tcp.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { tcp, ahead: Vec::new() }
    }

    pub(crate) fn send(&mut self, method: &str, target: &str, headers: &str, body: &str) {
        let length = body.len();
        let request = format!(
            "{method} {target} HTTP/1.1\r\nhost: sim\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        );
        self.tcp.write_all(request.as_bytes()).unwrap();
    }

    pub(crate) fn ask(&mut self, method: &str, target: &str, body: &str) -> Answer {
        self.send(method, target, "", body);
        self.read()
    }

    /// A streamed chat with `model` and whatever `more` fields there are.
    pub(crate) fn chat(&mut self, model: &str, more: &str) -> Answer {
        self.ask("POST", "/v1/chat/completions", &chat_body(model, "one two three", more))
    }

    /// Reads one answer to its end, or to the end of the connection.
    pub(crate) fn read(&mut self) -> Answer {
        let mut answer = Answer::default();
        let mut raw = std::mem::take(&mut self.ahead);
        loop {
            if let Some(used) = parse(&raw, &mut answer) {
                self.ahead = raw.split_off(used);
                return answer;
            }
            let mut some = [0; 8_192];
            match self.tcp.read(&mut some) {
                Ok(0) => break,
                Ok(n) => raw.extend_from_slice(&some[..n]),
                Err(error) => {
                    answer.reset = error.kind() == std::io::ErrorKind::ConnectionReset;
                    break;
                }
            }
        }
        answer.complete =
            answer.head.contains("connection: close") && !answer.head.contains("transfer-encoding");
        answer
    }
}

pub(crate) fn chat_body(model: &str, prompt: &str, more: &str) -> String {
    let model = serde_json::Value::from(model);
    format!(r#"{{"model":{model},"stream":true,"messages":[{{"role":"user","content":"{prompt}"}}]{more}}}"#)
}

/// Fills `answer` with what `raw` holds; how many bytes it took, once it is complete.
fn parse(raw: &[u8], answer: &mut Answer) -> Option<usize> {
    let end = raw.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    answer.head = String::from_utf8_lossy(&raw[..end]).to_ascii_lowercase();
    answer.body.clear();
    let header = |name: &str| {
        let line = answer.head.lines().find_map(|line| line.strip_prefix(name));
        line.map(|value| value.trim().to_owned())
    };
    if header("transfer-encoding:").is_some() {
        return parse_chunks(raw, end, answer);
    }
    let length = header("content-length:").map(|length| length.parse::<usize>().unwrap());
    answer.body.extend_from_slice(&raw[end..raw.len().min(length.map_or(raw.len(), |length| end + length))]);
    answer.complete = length.is_some_and(|length| raw.len() >= end + length);
    answer.complete.then_some(end + answer.body.len())
}

fn parse_chunks(raw: &[u8], mut at: usize, answer: &mut Answer) -> Option<usize> {
    loop {
        let line = raw[at..].windows(2).position(|window| window == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&raw[at..at + line]).unwrap(), 16).unwrap();
        let start = at + line + 2;
        let chunk = raw.get(start..start + size + 2)?;
        assert_eq!(&chunk[size..], b"\r\n", "each chunk ends with CRLF");
        answer.body.extend_from_slice(&chunk[..size]);
        at = start + size + 2;
        if size == 0 {
            answer.complete = true;
            return Some(at);
        }
    }
}

/// The records of the server, once its `n` answers are over.
pub(crate) fn records(server: &Running, n: usize) -> Vec<Record> {
    let truth = server.settled(PATIENCE);
    assert_eq!((truth.requests.len(), truth.counters.in_flight), (n, 0));
    truth.requests
}

/// Sends `n` requests at once, each on a connection of its own, and reads them to their ends.
pub(crate) fn together(server: &Running, model: &str, n: usize) -> Vec<Record> {
    let mut clients: Vec<_> = (0..n).map(|_| Client::new(server)).collect();
    for (i, client) in clients.iter_mut().enumerate() {
        client.send("POST", "/v1/chat/completions", "", &chat_body(model, &format!("prompt {i}"), ""));
    }
    for client in &mut clients {
        client.read();
    }
    records(server, n)
}

/// A server of a configuration.
pub(crate) fn server(toml: &str) -> Running {
    Server::start(Config::from_toml(toml).unwrap()).unwrap()
}

/// Lets time pass.
pub(crate) fn rest(span: Duration) {
    let clock = inferometer_clock::Clock::monotonic();
    inferometer_clock::block_until(clock.now() + span);
}
