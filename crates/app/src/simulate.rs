//! `simulate`: a provider whose truth is known.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use inferometer_plan::Span;
use inferometer_sim::{Config, Distribution, Model, Server, config::Rate};

use crate::{Error, Exit, console};

/// Arguments of `simulate`.
#[derive(Args, Clone, Debug)]
pub struct SimulateCommand {
    /// What is simulated, in TOML; without it, the flags below describe one model
    #[arg(value_name = "SIM.toml")]
    pub config: Option<PathBuf>,
    /// Address to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// Name of the model
    #[arg(long, default_value = "sim")]
    pub model: String,
    /// Time to first token: 50ms, lognormal(200ms, 0.4), or a body with a tail: 'lognormal(200ms, 0.4) tail 5% 2s'
    #[arg(long, value_name = "LAW", default_value = "50ms")]
    pub ttft: Distribution,
    /// Further time to first token for each input token
    #[arg(long, value_name = "TIME", default_value = "0ms")]
    pub prefill_per_token: Span,
    /// Output tokens a second of one stream, or flood
    #[arg(long, value_name = "RATE", default_value = "100")]
    pub rate: Rate,
    /// Output tokens of an answer [default: the request's limit, else 100]
    #[arg(long, value_name = "N")]
    pub tokens: Option<u32>,
    /// Reasoning tokens before the answer
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub reasoning_tokens: u32,
    /// Requests served at once; others wait in a queue
    #[arg(long, value_name = "N")]
    pub slots: Option<u32>,
    /// Fixes every draw
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}

/// Serves until the process ends.
pub fn simulate(command: &SimulateCommand) -> Result<Exit, Error> {
    let config = config(command)?;
    let listen = config.listen;
    let server = Server::start(config).map_err(|source| Error::Simulator(format!("{listen}: {source}")))?;
    console::print(&format!("listening on {}/v1 (truth at {0}/truth)\n", server.base_url()))?;
    server.join();
    Ok(Exit::Done)
}

fn config(command: &SimulateCommand) -> Result<Config, Error> {
    if let Some(path) = &command.config {
        let bad = |reason: &dyn ToString| Error::Simulation {
            path: path.display().to_string(),
            reason: reason.to_string(),
        };
        let text = std::fs::read_to_string(path).map_err(|error| bad(&error))?;
        return Config::from_toml(&text).map_err(|error| bad(&error));
    }
    let model = Model {
        name: command.model.clone(),
        ttft: command.ttft,
        prefill_per_token: command.prefill_per_token.0,
        rate: command.rate,
        tokens: command.tokens,
        reasoning_tokens: command.reasoning_tokens.into(),
        slots: command.slots,
        seed: command.seed,
        ..Model::default()
    };
    Ok(Config { listen: command.listen, ..Config::single(model) })
}
