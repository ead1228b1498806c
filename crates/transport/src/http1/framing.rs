//! Where a body ends, and what of the bytes is body (RFC 9112, sections 6 and 7). Sans-IO: it takes bytes in any cut.

use std::io;

use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, StatusCode, Version, response};

use super::{closed_early, unreadable};

/// The most bytes of a body's chunk extensions and trailers, which nobody reads.
const MAX_UNREAD: u32 = 16 * 1024;

/// What stands between here and the end of a body.
#[derive(Debug)]
pub(super) enum Framing {
    /// So many bytes.
    Length(u64),
    /// Chunks.
    Chunked(Chunks),
    /// All that comes before the connection is closed.
    Closing,
    /// Nothing: the connection was closed, which was the end.
    Closed,
}

/// What stood next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken<'a> {
    /// A piece of the body; never empty.
    Data(&'a [u8]),
    /// Nothing more: all bytes are used up.
    All,
    /// The end of the body.
    End,
}

/// How the body ends that `head` begins; where `is_head`, there is none. Fails where the head contradicts itself: to
/// guess would be to take one answer's bytes for another's.
pub(super) fn of(head: &response::Parts, is_head: bool) -> io::Result<Framing> {
    if is_head || [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED].contains(&head.status) {
        return Ok(Framing::Length(0));
    }
    if let Some(codings) = head.headers.get_all(TRANSFER_ENCODING).iter().next_back() {
        if head.version == Version::HTTP_10 {
            return Err(unreadable("transfer-encoding in an answer of HTTP/1.0"));
        }
        let last = codings.as_bytes().rsplit(|&byte| byte == b',').next().unwrap_or_default();
        let is_chunked = last.trim_ascii().eq_ignore_ascii_case(b"chunked");
        return Ok(if is_chunked { Framing::Chunked(Chunks::default()) } else { Framing::Closing });
    }
    Ok(length(&head.headers)?.map_or(Framing::Closing, Framing::Length))
}

/// The length that is announced, perhaps more than once.
fn length(headers: &HeaderMap) -> io::Result<Option<u64>> {
    let mut length = None;
    for value in headers.get_all(CONTENT_LENGTH) {
        for digits in value.as_bytes().split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
            let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
            let read = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
            let read: u64 =
                read.filter(|_| is_number).ok_or_else(|| unreadable("a content-length that is no number"))?;
            if *length.get_or_insert(read) != read {
                return Err(unreadable("two content-lengths that differ"));
            }
        }
    }
    Ok(length)
}

impl Framing {
    /// Takes what stands at the beginning of `bytes` off them.
    pub(super) fn take<'a>(&mut self, bytes: &mut &'a [u8]) -> io::Result<Taken<'a>> {
        match self {
            Self::Length(0) | Self::Closed => Ok(Taken::End),
            Self::Length(left) => Ok(up_to(left, bytes)),
            Self::Chunked(chunks) => chunks.take(bytes),
            Self::Closing => {
                let mut any = u64::MAX;
                Ok(up_to(&mut any, bytes))
            }
        }
    }

    /// Whether the end has been taken.
    pub(super) fn is_over(&self) -> bool {
        match self {
            Self::Length(left) => *left == 0,
            Self::Chunked(chunks) => chunks.state == State::End,
            Self::Closing => false,
            Self::Closed => true,
        }
    }

    /// Whether the end shows without the connection being closed.
    pub(super) fn ends_itself(&self) -> bool {
        matches!(self, Self::Length(_) | Self::Chunked(_))
    }

    /// Takes the connection's end; fails where more was announced.
    pub(super) fn at_eof(&mut self) -> io::Result<()> {
        if self.ends_itself() {
            return Err(closed_early());
        }
        *self = Self::Closed;
        Ok(())
    }
}

/// At most `left` bytes.
fn up_to<'a>(left: &mut u64, bytes: &mut &'a [u8]) -> Taken<'a> {
    let length = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
    let (data, rest) = bytes.split_at(length);
    (*left, *bytes) = (*left - length as u64, rest);
    if data.is_empty() { Taken::All } else { Taken::Data(data) }
}

/// A body in chunks.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    state: State,
    /// Bytes of extensions and trailers so far.
    unread: u32,
}

/// What is expected next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The first digit of a chunk's size.
    #[default]
    Start,
    /// Further digits, or what ends them.
    Size(u64),
    /// The rest of the line that a chunk's size stands in: blanks and extensions.
    Extension(u64),
    /// The line feed of that line.
    SizeEnd(u64),
    /// So many bytes of the chunk.
    Data(u64),
    /// The line end of a chunk.
    DataEnd,
    DataLf,
    /// The first byte of a trailer's line; an empty line is the end.
    Trailer,
    /// The rest of a trailer's line.
    TrailerRest,
    /// The line feed of the last line.
    LastLf,
    End,
}

impl Chunks {
    fn take<'a>(&mut self, bytes: &mut &'a [u8]) -> io::Result<Taken<'a>> {
        loop {
            if let State::Data(left) = &mut self.state {
                if *left > 0 {
                    return Ok(up_to(left, bytes));
                }
                self.state = State::DataEnd;
            }
            if self.state == State::End {
                return Ok(Taken::End);
            }
            let Some((&byte, rest)) = bytes.split_first() else { return Ok(Taken::All) };
            *bytes = rest;
            self.state = self.next(byte)?;
        }
    }

    /// The state after `byte`, where it is no data.
    fn next(&mut self, byte: u8) -> io::Result<State> {
        Ok(match (self.state, byte) {
            (State::Start, _) => State::Size(digit(byte)?),
            (State::Size(size) | State::Extension(size), b'\r') => State::SizeEnd(size),
            (State::Size(size), b' ' | b'\t' | b';') => State::Extension(size),
            (State::Size(size), _) if size > u64::MAX >> 4 => {
                return Err(unreadable("a chunk too large to be one"));
            }
            (State::Size(size), _) => State::Size(size << 4 | digit(byte)?),
            (State::Extension(_), b'\n') => {
                return Err(unreadable("a chunk's size in a line that does not end in CR LF"));
            }
            (state @ State::Extension(_), _) => self.unread(state)?,
            (State::DataEnd, b'\r') => State::DataLf,
            (State::DataLf, b'\n') => State::Start,
            (State::Trailer, b'\r') => State::LastLf,
            (State::SizeEnd(0) | State::TrailerRest, b'\n') => State::Trailer,
            (State::SizeEnd(size), b'\n') => State::Data(size),
            (State::Trailer | State::TrailerRest, _) => self.unread(State::TrailerRest)?,
            (State::LastLf, b'\n') => State::End,
            _ => return Err(unreadable("a chunk that does not end where its size says")),
        })
    }

    fn unread(&mut self, state: State) -> io::Result<State> {
        self.unread += 1;
        if self.unread > MAX_UNREAD {
            return Err(unreadable("more than 16 KiB of chunk extensions and trailers"));
        }
        Ok(state)
    }
}

fn digit(byte: u8) -> io::Result<u64> {
    let digit = char::from(byte)
        .to_digit(16)
        .ok_or_else(|| unreadable("a chunk size that is no hexadecimal number"))?;
    Ok(digit.into())
}

#[cfg(test)]
mod tests {
    use http::Response;

    use super::*;

    /// The body in `bytes`, taken `piece` bytes at a time; whether its end was in them, and how many bytes stood behind.
    fn read(mut framing: Framing, bytes: &[u8], piece: usize) -> io::Result<(Vec<u8>, bool, usize)> {
        let (mut body, mut used) = (Vec::new(), 0);
        for mut bytes in bytes.chunks(piece.max(1)) {
            let length = bytes.len();
            loop {
                match framing.take(&mut bytes)? {
                    Taken::Data(data) => body.extend_from_slice(data),
                    Taken::All => break,
                    Taken::End => return Ok((body, true, used + length - bytes.len())),
                }
            }
            used += length;
        }
        Ok((body, framing.is_over(), used))
    }

    fn chunked() -> Framing {
        Framing::Chunked(Chunks::default())
    }

    /// What chunked bodies are made of, besides data.
    const PARTS: &[u8; 14] = b"0123abAB;: \r\n\t";

    #[test]
    fn chunks_are_read_as_the_standard_says() {
        let whole = [
            "3\r\nabc\r\n0\r\n\r\n",
            "003;a=\"b\"\r\nabc\r\n0 ;x\r\nt: u\r\nv: w\r\n\r\n",
            "1\r\na\r\n2 \r\nbc\r\n0\r\n\r\n",
        ];
        for bytes in whole {
            for piece in 1..=bytes.len() {
                let read = read(chunked(), bytes.as_bytes(), piece).unwrap();
                assert_eq!(read, (b"abc".to_vec(), true, bytes.len()), "{bytes:?} by {piece}");
            }
        }
        let beyond = read(chunked(), b"0\r\n\r\nHTTP/1.1 200 OK", 64).unwrap();
        assert_eq!(beyond, (Vec::new(), true, 5));
        let long = format!("1;{}\r\n", "x".repeat(MAX_UNREAD as usize + 1));
        let trailed = format!("0\r\n{}", "x: y\r\n".repeat(MAX_UNREAD as usize));
        let bad = [
            "\r\n",
            "g\r\n",
            "-1\r\n",
            "1\nab",
            "1;\n",
            "1\r\nab",
            "1\r\na\n",
            "0\r\n\rx",
            "11111111111111111\r\n",
            &long,
            &trailed,
        ];
        for bytes in bad {
            for piece in [1, usize::MAX] {
                assert_eq!(
                    read(chunked(), bytes.as_bytes(), piece).unwrap_err().kind(),
                    io::ErrorKind::InvalidData,
                    "{bytes:?}"
                );
            }
        }
    }

    /// A body in any chunks and any cut is that body; any bytes read alike in any cut.
    #[test]
    fn cuts_change_nothing() {
        bolero::check!().with_type::<(Vec<Vec<u8>>, u8, Vec<u8>)>().with_iterations(3_000).for_each(
            |(chunks, piece, noise)| {
                let piece = usize::from(piece % 16) + 1;
                let mut bytes = Vec::new();
                for chunk in chunks.iter().filter(|chunk| !chunk.is_empty()) {
                    bytes.extend_from_slice(format!("{:X}\r\n", chunk.len()).as_bytes());
                    bytes.extend_from_slice(chunk);
                    bytes.extend_from_slice(b"\r\n");
                }
                bytes.extend_from_slice(b"0\r\n\r\n");
                assert_eq!(read(chunked(), &bytes, piece).unwrap(), (chunks.concat(), true, bytes.len()));
                let noise: Vec<u8> =
                    noise.iter().map(|&byte| *PARTS.get(usize::from(byte % 16)).unwrap_or(&byte)).collect();
                let whole = read(chunked(), &noise, usize::MAX).ok();
                assert_eq!(read(chunked(), &noise, piece).ok(), whole);
                for length in [0, 1, 5, u64::MAX] {
                    assert_eq!(
                        read(Framing::Length(length), &noise, piece).unwrap().0.len() as u64,
                        length.min(noise.len() as u64)
                    );
                }
            },
        );
    }

    const V1: Version = Version::HTTP_11;

    #[test]
    fn a_head_says_where_its_body_ends() {
        let says = |version: Version, status: u16, headers: &[(&'static str, &'static str)]| {
            let mut head = Response::new(()).into_parts().0;
            (head.version, head.status) = (version, StatusCode::from_u16(status).unwrap());
            for (name, value) in headers {
                head.headers.append(*name, value.parse().unwrap());
            }
            of(&head, false).map(|framing| match framing {
                Framing::Length(length) => length.to_string(),
                Framing::Chunked(_) => "chunked".to_owned(),
                Framing::Closing | Framing::Closed => "closing".to_owned(),
            })
        };
        let (te, cl) = ("transfer-encoding", "content-length");
        let known: [(Version, u16, &[_], &str); 10] = [
            (V1, 200, &[], "closing"),
            (V1, 200, &[(cl, "12")], "12"),
            (V1, 200, &[(cl, "12"), (cl, "12, 12")], "12"),
            (V1, 200, &[(te, "chunked")], "chunked"),
            (V1, 200, &[(te, "gzip"), (te, "x, Chunked ")], "chunked"),
            (V1, 200, &[(te, "chunked, gzip")], "closing"),
            // RFC 9112, section 6.3: the transfer encoding overrides the length.
            (V1, 200, &[(te, "chunked"), (cl, "3")], "chunked"),
            (V1, 204, &[(cl, "3")], "0"),
            (V1, 304, &[(te, "chunked")], "0"),
            (Version::HTTP_10, 200, &[(cl, "3")], "3"),
        ];
        for (version, status, headers, framing) in known {
            assert_eq!(says(version, status, headers).unwrap(), framing, "{headers:?}");
        }
        let refused: [(Version, &[_]); 6] = [
            (V1, &[(cl, "1"), (cl, "2")]),
            (V1, &[(cl, "+1")]),
            (V1, &[(cl, "")]),
            (V1, &[(cl, "1,")]),
            (V1, &[(cl, "99999999999999999999")]),
            (Version::HTTP_10, &[(te, "chunked")]),
        ];
        for (version, headers) in refused {
            assert!(says(version, 200, headers).is_err(), "{headers:?}");
        }
    }
}
