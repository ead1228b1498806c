//! Reads scripts.

use std::time::Duration;

use super::{Branch, Line, Part, Script, Step, Time, When, library};
use crate::chunk::{Chunk, Usage};
use crate::config::Freeze;
use crate::reply::{Content, Ending, Framing};
use crate::transform::Transform;

/// The terminal event.
pub(super) const DONE: &[u8] = b"data: [DONE]\n\n";

/// The most events of one script.
const MAX_EVENTS: usize = 100_000;

/// The most bytes of one literal.
const MAX_LITERAL: usize = 32 * 1024 * 1024;

/// How deep scenarios may refer to others.
const MAX_DEPTH: u32 = 4;

/// The longest time of a script.
const MAX_MS: f64 = 86_400_000.0;

/// The most a share is divided: per mille.
const SHARE_PARTS: f64 = 1_000.0;

/// Where literal bytes end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Raw {
    /// At the next `;` or `|`: scripts of one line.
    ToSeparator,
    /// At the line's end: files.
    ToLineEnd,
}

/// Reads a script, which `depth` others refer to.
pub(super) fn script(text: &str, raw: Raw, depth: u32) -> Result<Script, String> {
    if depth > MAX_DEPTH {
        return Err("scenarios refer to one another too deeply".into());
    }
    let mut parser = Parser { text, rest: text, raw, depth, events: 0 };
    let mut branches = Vec::new();
    loop {
        let when = parser.when()?;
        let part = parser.part()?;
        branches.push((when, part));
        if !parser.eat('|') {
            break;
        }
    }
    if !parser.rest.is_empty() {
        return Err(parser.wrong("a statement"));
    }
    Ok(Script { branches: shares(branches)? })
}

/// Selectors as typed: shares do not yet know their places.
#[derive(Clone, Copy, Debug)]
enum Typed {
    Is(When),
    PerMille(u64),
}

/// Gives each share its place: 40 % and 60 % are the first two and the last three of each five requests.
fn shares(branches: Vec<(Typed, Part)>) -> Result<Vec<Branch>, String> {
    let parts = |typed: &Typed| if let Typed::PerMille(parts) = typed { *parts } else { 0 };
    let total: u64 = branches.iter().map(|(typed, _)| parts(typed)).sum();
    if total > SHARE_PARTS as u64 {
        return Err(format!("shares add up to {} %", total as f64 / 10.0));
    }
    let step = branches.iter().map(|(typed, _)| parts(typed)).fold(SHARE_PARTS as u64, gcd);
    let period = SHARE_PARTS as u64 / step;
    let mut from = 0;
    let place = |(typed, part): (Typed, Part)| {
        let when = match typed {
            Typed::Is(when) => when,
            Typed::PerMille(parts) => {
                let to = from + parts / step;
                let when = When::Share { from, to, period };
                from = to;
                when
            }
        };
        Branch { when, part }
    };
    Ok(branches.into_iter().map(place).collect())
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    raw: Raw,
    depth: u32,
    events: usize,
}

impl<'a> Parser<'a> {
    /// An error that shows the place.
    fn wrong(&self, expected: &str) -> String {
        let at = self.text.len() - self.rest.len();
        let column = self.text.get(..at).map_or(0, |before| before.chars().count()) + 1;
        let found: String = self.rest.chars().take(20).collect();
        format!("expected {expected} at character {column}, found `{found}`")
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// Blanks, line ends and separators between statements.
    fn gaps(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', ';', '·']);
    }

    fn eat(&mut self, c: char) -> bool {
        self.blanks();
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !keep(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn number(&mut self) -> Result<f64, String> {
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

    fn integer(&mut self) -> Result<u64, String> {
        self.blanks();
        let digits = self.take_while(|c| c.is_ascii_digit());
        digits.parse().map_err(|_| self.wrong("a whole number"))
    }

    fn word(&mut self) -> &'a str {
        self.blanks();
        self.take_while(|c| c.is_ascii_alphanumeric() || "_-&.".contains(c))
    }

    /// Takes `word` where it stands next, as a whole.
    fn keyword(&mut self, word: &str) -> bool {
        self.blanks();
        let Some(rest) = self.rest.strip_prefix(word) else { return false };
        if rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
            return false;
        }
        self.rest = rest;
        true
    }

    fn when(&mut self) -> Result<Typed, String> {
        self.gaps();
        let start = self.rest;
        let typed = if self.keyword("odd") {
            Typed::Is(When::Odd)
        } else if self.keyword("even") {
            Typed::Is(When::Even)
        } else if self.keyword("else") {
            Typed::Is(When::Always)
        } else if self.keyword("every") {
            Typed::Is(When::Every(self.integer()?.max(1)))
        } else if self.rest.starts_with("try<=") {
            self.rest = &self.rest["try<=".len()..];
            Typed::Is(When::Try(u32::try_from(self.integer()?).unwrap_or(u32::MAX)))
        } else if let Ok(percent) = self.number()
            && self.eat('%')
        {
            Typed::PerMille((percent * SHARE_PARTS / 100.0).round() as u64)
        } else {
            self.rest = start;
            return Ok(Typed::Is(When::Always));
        };
        if self.eat(':') { Ok(typed) } else { Err(self.wrong("`:`")) }
    }

    fn part(&mut self) -> Result<Part, String> {
        let mut part = Part::default();
        let mut times = vec![Time { ns: 0, per_request: false }];
        loop {
            self.gaps();
            if self.rest.is_empty() || self.rest.starts_with('|') {
                return Ok(part);
            }
            if !self.directive(&mut part)? {
                self.statement(&mut part, &mut times)?;
            }
            self.blanks();
            if !(self.rest.is_empty() || self.rest.starts_with(['|', ';', '·', '\n', '\r'])) {
                return Err(self.wrong("the end of the statement"));
            }
        }
    }

    /// Reads a directive, if one stands next.
    fn directive(&mut self, part: &mut Part) -> Result<bool, String> {
        if self.keyword("http") {
            part.status = u16::try_from(self.integer()?).map_err(|_| self.wrong("a status"))?;
            self.headers(&mut part.headers)?;
        } else if self.keyword("framing") {
            part.framing = Some(match self.word() {
                "chunked" => Framing::Chunked,
                "length" => Framing::Length(0),
                "close" => Framing::Close,
                _ => return Err(self.wrong("chunked, length or close")),
            });
        } else if self.keyword("head") {
            part.head_ns = Some(nanos(self.number()?));
        } else if self.keyword("freeze") {
            let from = Duration::from_nanos(nanos(self.number()?));
            self.dots()?;
            part.frozen.push(Freeze { from, until: Duration::from_nanos(nanos(self.number()?)) });
        } else if self.keyword("refuse") {
            part.refuse.push(self.word().into());
        } else if self.keyword("case") {
            self.case(part)?;
        } else if self.keyword("with") {
            loop {
                part.transforms.push(self.word().parse::<Transform>()?);
                if !self.eat('+') {
                    break;
                }
            }
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn headers(&mut self, headers: &mut Vec<(String, String)>) -> Result<(), String> {
        loop {
            let name = self.word();
            if name.is_empty() {
                return Ok(());
            }
            if !self.eat('=') {
                return Err(self.wrong("`=` and the header's value"));
            }
            let value = match self.text()? {
                Some(quoted) => quoted,
                None => self.take_while(|c| !c.is_whitespace() && !";|·".contains(c)),
            };
            headers.push((name.into(), value.into()));
        }
    }

    /// Does what a named scenario of one branch does, and keeps what was said before.
    fn case(&mut self, part: &mut Part) -> Result<(), String> {
        let name = self.word();
        let script =
            library::find_at(name, self.depth + 1).ok_or_else(|| format!("no scenario `{name}`"))??;
        let [Branch { part: other, .. }] = script.branches.as_slice() else {
            return Err(format!("`{name}` has several branches: it cannot be a part of another"));
        };
        let own = std::mem::replace(part, other.clone());
        part.transforms.splice(..0, own.transforms);
        part.refuse.splice(..0, own.refuse);
        part.frozen.splice(..0, own.frozen);
        part.headers.splice(..0, own.headers);
        part.steps.splice(..0, own.steps);
        part.framing = own.framing.or(part.framing);
        part.head_ns = own.head_ns.or(part.head_ns);
        Ok(())
    }

    fn statement(&mut self, part: &mut Part, times: &mut Vec<Time>) -> Result<(), String> {
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            times.clear();
            self.time(times)?;
            while self.eat(',') {
                self.time(times)?;
            }
        }
        if let Some(ending) = self.ending() {
            part.ending = ending;
            let wait = Line::Raw(Vec::new(), Content::default());
            part.steps.push(Step { times: times.clone(), events: vec![wait] });
        } else {
            let mut events = vec![self.event()?];
            while self.eat(',') {
                events.push(self.event()?);
            }
            self.events += times.len() * events.len();
            if self.events > MAX_EVENTS {
                return Err(format!("more than {MAX_EVENTS} events"));
            }
            part.steps.push(Step { times: times.clone(), events });
        }
        // What follows without a time of its own comes at the last of these.
        times.drain(..times.len().saturating_sub(1));
        Ok(())
    }

    fn time(&mut self, times: &mut Vec<Time>) -> Result<(), String> {
        let from = self.number()?;
        if self.rest.starts_with("..") {
            self.dots()?;
            let to = self.number()?;
            let step = if self.eat('/') { self.number()? } else { 0.0 };
            if step <= 0.0 || to < from || (to - from) / step > MAX_EVENTS as f64 {
                return Err(self.wrong("a range FROM..TO/STEP"));
            }
            let count = ((to - from) / step + 1e-9) as u32;
            times.extend(
                (0..=count).map(|i| Time { ns: nanos(from + step * f64::from(i)), per_request: false }),
            );
        } else {
            times.push(Time { ns: nanos(from), per_request: self.keyword("n") });
        }
        Ok(())
    }

    fn dots(&mut self) -> Result<(), String> {
        self.rest = self.rest.strip_prefix("..").ok_or_else(|| self.wrong("`..`"))?;
        Ok(())
    }

    fn ending(&mut self) -> Option<Ending> {
        let words = [
            ("cut", Ending::Cut),
            ("close", Ending::FinishThenClose),
            ("reset", Ending::Reset),
            ("hang", Ending::Hang),
        ];
        words.into_iter().find(|(word, _)| self.keyword(word)).map(|(_, ending)| ending)
    }

    fn event(&mut self) -> Result<Line, String> {
        if let Some(line) = self.literal()? {
            return Ok(line);
        }
        let mut chunk = Chunk::default();
        let mut content = Content::default();
        let mut items = 0;
        while self.item(&mut chunk, &mut content)? {
            items += 1;
        }
        if items == 0 { Err(self.wrong("an event")) } else { Ok(Line::Chunk(chunk, content)) }
    }

    /// An event that is more than a chunk's fields, if one stands next.
    fn literal(&mut self) -> Result<Option<Line>, String> {
        self.blanks();
        if self.keyword("D") {
            return Ok(Some(Line::Raw(DONE.to_vec(), Content::default())));
        }
        if self.rest.starts_with('{') {
            let json = self.json()?;
            return Ok(Some(Line::Raw(format!("data: {json}\n\n").into_bytes(), Content::default())));
        }
        let content = if self.keyword("raw") {
            Content::default()
        } else if self.keyword("answer") {
            Content::answer(1)
        } else if self.keyword("reason") {
            Content::reasoning(1)
        } else {
            return Ok(None);
        };
        let raw = self.raw;
        let text = self.take_while(|c| match raw {
            Raw::ToSeparator => !";|\n".contains(c),
            Raw::ToLineEnd => c != '\n',
        });
        bytes(text.trim_matches(' ')).map(|bytes| Some(Line::Raw(bytes, content)))
    }

    /// JSON up to its closing brace.
    fn json(&mut self) -> Result<&'a str, String> {
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

    /// Reads one item of an event into it, if one stands next.
    fn item(&mut self, chunk: &mut Chunk, content: &mut Content) -> Result<bool, String> {
        if self.keyword("role") {
            chunk.role = true;
        } else if self.keyword("T") {
            let text = self.text()?.unwrap_or(" word");
            *content = content.and(Content::answer(words(text)));
            chunk.content = Some(text.into());
        } else if let Some(key) = self.reasoning_key() {
            let text = self.text()?.unwrap_or(" thought");
            *content = content.and(Content::reasoning(words(text)));
            chunk.reasoning = Some((key, text.into()));
        } else if self.keyword("fin") {
            let reason = if self.eat('(') { self.take_while(|c| c != ')') } else { "stop" };
            if self.rest.starts_with(')') {
                self.rest = &self.rest[1..];
            }
            chunk.finish = Some(reason.into());
        } else if self.keyword("length") {
            chunk.finish = Some("length".into());
        } else if self.keyword("U") {
            chunk.usage = Some(self.usage()?);
        } else if self.keyword("groq") {
            chunk.groq = Some(self.usage()?);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn reasoning_key(&mut self) -> Option<&'static str> {
        if self.keyword("R") {
            Some("reasoning_content")
        } else if self.keyword("reasoning") {
            Some("reasoning")
        } else {
            None
        }
    }

    /// A text between quotes, if one follows at once.
    fn text(&mut self) -> Result<Option<&'a str>, String> {
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

    fn usage(&mut self) -> Result<Usage, String> {
        if !self.eat('(') {
            return Err(self.wrong("(prompt,completion)"));
        }
        let prompt = self.integer()?;
        if !self.eat(',') {
            return Err(self.wrong("`,` and the completion tokens"));
        }
        let mut usage = Usage::new(prompt, self.integer()?);
        while self.eat(',') {
            if self.keyword("cached") {
                if !self.eat('=') {
                    return Err(self.wrong("`=`"));
                }
                usage.cached = Some(self.integer()?);
            } else {
                usage.reasoning = Some(self.integer()?);
            }
        }
        if self.eat(')') { Ok(usage) } else { Err(self.wrong("`)`")) }
    }
}

fn nanos(ms: f64) -> u64 {
    (ms.min(MAX_MS) * 1e6) as u64
}

fn words(text: &str) -> u32 {
    (text.split_whitespace().count() as u32).max(1)
}

/// The bytes that `text` stands for.
fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '⏎' => out.push(b'\n'),
            '␍' => out.push(b'\r'),
            '⟨' => {
                let (inside, after) = rest.split_once('⟩').ok_or("⟨ without ⟩")?;
                rest = after;
                hexadecimal(inside, &mut out)?;
            }
            _ => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Ok(out)
}

fn hexadecimal(inside: &str, out: &mut Vec<u8>) -> Result<(), String> {
    let wrong = || format!("⟨{inside}⟩ is not bytes in hexadecimal, with `*N` for one of them N times");
    for item in inside.split_ascii_whitespace() {
        let (byte, times) = item.split_once('*').unwrap_or((item, "1"));
        let byte = u8::from_str_radix(byte, 16).map_err(|_| wrong())?;
        let times: usize = times.parse().map_err(|_| wrong())?;
        if out.len().saturating_add(times) > MAX_LITERAL {
            return Err(format!("⟨{inside}⟩ is longer than {MAX_LITERAL} bytes"));
        }
        out.extend(std::iter::repeat_n(byte, times));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_bytes() {
        assert_eq!(bytes("a⏎␍⟨E4 b8*2⟩\"").unwrap(), b"a\n\r\xE4\xB8\xB8\"");
        for wrong in ["⟨E4", "⟨zz⟩", "⟨41*99999999999⟩", "⟨100⟩"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn wrong_scripts_say_where() {
        let check = |text: &str, message: &str| {
            let error = Script::parse(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        };
        check("50 rolle", "expected an event at character 4");
        check("50 role 60 T", "the end of the statement at character 9");
        check("100..50/10 T", "FROM..TO/STEP");
        check("100..900000000/1 T", "FROM..TO/STEP");
        check("T\"a", "closing quote");
        check("U(7)", "completion tokens");
        check("{\"a\":1", "closing brace");
        check("60%: T | 50%: D", "110 %");
        check("odd T", "`:`");
        check("case c99", "no scenario `c99`");
        check("case c12", "several branches");
        check("with w99", "w99");
        check("framing none", "chunked, length or close");
    }

    #[test]
    fn notes_of_a_reader_are_scripts() {
        for text in [
            "50 role;400,420,440 T;440 fin;U(7,5);D",
            "100 T U(40,10) · 200 T U(40,50) · 300 T fin U(40,100) · D",
            r#"odd: 1 T | even: 100,120 T · 150 {"error":{"message":"a; b | c}","code":500}}, D"#,
            "raw data: {\"choices\":[{\"delta\":{\"conte⏎⏎; 5 reset",
        ] {
            Script::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }
}
