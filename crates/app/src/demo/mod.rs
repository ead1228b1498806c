//! `demo`: four simulated providers, three models each, with known faults, measured and decided between. No key, no
//! network.

mod providers;
pub mod truth;

use std::path::Path;

use clap::Args;
use inferometer_plan::Plan;
use inferometer_transport::Environment;

pub use providers::Providers;

use crate::console::{print, say};
use crate::run::execute;
use crate::{Error, Exit, OutputFlags};

/// Arguments of `demo`.
#[derive(Args, Clone, Debug)]
pub struct DemoCommand {
    /// Fixes the providers, the prompts and the schedules
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print the plan and stop: its targets are gone by then
    #[arg(long)]
    pub print_plan: bool,
    /// What becomes of the run.
    #[command(flatten)]
    pub output: OutputFlags,
}

/// What the plan is called where errors name it.
const PLAN_PATH: &str = "demo.toml";

/// What is about to happen, and what there is to find.
const STORY: &str = "\
Four simulated providers serve three models; nothing leaves this machine, and it takes a little over a minute. What
is planted, for the report to find:
  aurora    steady; charges more for heron-70b than its price list says
  borealis  a fine median, and 12 % of the first tokens late
  cirrus    quick, but for the 4 % of its requests that it fails
  dune      a cold start of 1 s after 4 s of rest, and 2 of 20 refused that come at once
  owl-r1    thinks before it answers, and mostly does not get to the answer within 256 tokens
No provider is the fastest for every model. What they really do:";

/// Measures the simulated providers and decides between them.
pub fn demo(command: &DemoCommand, argv: &[String]) -> Result<Exit, Error> {
    let providers = Providers::start(command.seed)?;
    let text = providers.plan();
    if command.print_plan {
        print(&text)?;
        return Ok(Exit::Done);
    }
    say(STORY);
    for (provider, address) in providers.addresses() {
        say(&format!("  {address}/truth  {provider}"));
    }
    let plan = Plan::from_toml(&text, Path::new(PLAN_PATH), |_| None, command.seed, None)?;
    // Whether they can be reached is no question, and who fails on purpose may fail the first request too.
    let output = OutputFlags { no_preflight: true, ..command.output.clone() };
    // No proxy stands between this machine and itself.
    execute(&plan, &output, argv, Environment::default())
}
