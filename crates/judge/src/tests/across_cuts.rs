//! However the bytes of an answer are cut, the judgement is one.

use proptest::prelude::*;

use super::*;

/// Answers that are valid, and one for each of some flags.
fn answers() -> Vec<String> {
    let body = |events: &[&str]| format!("data: {}\n\n", events.join("\n\ndata: "));
    vec![
        body(&[&content("The sky is blue. "), &content("So — naïve 灯 it is."), STOP, USAGE, DONE]),
        body(&[&reasoning("Well."), &content("42"), STOP, USAGE]),
        body(&[&calls(&[("look", "{\"at\":1}", "a")]), &finish("tool_calls"), DONE]),
        body(&[&content("<think>so</think>map<|im_end|>"), LENGTH]),
        body(&[&content("map")]),
    ]
}

proptest! {
    #[test]
    fn cuts_change_nothing(which in 0_usize..5, cuts in proptest::collection::vec(0_usize..900, 0..12)) {
        let body = answers().swap_remove(which);
        let judged = |pieces: &[&[u8]]| {
            let head = Head { status: 200, content_type: Some("text/event-stream"), streaming: true };
            let mut decoder = Decoder::new(Dialect::Chat, head);
            for piece in pieces {
                decoder.feed(piece, &mut |_| {});
            }
            judge(&decoder.finish(End::Eof, &mut |_| {}), &Expect::default())
        };
        let mut ends: Vec<usize> = cuts.into_iter().map(|cut| cut.min(body.len())).collect();
        ends.extend([0, body.len()]);
        ends.sort_unstable();
        let pieces: Vec<&[u8]> = ends.windows(2).map(|ends| &body.as_bytes()[ends[0]..ends[1]]).collect();
        let whole = judged(&[body.as_bytes()]);
        prop_assert_eq!(judged(&pieces), whole.clone());
        prop_assert_eq!(whole.verdict == Verdict::Valid, which < 3);
    }
}
