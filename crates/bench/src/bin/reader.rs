//! The bare reader: the floor under the client's processor time and arrival stamps.
//!
//! It opens the same connections and sends the same request as `inferometer run --concurrency N` does, on one
//! current-thread runtime over plain sockets, and looks only for the ends of events. What it costs is what receiving
//! costs; what the client costs above it is the client's own.
//!
//! It prints one JSON line: requests, events, and the time to the first event by its own stamps. Its processor time
//! is read from outside (`benches/run` waits for both programs with `wait4`), so that both are measured alike.
#![expect(clippy::print_stdout, reason = "a program whose output is its result")]

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use clap::Parser;
use inferometer_bench::rank_ms;
use inferometer_clock::{Clock, Mono};
use memchr::memmem;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Reads streams and looks only for the ends of events.
#[derive(Parser)]
struct Args {
    /// Host and port, without a scheme.
    #[arg(long)]
    address: String,
    /// The model to ask for.
    #[arg(long)]
    model: String,
    /// Connections, each with one request at a time.
    #[arg(long)]
    concurrency: usize,
    /// Requests in all.
    #[arg(long)]
    requests: usize,
    /// Tokens to ask for.
    #[arg(long)]
    osl: u32,
    /// Over how long the first starts are spread, in milliseconds.
    #[arg(long, default_value_t = 0)]
    ramp_ms: u64,
    /// Writes a line of stamps for each request: id, sent_ns, events_ns.
    #[arg(long)]
    stamps: Option<PathBuf>,
}

/// One read takes at most this much.
const READ_BYTES: usize = 8 * 1024;
/// The end of a chunked body, with the end of the chunk before it.
const BODY_END: &[u8] = b"\r\n0\r\n\r\n";
/// Bytes kept from one read to the next, so that an end cut in two is seen.
const CARRY: usize = BODY_END.len() - 1;

/// What all connections share; one thread, so cells suffice.
struct Shared {
    clock: Clock,
    request: Vec<u8>,
    left: Cell<usize>,
    events: Cell<usize>,
    first_ns: RefCell<Vec<u64>>,
    stamps: Option<RefCell<BufWriter<File>>>,
}

/// What one answer showed.
#[derive(Default)]
struct Seen {
    id: Option<String>,
    events_ns: Vec<u64>,
    first: Option<Mono>,
}

fn main() -> io::Result<()> {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let shared = Rc::new(Shared {
        clock: Clock::monotonic(),
        request: request(&args),
        left: Cell::new(args.requests),
        events: Cell::new(0),
        first_ns: RefCell::new(Vec::with_capacity(args.requests)),
        stamps: args.stamps.as_ref().map(File::create).transpose()?.map(BufWriter::new).map(RefCell::new),
    });
    tokio::task::LocalSet::new().block_on(&runtime, read_all(&args, &shared))?;
    if let Some(stamps) = &shared.stamps {
        stamps.borrow_mut().flush()?;
    }
    println!("{}", summary(&shared));
    Ok(())
}

fn request(args: &Args) -> Vec<u8> {
    let body = json!({
        "model": args.model,
        "messages": [{ "role": "user", "content": "Say something about the sea." }],
        "stream": true,
        "stream_options": { "include_usage": true },
        "max_tokens": args.osl,
    })
    .to_string();
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
         accept: text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
        args.address,
        body.len(),
    )
    .into_bytes()
}

async fn read_all(args: &Args, shared: &Rc<Shared>) -> io::Result<()> {
    let gap = Duration::from_millis(args.ramp_ms) / args.concurrency.max(1) as u32;
    let started = shared.clock.now();
    let mut connections = Vec::with_capacity(args.concurrency);
    for index in 0..args.concurrency {
        let (shared, address) = (Rc::clone(shared), args.address.clone());
        connections.push(tokio::task::spawn_local(async move {
            shared.clock.sleep_until(started + gap * index as u32).await;
            ask_until_none_are_left(&shared, &address).await
        }));
    }
    for connection in connections {
        connection.await??;
    }
    Ok(())
}

async fn ask_until_none_are_left(shared: &Shared, address: &str) -> io::Result<()> {
    let mut socket = TcpStream::connect(address).await?;
    socket.set_nodelay(true)?;
    let mut buffer = vec![0; CARRY + READ_BYTES];
    while let Some(left) = shared.left.get().checked_sub(1) {
        shared.left.set(left);
        let sent = shared.clock.now();
        socket.write_all(&shared.request).await?;
        let seen = read_answer(shared, &mut socket, &mut buffer).await?;
        shared.keep(sent, &seen)?;
    }
    Ok(())
}

/// Reads to the end of the chunked body. The first [`CARRY`] bytes of the buffer are the last of the read before.
async fn read_answer(shared: &Shared, socket: &mut TcpStream, buffer: &mut [u8]) -> io::Result<Seen> {
    let mut seen = Seen::default();
    buffer[..CARRY].fill(b' ');
    loop {
        let read = socket.read(&mut buffer[CARRY..]).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let now = shared.clock.now();
        let bytes = &buffer[..CARRY + read];
        if seen.id.is_none() && shared.stamps.is_some() {
            seen.id = Some(request_id(bytes));
        }
        // An end of two line feeds that was cut in two starts with the last byte carried.
        for _ in memmem::find_iter(&bytes[CARRY - 1..], b"\n\n") {
            shared.events.set(shared.events.get() + 1);
            seen.first.get_or_insert(now);
            if shared.stamps.is_some() {
                seen.events_ns.push(now.as_nanos());
            }
        }
        if bytes.ends_with(BODY_END) {
            return Ok(seen);
        }
        buffer.copy_within(read..CARRY + read, 0);
    }
}

/// The value of `x-request-id` in the bytes of a head; empty where there is none.
fn request_id(head: &[u8]) -> String {
    let head = String::from_utf8_lossy(head);
    let value = head.lines().find_map(|line| line.strip_prefix("x-request-id: "));
    value.unwrap_or_default().to_owned()
}

impl Shared {
    fn keep(&self, sent: Mono, seen: &Seen) -> io::Result<()> {
        if let Some(first) = seen.first {
            self.first_ns.borrow_mut().push((first - sent).as_nanos() as u64);
        }
        let Some(stamps) = &self.stamps else { return Ok(()) };
        let line = json!({ "id": seen.id, "sent_ns": sent.as_nanos(), "events_ns": seen.events_ns });
        writeln!(stamps.borrow_mut(), "{line}")
    }
}

fn summary(shared: &Shared) -> serde_json::Value {
    let mut first_ns = shared.first_ns.borrow_mut();
    first_ns.sort_unstable();
    json!({
        "requests": first_ns.len(),
        "events": shared.events.get(),
        "ttft_p50_ms": rank_ms(&first_ns, 0.50),
        "ttft_p99_ms": rank_ms(&first_ns, 0.99),
    })
}
