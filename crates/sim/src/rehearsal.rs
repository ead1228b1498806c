//! An answer as it is planned, without a socket and without waiting: what is written, and when.

use std::io;
use std::time::Duration;

use inferometer_clock::Mono;

use crate::Config;
use crate::ask::Ask;
use crate::book::Book;
use crate::dialect::{Address, Dialect, Refused};
use crate::reply::{Framing, Reply};

/// One write of a body, out of the framing of HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// When it is due, after the request was read.
    pub at: Duration,
    /// Never empty.
    pub bytes: Vec<u8>,
}

/// An answer that nobody waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rehearsal {
    /// The HTTP status.
    pub status: u16,
    /// Empty where there is none.
    pub content_type: String,
    /// In order.
    pub writes: Vec<Write>,
}

/// What a server of `config` would answer to a first request: `body`, posted to `target`, a path with its query. Keys, slots,
/// limits and cold starts are for servers that are asked more than once.
///
/// Fails where the configuration cannot be served, or where nobody is asked at `target`.
pub fn rehearse(config: &Config, target: &str, body: Vec<u8>) -> io::Result<Rehearsal> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let heard = Address::behind(&config.prefixes, path, query).find_map(Dialect::heard);
    let (dialect, at) = heard.ok_or_else(|| io::Error::other(format!("nobody is asked at {target}")))?;
    let book = Book::new(config)?;
    let refused = |status, code, message: &str| dialect.error(status, code, message).reply();
    let reply = match Ask::parse(dialect, at, body) {
        Err(Refused { status, code, message }) => refused(status, code, &message),
        Ok(ask) => match book.find(&ask.wishes.model) {
            Err((status, message)) => refused(status, "model_not_found", &message),
            Ok(entry) => {
                let arrival = entry.arrive(ask.wishes.prompt_hash, Mono::default());
                entry.answer(&ask, arrival).0
            }
        },
    };
    Ok(Rehearsal::of(&reply))
}

impl Rehearsal {
    fn of(reply: &Reply) -> Self {
        let content_type = reply.headers.iter().find(|(name, _)| name == "content-type");
        let all = reply.runs.iter().flat_map(|run| (0..run.count).map(move |i| (run, i)));
        let writes = all.map(|(run, i)| Write {
            at: Duration::from_nanos(run.due_ns(i)),
            bytes: unframed(reply.framing, run.write(i).0).to_vec(),
        });
        Self {
            status: reply.status,
            content_type: content_type.map_or_else(String::new, |(_, value)| value.clone()),
            writes: writes.filter(|write| !write.bytes.is_empty()).collect(),
        }
    }
}

/// The body's bytes of one chunk.
fn unframed(framing: Framing, bytes: &[u8]) -> &[u8] {
    if framing != Framing::Chunked {
        return bytes;
    }
    let start = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    bytes.get(start..bytes.len().saturating_sub(2)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_before_they_are_given() {
        let config = Config::from_toml("[[model]]\nname = \"m\"\nttft = \"20ms\"\nrate = 100\ntokens = 2\n");
        let config = config.unwrap();
        let ask = |target: &str, model: &str| {
            let body = format!(r#"{{"model":"{model}","stream":true,"messages":[]}}"#);
            rehearse(&config, target, body.into())
        };
        let told = ask("/v1/chat/completions", "m").unwrap();
        assert_eq!((told.status, told.content_type.as_str()), (200, "text/event-stream"));
        let times: Vec<_> = told.writes.iter().map(|write| write.at.as_millis()).collect();
        assert_eq!(times, [20, 20, 30, 30, 30]);
        assert!(told.writes[1].bytes.starts_with(b"data: {") && told.writes[1].bytes.ends_with(b"}\n\n"));
        assert_eq!(told.writes[4].bytes, b"data: [DONE]\n\n");
        let other = ask("/v1/chat/completions", "other").unwrap();
        assert_eq!((other.status, other.writes.len()), (404, 1));
        assert!(ask("/v1/nowhere", "m").is_err());
    }
}
