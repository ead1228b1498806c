//! The keys of the plan file as data: from this one list come the errors, the JSON schema and the manual's tables.

use inferometer_workload::Shipped;

use crate::presets::{Reasoning, presets};

/// One kind of table.
#[derive(Debug)]
pub(crate) struct Shape {
    /// As the file writes its header.
    pub(crate) header: &'static str,
    /// What it says.
    pub(crate) about: &'static str,
    /// Its keys.
    pub(crate) keys: &'static [Key],
    /// What further keys hold, whose names are not known here: headers, figures.
    pub(crate) further: Option<&'static Kind>,
}

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it holds.
    pub(crate) kind: Kind,
    /// What it means, and what holds without it.
    pub(crate) about: &'static str,
}

/// What a key holds.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// A text in which `${VAR}` may stand.
    Open,
    /// A whole number from 0.
    Whole,
    /// A number.
    Number,
    /// An amount of money.
    Amount,
    /// Yes or no.
    Flag,
    /// A time: text with its unit, or seconds.
    Time,
    /// A share: text in percent, or a number up to 1.
    Share,
    /// The limit of a figure: text with its unit, or a number.
    Limit,
    /// A date.
    Date,
    /// One of these words.
    OneOf(fn() -> Vec<&'static str>),
    /// Several, at least one.
    List(&'static Kind),
    /// One, or several.
    Some(&'static Kind),
    /// Any of these.
    Either(&'static [Kind]),
    /// Whatever JSON can say.
    Json,
    /// A table of whatever JSON can say.
    JsonTable,
    /// A table.
    Table(&'static Shape),
    /// Tables in double brackets, at least one.
    Tables(&'static Shape),
}

const fn key(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, about }
}

use Kind::{
    Amount, Date, Either, Flag, Json, JsonTable, Limit, List, Number, OneOf, Open, Share, Table, Tables,
    Text, Time, Whole,
};

/// Every table of the file, for the manual.
pub(crate) static SHAPES: &[&Shape] = &[
    &PLAN,
    &TARGET,
    &REASONING,
    &PRICE,
    &WORKLOAD,
    &LOAD,
    &COLDSTART,
    &BURST,
    &PROTOCOL,
    &PRECISION,
    &PROFILES,
    &PROFILE,
    &COMPARE,
    &EQUIVALENCE,
    &BUDGET,
];

/// The file.
pub(crate) static PLAN: Shape = Shape {
    header: "the plan",
    about: "What is to be measured, how, and what is to be decided.",
    further: None,
    keys: &[
        key("name", Text, "Name of the run, in its folder's name [default: the file's]"),
        key("target", Tables(&TARGET), "Where to ask; at least one"),
        key("workload", Tables(&WORKLOAD), "What to ask [default: the built-in prompts]"),
        key("load", Either(&[Table(&LOAD), Tables(&LOAD)]), "How to ask [default: one request at a time]"),
        key("protocol", Table(&PROTOCOL), "How cells are measured"),
        key("profile", Table(&PROFILES), "What decisions are asked for"),
        key("compare", Table(&COMPARE), "What comparisons need to know"),
        key("budget", Table(&BUDGET), "What the run may use up; the first bound that is reached ends it"),
    ],
};

/// Where to ask.
pub(crate) static TARGET: Shape = Shape {
    header: "[[target]]",
    about: "Where to ask: a provider by name, or an address.",
    further: None,
    keys: &[
        key("name", Text, "Stands in every sample and report [default: model@host]"),
        key(
            "provider",
            Text,
            "A provider that Inferometer knows, or any other name beside `url`: who serves it",
        ),
        key("url", Open, "Base URL: http://h, http://h/v1 or the full address [default: the provider's]"),
        key("model", Text, "Model to ask for, as the endpoint calls it"),
        key("dialect", OneOf(dialects), "How the endpoint speaks [default: as the provider does, else chat]"),
        key("api_key_env", Text, "Variable that holds the API key [default: the provider's]"),
        key(
            "key_file",
            Text,
            "File that holds the API key; relative to the plan; read again where the server refuses it",
        ),
        key(
            "key_cmd",
            Text,
            "Command that prints the API key, as text or as JSON {\"key\": …, \"expires_at\": …}; run by sh -c when the plan is \
             read, for at most 30 s, and again before the key expires and where the server refuses it",
        ),
        key("api_key", Open, "The same as api_key_env, as \"${VAR}\"; never the key itself"),
        key("headers", Table(&HEADERS), "Further headers of every request"),
        key("extra", JsonTable, "Parameters merged into every request body"),
        key(
            "reasoning",
            Either(&[OneOf(levels), Table(&REASONING)]),
            "How much the model reasons; sent in the words of the provider, or of a dialect that has its own",
        ),
        key(
            "price",
            Either(&[Text, Table(&PRICE)]),
            "US dollars per million tokens, as \"input=3,output=15\" or as a table; \"book\" must be in the price book \
             [default: the price book's, where it knows one]",
        ),
        key("region", Text, "Where it is served, as the provider says"),
        key("precision", Text, "Precision of the weights, as the provider says"),
        key(
            "terms",
            Text,
            "Terms of use or retention, in words or as a link [default: the provider's links]",
        ),
        key("concurrency_limit", Whole, "At most so many requests in flight, whatever the load asks for"),
        key("stream", Flag, "Ask for streams [default: true, but of embeddings]"),
        key("stream_options", Flag, "Ask for usage in the stream [default: true]"),
        key("think_tags", Flag, "Take reasoning out of the content, between think tags [default: false]"),
        key(
            "max_completion_tokens",
            Flag,
            "Send the token limit as max_completion_tokens [default: as the provider wants it, else false]",
        ),
        key(
            "connection",
            OneOf(connections),
            "Keep connections, or open one for each request [default: reuse]",
        ),
        key("http2", Flag, "Speak HTTP/2 [default: false]"),
        key("cacert", Text, "Trust the CA in this PEM file as well"),
        key("insecure", Flag, "Do not check certificates [default: false]"),
    ],
};

/// A bound on reasoning.
pub(crate) static REASONING: Shape = Shape {
    header: "reasoning",
    about: "At most so much reasoning, where the provider knows a budget.",
    further: None,
    keys: &[key("budget", Whole, "Tokens, at least 1")],
};

/// Headers of every request.
pub(crate) static HEADERS: Shape =
    Shape { header: "headers", about: "Headers by name.", further: Some(&Open), keys: &[] };

/// What a target costs.
pub(crate) static PRICE: Shape = Shape {
    header: "price",
    about: "US dollars per million tokens, and where that is known from.",
    further: None,
    keys: &[
        key("input", Amount, "Input that no cache served"),
        key("output", Amount, "Output"),
        key("cache_read", Amount, "Input read from a cache [default: as input]"),
        key("cache_write", Amount, "Input written to a cache [default: as input]"),
        key("reasoning", Amount, "Reasoning [default: as output]"),
        key("request", Amount, "Each request, whatever its tokens"),
        key("minimum", Amount, "The least that a request costs"),
        key("source", Text, "Where the price comes from [default: the plan]"),
        key("date", Date, "When it was true"),
    ],
};

/// What to ask.
pub(crate) static WORKLOAD: Shape = Shape {
    header: "[[workload]]",
    about: "What to ask, and what makes an answer useful.",
    further: None,
    keys: &[
        key("name", Text, "Stands in every sample and report [default: by its kind]"),
        key("kind", OneOf(kinds), "Prompts that ship with Inferometer, with their checks [default: builtin]"),
        key("dataset", Text, "Prompts from a file: JSONL, or ShareGPT JSON; relative to the plan"),
        key("isl", Whole, "Tokens of a generated prompt"),
        key("isl_stddev", Number, "Standard deviation of isl"),
        key("max_tokens", Whole, "Token limit of an answer [default: the kind's]"),
        key("osl", Whole, "The same by its other name"),
        key("osl_stddev", Number, "Standard deviation of osl"),
        key("temperature", Number, "Sampling temperature [default: the protocol's]"),
        key("check", Json, "What makes an answer right, where the prompt does not say so itself"),
        key(
            "degraded_is_useful",
            Flag,
            "Whether a degraded answer is useful [default: where a token limit was asked for]",
        ),
    ],
};

/// How to ask.
pub(crate) static LOAD: Shape = Shape {
    header: "[load]",
    about: "How to ask; in double brackets there may be several.",
    further: None,
    keys: &[
        key("name", Text, "Stands in every sample and report [default: by its arrival]"),
        key("concurrency", Kind::Some(&Whole), "Requests in flight; a list measures the curve [default: 1]"),
        key(
            "request_rate",
            Kind::Some(&Number),
            "Requests a second, whatever the server does; a list measures the curve",
        ),
        key("arrival", OneOf(arrivals), "Spacing of an open load [default: poisson]"),
        key("burstiness", Number, "Shape of gamma arrivals"),
        key("requests", Whole, "Requests of each cell [default: the protocol's trials, or 4 for each slot]"),
        key("duration", Time, "Time for each cell; with requests, whichever ends first"),
        key(
            "ramp",
            Time,
            "Time over which the slots' first starts are spread [default: 5 ms a slot, at most 1 s]",
        ),
        key("coldstart", Table(&COLDSTART), "Cold starts after idle gaps"),
        key("burst", Table(&BURST), "Bursts from rest"),
        key(
            "respect_rate_limits",
            Flag,
            "Wait before a request that would pass a limit which the target's answers told; each wait is recorded, and not \
             the target's slowness. With a concurrency or a coldstart [default: false]",
        ),
        key("targets", List(&Text), "Only these targets [default: all]"),
        key("workloads", List(&Text), "Only these workloads [default: all]"),
    ],
};

/// Cold starts.
pub(crate) static COLDSTART: Shape = Shape {
    header: "coldstart",
    about: "Idle for `gap`, then one request and a warm control; again and again.",
    further: None,
    keys: &[
        key("gap", Time, "How long the target is left alone"),
        key("episodes", Whole, "How often [default: 5]"),
    ],
};

/// Bursts.
pub(crate) static BURST: Shape = Shape {
    header: "burst",
    about: "From rest to `size` requests at once; again and again.",
    further: None,
    keys: &[
        key("size", Whole, "Requests at once"),
        key("rest", Time, "How long the target is left alone before each [default: 2s]"),
        key("episodes", Whole, "How often [default: 5]"),
    ],
};

/// How cells are measured.
pub(crate) static PROTOCOL: Shape = Shape {
    header: "[protocol]",
    about: "How cells are measured.",
    further: None,
    keys: &[
        key("trials", Whole, "Requests of each cell [default: 100; 300 with a production profile]"),
        key("warmup", Whole, "Requests of each cell sent first and dropped [default: 3]"),
        key("temperature", Number, "Sampling temperature of every workload [default: 0]"),
        key(
            "interleave",
            OneOf(interleaves),
            "Blocks in which targets take turns, or are asked together; off: one cell after the other \
             [default: turns, where there are several targets]",
        ),
        key("order_seed", Whole, "Fixes the order of targets in each block [default: the seed]"),
        key("slice", Time, "A target's turn at concurrency above 1 and in open loads [default: 10s]"),
        key(
            "max_lag",
            Whole,
            "Blocks that a target may lag behind before its trials are given up [default: 3]",
        ),
        key("patience", Time, "How long one trial holds up the other targets [default: 30s]"),
        key(
            "cache",
            OneOf(caches),
            "Prefix caches: bust them with a nonce, send prompts as they are, or warm them: each prompt of a cell once \
             before it is measured, which costs as much again [default: bust]",
        ),
        key("seed", Whole, "Fixes prompts and schedule [default: a new one, kept in run.json]"),
        key("retries", Whole, "Further attempts at a failed request; each is recorded [default: 0]"),
        key("timeout", Time, "Time for a whole request [default: 300s]"),
        key("connect_timeout", Time, "Time to connect [default: 10s]"),
        key("first_token_timeout", Time, "Time to the first token"),
        key("idle_timeout", Time, "Time without a byte"),
        key("grace", Time, "Time for requests in flight to end once no more start [default: 30s]"),
        key(
            "precision",
            Either(&[Share, Table(&PRECISION)]),
            "Stop once the median TTFT, or the figure that a table names, is known to within this share",
        ),
        key("keep_text", Flag, "Keep prompts and answers, in texts.jsonl [default: false]"),
        key("goodput", Text, "What a request must meet to count as good, as in \"ttft:300 e2el:5000\""),
        key("fail_if", Kind::Some(&Text), "Exit 4 where one of these is so, as in \"ttft_p95>500ms\""),
    ],
};

/// When to stop.
pub(crate) static PRECISION: Shape = Shape {
    header: "precision",
    about: "When to stop before all trials are done.",
    further: None,
    keys: &[
        key("goal", Share, "How far the interval's bounds may be from the figure, as a share of it"),
        key("figure", Text, "Figure and quantile, as in a gate [default: ttft_p50]"),
    ],
};

/// What decisions are asked for.
pub(crate) static PROFILES: Shape = Shape {
    header: "[profile]",
    about: "One table for each decision that is asked for.",
    further: None,
    keys: &[
        key("chat", Table(&PROFILE), "A person waits: a first token that is quick and steady"),
        key("rag", Table(&PROFILE), "Long prompts: prefill, and the cost of input"),
        key("batch", Table(&PROFILE), "Nobody waits: throughput and cost"),
        key("production", Table(&PROFILE), "A service: its tail, its errors, its bursts"),
        key("agent", Table(&PROFILE), "Tools in a loop: valid calls, cached input"),
    ],
};

/// What a kind of application needs.
pub(crate) static PROFILE: Shape = Shape {
    header: "[profile.NAME]",
    about: "Limits by figure: ttft_p95 = \"1s\" at most, useful = \"95%\" at least; and where they are held against.",
    further: Some(&Limit),
    keys: &[
        key("workload", Text, "The workload that is decided on [default: each]"),
        key("load", Text, "The load that is decided on [default: the profile's own choice]"),
    ],
};

/// What comparisons need to know.
pub(crate) static COMPARE: Shape = Shape {
    header: "[compare]",
    about: "What comparisons need to know.",
    further: None,
    keys: &[
        key(
            "equivalence",
            Either(&[Share, Table(&EQUIVALENCE)]),
            "How far apart two targets may be and still count as equal [default: 10 % of a figure, 3 points of a share]",
        ),
        key("monthly_requests", Whole, "Requests a month, for the cost of a month"),
    ],
};

/// When two targets count as equal.
pub(crate) static EQUIVALENCE: Shape = Shape {
    header: "equivalence",
    about: "How far apart two targets may be and still count as equal.",
    further: None,
    keys: &[
        key("ratio", Share, "Of a figure [default: 10%]"),
        key("share", Share, "Of a share, in points [default: 3%]"),
    ],
};

/// What the run may use up.
pub(crate) static BUDGET: Shape = Shape {
    header: "[budget]",
    about: "What the run may use up; the first bound that is reached ends it. Under `turns` all targets stop at the same block.",
    further: None,
    keys: &[
        key("requests", Whole, "Requests of all phases"),
        key("tokens", Whole, "Prompt and output tokens of all phases"),
        key(
            "money",
            Amount,
            "US dollars; input and token limit of each request are reserved before it is sent",
        ),
        key("time", Time, "Wall time"),
    ],
};

fn dialects() -> Vec<&'static str> {
    inferometer_wire::Dialect::ALL.iter().map(|dialect| dialect.name()).collect()
}

fn levels() -> Vec<&'static str> {
    Reasoning::LEVELS.map(|(name, _)| name).to_vec()
}

fn connections() -> Vec<&'static str> {
    vec!["reuse", "fresh"]
}

fn arrivals() -> Vec<&'static str> {
    vec!["constant", "poisson", "gamma"]
}

fn interleaves() -> Vec<&'static str> {
    crate::spec::Interleave::NAMES.to_vec()
}

fn caches() -> Vec<&'static str> {
    vec!["bust", "as-is", "warm"]
}

/// The prompts that are compiled in, and the workloads that ship.
fn kinds() -> Vec<&'static str> {
    std::iter::once("builtin").chain(Shipped::ALL.map(Shipped::name)).collect()
}

/// Names of the providers that are known.
pub(crate) fn providers() -> Vec<&'static str> {
    presets().iter().map(|preset| preset.name.as_str()).collect()
}
