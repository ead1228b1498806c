//! Scripts: what a server does, in one line.
//!
//! Times are milliseconds after the request was completely read. The notation is that of a reader's notes:
//!
//! ```text
//! script    := branch { "|" branch }             the first branch that applies answers
//! branch    := [ when ":" ] statement { (";" | "·" | line end) statement }
//! when      := odd | even | every N | P% | try<=N | else
//!              by the ordinal of the request among those for this model string, from 1; shares are exact over each
//!              period; `try` counts the requests with the same prompt
//! statement := [ time { "," time } ] event { "," event }        no time: that of the statement before
//!            | directive | ending
//! time      := MS | MS"n" (times the ordinal) | FROM..TO/STEP (TO included)
//! event     := item { " " item }                                items of one event
//! item      := role | T | T"text" | R | R"text" | reasoning | reasoning"text" | fin | fin(REASON) | length
//!            | U(prompt,completion[,reasoning][,cached=N]) | groq(prompt,completion) | D | {json}
//!            | raw BYTES | answer BYTES | reason BYTES          to the next ";" or "|"; in files to the line's end
//! directive := http STATUS { name=value } | framing chunked|length|close | head MS | freeze FROM..TO
//!            | refuse FIELD | case NAME | with TRANSFORM{+TRANSFORM}
//! ending    := [ time ] ( cut | close | reset | hang )
//! ```
//!
//! `R` comes under `reasoning_content`, `reasoning` under that name; `D` is `data: [DONE]`; `{json}` is one event. In
//! BYTES, ⏎ is LF, ␍ is CR, `⟨E4 B8⟩` are bytes in hexadecimal and `⟨6D*300⟩` is one 300 times. `answer` and `reason`
//! are raw bytes that carry output. Texts between quotes stand in the JSON as they are.

mod capture;
mod cursor;
mod library;
mod literal;
mod parse;

use crate::ask::Ask;
use crate::chunk::{Chunk, Facts, Say, Usage, Whole};
use crate::config::Freeze;
use crate::dialect::Dialect;
use crate::reply::{Content, Ending, Event, Framing, Sheet};
use crate::transform::Transform;

pub(crate) use library::find;
pub use library::scenarios;

/// A script that was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Script {
    branches: Vec<Branch>,
}

#[derive(Clone, Debug, PartialEq)]
struct Branch {
    when: When,
    part: Part,
}

/// Which requests a branch answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Always,
    Odd,
    Even,
    Every(u64),
    /// Ordinals whose place in a period of `period` is in `from..to`.
    Share {
        from: u64,
        to: u64,
        period: u64,
    },
    Try(u32),
}

/// What one branch does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    status: u16,
    headers: Vec<(String, String)>,
    framing: Option<Framing>,
    head_ns: Option<u64>,
    pub(crate) frozen: Vec<Freeze>,
    pub(crate) refuse: Vec<String>,
    steps: Vec<Step>,
    ending: Ending,
    pub(crate) transforms: Vec<Transform>,
}

/// The same events at one or more times.
#[derive(Clone, Debug, PartialEq)]
struct Step {
    times: Vec<Time>,
    events: Vec<Line>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Time {
    ns: u64,
    /// Whether it is multiplied by the request's ordinal.
    per_request: bool,
}

/// One event of a script.
#[derive(Clone, Debug, PartialEq)]
enum Line {
    Chunk(Box<Chunk>, Content),
    Raw(Vec<u8>, Content),
}

/// An event without its texts, in bytes.
const EVENT_SIZE: usize = 256;

impl Default for Part {
    fn default() -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            framing: None,
            head_ns: None,
            frozen: Vec::new(),
            refuse: Vec::new(),
            steps: Vec::new(),
            ending: Ending::Finish,
            transforms: Vec::new(),
        }
    }
}

impl Script {
    /// Reads a script; the error says what is wrong and where.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        parse::script(text, parse::Raw::ToSeparator, 0)
    }

    /// The branch for the `nth` request, whose prompt is there the `try_number`th time. An answer to no branch is empty.
    pub(crate) fn part(&self, nth: u64, try_number: u32) -> Option<&Part> {
        self.branches.iter().find(|branch| branch.when.holds(nth, try_number)).map(|branch| &branch.part)
    }
}

impl When {
    const fn holds(self, nth: u64, try_number: u32) -> bool {
        match self {
            Self::Always => true,
            Self::Odd => nth % 2 == 1,
            Self::Even => nth.is_multiple_of(2),
            Self::Every(n) => nth.is_multiple_of(n),
            Self::Share { from, to, period } => {
                let place = nth.wrapping_sub(1) % period;
                from <= place && place < to
            }
            Self::Try(most) => try_number <= most,
        }
    }
}

impl Part {
    /// The answer to `ask`, which is the `nth` request. `name` is the model's name as a JSON string.
    pub(crate) fn sheet(&self, ask: &Ask, nth: u64, name: &str) -> Sheet {
        let mut sheet = Sheet::new(self.status);
        sheet.headers.clone_from(&self.headers);
        sheet.head_ns = self.head_ns;
        sheet.framing = self.framing;
        sheet.ending = self.ending;
        sheet.said.usage = self.usage().map(|usage| (usage.prompt, usage.completion));
        let only_chunks = self.lines().all(|line| matches!(line, Line::Chunk(..)) || line.is_done());
        let whole = !ask.wishes.stream && self.status == 200 && only_chunks && self.lines().count() > 0;
        if !self.headers.iter().any(|(name, _)| name == "content-type") {
            let event_stream = self.status == 200 && !whole;
            let kind = if event_stream { ask.dialect.content_type() } else { "application/json" };
            sheet.headers.push(("content-type".into(), kind.into()));
        }
        if whole {
            sheet.events.push(self.whole(ask, nth, name));
        } else {
            self.events(ask.dialect, nth, name, &mut sheet.events);
        }
        sheet
    }

    fn lines(&self) -> impl Iterator<Item = &Line> {
        self.steps.iter().flat_map(|step| &step.events)
    }

    /// The last usage that it states.
    fn usage(&self) -> Option<Usage> {
        let usages = self.lines().filter_map(|line| match line {
            Line::Chunk(chunk, _) => chunk.usage.or(chunk.groq),
            Line::Raw(..) => None,
        });
        usages.last()
    }

    fn facts<'a>(&self, name: &'a str) -> Facts<'a> {
        Facts { usage: self.usage().unwrap_or_default(), ..Facts::of(name) }
    }

    fn events(&self, dialect: Dialect, nth: u64, name: &str, events: &mut Vec<Event>) {
        let mut writer = dialect.writer(self.facts(name));
        for step in &self.steps {
            for time in &step.times {
                for line in &step.events {
                    let (body, content) = match line {
                        Line::Chunk(chunk, content) => (writer.event(Say::Chunk(chunk)), *content),
                        line if line.is_done() => (writer.event(Say::Done), Content::default()),
                        Line::Raw(bytes, content) => (bytes.clone(), *content),
                    };
                    events.push(Event { at_ns: time.at(nth), body, content });
                }
            }
        }
    }

    /// The same answer in one JSON body, when the last of it is there.
    fn whole(&self, ask: &Ask, nth: u64, name: &str) -> Event {
        let vectors = ask.wishes.vectors.map(|wanted| wanted.drawn(0, ask.wishes.prompt_hash));
        let mut whole = Whole { usage: self.usage(), vectors, ..Whole::default() };
        let (mut at_ns, mut all) = (0, Content::default());
        for step in &self.steps {
            for time in &step.times {
                at_ns = at_ns.max(time.at(nth));
                for line in &step.events {
                    let Line::Chunk(chunk, content) = line else { continue };
                    all = all.and(*content);
                    whole.content.push_str(chunk.content.as_deref().unwrap_or_default());
                    whole.reasoning.push_str(chunk.reasoning.as_ref().map_or("", |(_, text)| text));
                    whole.finish = chunk.finish.clone().or(whole.finish);
                }
            }
        }
        Event { at_ns, body: ask.dialect.whole(&whole, self.facts(name)), content: all }
    }
}

impl Line {
    /// About how many bytes it makes.
    fn size(&self) -> usize {
        match self {
            Self::Chunk(chunk, _) => {
                let reasoning = chunk.reasoning.as_ref().map_or(0, |(_, text)| text.len());
                EVENT_SIZE + reasoning + chunk.content.as_ref().map_or(0, String::len)
            }
            Self::Raw(bytes, _) => bytes.len(),
        }
    }

    fn is_done(&self) -> bool {
        matches!(self, Self::Raw(bytes, _) if bytes == parse::DONE)
    }
}

impl Time {
    const fn at(self, nth: u64) -> u64 {
        if self.per_request { self.ns.saturating_mul(nth) } else { self.ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Address;

    fn ask(stream: bool) -> Ask {
        let body = format!(r#"{{"model":"m","stream":{stream},"messages":[]}}"#);
        Ask::parse(Dialect::CHAT, Address::default(), body.into()).unwrap()
    }

    fn sheet(script: &str, nth: u64, stream: bool) -> Sheet {
        Script::parse(script).unwrap().part(nth, 1).unwrap().sheet(&ask(stream), nth, "\"m\"")
    }

    #[test]
    fn which_branch_answers() {
        let check = |script: &str, tries: u32, expected: &str| {
            let script = Script::parse(script).unwrap();
            let branches = script.branches.len() as u64;
            let picks: String = (1..=10)
                .map(|nth| {
                    let part = script.part(nth, tries).unwrap();
                    let at =
                        script.branches.iter().position(|branch| std::ptr::eq(&raw const branch.part, part));
                    char::from_digit(at.unwrap() as u32, 10).unwrap()
                })
                .collect();
            assert_eq!(picks, expected, "{branches} branches");
        };
        check("T", 1, "0000000000");
        check("odd: T | even: D", 1, "0101010101");
        check("every 5: T | else: D", 1, "1111011110");
        check("40%: T | 60%: D", 1, "0011100111");
        check("10%: T | else: D", 1, "0111111111");
        check("try<=2: T | else: D", 2, "0000000000");
        check("try<=2: T | else: D", 3, "1111111111");
    }

    #[test]
    fn steps_become_events_at_their_times() {
        let sheet = sheet(r#"50 role · 100..140/20 T" a"; 2n fin U(7,3), D"#, 100, true);
        let times: Vec<_> = sheet.events.iter().map(|event| event.at_ns / 1_000_000).collect();
        assert_eq!(times, [50, 100, 120, 140, 200, 200]);
        assert_eq!(sheet.said.usage, Some((7, 3)));
        let last = String::from_utf8(sheet.events[4].body.clone()).unwrap();
        assert!(
            last.contains(r#""delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"#),
            "{last}"
        );
        assert_eq!(sheet.events[5].body, b"data: [DONE]\n\n");
    }

    #[test]
    fn the_same_script_answers_whole() {
        let sheet = sheet(r#"50 role · 100 R" so", T" a" · 120 T" b" · fin, U(7,3), D"#, 1, false);
        let [event] = sheet.events.as_slice() else { panic!("{:?}", sheet.events) };
        let body: serde_json::Value = serde_json::from_slice(&event.body).unwrap();
        assert_eq!(body["choices"][0]["message"]["content"], " a b");
        assert_eq!(body["choices"][0]["message"]["reasoning_content"], " so");
        assert_eq!(body["choices"][0]["finish_reason"], "stop");
        assert_eq!(body["usage"]["completion_tokens"], 3);
        assert_eq!(event.at_ns, 120_000_000);
    }

    #[test]
    fn a_refusal_is_json_with_its_headers() {
        let sheet = sheet(r#"http 429 retry-after="a b" x=1; raw {"error":1}"#, 1, true);
        assert_eq!(sheet.status, 429);
        let headers: Vec<_> = sheet.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        assert_eq!(headers, ["retry-after: a b", "x: 1", "content-type: application/json"]);
        assert_eq!(sheet.events[0].body, br#"{"error":1}"#);
    }
}
