//! Walks over the text of a script.

/// What is left of a text, and how to take things from its front.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    pub(super) rest: &'a str,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, rest: text }
    }

    /// An error that shows the place.
    pub(super) fn wrong(&self, expected: &str) -> String {
        let at = self.text.len() - self.rest.len();
        let column = self.text.get(..at).map_or(0, |before| before.chars().count()) + 1;
        let found: String = self.rest.chars().take(20).collect();
        format!("expected {expected} at character {column}, found `{found}`")
    }

    pub(super) fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// Blanks, line ends and separators between statements.
    pub(super) fn gaps(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', ';', '·']);
    }

    pub(super) fn eat(&mut self, c: char) -> bool {
        self.blanks();
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    pub(super) fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !keep(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    pub(super) fn number(&mut self) -> Result<f64, String> {
        self.blanks();
        let start = self.rest;
        // `100..200` is a range: its dots are no decimal points.
        let whole = self.take_while(|c| c.is_ascii_digit());
        let mut length = whole.len();
        let fraction =
            self.rest.strip_prefix('.').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if let Some(fraction) = fraction {
            self.rest = fraction;
            length += 1 + self.take_while(|c| c.is_ascii_digit()).len();
        }
        let number = start.get(..length).and_then(|text| text.parse().ok());
        number.ok_or_else(|| self.wrong("a number"))
    }

    pub(super) fn integer(&mut self) -> Result<u64, String> {
        self.blanks();
        let digits = self.take_while(|c| c.is_ascii_digit());
        digits.parse().map_err(|_| self.wrong("a whole number"))
    }

    pub(super) fn word(&mut self) -> &'a str {
        self.blanks();
        self.take_while(|c| c.is_ascii_alphanumeric() || "_-&.".contains(c))
    }

    /// Takes `word` where it stands next, as a whole.
    pub(super) fn keyword(&mut self, word: &str) -> bool {
        self.blanks();
        let Some(rest) = self.rest.strip_prefix(word) else { return false };
        if rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
            return false;
        }
        self.rest = rest;
        true
    }

    pub(super) fn dots(&mut self) -> Result<(), String> {
        self.rest = self.rest.strip_prefix("..").ok_or_else(|| self.wrong("`..`"))?;
        Ok(())
    }

    /// JSON up to its closing brace.
    pub(super) fn json(&mut self) -> Result<&'a str, String> {
        let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
        for (at, c) in self.rest.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' => quoted = !quoted,
                '{' if !quoted => depth += 1,
                '}' if !quoted => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let (json, rest) = self.rest.split_at(at + 1);
                self.rest = rest;
                return Ok(json);
            }
        }
        Err(self.wrong("JSON with its closing brace"))
    }

    /// A text between quotes, if one follows at once.
    pub(super) fn text(&mut self) -> Result<Option<&'a str>, String> {
        let Some(inside) = self.rest.strip_prefix('"') else { return Ok(None) };
        let mut escaped = false;
        for (at, c) in inside.char_indices() {
            if c == '"' && !escaped {
                let (text, rest) = inside.split_at(at);
                self.rest = &rest[1..];
                return Ok(Some(text));
            }
            escaped = c == '\\' && !escaped;
        }
        Err(self.wrong("a closing quote"))
    }
}
