//! HTTP/2 connections, each shared by a stated number of streams.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::rt::Executor;
use hyper_util::rt::TokioIo;
use tokio::sync::OnceCell;

use crate::Error;
use crate::error::{closed, find};
use crate::payload::Payload;
use crate::stamped::Stamps;
use crate::stream::Stream;
use crate::trace::Opening;

/// Runs hyper's tasks on this thread.
#[derive(Clone)]
struct ThisThread;

impl<F: Future + 'static> Executor<F> for ThisThread {
    fn execute(&self, task: F) {
        tokio::task::spawn_local(task);
    }
}

/// An open connection. Its driver is a task of its own: many requests hang on it.
pub(crate) struct Connection {
    sender: SendRequest<Payload>,
    stamps: Rc<Stamps>,
    opening: Opening,
    driver: Rc<DriverState>,
}

/// What the driver's task lets its connection know.
#[derive(Default)]
struct DriverState {
    /// Most streams that the server takes at once, as far as it has told.
    room: Cell<usize>,
    /// Why the connection ended.
    failure: RefCell<Option<hyper::Error>>,
}

impl Connection {
    /// On a stream that was opened as `opening` tells. Must run where `spawn_local` can.
    pub(crate) async fn new(stream: Stream, opening: Opening) -> hyper::Result<Self> {
        let stamps = Rc::clone(stream.stamps());
        let (sender, mut driver) = Builder::new(ThisThread).handshake(TokioIo::new(stream)).await?;
        let state = Rc::new(DriverState::default());
        state.room.set(driver.current_max_send_streams());
        let told = Rc::clone(&state);
        tokio::task::spawn_local(poll_fn(move |cx| {
            let polled = Pin::new(&mut driver).poll(cx);
            told.room.set(driver.current_max_send_streams());
            polled.map(|ended| *told.failure.borrow_mut() = ended.err())
        }));
        Ok(Self { sender, stamps, opening, driver: state })
    }

    pub(crate) fn stamps(&self) -> &Rc<Stamps> {
        &self.stamps
    }

    pub(crate) fn opening(&self) -> Opening {
        self.opening
    }

    pub(crate) async fn round_trip(
        &self,
        request: Request<Payload>,
        peer: &str,
    ) -> Result<Response<Incoming>, Failure> {
        let before = self.stamps.delivered();
        self.sender.clone().send_request(request).await.map_err(|cause| {
            let silent = || closed(&cause) && self.stamps.delivered() == before;
            let never_begun = never_begun(&cause) || silent();
            // A request that was on its way when the connection ended only hears that it was cancelled.
            let ended = self.driver.failure.borrow_mut().take().filter(|_| cause.is_canceled());
            Failure { error: Error::head(peer, ended.unwrap_or(cause)), never_begun }
        })
    }
}

/// A request that got no head in answer.
pub(crate) struct Failure {
    pub(crate) error: Error,
    /// Whether the server never worked on it, as far as can be seen: it may go out once more on another connection,
    /// where this one had been opened by an earlier request.
    pub(crate) never_begun: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, never_begun: false }
    }
}

/// Whether the server never worked on a request that failed with `error`.
fn never_begun(error: &hyper::Error) -> bool {
    if error.is_canceled() || error.is_closed() {
        return true;
    }
    find::<h2::Error>(error).is_some_and(|h2| {
        h2.reason() == Some(h2::Reason::REFUSED_STREAM)
            || (h2.is_go_away() && h2.reason() == Some(h2::Reason::NO_ERROR))
    })
}

/// A place for a connection, and how many streams lean on it.
#[derive(Default)]
struct Slot {
    streams: Cell<usize>,
    connection: OnceCell<Connection>,
}

impl Slot {
    fn has_room(&self, most: usize) -> bool {
        let most = self.connection.get().map_or(most, |connection| most.min(connection.driver.room.get()));
        self.streams.get() < most
    }

    fn is_closed(&self) -> bool {
        self.connection.get().is_some_and(|connection| connection.sender.is_closed())
    }
}

/// A stream's hold on its connection.
pub(crate) struct Lease(Rc<Slot>);

impl Lease {
    fn on(slot: &Rc<Slot>) -> Self {
        slot.streams.set(slot.streams.get() + 1);
        Self(Rc::clone(slot))
    }

    /// A hold on a connection that nobody else will share.
    pub(crate) fn alone() -> Self {
        Self::on(&Rc::default())
    }

    /// Whether an earlier request has opened the connection.
    pub(crate) fn is_open(&self) -> bool {
        self.0.connection.initialized()
    }

    /// The connection. The first who asks opens it, the others wait; where opening fails the next one tries.
    pub(crate) async fn connection(
        &self,
        open: impl Future<Output = Result<Connection, Error>>,
    ) -> Result<&Connection, Error> {
        self.0.connection.get_or_try_init(|| open).await
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.0.streams.set(self.0.streams.get() - 1);
    }
}

/// The connections of one client.
#[derive(Default)]
pub(crate) struct Slots(RefCell<Vec<Rc<Slot>>>);

impl Slots {
    /// A hold on the first connection with room for a stream, on a new one where there is none.
    pub(crate) fn lease(&self, most: usize) -> Lease {
        let mut slots = self.0.borrow_mut();
        slots.retain(|slot| !slot.is_closed());
        if let Some(slot) = slots.iter().find(|slot| slot.has_room(most)) {
            return Lease::on(slot);
        }
        let slot = Rc::default();
        slots.push(Rc::clone(&slot));
        Lease::on(&slot)
    }

    /// Gives up every connection: no further request gets one of them.
    pub(crate) fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    /// Gives up the connection that `lease` holds: no further request gets it.
    pub(crate) fn retire(&self, lease: &Lease) {
        self.0.borrow_mut().retain(|slot| !Rc::ptr_eq(slot, &lease.0));
    }
}
