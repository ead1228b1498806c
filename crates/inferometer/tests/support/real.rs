//! A real llama.cpp server, as `scripts/real-server` starts it.

use tempfile::TempDir;

use crate::script::Started;

/// The server, until it is dropped.
pub(crate) struct RealServer {
    _started: Started,
    /// `127.0.0.1:PORT`.
    pub(crate) host: String,
    pub(crate) model: String,
    pub(crate) dir: TempDir,
}

impl RealServer {
    /// A server of `slots` requests at once on `threads` threads.
    pub(crate) fn start(slots: u32, threads: u32) -> Self {
        Self::with(slots, threads, &[])
    }

    /// The same with further arguments of the script.
    pub(crate) fn with(slots: u32, threads: u32, more: &[&str]) -> Self {
        let (slots, threads) = (slots.to_string(), threads.to_string());
        let arguments = ["--port", "0", "--slots", &slots, "--threads", &threads];
        let started = Started::start("real-server", &[&arguments, more].concat());
        let host = started.url.trim_start_matches("http://").trim_end_matches("/v1").to_string();
        let model = started.model.clone();
        Self { _started: started, host, model, dir: tempfile::tempdir().unwrap() }
    }
}
