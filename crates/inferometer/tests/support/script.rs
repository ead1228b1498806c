//! A server of others, as one of `scripts/` starts it: it says when it is ready, and ends when it is told to.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// What starting may take: a model to load, a program of some size to import.
const START: Duration = Duration::from_secs(180);

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts").join(name)
}

/// Why what this script starts cannot run here; `INFEROMETER_REAL_SERVER=0`, by its name, says that it shall not.
pub(crate) fn missing(name: &str) -> Option<String> {
    let variable = format!("INFEROMETER_{}", name.replace('-', "_").to_uppercase());
    if std::env::var(&variable).is_ok_and(|wanted| wanted == "0") {
        return Some(format!("{variable} is 0"));
    }
    match Command::new(script(name)).arg("check").output() {
        Ok(checked) if checked.status.success() => None,
        Ok(checked) => Some(String::from_utf8_lossy(&checked.stderr).trim().to_string()),
        Err(error) => Some(format!("scripts/{name} cannot be started (Python 3?): {error}")),
    }
}

/// What a script started, until it is dropped.
pub(crate) struct Started {
    child: Child,
    /// Where it answers, as the script says it.
    pub(crate) url: String,
    pub(crate) model: String,
}

impl Started {
    /// Runs `scripts/NAME run ARGUMENTS` until it says `ready URL model MODEL`.
    pub(crate) fn start(name: &str, arguments: &[&str]) -> Self {
        // The client shares its cores with the server, and must wake when an answer comes.
        let mut command = Command::new("nice");
        command.args(["-n", "19"]).arg(script(name)).arg("run").args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        let (ready, wait) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            BufReader::new(stdout).read_line(&mut line).unwrap();
            ready.send(line).unwrap();
        });
        let line = wait.recv_timeout(START).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["ready", url, "model", model] = words[..] else { panic!("{name} is not ready: {line:?}") };
        Self { child, url: url.to_string(), model: model.to_string() }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended by itself: then there is nobody to tell.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}
