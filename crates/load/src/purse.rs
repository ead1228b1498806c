//! The budget of a run, shared by all shards: set aside before each attempt, settled when its cost is known.
//!
//! Invariant: what is used and what is set aside never pass a limit together, so that the run does not either, as long
//! as no attempt uses more than was set aside for it. Should a server count more tokens than we did, later attempts set
//! aside so much more. Looked at once an attempt, never while one streams.
//!
//! Where lanes take turns, a turn may use no more than its share of what is left: else the first lane's turn could use up
//! all of it, and nothing would be left to hold it against.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use inferometer_clock::Mono;
use inferometer_plan::Budget;
use inferometer_price::{Decimal, Price};
use inferometer_record::{Sample, Status};
use tokio::sync::watch;

/// Tokens that a price is for.
const PER: u64 = 1_000_000;

/// Requests, tokens and money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    /// Attempts.
    pub requests: u64,
    /// Prompt and output tokens.
    pub tokens: u64,
    /// US dollars.
    pub money: Decimal,
}

impl Amount {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(other.requests),
            tokens: self.tokens.saturating_add(other.tokens),
            money: self.money.saturating_add(other.money),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_sub(other.requests),
            tokens: self.tokens.saturating_sub(other.tokens),
            money: self.money.saturating_sub(other.money).max(Decimal::ZERO),
        }
    }
}

/// What one attempt may use up at most. `None` is not known: a limit on it then lets nothing through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Need {
    tokens: Option<u64>,
    money: Option<Decimal>,
}

impl Need {
    /// Of a prompt of `input` tokens whose answer is limited to `output`, each at the dearest price that may apply.
    pub(crate) fn of(price: Option<&Price>, input: u64, output: Option<u32>) -> Self {
        let tokens = output.map(|output| input.saturating_add(u64::from(output)));
        let money = price.zip(output).and_then(|(price, output)| dearest(price, input, u64::from(output)));
        Self { tokens, money }
    }
}

/// The most that a request of at most `input` and `output` tokens may cost: in whatever tier it falls, and whatever
/// caches and reasoning do.
fn dearest(price: &Price, input: u64, output: u64) -> Option<Decimal> {
    let tiers = price.tiers.iter().map(|tier| tier.above).filter(|above| *above < input);
    let lengths = std::iter::once(0).chain(tiers.map(|above| above.saturating_add(1)));
    let costs = lengths.map(|length| dearest_at(&price.at(length), input, output));
    // One that is not known may be the dearest.
    costs.collect::<Option<Vec<_>>>()?.into_iter().max()
}

fn dearest_at(price: &Price, input: u64, output: u64) -> Option<Decimal> {
    let most = |known: Option<Decimal>, others: [Option<Decimal>; 2]| {
        Some(others.into_iter().flatten().fold(known?, Decimal::max))
    };
    let cost = |price: Decimal, tokens: u64| price.checked_mul(tokens.into())?.checked_div(PER.into());
    let input = cost(most(price.input, [price.cache_read, price.cache_write])?, input)?;
    let output =
        if output == 0 { Decimal::ZERO } else { cost(most(price.output, [price.reasoning, None])?, output)? };
    let sum = input.checked_add(output)?.checked_add(price.request.unwrap_or_default())?;
    Some(price.minimum.map_or(sum, |minimum| sum.max(minimum)))
}

/// What is set aside for one attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hold(Amount);

/// Why something cannot be set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// What others give back may make room.
    Now(Limit),
    /// Nothing will.
    ForGood(Limit),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Requests,
    Tokens,
    Money,
}

/// The budget of a run.
#[derive(Debug)]
pub(crate) struct Purse {
    limits: Budget,
    until: Option<Mono>,
    state: Mutex<State>,
    settled: watch::Sender<()>,
    spent: OnceLock<String>,
    /// Whether the turn that runs has come to the end of its share.
    turn_is_over: AtomicBool,
}

#[derive(Clone, Copy, Debug)]
struct State {
    used: Amount,
    held: Amount,
    /// The largest share of what was set aside that an attempt has used, at least 1.
    overrun: Decimal,
    turn: Option<Turn>,
}

/// The share of the turn that runs.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// What may be used and set aside in all when it is over; no more than the run's own limits.
    limits: Budget,
    /// Requests before it.
    began: u64,
    /// What it came to the end of.
    ended_by: Option<Limit>,
}

/// A turn that came to the end of its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TurnEnd {
    limit: Limit,
    /// Whether anything was sent before.
    pub(crate) has_asked: bool,
}

impl Purse {
    /// The purse of `limits` for a run that starts at `origin`.
    pub(crate) fn new(limits: Budget, origin: Mono) -> Self {
        let (used, held) = (Amount::default(), Amount::default());
        Self {
            limits,
            until: limits.time.map(|time| origin + time),
            state: Mutex::new(State { used, held, overrun: Decimal::ONE, turn: None }),
            settled: watch::Sender::new(()),
            spent: OnceLock::new(),
            turn_is_over: AtomicBool::new(false),
        }
    }

    /// The purse of a run that goes on at `origin`, of whose budget earlier processes have `used` so much, and so much
    /// `time`.
    pub(crate) fn after(limits: Budget, origin: Mono, used: Amount, time: Duration) -> Self {
        let new = Self::new(limits, origin);
        new.state().used = used;
        Self { until: limits.time.map(|limit| origin + limit.saturating_sub(time)), ..new }
    }

    /// What has been used.
    #[cfg(test)]
    pub(crate) fn used(&self) -> Amount {
        self.state().used
    }

    /// Whether anything is limited that must be set aside.
    pub(crate) fn is_limited(&self) -> bool {
        let Budget { requests, tokens, money, .. } = self.limits;
        requests.is_some() || tokens.is_some() || money.is_some()
    }

    /// When the run's time is over.
    pub(crate) fn until(&self) -> Option<Mono> {
        self.until
    }

    /// Whether no further request starts, in this turn or at all.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent.get().is_some() || self.turn_is_over.load(Relaxed)
    }

    /// Begins a turn behind which `others` follow in its block: it may use as much of what is left as each of them.
    pub(crate) fn begin_turn(&self, others: usize) {
        let of = others as u64 + 1;
        let mut state = self.state();
        let used = state.used;
        let both = used.plus(state.held);
        // What earlier turns still hold may be given back: were it counted as used, this turn could take too much.
        let share = |limit: u64, used: u64| used.saturating_add(limit.saturating_sub(used) / of);
        let share_of_money = |limit: Decimal| {
            let left = limit.saturating_sub(used.money).max(Decimal::ZERO);
            let share = left.checked_div(of.into()).unwrap_or_default();
            used.money.saturating_add(share).min(limit)
        };
        let Budget { requests, tokens, money, .. } = self.limits;
        let limits = Budget {
            requests: requests.map(|limit| share(limit, both.requests)),
            tokens: tokens.map(|limit| share(limit, used.tokens)),
            money: money.map(share_of_money),
            ..self.limits
        };
        state.turn = (others > 0).then_some(Turn { limits, began: both.requests, ended_by: None });
        self.turn_is_over.store(false, Relaxed);
    }

    /// Ends the turn; how it came to the end of its share, if it did.
    pub(crate) fn end_turn(&self) -> Option<TurnEnd> {
        let mut state = self.state();
        let both = state.used.plus(state.held);
        let turn = state.turn.take();
        self.turn_is_over.store(false, Relaxed);
        let end = |turn: Turn| Some(TurnEnd { limit: turn.ended_by?, has_asked: both.requests > turn.began });
        turn.and_then(end)
    }

    /// Lets no further request start, since the share of a turn did not last and its block is at its end.
    pub(crate) fn close(&self, end: TurnEnd) {
        let words = self.in_words(end.limit, true);
        let _ = self.spent.set(format!("{words}: all targets stop at the same block"));
        self.settled.send_replace(());
    }

    /// Ends the turn that runs, if one does.
    fn is_end_of_turn(&self, limit: Limit) -> bool {
        let mut state = self.state();
        let Some(turn) = &mut state.turn else { return false };
        turn.ended_by = Some(limit);
        self.turn_is_over.store(true, Relaxed);
        true
    }

    /// Why no further request starts, at `now`.
    pub(crate) fn spent(&self, now: Mono) -> Option<String> {
        let time_is_up = || self.until.is_some_and(|until| now >= until);
        let time = || self.limits.time.filter(|_| time_is_up());
        let in_words = || time().map(|time| format!("the budget of {} s is used up", time.as_secs_f64()));
        self.spent.get().cloned().or_else(in_words)
    }

    /// Sets aside what an attempt may use, once there is room for it; `None` when there never will be. `rough` is known
    /// at once and too much; `exact` is asked for where that does not fit.
    pub(crate) async fn hold(&self, rough: &Need, exact: impl Fn() -> Need) -> Option<Hold> {
        let mut settled = self.settled.subscribe();
        if self.is_spent() {
            return None;
        }
        if let Ok(hold) = self.set_aside(rough) {
            return Some(hold);
        }
        let exact = exact();
        loop {
            settled.borrow_and_update();
            match self.set_aside(&exact) {
                Ok(hold) => return Some(hold),
                Err(Refusal::Now(_)) => settled.changed().await.ok()?,
                Err(Refusal::ForGood(limit)) => {
                    let is_known = match limit {
                        Limit::Requests => true,
                        Limit::Tokens => exact.tokens.is_some(),
                        Limit::Money => exact.money.is_some(),
                    };
                    if !(is_known && self.is_end_of_turn(limit)) {
                        let _ = self.spent.set(self.in_words(limit, is_known));
                    }
                    // Whoever waits for room sees that there will be none.
                    self.settled.send_replace(());
                    return None;
                }
            }
            if self.is_spent() {
                return None;
            }
        }
    }

    /// Gives back what was set aside, and counts what was used.
    pub(crate) fn settle(&self, hold: Hold, sample: &Sample) {
        if self.is_limited() {
            let used = used(sample, hold.0);
            let mut state = self.state();
            state.held = state.held.minus(hold.0);
            state.used = state.used.plus(used);
            state.overrun =
                [ratio(used.money, hold.0.money), ratio(used.tokens.into(), hold.0.tokens.into())]
                    .into_iter()
                    .flatten()
                    .fold(state.overrun, Decimal::max);
            drop(state);
            self.settled.send_replace(());
        }
    }

    fn set_aside(&self, need: &Need) -> Result<Hold, Refusal> {
        let mut state = self.state();
        let State { used, held, overrun, turn } = *state;
        let tokens = need.tokens.map(|tokens| scaled(tokens, overrun));
        let money = need.money.map(|money| money.saturating_mul(overrun));
        let (this, both) = (
            Amount { requests: 1, tokens: tokens.unwrap_or(0), money: money.unwrap_or_default() },
            used.plus(held),
        );
        let limits = turn.map_or(self.limits, |turn| turn.limits);
        let Budget { requests, tokens: token_limit, money: money_limit, .. } = limits;
        // A request that was set aside is used, whatever comes of it.
        if requests.is_some_and(|limit| both.requests >= limit) {
            return Err(Refusal::ForGood(Limit::Requests));
        }
        let refused = |limit, fits_alone: bool| {
            Err(if fits_alone { Refusal::Now(limit) } else { Refusal::ForGood(limit) })
        };
        if let Some(limit) = token_limit
            && (tokens.is_none() || both.tokens.saturating_add(this.tokens) > limit)
        {
            return refused(Limit::Tokens, tokens.is_some_and(|it| used.tokens.saturating_add(it) <= limit));
        }
        if let Some(limit) = money_limit
            && (money.is_none() || both.money.saturating_add(this.money) > limit)
        {
            return refused(Limit::Money, money.is_some_and(|it| used.money.saturating_add(it) <= limit));
        }
        state.held = held.plus(this);
        Ok(Hold(this))
    }

    fn in_words(&self, limit: Limit, is_known: bool) -> String {
        let Budget { requests, tokens, money, .. } = self.limits;
        let budget = match limit {
            Limit::Requests => format!("{} requests", requests.unwrap_or_default()),
            Limit::Tokens => format!("{} tokens", tokens.unwrap_or_default()),
            Limit::Money => format!("${}", money.unwrap_or_default().normalize()),
        };
        if is_known {
            format!("the budget of {budget} is used up")
        } else {
            format!("the budget of {budget} cannot be kept: a price or a token limit is not known")
        }
    }

    /// Nothing is left half done under this lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the attempt of `sample` has used, for which `held` was set aside. What cannot be known is taken for all of
/// that, unless the server has refused the attempt or never got it: then for nothing.
fn used(sample: &Sample, held: Amount) -> Amount {
    if sample.start_ns.is_none() {
        return Amount::default();
    }
    let is_refused = sample.status == Status::HttpError || sample.sent_ns.is_none();
    let unknown = if is_refused { Amount::default() } else { held };
    let cost = sample.cost_usd.as_deref().and_then(|cost| cost.parse().ok());
    // A vector has no output tokens.
    let output = sample.output_tokens.or(sample.dimensions.map(|_| 0));
    let tokens = sample.input_tokens.zip(output).map(|(input, output)| input.saturating_add(output));
    Amount { requests: 1, tokens: tokens.unwrap_or(unknown.tokens), money: cost.unwrap_or(unknown.money) }
}

/// What the attempt of `sample` has used as far as its sample tells.
pub(crate) fn recorded(sample: &Sample) -> Amount {
    used(sample, Amount::default())
}

fn ratio(used: Decimal, held: Decimal) -> Option<Decimal> {
    used.checked_div(held)
}

fn scaled(tokens: u64, by: Decimal) -> u64 {
    u64::try_from(Decimal::from(tokens).saturating_mul(by).ceil()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dearest_price_that_may_apply_is_set_aside() {
        let check = |price: &str, input, output, right: &str| {
            let right: Decimal = right.parse().unwrap();
            assert_eq!(dearest(&price.parse().unwrap(), input, output), Some(right), "{price}");
        };
        check("input=3,output=15", 1_000_000, 100_000, "4.5");
        check("input=3,output=15,cache_write=3.75,cache_read=0.3", 1_000_000, 0, "3.75");
        check("input=3,output=15,reasoning=20,request=0.01", 0, 1_000_000, "20.01");
        check("input=3,output=15,minimum=0.5", 10, 10, "0.5");
        // A long input is dearer, and one that turns out shorter may be as well.
        check("input=3,output=15,input>200000=6", 1_000_000, 0, "6");
        check("input=3,output=15,input>200000=6", 200_000, 0, "0.6");
        check("input=3,output=15,input>200000=1", 1_000_000, 0, "3");
        assert_eq!(dearest(&Price::default(), 10, 10), None);
    }
}
