//! Keeps the requests to one target under the limits that it tells, where the load asks for that.
//!
//! A gate knows what was left by the newest answer, and takes from it what is on its way and not yet counted there. What
//! would go below nothing waits for the reset; news wakes it sooner. All shards and cells of a target share one gate.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use inferometer_clock::{Clock, Mono};
use inferometer_wire::limits::{Kind, Limit, Told};
use tokio::sync::watch;

/// A wait longer than this is none: the target's lane ends and says why.
const LONGEST_WAIT: Duration = Duration::from_mins(15);
/// How long nothing is sent after a refusal that says nothing of when to come again; twice as long after each further one.
const FIRST_REST: Duration = Duration::from_secs(1);
/// The longest such rest.
const LONGEST_REST: Duration = Duration::from_mins(1);
/// A reset is told in whole milliseconds at best, and reckoned by another clock.
const SLACK: Duration = Duration::from_millis(10);

/// What an attempt may use up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    pub(crate) requests: u64,
    pub(crate) input: u64,
    pub(crate) output: u64,
}

impl Weight {
    /// One request of so many tokens; no limit of the answer reserves nothing.
    pub(crate) fn of(input: u64, output: Option<u32>) -> Self {
        Self { requests: 1, input, output: output.unwrap_or(0).into() }
    }

    fn of_kind(self, kind: Kind) -> u64 {
        match kind {
            Kind::Requests => self.requests,
            Kind::Tokens => self.input.saturating_add(self.output),
            Kind::InputTokens => self.input,
            Kind::OutputTokens => self.output,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(other.requests),
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_sub(other.requests),
            input: self.input.saturating_sub(other.input),
            output: self.output.saturating_sub(other.output),
        }
    }
}

/// One target's gate.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: watch::Sender<()>,
    closed: OnceLock<String>,
}

#[derive(Debug, Default)]
struct State {
    buckets: Vec<Bucket>,
    /// Nothing is sent before this.
    shut_until: Option<Mono>,
    /// Refusals in a row that did not say when to come again; those of one burst are one.
    unadvised: u32,
    /// Attempts whose answer has not come: none has counted them.
    in_flight: Weight,
    /// Whether any attempt has ended: before, nothing is known, and one asks alone.
    has_heard: bool,
    /// Attempts that were let through, and the newest of them whose answer told something.
    passed: u64,
    newest: u64,
}

/// One limit, as it was told last.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    kind: Kind,
    window_s: Option<u64>,
    limit: Option<u64>,
    remaining: u64,
    reset: Option<Mono>,
}

/// Why an attempt is not let through yet.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wait {
    /// Until this, or news; what it waits for.
    Until(Mono, &'static str),
    /// For news alone.
    News,
}

/// An attempt that was let through. Where it ends without an answer, what was taken for it is given back.
#[derive(Debug)]
pub(crate) struct Ticket {
    gate: Arc<Gate>,
    number: u64,
    weight: Weight,
    /// Whether it had to wait.
    pub(crate) has_waited: bool,
    is_counted: std::cell::Cell<bool>,
}

impl Gate {
    /// Waits until an attempt may be sent; `None` where that would take too long ([`Gate::closed`]). `rough` is known at
    /// once and too much; `exact` is asked for where that does not fit.
    pub(crate) async fn pass(
        self: &Arc<Self>,
        clock: &Clock,
        rough: Weight,
        exact: impl FnOnce() -> Weight,
    ) -> Option<Ticket> {
        let mut changed = self.changed.subscribe();
        let (mut weight, mut exact, mut has_waited) = (rough, Some(exact), false);
        loop {
            changed.borrow_and_update();
            if self.closed.get().is_some() {
                return None;
            }
            let now = clock.now();
            let wait = match self.try_pass(weight, now) {
                Ok(number) => {
                    let is_counted = std::cell::Cell::new(false);
                    return Some(Ticket { gate: Arc::clone(self), number, weight, has_waited, is_counted });
                }
                Err(wait) => wait,
            };
            if let Some(exact) = exact.take() {
                weight = exact();
                continue;
            }
            has_waited = true;
            match wait {
                Wait::News => drop(changed.changed().await),
                Wait::Until(until, what) if until - now > LONGEST_WAIT => self.close(until - now, what),
                Wait::Until(until, _) => tokio::select! {
                    () = clock.sleep_until(until) => {}
                    _ = changed.changed() => {}
                },
            }
        }
    }

    /// Why nothing more is let through, where that is so.
    pub(crate) fn closed(&self) -> Option<&str> {
        self.closed.get().map(String::as_str)
    }

    fn close(&self, wait: Duration, what: &str) {
        let _ = self.closed.set(format!(
            "{what} asks to wait {} min, which is longer than the pacer waits ({} min)",
            wait.as_secs().div_ceil(60),
            LONGEST_WAIT.as_secs() / 60
        ));
        self.changed.send_replace(());
    }

    fn try_pass(&self, weight: Weight, now: Mono) -> Result<u64, Wait> {
        let mut state = self.state();
        if let Some(until) = state.shut_until.filter(|until| *until > now) {
            return Err(Wait::Until(until, "a refusal"));
        }
        let in_flight = state.in_flight;
        if !state.has_heard && in_flight.requests > 0 {
            return Err(Wait::News);
        }
        state.buckets.retain_mut(|bucket| bucket.refill(now));
        let waits = state.buckets.iter().filter_map(|bucket| bucket.wait(weight, in_flight));
        if let Some(wait) = waits.max_by_key(|wait| match wait {
            Wait::News => None,
            Wait::Until(until, _) => Some(*until),
        }) {
            return Err(wait);
        }
        state.in_flight = in_flight.plus(weight);
        state.passed += 1;
        Ok(state.passed)
    }

    /// Nothing is left half done under this lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bucket {
    /// Behind its reset all of it is there; false where it is not known how much that is.
    fn refill(&mut self, now: Mono) -> bool {
        if self.reset.is_some_and(|reset| reset <= now) {
            let Some(limit) = self.limit else { return false };
            (self.remaining, self.reset) = (limit, None);
        }
        true
    }

    /// What an attempt of `weight` has to wait for. One that is larger than the limit goes when all of it is there: what the
    /// server says of it is its own affair.
    fn wait(&self, weight: Weight, in_flight: Weight) -> Option<Wait> {
        let need = weight.of_kind(self.kind).min(self.limit.unwrap_or(u64::MAX));
        let taken = in_flight.of_kind(self.kind);
        if need == 0 || need <= self.remaining.saturating_sub(taken) {
            return None;
        }
        match self.reset {
            Some(reset) if need > self.remaining => Some(Wait::Until(reset, "a limit that was told")),
            _ if taken > 0 => Some(Wait::News),
            // Nothing says when there will be more: the server has to.
            _ => None,
        }
    }
}

impl Ticket {
    /// Takes what the headers of its answer told, which came `now`.
    pub(crate) fn hear(&self, told: &Told, is_throttled: bool, now: Mono) {
        if self.is_counted.replace(true) {
            return;
        }
        let mut state = self.gate.state();
        state.give_back(self.weight);
        let is_newest = self.number > state.newest;
        state.newest = state.newest.max(self.number);
        for limit in &told.limits {
            state.take(limit, is_newest, now);
        }
        state.shut(told.retry_after, is_throttled, now);
        drop(state);
        self.gate.changed.send_replace(());
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.is_counted.get() {
            self.gate.state().give_back(self.weight);
            self.gate.changed.send_replace(());
        }
    }
}

impl State {
    fn give_back(&mut self, weight: Weight) {
        self.in_flight = self.in_flight.minus(weight);
        self.has_heard = true;
    }

    /// Lets nothing through for as long as a refusal asks, or for a rest of our own.
    fn shut(&mut self, advice: Option<Duration>, is_throttled: bool, now: Mono) {
        let is_open = self.shut_until.is_none_or(|until| until <= now);
        if !is_throttled {
            // What was sent before the refusal, and is answered behind it, says nothing.
            self.unadvised = if is_open { 0 } else { self.unadvised };
            return;
        }
        let rest = FIRST_REST.saturating_mul(2_u32.saturating_pow(self.unadvised)).min(LONGEST_REST);
        self.unadvised = self.unadvised.saturating_add(u32::from(is_open && advice.is_none()));
        if advice.is_some() || is_open {
            self.shut_until = self.shut_until.max(Some(now + advice.unwrap_or(rest)));
        }
    }

    /// Takes one limit. Of an attempt that was sent before the newest, only less than is known is news: the newest was
    /// counted after it.
    fn take(&mut self, told: &Limit, is_newest: bool, now: Mono) {
        // A limit of nothing is how some write that there is none.
        let (Some(remaining), false) = (told.remaining, told.limit == Some(0)) else { return };
        let until = told.reset_ns.map(Duration::from_nanos);
        let until = until.or_else(|| told.window_s.map(Duration::from_secs));
        let (kind, window_s, limit) = (told.kind, told.window_s, told.limit);
        let reset = until.map(|until| now + until + SLACK);
        let bucket = Bucket { kind, window_s, limit, remaining, reset };
        match self.buckets.iter_mut().find(|known| known.kind == kind && known.window_s == window_s) {
            Some(known) if is_newest || remaining < known.remaining => *known = bucket,
            Some(_) => {}
            None => self.buckets.push(bucket),
        }
    }
}
