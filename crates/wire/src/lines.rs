//! Lines out of bytes in any cut: newline-delimited JSON (W88).

use memchr::memchr;

use crate::sse::MAX_EVENT;

/// One thing found in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A line that is not blank, without its end.
    Text(&'a [u8]),
    /// A line above [`MAX_EVENT`]: nothing more is taken.
    TooLarge,
}

/// Cuts a stream of bytes into lines. A line that lies whole in one read is lent, not copied.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    /// A line whose end has not come yet.
    begun: Vec<u8>,
    too_large: bool,
}

impl Lines {
    /// Takes the next bytes; tells each line that they complete.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], sink: &mut impl FnMut(Line<'_>)) {
        while let Some(end) = memchr(b'\n', bytes).filter(|_| !self.too_large) {
            let (line, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            if self.begun.is_empty() {
                self.tell(line, sink);
            } else {
                let mut whole = std::mem::take(&mut self.begun);
                whole.extend_from_slice(line);
                self.tell(&whole, sink);
                whole.clear();
                self.begun = whole;
            }
        }
        if self.too_large {
            return;
        }
        self.begun.extend_from_slice(bytes);
        if self.begun.len() > MAX_EVENT {
            self.begun = Vec::new();
            self.too_large = true;
            sink(Line::TooLarge);
        }
    }

    /// Takes the end of the stream; tells the line that stands there without its end.
    pub(crate) fn finish(mut self, sink: &mut impl FnMut(Line<'_>)) {
        let last = std::mem::take(&mut self.begun);
        self.tell(&last, sink);
    }

    fn tell(&mut self, line: &[u8], sink: &mut impl FnMut(Line<'_>)) {
        let line = line.trim_ascii();
        if line.len() > MAX_EVENT {
            self.too_large = true;
            sink(Line::TooLarge);
        } else if !line.is_empty() {
            sink(Line::Text(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(cuts: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut seen) = (Lines::default(), Vec::new());
        let mut sink = |line: Line<'_>| match line {
            Line::Text(text) => seen.push(String::from_utf8_lossy(text).into_owned()),
            Line::TooLarge => seen.push("too large".to_owned()),
        };
        for bytes in cuts {
            lines.feed(bytes, &mut sink);
        }
        lines.finish(&mut sink);
        seen
    }

    #[test]
    fn any_cut_gives_the_same_lines() {
        let body = b"{\"a\":1}\r\n\n  \n{\"b\":2}\n{\"c\":3}";
        let whole = lines(&[body]);
        assert_eq!(whole, ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"]);
        for at in 0..body.len() {
            assert_eq!(lines(&[&body[..at], &body[at..]]), whole, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        assert_eq!(lines(&bytes), whole);
    }

    #[test]
    fn a_line_without_an_end_is_bounded() {
        let piece = vec![b'x'; MAX_EVENT / 2 + 1];
        assert_eq!(lines(&[&piece, &piece, b"\n{}\n"]), ["too large"]);
        assert_eq!(lines(&[&[piece.clone(), piece, vec![b'\n']].concat()]), ["too large"]);
    }
}
