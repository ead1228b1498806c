//! Proxies out of the environment: who is chosen, what is asked of them, what is never told.

use std::rc::Rc;

use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use super::support::{Authority, ask, in_real_time, listen, read_request, say, socket_client};
use crate::proxy::Route;
use crate::{Environment, HttpVersion, Kind, Options, Origin, Target};

fn environment(variables: &[(&str, &str)]) -> Environment {
    variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn the_scheme_s_variable_comes_first_and_lower_case_wins() {
    type Variables = &'static [(&'static str, &'static str)];
    let cases: [(&str, Variables, Option<&str>); 9] = [
        ("http://h", &[], None),
        ("http://h", &[("HTTP_PROXY", "http://p:1")], Some("p:1")),
        ("https://h", &[("HTTP_PROXY", "http://p:1")], None),
        ("https://h", &[("HTTPS_PROXY", "p:1")], Some("p:1")),
        ("https://h", &[("ALL_PROXY", "http://p")], Some("p:80")),
        ("http://h", &[("ALL_PROXY", "http://a:1"), ("HTTP_PROXY", "http://p:1")], Some("p:1")),
        ("http://h", &[("http_proxy", "http://l:1"), ("HTTP_PROXY", "http://p:1")], Some("l:1")),
        ("http://h", &[("http_proxy", ""), ("HTTP_PROXY", "http://p:1")], Some("p:1")),
        ("http://h", &[("HTTP_PROXY", "http://u:s3cret@[::1]:1/")], Some("[::1]:1")),
    ];
    for (url, variables, proxy) in cases {
        let route = Route::choose(&Origin::parse(url).unwrap(), &environment(variables)).unwrap();
        assert_eq!(route.proxy().map(ToString::to_string).as_deref(), proxy, "{url} {variables:?}");
        assert!(!format!("{route:?} {:?}", environment(variables)).contains("s3cret"));
    }
}

#[test]
fn no_proxy_excepts() {
    let cases = [
        ("http://h.example", "*", true),
        ("http://h.example", "h.example", true),
        ("http://h.example", "H.Example", true),
        ("http://h.example", "example", true),
        ("http://h.example", ".example", true),
        ("http://h.example", "*.example", true),
        ("http://h.example", "ample", false),
        ("http://h.example", "other, h.example", true),
        ("http://h.example", "other h.example", true),
        ("http://h.example", "h.example:80", true),
        ("http://h.example", "h.example:81", false),
        ("http://h.example", "", false),
        ("http://h.example", ".", false),
        ("http://10.1.2.3", "10.1.2.3", true),
        ("http://10.1.2.3:8000", "10.1.2.3:8000", true),
        ("http://10.1.2.3", "10.0.0.0/8", true),
        ("http://11.1.2.3", "10.0.0.0/8", false),
        ("http://10.1.2.3", "2.3", false),
        ("http://[::1]", "::1", true),
        ("http://[::1]:90", "[::1]:90", true),
        ("http://[fd00::1]", "fd00::/8", true),
        ("http://[::1]", "0.0.0.0/0", false),
    ];
    for (url, list, direct) in cases {
        let environment = environment(&[("HTTP_PROXY", "http://p:1"), ("NO_PROXY", list)]);
        let route = Route::choose(&Origin::parse(url).unwrap(), &environment).unwrap();
        assert_eq!(route.proxy().is_none(), direct, "{url} with NO_PROXY={list}");
    }
}

#[test]
fn a_proxy_that_cannot_be_used_is_told_without_its_password() {
    for url in ["https://u:s3cret@p", "socks5://u:s3cret@p:1080", "http://u:s3cret@p:port"] {
        let options = Options { environment: environment(&[("HTTPS_PROXY", url)]), ..Options::default() };
        let error = Target::new("https://h", &options).unwrap_err();
        assert_eq!(error.kind(), Kind::Setup);
        let text = error.to_string();
        assert!(text.contains("HTTPS_PROXY") && !text.contains("s3cret"), "{text}");
    }
    let options = Options {
        environment: environment(&[("HTTP_PROXY", "http://p")]),
        version: HttpVersion::Http2,
        ..Options::default()
    };
    assert!(Target::new("http://h", &options).unwrap_err().to_string().contains("NO_PROXY"));
}

/// Plain http: the proxy gets the whole URL and the credentials.
#[test]
fn http_names_the_whole_url_to_the_proxy() {
    in_real_time(async |clock| {
        let proxy = listen(|mut io, _| async move {
            let request = read_request(&mut io).await.unwrap();
            assert!(
                request.starts_with("POST http://far.example/v1/chat/completions?x=1 HTTP/1.1\r\n"),
                "{request}"
            );
            assert!(request.contains("host: far.example\r\n"), "{request}");
            assert!(request.contains("proxy-authorization: Basic dXNlcjpwQHNz\r\n"), "{request}");
            say(&mut io, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
        })
        .await;
        let url = format!("http://user:p%40ss@{proxy}");
        let options = Options { environment: environment(&[("http_proxy", &url)]), ..Options::default() };
        assert_eq!(ask(&socket_client(&clock, "http://far.example", &options)).await.1.unwrap(), "ok");
    });
}

/// https: a tunnel, in which TLS is with the origin.
#[test]
fn https_goes_through_a_tunnel() {
    in_real_time(async |clock| {
        let authority = Rc::new(Authority::signing(&["far.example"], &[b"http/1.1"]));
        let acceptor = TlsAcceptor::from(authority.server.clone());
        let origin = listen(move |io, _| {
            let acceptor = acceptor.clone();
            async move {
                let mut io = acceptor.accept(io).await.unwrap();
                let request = read_request(&mut io).await.unwrap();
                assert!(request.starts_with("POST /v1/") && !request.contains("proxy-"), "{request}");
                say(&mut io, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
            }
        })
        .await;
        let proxy = listen(move |mut io, _| async move {
            let request = read_request(&mut io).await.unwrap();
            assert!(
                request.starts_with("CONNECT far.example:443 HTTP/1.1\r\nhost: far.example:443\r\n"),
                "{request}"
            );
            assert!(request.contains("proxy-authorization: Basic dTpw\r\n"), "{request}");
            say(&mut io, "HTTP/1.1 200 Connection established\r\nvia: p\r\n\r\n").await;
            let mut far = TcpStream::connect(origin).await.unwrap();
            let _ = copy_bidirectional(&mut io, &mut far).await;
        })
        .await;
        let file = authority.file();
        let url = format!("http://u:p@{proxy}");
        let options = Options {
            environment: environment(&[("HTTPS_PROXY", &url)]),
            cacert: Some(file.path().to_owned()),
            ..Options::default()
        };
        let client = socket_client(&clock, "https://far.example", &options);
        assert_eq!(client.target().proxy(), Some(proxy.to_string()));
        let (trace, answer) = ask(&client).await;
        assert_eq!(answer.unwrap(), "ok");
        assert!(trace.connect().unwrap() < trace.tls().unwrap());
    });
}

#[test]
fn a_proxy_that_refuses_is_named() {
    let endless = "x".repeat(20_000);
    let cases = [
        ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "password"),
        ("HTTP/1.1 403 Forbidden\r\n\r\n", "403"),
        ("SSH-2.0-OpenSSH\r\n\r\n", "does not speak HTTP"),
        ("HTTP/1.1 200", "broke off"),
        (endless.as_str(), "does not end"),
    ];
    for (answer, said) in cases {
        in_real_time(async |clock| {
            let answer = answer.to_owned();
            let proxy = listen(move |mut io, _| {
                let answer = answer.clone();
                async move {
                    read_request(&mut io).await.unwrap();
                    say(&mut io, answer).await;
                }
            })
            .await;
            let url = format!("http://u:s3cret@{proxy}");
            let options =
                Options { environment: environment(&[("HTTPS_PROXY", &url)]), ..Options::default() };
            let error = ask(&socket_client(&clock, "https://far.example", &options)).await.1.unwrap_err();
            assert_eq!(error.kind(), Kind::Proxy);
            let text = error.to_string();
            assert!(
                text.contains(said) && text.contains(&proxy.to_string()) && !text.contains("s3cret"),
                "{text}"
            );
        });
    }
}
