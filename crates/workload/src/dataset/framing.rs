//! A file cut into its elements, one at a time: the lines of JSONL, or the objects of a JSON array.

use std::io::{BufRead, Chain, Cursor, Read as _};

use super::fault::{Fault, Problem};

/// The largest element that is read, in bytes: 4 million tokens of English are 25 MB.
pub(crate) const ELEMENT_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Bytes at the start of a file that tell what it is.
const MAGIC_BYTES: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    /// One element a line.
    Lines,
    /// Elements between `[` and `]`, commas between them.
    Array,
}

/// Reads element after element and holds one at a time; never reads on beyond what is asked for.
#[derive(Debug)]
pub(crate) struct Elements<R> {
    input: Chain<Cursor<Vec<u8>>, R>,
    framing: Framing,
    /// The line that the next byte stands on, from 1.
    line: u64,
    /// Elements that were handed out.
    count: u64,
    element: Vec<u8>,
    bytes_max: usize,
}

/// One element as it stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element<'a> {
    pub(crate) bytes: &'a [u8],
    /// The line that it begins on, from 1.
    pub(crate) line: u64,
    /// Which element it is, from 1.
    pub(crate) nth: u64,
}

impl<R: BufRead> Elements<R> {
    /// Looks at the first bytes of `input` to see how it is framed. A byte order mark is dropped.
    pub(crate) fn open(input: R) -> Result<Self, Problem> {
        Self::with_limit(input, ELEMENT_BYTES_MAX)
    }

    pub(crate) fn with_limit(mut input: R, bytes_max: usize) -> Result<Self, Problem> {
        let mut head = Vec::new();
        input.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut head).map_err(|e| Problem::new(1, e))?;
        if let Some(what) = not_text(&head) {
            return Err(Problem::new(1, Fault::NotText(what)));
        }
        if head.starts_with(b"\xEF\xBB\xBF") {
            head.drain(..3);
        }
        let input = Cursor::new(head).chain(input);
        let mut elements =
            Self { input, framing: Framing::Lines, line: 1, count: 0, element: Vec::new(), bytes_max };
        if elements.skip_space()? == Some(b'[') {
            elements.framing = Framing::Array;
            elements.bump()?;
        }
        Ok(elements)
    }

    /// The next element; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<Element<'_>>, Problem> {
        self.element.clear();
        let line = match self.framing {
            Framing::Lines => self.read_line()?,
            Framing::Array => self.read_object()?,
        };
        Ok(line.map(|line| {
            self.count += 1;
            Element { bytes: &self.element, line, nth: self.count }
        }))
    }

    /// Fills `element` with the next line that is not blank and returns its number.
    fn read_line(&mut self) -> Result<Option<u64>, Problem> {
        if self.skip_space()?.is_none() {
            return Ok(None);
        }
        let line = self.line;
        let limit = self.bytes_max as u64 + 1;
        let limited = self.input.by_ref().take(limit).read_until(b'\n', &mut self.element);
        limited.map_err(|e| Problem::new(line, e))?;
        if self.element.last() == Some(&b'\n') {
            self.element.pop();
            self.line += 1;
        }
        if self.element.len() > self.bytes_max { Err(self.too_large(line)) } else { Ok(Some(line)) }
    }

    /// Fills `element` with the array's next object and returns the line that it begins on.
    fn read_object(&mut self) -> Result<Option<u64>, Problem> {
        let mut next = self.skip_space()?;
        if self.count > 0 && next == Some(b',') {
            self.bump()?;
            next = self.skip_space()?;
        } else if self.count > 0 && next != Some(b']') {
            return Err(self.fault(Fault::NoComma));
        }
        match next {
            Some(b']') => return Ok(None),
            Some(b'{') => {}
            Some(_) => return Err(self.fault(Fault::NotAnObject)),
            None => return Err(self.fault(Fault::Unfinished)),
        }
        let line = self.line;
        self.copy_object(line)?;
        Ok(Some(line))
    }

    /// Copies bytes up to the brace that closes the first one. Whether they are JSON is not looked at.
    fn copy_object(&mut self, line: u64) -> Result<(), Problem> {
        let (mut depth, mut quoted, mut escaped) = (0_u64, false, false);
        loop {
            let Some(byte) = self.bump()? else { return Err(self.fault(Fault::Unfinished)) };
            self.element.push(byte);
            if self.element.len() > self.bytes_max {
                return Err(self.too_large(line));
            }
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                b'{' if !quoted => depth += 1,
                b'}' if !quoted => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Drops white space and returns the byte behind it, which stays.
    fn skip_space(&mut self) -> Result<Option<u8>, Problem> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.bump()?,
                other => return Ok(other),
            };
        }
    }

    fn peek(&mut self) -> Result<Option<u8>, Problem> {
        let line = self.line;
        let buffer = self.input.fill_buf().map_err(|e| Problem::new(line, e))?;
        Ok(buffer.first().copied())
    }

    fn bump(&mut self) -> Result<Option<u8>, Problem> {
        let byte = self.peek()?;
        if byte.is_some() {
            self.input.consume(1);
        }
        if byte == Some(b'\n') {
            self.line += 1;
        }
        Ok(byte)
    }

    fn fault(&self, fault: Fault) -> Problem {
        Problem::new(self.line, fault)
    }

    fn too_large(&self, line: u64) -> Problem {
        Problem::new(line, Fault::TooLarge { bytes_max: self.bytes_max })
    }
}

/// What a file is that begins like this, if it is known not to be UTF-8 text.
fn not_text(head: &[u8]) -> Option<&'static str> {
    match head {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Some("UTF-16 text"),
        [0x1F, 0x8B, ..] => Some("a gzip file"),
        [0x28, 0xB5, 0x2F, 0xFD] => Some("a Zstandard file"),
        b"PAR1" => Some("a Parquet file"),
        [b'P', b'K', 3, 4] => Some("a ZIP file"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    /// The elements as `line:text`, then how reading ended, if badly.
    fn elements(input: &[u8], bytes_max: usize) -> Vec<String> {
        let mut seen = Vec::new();
        let mut read = || -> Result<(), Problem> {
            // One byte at a time, so that nothing leans on what a read happens to deliver.
            let mut elements = Elements::with_limit(BufReader::with_capacity(1, input), bytes_max)?;
            while let Some(element) = elements.next()? {
                seen.push(format!("{}:{}", element.line, String::from_utf8_lossy(element.bytes).trim_end()));
            }
            Ok(())
        };
        if let Err(problem) = read() {
            seen.push(format!("{}! {}", problem.line, problem.fault));
        }
        seen
    }

    #[test]
    fn lines_and_arrays_are_cut_into_elements() {
        let check = |input: &str, expected: &[&str]| {
            assert_eq!(elements(input.as_bytes(), 64), expected, "{input:?}");
        };
        check("", &[]);
        check(" \r\n\n", &[]);
        check("{1}\n{2}", &["1:{1}", "2:{2}"]);
        check("\u{feff}{1}\r\n\r\n  \n{2}\r\n", &["1:{1}", "4:  {2}".replace("  ", "").as_str()]);
        check("\u{feff}", &[]);
        check("[]", &[]);
        check("\n[\n]", &[]);
        check(r#"[{"a":{}},{"b":"}"}]"#, &[r#"1:{"a":{}}"#, r#"1:{"b":"}"}"#]);
        check("\u{feff}\r\n[\r\n {\r\n},\n{\"a\\\"}\":1}\n] and more", &["3:{\r\n}", r#"5:{"a\"}":1}"#]);
    }

    #[test]
    fn broken_frames_are_named_with_their_line() {
        let check = |input: &[u8], expected: &str| {
            let seen = elements(input, 16);
            let last = seen.last().expect("an element or an error");
            assert!(last.contains(expected), "{input:?}: {last} lacks {expected}");
        };
        check(b"[", "1! the file ends inside the array");
        check(b"[\n{\"a\":1", "2! the file ends inside the array");
        check(b"[{},\n", "2! the file ends inside the array");
        check(b"[{}\n{}]", "2! a comma or ]");
        check(b"[1]", "1! each element must be an object");
        check(b"[{},,{}]", "1! each element must be an object");
        check(b"{}\n0123456789abcdefg\n", "2! larger than 16 bytes");
        check(b"[{\"0123456789abcdefg\":1}]", "1! larger than 16 bytes");
        check(b"\xFF\xFE{\0", "UTF-16");
        check(b"\x1F\x8B\x08\x00", "gzip");
        check(b"PAR1....", "Parquet");
    }
}
