//! Answers that are vectors.

use inferometer_wire::{Decoder, Dialect, End, Head};
use serde_json::json;

use super::Verdict;
use crate::{Check, Expect, Grader, judge};

#[test]
fn a_vector_is_worth_having_unless_nothing_can_be_found_with_it() {
    let check = |data: serde_json::Value, model: &str, verdict: Verdict, flags: &[&str]| {
        let body = json!({"data": data, "model": model, "usage": {"prompt_tokens": 3, "total_tokens": 3}});
        let head = Head { status: 200, content_type: Some("application/json"), streaming: false };
        let mut decoder = Decoder::new(Dialect::Embeddings, head);
        decoder.feed(body.to_string().as_bytes(), &mut |_| {});
        let answer = decoder.finish(End::Eof, &mut |_| {});
        // What is known of texts is not looked for: no end, no count of output, nothing to grade.
        let grader = Grader::new(Check::NotEmpty).unwrap();
        let expect = Expect {
            max_tokens: Some(8),
            prompt: "hi",
            model: "m",
            counted_output: Some(0),
            grader: Some(&grader),
            ..Expect::default()
        };
        let judgement = judge(&answer, &expect);
        assert_eq!((judgement.verdict, judgement.flags.as_slice()), (verdict, flags), "{body}");
        assert_eq!(judgement.grade, None);
    };
    check(json!([{"embedding": [0.5, -1]}]), "m", Verdict::Valid, &[]);
    check(json!([{"embedding": [0.5, -1]}]), "another", Verdict::Valid, &["model_differs"]);
    check(json!([]), "m", Verdict::Invalid, &["empty"]);
    check(json!([{"embedding": []}]), "m", Verdict::Invalid, &["empty"]);
    check(json!([{"embedding": [0, 0.0]}]), "m", Verdict::Invalid, &["zero_vector"]);
    check(json!([{"embedding": [0, 1]}, {"embedding": [0, 0]}]), "m", Verdict::Invalid, &["zero_vector"]);
}
