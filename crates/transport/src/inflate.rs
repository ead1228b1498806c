//! Bodies that were compressed although nobody asked (W71), decoded as they come.

use std::io::{self, Write};

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

    /// Decodes `input`; tells what comes out of it, piece by piece.
    pub(crate) fn feed(&mut self, input: &[u8], sink: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        if let (Self::Deflate, Some(first)) = (&*self, input.first()) {
            // A zlib header's first byte says method 8; the first byte of bare deflate never has those bits with a
            // window of 32 KiB.
            *self = if first & 0x0f == 8 {
                Self::Zlib(ZlibDecoder::new(Vec::new()))
            } else {
                Self::Raw(DeflateDecoder::new(Vec::new()))
            };
        }
        for piece in input.chunks(STEP) {
            match self {
                Self::Gzip(decoder) => decode(decoder, piece)?,
                Self::Zlib(decoder) => decode(decoder, piece)?,
                Self::Raw(decoder) => decode(decoder, piece)?,
                Self::Deflate => {}
            }
            self.tell(sink);
        }
        Ok(())
    }

    /// What the end of the body lets out. Fails where the compressed stream is not at its own end.
    pub(crate) fn finish(&mut self, sink: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        match self {
            Self::Gzip(decoder) => decoder.try_finish()?,
            Self::Zlib(decoder) => decoder.try_finish()?,
            Self::Raw(decoder) => decoder.try_finish()?,
            Self::Deflate => {}
        }
        self.tell(sink);
        Ok(())
    }

    fn tell(&mut self, sink: &mut dyn FnMut(&[u8])) {
        let decoded = match self {
            Self::Gzip(decoder) => std::mem::take(decoder.get_mut()),
            Self::Zlib(decoder) => std::mem::take(decoder.get_mut()),
            Self::Raw(decoder) => std::mem::take(decoder.get_mut()),
            Self::Deflate => return,
        };
        if !decoded.is_empty() {
            sink(&decoded);
        }
    }
}

/// Pushes `piece` through; the flush lets out every byte that it determines.
fn decode(decoder: &mut impl Write, piece: &[u8]) -> io::Result<()> {
    decoder.write_all(piece)?;
    decoder.flush()
}
