//! One attempt that has ended.

use inferometer_clock::Mono;
use inferometer_record::Phase as PhaseKind;
use inferometer_transport::Trace;

use crate::ask::Prepared;
use crate::attempt::Seen;
use crate::heart::Hiccup;

/// One attempt that has ended, on its way to the worker.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) phase: PhaseKind,
    pub(crate) seq: u64,
    pub(crate) request: u64,
    pub(crate) attempt: u32,
    pub(crate) is_final: bool,
    pub(crate) sched: Mono,
    pub(crate) prepared: Prepared,
    pub(crate) stamps: Stamps,
    pub(crate) seen: Seen,
    pub(crate) hiccups: Vec<Hiccup>,
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
