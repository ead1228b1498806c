//! The binary: arguments in, exit status out.

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use inferometer_app::{self as app, Error, Exit};

/// Measures LLM inference the way production feels it
#[derive(Parser)]
#[command(name = "inferometer", version, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Decide between four simulated providers: no key, no network
    Demo(app::DemoCommand),
    /// Measure an endpoint
    Run(Box<app::RunCommand>),
    /// Make the report of a run again, from its folder
    Report(app::ReportCommand),
    /// Show, import and compare books of prices
    Prices(app::PricesCommand),
    /// List who serves a model, at what price and declared precision
    Discover(app::DiscoverCommand),
    /// Write a first plan from the keys found in the environment
    Init(app::InitCommand),
    /// Serve a simulated provider whose truth is known
    Simulate(Box<app::SimulateCommand>),
    /// Measure how well this machine can measure
    SelfCheck(app::SelfCheckCommand),
}

/// What writes Parquet; a build without it (`--no-default-features`) is quicker to make.
#[cfg(feature = "parquet")]
const PARQUET: Option<app::ParquetWriter> = Some(|recording, out| {
    inferometer_parquet::export_parquet(recording, out).map_err(|error| error.to_string())
});
#[cfg(not(feature = "parquet"))]
const PARQUET: Option<app::ParquetWriter> = None;

fn main() -> ExitCode {
    app::forbid_core_dumps();
    // For the manifest only: clap reads the arguments itself, and some are paths that need not be UTF-8.
    let argv: Vec<String> = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let exit = execute(parse().command, &argv).unwrap_or_else(|error| fail(&error));
    ExitCode::from(exit.code())
}

/// What was typed; a bad command line ends here, with clap's message and status 2.
fn parse() -> Cli {
    // A number below zero is a bad value and no unknown flag: its message then says what would be right.
    let negative = |arg: clap::Arg| {
        let takes_values = arg.get_action().takes_values();
        if takes_values { arg.allow_negative_numbers(true) } else { arg }
    };
    let command = Cli::command().mut_subcommands(|command| command.mut_args(negative));
    Cli::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit())
}

fn execute(command: Command, argv: &[String]) -> Result<Exit, Error> {
    match command {
        Command::Demo(mut command) => {
            command.output.parquet_writer = PARQUET;
            app::demo(&command, argv)
        }
        Command::Run(mut command) => {
            command.output.parquet_writer = PARQUET;
            app::run(&command, argv)
        }
        Command::Report(command) => app::report(&command, PARQUET),
        Command::Prices(command) => app::prices(&command),
        Command::Discover(command) => app::discover(&command),
        Command::Init(command) => app::init(&command),
        Command::Simulate(command) => app::simulate(&command),
        Command::SelfCheck(command) => app::self_check(&command),
    }
}

/// The one place where an error becomes a message.
fn fail(error: &Error) -> Exit {
    app::say(&format!("inferometer: {error}"));
    error.exit()
}
