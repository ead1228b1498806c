//! The budget: never passed, and said when it is used up.

use std::sync::Arc;

use inferometer_clock::Mono;
use inferometer_plan::Budget;
use inferometer_price::Decimal;
use inferometer_record::{Sample, Status};
use proptest::prelude::*;

use super::stage::{Stage, answers, count};
use super::{closed, s};
use crate::purse::{Need, Purse};

fn dollars(text: &str) -> Decimal {
    text.parse().unwrap()
}

/// Each answer costs (7 × 10 + 1 × 100) / 1e6 dollars; a cap of 50 tokens sets aside far more.
fn stage(budget: Budget) -> Stage {
    let mut stage =
        Stage::new(closed(4), count(1_000), vec![answers(|_| 100), answers(|_| 100)]).interleaved(true);
    for target in &mut stage.plan.targets {
        target.price = Some("input=10,output=100".parse().unwrap());
    }
    stage.plan.workloads[0].max_tokens = Some(50);
    stage.plan.budget = budget;
    stage
}

#[test]
fn a_run_ends_before_a_limit_is_passed() {
    let check = |budget, words: &str, least: usize, most: usize| {
        let played = stage(budget).play();
        let n = played.samples.len();
        assert!((least..=most).contains(&n), "{n} requests: {words}");
        assert_eq!(played.spent.as_deref(), Some(words));
        assert!(played.contexts.iter().all(|cell| cell.gap.as_deref() == Some(words)));
        assert!(played.samples.iter().all(|sample| sample.is_final && sample.status == Status::Ok));
        let cost: Decimal = played.samples.iter().map(|s| dollars(s.cost_usd.as_deref().unwrap())).sum();
        assert!(budget.money.is_none_or(|limit| cost <= limit), "{cost}");
        let tokens: u64 =
            played.samples.iter().map(|s| s.input_tokens.unwrap() + s.output_tokens.unwrap()).sum();
        assert!(budget.tokens.is_none_or(|limit| tokens <= limit), "{tokens}");
    };
    check(Budget { requests: Some(33), ..Budget::default() }, "the budget of 33 requests is used up", 33, 33);
    // Four tokens an answer less than what the last one may need.
    check(Budget { tokens: Some(800), ..Budget::default() }, "the budget of 800 tokens is used up", 80, 100);
    let money = Budget { money: Some(dollars("0.05")), ..Budget::default() };
    check(money, "the budget of $0.05 is used up", 250, 294);
}

/// Whoever is first leaves the others their share, and all stop at the same block.
#[test]
fn in_turns_no_target_uses_up_the_budget_of_others() {
    let check = |slots, budget: Budget, least: usize, apart: usize| {
        let mut stage = stage(budget).interleaved(false);
        stage.plan.loads[0].arrival = closed(slots);
        let played = stage.play();
        let (a, b) = (played.of("a"), played.of("b"));
        assert!(a.len().min(b.len()) >= least, "{slots}: {} and {}", a.len(), b.len());
        assert!(a.len().abs_diff(b.len()) <= apart, "{slots}: {} and {}", a.len(), b.len());
        let last = |of: &[&Sample]| of.iter().filter_map(|sample| sample.block).max();
        assert_eq!(last(&a), last(&b));
        let words = played.spent.as_deref().unwrap();
        assert!(words.contains("is used up"), "{words}");
        assert!(played.contexts.iter().all(|cell| cell.gap.as_deref() == Some(words)));
        let cost: Decimal = played.samples.iter().map(|s| dollars(s.cost_usd.as_deref().unwrap())).sum();
        assert!(budget.money.is_none_or(|limit| cost <= limit), "{cost}");
        assert!(budget.requests.is_none_or(|limit| played.samples.len() as u64 <= limit));
    };
    let requests = |n| Budget { requests: Some(n), ..Budget::default() };
    let money = |text| Budget { money: Some(dollars(text)), ..Budget::default() };
    // A slice of 10 s would be 400 requests; a prompt to each is a block with one slot.
    check(4, requests(100), 50, 0);
    check(4, requests(1_000), 480, 10);
    check(1, requests(41), 20, 0);
    // What the last attempts of a turn set aside and do not use, the next turn may.
    check(4, money("0.05"), 110, 35);
    // A block begins only where the budget lasts for the dearest answer of every target.
    check(1, money("0.02"), 25, 0);
}

#[test]
fn time_cuts_what_is_in_flight() {
    let played = stage(Budget { time: Some(s(2)), ..Budget::default() }).play();
    assert!(played.took < super::ms(2_100), "{:?}", played.took);
    assert!(played.samples.iter().any(|sample| sample.status == Status::Cancelled));
}

#[test]
fn what_cannot_be_bounded_is_not_sent() {
    let mut stage = stage(Budget { money: Some(dollars("5")), ..Budget::default() });
    stage.plan.targets[0].price = None;
    let played = stage.play();
    assert_eq!(played.of("a").len(), 0);
    assert!(played.spent.unwrap().contains("a price or a token limit is not known"));
}

proptest! {
    /// Whatever attempts use of what was set aside for them, no limit is ever passed.
    #[test]
    fn no_limit_is_passed(
        attempts in prop::collection::vec((1_u64..2_000, 1_u32..2_000, 0.0..1.0_f64, any::<bool>()), 1..60),
        tokens in prop::option::of(0_u64..20_000),
        cents in prop::option::of(0_u32..10),
        requests in prop::option::of(0_u64..40),
    ) {
        let money = cents.map(|cents| Decimal::new(cents.into(), 2));
        let purse = Arc::new(Purse::new(Budget { requests, tokens, money, time: None }, Mono::default()));
        let price = "input=3,output=15".parse().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut held = std::collections::VecDeque::new();
        for (input, output, share, ends) in attempts {
            let need = Need::of(Some(&price), input, Some(output));
            let hold = runtime.block_on(async {
                tokio::select! { biased; hold = purse.hold(&need, || need) => hold, () = std::future::ready(()) => None }
            });
            held.extend(hold.map(|hold| (hold, input, (f64::from(output) * share) as u64)));
            if ends && let Some((hold, input, output)) = held.pop_front() {
                let cost = Decimal::new((input * 3 + output * 15) as i64, 6).to_string();
                purse.settle(hold, &Sample {
                    start_ns: Some(0),
                    input_tokens: Some(input),
                    output_tokens: Some(output),
                    cost_usd: Some(cost),
                    ..Sample::default()
                });
            }
            let used = purse.used();
            prop_assert!(requests.is_none_or(|limit| used.requests <= limit));
            prop_assert!(tokens.is_none_or(|limit| used.tokens <= limit));
            prop_assert!(money.is_none_or(|limit| used.money <= limit));
        }
    }
}
