//! What one request went through, phase by phase.

use std::cell::Cell;
use std::rc::Rc;

use inferometer_clock::Mono;

/// The stamps of one request, shared between its sender and the caller: they stay readable when the send was given up
/// on a timeout. Cloning shares. A phase that did not happen is `None`.
#[derive(Clone, Debug, Default)]
pub struct Trace(Rc<Cells>);

#[derive(Debug, Default)]
struct Cells {
    start: Cell<Option<Mono>>,
    dns: Cell<Option<Mono>>,
    connect: Cell<Option<Mono>>,
    tls: Cell<Option<Mono>>,
    sent: Cell<Option<Mono>>,
    headers: Cell<Option<Mono>>,
    byte: Cell<Option<Mono>>,
    body_end: Cell<Option<Mono>>,
    reused: Cell<bool>,
    stale_reconnects: Cell<u32>,
    version: Cell<Option<http::Version>>,
}

/// When the phases of opening a connection ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    dns: Option<Mono>,
    connect: Option<Mono>,
    tls: Option<Mono>,
}

impl Trace {
    /// A trace of a request that has not begun.
    pub fn new() -> Self {
        Self::default()
    }

    /// When the request was handed to transport, before DNS and connect. A reconnect keeps it.
    pub fn start(&self) -> Option<Mono> {
        self.0.start.get()
    }

    /// When the host's addresses were known. `None` on a reused connection and for an address literal.
    pub fn dns(&self) -> Option<Mono> {
        self.0.dns.get()
    }

    /// When TCP, and the tunnel through a proxy, stood. `None` on a reused connection.
    pub fn connect(&self) -> Option<Mono> {
        self.0.connect.get()
    }

    /// When the TLS handshake was done. `None` on a reused connection and without TLS.
    pub fn tls(&self) -> Option<Mono> {
        self.0.tls.get()
    }

    /// When the kernel had accepted the last byte of the request.
    pub fn sent(&self) -> Option<Mono> {
        self.0.sent.get()
    }

    /// The read that completed status line and headers.
    pub fn headers(&self) -> Option<Mono> {
        self.0.headers.get()
    }

    /// The read that delivered the first byte of the body.
    pub fn byte(&self) -> Option<Mono> {
        self.0.byte.get()
    }

    /// The read that ended the body, or that found it broken.
    pub fn body_end(&self) -> Option<Mono> {
        self.0.body_end.get()
    }

    /// Whether the answer came (or was awaited) on a connection that was open before this request asked for one. A
    /// request that waits for the handshake which another has begun (HTTP/2) is on a new connection.
    pub fn reused(&self) -> bool {
        self.0.reused.get()
    }

    /// Kept connections that turned out to be closed when this request wanted them. Not a failure of the server (W73).
    pub fn stale_reconnects(&self) -> u32 {
        self.0.stale_reconnects.get()
    }

    /// The HTTP version of the answer.
    pub fn version(&self) -> Option<http::Version> {
        self.0.version.get()
    }

    pub(crate) fn begin(&self, at: Mono) {
        if self.0.start.get().is_none() {
            self.0.start.set(Some(at));
        }
    }

    pub(crate) fn set_dns(&self, at: Mono) {
        self.0.dns.set(Some(at));
    }

    pub(crate) fn set_connect(&self, at: Mono) {
        self.0.connect.set(Some(at));
    }

    pub(crate) fn set_tls(&self, at: Mono) {
        self.0.tls.set(Some(at));
    }

    pub(crate) fn set_sent(&self, at: Mono) {
        self.0.sent.set(Some(at));
    }

    pub(crate) fn set_headers(&self, at: Mono, version: http::Version) {
        self.0.headers.set(Some(at));
        self.0.version.set(Some(version));
    }

    /// Only the first byte counts.
    pub(crate) fn set_byte(&self, at: Mono) {
        if self.0.byte.get().is_none() {
            self.0.byte.set(Some(at));
        }
    }

    pub(crate) fn set_body_end(&self, at: Mono) {
        self.0.body_end.set(Some(at));
    }

    /// How the connection was opened that this request has opened.
    pub(crate) fn opening(&self) -> Opening {
        Opening { dns: self.dns(), connect: self.connect(), tls: self.tls() }
    }

    /// Takes the stamps of a connection whose opening this request has waited for. What was done before the request
    /// began did not keep it waiting: such a phase ended when the request began.
    pub(crate) fn adopt(&self, opening: Opening) {
        let begun = self.start();
        let Opening { dns, connect, tls } = opening;
        for (cell, at) in [(&self.0.dns, dns), (&self.0.connect, connect), (&self.0.tls, tls)] {
            cell.set(at.map(|at| begun.map_or(at, |begun| begun.max(at))));
        }
    }

    pub(crate) fn set_reused(&self, reused: bool) {
        self.0.reused.set(reused);
    }

    /// Counts a kept connection that was closed, and forgets what was stamped on it.
    pub(crate) fn add_stale(&self) {
        self.0.stale_reconnects.set(self.0.stale_reconnects.get().saturating_add(1));
        self.0.sent.set(None);
        self.0.reused.set(false);
    }
}
