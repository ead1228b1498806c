//! The head of an answer.

use std::io;

use http::header::CONNECTION;
use http::{HeaderName, HeaderValue, Response, StatusCode, Version, response};
use httparse::Status;

use super::unreadable;

/// The most headers of an answer.
const MAX_HEADERS: usize = 128;
/// So much of a head is looked at with every read, so that what is no HTTP is told at once. A longer one only when its end
/// has come: byte by byte it would be read over and over.
const LOOKED_AT: usize = 512;

/// The head at the beginning of `bytes`, and its length; nothing while it is incomplete. The first `seen` bytes have been
/// looked at before. Informational heads (RFC 9110, section 15.2) are passed over.
pub(super) fn parse(bytes: &[u8], seen: usize) -> io::Result<Option<(response::Parts, usize)>> {
    if bytes.len() > LOOKED_AT && !has_end(bytes, seen) {
        return Ok(None);
    }
    let mut start = 0;
    while let Some((head, length)) = parse_one(bytes.get(start..).unwrap_or_default())? {
        start += length;
        match head.status {
            StatusCode::SWITCHING_PROTOCOLS => return Err(unreadable("it switched the protocol unasked")),
            status if status.is_informational() => {}
            _ => return Ok(Some((head, start))),
        }
    }
    Ok(None)
}

/// Whether the server takes a further request on this connection (RFC 9112, section 9.3).
pub(super) fn is_kept(head: &response::Parts) -> bool {
    let says = |word: &str| {
        let mut words = head.headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
        words.any(|list| list.split(',').any(|option| option.trim().eq_ignore_ascii_case(word)))
    };
    if head.version == Version::HTTP_10 { says("keep-alive") } else { !says("close") }
}

/// Whether an empty line ends within `bytes`, past what was seen before.
fn has_end(bytes: &[u8], seen: usize) -> bool {
    let new = bytes.get(seen.saturating_sub(2)..).unwrap_or_default();
    memchr::memmem::find(new, b"\n\n").is_some() || memchr::memmem::find(new, b"\n\r\n").is_some()
}

fn parse_one(bytes: &[u8]) -> io::Result<Option<(response::Parts, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut read = httparse::Response::new(&mut headers);
    let bad = |cause| io::Error::new(io::ErrorKind::InvalidData, cause);
    let Status::Complete(length) = read.parse(bytes).map_err(bad)? else { return Ok(None) };
    let mut head = Response::new(()).into_parts().0;
    head.status = read
        .code
        .and_then(|code| StatusCode::from_u16(code).ok())
        .ok_or_else(|| unreadable("its status is no number"))?;
    head.version = if read.version == Some(0) { Version::HTTP_10 } else { Version::HTTP_11 };
    head.headers.reserve(read.headers.len());
    for header in &*read.headers {
        let name = HeaderName::from_bytes(header.name.as_bytes());
        let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(header.value)) else {
            return Err(unreadable("a header of it cannot be read"));
        };
        head.headers.append(name, value);
    }
    Ok(Some((head, length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Status and connection of an answer, as its head says; nothing where it is incomplete.
    fn read(head: &str) -> io::Result<Option<(u16, bool, usize)>> {
        Ok(parse(head.as_bytes(), 0)?.map(|(head, length)| (head.status.as_u16(), is_kept(&head), length)))
    }

    #[test]
    fn heads_say_whether_the_connection_is_kept() {
        for (head, kept) in [
            ("HTTP/1.1 200 OK\r\n\r\n", true),
            ("HTTP/1.1 200\nconnection: upgrade , Close\n\n", false),
            ("HTTP/1.1 200 OK\r\nconnection: keep-alive\r\n\r\n", true),
            ("HTTP/1.0 200 OK\r\n\r\n", false),
            ("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n\r\n", true),
        ] {
            assert_eq!(read(head).unwrap(), Some((200, kept, head.len())), "{head}");
        }
    }

    #[test]
    fn informational_heads_are_passed_over() {
        let early = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
        let head = format!("HTTP/1.1 100 Continue\r\n\r\n{early}HTTP/1.1 429 Slow\r\n\r\n");
        assert_eq!(read(&format!("{head}body")).unwrap(), Some((429, true, head.len())));
        assert_eq!(read(early).unwrap(), None);
        assert!(read("HTTP/1.1 101 Switching Protocols\r\n\r\n").is_err());
    }

    /// What is no HTTP is told before any line of it ends; a head in any cut is the head.
    #[test]
    fn cuts_change_nothing() {
        assert!(read("SSH-2.0-OpenSSH_9").is_err() && read("\u{16}\u{3}\u{1}").is_err());
        let head = format!("HTTP/1.1 200 OK\r\nx: {}\r\nserver: y\r\n\r\n", "x".repeat(2 * LOOKED_AT));
        for cut in 0..head.len() {
            assert_eq!(read(&head[..cut]).unwrap(), None, "{cut}");
            assert_eq!(parse(head.as_bytes(), cut).unwrap().map(|(_, length)| length), Some(head.len()));
        }
    }

    /// Whatever comes, it is read or refused.
    #[test]
    fn any_bytes_are_read_or_refused() {
        const PARTS: [&str; 8] = [
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.0 100\n",
            "\r\n",
            "\n",
            "x: y\r\n",
            "connection: close\r\n",
            ":",
            "\0",
        ];
        bolero::check!().with_type::<Vec<u8>>().with_iterations(3_000).for_each(|choices| {
            let mut bytes = Vec::new();
            for choice in choices {
                match PARTS.get(usize::from(choice % 16)) {
                    Some(part) => bytes.extend_from_slice(part.as_bytes()),
                    None => bytes.push(*choice),
                }
            }
            if let Ok(Some((_, length))) = parse(&bytes, 0) {
                assert!(length <= bytes.len() && bytes[..length].ends_with(b"\n"));
            }
        });
    }
}
