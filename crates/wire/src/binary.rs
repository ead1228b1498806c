//! Messages out of bytes in any cut: Amazon's binary event stream, `application/vnd.amazon.eventstream` (W89).
//!
//! A message is, big-endian: its total length, the length of its headers, the CRC-32 of these eight bytes, the headers, the
//! payload, and the CRC-32 of all before it. The lengths are checked against their own CRC before anything is kept of what
//! they announce; a message whose bytes are not those that were sent ends the stream.

use crate::sse::MAX_EVENT;

/// Both lengths and their CRC.
const PRELUDE: usize = 12;
/// The CRC at a message's end.
const CRC: usize = 4;
/// Most headers of one message: it has three.
const MAX_HEADERS: usize = 64;

/// One thing found in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found<'a> {
    /// An event: its type and its payload.
    Event { name: &'a [u8], payload: &'a [u8] },
    /// An error in place of an event: what is wrong, in a word, and what is said of it, as JSON or as text.
    Fault { code: &'a [u8], said: &'a [u8] },
    /// These are no messages, or not as they were sent: nothing more is taken.
    Damaged(Damage),
    /// A message above [`MAX_EVENT`]: nothing more is taken.
    TooLarge,
}

/// What is wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// A checksum is not that of its bytes.
    Crc,
    /// Lengths that no message has, or headers that end beyond theirs.
    Frame,
}

impl Damage {
    /// Its name in records.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Damage::Crc => "bad_crc",
            Damage::Frame => "bad_frame",
        }
    }

    /// The same for people.
    pub(crate) const fn message(self) -> &'static str {
        match self {
            Damage::Crc => "a message of the event stream whose checksum is not that of its bytes",
            Damage::Frame => "a message of the event stream whose lengths or headers are none",
        }
    }
}

/// Cuts a stream of bytes into messages. One that lies whole in one read is lent, not copied.
#[derive(Clone, Debug, Default)]
pub(crate) struct Messages {
    /// A message whose end has not come yet.
    begun: Vec<u8>,
    closed: bool,
}

impl Messages {
    /// Takes the next bytes; tells each message that they complete.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], sink: &mut impl FnMut(Found<'_>)) {
        while !bytes.is_empty() && !self.closed {
            if self.begun.is_empty() {
                match self.length(bytes, sink).and_then(|length| bytes.split_at_checked(length)) {
                    Some((message, rest)) => {
                        bytes = rest;
                        self.tell(message, sink);
                    }
                    None => return self.keep(bytes),
                }
            } else if let Some(rest) = self.carry(bytes, sink) {
                bytes = rest;
                let mut whole = std::mem::take(&mut self.begun);
                self.tell(&whole, sink);
                whole.clear();
                self.begun = whole;
            } else {
                return;
            }
        }
    }

    /// Whether a message has begun whose end has not come.
    pub(crate) fn is_unfinished(&self) -> bool {
        !self.begun.is_empty()
    }

    /// Takes what the message that was begun still lacks; the bytes after it, once it is whole.
    fn carry<'a>(&mut self, bytes: &'a [u8], sink: &mut impl FnMut(Found<'_>)) -> Option<&'a [u8]> {
        let lacks = PRELUDE.saturating_sub(self.begun.len()).min(bytes.len());
        let (prelude, rest) = bytes.split_at(lacks);
        self.begun.extend_from_slice(prelude);
        let begun = std::mem::take(&mut self.begun);
        let length = self.length(&begun, sink);
        if !self.closed {
            self.begun = begun;
        }
        let lacks = length?.saturating_sub(self.begun.len()).min(rest.len());
        let (taken, rest) = rest.split_at(lacks);
        self.begun.extend_from_slice(taken);
        (self.begun.len() >= length?).then_some(rest)
    }

    fn keep(&mut self, bytes: &[u8]) {
        if !self.closed {
            self.begun.extend_from_slice(bytes);
        }
    }

    /// How long the message is that begins so, where its prelude has come and can be one.
    fn length(&mut self, message: &[u8], sink: &mut impl FnMut(Found<'_>)) -> Option<usize> {
        let (lengths, crc) = message.get(..PRELUDE)?.split_at(PRELUDE - CRC);
        if crc32fast::hash(lengths).to_be_bytes() != *crc {
            return self.close(Found::Damaged(Damage::Crc), sink);
        }
        let (total, headers) = (word(lengths)?, word(lengths.get(4..)?)?);
        if total > MAX_EVENT {
            return self.close(Found::TooLarge, sink);
        }
        if total.checked_sub(PRELUDE + CRC).is_none_or(|room| room < headers) {
            return self.close(Found::Damaged(Damage::Frame), sink);
        }
        Some(total)
    }

    /// Tells a whole message, whose prelude is right.
    fn tell(&mut self, message: &[u8], sink: &mut impl FnMut(Found<'_>)) {
        let (body, crc) = message.split_at(message.len().saturating_sub(CRC));
        if crc32fast::hash(body).to_be_bytes() != *crc {
            self.close(Found::Damaged(Damage::Crc), sink);
        } else if let Some(found) = read(body) {
            sink(found);
        } else {
            self.close(Found::Damaged(Damage::Frame), sink);
        }
    }

    fn close(&mut self, found: Found<'_>, sink: &mut impl FnMut(Found<'_>)) -> Option<usize> {
        (self.begun, self.closed) = (Vec::new(), true);
        sink(found);
        None
    }
}

/// What a message says, by its headers.
fn read(body: &[u8]) -> Option<Found<'_>> {
    let headers = word(body.get(4..)?)?;
    let (headers, payload) = body.get(PRELUDE..)?.split_at_checked(headers)?;
    let headers = Headers::read(headers)?;
    Some(match headers.message_type {
        b"exception" => Found::Fault { code: headers.exception_type, said: payload },
        b"error" => Found::Fault { code: headers.error_code, said: headers.error_message },
        _ => Found::Event { name: headers.event_type, payload },
    })
}

/// The headers that mean something here; empty where there is none.
#[derive(Default)]
struct Headers<'a> {
    message_type: &'a [u8],
    event_type: &'a [u8],
    exception_type: &'a [u8],
    error_code: &'a [u8],
    error_message: &'a [u8],
}

impl<'a> Headers<'a> {
    /// Reads them all; `None` where one ends beyond the others' end, or is of a type that there is not.
    fn read(mut bytes: &'a [u8]) -> Option<Self> {
        let mut headers = Self::default();
        for _ in 0..MAX_HEADERS {
            if bytes.is_empty() {
                return Some(headers);
            }
            let (name, rest) = sized(bytes.get(1..)?, usize::from(*bytes.first()?))?;
            let (kind, rest) = rest.split_first()?;
            let value;
            (value, bytes) = header_value(*kind, rest)?;
            match name {
                b":message-type" => headers.message_type = value,
                b":event-type" => headers.event_type = value,
                b":exception-type" => headers.exception_type = value,
                b":error-code" => headers.error_code = value,
                b":error-message" => headers.error_message = value,
                _ => {}
            }
        }
        bytes.is_empty().then_some(headers)
    }
}

/// The bytes of a header's value of this type, and those after it; of all but text the value is of no interest.
fn header_value(kind: u8, rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = match kind {
        // True and false; a byte; 16, 32 and 64 bits; a time; a UUID.
        0 | 1 => 0,
        2 => 1,
        3 => 2,
        4 => 4,
        5 | 8 => 8,
        9 => 16,
        // Bytes, text.
        6 | 7 => {
            let length = rest.first_chunk().map(|length| u16::from_be_bytes(*length))?;
            return sized(rest.get(2..)?, usize::from(length));
        }
        _ => return None,
    };
    sized(rest, length)
}

fn sized(bytes: &[u8], length: usize) -> Option<(&[u8], &[u8])> {
    bytes.split_at_checked(length)
}

fn word(bytes: &[u8]) -> Option<usize> {
    bytes.first_chunk().and_then(|word| usize::try_from(u32::from_be_bytes(*word)).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(headers: &[u8], payload: &[u8]) -> Vec<u8> {
        let total = u32::try_from(PRELUDE + headers.len() + payload.len() + CRC).unwrap();
        let mut message = total.to_be_bytes().to_vec();
        message.extend(u32::try_from(headers.len()).unwrap().to_be_bytes());
        message.extend(crc32fast::hash(&message).to_be_bytes());
        message.extend([headers, payload].concat());
        message.extend(crc32fast::hash(&message).to_be_bytes());
        message
    }

    fn text(name: &str, value: &str) -> Vec<u8> {
        let length = u16::try_from(value.len()).unwrap().to_be_bytes();
        let parts: [&[u8]; 5] =
            [&[u8::try_from(name.len()).unwrap()], name.as_bytes(), &[7], &length, value.as_bytes()];
        parts.concat()
    }

    fn hex(digits: &str) -> Vec<u8> {
        let digits: String = digits.split_whitespace().collect();
        (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
    }

    fn found(cuts: &[&[u8]]) -> Vec<String> {
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (mut messages, mut seen) = (Messages::default(), Vec::new());
        let mut sink = |found: Found<'_>| {
            seen.push(match found {
                Found::Event { name, payload } => format!("{} {}", shown(name), shown(payload)),
                Found::Fault { code, said } => format!("fault {} {}", shown(code), shown(said)),
                Found::Damaged(damage) => damage.code().to_owned(),
                Found::TooLarge => "too large".to_owned(),
            });
        };
        for bytes in cuts {
            messages.feed(bytes, &mut sink);
        }
        if messages.is_unfinished() {
            seen.push("unfinished".to_owned());
        }
        seen
    }

    /// The messages that Amazon's own libraries are tested with.
    #[test]
    fn published_messages() {
        let check = |message: &str, right: &str| assert_eq!(found(&[&hex(message)]), [right]);
        check("00000010 00000000 05c248eb 7d98c8ff", " ");
        check("0000001d 00000000 fd528c5a 7b27666f6f273a27626172277d c3653936", " {'foo':'bar'}");
        check(
            "0000003d 00000020 07fd8396 0c636f6e74656e742d74797065 07 0010 6170706c69636174696f6e2f6a736f6e \
             7b27666f6f273a27626172277d 8d9c08b1",
            " {'foo':'bar'}",
        );
        check(
            "0000002d 00000010 41c424b8 0a6576656e742d74797065 04 0000a00c 7b27666f6f273a27626172277d 36f480a0",
            " {'foo':'bar'}",
        );
        // With another checksum of the lengths, and of the whole.
        check("0000003d 00000020 07fd8397 0c636f6e74656e742d74797065", "bad_crc");
        check("0000001d 00000000 fd528c5a 7b27666f6f273a27626172277d c3653937", "bad_crc");
    }

    #[test]
    fn headers_of_every_type_are_passed_over() {
        let named = |name: &[u8], kind: u8, value: &[u8]| {
            [&[u8::try_from(name.len()).unwrap()], name, &[kind], value].concat()
        };
        let all = [
            named(b"t", 0, b""),
            named(b"f", 1, b""),
            named(b"byte", 2, &[1]),
            named(b"short", 3, &[0; 2]),
            named(b"int", 4, &[0; 4]),
            named(b"long", 5, &[0; 8]),
            named(b"bytes", 6, &[0, 3, 1, 2, 3]),
            text(":message-type", "event"),
            named(b"time", 8, &[0; 8]),
            named(b"uuid", 9, &[0; 16]),
            text(":event-type", "x"),
        ];
        assert_eq!(found(&[&message(&all.concat(), b"{}")]), ["x {}"]);
        let wrong = |header: Vec<u8>| assert_eq!(found(&[&message(&header, b"{}")]), ["bad_frame"]);
        wrong(named(b"a", 10, &[0; 16]));
        wrong(named(b"a", 4, &[0; 3]));
        wrong(named(b"a", 7, &[0, 9, 1]));
        wrong(vec![200, b'a']);
        wrong(vec![1]);
        wrong(named(b"a", 0, b"").repeat(MAX_HEADERS + 1));
        assert_eq!(found(&[&message(&named(b"a", 0, b"").repeat(MAX_HEADERS), b"{}")]), [" {}"]);
    }

    #[test]
    fn any_cut_gives_the_same_messages() {
        let event = |payload: &str| {
            let headers = [text(":message-type", "event"), text(":event-type", "e")].concat();
            message(&headers, payload.as_bytes())
        };
        let exception = [text(":message-type", "exception"), text(":exception-type", "slow")].concat();
        let error = [text(":message-type", "error"), text(":error-code", "c"), text(":error-message", "m")];
        let mut body = [
            event("{\"a\":1}"),
            event(""),
            message(&exception, b"{}"),
            message(&error.concat(), b""),
            event("{\"a\":2}"),
        ]
        .concat();
        let whole = found(&[&body]);
        assert_eq!(whole, ["e {\"a\":1}", "e ", "fault slow {}", "fault c m", "e {\"a\":2}"]);
        let check = |body: &[u8], right: &[String]| {
            for at in 0..=body.len() {
                assert_eq!(found(&[&body[..at], &body[at..]]), right, "cut at {at}");
            }
            for size in [1, 3, 50] {
                assert_eq!(found(&body.chunks(size).collect::<Vec<_>>()), right, "pieces of {size}");
            }
        };
        check(&body, &whole);
        // Not a byte may differ, nor be missing.
        for at in 0..body.len() {
            let mut damaged = body.clone();
            damaged[at] ^= 0x10;
            let seen = found(&[&damaged]);
            assert_eq!(seen.last().map(String::as_str), Some("bad_crc"), "byte {at}");
            assert_eq!(found(&damaged.chunks(1).collect::<Vec<_>>()), seen, "byte {at}");
        }
        body.pop();
        check(&body, &[&whole[..4], &["unfinished".to_owned()]].concat());
    }

    #[test]
    fn what_a_length_announces_is_bounded() {
        let prelude = |total: usize, headers: u32| {
            let lengths = [u32::try_from(total).unwrap().to_be_bytes(), headers.to_be_bytes()].concat();
            [&lengths[..], &crc32fast::hash(&lengths).to_be_bytes()].concat()
        };
        assert_eq!(found(&[&prelude(MAX_EVENT + 1, 0)]), ["too large"]);
        assert_eq!(found(&[&prelude(u32::MAX as usize, 0), &[0; 64]]), ["too large"]);
        assert_eq!(found(&[&prelude(MAX_EVENT, 0)]), ["unfinished"]);
        for (total, headers) in [(15, 0), (0, 0), (16, 1), (20, u32::MAX)] {
            assert_eq!(found(&[&prelude(total, headers)]), ["bad_frame"]);
        }
        let long = message(&text(":event-type", "e"), &vec![b'x'; 300 << 10]);
        let pieces: Vec<_> = long.chunks(1460).collect();
        assert_eq!(found(&pieces).concat().len(), (300 << 10) + 2);
    }
}
