//! `init`: a first plan, from the keys found in the environment.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use inferometer_plan::{found_in, starting_plan};

use crate::console::say;
use crate::{Error, Exit};

/// Arguments of `init`.
#[derive(Args, Clone, Debug)]
pub struct InitCommand {
    /// Where the plan is written; a file that is there already is left as it is
    #[arg(long, value_name = "FILE", default_value = "plan.toml")]
    pub out: PathBuf,
}

/// Writes a commented plan that names the keys of the environment, and holds none.
pub fn init(command: &InitCommand) -> Result<Exit, Error> {
    let env = |name: &str| std::env::var(name).ok();
    let failed = |source| inferometer_plan::Error::Write { path: command.out.clone(), source };
    let mut file = OpenOptions::new().write(true).create_new(true).open(&command.out).map_err(failed)?;
    file.write_all(starting_plan(env).as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
    let found: Vec<&str> = found_in(env).iter().filter_map(|preset| preset.key_env.as_deref()).collect();
    let keys = match found.as_slice() {
        [] => "no provider's key was found, so that it asks a server on this machine".to_string(),
        found => format!("keys found: {}", found.join(", ")),
    };
    let path = command.out.display();
    say(&format!("wrote {path} ({keys})\nname the models in it, then: inferometer run {path} --dry-run"));
    Ok(Exit::Done)
}
