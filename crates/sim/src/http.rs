//! HTTP/1.1 by hand: request heads in, response heads out.

use std::fmt::Write as _;
use std::io;

use crate::config::Connection;
use crate::reply::{Framing, Reply};
use crate::stream::Stream;

/// The longest request head, in bytes.
const MAX_HEAD: usize = 64 * 1024;

/// The most headers of a request.
const MAX_HEADERS: usize = 100;

/// The longest request body, in bytes.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// A request's head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    /// All headers, names in lower case.
    headers: Vec<(String, String)>,
    /// Whether the client lets the connection be kept.
    pub(crate) keep_alive: bool,
    length: usize,
    expects_continue: bool,
    /// A status with which the request is refused before its body is read.
    pub(crate) refused: Option<u16>,
}

impl Head {
    /// The path alone.
    pub(crate) fn path(&self) -> &str {
        self.target.split_once('?').map_or(self.target.as_str(), |(path, _)| path)
    }

    /// What follows the question mark.
    pub(crate) fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }

    /// The last header of this name, which is in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().rfind(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The key of `Authorization: Bearer`.
    pub(crate) fn bearer(&self) -> Option<&str> {
        self.header("authorization")?.strip_prefix("Bearer ").map(str::trim)
    }
}

/// Reads a head from the front of `buffer`, filling it from `stream`. None: the client closed between requests.
pub(crate) async fn read_head(stream: &mut Stream, buffer: &mut Vec<u8>) -> io::Result<Option<Head>> {
    loop {
        if let Some((head, length)) = parse(buffer)? {
            buffer.drain(..length);
            return Ok(Some(head));
        }
        if buffer.len() > MAX_HEAD {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the request's head is too long"));
        }
        if stream.read(buffer).await? == 0 {
            return if buffer.is_empty() { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
    }
}

/// Takes the body that belongs to `head` from the front of `buffer`, filling it from `stream`.
pub(crate) async fn read_body(stream: &mut Stream, buffer: &mut Vec<u8>, head: &Head) -> io::Result<Vec<u8>> {
    if head.expects_continue && buffer.len() < head.length {
        stream.write(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    while buffer.len() < head.length {
        if stream.read(buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let rest = buffer.split_off(head.length);
    Ok(std::mem::replace(buffer, rest))
}

fn parse(bytes: &[u8]) -> io::Result<Option<(Head, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let status = request.parse(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    let httparse::Status::Complete(length) = status else { return Ok(None) };
    let mut head = Head {
        method: request.method.unwrap_or_default().to_owned(),
        target: request.path.unwrap_or_default().to_owned(),
        keep_alive: request.version == Some(1),
        ..Head::default()
    };
    for header in request.headers.iter() {
        head.apply(header.name, std::str::from_utf8(header.value).unwrap_or_default().trim());
    }
    Ok(Some((head, length)))
}

impl Head {
    fn apply(&mut self, name: &str, value: &str) {
        if name.eq_ignore_ascii_case("content-length") {
            match value.parse() {
                Ok(length) if length <= MAX_BODY => self.length = length,
                Ok(_) => self.refused = Some(413),
                Err(_) => self.refused = Some(400),
            }
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            self.refused = Some(411);
        } else if name.eq_ignore_ascii_case("connection") {
            if value.eq_ignore_ascii_case("close") {
                self.keep_alive = false;
            } else if value.eq_ignore_ascii_case("keep-alive") {
                self.keep_alive = true;
            }
        } else if name.eq_ignore_ascii_case("expect") {
            self.expects_continue = value.eq_ignore_ascii_case("100-continue");
        }
        self.headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
}

/// The bytes of a response's head. `id` is a header and the request's ordinal in it, where it has one.
pub(crate) fn response_head(reply: &Reply, id: Option<(&str, u64)>, connection: Announced) -> Vec<u8> {
    let mut head = String::with_capacity(192);
    let _ = write!(head, "HTTP/1.1 {} {}\r\n", reply.status, reason(reply.status));
    for (name, value) in &reply.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    if let Some((name, id)) = id {
        let _ = write!(head, "{name}: sim-{id}\r\n");
    }
    match reply.framing {
        Framing::Chunked => head.push_str("transfer-encoding: chunked\r\n"),
        Framing::Length(length) => {
            let _ = write!(head, "content-length: {length}\r\n");
        }
        Framing::Close => {}
    }
    match connection {
        Announced::Nothing => {}
        Announced::Kept => head.push_str("connection: keep-alive\r\nkeep-alive: timeout=5, max=100\r\n"),
        Announced::Closing => head.push_str("connection: close\r\n"),
    }
    head.push_str("\r\n");
    head.into_bytes()
}

/// What a response's head says about the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Announced {
    Nothing,
    Kept,
    Closing,
}

impl Announced {
    pub(crate) fn of(connection: Connection, keep_alive: bool, framing: Framing) -> Self {
        match connection {
            _ if !keep_alive || framing == Framing::Close => Self::Closing,
            Connection::KeepAlive => Self::Nothing,
            Connection::Close => Self::Closing,
            Connection::CloseAfterStream => Self::Kept,
        }
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        405 => "Method Not Allowed",
        411 => "Length Required",
        413 => "Content Too Large",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Simulated",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read() {
        let text = b"POST /v1/x?a=b HTTP/1.1\r\nContent-Length: 5\r\nAuthorization: Bearer k\r\n\r\nhello";
        assert_eq!(parse(&text[..40]).unwrap(), None);
        let (head, length) = parse(text).unwrap().unwrap();
        assert_eq!((head.path(), head.query(), length), ("/v1/x", "a=b", text.len() - 5));
        assert_eq!((head.length, head.bearer(), head.keep_alive), (5, Some("k"), true));
        let (head, _) = parse(b"GET / HTTP/1.1\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n")
            .unwrap()
            .unwrap();
        assert_eq!((head.keep_alive, head.refused), (false, Some(411)));
        assert!(parse(b"\x16\x03\x01 nonsense\r\n\r\n").is_err());
    }
}
