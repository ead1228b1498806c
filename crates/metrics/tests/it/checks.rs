//! Checks over several answers: what each finds, the trap that it must not fall into, and what it takes to look.

use inferometer_metrics::{CellContext, CheckState, Study, Summary, TargetInfo, summarize};
use inferometer_record::{Manifest, Sample, State, Status};

use crate::cell::{answer, closed};
use CheckState::{Found, Passed, Unavailable};

/// Answer `seq` of the target `target` in the workload `w`, changed by `change`.
fn said(target: &str, seq: u64, change: impl FnOnce(&mut Sample)) -> Sample {
    let mut sample = answer(seq, seq * 100, &[10, 20], Some(100)).sample;
    (sample.target, sample.workload, sample.load) = (target.to_owned(), "w".to_owned(), "c1".to_owned());
    change(&mut sample);
    sample
}

fn summary(targets: &[&str], samples: impl IntoIterator<Item = Sample>) -> Summary {
    let samples: Vec<Sample> = samples.into_iter().collect();
    let mut places: Vec<(String, String)> = Vec::new();
    for sample in &samples {
        let place = (sample.target.clone(), sample.workload.clone());
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let context = |(target, workload): &(String, String)| {
        let context = CellContext {
            target: target.clone(),
            workload: workload.clone(),
            load: "c1".to_owned(),
            ..closed(1)
        };
        serde_json::to_value(context).unwrap()
    };
    let info = |name: &&str| TargetInfo {
        name: (*name).to_owned(),
        model: "m".to_owned(),
        url: Some("http://h/v1".to_owned()),
        ..TargetInfo::default()
    };
    let study = Study { targets: targets.iter().map(info).collect(), ..Study::default() };
    let manifest = Manifest {
        state: State::Complete,
        cells: places.iter().map(context).collect(),
        study: serde_json::to_value(study).unwrap(),
        ..Manifest::default()
    };
    summarize(&manifest, samples.into_iter().map(|sample| (sample, None))).unwrap()
}

/// The check `id` of the first cell comes to `state`, found in so many of so many; what is found is a warning of the
/// cell, what is not has a reason.
#[track_caller]
fn check(id: &str, summary: &Summary, state: CheckState, found: u64, n: u64) -> String {
    let cell = &summary.cells[0];
    let check = cell.checks.iter().find(|check| check.id == id).unwrap();
    assert_eq!((check.state, check.found, check.n), (state, found, n), "{check:?}");
    assert_eq!(check.why.is_empty(), state == Passed, "{check:?}");
    let warned = cell.warnings.iter().any(|warning| *warning == format!("{id}: {}", check.why));
    assert_eq!(warned, state == Found, "{:?}", cell.warnings);
    check.why.clone()
}

#[test]
fn every_check_is_told_of_every_cell() {
    let summary = summary(&["a"], [said("a", 1, |_| {})]);
    let ids: Vec<&str> = summary.cells[0].checks.iter().map(|check| check.id.as_str()).collect();
    assert_eq!(ids, ["logprob.text", "model.echo", "replay", "input.truncated", "stream_diff"]);
    for id in ids {
        check(id, &summary, Unavailable, 0, 0);
    }
}

#[test]
fn logprobs() {
    let run = |flags: &[(&str, &str)]| {
        let samples = flags.iter().zip(0..).map(|((flag, verdict), seq)| {
            said("a", seq, |sample| {
                sample.flags = vec![(*flag).to_owned()];
                sample.verdict_flags = vec![(*verdict).to_owned()];
            })
        });
        summary(&[], samples)
    };
    let unreadable = ("logprobs", "logprob_text_unavailable");
    check("logprob.text", &run(&[("logprobs", ""), unreadable, ("", "")]), Passed, 0, 1);
    check("logprob.text", &run(&[("logprobs", ""), ("logprobs", "logprob_text_differs")]), Found, 1, 2);
    // What could not be read has not passed.
    check("logprob.text", &run(&[unreadable, unreadable]), Unavailable, 0, 0);
}

#[test]
fn the_model_changes() {
    let run = |names: &[&str]| {
        let named = names.iter().zip(0..).map(|(name, seq)| {
            said("a", seq, |sample| sample.model_echo = Some((*name).to_owned()).filter(|name| name != "-"))
        });
        summary(&[], named)
    };
    check("model.echo", &run(&["m-7b", "m-7b", "-"]), Passed, 0, 2);
    let why = check("model.echo", &run(&["m-7b", "m-70b", "m-7b", "-"]), Found, 1, 3);
    assert_eq!(why, "the answers name different models: m-7b (2 of 3), m-70b (1 of 3)");
    // The trap: one model's name with a date, a vendor, a variant.
    check("model.echo", &run(&["gpt-x-2026-01-02", "gpt-x", "openai/gpt-x:free"]), Passed, 0, 3);
    check("model.echo", &run(&["m", "-"]), Unavailable, 0, 0);
}

#[test]
fn the_model_changes_between_the_cells_of_a_target() {
    let named = |target: &str, workload: &str, seq, name: &str| {
        said(target, seq, |sample| {
            sample.workload = workload.to_owned();
            sample.model_echo = Some(name.to_owned());
        })
    };
    let [one, two] = [named("a", "w", 1, "m"), named("a", "v", 2, "n")];
    check("model.echo", &summary(&[], [one.clone(), two]), Found, 1, 2);
    // Another target may well be another model.
    let other = named("b", "w", 2, "n");
    check("model.echo", &summary(&[], [one.clone(), named("a", "w", 3, "m"), other]), Passed, 0, 2);
}

/// Answers with an id and a hash each, all long, to prompts of two words: `p` is asked for what repeats, `f` is free.
fn replays(answers: &[(&str, &str, &str)]) -> Summary {
    let samples = answers.iter().zip(0..).map(|((prompt, id, hash), seq)| {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        said("a", seq, |sample| {
            sample.repeatable = Some(!prompt.starts_with('f'));
            (*prompt).clone_into(&mut sample.prompt_id);
            (sample.response_id, sample.answer_hash) = (some(id), some(hash));
            sample.counted_output_tokens = Some(200);
        })
    });
    summary(&[], samples)
}

#[test]
fn an_answer_comes_again() {
    let why = check("replay", &replays(&[("p", "1", "x"), ("q", "2", "y"), ("p", "1", "x")]), Found, 1, 3);
    assert_eq!(why, "1 of 3 answers bear the id of an earlier one, and its text");
    check("replay", &replays(&[("f", "", "x"), ("f", "", "y"), ("f", "", "x")]), Found, 1, 2);
    check("replay", &replays(&[("f", "1", "x"), ("f", "2", "x")]), Found, 1, 2);
}

#[test]
fn what_is_no_replay() {
    // At temperature 0 the same text under its own id is as it should be: prompt caching or not.
    check("replay", &replays(&[("p", "1", "x"), ("p", "2", "x")]), Passed, 0, 2);
    // One id for all, or for two texts, is a poor id and proves nothing; nor does none.
    check("replay", &replays(&[("p", "chatcmpl-sim", "x"), ("p", "chatcmpl-sim", "x")]), Unavailable, 0, 0);
    check("replay", &replays(&[("p", "1", "x"), ("q", "1", "y"), ("r", "2", "z")]), Unavailable, 0, 0);
    check("replay", &replays(&[("p", "", "x"), ("p", "", "x")]), Unavailable, 0, 0);
    // Different prompts may have one answer.
    check("replay", &replays(&[("f", "", "x"), ("f2", "", "x")]), Unavailable, 0, 0);
    // A short answer, or the right one, comes twice at any temperature.
    let twice = |change: fn(&mut Sample)| {
        let samples = (0..2).map(|seq| {
            said("a", seq, |sample| {
                sample.prompt_id = "p".to_owned();
                sample.answer_hash = Some("x".to_owned());
                sample.repeatable = Some(false);
                sample.counted_output_tokens = Some(200);
                change(sample);
            })
        });
        summary(&[], samples)
    };
    check("replay", &twice(|_| {}), Found, 1, 1);
    check("replay", &twice(|sample| sample.counted_output_tokens = Some(3)), Unavailable, 0, 0);
    check("replay", &twice(|sample| sample.grade = Some(true)), Unavailable, 0, 0);
    check("replay", &twice(|sample| sample.repeatable = None), Unavailable, 0, 0);
    check("replay", &twice(|sample| sample.status = Status::Truncated), Unavailable, 0, 0);
}

/// Prompts by (server's count, our count).
fn prompts(tokens: &[(u64, u64)], grade: Option<bool>) -> Summary {
    let samples = tokens.iter().zip(0..).map(|((stated, counted), seq)| {
        said("a", seq, |sample| {
            sample.input_tokens = Some(*stated);
            sample.counted_input_tokens = Some(*counted);
            sample.grade = grade;
        })
    });
    summary(&[], samples)
}

#[test]
fn prompts_are_cut() {
    let cut = [(520, 500), (1_030, 1_000), (2_050, 2_000), (2_050, 4_000), (2_049, 6_000), (2_050, 8_000)];
    let why = check("input.truncated", &prompts(&cut, Some(false)), Found, 3, 6);
    assert_eq!(
        why,
        "3 prompts of 4000 to 8000 tokens by our count are at most 2050 by the server's, which no longer grows; 3 of 3 of their answers are wrong"
    );
    // Over the cells of a target: no single one need hold prompts of all lengths.
    let mut samples: Vec<Sample> = Vec::new();
    for (seq, (stated, counted)) in (0..).zip(cut) {
        samples.push(said("a", seq, |sample| {
            sample.workload = format!("w{seq}");
            (sample.input_tokens, sample.counted_input_tokens) = (Some(stated), Some(counted));
        }));
    }
    check("input.truncated", &summary(&[], samples), Found, 3, 6);
    // No prompt below the plateau: its tokenizer is not known, and the difference must be beyond any.
    let above =
        [(2_050, 6_000), (2_050, 6_500), (2_050, 7_000), (2_050, 10_000), (2_049, 12_000), (2_050, 20_000)];
    check("input.truncated", &prompts(&above, None), Found, 3, 6);
}

#[test]
fn prompts_that_are_not_cut() {
    // A model that does not recall: all answers wrong, no plateau.
    let whole = [(500, 500), (1_000, 1_000), (2_000, 2_000), (4_000, 4_000), (6_000, 6_000), (8_000, 8_000)];
    check("input.truncated", &prompts(&whole, Some(false)), Passed, 0, 6);
    // A tokenizer that needs a third of our tokens.
    check("input.truncated", &prompts(&whole.map(|(stated, n)| (stated / 3, n)), None), Passed, 0, 6);
    // Many prompts of one length are a plateau that ours shares.
    let two = [(100, 100), (2_000, 2_010), (2_001, 2_000), (2_000, 2_000), (1_999, 2_020), (2_000, 2_000)];
    check("input.truncated", &prompts(&two, None), Passed, 0, 6);
    // Prompts of one length cannot show it, nor can few, short ones, or a server that does not count.
    check("input.truncated", &prompts(&[(2_050, 8_000); 9], None), Unavailable, 0, 0);
    check("input.truncated", &prompts(&whole[1..5], None), Unavailable, 0, 0);
    check("input.truncated", &prompts(&whole.map(|(n, _)| (n / 100, n / 100)), None), Unavailable, 0, 0);
    check("input.truncated", &prompts(&whole.map(|(_, n)| (0, n)), None), Unavailable, 0, 0);
}

/// The answers of two ways of asking, each of a prompt: its finish reason, and a verdict flag or none.
fn both_ways(streamed: &[(&str, &str, &str)], whole: &[(&str, &str, &str)]) -> Summary {
    let answers = |target: &'static str, answers: &[(&str, &str, &str)], flag: &str| -> Vec<Sample> {
        let answer = |(seq, (prompt, finish, verdict)): (u64, &(&str, &str, &str))| {
            said(target, seq, |sample| {
                (*prompt).clone_into(&mut sample.prompt_id);
                sample.finish_reason = Some((*finish).to_owned());
                sample.verdict_flags = vec![(*verdict).to_owned()];
                sample.flags = vec![flag.to_owned()];
                sample.answer_hash = Some(format!("{target}{seq}"));
                sample.repeatable = Some(true);
            })
        };
        (0..).zip(answers).map(answer).collect()
    };
    let samples = [answers("streamed", streamed, ""), answers("whole", whole, "not_streamed")].concat();
    summary(&["streamed", "whole"], samples)
}

#[test]
fn a_stream_is_another_kind_of_answer() {
    let summary = both_ways(
        &[("p", "stop", "finish_tool_mismatch"), ("q", "stop", "")],
        &[("p", "tool_calls", ""), ("q", "stop", "")],
    );
    let why = check("stream_diff", &summary, Found, 1, 2);
    assert_eq!(
        why,
        "1 of 2 prompts got another kind of answer streamed than whole (whole): stop with finish_tool_mismatch here, tool_calls there"
    );
    let other = summary.cells[1].checks.last().unwrap();
    assert!(
        other.why.ends_with(
            "whole than streamed (streamed): tool_calls here, stop with finish_tool_mismatch there"
        )
    );
    check("stream_diff", &both_ways(&[("p", "stop", "schema_invalid")], &[("p", "stop", "")]), Found, 1, 1);
}

#[test]
fn a_stream_is_the_same_kind_of_answer() {
    // The text may differ, and so may a note.
    check("stream_diff", &both_ways(&[("p", "stop", "usage_mismatch")], &[("p", "stop", "")]), Passed, 0, 1);
    // A prompt that is answered both ways in one way alone says nothing of the other.
    let unsteady = [("p", "stop", ""), ("p", "stop", "json_wrapped")];
    check("stream_diff", &both_ways(&unsteady, &[("p", "stop", "")]), Unavailable, 0, 0);
    // Other prompts, the same way, another address.
    check("stream_diff", &both_ways(&[("p", "stop", "")], &[("q", "length", "")]), Unavailable, 0, 0);
    let pair = |change: fn(&mut Sample)| {
        ["a", "b"].map(|target| {
            said(target, 1, |sample| {
                (sample.prompt_id, sample.repeatable) = ("p".to_owned(), Some(true));
                sample.finish_reason = Some(if target == "a" { "stop" } else { "tool_calls" }.to_owned());
                sample.flags.extend((target == "b").then(|| "not_streamed".to_owned()));
                change(sample);
            })
        })
    };
    check("stream_diff", &summary(&["a", "b"], pair(|_| {})), Found, 1, 1);
    check("stream_diff", &summary(&["a"], pair(|_| {})), Unavailable, 0, 0);
    check("stream_diff", &summary(&["a", "b"], pair(|sample| sample.flags.clear())), Unavailable, 0, 0);
    // At a temperature the kind may differ too.
    check(
        "stream_diff",
        &summary(&["a", "b"], pair(|sample| sample.repeatable = Some(false))),
        Unavailable,
        0,
        0,
    );
}
