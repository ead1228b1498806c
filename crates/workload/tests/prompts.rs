//! Prompts as a run gets them, through the public interface.
#![expect(clippy::expect_used, reason = "a test ends where its set-up fails")]

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use inferometer_tokens::Tokenizer;
use inferometer_wire::request::Prompt;
use inferometer_workload::{Cache, Error, Item, Lengths, Note, Prompts, Shipped, Source};
use proptest::prelude::*;

fn synthetic(mean: u32, stddev: f64) -> Source {
    Source::Synthetic { input: Lengths { mean, stddev }, output: Some(Lengths { mean: 64, stddev: 16.0 }) }
}

fn builtin() -> Source {
    Source::Builtin { output: None }
}

fn prepared(source: &Source, seed: u64, run_id: &str, cache: Cache) -> Prompts {
    Prompts::prepare(source, Some(100), seed, run_id, cache).expect("prepared")
}

fn text(item: &Item) -> String {
    item.prompt.text().into_owned()
}

fn texts(prompts: &Prompts, seqs: impl IntoIterator<Item = u64>) -> Vec<String> {
    seqs.into_iter().map(|seq| text(&prompts.item(seq, seq))).collect()
}

/// A file with this content; it goes when the folder goes.
fn dataset(content: &[u8]) -> (tempfile::TempDir, Source) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.jsonl");
    std::fs::File::create(&path).and_then(|mut file| file.write_all(content)).expect("written");
    (folder, Source::Dataset { path, output: None })
}

fn refused(content: &[u8]) -> String {
    let (_folder, source) = dataset(content);
    Prompts::prepare(&source, Some(10), 1, "run", Cache::Bust).expect_err("refused").to_string()
}

#[test]
fn s03_no_prompt_repeats_within_a_run_or_across_runs() {
    let (_folder, file) =
        dataset(b"{\"prompt\":\"one\"}\n{\"messages\":[{\"role\":\"user\",\"content\":\"two\"}]}\n");
    for source in [builtin(), synthetic(4, 0.0), synthetic(200, 50.0), file] {
        let first = prepared(&source, 1, "run-a", Cache::Bust);
        let second = prepared(&source, 1, "run-b", Cache::Bust);
        let seen: HashSet<String> = texts(&first, 0..100).into_iter().chain(texts(&second, 0..100)).collect();
        assert_eq!(seen.len(), 200, "{source:?}");
        let openings: HashSet<String> = seen.iter().map(|text| text.chars().take(12).collect()).collect();
        assert!(openings.len() > 150, "{source:?}: the difference is in front");
    }
}

#[test]
fn the_same_seed_and_run_give_the_same_prompts_in_any_order() {
    for source in [builtin(), synthetic(80, 30.0)] {
        let forward = texts(&prepared(&source, 9, "run", Cache::Bust), 0..50);
        let mut backward = texts(&prepared(&source, 9, "run", Cache::Bust), (0..50).rev());
        backward.reverse();
        assert_eq!(forward, backward);
    }
    let limits = |run| {
        (0..50)
            .map(|seq| prepared(&synthetic(8, 0.0), 9, run, Cache::Bust).item(seq, seq).max_tokens)
            .collect()
    };
    let (a, b): (Vec<_>, Vec<_>) = (limits("a"), limits("b"));
    assert_eq!(a, b, "lengths depend on the seed alone");
    assert!(a.iter().collect::<HashSet<_>>().len() > 10);
}

#[test]
fn as_is_prompts_carry_no_nonce() {
    let as_is = |run| prepared(&builtin(), 1, run, Cache::AsIs);
    assert_eq!(texts(&as_is("a"), 0..36), texts(&as_is("b"), 0..36));
    assert!(text(&as_is("a").item(0, 0)).starts_with("Explain in three sentences"));
    assert_eq!(as_is("a").item(0, 0).id, "builtin-01");
    let generated = |run| texts(&prepared(&synthetic(50, 5.0), 1, run, Cache::AsIs), 0..20);
    assert_eq!(generated("a"), generated("b"));
}

#[test]
fn generated_prompts_have_their_drawn_length() {
    let tokenizer = Tokenizer::o200k();
    let prompts = prepared(&synthetic(550, 0.0), 4, "run", Cache::Bust);
    assert!(texts(&prompts, 0..100).iter().all(|text| tokenizer.count(text) == 550));
    let varied = texts(&prepared(&synthetic(550, 150.0), 4, "run", Cache::Bust), 0..100);
    let lengths: Vec<u64> = varied.iter().map(|text| tokenizer.count(text)).collect();
    let mean = lengths.iter().sum::<u64>() / 100;
    assert!((490..610).contains(&mean), "{mean}");
    assert!(lengths.iter().collect::<HashSet<_>>().len() > 50);
    assert_eq!((prompts.distinct(), prompts.notes()), (None, &[][..]));
}

#[test]
fn datasets_bring_ids_and_limits_and_cycle_aloud() {
    let lines = "\u{feff}{\"prompt\":\"one\",\"id\":\"a\",\"max_tokens\":5}\r\n\r\n{\"messages\":[{\"role\":\"system\",\"content\":\"two\"}]}\r\n";
    let (_folder, source) = dataset(lines.as_bytes());
    let prompts = prepared(&source, 1, "run", Cache::Bust);
    let item = |seq| {
        let item = prompts.item(seq, seq);
        (item.id.clone(), item.max_tokens, text(&item).split_once("]\n\n").map(|(_, text)| text.to_owned()))
    };
    assert_eq!(item(0), ("a".into(), Some(5), Some("one".into())));
    assert_eq!(item(1), ("item-2".into(), None, Some("two".into())));
    assert_eq!(item(0), item(2));
    assert_ne!(text(&prompts.item(0, 0)), text(&prompts.item(2, 2)), "each time behind another nonce");
    assert!(matches!(prompts.item(1, 1).prompt, Prompt::Raw(_)));
    let cycled = Note::Cycled { prompts: 2, requests: Some(100), cache: Cache::Bust };
    assert_eq!((prompts.notes(), prompts.distinct()), (&[cycled][..], Some(2)));
    let enough = Prompts::prepare(&source, Some(2), 1, "run", Cache::Bust).expect("prepared");
    assert_eq!(enough.notes(), []);
}

#[test]
fn datasets_bring_checks_and_parameters() {
    let line = r#"{"prompt":"one","checks":[{"contains":"x"},"not_empty"],"tools":[]}"#;
    let (_folder, source) = dataset(format!("{line}\n{{\"prompt\":\"two\"}}\n").as_bytes());
    let prompts = prepared(&source, 1, "run", Cache::Bust);
    let (with, without) = (prompts.item(0, 0), prompts.item(1, 1));
    let check = serde_json::to_string(with.grader.expect("a check").check()).expect("JSON");
    assert_eq!(check, r#"{"all":[{"contains":"x"},"not_empty"]}"#);
    assert_eq!(with.parameters.keys().collect::<Vec<_>>(), ["tools"]);
    assert!(without.grader.is_none() && without.parameters.is_empty());
    let said = refused(
        b"{\"prompt\":\"x\"}\n{\"prompt\":\"y\",\"check\":{\"json_schema\":{\"type\":\"strnig\"}}}\n",
    );
    assert!(said.contains("data.jsonl, line 2: the check cannot run"), "{said}");
}

#[test]
fn shipped_tasks_are_the_same_in_every_run_but_for_their_nonce() {
    for kind in Shipped::ALL {
        let source = Source::Shipped { kind, input: None, output: Some(Lengths { mean: 64, stddev: 16.0 }) };
        let item = |run, cache| prepared(&source, 5, run, cache).item(3, 40);
        let (plain, one, other) = (item("a", Cache::AsIs), item("a", Cache::Bust), item("b", Cache::Bust));
        assert_eq!(plain.id, format!("{kind}-4"));
        assert_ne!(text(&one), text(&other));
        for item in [one, other] {
            let text = text(&item);
            assert_eq!(text.split_once("]\n\n").map(|(_, rest)| rest), Some(&*plain.prompt.text()));
            assert_eq!(item.max_tokens, plain.max_tokens);
        }
        assert!(plain.grader.is_some() && plain.max_tokens.is_some());
    }
}

#[test]
fn bad_datasets_say_line_why_and_remedy() {
    let check = |content: &[u8], parts: &[&str]| {
        let said = refused(content);
        for part in parts {
            assert!(said.contains(part), "{said} lacks {part}");
        }
    };
    check(
        b"{\"prompt\":\"x\"}\n{\"prompt\":\n",
        &["data.jsonl, line 2: EOF while parsing", "{\"prompt\": \"…\"}"],
    );
    check(b"{\"prompt\":\"x\"}\r\n\r\n{\"promt\":\"y\"}", &["line 3: no prompt", "messages"]);
    check(b"{\"prompt\":\"\xc3\x28\"}", &["line 1: not UTF-8 at byte 12", "save the file as UTF-8"]);
    check(b"", &["is empty", "{\"prompt\": \"…\"}"]);
    check(b"\xef\xbb\xbf\r\n \n", &["is empty"]);
    check(b"[]", &["is empty"]);
    check(
        b"[{\"conversations\":[{\"from\":\"gpt\",\"value\":\"x\"}]}]",
        &["no conversation in which a human speaks"],
    );
    check(b"[\n{\"prompt\":\"x\"},\n{\"prompt\":7}\n]", &["line 3: invalid type"]);
    let missing = Source::Dataset { path: PathBuf::from("no/such/file.jsonl"), output: None };
    let error = Prompts::prepare(&missing, None, 1, "run", Cache::Bust).expect_err("missing");
    assert!(
        matches!(error, Error::Open { .. }) && error.to_string().contains("no/such/file.jsonl"),
        "{error}"
    );
    let folder = Source::Dataset { path: std::env::temp_dir(), output: None };
    assert!(Prompts::prepare(&folder, None, 1, "run", Cache::Bust).is_err());
}

#[test]
fn lines_behind_those_used_are_not_looked_at() {
    let mut content = String::new();
    for n in 0..10 {
        writeln!(content, "{{\"prompt\":\"{n}\"}}").expect("written");
    }
    content.push_str("broken");
    let (_folder, source) = dataset(content.as_bytes());
    assert_eq!(
        Prompts::prepare(&source, Some(10), 1, "run", Cache::AsIs).expect("prepared").distinct(),
        Some(10)
    );
    assert!(Prompts::prepare(&source, Some(11), 1, "run", Cache::AsIs).is_err());
}

#[test]
fn impossible_lengths_are_refused() {
    let output = Some(Lengths { mean: 0, stddev: 0.0 });
    for source in [synthetic(0, 0.0), synthetic(5, -1.0), Source::Builtin { output }] {
        let error = Prompts::prepare(&source, None, 1, "run", Cache::Bust).expect_err("refused");
        assert!(matches!(error, Error::Lengths { .. }), "{error}");
    }
}

#[test]
fn prompts_are_shared_between_threads() {
    let prompts = prepared(&synthetic(100, 20.0), 1, "run", Cache::Bust);
    let expected = texts(&prompts, 0..64);
    let shards: Vec<_> = (0..4)
        .map(|_| {
            let prompts = prompts.clone();
            std::thread::spawn(move || texts(&prompts, 0..64))
        })
        .collect();
    for shard in shards {
        assert_eq!(shard.join().expect("joined"), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_request_of_any_run_has_its_tokens(seed: u64, run in "\\PC{0,20}", seq: u64, mean in 1_u32..400) {
        let text = text(&prepared(&synthetic(mean, 0.0), seed, &run, Cache::Bust).item(seq, seq));
        prop_assert_eq!(Tokenizer::o200k().count(&text), u64::from(mean));
    }
}
