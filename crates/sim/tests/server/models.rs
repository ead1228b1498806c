//! Models with a timing law.

use std::time::Duration;

use inferometer_sim::Record;
use inferometer_sim::truth::End;

use crate::client::{Client, chat_body, records, rest, server, together};

#[test]
fn a_stream_comes_in_its_order_and_at_its_times() {
    let server = server(
        r#"
        [[model]]
        name = "m"
        ttft = "60ms"
        rate = 50
        reasoning_tokens = 2
        tokens = 3
        "#,
    );
    let answer = Client::new(&server).chat("m", r#","stream_options":{"include_usage":true}"#);
    assert_eq!((answer.status(), answer.complete), (200, true));
    let events = answer.events();
    let deltas: Vec<_> = events.iter().filter_map(|event| event.split_once("\"delta\":")).collect();
    let deltas: Vec<_> = deltas.iter().map(|(_, delta)| delta.split_once('}').unwrap().0).collect();
    assert_eq!(
        deltas,
        [
            r#"{"role":"assistant","content":"""#,
            r#"{"reasoning_content":" north""#,
            r#"{"reasoning_content":" by""#,
            r#"{"content":" north""#,
            r#"{"content":" by""#,
            r#"{"content":" west""#,
            "{",
        ]
    );
    assert!(
        events[7].contains(r#""usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8"#),
        "{}",
        events[7]
    );
    assert_eq!(events[8], "[DONE]");

    let record = &records(&server, 1)[0];
    assert_eq!((record.sent_tokens, record.output_tokens, record.writes_us.len()), (5, Some(5), 9));
    let planned_first = record.planned_first_ns.unwrap();
    assert_eq!(planned_first, record.read_ns + 60_000_000);
    assert_eq!(record.planned_last_ns, Some(planned_first + 80_000_000));
    assert!(record.first_output_ns >= record.planned_first_ns);
    assert!(record.first_answer_ns.unwrap() >= planned_first + 40_000_000);
    assert!(record.last_output_ns >= record.planned_last_ns);
}

#[test]
fn both_endpoints_answer_streamed_and_not() {
    let server = server("[[model]]\nname = \"m\"\nttft = \"1ms\"\nrate = \"flood\"\n");
    let mut client = Client::new(&server);
    let chat = client.ask("POST", "/v1/chat/completions", &chat_body("m", "a", "").replace("true", "false"));
    assert_eq!(chat.json()["usage"]["completion_tokens"], 100);
    let body = r#"{"model":"m","prompt":"a b","stream":true,"max_tokens":4}"#;
    let streamed = client.ask("POST", "/v1/completions", body);
    assert!(streamed.events()[0].contains(r#""text":" north""#));
    assert!(streamed.events()[4].contains(r#""finish_reason":"length""#));
    let whole = client.ask("POST", "/gw/openai/v1/completions", &body.replace("true", "false"));
    assert_eq!(whole.json()["choices"][0]["text"], " north by west lies");
    let records = records(&server, 3);
    assert!(records.iter().all(|record| record.connection == 1));
    assert_eq!(records[2].connection_request, 3);
}

#[test]
fn slots_are_taken_in_turn_and_the_queue_has_its_length() {
    let server = server("[[model]]\nname = \"m\"\nttft = \"60ms\"\nrate = \"flood\"\nslots = 2\nqueue = 4\n");
    let records = together(&server, "m", 8);
    let (done, refused): (Vec<_>, Vec<_>) = records.iter().partition(|record| record.status == 200);
    assert_eq!((done.len(), refused.len()), (6, 2));
    assert!(refused.iter().all(|record| record.status == 429));
    let mut starts: Vec<_> = done.iter().map(|record| (record.ordinal, record.slot_ns.unwrap())).collect();
    starts.sort_unstable();
    assert!(starts.is_sorted_by_key(|(_, start)| *start), "first in, first out: {starts:?}");
    for (waiting, ended) in starts[2..].iter().zip(&done) {
        assert!(waiting.1 + 1_000_000 >= ended.last_output_ns.unwrap(), "no more than two at once");
    }
    let waited = done.iter().filter(|record| record.slot_ns.unwrap() - record.read_ns > 50_000_000).count();
    assert_eq!(waited, 4);
    // Refusals are over at once: whether one overlapped with the six is a matter of microseconds.
    assert!((6..=8).contains(&server.truth().counters.peak_concurrent));
}

#[test]
fn faults_have_their_shares_and_are_drawn_again_the_same() {
    let toml = r#"
        [[model]]
        name = "m"
        ttft = "lognormal(2ms, 0.5)"
        rate = "flood"
        tokens = 4
        fault = [
            { kind = "http", share = "25%", status = 503, retry_after = "2" },
            { kind = "reset", share = 0.25, after_tokens = 2 },
            { kind = "empty", share = 0.25 },
        ]
        "#;
    let faults = || -> Vec<_> {
        let server = server(toml);
        let mut records = together(&server, "m", 200);
        records.sort_unstable_by_key(|record| record.nth);
        let drawn = |record: &Record| {
            let planned = record.planned_first_ns.map(|at| at - record.slot_ns.unwrap());
            (record.fault.clone(), record.status, record.end, record.sent_tokens, planned)
        };
        records.iter().map(drawn).collect()
    };
    let first = faults();
    let count = |fault: Option<&str>, status, end, tokens| {
        let same = |draw: &&(Option<String>, u16, End, u64, Option<u64>)| {
            (draw.0.as_deref(), draw.1, draw.2, draw.3) == (fault, status, end, tokens)
        };
        let n = first.iter().filter(same).count();
        assert!((30..70).contains(&n), "{fault:?}: {n} of 200");
        n
    };
    let counted = count(Some("http"), 503, End::Finished, 0)
        + count(Some("reset"), 200, End::Reset, 2)
        + count(Some("empty"), 200, End::Finished, 0)
        + count(None, 200, End::Finished, 4);
    assert_eq!(counted, 200);
    assert_eq!(first, faults(), "draws depend on the seed and the ordinal only");
}

#[test]
fn each_fault_breaks_off_where_it_says() {
    let check = |kind: &str, sent: u64, end: End, text: &str| {
        let server = server(&format!(
            "[[model]]\nname = \"m\"\nttft = \"1ms\"\nrate = 1000\ntokens = 5\nreasoning_tokens = 2\n\
             fault = [{{ kind = \"{kind}\", share = 1, after_tokens = 3 }}]\n"
        ));
        let mut client = Client::new(&server);
        if kind == "hang" {
            client.tcp.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        }
        let answer = client.chat("m", "");
        drop(client);
        let record = &records(&server, 1)[0];
        assert_eq!((record.sent_tokens, record.end), (sent, end), "{kind}");
        assert_eq!(answer.complete, end == End::Finished, "{kind}");
        assert!(answer.text().contains(text), "{kind}: {}", answer.text());
        assert_eq!(answer.text().contains("[DONE]"), ["stream_error", "malformed", "empty"].contains(&kind));
    };
    check("stream_error", 3, End::Finished, "engine stopped");
    check("reset", 3, End::Reset, " north");
    check("cut", 3, End::Cut, " north");
    check("truncate", 3, End::Finished, " north");
    check("hang", 3, End::ClientClosed, " north");
    check("malformed", 7, End::Finished, "conte\n\n");
    check("empty", 0, End::Finished, "stop");
}

#[test]
fn prefill_and_chunks_have_their_time() {
    let server = server(
        "[[model]]\nname = \"m\"\nttft = \"10ms\"\nprefill_per_token = \"20ms\"\nrate = 100\ntokens = 7\n\
         tokens_per_chunk = 3\nrunning_usage = true\n",
    );
    let answer = Client::new(&server).chat("m", "");
    let running: Vec<_> = answer
        .events()
        .iter()
        .filter_map(|event| {
            let (_, count) = event.split_once("\"completion_tokens\":")?;
            count.split_once(',').map(|(count, _)| count.to_owned())
        })
        .collect();
    assert_eq!(running, ["0", "3", "6", "7", "7", "7"]);
    let record = &records(&server, 1)[0];
    assert_eq!(record.input_tokens, 3);
    assert_eq!(record.planned_first_ns, Some(record.read_ns + 70_000_000));
    assert_eq!(record.planned_last_ns, Some(record.read_ns + 130_000_000));
}

#[test]
fn a_head_may_come_early() {
    let server = server("[[model]]\nname = \"m\"\nttft = \"80ms\"\nearly_head = true\ntokens = 1\n");
    assert!(Client::new(&server).chat("m", "").complete);
    let record = &records(&server, 1)[0];
    assert!(record.answered_ns.unwrap() + 40_000_000 < record.first_write_ns.unwrap());
}

#[test]
fn a_frozen_model_answers_when_it_thaws() {
    let server = server(
        "[[model]]\nname = \"m\"\nttft = \"10ms\"\nrate = \"flood\"\nfrozen = [{ from = \"100ms\", until = \"300ms\" }]\n",
    );
    let mut client = Client::new(&server);
    client.chat("m", "");
    rest(Duration::from_millis(120));
    client.chat("m", "");
    client.chat("m", "");
    let records = records(&server, 3);
    let since_start = |i: usize| {
        let at = records[i].planned_first_ns.unwrap() - records[0].read_ns;
        assert!(records[i].first_output_ns >= records[i].planned_first_ns);
        Duration::from_nanos(at).as_millis()
    };
    assert_eq!(since_start(0), 10);
    assert_eq!(since_start(1), 310);
    assert!(since_start(2) > 310);
}

#[test]
fn a_flood_is_whole_and_shares_its_writes() {
    let server = server("[[model]]\nname = \"m\"\nttft = \"1ms\"\nrate = \"flood\"\ntokens = 20000\n");
    let answer = Client::new(&server).chat("m", "");
    assert!(answer.complete);
    assert_eq!(answer.text().matches("\"content\":\" ").count(), 20_000 - 20_000 / 32 * 4);
    let record = &records(&server, 1)[0];
    assert_eq!((record.sent_tokens, record.writes_us.len()), (20_000, 20_003));
}

#[test]
fn two_thousand_streams_at_once() {
    let server = server("[[model]]\nname = \"m\"\nttft = \"800ms\"\nrate = 10\ntokens = 4\n");
    let records = together(&server, "m", 2_000);
    assert_eq!(server.truth().counters.peak_concurrent, 2_000);
    assert!(records.iter().all(|record| record.sent_tokens == 4 && record.end == End::Finished));
}
