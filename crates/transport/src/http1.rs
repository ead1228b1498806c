//! One HTTP/1.1 connection, polled by whoever uses it.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, Connection as Driver, SendRequest};
use hyper_util::rt::TokioIo;

use crate::payload::Payload;
use crate::stamped::{Socket, Stamps};
use crate::stream::Stream;

/// The longest head of an answer, and the most that one read takes in. hyper starts at 8 KiB and grows only where reads
/// fill the buffer, so that an open stream costs 8 KiB and a flood is read in few system calls. (2,000 streams of 20 events a
/// second: 23 KiB a stream over the whole process, of which a bare reader with the same buffer takes 13.)
const MAX_BUFFER: usize = 64 * 1024;

/// A connection and the future that drives it. Nothing is spawned: the driver makes progress only within
/// [`Connection::poll_drive`], so that what it delivers is taken in the same poll in which it was read.
pub(crate) struct Connection {
    sender: SendRequest<Payload>,
    driver: Option<Driver<TokioIo<Stream>, Payload>>,
    stamps: Rc<Stamps>,
    /// Without TLS.
    plain_socket: Option<Socket>,
}

impl Connection {
    pub(crate) async fn new(stream: Stream) -> hyper::Result<Box<Self>> {
        let (stamps, plain_socket) = (Rc::clone(stream.stamps()), stream.plain_socket());
        let handshake = Builder::new().max_buf_size(MAX_BUFFER).handshake(TokioIo::new(stream));
        let (sender, driver) = handshake.await?;
        Ok(Box::new(Self { sender, driver: Some(driver), stamps, plain_socket }))
    }

    pub(crate) fn stamps(&self) -> &Rc<Stamps> {
        &self.stamps
    }

    /// Moves bytes between socket and hyper. Its end shows in what hangs on it: the head's future, or the body.
    pub(crate) fn poll_drive(&mut self, cx: &mut Context<'_>) {
        if let Some(driver) = &mut self.driver
            && Pin::new(driver).poll(cx).is_ready()
        {
            self.driver = None;
        }
    }

    /// Whether hyper, having made `data`, holds nothing that it could make more of without a further read.
    pub(crate) fn is_spent_by(&self, data: &[u8], in_chunks: bool) -> bool {
        self.plain_socket.is_some() && self.driver.is_some() && self.stamps.is_used_up_by(data, in_chunks)
    }

    /// Waits for the socket without hyper. Pending only where a read would find nothing.
    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.plain_socket.as_ref().map_or(Poll::Ready(()), |socket| socket.borrow().poll_readable(cx))
    }

    /// Sends `request` and awaits the head of its answer, which the last read has completed.
    pub(crate) async fn round_trip(
        &mut self,
        request: Request<Payload>,
    ) -> hyper::Result<Response<Incoming>> {
        let mut head = pin!(self.sender.send_request(request));
        let (driver, stamps) = (&mut self.driver, &self.stamps);
        let answered = poll_fn(|cx| {
            stamps.one_read_a_poll();
            if let Some(running) = driver
                && Pin::new(running).poll(cx).is_ready()
            {
                *driver = None;
            }
            head.as_mut().poll(cx)
        });
        let answer = answered.await;
        self.stamps.any_reads();
        answer
    }

    /// Whether a request may be sent: the last answer is over and the server has not closed.
    pub(crate) fn poll_ready(&mut self, cx: &mut Context<'_>) -> bool {
        if !self.sender.is_ready() {
            self.poll_drive(cx);
        }
        self.driver.is_some() && self.sender.is_ready()
    }

    /// Whether a connection that was idle still stands, as far as this machine knows.
    async fn is_alive(&mut self) -> bool {
        poll_fn(|cx| {
            self.poll_drive(cx);
            Poll::Ready(self.driver.is_some() && self.sender.is_ready())
        })
        .await
    }
}

/// The idle connections of one client, the last one kept on top. There are never more than there were requests at once.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "an exchange holds its connection boxed: kept so, it moves as a pointer")]
pub(crate) struct Pool(RefCell<Vec<Box<Connection>>>);

impl Pool {
    pub(crate) fn put(&self, connection: Box<Connection>) {
        self.0.borrow_mut().push(connection);
    }

    pub(crate) fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    /// The last connection kept that still stands; `dead` is told of each that does not.
    pub(crate) async fn take(&self, dead: impl Fn()) -> Option<Box<Connection>> {
        loop {
            let mut connection = self.0.borrow_mut().pop()?;
            if connection.is_alive().await {
                return Some(connection);
            }
            dead();
        }
    }
}
