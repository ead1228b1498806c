//! A simulated provider, and command lines against it.

use std::path::Path;
use std::time::Duration;

use inferometer_sim::{Config, Model, Running, Server, Truth};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Ended, inferometer};

/// What the server may take to notice that its client is gone.
const SETTLE: Duration = Duration::from_secs(5);

/// A provider whose truth is known, and a folder to work in.
pub(crate) struct Bench {
    pub(crate) server: Running,
    pub(crate) dir: TempDir,
}

impl Bench {
    /// A provider of one quick model, `sim`.
    pub(crate) fn new() -> Self {
        Self::with(Config { models: vec![quick("sim")], ..Config::default() })
    }

    pub(crate) fn with(config: Config) -> Self {
        Self { server: Server::start(config).unwrap(), dir: tempfile::tempdir().unwrap() }
    }

    /// A run against `model`; further arguments stand between blanks.
    pub(crate) fn run(&self, model: &str, arguments: &str) -> Ended {
        self.command(&["--model", model], arguments)
    }

    /// A run with arguments that hold blanks themselves.
    pub(crate) fn command(&self, first: &[&str], arguments: &str) -> Ended {
        let mut command = inferometer(self.dir.path());
        command
            .args(["run", "--url", &self.server.base_url()])
            .args(first)
            .args(arguments.split_whitespace());
        command.output().unwrap().into()
    }

    /// What the server has seen, once nothing is under way.
    pub(crate) fn truth(&self) -> Truth {
        self.server.settled(SETTLE)
    }
}

/// A model that answers at once.
pub(crate) fn quick(name: &str) -> Model {
    Model {
        name: name.to_string(),
        ttft: "1ms".parse().unwrap(),
        rate: "2000".parse().unwrap(),
        tokens: Some(3),
        ..Model::default()
    }
}

/// The lines of a JSONL file.
#[track_caller]
pub(crate) fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A JSON file.
#[track_caller]
pub(crate) fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}
