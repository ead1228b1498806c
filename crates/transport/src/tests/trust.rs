//! C38: a private authority, and each way to trust it.

use tokio_rustls::TlsAcceptor;

use super::support::{Authority, ask, in_real_time, listen, read_request, say, socket_client};
use crate::{Connections, Environment, Error, Kind, Options, Target};

/// Asks a TLS server whose certificate is for `localhost` at `host`.
fn ask_tls(authority: &Authority, host: &str, options: &Options) -> Result<String, Error> {
    in_real_time(async |clock| {
        let acceptor = TlsAcceptor::from(authority.server.clone());
        let address = listen(move |io, _| {
            let acceptor = acceptor.clone();
            async move {
                let Ok(mut io) = acceptor.accept(io).await else { return };
                while read_request(&mut io).await.is_some() {
                    say(&mut io, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
                }
            }
        })
        .await;
        let client = socket_client(&clock, &format!("https://{host}:{}", address.port()), options);
        let (trace, answer) = ask(&client).await;
        assert_eq!(trace.tls().is_some(), answer.is_ok());
        answer
    })
}

fn environment(name: &str, value: &str) -> Environment {
    [(name.to_owned(), value.to_owned())].into_iter().collect()
}

#[test]
fn a_private_authority_is_trusted_only_when_told() {
    let authority = Authority::signing(&["localhost"], &[b"http/1.1"]);
    let file = authority.file();
    let path = file.path().to_str().unwrap();
    let cacert = Options { cacert: Some(file.path().to_owned()), ..Options::default() };
    let variable = Options { environment: environment("SSL_CERT_FILE", path), ..Options::default() };
    let insecure = Options { insecure: true, ..Options::default() };
    let fresh = Options { connections: Connections::Fresh, ..cacert.clone() };
    // What is asked, and a remedy that the error must name.
    let cases = [
        ("no option", "localhost", Options::default(), Some("--cacert")),
        ("--cacert", "localhost", cacert.clone(), None),
        ("--cacert, fresh connections", "localhost", fresh, None),
        ("SSL_CERT_FILE", "localhost", variable.clone(), None),
        ("--cacert, wrong name", "127.0.0.1", cacert, Some("check the URL")),
        ("SSL_CERT_FILE, wrong name", "127.0.0.1", variable, Some("check the URL")),
        ("--insecure", "127.0.0.1", insecure, None),
    ];
    for (name, host, options, remedy) in cases {
        match (ask_tls(&authority, host, &options), remedy) {
            (Ok(answer), None) => assert_eq!(answer, "ok", "{name}"),
            (Err(error), Some(remedy)) => {
                assert_eq!(error.kind(), Kind::Tls, "{name}: {error}");
                let text = error.to_string();
                assert!(
                    text.contains(remedy) && text.contains("--insecure") && text.contains(host),
                    "{name}: {text}"
                );
            }
            (answer, _) => panic!("{name}: {answer:?}"),
        }
    }
}

#[test]
fn a_certificate_file_that_cannot_be_used_is_told_at_once() {
    let empty = tempfile::NamedTempFile::new().unwrap();
    let broken = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(broken.path(), "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n").unwrap();
    let missing = empty.path().with_extension("missing");
    for file in [empty.path(), broken.path(), &missing] {
        let option = Options { cacert: Some(file.to_owned()), ..Options::default() };
        let variable = Options {
            environment: environment("SSL_CERT_FILE", file.to_str().unwrap()),
            ..Options::default()
        };
        for (name, url, options) in [
            ("--cacert", "https://h", &option),
            ("--cacert", "http://h", &option),
            ("SSL_CERT_FILE", "https://h", &variable),
        ] {
            let error = Target::new(url, options).unwrap_err();
            assert_eq!(error.kind(), Kind::Setup);
            let text = error.to_string();
            assert!(text.contains(name) && text.contains(file.to_str().unwrap()), "{text}");
        }
    }
}

/// TLS spoken to a server that does not: the error says what may be wrong with the URL.
#[test]
fn tls_to_a_plain_server_names_the_remedy() {
    in_real_time(async |clock| {
        let address = listen(|mut io, _| async move {
            say(&mut io, "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
            read_request(&mut io).await;
        })
        .await;
        let client = socket_client(&clock, &format!("https://{address}"), &Options::default());
        let error = ask(&client).await.1.unwrap_err();
        assert_eq!(error.kind(), Kind::Tls);
        assert!(error.to_string().contains("http://"), "{error}");
    });
}
