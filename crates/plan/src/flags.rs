//! What was typed: one table of flags, from which parser and help are made.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use inferometer_metrics::{Condition, Objectives};
use inferometer_price::Price;
use inferometer_wire::Dialect;

use crate::Reasoning;
use crate::value::{Counts, Dollars, Rates, Span, decimal, whole};

/// The flags that describe what is measured. Names are those that people of this field already type.
#[derive(Args, Clone, Debug, Default)]
pub struct RunFlags {
    /// What is measured, as a file; `inferometer init` writes a first one
    #[arg(value_name = "PLAN.toml", conflicts_with_all = AD_HOC)]
    pub plan: Option<PathBuf>,

    /// Base URL of the endpoint: http://h, http://h/v1 or the full address all work
    #[arg(short, long, value_name = "URL", help_heading = "Target")]
    pub url: Option<String>,
    /// Provider that Inferometer knows, in place of --url and --api-key-env: see docs/providers.md
    #[arg(long, value_name = "NAME", help_heading = "Target")]
    pub provider: Option<String>,
    /// Model to ask for
    #[arg(short, long, help_heading = "Target")]
    pub model: Option<String>,
    /// How the endpoint speaks: chat, completions, azure, responses, messages (Anthropic), gemini, bedrock, ollama,
    /// embeddings [default: as the provider does, else chat]
    #[arg(long, alias = "endpoint-type", help_heading = "Target")]
    pub dialect: Option<Dialect>,
    /// Environment variable that holds the API key
    #[arg(long, value_name = "VAR", help_heading = "Target")]
    pub api_key_env: Option<String>,
    /// File that holds the API key; read again where the server refuses it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["api_key_env", "api_key"], help_heading = "Target")]
    pub key_file: Option<PathBuf>,
    /// Command that prints the API key, as text or as JSON {"key": …, "expires_at": …}; run by sh -c, for at most 30 s, and
    /// again before the key expires and where the server refuses it
    #[arg(
        long,
        value_name = "COMMAND",
        conflicts_with_all = ["api_key_env", "api_key", "key_file"],
        help_heading = "Target"
    )]
    pub key_cmd: Option<String>,
    /// The API key itself; other users of the machine can read it in the process list, so prefer --api-key-env
    #[arg(
        long,
        value_name = "KEY",
        hide_env_values = true,
        conflicts_with = "api_key_env",
        help_heading = "Target"
    )]
    pub api_key: Option<String>,
    /// Further header, as 'Name: value'; may be repeated
    #[arg(short = 'H', long = "header", value_name = "HEADER", help_heading = "Target")]
    pub headers: Vec<String>,
    /// JSON object merged into every request body
    #[arg(long, value_name = "JSON", alias = "extra-inputs", help_heading = "Target")]
    pub extra: Option<String>,
    /// How much the model reasons: off, low, medium, high, or a budget in tokens; sent in the provider's words
    #[arg(long, value_name = "LEVEL", help_heading = "Target")]
    pub reasoning: Option<Reasoning>,
    /// US dollars per million tokens, as in input=3,output=15; also cache_read=, cache_write=, reasoning=, and request=
    /// for each request
    #[arg(long, value_name = "PRICE", help_heading = "Target")]
    pub price: Option<Price>,
    /// Ask for whole answers instead of streams
    #[arg(long, help_heading = "Target")]
    pub no_stream: bool,
    /// Do not ask for usage in the stream, for servers that refuse stream_options
    #[arg(long, help_heading = "Target")]
    pub no_stream_options: bool,
    /// Send the token limit as max_completion_tokens
    #[arg(long, help_heading = "Target")]
    pub max_completion_tokens: bool,
    /// Take reasoning out of the content, where the server leaves it there between think tags
    #[arg(long, help_heading = "Target")]
    pub think_tags: bool,

    /// Requests in flight; a list (1,4,16) measures the curve
    #[arg(short, long, value_name = "N,…", help_heading = "Load")]
    pub concurrency: Option<Counts>,
    /// Requests a second, whatever the server does; a list measures the curve
    #[arg(long, value_name = "RATE,…", help_heading = "Load")]
    pub request_rate: Option<Rates>,
    /// Spacing of an open load
    #[arg(long, value_enum, value_name = "HOW", alias = "arrival-pattern", help_heading = "Load")]
    pub arrival: Option<ArrivalFlag>,
    /// Shape of gamma arrivals: 1 is Poisson, below 1 burstier
    #[arg(long, value_name = "SHAPE", alias = "arrival-smoothness", value_parser = decimal, help_heading = "Load")]
    pub burstiness: Option<f64>,
    /// Requests per cell, warm-ups not counted [default: 100, or 4 per slot where that is more]
    #[arg(short = 'n', long, value_name = "N", aliases = ["request-count", "num-prompts"], value_parser = whole::<u64>, help_heading = "Load")]
    pub requests: Option<u64>,
    /// Time per cell, as in 30s or 5m; with --requests, whichever ends first
    #[arg(long, value_name = "TIME", alias = "benchmark-duration", help_heading = "Load")]
    pub duration: Option<Span>,
    /// Time for requests in flight to end once no more start
    #[arg(
        long,
        value_name = "TIME",
        default_value = "30s",
        alias = "benchmark-grace-period",
        help_heading = "Load"
    )]
    pub grace: Option<Span>,
    /// Requests sent first and dropped from the figures
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        alias = "warmup-request-count",
        value_parser = whole::<u64>, help_heading = "Load"
    )]
    pub warmup: u64,
    /// Time over which the slots' first starts are spread [default: 5 ms a slot, at most 1 s]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    pub ramp: Option<Span>,
    /// Wait before a request that would pass a limit which the target's answers told; not with --request-rate
    #[arg(long, help_heading = "Load")]
    pub respect_rate_limits: bool,

    /// Tokens of a prompt, which is generated
    #[arg(long, value_name = "N", value_parser = whole::<u32>, help_heading = "Workload")]
    pub isl: Option<u32>,
    /// Standard deviation of --isl
    #[arg(long, value_name = "SD", requires = "isl", value_parser = decimal, help_heading = "Workload")]
    pub isl_stddev: Option<f64>,
    /// Token limit of an answer, sent as max_tokens
    #[arg(long, value_name = "N", alias = "max-tokens", value_parser = whole::<u32>, help_heading = "Workload")]
    pub osl: Option<u32>,
    /// Standard deviation of --osl
    #[arg(long, value_name = "SD", requires = "osl", value_parser = decimal, help_heading = "Workload")]
    pub osl_stddev: Option<f64>,
    /// Prompts from a file: JSONL with prompt or messages, or ShareGPT JSON
    #[arg(
        long,
        value_name = "FILE",
        alias = "input-file",
        conflicts_with = "isl",
        help_heading = "Workload"
    )]
    pub dataset: Option<PathBuf>,
    /// Sampling temperature
    #[arg(long, value_name = "T", default_value_t = 0.0, value_parser = decimal, help_heading = "Workload")]
    pub temperature: f64,
    /// Prefix caches: bust them with a nonce in each prompt, send prompts as they are, or warm them first
    #[arg(long, value_enum, value_name = "HOW", default_value_t, help_heading = "Workload")]
    pub cache: CacheFlag,
    /// Fixes prompts and schedule [default: a new one, kept in run.json]
    #[arg(long, value_name = "N", alias = "random-seed", value_parser = whole::<u64>, help_heading = "Workload")]
    pub seed: Option<u64>,

    /// Time for a whole request
    #[arg(long, value_name = "TIME", default_value = "300s", help_heading = "Limits")]
    pub timeout: Option<Span>,
    /// Time to connect
    #[arg(long, value_name = "TIME", default_value = "10s", help_heading = "Limits")]
    pub connect_timeout: Option<Span>,
    /// Time to the first token
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    pub first_token_timeout: Option<Span>,
    /// Time without a byte
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    pub idle_timeout: Option<Span>,
    /// Further attempts at a failed request; each is recorded
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u32>, help_heading = "Limits")]
    pub retries: u32,
    /// US dollars that the run may cost: input and token limit of each request are reserved before it is sent
    #[arg(long, value_name = "USD", help_heading = "Limits")]
    pub max_cost: Option<Dollars>,
    /// What a request must meet to count as good, in ms: 'ttft:300 tpot:20 e2el:5000'
    #[arg(long, value_name = "LIMITS", help_heading = "Gates")]
    pub goodput: Option<Objectives>,
    /// Exit 4 where this is so, as in 'ttft_p95>500ms'; may be repeated
    #[arg(long, value_name = "GATE", help_heading = "Gates")]
    pub fail_if: Vec<Condition>,

    /// Keep connections between requests, or open one for each
    #[arg(long, value_enum, value_name = "HOW", default_value_t, help_heading = "Connection")]
    pub connection: ConnectionFlag,
    /// Speak HTTP/2; its stamps are a bound, not exact
    #[arg(long, help_heading = "Connection")]
    pub http2: bool,
    /// Trust the CA in this PEM file as well
    #[arg(long, value_name = "FILE", help_heading = "Connection")]
    pub cacert: Option<PathBuf>,
    /// Do not check certificates; the report says so
    #[arg(long, help_heading = "Connection")]
    pub insecure: bool,

    /// Name of the run
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub name: Option<String>,
    /// Keep prompts and answers, in texts.jsonl beside the samples
    #[arg(long, help_heading = "Output")]
    pub keep_text: bool,
    /// Say what would be sent, what it would cost and what it could not prove; send nothing
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
    /// Go on with an interrupted run: only what is missing in its folder is sent
    #[arg(long, value_name = "DIR", conflicts_with = "dry_run", help_heading = "Output")]
    pub resume: Option<PathBuf>,
}

/// The flags that describe what a plan file describes. Beside a file they would be passed over in silence.
const AD_HOC: [&str; 43] = [
    "url",
    "provider",
    "reasoning",
    "model",
    "dialect",
    "api_key_env",
    "key_file",
    "key_cmd",
    "api_key",
    "headers",
    "extra",
    "price",
    "no_stream",
    "no_stream_options",
    "max_completion_tokens",
    "think_tags",
    "concurrency",
    "request_rate",
    "arrival",
    "burstiness",
    "requests",
    "duration",
    "grace",
    "warmup",
    "ramp",
    "respect_rate_limits",
    "isl",
    "isl_stddev",
    "osl",
    "osl_stddev",
    "dataset",
    "temperature",
    "cache",
    "timeout",
    "connect_timeout",
    "first_token_timeout",
    "idle_timeout",
    "retries",
    "goodput",
    "connection",
    "http2",
    "cacert",
    "insecure",
];

/// `--arrival`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ArrivalFlag {
    /// Evenly spaced
    Constant,
    /// Exponential gaps
    Poisson,
    /// Gamma gaps, see --burstiness
    Gamma,
}

/// `--cache`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CacheFlag {
    /// A nonce in each prompt: no answer comes from a prefix cache
    #[default]
    Bust,
    /// Prompts as they are: caches may serve them
    AsIs,
    /// Prompts as they are, each sent once before it is measured
    Warm,
}

/// `--connection`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ConnectionFlag {
    /// Kept for the next request
    #[default]
    Reuse,
    /// One for each request
    Fresh,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[derive(clap::Parser)]
    struct Typed {
        #[command(flatten)]
        flags: RunFlags,
    }

    /// Each flag either goes together with a plan file or is refused beside it.
    #[test]
    fn what_stands_beside_a_plan_file() {
        let beside = ["plan", "seed", "name", "keep_text", "dry_run", "resume", "max_cost", "fail_if"];
        let command = Typed::command();
        let mut known: Vec<&str> = command.get_arguments().map(|arg| arg.get_id().as_str()).collect();
        let mut listed: Vec<&str> = AD_HOC.into_iter().chain(beside).collect();
        known.sort_unstable();
        listed.sort_unstable();
        assert_eq!(known, listed);
        command.debug_assert();
    }

    #[test]
    fn help_names_every_dialect() {
        let command = Typed::command();
        let dialect = command.get_arguments().find(|arg| arg.get_id() == "dialect").unwrap();
        let help = dialect.get_help().unwrap().to_string();
        for known in Dialect::ALL {
            assert!(help.contains(known.name()), "{}: {help}", known.name());
        }
    }
}
