//! `demo`: one simulated provider under three loads. No key, no network.

use clap::Args;
use inferometer_plan::{Counts, RunFlags};
use inferometer_sim::{Config, Model, Server};
use inferometer_transport::Environment;

use crate::console::say;
use crate::run::execute;
use crate::{Error, Exit, OutputFlags};

/// Arguments of `demo`.
#[derive(Args, Clone, Debug)]
pub struct DemoCommand {
    /// What becomes of the run.
    #[command(flatten)]
    pub output: OutputFlags,
}

/// Slots of the simulated provider: at 16 requests in flight, half of them wait.
const SLOTS: u32 = 8;
/// The loads.
const CONCURRENCY: [u32; 3] = [1, 4, 16];
/// Requests of each load.
const REQUESTS: u64 = 100;
/// Fixes the provider, the prompts and the schedules.
const SEED: u64 = 1;

/// Measures a simulated provider under three loads.
pub fn demo(command: &DemoCommand, argv: &[String]) -> Result<Exit, Error> {
    let failed = |reason: &dyn ToString| Error::Simulator(reason.to_string());
    let model = Model {
        name: "demo".to_string(),
        ttft: "lognormal(80ms, 0.25) tail 4% 400ms".parse().map_err(|error| failed(&error))?,
        rate: "200".parse().map_err(|error| failed(&error))?,
        tokens: Some(40),
        slots: Some(SLOTS),
        seed: SEED,
        ..Model::default()
    };
    let server = Server::start(Config::single(model)).map_err(|error| failed(&error))?;
    say(&format!(
        "A simulated provider with {SLOTS} slots: first token after 80 ms at the median, in 4 %\n\
         of the answers after 0.4 s; then 200 tokens a second. What it really does:\n\
         {}/truth",
        server.base_url()
    ));
    let flags = RunFlags {
        url: Some(server.base_url()),
        model: Some("demo".to_string()),
        concurrency: Some(Counts(CONCURRENCY.to_vec())),
        requests: Some(REQUESTS),
        warmup: 3,
        price: Some("input=0.5,output=1.5".parse().map_err(|error| failed(&error))?),
        seed: Some(SEED),
        name: Some("demo".to_string()),
        ..RunFlags::default()
    };
    // No proxy stands between this machine and itself.
    execute(&flags.resolve(|_| None, SEED)?, &command.output, argv, Environment::default())
}
