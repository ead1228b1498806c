//! An answer, read by read.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, StatusCode, Version, response};
use hyper::body::{Body, Incoming};
use inferometer_clock::Mono;

use crate::inflate::Inflate;
use crate::stamped::Stamps;
use crate::{Error, Kind, Target, Trace, http1, http2};

/// A piece of a body, decompressed.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The bytes; never empty.
    pub data: Bytes,
    /// The socket read that delivered the last of them. On HTTP/2 the last read before the frame was taken.
    pub at: Mono,
}

/// An answer whose head is in. Read to its end it gives its connection back; dropped before, it closes it (HTTP/1.1) or
/// resets its stream (HTTP/2).
pub struct Exchange {
    source: Source,
    stamps: Rc<Stamps>,
    trace: Trace,
    inflate: Option<Inflate>,
    ended: bool,
    head: response::Parts,
    target: Target,
    /// What [`Exchange::next`] has read and not given yet, and the failure behind it.
    waiting: VecDeque<Frame>,
    failure: Option<Error>,
}

/// The head's first line; headers may hold cookies.
impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exchange({:?} {})", self.head.version, self.head.status)
    }
}

/// Where the body comes from.
pub(crate) enum Source {
    Http1 { connection: Option<Box<http1::Connection>>, pool: Option<Rc<http1::Pool>> },
    Http2 { body: Incoming, _lease: http2::Lease },
}

impl Exchange {
    /// Fails where the body is in an encoding that cannot be decoded.
    pub(crate) fn new(
        head: response::Parts,
        source: Source,
        stamps: &Rc<Stamps>,
        target: &Target,
        trace: &Trace,
    ) -> Result<Self, Error> {
        trace.set_headers(stamps.last_read(), head.version);
        Ok(Self {
            inflate: decoder(&head.headers, target.peer())?,
            head,
            source,
            ended: false,
            stamps: Rc::clone(stamps),
            target: target.clone(),
            trace: trace.clone(),
            waiting: VecDeque::new(),
            failure: None,
        })
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.head.status
    }

    /// The headers, as they came.
    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// The HTTP version.
    pub fn version(&self) -> Version {
        self.head.version
    }

    /// Whether the body came compressed: gaps between its frames may be the encoder's (W71).
    pub fn compressed(&self) -> bool {
        self.inflate.is_some()
    }

    /// Whether stamps are upper bounds: on HTTP/2 other streams' reads may come between a frame and its stamp.
    pub fn stamp_bound(&self) -> bool {
        matches!(self.source, Source::Http2 { .. })
    }

    /// The next frame; `None` once the body has ended as it should. After an error nothing follows. Safe to drop and call
    /// again. Each frame is a copy: who reads a stream that is measured uses [`Exchange::poll_read`].
    pub async fn next(&mut self) -> Option<Result<Frame, Error>> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame, Error>>> {
        loop {
            if let Some(frame) = self.waiting.pop_front() {
                return Poll::Ready(Some(Ok(frame)));
            }
            if let Some(error) = self.failure.take() {
                return Poll::Ready(Some(Err(error)));
            }
            let mut waiting = std::mem::take(&mut self.waiting);
            let read = self.poll_read(cx, &mut |data, at| {
                waiting.push_back(Frame { data: Bytes::copy_from_slice(data), at });
            });
            self.waiting = waiting;
            match ready!(read) {
                Some(read) => self.failure = read.err(),
                None if self.waiting.is_empty() => return Poll::Ready(None),
                None => {}
            }
        }
    }

    /// Reads once, at most, and tells each piece of the body in it to `sink`, with the stamp of a [`Frame`]. Ready with
    /// `None` once the body has ended as it should, the last pieces told; after an error nothing follows. While it is
    /// pending everything that came has been told.
    pub fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        sink: &mut dyn FnMut(&[u8], Mono),
    ) -> Poll<Option<Result<(), Error>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let Self { source, stamps, trace, inflate, target, .. } = self;
        let mut inflated = Ok(());
        let read = source.poll_read(cx, target.peer(), &mut |data| {
            let at = stamps.last_read();
            trace.set_byte(at);
            match inflate {
                None => sink(data, at),
                Some(inflate) if inflated.is_ok() => {
                    inflated = inflate.feed(data, &mut |data| sink(data, at));
                }
                Some(_) => {}
            }
        });
        if let Err(cause) = inflated {
            return Poll::Ready(Some(Err(self.garbled(cause))));
        }
        match ready!(read) {
            Ok(true) => Poll::Ready(Some(Ok(()))),
            Ok(false) => Poll::Ready(self.finish(sink).err().map(Err)),
            Err(error) => Poll::Ready(Some(Err(self.broken(error)))),
        }
    }

    /// The body is over: its connection goes back, and the decoder says whether it is at its end too.
    fn finish(&mut self, sink: &mut dyn FnMut(&[u8], Mono)) -> Result<(), Error> {
        self.ended = true;
        let last = self.stamps.last_read();
        let at = if self.source.ends_itself() { last } else { self.stamps.closed().unwrap_or(last) };
        self.trace.set_body_end(at);
        self.source.give_back();
        // A body without a byte (a 204, say) has nothing to decompress.
        let Some(inflate) = self.inflate.as_mut().filter(|_| self.trace.byte().is_some()) else {
            return Ok(());
        };
        inflate.finish(&mut |data| sink(data, at)).map_err(|cause| {
            let message = format!("{} broke its compressed body off", self.target.peer());
            Error::new(Kind::Body, message).caused_by(cause)
        })
    }

    fn garbled(&mut self, cause: io::Error) -> Error {
        self.ended = true;
        self.source.close();
        let message = format!("{} sent a body whose compression cannot be read: {cause}", self.target.peer());
        Error::new(Kind::Protocol, message).caused_by(cause)
    }

    fn broken(&mut self, error: Error) -> Error {
        self.ended = true;
        self.source.close();
        self.trace.set_body_end(self.stamps.closed().unwrap_or(self.stamps.last_read()));
        error
    }
}

/// The decoder that the headers ask for.
fn decoder(headers: &HeaderMap, peer: &str) -> Result<Option<Inflate>, Error> {
    let Some(encoding) = headers.get(CONTENT_ENCODING) else { return Ok(None) };
    let name = String::from_utf8_lossy(encoding.as_bytes()).trim().to_ascii_lowercase();
    if name.is_empty() || name == "identity" {
        return Ok(None);
    }
    Inflate::new(&name).map(Some).ok_or_else(|| {
        let name: String = name.chars().take(40).collect();
        let message = format!("{peer} sent a body in content-encoding `{name}`, which nobody asked for");
        Error::new(Kind::Protocol, message)
    })
}

impl Source {
    /// One read at most; whether more may follow.
    fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        peer: &str,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Poll<Result<bool, Error>> {
        match self {
            Self::Http1 { connection: Some(connection), .. } => {
                connection.poll_body(cx, sink).map_err(|cause| Error::body(peer, cause))
            }
            Self::Http1 { connection: None, .. } => Poll::Ready(Ok(false)),
            Self::Http2 { body, .. } => {
                let Some(frame) = ready!(Pin::new(body).poll_frame(cx)) else {
                    return Poll::Ready(Ok(false));
                };
                let frame = frame.map_err(|cause| Error::body(peer, cause))?;
                // Trailers are passed over.
                frame.data_ref().into_iter().filter(|data| !data.is_empty()).for_each(|data| sink(data));
                Poll::Ready(Ok(true))
            }
        }
    }

    /// Whether the body's end shows without the connection being closed.
    fn ends_itself(&self) -> bool {
        match self {
            Self::Http1 { connection, .. } => {
                connection.as_ref().is_none_or(|connection| connection.ends_itself())
            }
            Self::Http2 { .. } => true,
        }
    }

    /// Keeps the connection for a further request where it can take one.
    fn give_back(&mut self) {
        if let Self::Http1 { connection, pool } = self
            && let (Some(connection), Some(pool)) = (connection.take(), pool)
            && connection.is_reusable()
        {
            pool.put(connection);
        }
    }

    fn close(&mut self) {
        if let Self::Http1 { connection, .. } = self {
            *connection = None;
        }
    }
}
