//! A simulated provider in a process of its own, and what it says it did.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use bytes::Bytes;
use http::{HeaderMap, Method, Uri};
use inferometer_clock::Clock;
use inferometer_transport::{self as transport, Client, Request, Sockets, Trace};
use serde::Deserialize;

use crate::Error;

/// A simulator that runs until it is dropped.
pub(super) struct Provider {
    child: Child,
    base: String,
}

/// When the simulator wrote the first event with output, by the id that its answer carried.
pub(super) type FirstWrites = HashMap<String, u64>;

#[derive(Deserialize)]
struct Truth {
    requests: Vec<Record>,
}

#[derive(Deserialize)]
struct Record {
    ordinal: u64,
    first_output_ns: Option<u64>,
}

impl Provider {
    /// Starts a simulator with `flags` on a free port.
    pub(super) fn start(flags: &[&str]) -> Result<Self, Error> {
        let failed = |source| Error::System { doing: "starting a simulator of our own", source };
        let this = std::env::current_exe().map_err(failed)?;
        let mut child = Command::new(this)
            .args(["simulate", "--listen", "127.0.0.1:0"])
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line).map_err(failed)?;
        }
        let base = line.split_whitespace().find(|word| word.starts_with("http://")).map(str::to_string);
        let mut provider = Self { child, base: base.unwrap_or_default() };
        if provider.base.is_empty() {
            let said = format!("it ended before it listened ({:?})", provider.child.try_wait());
            return Err(Error::Simulator(said));
        }
        Ok(provider)
    }

    /// The base URL, as `--url` takes it.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// Asks the simulator what it did.
    pub(super) fn first_writes(&self) -> Result<FirstWrites, Error> {
        let body = get(&format!("{}/truth", self.base.trim_end_matches("/v1")))?;
        let truth: Truth =
            serde_json::from_slice(&body).map_err(|error| Error::Simulator(format!("its truth: {error}")))?;
        let named = |record: Record| Some((format!("sim-{}", record.ordinal), record.first_output_ns?));
        Ok(truth.requests.into_iter().filter_map(named).collect())
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One plain GET, on a runtime of its own.
fn get(url: &str) -> Result<Vec<u8>, Error> {
    let failed = |error: transport::Error| Error::Simulator(error.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::System { doing: "starting a runtime", source })?;
    let path = url.parse::<Uri>().ok().and_then(|uri| uri.path_and_query().cloned());
    let path = path.ok_or_else(|| Error::Simulator(format!("{url} is no address")))?;
    runtime.block_on(async {
        let clock = Clock::monotonic();
        let target = transport::Target::new(url, &transport::Options::default()).map_err(failed)?;
        let client = Client::new(&clock, Sockets::new(&clock), target).map_err(failed)?;
        let request = Request { method: Method::GET, path, headers: HeaderMap::new(), body: Bytes::new() };
        let mut exchange = client.send(request, &Trace::new()).await.map_err(failed)?;
        let mut body = Vec::new();
        while let Some(frame) = exchange.next().await {
            body.extend_from_slice(&frame.map_err(failed)?.data);
        }
        Ok(body)
    })
}
