//! A real llama.cpp server, as `scripts/real-server` starts it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// What loading the model may take.
const START: Duration = Duration::from_secs(120);

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/real-server")
}

/// Why the server cannot run here.
pub(crate) fn missing() -> Option<String> {
    if std::env::var("INFEROMETER_REAL_SERVER").is_ok_and(|wanted| wanted == "0") {
        return Some("INFEROMETER_REAL_SERVER is 0".to_string());
    }
    match Command::new(script()).arg("check").output() {
        Ok(checked) if checked.status.success() => None,
        Ok(checked) => Some(String::from_utf8_lossy(&checked.stderr).trim().to_string()),
        Err(error) => Some(format!("scripts/real-server cannot be started (Python 3?): {error}")),
    }
}

/// The server, until it is dropped.
pub(crate) struct RealServer {
    child: Child,
    /// `127.0.0.1:PORT`.
    pub(crate) host: String,
    pub(crate) model: String,
    pub(crate) dir: TempDir,
}

impl RealServer {
    /// A server of `slots` requests at once on `threads` threads.
    pub(crate) fn start(slots: u32, threads: u32) -> Self {
        // The client shares its cores with the server, and must wake when an answer comes.
        let mut command = Command::new("nice");
        command.args(["-n", "19"]).arg(script());
        command.args([
            "run",
            "--port",
            "0",
            "--slots",
            &slots.to_string(),
            "--threads",
            &threads.to_string(),
        ]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
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
        let ["ready", url, "model", model] = words[..] else { panic!("not ready: {line:?}") };
        let host = url.trim_start_matches("http://").trim_end_matches("/v1").to_string();
        Self { child, host, model: model.to_string(), dir: tempfile::tempdir().unwrap() }
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        // It may have ended by itself: then there is nobody to tell.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}
