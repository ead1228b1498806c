//! The tasks of all kinds, held to what is said of them.

use std::collections::HashSet;

use inferometer_judge::{Expect, Grader, Parameters, Verdict, judge};
use inferometer_tokens::Tokenizer;
use inferometer_wire::{Answer, Decoder, Dialect, End, Head};
use serde_json::{Value, json};

use super::*;
use crate::{Cache, Prompts, Source};

/// The answer of a server that says this.
fn answered(reply: &Reply) -> Answer {
    let message = match reply {
        Reply::Text(text) => json!({"content": text}),
        Reply::ToolCall { name, arguments } => {
            json!({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}]})
        }
    };
    let finish_reason = if matches!(reply, Reply::Text(_)) { "stop" } else { "tool_calls" };
    let body =
        json!({"choices": [{"index": 0, "message": message, "finish_reason": finish_reason}]}).to_string();
    let head = Head { status: 200, content_type: Some("application/json"), streaming: false };
    let mut decoder = Decoder::new(Dialect::Chat, head);
    decoder.feed(body.as_bytes(), &mut |_| {});
    decoder.finish(End::Eof, &mut |_| {})
}

/// Short inputs where a kind lets them be stated, so that the tests are quick.
fn input(kind: Shipped) -> Option<Lengths> {
    kind.takes_input().then_some(Lengths { mean: 700, stddev: 60.0 })
}

/// The first `count` tasks of each of the first `seeds` seeds.
fn drawn(kind: Shipped, seeds: u64, count: u64) -> impl Iterator<Item = (u64, u64, Task)> {
    (0..seeds).flat_map(move |seed| {
        let tasks = Tasks::new(kind, seed, input(kind));
        (0..count).map(move |seq| (seed, seq, tasks.task(seq)))
    })
}

fn text(task: &Task) -> String {
    task.asked.clone().prompt("").text().into_owned()
}

#[test]
fn right_answers_pass_and_wrong_ones_fail() {
    for kind in Shipped::ALL {
        for (seed, seq, task) in drawn(kind, 6, 40) {
            let grader = Grader::new(task.check.clone()).expect("a check that runs");
            let grade = |reply: &Reply| grader.grade(&answered(reply));
            let right = grade(&task.right);
            assert_eq!(right.passed, Some(true), "{kind} {seed} {seq}: {right:?}\n{task:?}");
            for useless in ["", "I am sorry, I cannot help with that."] {
                let grade = grade(&Reply::Text(useless.to_owned()));
                assert_ne!(grade.passed, Some(true), "{kind} {seed} {seq}: {useless}");
            }
            let wrong = grade(&task.wrong);
            assert_eq!(wrong.passed, Some(false), "{kind} {seed} {seq}: {task:?}");
        }
    }
}

#[test]
fn right_answers_leave_nothing_to_object_to() {
    for kind in Shipped::ALL {
        for (seed, seq, task) in drawn(kind, 3, 40) {
            let grader = Grader::new(task.check.clone()).expect("a check that runs");
            let expect = Expect {
                max_tokens: Some(kind.default_max_tokens()),
                prompt: &text(&task),
                parameters: Parameters { prompt: Some(&task.parameters), target: None },
                grader: Some(&grader),
                ..Expect::default()
            };
            let judgement = judge(&answered(&task.right), &expect);
            assert_eq!(judgement.verdict, Verdict::Valid, "{kind} {seed} {seq}: {judgement:?}\n{task:?}");
            let judgement = judge(&answered(&task.wrong), &expect);
            assert_eq!(judgement.grade, Some(false), "{kind} {seed} {seq}: {judgement:?}\n{task:?}");
        }
    }
}

#[test]
fn no_two_prompts_are_the_same() {
    for kind in Shipped::ALL {
        let seen: HashSet<String> = drawn(kind, 5, 200).map(|(_, _, task)| text(&task)).collect();
        assert!(seen.len() >= 998, "{kind}: {} different of 1000", seen.len());
    }
}

#[test]
fn lengths_are_as_stated() {
    let tokenizer = Tokenizer::o200k();
    for kind in [Shipped::Rag, Shipped::ChatLong, Shipped::Summarise] {
        for mean in [512, 1_000, 1_001, 1_002, 1_003, 4_096, 32_768] {
            let tasks = Tasks::new(kind, 9, Some(Lengths { mean, stddev: 0.0 }));
            for seq in 0..3 {
                let text = text(&tasks.task(seq));
                assert_eq!(tokenizer.count(&text), u64::from(mean), "{kind}: {text:.3000}");
            }
        }
    }
    let rag = Tasks::new(Shipped::Rag, 1, None);
    let rag: Vec<u64> = (0..12).map(|seq| tokenizer.count(&text(&rag.task(seq)))).collect();
    assert!(rag.iter().all(|tokens| (4_096..=32_768).contains(tokens)), "{rag:?}");
    assert!(rag.iter().collect::<HashSet<_>>().len() > 6);
    for kind in Shipped::ALL.into_iter().filter(|kind| !kind.takes_input()) {
        let longest = drawn(kind, 1, 100).map(|(_, _, task)| tokenizer.count(&text(&task))).max();
        assert!(longest < Some(400), "{kind}: {longest:?}");
    }
}

#[test]
fn right_answers_fit_the_default_budget() {
    let tokenizer = Tokenizer::o200k();
    for kind in Shipped::ALL {
        let tokens = |reply: Reply| match reply {
            Reply::Text(text) => tokenizer.count(&text),
            Reply::ToolCall { name, arguments } => tokenizer.count(&name) + tokenizer.count(&arguments),
        };
        let longest = drawn(kind, 1, 50).map(|(_, _, task)| tokens(task.right)).max();
        assert!(longest < Some(u64::from(kind.default_max_tokens()) * 3 / 4), "{kind}: {longest:?}");
    }
}

#[test]
fn the_oracle_knows_each_prompt_behind_its_nonce() {
    let asked: Vec<_> = Shipped::ALL.into_iter().map(|kind| (kind, input(kind))).collect();
    let oracle = Oracle::new(&asked, 7, 12);
    for (kind, input) in asked {
        let source = Source::Shipped { kind, input, output: Some(Lengths { mean: 50, stddev: 9.0 }) };
        for cache in [Cache::Bust, Cache::AsIs] {
            let prompts = Prompts::prepare(&source, None, 7, "run", cache).expect("prepared");
            for seq in 0..12 {
                let item = prompts.item(seq, 1_000 + seq);
                let solution = oracle.answer(&item.prompt.text()).expect("known");
                let grader = item.grader.expect("a grader");
                assert_eq!(solution.kind, kind);
                assert_eq!(grader.grade(&answered(&solution.right)).passed, Some(true));
                assert_eq!(grader.grade(&answered(&solution.wrong)).passed, Some(false));
            }
            assert_eq!(oracle.answer(&prompts.item(12, 0).prompt.text()), None, "beyond those learnt");
        }
    }
    assert_eq!(oracle.answer("[a b]\n\nhello"), None);
    assert_eq!(oracle.answer(""), None);
}

#[test]
fn requests_carry_tools_and_formats() {
    let field =
        |kind: Shipped, name: &str| Tasks::new(kind, 1, input(kind)).task(1).parameters.get(name).cloned();
    let tools = field(Shipped::Tools, "tools").and_then(|tools| tools.as_array().map(Vec::len));
    assert_eq!((tools, field(Shipped::Tools, "tool_choice")), (Some(5), Some(Value::from("auto"))));
    let schema =
        field(Shipped::Extract, "response_format").expect("a format")["json_schema"]["schema"].clone();
    for (_, _, task) in drawn(Shipped::Extract, 1, 20) {
        let Reply::Text(right) = task.right else { panic!("text") };
        let check = inferometer_judge::Check::JsonSchema(schema.clone());
        let grader = Grader::new(check).expect("a schema");
        assert_eq!(grader.grade(&answered(&Reply::Text(right))).passed, Some(true), "the form asked for");
    }
}

#[test]
fn names_and_input_lengths() {
    for kind in Shipped::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
        assert_eq!(serde_json::to_value(kind).expect("JSON"), kind.name());
        assert!((20..100).contains(&kind.description().len()));
        let prepare = |mean| {
            let input = Some(Lengths { mean, stddev: 0.0 });
            Prompts::prepare(&Source::Shipped { kind, input, output: None }, None, 1, "run", Cache::Bust)
        };
        match (kind.takes_input(), prepare(1_000)) {
            (true, Ok(_)) => assert!(matches!(prepare(100), Err(Error::InputShort { .. }))),
            (false, Err(error)) => assert!(error.to_string().contains("takes no input length"), "{error}"),
            (_, other) => panic!("{kind}: {other:?}"),
        }
    }
    let said = "chatt".parse::<Shipped>().expect_err("unknown").to_string();
    assert!(Shipped::ALL.iter().all(|kind| said.contains(kind.name())), "{said}");
}

/// Also what keeps the tasks of a seed what they were: a run is told by its seed.
#[test]
fn the_documentation_shows_the_first_task_of_each_kind() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/workloads.md");
    let document = std::fs::read_to_string(path).expect("docs/workloads.md");
    for kind in Shipped::ALL {
        let row = format!("| `{kind}` | {} | {} |", kind.description(), kind.default_max_tokens());
        assert!(document.contains(&row), "{row}");
        let input = kind.takes_input().then_some(Lengths { mean: 512, stddev: 0.0 });
        let task = Tasks::new(kind, 1, input).task(0);
        let check = serde_json::to_string(&task.check).expect("JSON");
        assert!(document.contains(&check), "{kind}: {check}");
        let text = text(&task);
        let last = text.rsplit("\n\n").next().unwrap_or_default();
        assert!(document.contains(last), "{kind}: {last}");
    }
}
