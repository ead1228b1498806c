//! The bare pacer: the floor under the client's schedule lag. It waits for planned instants and does nothing else.
#![expect(clippy::print_stdout, reason = "a program whose output is its result")]

use std::io;
use std::time::Duration;

use clap::Parser;
use inferometer_bench::rank_ms;
use inferometer_clock::{Clock, Pacer};
use serde_json::json;

/// Waits for instants at a constant rate and tells how late it woke.
#[derive(Parser)]
struct Args {
    /// Instants a second.
    #[arg(long)]
    rate: u32,
    /// For how long.
    #[arg(long)]
    seconds: u32,
}

fn main() -> io::Result<()> {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut late_ns = runtime.block_on(lateness(&args))?;
    late_ns.sort_unstable();
    println!("{}", json!({ "p50": rank_ms(&late_ns, 0.50), "p99": rank_ms(&late_ns, 0.99) }));
    Ok(())
}

async fn lateness(args: &Args) -> io::Result<Vec<u64>> {
    let clock = Clock::monotonic();
    let mut pacer = Pacer::new(&clock)?;
    let gap = Duration::from_secs(1) / args.rate.max(1);
    let mut planned = clock.now();
    let mut late_ns = Vec::new();
    for _ in 0..args.rate * args.seconds {
        planned = planned + gap;
        pacer.wait_until(planned).await?;
        late_ns.push((clock.now() - planned).as_nanos() as u64);
    }
    Ok(late_ns)
}
