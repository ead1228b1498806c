//! A socket on which everything lies ready: whoever read on at once would stamp what it has too late.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use inferometer_clock::{Clock, Mono};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::support::{CHUNKED, chunk, drain, in_real_time, post};
use crate::{Client, Connect, Error, Options, Target, Trace};

/// Gives one piece a read once something has been written to it, and notes when.
struct Ready {
    pieces: VecDeque<String>,
    waiting: Option<Waker>,
    asked: bool,
    clock: Clock,
    reads: Rc<RefCell<Vec<Mono>>>,
}

impl AsyncRead for Ready {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.asked {
            self.waiting = Some(cx.waker().clone());
            return Poll::Pending;
        }
        self.reads.borrow_mut().push(self.clock.now());
        if let Some(piece) = self.pieces.pop_front() {
            buf.put_slice(piece.as_bytes());
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Ready {
    fn poll_write(mut self: Pin<&mut Self>, _cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.asked = true;
        if let Some(waiting) = self.waiting.take() {
            waiting.wake();
        }
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

struct Once(RefCell<Option<Ready>>);

impl Connect for Once {
    type Io = Ready;

    async fn connect(&self, _host: &str, _port: u16, _trace: &Trace) -> Result<Ready, Error> {
        Ok(self.0.take().unwrap())
    }
}

/// Sends a request to a socket with these `pieces`; the stamps of the head and of each frame, and when each read began.
fn stamps(pieces: Vec<String>) -> (Vec<Mono>, Vec<Mono>) {
    in_real_time(async |clock| {
        let reads = Rc::new(RefCell::new(Vec::new()));
        let ready = Ready {
            pieces: pieces.into(),
            waiting: None,
            asked: false,
            clock: clock.clone(),
            reads: Rc::clone(&reads),
        };
        let target = Target::new("http://server", &Options::default()).unwrap();
        let client = Client::new(&clock, Once(RefCell::new(Some(ready))), target).unwrap();
        let trace = Trace::new();
        let mut exchange = client.send(post(), &trace).await.unwrap();
        let (frames, error) = drain(&mut exchange).await;
        assert!(error.is_none(), "{error:?}");
        let stamps = trace.headers().into_iter().chain(frames.iter().map(|frame| frame.at)).collect();
        (stamps, reads.take())
    })
}

/// A stamp lies between the read that delivered the thing and the next one.
fn check(stamps: &[Mono], reads: &[Mono], delivered_by: &[usize]) {
    assert_eq!(stamps.len(), delivered_by.len());
    for (stamp, &read) in stamps.iter().zip(delivered_by) {
        let next = reads.get(read + 1);
        assert!(
            *stamp >= reads[read] && next.is_none_or(|next| stamp <= next),
            "read {read}: {stamps:?} {reads:?}"
        );
    }
}

#[test]
fn nothing_is_read_between_a_read_and_its_stamp() {
    let mut pieces = vec![CHUNKED.to_owned()];
    pieces.extend((0..100).map(|number| chunk(&format!("data: {number}\n\n"))));
    pieces.push("0\r\n\r\n".to_owned());
    let (seen, reads) = stamps(pieces);
    check(&seen, &reads, &(0..=100).collect::<Vec<_>>());
}

/// With a length announced nothing says that more is to be read.
#[test]
fn the_look_for_the_end_moves_no_stamp() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n";
    let (seen, reads) = stamps([head, "abc", "def"].map(str::to_owned).to_vec());
    check(&seen, &reads, &[0, 1, 2]);
}

/// Head cut in two, a first chunk's size on its own, two chunks in a read.
#[test]
fn cuts_within_the_framing_move_no_stamp() {
    let (first, rest) = CHUNKED.split_at(30);
    let pieces = [first, rest, "3\r\n", "abc", "\r\n", "1\r\nd\r\n1\r\ne\r\n", "0\r\n\r\n"];
    let (seen, reads) = stamps(pieces.map(str::to_owned).to_vec());
    check(&seen, &reads, &[1, 3, 5, 5]);
}
