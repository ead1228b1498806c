//! What crosses threads while a cell runs: the order to stop, and live counts.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

use tokio::sync::watch;
use tokio::task::coop::unconstrained;

/// Stops a run from outside: a signal, a budget, a full disk. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Control(Arc<watch::Sender<bool>>);

impl Default for Control {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl Control {
    /// No further request starts, and those in flight are cut: they end as `cancelled`.
    pub fn cut(&self) {
        self.0.send_replace(true);
    }

    /// Whether the run was cut.
    pub fn is_cut(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits for the cut.
    pub(crate) async fn cut_ordered(&self) {
        cut_of(self.watch()).await;
    }

    /// Sees the cut from a shard.
    pub(crate) fn watch(&self) -> watch::Receiver<bool> {
        self.0.subscribe()
    }
}

/// Completes when the run is cut; never where nobody is left to cut it.
pub(crate) async fn cut_of(mut cut: watch::Receiver<bool>) {
    if cut.wait_for(|cut| *cut).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The cut, awaited beside a stream of events: polling again in the same task costs a look at a counter.
pub(crate) struct Interrupt {
    cut: watch::Receiver<bool>,
    ordered: Pin<Box<dyn Future<Output = ()>>>,
    /// Whom the cut will wake.
    waker: Option<Waker>,
}

impl Interrupt {
    pub(crate) fn new(cut: &watch::Receiver<bool>) -> Self {
        // Without a budget: once that is used up, a poll would enter nobody to be woken.
        let ordered = Box::pin(unconstrained(cut_of(cut.clone())));
        Self { cut: cut.clone(), ordered, waker: None }
    }

    /// Ready once the run is cut.
    pub(crate) fn poll_cut(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let is_awaited = self.waker.as_ref().is_some_and(|known| known.will_wake(cx.waker()));
        if is_awaited && !self.cut.has_changed().unwrap_or(true) {
            return Poll::Pending;
        }
        self.waker = Some(cx.waker().clone());
        self.ordered.as_mut().poll(cx)
    }
}

/// Counts of the cell that runs, for a progress line. Nothing is measured by them.
#[derive(Debug, Default)]
pub struct Live {
    started: AtomicU64,
    ended: AtomicU64,
    failed: AtomicU64,
}

impl Live {
    /// Attempts started.
    pub fn started(&self) -> u64 {
        self.started.load(Relaxed)
    }

    /// Attempts ended.
    pub fn ended(&self) -> u64 {
        self.ended.load(Relaxed)
    }

    /// Attempts that failed.
    pub fn failed(&self) -> u64 {
        self.failed.load(Relaxed)
    }

    /// Attempts in flight.
    pub fn in_flight(&self) -> u64 {
        self.started().saturating_sub(self.ended())
    }

    pub(crate) fn start(&self) {
        self.started.fetch_add(1, Relaxed);
    }

    pub(crate) fn end(&self) {
        self.ended.fetch_add(1, Relaxed);
    }

    pub(crate) fn fail(&self) {
        self.failed.fetch_add(1, Relaxed);
    }
}
