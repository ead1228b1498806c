//! Answers that are vectors: measured in any cut, or refused with a reason that helps.

use inferometer_wire::request::{self, Ask, Prompt, TokenField};
use inferometer_wire::{Dialect, Vectors};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::common::{Scenario, bytes, describe};

/// A whole answer of these bytes.
fn whole(body: impl AsRef<[u8]>) -> Scenario {
    let body = bytes(body);
    Scenario { dialect: Dialect::Embeddings, content_type: "application/json", streaming: false, ..body }
}

/// An answer that holds these vectors, each as JSON.
fn answer(vectors: &[&str]) -> String {
    let item = |(index, vector): (usize, &&str)| {
        format!(r#"{{"object":"embedding","index":{index},"embedding":{vector}}}"#)
    };
    let data: Vec<_> = vectors.iter().enumerate().map(item).collect();
    format!(
        r#"{{"object":"list","data":[{}],"model":"m","usage":{{"prompt_tokens":3,"total_tokens":3}}}}"#,
        data.join(",")
    )
}

#[test]
fn vectors_are_measured() {
    let check = |vectors: &[&str], count: u64, dimensions: u64, has_zero: bool| {
        let answer = whole(answer(vectors)).check("", "complete", "");
        assert_eq!(answer.vectors, Some(Vectors { count, dimensions, has_zero }), "{vectors:?}");
        assert_eq!(answer.model.as_deref(), Some("m"));
        assert!(answer.finish.is_none() && !answer.streamed && answer.transcript.content.is_empty());
        let usage = answer.usage.unwrap();
        assert_eq!((usage.input, usage.output), (Some(3), None));
    };
    check(&["[0.1,-0.2,3]"], 1, 3, false);
    check(&["[0.1,-0.2]", "[0,0]"], 2, 2, true);
    check(&["\"AAAAPwAAgL8=\""], 1, 2, false);
    check(&[], 0, 0, false);
    check(&["[]"], 1, 0, false);
}

/// A count of output tokens that is always 0 is none.
#[test]
fn nothing_is_generated_and_nothing_counted_of_it() {
    let told = answer(&["[1]"]).replace("\"total", "\"completion_tokens\":0,\"total");
    let usage = whole(told).check("", "complete", "").usage.unwrap();
    assert_eq!((usage.input, usage.output, usage.normal().output), (Some(3), None, None));
}

#[test]
fn what_cannot_be_read_is_told_by_its_place() {
    let check = |vectors: &[&str], words: &str| {
        let answer = whole(answer(vectors)).check("", "protocol malformed_event", "");
        assert_eq!((answer.vectors, answer.malformed), (None, 1));
        let told = format!("{:?}", answer.outcome);
        assert!(told.contains(words), "{told}");
    };
    let far = format!("[{}NaN]", "0.125,".repeat(5_000));
    check(&[&far], "0.125,NaN]");
    check(&["[0.5,-Infinity]"], "-Infinity]");
    check(&["[0.5,null,1]"], "invalid type: null");
    check(&["[0.5,1e999]"], "number out of range");
    check(&["[[0.5],[1]]"], "invalid type: sequence");
    check(&["\"AAAA\""], "3 bytes are no list of 32-bit numbers");
    check(&["\"AADAfw==\""], "a component is NaN");
    check(&["{}"], "a list of numbers, or base64");
    check(&["[1,2]", "[1,2,3]"], "vectors of 2 and of 3 components in one answer");
    check(&["[1]},{\"index\":0"], "missing field `embedding`");
}

#[test]
fn what_is_no_answer_is_none() {
    let check = |body: &str, right: &str| {
        whole(body).check("", right, "");
    };
    check(r#"{"status":"ok"}"#, "protocol not_an_answer");
    check(r#"{"data":null}"#, "protocol not_an_answer");
    check(r#"{"error":{"code":500,"message":"m"}}"#, "stream_error 500 m");
    check(r#"{"object":"error","code":7,"message":"m"}"#, "stream_error 7 m");
    check(r#"{"data":[{"embedding":[0.5"#, "truncated");
    check("[0.5,1]", "protocol json_array");
    let refused = Scenario { status: 400, ..whole(r#"{"error":{"message":"too long","code":"c"}}"#) };
    refused.check("", "http_error c too long", "");
    // Of a stream, nothing is the end.
    let stream =
        Scenario { content_type: "text/event-stream", ..whole(format!("data: {}\n\n", answer(&["[1]"]))) };
    stream.check("", "truncated", "");
}

/// 300 KiB in one number a line, and as much in base64.
#[test]
fn long_vectors_are_measured() {
    let long = format!("[{}\n0.0123456789]", "0.0123456789,\n".repeat(22_000));
    let base64 = format!("\"{}\"", "AACAPwAA".repeat(40_000).get(..300_000).unwrap());
    for (vector, dimensions) in [(long, 22_001), (base64, 56_250)] {
        let body = answer(&[&vector]);
        assert!(body.len() > 300_000);
        let at_once = whole(&body).run(usize::MAX).1;
        assert_eq!(at_once.vectors, Some(Vectors { count: 1, dimensions, has_zero: false }));
        let in_pieces = whole(&body).run(1_400).1;
        assert_eq!(format!("{in_pieces:?}"), format!("{at_once:?}"));
    }
}

proptest! {
    #[test]
    fn any_cut_changes_nothing(
        components in prop::collection::vec(any::<f32>().prop_filter("finite", |x| x.is_finite()), 0..20),
        cuts in prop::collection::vec(any::<Index>(), 0..8),
        last in any::<Index>(),
    ) {
        let body = answer(&[&json!(components).to_string()]);
        let scenario = whole(&body);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        cuts.sort_unstable();
        let (_, right) = scenario.run(usize::MAX);
        prop_assert_eq!(right.vectors.map(|vectors| vectors.dimensions), Some(components.len() as u64));
        for (_, answer) in [scenario.run_cut(&cuts), scenario.run(1)] {
            prop_assert_eq!(format!("{answer:?}"), format!("{right:?}"));
        }
        let cut = Scenario { body: body.as_bytes()[..last.index(body.len())].to_vec(), ..scenario };
        prop_assert_eq!(describe(&cut.run(usize::MAX).1.outcome), "truncated");
    }
}

#[test]
fn what_is_asked() {
    let nothing = json!({});
    let check =
        |prompt: &Prompt, change: &dyn Fn(Ask<'_>) -> Result<String, String>, right: Result<&str, &str>| {
            let ask = Ask {
                dialect: Dialect::Embeddings,
                model: "m",
                prompt,
                stream: false,
                max_tokens: None,
                token_field: TokenField::MaxTokens,
                temperature: Some(0.0),
                include_usage: true,
                parameters: nothing.as_object(),
                extra: None,
            };
            assert_eq!(change(ask).as_deref(), right.map_err(str::to_owned).as_ref().copied());
        };
    let said = |ask: Ask<'_>| match request::body(&ask) {
        Ok(body) => Ok(String::from_utf8(body).unwrap()),
        Err(unsayable) => Err(unsayable.what),
    };
    let with =
        |parameters: Value| move |ask: Ask<'_>| said(Ask { parameters: parameters.as_object(), ..ask });
    let text = Prompt::Text("say \"hi\"".to_owned());
    let plain = Ok(r#"{"model":"m","input":"say \"hi\""}"#);
    check(&text, &said, plain);
    check(&text, &with(json!({"n": 1, "user": null})), plain);
    check(&text, &|ask| said(Ask { temperature: None, ..ask }), plain);
    let extra = json!({"dimensions": 8, "encoding_format": "base64"});
    let wanted = Ok(r#"{"model":"m","input":"say \"hi\"","dimensions":8,"encoding_format":"base64"}"#);
    check(&text, &|ask| said(Ask { extra: extra.as_object(), ..ask }), wanted);
    check(&text, &|ask| said(Ask { stream: true, ..ask }), Err("stream"));
    check(&text, &|ask| said(Ask { max_tokens: Some(8), ..ask }), Err("max_tokens"));
    check(&text, &|ask| said(Ask { temperature: Some(0.7), ..ask }), Err("temperature"));
    check(&text, &with(json!({"tools": [{"function": {"name": "f"}}]})), Err("tools"));
    check(&text, &with(json!({"tool_choice": "none"})), Err("tool_choice"));
    check(&text, &with(json!({"response_format": {"type": "json_object"}})), Err("response_format"));
    for name in ["stop", "top_p", "top_k", "seed", "logit_bias"] {
        let value = if name == "stop" { json!("x") } else { json!(1) };
        check(&text, &with(json!({ name: value })), Err(name));
    }
    let raw = |json: Value| Prompt::Raw(RawValue::from_string(json.to_string()).unwrap());
    let talk = raw(
        json!([{"role": "system", "content": "a"}, {"role": "user", "content": [{"type": "text", "text": "b"}]}]),
    );
    check(&talk, &said, Ok(r#"{"model":"m","input":"a\n\nb"}"#));
    let image = raw(json!([{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]));
    check(&image, &said, Err("content that is not text"));
}
