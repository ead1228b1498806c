//! The same planted times and usage in, the same figures out, in every dialect.
//!
//! A story is told by the simulator's own writers and read by the client's decoder, at the instants that the simulator
//! plans and without a socket: what is asked is built by the client too. Whatever chat's figures are, each other
//! dialect's are the same, except for what [`CANNOT`] says that it cannot say. A dialect that joins the client's table
//! is in here by itself.
#![expect(clippy::unwrap_used, reason = "tests")]

use inferometer_metrics::{Stamped, fill};
use inferometer_record::{Sample, Status, TokensSource};
use inferometer_sim::{Config, Rehearsal, rehearse};
use inferometer_wire::request::{self, Ask, Prompt, TokenField};
use inferometer_wire::{
    Answer, Decoder, Dialect, End, Event, Finish, Head, Normal, Outcome, Progress, endpoint,
};
use proptest::prelude::*;
use proptest::sample::select;

/// What there may be no words for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Text that is made token by token: nothing streams, and nothing of it is counted.
    Text,
    /// That a text is a thought.
    Thoughts,
    /// How many of the output tokens are thoughts.
    ThoughtTokens,
    /// How many of the prompt's tokens come out of a cache.
    Cache,
}

/// What dialects cannot say, and why.
const CANNOT: [(Dialect, Part, &str); 7] = [
    (Dialect::Embeddings, Part::Text, "its answers are vectors"),
    (Dialect::Embeddings, Part::Cache, "its usage is of two numbers, both the prompt's"),
    (Dialect::Completions, Part::Thoughts, "an answer is one text, thoughts and all"),
    (Dialect::Messages, Part::ThoughtTokens, "output_tokens has no parts"),
    (Dialect::Bedrock, Part::ThoughtTokens, "outputTokens has no parts"),
    (Dialect::Ollama, Part::ThoughtTokens, "eval_count has no parts"),
    (Dialect::Ollama, Part::Cache, "prompt_eval_count says nothing of what a cache held"),
];

fn can(dialect: Dialect, part: Part) -> bool {
    !CANNOT.iter().any(|(of, what, _)| (*of, *what) == (dialect, part))
}

/// What is planted: the configuration of a provider whose only model is `s`, and whether it thinks.
#[derive(Clone, Debug)]
struct Story {
    toml: String,
    thinks: bool,
}

/// What an answer comes to.
#[derive(Clone, Debug, PartialEq)]
struct Figures {
    ttft_ms: Option<f64>,
    ttfa_ms: Option<f64>,
    latency_ms: Option<f64>,
    first_ns: Option<u64>,
    last_ns: Option<u64>,
    end_ns: Option<u64>,
    gap_p50_ns: Option<u64>,
    gap_max_ns: Option<u64>,
    chunks: u64,
    chars: u64,
    finish: Option<Finish>,
    input: Option<u64>,
    usage: Normal,
}

/// The request as the client makes it, and what the simulator plans for it.
fn told(story: &Story, dialect: Dialect, stream: bool) -> Rehearsal {
    let config = Config::from_toml(&story.toml).unwrap();
    let url = endpoint("http://h", dialect, "s", stream).unwrap();
    let prompt = Prompt::Text("one two three".to_owned());
    let body = request::body(&Ask {
        dialect,
        model: "s",
        prompt: &prompt,
        stream,
        max_tokens: can(dialect, Part::Text).then_some(8_000),
        token_field: TokenField::MaxTokens,
        temperature: Some(0.0),
        include_usage: true,
        parameters: None,
        extra: None,
    });
    rehearse(&config, url.strip_prefix("http://h").unwrap(), body.unwrap()).unwrap()
}

/// What the client sees of it: its answer, the stamps of its output and when it was complete.
fn read(told: &Rehearsal, dialect: Dialect, streaming: bool) -> (Answer, Vec<Stamped>, Option<u64>) {
    let head = Head { status: told.status, content_type: Some(&told.content_type), streaming };
    let mut decoder = Decoder::new(dialect, head);
    let (mut events, mut end) = (Vec::new(), None);
    for write in &told.writes {
        let at_ns = u64::try_from(write.at.as_nanos()).unwrap();
        decoder.feed(&write.bytes, &mut |event| {
            if let Event::Output(output) = event {
                let (chars, tokens, answer, tool) = (output.chars, output.tokens, output.answer, output.tool);
                events.push(Stamped { at_ns, chars, tokens, answer, tool });
            }
        });
        if decoder.progress() > Progress::Open {
            end.get_or_insert(at_ns);
        }
    }
    (decoder.finish(End::Eof, &mut |_| {}), events, end)
}

/// The figures of a story in a dialect, as every attempt gets them.
fn figures(story: &Story, dialect: Dialect, stream: bool) -> Figures {
    let told = told(story, dialect, stream);
    let (answer, events, end_ns) = read(&told, dialect, stream);
    assert_eq!(answer.outcome, Outcome::Complete, "{dialect} {story:?}");
    let usage = answer.usage.as_ref().unwrap();
    let mut sample = Sample {
        status: Status::Ok,
        start_ns: Some(0),
        end_ns,
        input_tokens: usage.input,
        output_tokens: usage.output,
        reasoning_tokens: usage.reasoning,
        tokens_source: TokensSource::Server,
        flags: answer.flags.names().map(str::to_owned).collect(),
        ..Sample::default()
    };
    fill(&mut sample, &events, &|_, _| 0);
    Figures {
        ttft_ms: sample.ttft_ms,
        ttfa_ms: sample.ttfa_ms,
        latency_ms: sample.request_latency_ms,
        first_ns: sample.first_ns,
        last_ns: sample.last_ns,
        end_ns: sample.end_ns,
        gap_p50_ns: sample.gap_p50_ns,
        gap_max_ns: sample.gap_max_ns,
        chunks: sample.chunks,
        chars: sample.output_chars,
        finish: answer.finish,
        input: usage.input,
        usage: without_zeros(usage.normal()),
    }
}

/// Some dialects say of parts that there are none, others are silent: it is the same.
fn without_zeros(usage: Normal) -> Normal {
    let some = |count: Option<u64>| count.filter(|count| *count > 0);
    Normal {
        cache_read: some(usage.cache_read),
        cache_write: some(usage.cache_write),
        output_reasoning: some(usage.output_reasoning),
        ..usage
    }
}

impl Figures {
    /// The same without what cannot be said.
    fn without(self, story: &Story, cannot: impl Fn(Part) -> bool) -> Self {
        let mut right = self;
        if cannot(Part::Thoughts) {
            right.ttfa_ms = right.ttft_ms;
        }
        if cannot(Part::ThoughtTokens) && story.thinks {
            (right.usage.output_reasoning, right.usage.output_visible) = (None, None);
        }
        if cannot(Part::Cache) {
            (right.usage.input_uncached, right.usage.cache_read) = (right.input, None);
        }
        if cannot(Part::Text) {
            right.finish = None;
            (right.usage.output, right.usage.output_visible, right.usage.output_reasoning) =
                (None, None, None);
        }
        right
    }
}

/// A text of a token, as it stands in JSON.
fn text() -> impl Strategy<Value = &'static str> {
    select(&[" a", " bc", "中", "é\\n", "😀 x"][..])
}

/// A story told event by event: any gaps, any counts, some of the prompt out of a cache.
fn script() -> impl Strategy<Value = Story> {
    let tokens = |n| prop::collection::vec((0..3_000_u64, text()), n);
    let counts = (1..5_000_u64, 0..5_000_u64, 1..5_000_u64, 1..5_000_u64);
    (1..4_000_u64, tokens(0..6), tokens(1..12), select(&["fin", "length"][..]), counts).prop_map(
        |(first, thoughts, answer, finish, (input, cached, visible, reasoning))| {
            let (thinks, cached) = (!thoughts.is_empty(), cached % (input + 1));
            let reasoning = if thinks { reasoning } else { 0 };
            let mut at = first;
            let thoughts = thoughts.iter().map(|(gap, text)| (gap, format!("R\"{text}\"")));
            let answer = answer.iter().map(|(gap, text)| (gap, format!("T\"{text}\"")));
            let mut steps = vec![format!("{at} role")];
            for (gap, event) in thoughts.chain(answer) {
                at += gap;
                steps.push(format!("{at} {event}"));
            }
            let of_thoughts = if thinks { format!(",{reasoning}") } else { String::new() };
            let of_cache = if cached > 0 { format!(",cached={cached}") } else { String::new() };
            steps
                .push(format!("{at} {finish}, U({input},{}{of_thoughts}{of_cache}), D", visible + reasoning));
            let script = steps.join(" · ");
            Story { toml: format!("[[scenario]]\nname = \"s\"\nscript = '''{script}'''\n"), thinks }
        },
    )
}

/// A story told by a model's timing law.
fn law() -> impl Strategy<Value = Story> {
    (1..2_000_u32, 1..500_u32, 1..40_u32, 0..20_u32, 1..4_u32).prop_map(
        |(ttft, rate, tokens, reasoning, chunk)| {
            let toml = format!(
                "[[model]]\nname = \"s\"\nttft = \"{ttft}ms\"\nrate = {rate}\ntokens = {tokens}\n\
                 reasoning_tokens = \"{reasoning}\"\ntokens_per_chunk = {chunk}\n"
            );
            Story { toml, thinks: reasoning > 0 }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn streams_are_the_same_in_every_dialect(story in prop_oneof![script(), law()]) {
        let chat = figures(&story, Dialect::Chat, true);
        for dialect in Dialect::ALL.iter().copied().filter(|dialect| can(*dialect, Part::Text)) {
            let right = chat.clone().without(&story, |part| !can(dialect, part));
            prop_assert_eq!(figures(&story, dialect, true), right, "{} {:?}", dialect, story);
        }
    }

    #[test]
    fn whole_answers_are_the_same_in_every_dialect(story in script()) {
        let chat = figures(&story, Dialect::Chat, false);
        prop_assert!(chat.ttft_ms.is_none() && chat.latency_ms.is_some());
        for dialect in Dialect::ALL.iter().copied() {
            let right = chat.clone().without(&story, |part| !can(dialect, part));
            prop_assert_eq!(figures(&story, dialect, false), right, "{} {:?}", dialect, story);
        }
    }
}

/// An excuse that is not needed would hide a difference.
#[test]
fn no_dialect_is_excused_from_what_it_can_say() {
    let script = "50 role · 100 R\" so\" · 140 T\" a\" · 150 fin, U(9,5,2,cached=4), D";
    let story = Story { toml: format!("[[scenario]]\nname = \"s\"\nscript = '{script}'\n"), thinks: true };
    for (dialect, part, why) in CANNOT {
        let stream = dialect.generates();
        let chat = figures(&story, Dialect::Chat, stream);
        let right = chat.without(&story, |other| !can(dialect, other) && other != part);
        assert_ne!(figures(&story, dialect, stream), right, "{dialect} can say it: {part:?}, {why}");
    }
    assert!(Dialect::ALL.iter().all(|dialect| can(*dialect, Part::Text) == dialect.generates()));
}
