//! Bodies that were compressed although nobody asked (W71), decoded as they come.

use std::io::{self, Write};

use bytes::{Buf, Bytes};
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// The most compressed bytes that are decoded at once. Deflate expands at most 1,032-fold, so that no frame exceeds
/// about 4 MiB, whatever is sent.
const STEP: usize = 4 * 1024;

/// An incremental decoder.
pub(crate) enum Inflate {
    Gzip(MultiGzDecoder<Vec<u8>>),
    Zlib(ZlibDecoder<Vec<u8>>),
    Raw(DeflateDecoder<Vec<u8>>),
    /// `deflate` before its first byte: most servers mean zlib by it, some send it bare.
    Deflate,
}

impl Inflate {
    /// The decoder for `encoding` (already in lower case), if it is one that is known.
    pub(crate) fn new(encoding: &str) -> Option<Self> {
        match encoding {
            "gzip" | "x-gzip" => Some(Self::Gzip(MultiGzDecoder::new(Vec::new()))),
            "deflate" => Some(Self::Deflate),
            _ => None,
        }
    }

    /// Decodes a piece of `input` and takes it off; returns what came out, which may be nothing.
    pub(crate) fn step(&mut self, input: &mut Bytes) -> io::Result<Bytes> {
        let piece = input.split_to(input.len().min(STEP));
        if matches!(self, Self::Deflate) && piece.has_remaining() {
            // A zlib header's first byte says method 8; the first byte of bare deflate never has those bits with a
            // window of 32 KiB.
            let is_zlib = piece[0] & 0x0f == 8;
            *self = if is_zlib {
                Self::Zlib(ZlibDecoder::new(Vec::new()))
            } else {
                Self::Raw(DeflateDecoder::new(Vec::new()))
            };
        }
        match self {
            Self::Gzip(decoder) => decode(decoder, &piece)?,
            Self::Zlib(decoder) => decode(decoder, &piece)?,
            Self::Raw(decoder) => decode(decoder, &piece)?,
            Self::Deflate => {}
        }
        Ok(self.take())
    }

    /// What the end of the body lets out. Fails where the compressed stream is not at its own end.
    pub(crate) fn finish(&mut self) -> io::Result<Bytes> {
        match self {
            Self::Gzip(decoder) => decoder.try_finish()?,
            Self::Zlib(decoder) => decoder.try_finish()?,
            Self::Raw(decoder) => decoder.try_finish()?,
            Self::Deflate => {}
        }
        Ok(self.take())
    }

    fn take(&mut self) -> Bytes {
        Bytes::from(match self {
            Self::Gzip(decoder) => std::mem::take(decoder.get_mut()),
            Self::Zlib(decoder) => std::mem::take(decoder.get_mut()),
            Self::Raw(decoder) => std::mem::take(decoder.get_mut()),
            Self::Deflate => Vec::new(),
        })
    }
}

/// Pushes `piece` through; the flush lets out every byte that it determines.
fn decode(decoder: &mut impl Write, piece: &[u8]) -> io::Result<()> {
    decoder.write_all(piece)?;
    decoder.flush()
}
