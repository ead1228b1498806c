//! A frame's stamp is that of the read which delivered the event's last byte: over any cut of the bytes, plain, chunked
//! and through TLS, in virtual time, where the read happens at the very instant of the write.

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;
use std::time::Duration;

use inferometer_clock::{Clock, Mono};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use tokio::io::DuplexStream;
use tokio_rustls::TlsAcceptor;

use super::support::{
    Authority, CHUNKED, Pipes, chunk, client_over, drain, in_virtual_time, ms, post, read_request, say, text,
};
use crate::{Client, Frame, Options, Target, Trace};

#[derive(Clone, Copy, Debug)]
enum Framing {
    Length,
    Chunked,
    Closing,
}

/// An answer as bytes of HTTP, and after how many of them the head and each event are complete.
struct Answer {
    bytes: Vec<u8>,
    head_end: usize,
    event_ends: Vec<usize>,
}

impl Answer {
    /// `events` framed; a chunk ends at each of `seams` (offsets of the body), wherever the events end.
    fn framed(events: &[String], framing: Framing, seams: &[Index]) -> Self {
        let body = events.concat();
        let head = match framing {
            Framing::Length => format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len()),
            Framing::Chunked => CHUNKED.to_owned(),
            Framing::Closing => "HTTP/1.1 200 OK\r\n\r\n".to_owned(),
        };
        // Where each byte of the body comes to stand in the answer.
        let mut places = Vec::new();
        let mut bytes = head.clone().into_bytes();
        let pieces = match framing {
            Framing::Chunked => cut(body.as_bytes(), seams),
            Framing::Length | Framing::Closing => vec![body.as_bytes().to_vec()],
        };
        for piece in pieces {
            let piece = String::from_utf8(piece).unwrap();
            // Behind the chunk's size, in which a piece of a line end or a digit stands as well.
            let (framed, before) = match framing {
                Framing::Chunked => (chunk(&piece), format!("{:x}\r\n", piece.len()).len()),
                Framing::Length | Framing::Closing => (piece.clone(), 0),
            };
            places.extend((0..piece.len()).map(|at| bytes.len() + before + at));
            bytes.extend_from_slice(framed.as_bytes());
        }
        if matches!(framing, Framing::Chunked) {
            bytes.extend_from_slice(b"0\r\n\r\n");
        }
        let event_ends = ends(events).into_iter().map(|end| places[end - 1] + 1).collect();
        Self { bytes, head_end: head.len(), event_ends }
    }

    /// The same answer as a server's TLS sends it, in records that end at `seams`.
    fn encrypted(&self, tls: &mut rustls::ServerConnection, seams: &[Index]) -> Self {
        let mut bytes = Vec::new();
        let mut plain = 0;
        // For each byte of the plain answer, where its record ends.
        let mut record_ends = Vec::new();
        for record in cut(&self.bytes, seams) {
            plain += record.len();
            tls.writer().write_all(&record).unwrap();
            while tls.wants_write() {
                tls.write_tls(&mut bytes).unwrap();
            }
            record_ends.resize(plain, bytes.len());
        }
        let place = |end: usize| record_ends[end - 1];
        Self {
            head_end: place(self.head_end),
            event_ends: self.event_ends.iter().map(|&end| place(end)).collect(),
            bytes,
        }
    }
}

/// Cuts `bytes` at `seams`; every piece has a byte.
fn cut(bytes: &[u8], seams: &[Index]) -> Vec<Vec<u8>> {
    let mut seams: Vec<usize> =
        seams.iter().map(|seam| seam.index(bytes.len())).filter(|&seam| seam > 0).collect();
    seams.sort_unstable();
    seams.dedup();
    seams.push(bytes.len());
    let mut start = 0;
    seams
        .into_iter()
        .map(|end| {
            let piece = bytes[start..end].to_vec();
            start = end;
            piece
        })
        .collect()
}

/// After how many bytes each of `events` ends.
fn ends(events: &[String]) -> Vec<usize> {
    events
        .iter()
        .scan(0, |end, event| {
            *end += event.len();
            Some(*end)
        })
        .collect()
}

/// When a server wrote, and up to which byte.
type Written = Rc<RefCell<Vec<(usize, Mono)>>>;

/// Writes `bytes` in pieces, a pause before each, and notes when.
async fn write_pieces(
    io: &mut DuplexStream,
    bytes: &[u8],
    seams: &[Index],
    clock: &Clock,
    written: &Written,
) {
    let mut end = 0;
    for (number, piece) in cut(bytes, seams).into_iter().enumerate() {
        clock.sleep(Duration::from_micros(100 + 37 * (number as u64 % 7))).await;
        end += piece.len();
        written.borrow_mut().push((end, clock.now()));
        say(io, piece).await;
    }
}

/// When the byte before `end` was written.
fn time_of(written: &[(usize, Mono)], end: usize) -> Mono {
    written.iter().find(|(upto, _)| *upto >= end).unwrap().1
}

/// The stamp of the frame that holds the byte before `end` of the body.
fn stamp_of(frames: &[Frame], end: usize) -> Mono {
    let mut upto = 0;
    let holder = frames.iter().find(|frame| {
        upto += frame.data.len();
        upto >= end
    });
    holder.unwrap().at
}

struct Case<'a> {
    events: &'a [String],
    framing: Framing,
    chunk_seams: &'a [Index],
    record_seams: &'a [Index],
    write_seams: &'a [Index],
}

/// Runs the case over a pipe, through TLS where `authority` is given, and compares every stamp with the server's.
fn check(case: &Case<'_>, authority: Option<&Authority>) {
    let plain = Answer::framed(case.events, case.framing, case.chunk_seams);
    let written = Written::default();
    let sent = Rc::new(RefCell::new(plain));
    let (trace, frames) = in_virtual_time(async |clock| {
        let serve = {
            let (clock, sent, written) = (clock.clone(), Rc::clone(&sent), Rc::clone(&written));
            let (record_seams, write_seams) = (case.record_seams.to_vec(), case.write_seams.to_vec());
            let tls = authority.map(|authority| authority.server.clone());
            move |mut io: DuplexStream, _| {
                let (clock, sent, written, tls) =
                    (clock.clone(), Rc::clone(&sent), Rc::clone(&written), tls.clone());
                let (record_seams, write_seams) = (record_seams.clone(), write_seams.clone());
                async move {
                    if let Some(tls) = tls {
                        let mut stream = TlsAcceptor::from(tls).accept(io).await.unwrap();
                        read_request(&mut stream).await.unwrap();
                        let (pipe, mut connection) = stream.into_inner();
                        io = pipe;
                        let encrypted = sent.borrow().encrypted(&mut connection, &record_seams);
                        sent.replace(encrypted);
                    } else {
                        read_request(&mut io).await.unwrap();
                    }
                    let bytes = sent.borrow().bytes.clone();
                    write_pieces(&mut io, &bytes, &write_seams, &clock, &written).await;
                    // What is announced to end by closing ends in an alert through TLS, which is not at hand here.
                    clock.sleep(ms(1)).await;
                }
            }
        };
        let options = Options { insecure: true, ..Options::default() };
        let url = if authority.is_some() { "https://server" } else { "http://server" };
        let pipes = Pipes::new(serve);
        let client = Client::new(&clock, pipes, Target::new(url, &options).unwrap()).unwrap();
        let trace = Trace::new();
        let mut exchange = client.send(post(), &trace).await.unwrap();
        let (frames, error) = drain(&mut exchange).await;
        assert!(error.is_none(), "{error:?}");
        (trace, frames)
    });
    let (written, sent) = (written.borrow(), sent.borrow());
    assert_eq!(text(&frames), case.events.concat());
    assert_eq!(trace.headers(), Some(time_of(&written, sent.head_end)));
    assert_eq!(trace.byte(), frames.first().map(|frame| frame.at));
    for (body_end, sent_end) in ends(case.events).into_iter().zip(&sent.event_ends) {
        assert_eq!(
            stamp_of(&frames, body_end),
            time_of(&written, *sent_end),
            "event that ends at {body_end}"
        );
    }
}

fn events() -> impl Strategy<Value = Vec<String>> {
    vec("data: [a-z]{0,60}\n\n", 1..12)
}

fn seams(most: usize) -> impl Strategy<Value = Vec<Index>> {
    vec(any::<Index>(), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_event_has_the_stamp_of_its_last_byte(
        events in events(), chunk_seams in seams(12), record_seams in seams(12), write_seams in seams(40),
        framing in prop::sample::select(vec![Framing::Length, Framing::Chunked, Framing::Closing]),
    ) {
        let case = Case {
            events: &events, framing, chunk_seams: &chunk_seams, record_seams: &record_seams, write_seams: &write_seams,
        };
        check(&case, None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_event_has_the_stamp_of_its_last_byte_through_tls(
        events in events(), chunk_seams in seams(12), record_seams in seams(12), write_seams in seams(40),
        framing in prop::sample::select(vec![Framing::Length, Framing::Chunked]),
    ) {
        thread_local!(static AUTHORITY: Authority = Authority::signing(&["server"], &[b"http/1.1"]));
        let case = Case {
            events: &events, framing, chunk_seams: &chunk_seams, record_seams: &record_seams, write_seams: &write_seams,
        };
        AUTHORITY.with(|authority| check(&case, Some(authority)));
    }
}

/// An event far longer than any buffer passes, and its last frame has the stamp of its last byte.
#[test]
fn an_event_of_300_kib_passes() {
    let event = format!("data: {}\n\n", "x".repeat(300 * 1024));
    let seams: Vec<Index> = Vec::new();
    for framing in [Framing::Length, Framing::Chunked, Framing::Closing] {
        let events = std::slice::from_ref(&event);
        check(
            &Case { events, framing, chunk_seams: &seams, record_seams: &seams, write_seams: &seams },
            None,
        );
    }
}

/// Frames that wait keep the stamp of their read, and what arrives meanwhile gets that of the read that fetches it.
#[test]
fn a_caller_that_is_slow_changes_no_stamp() {
    in_virtual_time(async |clock| {
        let server = clock.clone();
        let pipes = Pipes::new(move |mut io: DuplexStream, _| {
            let clock = server.clone();
            async move {
                read_request(&mut io).await.unwrap();
                say(&mut io, CHUNKED).await;
                clock.sleep(ms(10)).await;
                say(&mut io, ["a", "b", "c"].map(chunk).concat()).await;
                clock.sleep(ms(10)).await;
                say(&mut io, chunk("d") + "0\r\n\r\n").await;
            }
        });
        let client = client_over(&clock, pipes);
        let started = clock.now();
        let mut exchange = client.send(post(), &Trace::new()).await.unwrap();
        let mut stamps = Vec::new();
        while let Some(frame) = exchange.next().await {
            stamps.push(frame.unwrap().at - started);
            clock.sleep(ms(6)).await;
        }
        // The fourth came at 20 ms, when the third was asked for; it was read at 28 ms, after the third's rest.
        assert_eq!(stamps, [ms(10), ms(10), ms(10), ms(28)]);
    });
}

/// The other phases: what each stamp of a fresh and of a reused connection says, and what is left when a send is given up.
#[test]
fn phases_are_stamped_and_survive_giving_up() {
    in_virtual_time(async |clock| {
        let server = clock.clone();
        let pipes = Pipes::new(move |mut io: DuplexStream, _| {
            let clock = server.clone();
            async move {
                read_request(&mut io).await.unwrap();
                clock.sleep(ms(5)).await;
                say(&mut io, "HTTP/1.1 200 OK\r\n").await;
                clock.sleep(ms(5)).await;
                say(&mut io, "content-length: 2\r\n\r\n").await;
                clock.sleep(ms(5)).await;
                say(&mut io, "ok").await;
                read_request(&mut io).await.unwrap();
                clock.sleep(ms(1_000)).await;
            }
        });
        let client = client_over(&clock, pipes);
        clock.sleep(ms(3)).await;
        let (trace, started) = (Trace::new(), clock.now());
        let mut exchange = client.send(post(), &trace).await.unwrap();
        drain(&mut exchange).await;
        assert_eq!((trace.start(), trace.dns(), trace.tls()), (Some(started), None, None));
        assert_eq!((trace.connect(), trace.sent()), (Some(started), Some(started)));
        assert_eq!((trace.headers(), trace.byte()), (Some(started + ms(10)), Some(started + ms(15))));
        assert_eq!(trace.body_end(), Some(started + ms(15)));

        let (trace, started) = (Trace::new(), clock.now());
        tokio::select! {
            _ = client.send(post(), &trace) => panic!("answered"),
            () = clock.sleep(ms(50)) => {}
        }
        assert_eq!((trace.start(), trace.sent(), trace.headers()), (Some(started), Some(started), None));
        assert!(trace.reused() && trace.connect().is_none());
    });
}

/// A body that is longer than the socket takes at once is sent when its last byte is accepted, not its first.
#[test]
fn sent_is_the_last_byte_accepted() {
    in_virtual_time(async |clock| {
        let server = clock.clone();
        let pipes = Pipes::new(move |mut io: DuplexStream, _| {
            let clock = server.clone();
            async move {
                clock.sleep(ms(20)).await;
                read_request(&mut io).await.unwrap();
                say(&mut io, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
            }
        });
        let client = client_over(&clock, pipes);
        let (trace, started) = (Trace::new(), clock.now());
        let request = crate::Request { body: vec![b'x'; 100 * 1024].into(), ..post() };
        client.send(request, &trace).await.unwrap();
        assert_eq!(trace.sent(), Some(started + ms(20)));
    });
}

/// The end of a body is stamped with the read that ended it or found it broken, not with the last that brought bytes.
#[test]
fn the_end_of_a_body_is_a_read_s_stamp() {
    // What the head says of the body's end, whether "ok" and a close keep it, and when the body is over.
    let chunked = "transfer-encoding: chunked\r\n";
    for (head, is_whole, ended) in [
        ("content-length: 2\r\n", true, 5),
        ("content-length: 9\r\n", false, 12),
        ("", true, 12),
        (chunked, false, 12),
    ] {
        in_virtual_time(async |clock| {
            let server = clock.clone();
            let body = if head == chunked { chunk("ok") } else { "ok".to_owned() };
            let pipes = Pipes::new(move |mut io: DuplexStream, _| {
                let (clock, body) = (server.clone(), body.clone());
                async move {
                    read_request(&mut io).await.unwrap();
                    clock.sleep(ms(5)).await;
                    say(&mut io, format!("HTTP/1.1 200 OK\r\n{head}\r\n{body}")).await;
                    clock.sleep(ms(7)).await;
                }
            });
            let target = Target::new("http://server", &Options::default()).unwrap();
            let client = Client::new(&clock, pipes, target).unwrap();
            let (trace, started) = (Trace::new(), clock.now());
            let mut exchange = client.send(post(), &trace).await.unwrap();
            let (frames, error) = drain(&mut exchange).await;
            assert_eq!((text(&frames).as_str(), error.is_none()), ("ok", is_whole), "{head:?}");
            assert_eq!(trace.body_end(), Some(started + ms(ended)), "{head:?}");
        });
    }
}
