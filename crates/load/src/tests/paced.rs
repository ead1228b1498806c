//! Requests that are kept under the limits that a provider tells.

use std::cell::RefCell;
use std::rc::Rc;

use super::pipe::Pipe;
use super::stage::{self, Script, Stage, answers};
use super::*;

/// A provider that lets in so many requests of a window, and tells it.
#[derive(Clone)]
struct Windowed {
    limit: u64,
    window: Duration,
    /// When its window began, and how many it has let in since.
    state: Rc<RefCell<(Option<Mono>, u64)>>,
}

impl Windowed {
    fn new(limit: u64, window: Duration) -> Self {
        Self { limit, window, state: Rc::default() }
    }

    /// Answers after `ms`, or refuses.
    async fn serve(self, pipe: Pipe, after_ms: u64) -> Pipe {
        let now = pipe.clock.now();
        let (is_in, headers) = {
            let mut state = self.state.borrow_mut();
            let (began, count) = *state;
            let began = began.filter(|began| now - *began < self.window);
            let (began, count) = began.map_or((now, 0), |began| (began, count));
            let is_in = count < self.limit;
            *state = (Some(began), count + u64::from(is_in));
            let left = self.limit - state.1;
            let reset_ms = (began + self.window - now).as_millis();
            let tell = |name: &str, value: String| format!("x-ratelimit-{name}-requests: {value}\r\n");
            let told = [
                tell("limit", self.limit.to_string()),
                tell("remaining", left.to_string()),
                tell("reset", format!("{reset_ms}ms")),
            ];
            (is_in, told.concat())
        };
        if is_in { pipe.answer_with(&headers, after_ms).await } else { pipe.refuse(429, &headers).await }
    }
}

fn paced(slots: u32, requests: u64) -> Setup {
    Setup { is_paced: true, ..Setup::new(closed(slots), Some(requests), None) }
}

fn throttled(samples: &[Sample]) -> usize {
    samples.iter().filter(|sample| sample.flags.iter().any(|flag| flag == "throttled")).count()
}

/// Without the key, most of what is asked is refused; with it nothing is, and the batch takes as many windows as it needs.
#[test]
fn a_batch_stays_under_the_limit() {
    let provider = || Windowed::new(10, s(6));
    let ask = |setup: Setup| {
        let provider = provider();
        setup.run(move |_, pipe| provider.clone().serve(pipe, 100))
    };
    let free = ask(Setup::new(closed(4), Some(100), None));
    assert!(throttled(&free.samples) > 50, "{}", throttled(&free.samples));
    assert_eq!(throttled(&free.samples), count(&free.samples, Status::HttpError));
    let ran = ask(paced(4, 100));
    assert_eq!((throttled(&ran.samples), count(&ran.samples, Status::Ok)), (0, 100));
    // Ten windows, of which the last is not waited for.
    assert!((54..57).contains(&ran.took.as_secs()), "{:?}", ran.took);
    // The wait is a figure of its own: neither lateness nor slowness.
    assert!(lag_max(&ran.samples) < 0.1, "{}", lag_max(&ran.samples));
    assert!(ran.samples.iter().all(|sample| sample.ttft_ms.unwrap() < 101.0));
    let waits: Vec<u64> = ran.samples.iter().filter_map(|sample| sample.paced_ns).collect();
    assert!(waits.iter().any(|wait| *wait > 5_000_000_000) && waits.len() < 60, "{waits:?}");
    let first = &ran.samples[0].limits[0];
    assert_eq!((first.limit, first.remaining, first.window_s), (Some(10), Some(9), None));
}

/// However many slots there are, and however few are let in.
#[test]
fn no_limit_of_requests_is_passed() {
    for (slots, limit, window_s, after_ms) in
        [(1, 1, 1, 10), (8, 1, 2, 700), (3, 2, 1, 999), (16, 5, 3, 50), (7, 7, 1, 300), (2, 40, 60, 1)]
    {
        let provider = Windowed::new(limit, s(window_s));
        let ran = paced(slots, 50).run(move |_, pipe| provider.clone().serve(pipe, after_ms));
        let shown = format!("{slots} slots, {limit} in {window_s} s");
        assert_eq!((throttled(&ran.samples), count(&ran.samples, Status::Ok)), (0, 50), "{shown}");
        let least = 49 / limit * window_s;
        assert!(ran.took.as_secs() >= least, "{shown}: {:?}", ran.took);
    }
}

/// Before anything is known one asks alone: a burst of slots does not find the limit by running into it.
#[test]
fn the_first_asks_alone() {
    let provider = Windowed::new(3, s(2));
    let ran = paced(8, 20).run(move |_, pipe| provider.clone().serve(pipe, 50));
    assert_eq!((throttled(&ran.samples), ran.samples.len()), (0, 20));
    // One that tells nothing is asked by all from then on.
    let ran = paced(8, 16).run(|_, pipe| pipe.answer_after(1_000));
    assert_eq!((ran.peak, ran.took.as_secs()), (8, 3));
}

#[test]
fn nothing_is_sent_before_retry_after_has_passed() {
    let ran = paced(3, 12).run(|n, pipe| async move {
        if n == 4 { pipe.refuse(429, "retry-after: 7\r\n").await } else { pipe.answer_after(10).await }
    });
    assert_eq!((throttled(&ran.samples), ran.samples.len()), (1, 12));
    let gaps = ran.arrivals.windows(2).map(|pair| pair[1].abs_diff(pair[0]));
    assert_eq!(gaps.clone().max().map(|gap| gap.as_secs()), Some(7), "{:?}", ran.arrivals);
    assert_eq!(gaps.filter(|gap| *gap > s(1)).count(), 1);
}

/// Who refuses without a word of when to come again is left alone for longer each time; those of one burst are one.
#[test]
fn refusals_without_advice_are_rested_after() {
    let ran = paced(1, 6).run(|n, pipe| async move {
        if n < 3 { pipe.refuse(429, "").await } else { pipe.answer_after(0).await }
    });
    assert_eq!((throttled(&ran.samples), ran.took.as_secs()), (3, 7));
    let ran = paced(4, 12).run(|n, pipe| async move {
        if (1..5).contains(&n) { pipe.refuse(429, "").await } else { pipe.answer_after(0).await }
    });
    assert_eq!((throttled(&ran.samples), ran.took.as_secs()), (4, 1));
}

/// Tokens are set aside as the input's and as many as the answer may have; what is more than the limit goes alone.
#[test]
fn tokens_are_set_aside_by_the_token_limit() {
    let check = |osl, left: u64, is_held: bool| {
        let mut setup = paced(1, 2);
        (setup.flags.osl, setup.flags.isl) = (Some(osl), Some(64));
        let ran = setup.run(move |_, pipe| async move {
            let headers = format!(
                "x-ratelimit-limit-tokens: 5000\r\nx-ratelimit-remaining-tokens: {left}\r\n\
                 x-ratelimit-reset-tokens: 30s\r\n"
            );
            pipe.answer_with(&headers, 10).await
        });
        assert_eq!(ran.samples[1].paced_ns.is_some_and(|ns| ns > 29_000_000_000), is_held, "{osl} {left}");
    };
    check(1_000, 4_000, false);
    check(1_000, 900, true);
    check(100_000, 4_999, true);
}

#[test]
fn a_wait_ends_with_the_run() {
    let provider = Windowed::new(2, s(60));
    let mut setup = Setup { is_paced: true, ..Setup::new(closed(2), None, Some(s(10))) };
    setup.flags.grace = Some(Span(s(5)));
    let ran = setup.run(move |_, pipe| provider.clone().serve(pipe, 10));
    assert_eq!((ran.samples.len(), count(&ran.samples, Status::Ok), ran.took.as_secs()), (2, 2, 10));
}

/// What waits beyond the end of its slice is a trial that is missing, and holds up nobody.
#[test]
fn a_wait_does_not_outlast_its_slice() {
    let provider = Windowed::new(10, s(25));
    let slow: Script = Box::new(move |_, pipe| Box::pin(provider.clone().serve(pipe, 500)));
    let mut stage = Stage::new(closed(2), stage::time(30), vec![slow, answers(|_| 500)]);
    stage.plan.loads[0].respect_rate_limits = true;
    let played = stage.interleaved(false).play();
    let [slow, free] = ["a", "b"].map(|target| played.of(target).len());
    // Both take a minute in turns: three windows of the one, all of the other's slices.
    assert!(slow == 30 && (116..=120).contains(&free), "{slow} {free}");
    assert!((2..=6).contains(&played.contexts[0].missing), "{}", played.contexts[0].missing);
    assert_eq!(played.contexts[1].missing, 0);
    assert!((60..66).contains(&played.took.as_secs()), "{:?}", played.took);
}

/// A target that asks for hours ends its lane, in words, and takes nothing from the others.
#[test]
fn a_wait_of_hours_is_not_waited_for() {
    for is_together in [false, true] {
        let hours: Script = Box::new(|_, pipe| Box::pin(pipe.refuse(429, "retry-after: 36000\r\n")));
        let mut stage = Stage::new(closed(1), stage::count(5), vec![hours, answers(|_| 10)]);
        stage.plan.loads[0].respect_rate_limits = true;
        let played = stage.interleaved(is_together).play();
        let gap = played.contexts[0].gap.as_deref().unwrap_or_default();
        assert!(gap.contains("asks to wait 600 min"), "{gap}");
        assert_eq!(
            (played.of("a").len(), played.of("b").len(), played.contexts[1].gap.is_some()),
            (1, 5, false)
        );
    }
}
