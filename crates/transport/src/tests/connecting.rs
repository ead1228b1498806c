//! Names, address families and ports: what connecting costs and how it fails.

use std::cell::Cell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use inferometer_clock::Clock;
use tokio::io::DuplexStream;
use tokio::task::spawn_local;

use super::support::{ask, in_real_time, in_virtual_time, ms, read_request, say, socket_client};
use crate::{Client, Dial, Kind, Options, Origin, Resolve, Sockets, Target};

const DEAD_V6: &str = "[2001:db8::1]:80";
const LIVE_V4: &str = "192.0.2.1:80";
const OTHER_V4: &str = "192.0.2.2:80";
const REFUSING_V6: &str = "[2001:db8::2]:80";

/// Answers after a while, with these addresses.
struct Names {
    clock: Clock,
    after: Duration,
    addresses: Vec<&'static str>,
    asked: Rc<Cell<usize>>,
}

impl Resolve for Names {
    async fn resolve(&self, _host: &str, _port: u16) -> io::Result<Vec<SocketAddr>> {
        self.asked.set(self.asked.get() + 1);
        self.clock.sleep(self.after).await;
        Ok(self.addresses.iter().map(|address| address.parse().unwrap()).collect())
    }
}

/// A network in which some addresses swallow everything, some refuse, and the others answer after 5 ms.
struct Network {
    clock: Clock,
}

impl Dial for Network {
    type Io = DuplexStream;

    async fn dial(&self, address: SocketAddr) -> io::Result<DuplexStream> {
        match address.to_string().as_str() {
            DEAD_V6 | OTHER_V4 => std::future::pending().await,
            REFUSING_V6 => Err(io::ErrorKind::ConnectionRefused.into()),
            _ => {
                self.clock.sleep(ms(5)).await;
                let (near, mut far) = tokio::io::duplex(1024);
                spawn_local(async move {
                    read_request(&mut far).await.unwrap();
                    say(&mut far, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
                });
                Ok(near)
            }
        }
    }
}

/// Looks up for `after`, gets `addresses`, connects.
fn connect(
    after: Duration,
    addresses: &[&'static str],
) -> (Option<Duration>, Option<Duration>, Option<Kind>) {
    in_virtual_time(async |clock| {
        let names =
            Names { clock: clock.clone(), after, addresses: addresses.to_vec(), asked: Rc::default() };
        let sockets = Sockets::with(&clock, names, Network { clock: clock.clone() });
        let client =
            Client::new(&clock, sockets, Target::new("http://name", &Options::default()).unwrap()).unwrap();
        let (trace, answer) = ask(&client).await;
        let since = |at: Option<inferometer_clock::Mono>| at.map(|at| at - trace.start().unwrap());
        (since(trace.dns()), since(trace.connect()), answer.err().map(|error| error.kind()))
    })
}

#[test]
fn a_blackholed_address_adds_a_quarter_of_a_second() {
    assert_eq!(connect(ms(0), &[LIVE_V4]), (Some(ms(0)), Some(ms(5)), None));
    assert_eq!(connect(ms(0), &[DEAD_V6, LIVE_V4]), (Some(ms(0)), Some(ms(255)), None));
    // The families alternate: a second dead address of the preferred family does not come in between.
    assert_eq!(connect(ms(0), &[OTHER_V4, DEAD_V6, LIVE_V4]).1, Some(ms(505)));
    assert_eq!(connect(ms(0), &[DEAD_V6, "[2001:db8::3]:80", OTHER_V4, LIVE_V4]).1, Some(ms(505)));
    assert_eq!(connect(ms(0), &[DEAD_V6, "[2001:db8::1]:80", LIVE_V4]).1, Some(ms(255)));
}

#[test]
fn a_refusal_costs_no_wait() {
    assert_eq!(connect(ms(0), &[REFUSING_V6, LIVE_V4]).1, Some(ms(5)));
    assert_eq!(connect(ms(0), &[REFUSING_V6]), (Some(ms(0)), None, Some(Kind::Refused)));
    assert_eq!(connect(ms(0), &[]), (Some(ms(0)), None, Some(Kind::Dns)));
}

#[test]
fn a_slow_resolver_shows_in_its_own_stamp() {
    assert_eq!(connect(ms(700), &[LIVE_V4]), (Some(ms(700)), Some(ms(705)), None));
}

/// Lookups at the same time are one; a later one is a new one.
#[test]
fn lookups_at_once_are_shared() {
    in_virtual_time(async |clock| {
        let asked = Rc::new(Cell::new(0));
        let names =
            Names { clock: clock.clone(), after: ms(20), addresses: vec![LIVE_V4], asked: Rc::clone(&asked) };
        let sockets = Sockets::with(&clock, names, Network { clock: clock.clone() });
        let client =
            Client::new(&clock, sockets, Target::new("http://name", &Options::default()).unwrap()).unwrap();
        for round in 1..=2 {
            let started = clock.now();
            let all: Vec<_> = (0..10)
                .map(|_| {
                    let client = client.clone();
                    spawn_local(async move { ask(&client).await.0.dns().unwrap() })
                })
                .collect();
            for one in all {
                assert_eq!(one.await.unwrap() - started, ms(20));
            }
            assert_eq!(asked.get(), round);
        }
    });
}

/// C14: nothing listens.
#[test]
fn a_closed_port_is_refused_and_named() {
    in_real_time(async |clock| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let client = socket_client(&clock, &format!("http://{address}/v1"), &Options::default());
        for _ in 0..60 {
            let (trace, answer) = ask(&client).await;
            let error = answer.unwrap_err();
            assert_eq!(error.kind(), Kind::Refused);
            assert!(error.to_string().contains(&address.to_string()), "{error}");
            assert!(trace.start().is_some() && trace.dns().is_none() && trace.connect().is_none());
        }
    });
}

#[test]
fn a_name_that_does_not_exist_is_told() {
    in_real_time(async |clock| {
        let client = socket_client(&clock, "http://no-such-host.invalid", &Options::default());
        let error = ask(&client).await.1.unwrap_err();
        assert_eq!(error.kind(), Kind::Dns);
        assert!(error.to_string().contains("no-such-host.invalid"), "{error}");
    });
}

/// A lack of this machine is not blamed on the server.
#[test]
fn lacks_of_this_machine_are_its_own() {
    for errno in [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE, rustix::io::Errno::ADDRNOTAVAIL] {
        let error = crate::Error::connect("h:1", errno.into());
        assert_eq!(error.kind(), Kind::ClientLimit);
        assert!(error.to_string().contains("h:1"), "{error}");
    }
}

#[test]
fn origins() {
    for (url, shown, authority) in [
        ("http://h", "http://h:80", "h"),
        ("https://h/v1?x=y", "https://h:443", "h"),
        ("https://h:80/", "https://h:80", "h:80"),
        ("http://[::1]:8080/v1", "http://[::1]:8080", "[::1]:8080"),
        ("http://[::1]", "http://[::1]:80", "[::1]"),
        ("HTTP://H.example", "http://H.example:80", "H.example"),
    ] {
        let origin = Origin::parse(url).unwrap();
        assert_eq!((origin.to_string().as_str(), origin.authority().as_str()), (shown, authority), "{url}");
    }
    for url in ["", "h", "h:80", "ftp://h", "http://", "http://user:secret@h/", "/v1", "http://h:99999"] {
        let error = Origin::parse(url).unwrap_err();
        assert_eq!(error.kind(), Kind::Setup);
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

/// The real thing: both families of a name that every machine knows.
#[test]
fn localhost_is_reached_over_sockets() {
    in_real_time(async |clock| {
        let address = super::support::listen(|mut io, _| async move {
            read_request(&mut io).await.unwrap();
            say(&mut io, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
        })
        .await;
        let client =
            socket_client(&clock, &format!("http://localhost:{}", address.port()), &Options::default());
        let (trace, answer) = ask(&client).await;
        assert_eq!(answer.unwrap(), "ok");
        let stamps =
            [trace.start(), trace.dns(), trace.connect(), trace.sent(), trace.headers(), trace.byte()];
        assert!(stamps.iter().all(Option::is_some) && stamps.is_sorted(), "{trace:?}");
    });
}
