//! Reads scripts.

use std::time::Duration;

use super::cursor::Cursor;
use super::{Branch, Line, Part, Script, Step, Time, When, library, literal};
use crate::chunk::{Chunk, Usage};
use crate::config::Freeze;
use crate::reply::{Content, Ending, Framing};
use crate::transform::Transform;

/// The terminal event.
pub(super) const DONE: &[u8] = b"data: [DONE]\n\n";

/// The most events of one script.
const MAX_EVENTS: usize = 100_000;

/// The most bytes of one script's events.
const MAX_BYTES: usize = 32 * 1024 * 1024;

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
    let mut parser = Parser { at: Cursor::new(text), raw, depth, events: 0, bytes: 0 };
    let mut branches = Vec::new();
    loop {
        let when = parser.when()?;
        let part = parser.part()?;
        branches.push((when, part));
        if !parser.at.eat('|') {
            break;
        }
    }
    if !parser.at.rest.is_empty() {
        return Err(parser.at.wrong("a statement"));
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
    at: Cursor<'a>,
    raw: Raw,
    depth: u32,
    /// Events so far, and their bytes.
    events: usize,
    bytes: usize,
}

impl Parser<'_> {
    fn when(&mut self) -> Result<Typed, String> {
        self.at.gaps();
        let start = self.at.rest;
        let typed = if self.at.keyword("odd") {
            Typed::Is(When::Odd)
        } else if self.at.keyword("even") {
            Typed::Is(When::Even)
        } else if self.at.keyword("else") {
            Typed::Is(When::Always)
        } else if self.at.keyword("every") {
            Typed::Is(When::Every(self.at.integer()?.max(1)))
        } else if self.at.rest.starts_with("try<=") {
            self.at.rest = &self.at.rest["try<=".len()..];
            Typed::Is(When::Try(u32::try_from(self.at.integer()?).unwrap_or(u32::MAX)))
        } else if let Ok(percent) = self.at.number()
            && percent <= 100.0
            && self.at.eat('%')
        {
            Typed::PerMille((percent * SHARE_PARTS / 100.0).round() as u64)
        } else {
            self.at.rest = start;
            return Ok(Typed::Is(When::Always));
        };
        if self.at.eat(':') { Ok(typed) } else { Err(self.at.wrong("`:`")) }
    }

    fn part(&mut self) -> Result<Part, String> {
        let mut part = Part::default();
        let mut times = vec![Time { ns: 0, per_request: false }];
        loop {
            self.at.gaps();
            if self.at.rest.is_empty() || self.at.rest.starts_with('|') {
                return Ok(part);
            }
            if !self.directive(&mut part)? {
                self.statement(&mut part, &mut times)?;
            }
            self.at.blanks();
            if !(self.at.rest.is_empty() || self.at.rest.starts_with(['|', ';', '·', '\n', '\r'])) {
                return Err(self.at.wrong("the end of the statement"));
            }
        }
    }

    /// Reads a directive, if one stands next.
    fn directive(&mut self, part: &mut Part) -> Result<bool, String> {
        if self.at.keyword("http") {
            part.status = u16::try_from(self.at.integer()?).map_err(|_| self.at.wrong("a status"))?;
            self.headers(&mut part.headers)?;
        } else if self.at.keyword("framing") {
            part.framing = Some(match self.at.word() {
                "chunked" => Framing::Chunked,
                "length" => Framing::Length(0),
                "close" => Framing::Close,
                _ => return Err(self.at.wrong("chunked, length or close")),
            });
        } else if self.at.keyword("head") {
            part.head_ns = Some(nanos(self.at.number()?));
        } else if self.at.keyword("freeze") {
            let from = Duration::from_nanos(nanos(self.at.number()?));
            self.at.dots()?;
            part.frozen.push(Freeze { from, until: Duration::from_nanos(nanos(self.at.number()?)) });
        } else if self.at.keyword("refuse") {
            part.refuse.push(self.at.word().into());
        } else if self.at.keyword("case") {
            self.case(part)?;
        } else if self.at.keyword("with") {
            loop {
                part.transforms.push(self.at.word().parse::<Transform>()?);
                if !self.at.eat('+') {
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
            let name = self.at.word();
            if name.is_empty() {
                return Ok(());
            }
            if !self.at.eat('=') {
                return Err(self.at.wrong("`=` and the header's value"));
            }
            let value = match self.at.text()? {
                Some(quoted) => quoted,
                None => self.at.take_while(|c| !c.is_whitespace() && !";|·".contains(c)),
            };
            headers.push((name.into(), value.into()));
        }
    }

    /// Does what a named scenario of one branch does, and keeps what was said before.
    fn case(&mut self, part: &mut Part) -> Result<(), String> {
        let name = self.at.word();
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
        if self.at.rest.starts_with(|c: char| c.is_ascii_digit()) {
            times.clear();
            self.time(times)?;
            while self.at.eat(',') {
                self.time(times)?;
            }
        }
        if let Some(ending) = self.ending() {
            part.ending = ending;
            let wait = Line::Raw(Vec::new(), Content::default());
            part.steps.push(Step { times: times.clone(), events: vec![wait] });
        } else {
            let mut events = vec![self.event()?];
            while self.at.eat(',') {
                events.push(self.event()?);
            }
            self.events += times.len() * events.len();
            self.bytes += times.len() * events.iter().map(Line::size).sum::<usize>();
            if self.events > MAX_EVENTS || self.bytes > MAX_BYTES {
                return Err(format!("more than {MAX_EVENTS} events or {MAX_BYTES} bytes"));
            }
            part.steps.push(Step { times: times.clone(), events });
        }
        // What follows without a time of its own comes at the last of these.
        times.drain(..times.len().saturating_sub(1));
        Ok(())
    }

    fn time(&mut self, times: &mut Vec<Time>) -> Result<(), String> {
        if times.len() > MAX_EVENTS {
            return Err(format!("more than {MAX_EVENTS} times"));
        }
        let from = self.at.number()?;
        if self.at.rest.starts_with("..") {
            self.at.dots()?;
            let to = self.at.number()?;
            let step = if self.at.eat('/') { self.at.number()? } else { 0.0 };
            if step <= 0.0 || to < from || (to - from) / step > MAX_EVENTS as f64 {
                return Err(self.at.wrong("a range FROM..TO/STEP"));
            }
            let count = ((to - from) / step + 1e-9) as u32;
            times.extend(
                (0..=count).map(|i| Time { ns: nanos(from + step * f64::from(i)), per_request: false }),
            );
        } else {
            times.push(Time { ns: nanos(from), per_request: self.at.keyword("n") });
        }
        Ok(())
    }

    fn ending(&mut self) -> Option<Ending> {
        let words = [
            ("cut", Ending::Cut),
            ("close", Ending::FinishThenClose),
            ("reset", Ending::Reset),
            ("hang", Ending::Hang),
        ];
        words.into_iter().find(|(word, _)| self.at.keyword(word)).map(|(_, ending)| ending)
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
        if items == 0 { Err(self.at.wrong("an event")) } else { Ok(Line::Chunk(Box::new(chunk), content)) }
    }

    /// An event that is more than a chunk's fields, if one stands next.
    fn literal(&mut self) -> Result<Option<Line>, String> {
        self.at.blanks();
        if self.at.keyword("D") {
            return Ok(Some(Line::Raw(DONE.to_vec(), Content::default())));
        }
        if self.at.rest.starts_with('{') {
            let json = self.at.json()?;
            return Ok(Some(Line::Raw(format!("data: {json}\n\n").into_bytes(), Content::default())));
        }
        let content = if self.at.keyword("raw") {
            Content::default()
        } else if self.at.keyword("answer") {
            Content::answer(1)
        } else if self.at.keyword("reason") {
            Content::reasoning(1)
        } else {
            return Ok(None);
        };
        let raw = self.raw;
        let text = self.at.take_while(|c| match raw {
            Raw::ToSeparator => !";|\n".contains(c),
            Raw::ToLineEnd => c != '\n',
        });
        literal::bytes(text.trim_matches(' ')).map(|bytes| Some(Line::Raw(bytes, content)))
    }

    /// Reads one item of an event into it, if one stands next.
    fn item(&mut self, chunk: &mut Chunk, content: &mut Content) -> Result<bool, String> {
        if self.at.keyword("role") {
            chunk.role = true;
        } else if self.at.keyword("T") {
            let text = self.at.text()?.unwrap_or(" word");
            *content = content.and(Content::answer(words(text)));
            chunk.content = Some(text.into());
        } else if let Some(key) = self.reasoning_key() {
            let text = self.at.text()?.unwrap_or(" thought");
            *content = content.and(Content::reasoning(words(text)));
            chunk.reasoning = Some((key, text.into()));
        } else if self.at.keyword("fin") {
            let reason = if self.at.eat('(') { self.at.take_while(|c| c != ')') } else { "stop" };
            if self.at.rest.starts_with(')') {
                self.at.rest = &self.at.rest[1..];
            }
            chunk.finish = Some(reason.into());
        } else if self.at.keyword("length") {
            chunk.finish = Some("length".into());
        } else if self.at.keyword("U") {
            chunk.usage = Some(self.usage()?);
        } else if self.at.keyword("groq") {
            chunk.groq = Some(self.usage()?);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn reasoning_key(&mut self) -> Option<&'static str> {
        if self.at.keyword("R") {
            Some("reasoning_content")
        } else if self.at.keyword("reasoning") {
            Some("reasoning")
        } else {
            None
        }
    }

    fn usage(&mut self) -> Result<Usage, String> {
        if !self.at.eat('(') {
            return Err(self.at.wrong("(prompt,completion)"));
        }
        let prompt = self.at.integer()?;
        if !self.at.eat(',') {
            return Err(self.at.wrong("`,` and the completion tokens"));
        }
        let mut usage = Usage::new(prompt, self.at.integer()?);
        while self.at.eat(',') {
            if self.at.keyword("cached") {
                if !self.at.eat('=') {
                    return Err(self.at.wrong("`=`"));
                }
                usage.cached = Some(self.at.integer()?);
            } else {
                usage.reasoning = Some(self.at.integer()?);
            }
        }
        if self.at.eat(')') { Ok(usage) } else { Err(self.at.wrong("`)`")) }
    }
}

fn nanos(ms: f64) -> u64 {
    (ms.min(MAX_MS) * 1e6) as u64
}

fn words(text: &str) -> u32 {
    (text.split_whitespace().count() as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(
            text in "[0-9TRUDn.,;:/%|(){}\"⏎⟨⟩ a-h*=+<]{0,60}",
            more in ".{0,40}",
            keyword in "(every |try<=|http |freeze |raw |case c0|with |fin\\(|U\\(|\\{|T\"|5[.][.]9/)?",
        ) {
            for text in [format!("{keyword}{text}"), format!("{text};{keyword}{more}"), more] {
                let _ = Script::parse(&text);
            }
        }
    }
}
