//! Has a target's key read again: before it expires, and where the server refuses it.
//!
//! The command runs on a thread of its own. Until it has ended requests go out with the old key; one that has expired
//! already waits for the new one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use inferometer_clock::{Clock, Wall};
use inferometer_plan::{Life, Renewal, Secrets};
use tokio::sync::watch;

/// A request waits no longer for a key: a command has 30 s.
const WAIT_MAX: Duration = Duration::from_secs(35);
/// A key that is due is not asked for more often than this, whatever comes of it.
const REST_NS: i64 = 10_000_000_000;

/// Which of a target's keys it is: each that is read has the next number.
pub(crate) type Number = u64;

/// Keeps one target's key.
#[derive(Debug)]
pub(crate) struct Keeper {
    renewal: Renewal,
    name: HeaderName,
    secrets: Secrets,
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

#[derive(Debug)]
struct State {
    /// The newest key; `None` is the one among the target's headers.
    value: Option<HeaderValue>,
    number: Number,
    life: Life,
    is_running: bool,
    /// When it was run last.
    ran: Option<Wall>,
    /// The key that the server has refused, until it has been read for that.
    wanted: Option<Number>,
    /// The key for whose refusal it was read, and what came of it.
    refused: Option<(Number, Outcome)>,
}

/// What came of reading a key that the server had refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Another key.
    New,
    /// The same again.
    Same,
    /// None, and why.
    None(String),
}

impl Keeper {
    pub(crate) fn new(renewal: &Renewal, secrets: &Secrets) -> Self {
        let life = renewal.life();
        Self {
            name: renewal.header_name(),
            renewal: renewal.clone(),
            secrets: secrets.clone(),
            state: Mutex::new(State {
                value: None,
                number: 0,
                life,
                is_running: false,
                ran: None,
                wanted: None,
                refused: None,
            }),
            changed: watch::Sender::new(()),
        }
    }

    /// Puts the newest key into `headers`; its number.
    pub(crate) fn show(&self, headers: &mut HeaderMap) -> Number {
        let state = self.state();
        if let Some(value) = &state.value {
            headers.insert(self.name.clone(), value.clone());
        }
        state.number
    }

    /// Has the key read where it is due. Waits for it only where the present one has expired.
    pub(crate) async fn ready(self: &Arc<Self>, clock: &Clock) {
        let (is_due, has_expired) = self.state().is_due(Wall::now());
        if is_due {
            self.start();
        }
        if has_expired {
            self.ended(clock).await;
        }
    }

    /// The server has refused the key of this number: has it read again, once for each key, and waits for that.
    pub(crate) async fn renew(self: &Arc<Self>, number: Number, clock: &Clock) -> Outcome {
        {
            let mut state = self.state();
            if state.number > number {
                return Outcome::New;
            }
            if let Some((_, outcome)) = state.refused.as_ref().filter(|(refused, _)| *refused == number) {
                return outcome.clone();
            }
            state.wanted = Some(number);
        }
        self.start();
        if !self.ended(clock).await {
            return Outcome::None(format!("it has not ended after {} s", WAIT_MAX.as_secs()));
        }
        let state = self.state();
        match &state.refused {
            _ if state.number > number => Outcome::New,
            Some((refused, outcome)) if *refused == number => outcome.clone(),
            _ => Outcome::Same,
        }
    }

    /// What the key comes from, for people.
    pub(crate) fn field(&self) -> &'static str {
        self.renewal.field()
    }

    /// Runs it, unless it runs.
    fn start(self: &Arc<Self>) {
        {
            let mut state = self.state();
            if std::mem::replace(&mut state.is_running, true) {
                return;
            }
            state.ran = Some(Wall::now());
        }
        let keeper = Arc::clone(self);
        let thread = thread::Builder::new().name("key".to_owned());
        let started = thread.spawn(move || keeper.take(keeper.renewal.read(&keeper.secrets)));
        if let Err(error) = started {
            self.take(Err(format!("no thread can be started for it: {error}")));
        }
    }

    /// Takes what was read.
    fn take(&self, read: Result<(HeaderValue, Life), String>) {
        let mut state = self.state();
        let number = state.number;
        let outcome = match read {
            Ok((value, life)) => {
                state.life = life;
                if state.value.as_ref() == Some(&value) || self.is_first(&state, &value) {
                    Outcome::Same
                } else {
                    (state.value, state.number) = (Some(value), number + 1);
                    Outcome::New
                }
            }
            Err(reason) => Outcome::None(reason),
        };
        if state.wanted.take() == Some(number) {
            state.refused = Some((number, outcome));
        }
        state.is_running = false;
        drop(state);
        self.changed.send_replace(());
    }

    /// Whether `value` is the key that the target was given first, and has still.
    fn is_first(&self, state: &State, value: &HeaderValue) -> bool {
        state.value.is_none() && self.renewal.first() == value
    }

    /// Waits until it does not run; false where that takes too long.
    async fn ended(&self, clock: &Clock) -> bool {
        let mut changed = self.changed.subscribe();
        let ended = async {
            while self.state().is_running {
                if changed.changed().await.is_err() {
                    break;
                }
            }
        };
        tokio::select! { () = ended => true, () = clock.sleep(WAIT_MAX) => false }
    }

    /// Nothing is left half done under this lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether the key is to be read again, and whether it has expired.
    fn is_due(&self, now: Wall) -> (bool, bool) {
        let has_come = |at: Option<Wall>| at.is_some_and(|at| at <= now);
        let has_rested =
            self.ran.is_none_or(|ran| now.unix_nanos().saturating_sub(ran.unix_nanos()) >= REST_NS);
        (has_come(self.life.renewal()) && has_rested, has_come(self.life.expires))
    }
}
