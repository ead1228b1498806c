//! Connections kept, fresh, stale, given up.

use std::cell::Cell;
use std::rc::Rc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::support::{
    CHUNKED, Pipes, ask, chunk, client_over, drain, in_real_time, in_virtual_time, listen, ms, post,
    read_request, say, socket_client, text,
};
use crate::{Client, Connections, Kind, Options, Target, Trace};

const WHOLE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

fn options(connections: Connections) -> Options {
    Options { connections, ..Options::default() }
}

#[test]
fn connections_are_kept_or_fresh_as_told() {
    for (connections, opened) in [(Connections::Reuse, 1), (Connections::Fresh, 3)] {
        in_virtual_time(async |clock| {
            let pipes = Pipes::new(|mut io, _| async move {
                while read_request(&mut io).await.is_some() {
                    say(&mut io, WHOLE).await;
                }
            });
            let count = Rc::clone(&pipes.opened);
            let target = Target::new("http://server/", &options(connections)).unwrap();
            let client = Client::new(&clock, pipes, target).unwrap();
            for round in 0..3 {
                let (trace, answer) = ask(&client).await;
                assert_eq!(answer.unwrap(), "ok");
                let reused = connections == Connections::Reuse && round > 0;
                assert_eq!((trace.reused(), trace.connect().is_none()), (reused, reused));
                assert_eq!(trace.stale_reconnects(), 0);
            }
            assert_eq!(count.get(), opened);
        });
    }
}

/// One request has its own way with connections: what is kept stays kept for the next.
#[test]
fn a_request_can_be_told_apart() {
    in_virtual_time(async |clock| {
        let pipes = Pipes::new(|mut io, _| async move {
            while read_request(&mut io).await.is_some() {
                say(&mut io, WHOLE).await;
            }
        });
        let count = Rc::clone(&pipes.opened);
        let client = client_over(&clock, pipes);
        let check = async |connections, reused, opened| {
            let trace = Trace::new();
            drain(&mut client.send_on(post(), &trace, connections).await.unwrap()).await;
            assert_eq!((trace.reused(), count.get()), (reused, opened));
        };
        check(Connections::Reuse, false, 1).await;
        check(Connections::Fresh, false, 2).await;
        check(Connections::Reuse, true, 2).await;
        client.forget_idle();
        check(Connections::Reuse, false, 3).await;
        client.forget_idle();
        client.open_ahead().await.unwrap();
        assert_eq!(count.get(), 4);
        check(Connections::Reuse, true, 4).await;
    });
}

/// W73 as llama.cpp does it: keep-alive announced, the connection closed after every streamed answer.
#[test]
fn a_server_that_closes_after_each_answer_costs_nothing() {
    in_real_time(async |clock| {
        let address = listen(|mut io, _| async move {
            read_request(&mut io).await.unwrap();
            say(&mut io, CHUNKED.replace("\r\n\r\n", "\r\nkeep-alive: timeout=5, max=100\r\n\r\n")).await;
            say(&mut io, chunk("data: x\n\n") + "0\r\n\r\n").await;
            io.shutdown().await.unwrap();
        })
        .await;
        let client = socket_client(&clock, &format!("http://{address}"), &Options::default());
        for round in 0..5 {
            let (trace, answer) = ask(&client).await;
            assert_eq!(answer.unwrap(), "data: x\n\n");
            assert!(!trace.reused() && trace.stale_reconnects() <= 1, "round {round}: {trace:?}");
        }
    });
}

/// The server closes only when the next request has come: nothing shows at checkout.
#[test]
fn a_kept_connection_that_dies_under_a_request_is_replaced_once() {
    in_virtual_time(async |clock| {
        let pipes = Pipes::new(|mut io, _| async move {
            read_request(&mut io).await.unwrap();
            say(&mut io, WHOLE).await;
            read_request(&mut io).await;
        });
        let client = client_over(&clock, pipes);
        assert_eq!(ask(&client).await.1.unwrap(), "ok");
        clock.sleep(ms(10)).await;
        let (trace, answer) = ask(&client).await;
        assert_eq!(answer.unwrap(), "ok");
        assert_eq!((trace.stale_reconnects(), trace.reused()), (1, false));
        assert_eq!(trace.start(), trace.connect());
    });
}

/// As above with a reset by the kernel, which is what a server sends that closes with a request unread.
#[test]
fn a_kept_connection_that_is_reset_under_a_request_is_replaced_once() {
    in_real_time(async |clock| {
        let address = listen(|mut io, number| async move {
            read_request(&mut io).await.unwrap();
            say(&mut io, WHOLE).await;
            if number == 0 {
                io.readable().await.unwrap();
            }
            while number > 0 && read_request(&mut io).await.is_some() {
                say(&mut io, WHOLE).await;
            }
        })
        .await;
        let client = socket_client(&clock, &format!("http://{address}"), &Options::default());
        assert_eq!(ask(&client).await.1.unwrap(), "ok");
        let (trace, answer) = ask(&client).await;
        assert_eq!(answer.unwrap(), "ok");
        assert_eq!((trace.stale_reconnects(), trace.reused()), (1, false));
        let (trace, _) = ask(&client).await;
        assert_eq!((trace.stale_reconnects(), trace.reused()), (0, true));
    });
}

/// What is not HTTP, or too much of it, is told by its kind.
#[test]
fn heads_that_cannot_be_read_are_told() {
    let long = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(300 * 1024));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(500));
    for head in ["SSH-2.0-OpenSSH_9\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", &long, &many]
    {
        in_virtual_time(async |clock| {
            let head = head.to_owned();
            let pipes = Pipes::new(move |mut io, _| {
                let head = head.clone();
                async move {
                    read_request(&mut io).await.unwrap();
                    say(&mut io, head).await;
                    read_request(&mut io).await;
                }
            });
            let target = Target::new("http://server", &Options::default()).unwrap();
            let error = ask(&Client::new(&clock, pipes, target).unwrap()).await.1.unwrap_err();
            assert_eq!(error.kind(), Kind::Protocol);
            assert!(error.to_string().contains("server:80"), "{error}");
        });
    }
}

/// No credential is printed with the request that carries it.
#[test]
fn a_request_prints_no_secret() {
    let mut request = crate::Request { path: "/v1?key=s3cret".parse().unwrap(), ..post() };
    request.headers.insert("authorization", "Bearer s3cret".parse().unwrap());
    let text = format!("{request:?}");
    assert!(text.contains("authorization") && !text.contains("s3cret"), "{text}");
}

/// An answer that comes while the request is still on its way, as a server gives that refuses it by its head, is taken;
/// the connection, in which the rest of the request is stuck, is not.
#[test]
fn an_answer_before_the_request_is_out_is_taken() {
    in_virtual_time(async |clock| {
        let server = clock.clone();
        let pipes = Pipes::new(move |mut io: tokio::io::DuplexStream, _| {
            let clock = server.clone();
            async move {
                io.read_exact(&mut [0; 64]).await.unwrap();
                say(&mut io, "HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\n").await;
                clock.sleep(ms(5)).await;
                say(&mut io, "no").await;
                clock.sleep(ms(5)).await;
            }
        });
        let count = Rc::clone(&pipes.opened);
        let client = client_over(&clock, pipes);
        for opened in 1..=2 {
            let (trace, started) = (Trace::new(), clock.now());
            let request = crate::Request { body: vec![b'x'; 200 * 1024].into(), ..post() };
            let mut exchange = client.send(request, &trace).await.unwrap();
            let (frames, error) = drain(&mut exchange).await;
            assert_eq!(
                (exchange.status().as_u16(), text(&frames).as_str(), error.is_none()),
                (413, "no", true)
            );
            assert_eq!((trace.sent(), trace.body_end()), (None, Some(started + ms(5))));
            assert_eq!((trace.reused(), trace.stale_reconnects(), count.get()), (false, 0, opened));
        }
    });
}

/// A fresh connection that is closed without an answer is the server's failure, at once.
#[test]
fn a_fresh_connection_is_not_tried_twice() {
    in_virtual_time(async |clock| {
        let pipes = Pipes::new(|mut io, _| async move {
            read_request(&mut io).await.unwrap();
        });
        let count = Rc::clone(&pipes.opened);
        let client = client_over(&clock, pipes);
        let (trace, answer) = ask(&client).await;
        let error = answer.unwrap_err();
        assert_eq!((error.kind(), trace.stale_reconnects(), count.get()), (Kind::Closed, 0, 1));
        assert!(error.to_string().contains("server:80"), "{error}");
    });
}

#[test]
fn dropping_an_exchange_closes_its_connection() {
    in_virtual_time(async |clock| {
        let closed = Rc::new(Cell::new(false));
        let pipes = Pipes::new({
            let closed = Rc::clone(&closed);
            move |mut io: tokio::io::DuplexStream, _| {
                let closed = Rc::clone(&closed);
                async move {
                    read_request(&mut io).await.unwrap();
                    say(&mut io, CHUNKED.to_owned() + &chunk("data: x\n\n")).await;
                    closed.set(io.read(&mut [0]).await.is_ok_and(|n| n == 0));
                }
            }
        });
        let client = client_over(&clock, pipes);
        let trace = Trace::new();
        let mut exchange = client.send(post(), &trace).await.unwrap();
        assert_eq!(exchange.next().await.unwrap().unwrap().data, "data: x\n\n");
        drop(exchange);
        clock.sleep(ms(1)).await;
        assert!(closed.get());
        assert!(trace.byte().is_some() && trace.body_end().is_none());
    });
}

/// No hidden cap: C24's two hundred at once.
#[test]
fn two_hundred_connections_at_once() {
    in_real_time(async |clock| {
        let waiting = Rc::new((Cell::new(0), tokio::sync::Notify::new()));
        let server = Rc::clone(&waiting);
        let address = listen(move |mut io, _| {
            let server = Rc::clone(&server);
            async move {
                read_request(&mut io).await.unwrap();
                server.0.set(server.0.get() + 1);
                if server.0.get() == 200 {
                    server.1.notify_waiters();
                } else {
                    server.1.notified().await;
                }
                say(&mut io, WHOLE).await;
            }
        })
        .await;
        let client = socket_client(&clock, &format!("http://{address}"), &Options::default());
        let all: Vec<_> = (0..200)
            .map(|_| {
                tokio::task::spawn_local({
                    let client = client.clone();
                    async move { ask(&client).await.1.unwrap() }
                })
            })
            .collect();
        for one in all {
            assert_eq!(one.await.unwrap(), "ok");
        }
        assert_eq!(waiting.0.get(), 200);
    });
}

/// W76: the body's end is missing, in each way there is.
#[test]
fn a_body_that_breaks_off_says_so() {
    let cases: [(&str, String, Option<Kind>); 5] = [
        ("chunked, cut between chunks", CHUNKED.to_owned() + &chunk("data"), Some(Kind::Body)),
        ("chunked, cut in a chunk", CHUNKED.to_owned() + "8\r\ndata", Some(Kind::Body)),
        (
            "shorter than its length",
            "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\ndata".to_owned(),
            Some(Kind::Body),
        ),
        ("a chunk size that is none", CHUNKED.to_owned() + &chunk("data") + "zz\r\n", Some(Kind::Protocol)),
        ("ended by closing", "HTTP/1.1 200 OK\r\n\r\ndata".to_owned(), None),
    ];
    for (name, bytes, kind) in cases {
        in_virtual_time(async |clock| {
            let pipes = Pipes::new(move |mut io, _| {
                let bytes = bytes.clone();
                async move {
                    read_request(&mut io).await.unwrap();
                    say(&mut io, bytes).await;
                }
            });
            let client = client_over(&clock, pipes);
            let mut exchange = client.send(post(), &Trace::new()).await.unwrap();
            let (frames, error) = drain(&mut exchange).await;
            assert_eq!((text(&frames).as_str(), error.map(|error| error.kind())), ("data", kind), "{name}");
        });
    }
}
