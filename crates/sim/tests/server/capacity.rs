//! What a model has room for: cold starts, slots that come late, limits.

use std::time::Duration;

use inferometer_sim::Record;

use crate::client::{Client, rest, server, together};

/// How late a write may come on a machine that is busy with other tests.
const LATE: u64 = 200_000_000;

#[test]
fn the_first_request_after_a_rest_waits_for_the_start() {
    let server = server(
        "[[model]]\nname = \"m\"\nttft = \"10ms\"\nrate = \"flood\"\ncold = { after = \"300ms\", law = \"150ms\" }\n",
    );
    let mut client = Client::new(&server);
    client.chat("m", "");
    client.chat("m", "");
    rest(Duration::from_millis(320));
    client.chat("m", "");
    let records = server.settled(Duration::from_secs(9)).requests;
    let cold: Vec<_> = records.iter().map(|record| record.cold_ns).collect();
    assert_eq!(cold, [Some(150_000_000), None, Some(150_000_000)]);
    for record in &records {
        let planned = record.planned_first_ns.unwrap();
        assert_eq!(planned, record.read_ns + record.cold_ns.unwrap_or(0) + 10_000_000);
        assert!(record.first_output_ns.unwrap() < planned + LATE);
    }
}

#[test]
fn all_of_a_burst_wait_for_one_start() {
    let server = server(
        "[[model]]\nname = \"m\"\nttft = \"10ms\"\nrate = \"flood\"\ncold = { after = \"9s\", law = \"150ms\" }\n",
    );
    let records = together(&server, "m", 6);
    let starts: Vec<u64> = records.iter().map(|record| record.read_ns + record.cold_ns.unwrap()).collect();
    assert!(starts.iter().all(|start| *start == starts[0]), "{starts:?}");
}

#[test]
fn a_tenth_of_a_burst_is_refused_and_told_when_to_come_again() {
    let server = server(
        "[[model]]\nname = \"m\"\nttft = \"1ms\"\nrate = \"flood\"\nlimit = { requests_per_s = 2, burst = 18 }\n",
    );
    let records = together(&server, "m", 20);
    let refused: Vec<&Record> = records.iter().filter(|record| record.status == 429).collect();
    assert_eq!(refused.len(), 2);
    assert!(refused.iter().all(|record| record.fault.as_deref() == Some("limit")));
    let answer = Client::new(&server).chat("m", "");
    assert_eq!(answer.status(), 429);
    for part in [
        "retry-after: 1\r\n",
        "x-ratelimit-limit-requests: 18\r\n",
        "x-ratelimit-remaining-requests: 0\r\n",
        "x-ratelimit-reset-requests: ",
    ] {
        assert!(answer.head.contains(part), "{part}: {}", answer.head);
    }
    rest(Duration::from_millis(600));
    let answer = Client::new(&server).chat("m", "");
    assert_eq!(answer.status(), 200);
    assert!(answer.head.contains("x-ratelimit-remaining-requests: 0\r\n"), "{}", answer.head);
}

#[test]
fn slots_come_late_and_the_records_tell_them() {
    let server = server(
        "[[model]]\nname = \"m\"\nttft = \"100ms\"\nrate = \"flood\"\n\
         scale = { from = 1, to = 8, delay = \"150ms\", down_after = \"30s\" }\n",
    );
    let mut records = together(&server, "m", 5);
    records.sort_unstable_by_key(|record| record.slot_ns);
    let slots: Vec<_> = records.iter().map(|record| record.slots.unwrap()).collect();
    assert_eq!(slots, [1, 1, 8, 8, 8]);
    let waited: Vec<_> = records.iter().map(|record| record.slot_ns.unwrap() - records[0].read_ns).collect();
    for (waited, least) in waited.iter().zip([0, 100_000_000, 150_000_000, 150_000_000, 150_000_000]) {
        assert!((least..least + LATE).contains(waited), "{waited} ns, at least {least}");
    }
}

#[test]
fn the_truth_tells_what_is_planted() {
    let server = server(
        "[[model]]\nname = \"m\"\ncold = { after = \"4s\", law = \"1s\" }\nprice = { input = 0.1, output = 0.4 }\n",
    );
    let truth = Client::new(&server).ask("GET", "/truth", "").json();
    let model = &truth["models"][0];
    assert_eq!((model["name"].as_str(), model["cold"]["law"].as_str()), (Some("m"), Some("1s")));
    assert_eq!(model["price"]["output"], 0.4);
}
