//! Server-sent events out of bytes in any cut.
//!
//! Follows the HTML standard's event stream, with what real servers need: an event that lies whole in one read is
//! lent, not copied; comments are told (they reveal queueing); the foreign field `error` of older llama.cpp servers
//! is told (W51); a last event without its blank line can be had at the end (W69). Lines end at CR, LF or CRLF only.

use memchr::{memchr, memchr2};

/// Most bytes of one event, or of one line. What is buffered stays below twice this.
pub const MAX_EVENT: usize = 16 << 20;

/// One thing found in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// An event: its `event` field, empty where it has none, and its `data` lines joined with LF.
    Event {
        /// The event's name.
        name: &'a [u8],
        /// The event's data.
        data: &'a [u8],
    },
    /// A comment line.
    Comment,
    /// The value of a foreign `error` field, told after the event that it stands in.
    Error(&'a [u8]),
    /// An event above [`MAX_EVENT`]: the framer takes nothing more.
    TooLarge,
}

/// Cuts a stream of bytes into [`Frame`]s.
#[derive(Clone, Debug, Default)]
pub struct Framer {
    /// A line whose end has not come yet.
    line: Vec<u8>,
    /// Data of the event in progress, from earlier reads or from several lines.
    data: Vec<u8>,
    /// Whether the event in progress has a data line: an empty one is not none.
    has_data: bool,
    name: Vec<u8>,
    error: Option<Vec<u8>>,
    /// The last byte was CR: an LF that follows belongs to the same line end.
    after_cr: bool,
    too_large: bool,
}

impl Framer {
    /// Takes the next bytes; tells each frame that they complete.
    pub fn feed(&mut self, mut bytes: &[u8], sink: &mut impl FnMut(Frame<'_>)) {
        if std::mem::take(&mut self.after_cr) {
            if bytes.is_empty() {
                self.after_cr = true;
            }
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        // The only data line so far of the event in progress, while it lies in this very read.
        let mut held = None;
        while let Some(end) = memchr2(b'\n', b'\r', bytes) {
            let (line, rest) = bytes.split_at(end);
            bytes = self.skip_line_end(rest);
            if self.line.is_empty() {
                self.take_line(line, &mut held, sink);
            } else {
                self.line.extend_from_slice(line);
                self.take_carried_line(sink);
            }
        }
        self.keep(held);
        self.carry(bytes, sink);
    }

    /// Takes the end of the stream; tells what stands there unfinished.
    pub fn finish(mut self, sink: &mut impl FnMut(Frame<'_>)) {
        if !self.line.is_empty() {
            self.take_carried_line(sink);
        }
        self.dispatch(None, sink);
    }

    /// Data of the event in progress, its last line perhaps incomplete.
    pub fn pending(&self) -> &[u8] {
        if self.has_data {
            return &self.data;
        }
        self.line.strip_prefix(b"data:").map_or(&[], strip_space)
    }

    /// `rest` begins with the byte that ended a line.
    fn skip_line_end<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        match rest {
            [b'\r'] => {
                self.after_cr = true;
                &[]
            }
            [b'\r', b'\n', after @ ..] | [_, after @ ..] => after,
            [] => &[],
        }
    }

    /// A line that began in an earlier read is the first of this one: nothing of this read is held yet.
    fn take_carried_line(&mut self, sink: &mut impl FnMut(Frame<'_>)) {
        let mut line = std::mem::take(&mut self.line);
        let mut held = None;
        self.take_line(&line, &mut held, sink);
        self.keep(held);
        line.clear();
        self.line = line;
    }

    fn take_line<'a>(
        &mut self,
        line: &'a [u8],
        held: &mut Option<&'a [u8]>,
        sink: &mut impl FnMut(Frame<'_>),
    ) {
        if self.too_large || line.len() > MAX_EVENT {
            self.overflow(sink);
            return;
        }
        // Most lines, told without a search.
        if let Some(value) = line.strip_prefix(b"data: ") {
            return self.take_data(value, held, sink);
        }
        match memchr(b':', line) {
            _ if line.is_empty() => self.dispatch(held.take(), sink),
            Some(0) => sink(Frame::Comment),
            Some(colon) => self.take_field(&line[..colon], strip_space(&line[colon + 1..]), held, sink),
            None => self.take_field(line, &[], held, sink),
        }
    }

    fn take_field<'a>(
        &mut self,
        field: &[u8],
        value: &'a [u8],
        held: &mut Option<&'a [u8]>,
        sink: &mut impl FnMut(Frame<'_>),
    ) {
        match field {
            b"data" => self.take_data(value, held, sink),
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            b"error" => self.error = Some(value.to_vec()),
            _ => {}
        }
    }

    fn take_data<'a>(
        &mut self,
        value: &'a [u8],
        held: &mut Option<&'a [u8]>,
        sink: &mut impl FnMut(Frame<'_>),
    ) {
        if !self.has_data && held.is_none() {
            *held = Some(value);
            return;
        }
        self.keep(held.take());
        self.keep(Some(value));
        if self.data.len() > MAX_EVENT {
            self.overflow(sink);
        }
    }

    fn keep(&mut self, held: Option<&[u8]>) {
        if let Some(value) = held.filter(|_| !self.too_large) {
            if self.has_data {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(value);
            self.has_data = true;
        }
    }

    fn carry(&mut self, bytes: &[u8], sink: &mut impl FnMut(Frame<'_>)) {
        if self.too_large || self.line.len() + bytes.len() > MAX_EVENT {
            self.overflow(sink);
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    fn dispatch(&mut self, held: Option<&[u8]>, sink: &mut impl FnMut(Frame<'_>)) {
        if held.is_some() || self.has_data || !self.name.is_empty() {
            sink(Frame::Event { name: &self.name, data: held.unwrap_or(&self.data) });
        }
        if let Some(value) = self.error.take() {
            sink(Frame::Error(&value));
        }
        self.data.clear();
        self.has_data = false;
        self.name.clear();
    }

    fn overflow(&mut self, sink: &mut impl FnMut(Frame<'_>)) {
        if !self.too_large {
            *self = Framer { too_large: true, ..Framer::default() };
            sink(Frame::TooLarge);
        }
    }
}

/// One space after the colon belongs to the framing (W58).
fn strip_space(value: &[u8]) -> &[u8] {
    value.strip_prefix(b" ").unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each byte as the character of its number: text that loses nothing.
    fn latin(bytes: &[u8]) -> String {
        bytes.iter().copied().map(char::from).collect()
    }

    /// Frames as text.
    fn show(frame: Frame<'_>) -> String {
        match frame {
            Frame::Event { name, data } => format!("{}={}", latin(name), latin(data)),
            Frame::Comment => "comment".to_owned(),
            Frame::Error(value) => format!("error {}", latin(value)),
            Frame::TooLarge => "too large".to_owned(),
        }
    }

    fn frames(bytes: &[u8], piece: usize) -> Vec<String> {
        let mut framer = Framer::default();
        let mut seen = Vec::new();
        for piece in bytes.chunks(piece) {
            framer.feed(piece, &mut |frame| seen.push(show(frame)));
        }
        framer.finish(&mut |frame| seen.push(show(frame)));
        seen
    }

    /// The standard's own words, slowly, over the whole text.
    fn oracle(bytes: &[u8]) -> Vec<String> {
        let text = latin(bytes).replace("\r\n", "\n").replace('\r', "\n");
        let mut seen = Vec::new();
        let (mut data, mut name, mut error) = (None::<String>, String::new(), None::<String>);
        for line in text.split('\n').chain([""]) {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "data" => data = Some(data.map_or(value.to_owned(), |before| format!("{before}\n{value}"))),
                "event" => value.clone_into(&mut name),
                "error" => error = Some(value.to_owned()),
                "" if !line.is_empty() => seen.push("comment".to_owned()),
                "" => {
                    if data.is_some() || !name.is_empty() {
                        seen.push(format!("{name}={}", data.take().unwrap_or_default()));
                    }
                    seen.extend(error.take().map(|value| format!("error {value}")));
                    name.clear();
                }
                _ => {}
            }
        }
        seen
    }

    #[test]
    fn frames_of_any_bytes_are_the_standards() {
        const PARTS: [&str; 12] =
            ["data", "event", "error", "id", ":", " ", "\n", "\r", "\r\n", "data: a\n\n", ":x", "\u{feff}"];
        bolero::check!().with_type::<(Vec<u8>, u8)>().with_iterations(3000).for_each(|(choices, piece)| {
            let mut bytes = Vec::new();
            for choice in choices {
                match PARTS.get(usize::from(choice % 16)) {
                    Some(part) => bytes.extend_from_slice(part.as_bytes()),
                    None => bytes.push(*choice),
                }
            }
            let expected = oracle(&bytes);
            assert_eq!(frames(&bytes, usize::MAX), expected);
            assert_eq!(frames(&bytes, usize::from(piece % 8) + 1), expected);
        });
    }

    #[test]
    fn an_event_in_one_read_is_lent() {
        let read = b"data: {\"a\":1}\n\ndata: b\n\n";
        let within = |data: &[u8]| read.as_ptr_range().contains(&data.as_ptr());
        let mut lent = 0;
        Framer::default().feed(read, &mut |frame| {
            lent += usize::from(matches!(frame, Frame::Event { data, .. } if within(data)));
        });
        assert_eq!(lent, 2);
    }

    #[test]
    fn what_is_buffered_is_bounded() {
        let mut framer = Framer::default();
        let mut seen = Vec::new();
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..40 {
            framer.feed(&piece, &mut |frame| seen.push(show(frame)));
            assert!(framer.line.capacity() <= 2 * MAX_EVENT);
        }
        framer.feed(b"\n\ndata: a\n\n", &mut |frame| seen.push(show(frame)));
        assert_eq!(seen, ["too large"]);
    }
}
