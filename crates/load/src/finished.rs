//! One attempt that has ended, and what else crosses from the shards to the worker.

use std::time::Duration;

use inferometer_clock::Mono;
use inferometer_record::Phase as PhaseKind;
use inferometer_transport::{Connections, Trace};
use tokio::sync::oneshot;

use crate::ask::Prepared;
use crate::attempt::Seen;
use crate::heart::Hiccup;
use crate::purse::Hold;
use crate::request::Ask;

/// What the worker is told and asked. A question is answered once all that was sent before it is counted.
#[derive(Debug)]
pub(crate) enum Message {
    /// An attempt has ended.
    Ended(Box<Finished>),
    /// Whether the target of this lane refused to be asked at all its warm-ups: its words.
    IsRefused(usize, oneshot::Sender<Option<String>>),
    /// Whether the plan's figure is known well enough of every lane that is measured.
    IsPrecise {
        /// By lane.
        measured: Vec<bool>,
        /// By so many trials, if not by all.
        first: Option<u64>,
        reply: oneshot::Sender<bool>,
    },
}

/// One attempt that has ended, on its way to the worker.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) lane: usize,
    pub(crate) phase: PhaseKind,
    pub(crate) seq: u64,
    pub(crate) request: u64,
    pub(crate) block: Option<u32>,
    pub(crate) role: Option<&'static str>,
    pub(crate) connections: Option<Connections>,
    pub(crate) attempt: u32,
    pub(crate) is_final: bool,
    pub(crate) sched: Mono,
    /// How long the gate held it back before that.
    pub(crate) paced: Duration,
    /// Whether it repeats one whose key was refused, with another.
    pub(crate) has_new_key: bool,
    /// What we did about a refusal: said behind the server's own words.
    pub(crate) note: Option<String>,
    pub(crate) prepared: Prepared,
    /// What the budget had set aside for it.
    pub(crate) hold: Hold,
    pub(crate) stamps: Stamps,
    pub(crate) seen: Seen,
    pub(crate) hiccups: Vec<Hiccup>,
}

impl Finished {
    /// The same request once more, at `sched`.
    pub(crate) fn ask(&self, sched: Mono) -> Ask {
        let Self { seq, request, block, role, connections, has_new_key, .. } = *self;
        let (paced, prepared) = (Duration::ZERO, self.prepared.clone());
        Ask { seq, request, block, role, connections, sched, paced, has_new_key, prepared }
    }
}

/// The phases of one attempt, out of the transport's trace.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stamps {
    pub(crate) dns: Option<Mono>,
    pub(crate) connect: Option<Mono>,
    pub(crate) tls: Option<Mono>,
    pub(crate) sent: Option<Mono>,
    pub(crate) headers: Option<Mono>,
    pub(crate) byte: Option<Mono>,
    pub(crate) version: Option<http::Version>,
    pub(crate) reused: bool,
    pub(crate) stale_reconnects: u32,
}

impl From<&Trace> for Stamps {
    fn from(trace: &Trace) -> Self {
        Self {
            dns: trace.dns(),
            connect: trace.connect(),
            tls: trace.tls(),
            sent: trace.sent(),
            headers: trace.headers(),
            byte: trace.byte(),
            version: trace.version(),
            reused: trace.reused(),
            stale_reconnects: trace.stale_reconnects(),
        }
    }
}
