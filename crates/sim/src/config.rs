//! What a simulated provider is told to be.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::answers::Tasks;
use crate::cold::Cold;
use crate::distribution::{Count, Distribution};
use crate::limit::Limit;
use crate::price::Price;
use crate::slots::Scale;
use crate::units;

/// A configuration that cannot be used: what is wrong, and where.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Not TOML, an unknown key, or a value out of its type; shows the line.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// Values that do not go together.
    #[error("{0}")]
    Invalid(String),
}

/// A simulated provider: where it listens, how it treats connections, and its models.
///
/// In TOML, unknown keys are errors and times carry their unit:
///
/// ```
/// let config = inferometer_sim::Config::from_toml(r#"
///     default_model = "fast"
///     [[model]]
///     name = "fast"
///     ttft = "lognormal(80ms, 0.2) tail 2% 900ms"
///     rate = 120
///     slots = 8
///     [[model.fault]]
///     kind = "http"
///     share = "5%"
///     status = 429
///     retry_after = "1"
/// "#)?;
/// assert_eq!(config.models[0].slots, Some(8));
/// # Ok::<(), inferometer_sim::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The model that answers where a request names none.
    pub default_model: String,
    /// What happens to a connection after an answer.
    pub connection: Connection,
    /// How long a kept connection may rest before the server closes it (W73). None: for ever.
    #[serde(deserialize_with = "units::some_duration")]
    pub keep_alive_idle: Option<Duration>,
    /// Prefixes under which `/v1/…` is served (C37).
    pub prefixes: Vec<String>,
    /// The key that a request must show, where its dialect shows it; without it the answer is a 401.
    pub require_key: Option<String>,
    /// The key changes after so many requests that showed it: `KEY-1`, then `KEY-2`, and so on, `KEY` being `require_key`.
    /// None: it does not change.
    pub key_requests: Option<u64>,
    /// Serve TLS with this certificate.
    pub tls: Option<Tls>,
    /// Keep the stamp of every write, not only of the first and the last.
    pub record_writes: bool,
    /// Models with a timing law.
    #[serde(rename = "model")]
    pub models: Vec<Model>,
    /// Scripts with a name of their own.
    #[serde(rename = "scenario")]
    pub scenarios: Vec<Scenario>,
    /// Recorded answers, to be served again.
    #[serde(rename = "capture")]
    pub captures: Vec<Capture>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            default_model: Model::default().name,
            connection: Connection::KeepAlive,
            keep_alive_idle: None,
            prefixes: vec![String::new(), "/gw/openai".into()],
            require_key: None,
            key_requests: None,
            tls: None,
            record_writes: true,
            models: vec![Model::default()],
            scenarios: Vec::new(),
            captures: Vec::new(),
        }
    }
}

/// What happens to a connection after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Connection {
    /// Kept for the next request.
    KeepAlive,
    /// Announced as closing, and closed.
    Close,
    /// Announced as kept, and closed after every streamed answer, as llama.cpp's server does.
    CloseAfterStream,
}

/// Paths of the certificate chain and its key, both PEM.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The certificate chain, leaf first.
    pub cert: PathBuf,
    /// The leaf's private key.
    pub key: PathBuf,
}

/// A script with a name of its own; its grammar is in [`crate::script`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The model name that asks for it.
    pub name: String,
    /// The script.
    pub script: String,
}

/// A recorded HTTP answer: its head, a blank line, its body without chunk framing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// The model name that asks for it.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Time between its events.
    #[serde(default, deserialize_with = "units::duration")]
    pub gap: Duration,
}

/// A model with a timing law. `/truth` tells it in the same form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Model {
    /// The name a request asks by.
    pub name: String,
    /// Time from the start of work (the slot) to the first token, before prefill.
    pub ttft: Distribution,
    /// Added to the first token's time for each input token.
    #[serde(with = "units::text")]
    pub prefill_per_token: Duration,
    /// How fast tokens follow the first.
    pub rate: Rate,
    /// Answer tokens when the request sets no limit, and the most there are when it does. None: the request's limit,
    /// else [`DEFAULT_TOKENS`].
    pub tokens: Option<u32>,
    /// Reasoning tokens that come before the answer, and count against the request's limit: a limit that they reach
    /// leaves an empty answer.
    pub reasoning_tokens: Count,
    /// Tokens in one event.
    pub tokens_per_chunk: u32,
    /// Send the head of a streamed answer when its work begins, not with its first event.
    pub early_head: bool,
    /// Open a chat stream with an event that only names the role (W01).
    pub role_opener: bool,
    /// Running usage in every event (W31), whether asked for or not.
    pub running_usage: bool,
    /// Requests worked on at once; more wait first in, first out. None: no limit.
    pub slots: Option<u32>,
    /// Slots whose number follows the demand, in place of `slots`.
    pub scale: Option<Scale>,
    /// Requests that may wait for a slot; more are refused with 429. None: no limit.
    pub queue: Option<u32>,
    /// What a request costs that comes after a rest. None: nothing.
    pub cold: Option<Cold>,
    /// How many requests are let in. None: all.
    pub limit: Option<Limit>,
    /// The prompts that it answers, rightly or wrongly. None: its answers say nothing.
    pub tasks: Option<Tasks>,
    /// Share of right answers to the prompts of `tasks`, 0..=1, drawn for each request.
    #[serde(deserialize_with = "units::share")]
    pub accuracy: f64,
    /// What it costs.
    pub price: Option<Price>,
    /// Seeds every draw: those of a request depend on this and on its ordinal within the model, on nothing else.
    pub seed: u64,
    /// Refuse this many first tries of each prompt with 429 (C39).
    pub retry_429_times: u32,
    /// The `Retry-After` of those refusals.
    pub retry_after: String,
    /// Request fields that are refused with 400 (W35).
    pub refuse: Vec<String>,
    /// What goes wrong, and how often.
    #[serde(rename = "fault")]
    pub faults: Vec<Fault>,
    /// Spans in which the model stands still, counted from its first request (C22).
    pub frozen: Vec<Freeze>,
}

/// Answer tokens where neither model nor request says how many.
pub const DEFAULT_TOKENS: u32 = 100;

/// The most tokens of one answer.
pub const MAX_TOKENS: u32 = 250_000;

impl Default for Model {
    fn default() -> Self {
        Self {
            name: "sim".into(),
            ttft: Distribution::constant(Duration::from_millis(50)),
            prefill_per_token: Duration::ZERO,
            rate: Rate::PerSecond(100.0),
            tokens: None,
            reasoning_tokens: Count::Fixed(0),
            tokens_per_chunk: 1,
            early_head: false,
            role_opener: true,
            running_usage: false,
            slots: None,
            scale: None,
            queue: None,
            cold: None,
            limit: None,
            tasks: None,
            accuracy: 1.0,
            price: None,
            seed: 0,
            retry_429_times: 0,
            retry_after: "1".into(),
            refuse: Vec::new(),
            faults: Vec::new(),
            frozen: Vec::new(),
        }
    }
}

/// How fast tokens follow one another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// Tokens per second.
    PerSecond(f64),
    /// As fast as the socket takes them, many events in a write. Written `flood`.
    Flood,
}

impl std::str::FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "flood" => Ok(Self::Flood),
            number => number.parse().map_err(|_| String::new()).and_then(Self::per_second).map_err(|_| {
                format!("`{number}` is not a rate: write tokens per second above 0 and up to a million, or `flood`")
            }),
        }
    }
}

impl Rate {
    fn per_second(rate: f64) -> Result<Self, String> {
        if rate > 0.0 && rate <= 1e6 {
            Ok(Self::PerSecond(rate))
        } else {
            Err(format!("{rate} tokens per second is not above 0 and up to a million"))
        }
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        units::number_or_text(from, "tokens per second, or \"flood\"", Self::per_second, str::parse)
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::PerSecond(rate) => to.serialize_f64(*rate),
            Self::Flood => to.serialize_str("flood"),
        }
    }
}

/// Something that goes wrong with a share of the requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// With which share of the requests, 0..=1.
    #[serde(deserialize_with = "units::share")]
    pub share: f64,
    /// After how many tokens, for the kinds that break an answer off.
    #[serde(default)]
    pub after_tokens: u32,
    /// The status of `http`; 500 unless said.
    #[serde(default = "internal_error")]
    pub status: u16,
    /// The `Retry-After` header of `http`.
    #[serde(default)]
    pub retry_after: Option<String>,
}

fn internal_error() -> u16 {
    500
}

/// The kinds of [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// Refused with an HTTP status.
    Http,
    /// An error object in the stream, then `[DONE]` (W49).
    StreamError,
    /// The connection is reset.
    Reset,
    /// The body ends cleanly without a terminal event (W43).
    Truncate,
    /// The connection closes in the middle of the body (W76).
    Cut,
    /// Nothing comes any more, and the connection stays open.
    Hang,
    /// One event that is not JSON; the answer goes on (W56).
    Malformed,
    /// A complete answer without a single token (C05).
    Empty,
}

impl FaultKind {
    /// The name in `/truth`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::StreamError => "stream_error",
            Self::Reset => "reset",
            Self::Truncate => "truncate",
            Self::Cut => "cut",
            Self::Hang => "hang",
            Self::Malformed => "malformed",
            Self::Empty => "empty",
        }
    }
}

/// A span in which a model stands still: what was due inside comes as much later as the span had left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Freeze {
    /// From, counted from the moment the model's first request was read.
    #[serde(with = "units::text")]
    pub from: Duration,
    /// Until.
    #[serde(with = "units::text")]
    pub until: Duration,
}

impl Config {
    /// One model under its own name, which also answers requests that name none.
    pub fn single(model: Model) -> Self {
        Self { default_model: model.name.clone(), models: vec![model], ..Self::default() }
    }

    /// Reads a configuration. An unknown key, unit or value is an error that names its line.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        let config: Self = toml::from_str(text)?;
        config.check()?;
        Ok(config)
    }

    /// Whether the values go together.
    pub fn check(&self) -> Result<(), ConfigError> {
        for model in &self.models {
            model.check().map_err(|what| ConfigError::Invalid(format!("model `{}`: {what}", model.name)))?;
        }
        let mut seen = std::collections::HashSet::new();
        let scenarios = self.scenarios.iter().map(|scenario| &scenario.name);
        let captures = self.captures.iter().map(|capture| &capture.name);
        let mut names = self.models.iter().map(|model| &model.name).chain(scenarios).chain(captures);
        if let Some(twice) = names.find(|name| !seen.insert(*name)) {
            return Err(ConfigError::Invalid(format!("the name `{twice}` is there twice")));
        }
        for scenario in &self.scenarios {
            crate::script::Script::parse(&scenario.script)
                .map_err(|error| ConfigError::Invalid(format!("scenario `{}`: {error}", scenario.name)))?;
        }
        Ok(())
    }
}

impl Model {
    fn check(&self) -> Result<(), String> {
        let tokens = u64::from(self.tokens.unwrap_or(0)) + u64::from(self.reasoning_tokens.median());
        if self.name.is_empty() {
            return Err("has no name".into());
        }
        if tokens > u64::from(MAX_TOKENS) {
            return Err(format!("{tokens} tokens are more than {MAX_TOKENS}"));
        }
        if self.tokens_per_chunk == 0 {
            return Err("`tokens_per_chunk` must be at least 1".into());
        }
        if self.slots == Some(0) {
            return Err("`slots` must be at least 1".into());
        }
        if self.slots.is_some() && self.scale.is_some() {
            return Err("has `slots` and `scale`: say one of them".into());
        }
        self.scale.map_or(Ok(()), Scale::check)?;
        self.limit.map_or(Ok(()), Limit::check)?;
        self.price.map_or(Ok(()), Price::check)?;
        self.tasks.as_ref().map_or(Ok(()), Tasks::check)?;
        let share: f64 = self.faults.iter().map(|fault| fault.share).sum();
        if share > 1.0 + 1e-9 {
            return Err(format!("the shares of its faults add up to {share}, more than 1"));
        }
        if let Some(freeze) = self.frozen.iter().find(|freeze| freeze.until < freeze.from) {
            return Err(format!("frozen from {:?} until {:?}, which is earlier", freeze.from, freeze.until));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_line_and_what_is_wrong() {
        let check = |toml: &str, parts: &[&str]| {
            let error = Config::from_toml(toml).unwrap_err().to_string();
            for part in parts {
                assert!(error.contains(part), "{toml}: {error}");
            }
        };
        check("listen = \"127.0.0.1:0\"\nlisten_on = 1", &["line 2", "listen_on"]);
        check("[[model]]\nname = \"m\"\nttft = \"50\"", &["line 3", "`50` is not a time", "50ms"]);
        check("[[model]]\nttft = 50", &["line 2"]);
        check("[[model]]\nrate = 0", &["line 2", "not above 0"]);
        check("[[model]]\nrate = \"fast\"", &["line 2", "flood"]);
        check("[[model]]\n[[model.fault]]\nkind = \"flood\"", &["line 3", "stream_error"]);
        check("[[model]]\n[[model.fault]]\nkind = \"hang\"\nshare = \"200%\"", &["line 4", "not a share"]);
        check("connection = \"open\"", &["line 1", "keep_alive"]);
        check("[[model]]\n[[model]]", &["`sim` is there twice"]);
        check("[[model]]\nslots = 0", &["`sim`", "slots"]);
        let scale = "scale = {from = 2, to = 1, delay = \"1s\", down_after = \"1s\"}";
        check(&format!("[[model]]\n{scale}"), &["from 2 to 1"]);
        check(&format!("[[model]]\nslots = 1\n{scale}"), &["say one of them"]);
        check("[[model]]\ncold = {after = \"4s\", law = \"1\"}", &["line 2", "`1` is not a time"]);
        check("[[model]]\nlimit = {requests_per_s = 5, burst = 0}", &["lets nothing in"]);
        check("[[model]]\naccuracy = 1.5", &["line 2", "not a share"]);
        check("[[model]]\nprice = {input = -1, output = 1}", &["a price of -1"]);
        check("[[model]]\ntasks = {kinds = [], seed = 1}", &["names no workload"]);
        check("[[model]]\ntasks = {kinds = [\"chess\"], seed = 1}", &["line 2", "chess"]);
        check("[[model]]\nreasoning_tokens = \"many\"", &["line 2", "`many` is not a number of tokens"]);
        check("[[model]]\ntokens_per_chunk = 0", &["tokens_per_chunk"]);
        check("[[model]]\ntokens = 2000000", &["more than 250000"]);
        check(
            "[[model]]\nfault = [{kind = \"hang\", share = 0.7}, {kind = \"cut\", share = 0.7}]",
            &["add up to 1.4"],
        );
        check("[[scenario]]\nname = \"x\"\nscript = \"50 rolle\"", &["`x`", "character 4"]);
    }

    #[test]
    fn a_model_is_told_in_the_form_that_it_was_given_in() {
        let toml = r#"
            [[model]]
            ttft = "lognormal(80ms, 0.2) tail 2% 900ms"
            prefill_per_token = "50us"
            rate = "flood"
            reasoning_tokens = "lognormal(300, 0.5)"
            scale = { from = 2, to = 8, delay = "2s", down_after = "10s" }
            cold = { after = "4s", law = "constant(1s)" }
            limit = { requests_per_s = 5, burst = 10 }
            tasks = { kinds = ["chat", "tools"], seed = 7 }
            accuracy = "95%"
            price = { input = 0.15, output = 0.6, reported = true }
            fault = [{ kind = "http", share = "4%", status = 503, retry_after = "1" }]
            frozen = [{ from = "3s", until = "5s" }]
            "#;
        let model = Config::from_toml(toml).unwrap().models.remove(0);
        let told = serde_json::to_string(&model).unwrap();
        assert!(told.contains(r#""ttft":"lognormal(80ms, 0.2) tail 2% 900ms""#), "{told}");
        assert!(told.contains(r#""cold":{"after":"4s","law":"1s"}"#), "{told}");
        assert_eq!(serde_json::from_str::<Model>(&told).unwrap(), model);
    }

    #[test]
    fn what_is_not_said_has_its_default() {
        let config = Config::from_toml("[[model]]\nname = \"m\"\nrate = 12.5").unwrap();
        let model = Model { name: "m".into(), rate: Rate::PerSecond(12.5), ..Model::default() };
        assert_eq!(config, Config { models: vec![model], ..Config::default() });
        assert_eq!(Config::from_toml("").unwrap(), Config::default());
    }
}
