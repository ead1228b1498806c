//! A request's body on HTTP/2: whole, and aware of the moment it leaves.

use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use crate::Trace;
use crate::stamped::Stamps;

/// Yields its bytes once and then tells the connection's stamps that this request is leaving.
pub(crate) struct Payload {
    data: Bytes,
    leaving: Option<(Rc<Stamps>, Trace)>,
}

impl Payload {
    pub(crate) fn new(data: Bytes, stamps: &Rc<Stamps>, trace: &Trace) -> Self {
        let mut payload = Self { data, leaving: Some((Rc::clone(stamps), trace.clone())) };
        // hyper never asks for a body that is empty: then the head is the last of it.
        if payload.data.is_empty() {
            payload.leave();
        }
        payload
    }

    fn leave(&mut self) {
        if let Some((stamps, trace)) = self.leaving.take() {
            stamps.leaving(&trace);
        }
    }
}

impl Body for Payload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = std::mem::take(&mut self.data);
        self.leave();
        Poll::Ready((!data.is_empty()).then(|| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.data.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.data.len() as u64)
    }
}
