//! HTTP/2 against hyper's server: by prior knowledge and by ALPN, streams shared, resets told.

use std::cell::Cell;
use std::convert::Infallible;
use std::rc::Rc;

use bytes::Bytes;
use http::{Request as HttpRequest, Response};
use http_body_util::StreamBody;
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use inferometer_clock::Clock;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::sync::{Notify, mpsc};
use tokio::task::spawn_local;
use tokio_rustls::TlsAcceptor;

use super::support::{
    Authority, Pipes, ask, drain, in_real_time, in_virtual_time, listen, ms, post, read_request, say,
    socket_client, text,
};
use crate::{Client, Connect, Connections, Error, HttpVersion, Kind, Options, Target, Trace};

#[derive(Clone)]
struct ThisThread;

impl<F: Future + 'static> hyper::rt::Executor<F> for ThisThread {
    fn execute(&self, task: F) {
        spawn_local(task);
    }
}

/// What becomes of a connection.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    /// Every stream ends as it should.
    Lives,
    /// Every stream is reset after its events.
    Resets,
    /// The second request kills it without a word.
    Dies,
}

/// Answers each request with three events, 10 ms apart.
async fn serve(io: impl AsyncRead + AsyncWrite + Unpin + 'static, clock: Clock, fate: Fate) {
    let (requests, death) = (Cell::new(0), Rc::new(Notify::new()));
    let killed = Rc::clone(&death);
    let service = service_fn(move |request: HttpRequest<Incoming>| {
        assert_eq!(request.uri().path(), "/v1/chat/completions");
        requests.set(requests.get() + 1);
        let dies = fate == Fate::Dies && requests.get() == 2;
        if dies {
            death.notify_one();
        }
        let (sender, receiver) = mpsc::channel(1);
        let clock = clock.clone();
        spawn_local(async move {
            for event in ["data: one\n\n", "data: two\n\n", "data: three\n\n"] {
                clock.sleep(ms(10)).await;
                let _ = sender.send(Ok(Frame::data(Bytes::from_static(event.as_bytes())))).await;
            }
            if fate == Fate::Resets {
                clock.sleep(ms(10)).await;
                let _ = sender.send(Err("broken".into())).await;
            }
        });
        async move {
            if dies {
                std::future::pending::<()>().await;
            }
            Ok::<_, Infallible>(Response::new(StreamBody::new(Events(receiver))))
        }
    });
    let mut server = hyper::server::conn::http2::Builder::new(ThisThread);
    let connection = server.max_concurrent_streams(3).serve_connection(TokioIo::new(io), service);
    tokio::select! {
        _ = connection => {}
        () = killed.notified() => {}
    }
}

type Event = Result<Frame<Bytes>, Box<dyn std::error::Error + Send + Sync>>;

/// The receiver as the stream that hyper wants.
struct Events(mpsc::Receiver<Event>);

impl futures_core::Stream for Events {
    type Item = Event;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Event>> {
        self.0.poll_recv(cx)
    }
}

fn options(streams_per_connection: usize) -> Options {
    Options { version: HttpVersion::Http2, streams_per_connection, ..Options::default() }
}

#[test]
fn streams_share_connections_up_to_the_number_stated() {
    // (streams told, requests at once, connections). The server itself takes three, which only shows once it has said so.
    for (streams, requests, connections) in [(16, 3, 1), (2, 5, 3), (1, 4, 4)] {
        in_virtual_time(async |clock| {
            let server = clock.clone();
            let pipes = Pipes::new(move |io, _| serve(io, server.clone(), Fate::Lives));
            let count = Rc::clone(&pipes.opened);
            let client =
                Client::new(&clock, pipes, Target::new("http://server", &options(streams)).unwrap()).unwrap();
            let started = clock.now();
            let all: Vec<_> = (0..requests)
                .map(|_| {
                    let client = client.clone();
                    spawn_local(async move {
                        let mut exchange = client.send(post(), &Trace::new()).await.unwrap();
                        assert!(exchange.stamp_bound() && exchange.version() == http::Version::HTTP_2);
                        drain(&mut exchange).await.0
                    })
                })
                .collect();
            for one in all {
                let frames = one.await.unwrap();
                assert_eq!(text(&frames), "data: one\n\ndata: two\n\ndata: three\n\n");
                let stamps: Vec<_> = frames.iter().map(|frame| frame.at - started).collect();
                assert_eq!(stamps, [ms(10), ms(20), ms(30)]);
            }
            assert_eq!(count.get(), connections);
            let (trace, _) = ask(&client).await;
            assert!(trace.reused() && trace.connect().is_none() && trace.sent().is_some());
            assert_eq!(count.get(), connections);
        });
    }
}

/// Connects as the pipes do, but takes a second to look the name up and another to connect.
struct Slow<C>(C, Clock);

impl<C: Connect> Connect for Slow<C> {
    type Io = C::Io;

    async fn connect(&self, host: &str, port: u16, trace: &Trace) -> Result<C::Io, Error> {
        self.1.sleep(ms(1_000)).await;
        trace.set_dns(self.1.now());
        self.1.sleep(ms(1_000)).await;
        self.0.connect(host, port, trace).await
    }
}

/// Who waits for the handshake that another has begun is on a new connection, and pays for what is left of it.
#[test]
fn waiting_for_another_s_handshake_is_no_reuse() {
    in_virtual_time(async |clock| {
        let server = clock.clone();
        let pipes = Pipes::new(move |io, _| serve(io, server.clone(), Fate::Lives));
        let count = Rc::clone(&pipes.opened);
        let slow = Slow(pipes, clock.clone());
        let client = Client::new(&clock, slow, Target::new("http://server", &options(16)).unwrap()).unwrap();
        // Begun before the name is looked up, and between that and the connection's end.
        let waiters = [(0, 1_000), (0, 1_000), (1_500, 0)].map(|(begun, dns)| {
            let (client, clock) = (client.clone(), clock.clone());
            spawn_local(async move {
                clock.sleep(ms(begun)).await;
                let trace = Trace::new();
                let mut exchange = client.send(post(), &trace).await.unwrap();
                assert!(drain(&mut exchange).await.1.is_none() && !trace.reused(), "begun at {begun} ms");
                let start = trace.start().unwrap();
                let after = [trace.dns(), trace.connect(), trace.sent()].map(|at| at.unwrap() - start);
                assert_eq!(after, [ms(dns), ms(2_000 - begun), ms(2_000 - begun)], "begun at {begun} ms");
            })
        });
        clock.sleep(ms(100)).await;
        // While it waits, nothing says that there is a connection: a caller's limit on connecting can apply.
        let waiting = Trace::new();
        let given_up = tokio::select! {
            _ = client.send(post(), &waiting) => false,
            () = clock.sleep(ms(1_200)) => true,
        };
        assert!(given_up && !waiting.reused() && waiting.sent().is_none(), "{waiting:?}");
        for waiter in waiters {
            waiter.await.unwrap();
        }
        let (trace, answer) = ask(&client).await;
        assert!(answer.is_ok() && trace.reused() && trace.connect().is_none());
        assert_eq!(count.get(), 1);
    });
}

/// The bound that the server states holds once it is known: more streams open a further connection.
#[test]
fn the_server_s_own_bound_is_kept() {
    in_virtual_time(async |clock| {
        let server = clock.clone();
        let pipes = Pipes::new(move |io, _| serve(io, server.clone(), Fate::Lives));
        let count = Rc::clone(&pipes.opened);
        let client = Client::new(&clock, pipes, Target::new("http://server", &options(16)).unwrap()).unwrap();
        ask(&client).await.1.unwrap();
        let all: Vec<_> = (0..4)
            .map(|_| {
                let client = client.clone();
                spawn_local(async move { ask(&client).await.1.unwrap() })
            })
            .collect();
        for one in all {
            one.await.unwrap();
        }
        assert_eq!(count.get(), 2);
    });
}

#[test]
fn fresh_connections_are_not_shared() {
    in_virtual_time(async |clock| {
        let server = clock.clone();
        let pipes = Pipes::new(move |io, _| serve(io, server.clone(), Fate::Lives));
        let count = Rc::clone(&pipes.opened);
        let options = Options { connections: Connections::Fresh, ..options(16) };
        let client = Client::new(&clock, pipes, Target::new("http://server", &options).unwrap()).unwrap();
        for _ in 0..3 {
            let (trace, answer) = ask(&client).await;
            assert!(answer.is_ok() && !trace.reused() && trace.connect().is_some());
        }
        assert_eq!(count.get(), 3);
    });
}

/// W75: a reset in the body is a broken body, with what came before it.
#[test]
fn a_reset_in_the_body_is_told() {
    in_virtual_time(async |clock| {
        let server = clock.clone();
        let pipes = Pipes::new(move |io, _| serve(io, server.clone(), Fate::Resets));
        let client = Client::new(&clock, pipes, Target::new("http://server", &options(4)).unwrap()).unwrap();
        let mut exchange = client.send(post(), &Trace::new()).await.unwrap();
        let (frames, error) = drain(&mut exchange).await;
        assert_eq!(frames.len(), 3);
        let error = error.unwrap();
        assert_eq!(error.kind(), Kind::Body, "{error}");
    });
}

/// A connection that dies under a request before it gave a byte in answer is replaced once, and counted.
#[test]
fn a_connection_that_dies_under_a_request_is_replaced() {
    in_virtual_time(async |clock| {
        let server = clock.clone();
        let pipes = Pipes::new(move |io, number| {
            serve(io, server.clone(), if number == 0 { Fate::Dies } else { Fate::Lives })
        });
        let client = Client::new(&clock, pipes, Target::new("http://server", &options(4)).unwrap()).unwrap();
        assert!(ask(&client).await.1.is_ok());
        clock.sleep(ms(200)).await;
        let (trace, answer) = ask(&client).await;
        assert!(answer.is_ok(), "{answer:?}");
        assert_eq!((trace.stale_reconnects(), trace.reused()), (1, false));
    });
}

/// One frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Answers stream 1, then tells the next request that it will never be worked on: GOAWAY, last stream 1, no error.
async fn go_away(mut io: impl AsyncRead + AsyncWrite + Unpin) {
    const DATA: u8 = 0;
    const HEADERS: u8 = 1;
    const SETTINGS: u8 = 4;
    const GOAWAY: u8 = 7;
    let mut preface = [0; 24];
    io.read_exact(&mut preface).await.unwrap();
    say(&mut io, [frame(SETTINGS, 0, 0, &[]), frame(SETTINGS, 1, 0, &[])].concat()).await;
    loop {
        let mut head = [0; 9];
        if io.read_exact(&mut head).await.is_err() {
            return;
        }
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        io.read_exact(&mut payload).await.unwrap();
        let (kind, ends, stream) = (head[3], head[4] & 1 == 1, head[8]);
        match (kind, ends, stream) {
            // `:status: 200`, and the end of the stream.
            (DATA, true, 1) => say(&mut io, frame(HEADERS, 5, 1, &[0x88])).await,
            (HEADERS, _, 3) => say(&mut io, frame(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0])).await,
            _ => {}
        }
    }
}

/// A server that goes away says which streams it has begun; one that it has not goes out once more.
#[test]
fn a_request_that_meets_goaway_is_sent_once_more() {
    in_virtual_time(async |clock| {
        let server = clock.clone();
        let pipes = Pipes::new(move |io, number| {
            let clock = server.clone();
            async move { if number == 0 { go_away(io).await } else { serve(io, clock, Fate::Lives).await } }
        });
        let count = Rc::clone(&pipes.opened);
        let client = Client::new(&clock, pipes, Target::new("http://server", &options(4)).unwrap()).unwrap();
        assert_eq!(ask(&client).await.1.unwrap(), "");
        let (trace, answer) = ask(&client).await;
        assert!(answer.unwrap().ends_with("three\n\n"));
        assert_eq!((trace.stale_reconnects(), trace.reused(), count.get()), (1, false, 2));
    });
}

/// A connection that has gone since is replaced, and counted.
#[test]
fn a_closed_connection_is_replaced() {
    in_virtual_time(async |clock| {
        let server = clock.clone();
        let pipes = Pipes::new(move |io, number| {
            let clock = server.clone();
            async move {
                if number == 0 {
                    let until = clock.clone();
                    tokio::select! {
                        () = serve(io, clock, Fate::Lives) => {}
                        () = until.sleep(ms(100)) => {}
                    }
                } else {
                    serve(io, clock, Fate::Lives).await;
                }
            }
        });
        let count = Rc::clone(&pipes.opened);
        let client = Client::new(&clock, pipes, Target::new("http://server", &options(4)).unwrap()).unwrap();
        assert!(ask(&client).await.1.is_ok());
        clock.sleep(ms(200)).await;
        let (_, answer) = ask(&client).await;
        assert!(answer.is_ok(), "{answer:?}");
        assert_eq!(count.get(), 2);
    });
}

#[test]
fn dropping_an_exchange_resets_its_stream_only() {
    in_virtual_time(async |clock| {
        let server = clock.clone();
        let pipes = Pipes::new(move |io, _| serve(io, server.clone(), Fate::Lives));
        let count = Rc::clone(&pipes.opened);
        let client = Client::new(&clock, pipes, Target::new("http://server", &options(4)).unwrap()).unwrap();
        let mut given_up = client.send(post(), &Trace::new()).await.unwrap();
        given_up.next().await.unwrap().unwrap();
        drop(given_up);
        assert!(ask(&client).await.1.is_ok());
        assert_eq!(count.get(), 1);
    });
}

#[test]
fn alpn_decides_over_tls() {
    // What the server offers, and whether HTTP/2 comes about.
    for (alpn, works) in [
        (&[b"h2".as_slice(), b"http/1.1"][..], true),
        (&[b"http/1.1".as_slice()][..], false),
        (&[][..], false),
    ] {
        in_real_time(async |clock| {
            let authority = Authority::signing(&["localhost"], alpn);
            let acceptor = TlsAcceptor::from(authority.server.clone());
            let server = clock.clone();
            let address = listen(move |io, _| {
                let (acceptor, clock) = (acceptor.clone(), server.clone());
                async move {
                    if let Ok(io) = acceptor.accept(io).await {
                        serve(io, clock, Fate::Lives).await;
                    }
                }
            })
            .await;
            let file = authority.file();
            let options = Options { cacert: Some(file.path().to_owned()), ..options(4) };
            let client = socket_client(&clock, &format!("https://localhost:{}", address.port()), &options);
            match ask(&client).await.1 {
                Ok(answer) => assert!(works && answer.ends_with("three\n\n")),
                Err(error) => assert!(!works && error.to_string().contains("--http2"), "{error}"),
            }
        });
    }
}

/// A server that speaks only HTTP/1.1 answers prior knowledge in its own tongue.
#[test]
fn prior_knowledge_of_a_server_without_http2_fails_clearly() {
    in_virtual_time(async |clock| {
        let asked = Rc::new(Cell::new(0));
        let server = Rc::clone(&asked);
        let pipes = Pipes::new(move |mut io, _| {
            server.set(server.get() + 1);
            async move {
                read_request(&mut io).await;
                say(&mut io, "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
            }
        });
        let client = Client::new(&clock, pipes, Target::new("http://server", &options(4)).unwrap()).unwrap();
        let error = ask(&client).await.1.unwrap_err();
        assert_eq!((error.kind(), asked.get()), (Kind::Protocol, 1), "{error}");
    });
}
