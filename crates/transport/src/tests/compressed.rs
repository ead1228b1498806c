//! W71: bodies that come compressed although nobody asked.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::support::{CHUNKED, Pipes, ask, drain, in_virtual_time, ms, post, read_request, say, text};
use crate::{Client, Kind, Options, Target, Trace};

const EVENTS: [&str; 3] = ["data: one\n\n", "data: two\n\n", "data: three\n\n"];

/// The events, each flushed, as the encoder gives them out; then its end.
fn pieces<W: Write>(
    mut encoder: W,
    take: impl Fn(&mut W) -> Vec<u8>,
    end: impl FnOnce(W) -> Vec<u8>,
) -> Vec<Vec<u8>> {
    let mut pieces: Vec<Vec<u8>> = EVENTS
        .iter()
        .map(|event| {
            encoder.write_all(event.as_bytes()).unwrap();
            encoder.flush().unwrap();
            take(&mut encoder)
        })
        .collect();
    pieces.push(end(encoder));
    pieces
}

fn encoded(encoding: &str) -> Vec<Vec<u8>> {
    let level = Compression::default();
    match encoding {
        "gzip" | "X-GZIP" => pieces(
            GzEncoder::new(Vec::new(), level),
            |encoder| std::mem::take(encoder.get_mut()),
            |encoder| encoder.finish().unwrap(),
        ),
        "deflate" => pieces(
            ZlibEncoder::new(Vec::new(), level),
            |encoder| std::mem::take(encoder.get_mut()),
            |encoder| encoder.finish().unwrap(),
        ),
        "bare deflate" => pieces(
            DeflateEncoder::new(Vec::new(), level),
            |encoder| std::mem::take(encoder.get_mut()),
            |encoder| encoder.finish().unwrap(),
        ),
        _ => EVENTS.iter().map(|event| event.as_bytes().to_vec()).collect(),
    }
}

fn chunked(piece: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat()
}

#[test]
fn each_event_is_let_out_by_the_read_that_determines_it() {
    for encoding in ["gzip", "X-GZIP", "deflate", "bare deflate", "identity", ""] {
        let name = encoding.strip_prefix("bare ").unwrap_or(encoding);
        let head = CHUNKED.replacen("\r\n\r\n", &format!("\r\ncontent-encoding: {name}\r\n\r\n"), 1);
        in_virtual_time(async |clock| {
            let server = clock.clone();
            let pipes = Pipes::new(move |mut io, _| {
                let (clock, head) = (server.clone(), head.clone());
                async move {
                    let request = read_request(&mut io).await.unwrap();
                    assert!(request.contains("accept-encoding: identity\r\n"));
                    say(&mut io, head).await;
                    for piece in encoded(encoding) {
                        clock.sleep(ms(10)).await;
                        say(&mut io, chunked(&piece)).await;
                    }
                    say(&mut io, "0\r\n\r\n").await;
                }
            });
            let client =
                Client::new(&clock, pipes, Target::new("http://server", &Options::default()).unwrap())
                    .unwrap();
            let started = clock.now();
            let mut exchange = client.send(post(), &Trace::new()).await.unwrap();
            assert_eq!(exchange.compressed(), !matches!(encoding, "identity" | ""), "{encoding}");
            let (frames, error) = drain(&mut exchange).await;
            assert!(error.is_none(), "{encoding}: {error:?}");
            assert_eq!(text(&frames), EVENTS.concat(), "{encoding}");
            let stamps: Vec<_> = frames.iter().map(|frame| frame.at - started).collect();
            assert_eq!(stamps, [ms(10), ms(20), ms(30)], "{encoding}");
        });
    }
}

/// One answer of `bytes` in the content-encoding `encoding`, read to its end.
fn answer(encoding: &'static str, bytes: Vec<u8>) -> Result<String, (Kind, String)> {
    in_virtual_time(async |clock| {
        let pipes = Pipes::new(move |mut io, _| {
            let bytes = bytes.clone();
            async move {
                read_request(&mut io).await.unwrap();
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\ncontent-length: {}\r\n\r\n",
                    bytes.len()
                );
                say(&mut io, head).await;
                say(&mut io, bytes).await;
                read_request(&mut io).await;
            }
        });
        let client =
            Client::new(&clock, pipes, Target::new("http://server", &Options::default()).unwrap()).unwrap();
        ask(&client).await.1.map_err(|error| (error.kind(), error.to_string()))
    })
}

#[test]
fn what_cannot_be_decoded_is_told() {
    let whole = encoded("gzip").concat();
    assert_eq!(answer("gzip", whole.clone()).unwrap(), EVENTS.concat());
    assert_eq!(answer("gzip", Vec::new()).unwrap(), "");
    let (kind, text) = answer("br", b"x".to_vec()).unwrap_err();
    assert!(kind == Kind::Protocol && text.contains("`br`"), "{text}");
    assert_eq!(answer("gzip", b"not gzip at all".to_vec()).unwrap_err().0, Kind::Protocol);
    assert_eq!(answer("gzip", whole[..whole.len() - 9].to_vec()).unwrap_err().0, Kind::Body);
}

/// A bomb passes in frames of bounded size.
#[test]
fn expansion_is_bounded_per_frame() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![b'x'; 30 << 20]).unwrap();
    let bomb = encoder.finish().unwrap();
    let mut inflate = crate::inflate::Inflate::new("gzip").unwrap();
    let mut total = 0;
    let mut count = |out: &[u8]| {
        assert!(out.len() <= 5 << 20, "{}", out.len());
        total += out.len();
    };
    inflate.feed(&bomb, &mut count).unwrap();
    inflate.finish(&mut count).unwrap();
    assert_eq!(total, 30 << 20);
}
