//! The runner as it runs in earnest: threads, sockets, real time; against a few lines of server.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use inferometer_clock::Clock;
use inferometer_plan::{Arrival, Blocks, Counts, Plan, RunFlags, Target};
use inferometer_record::{Phase, Sample, Status};
use inferometer_transport::Environment;
use inferometer_workload::{Cache, Prompts, Source};

use super::closed;
use super::stage::{Kept, count};
use crate::{Control, Lane, Runner};

const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 132\r\n\r\n\
    {\"choices\":[{\"index\":0,\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}],\
    \"usage\":{\"prompt_tokens\":7,\"completion_tokens\":1}}        ";

/// Answers every request on every connection at once; the address.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(|| serve(stream));
        }
    });
    format!("http://{address}/v1")
}

fn serve(mut stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
            if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
                length = value.trim().parse().ok()?;
            }
            if line == "\r\n" {
                break;
            }
        }
        reader.read_exact(&mut vec![0; length]).ok()?;
        stream.write_all(ANSWER.as_bytes()).ok()?;
    }
}

fn plan(arrival: Arrival) -> Plan {
    let flags = RunFlags {
        url: Some(server()),
        model: Some("m".to_string()),
        concurrency: Some(Counts(vec![1])),
        no_stream: true,
        ..RunFlags::default()
    };
    let mut plan = flags.resolve(|_| None, 1).unwrap();
    (plan.loads[0].arrival, plan.loads[0].stop, plan.protocol.warmup) = (arrival, count(20), 3);
    let target = plan.targets.remove(0);
    plan.targets = ["a", "b", "c"].map(|name| Target { name: name.to_string(), ..target.clone() }).into();
    plan
}

#[test]
fn lanes_run_on_threads_and_sockets() {
    let burst = Arrival::Burst { size: 5, rest: Duration::from_millis(5) };
    let cold = Arrival::ColdStart { gap: Duration::from_millis(1) };
    let by_hand =
        [(closed(1), false, 20), (closed(4), true, 20), (closed(4), false, 20), (burst, false, 20 * 8)];
    for (arrival, together, least) in by_hand.into_iter().chain([(cold, true, 80)]) {
        let plan = plan(arrival.clone());
        let prompts =
            Prompts::prepare(&Source::Builtin { output: None }, None, 1, "test", Cache::Bust).unwrap();
        let origin = Clock::monotonic().now();
        let mut runner = Runner::new(&plan, "test", origin, Environment::default(), Control::default());
        let (mut sink, lanes): (_, Vec<_>) =
            (Kept::default(), plan.cells().map(|cell| Lane::new(cell, &prompts)).collect());
        for lane in &lanes {
            runner.preflight(lane.cell, &prompts, &mut sink).unwrap();
        }
        let (slice, patience) = (Duration::from_secs(10), Duration::from_secs(30));
        let blocks = Blocks { order_seed: 1, slice, max_lag: 3, together, patience };
        let contexts = runner.measure_blocks(&lanes, &blocks, &mut sink).unwrap();
        let of = |phase| sink.0.iter().filter(move |sample: &&Sample| sample.phase == phase);
        assert_eq!((of(Phase::Preflight).count(), of(Phase::Warmup).count()), (3, 9), "{arrival}");
        let measured = of(Phase::Measure).count();
        assert!(measured >= 3 * least && (matches!(arrival, Arrival::Burst { .. }) || measured == 3 * least));
        assert!(sink.0.iter().all(|sample| sample.status == Status::Ok && sample.is_final), "{arrival}");
        let ids: BTreeSet<u64> = sink.0.iter().map(|sample| sample.request).collect();
        assert_eq!(ids.len(), sink.0.len(), "{arrival}");
        assert!(contexts.iter().all(|cell| cell.window.is_some() && cell.missing == 0 && cell.gap.is_none()));
        assert_eq!(runner.live().ended(), sink.0.len() as u64);
        assert!(lanes.iter().all(|lane| lane.live.ended() as usize >= least + 3));
    }
}
