//! A connection's bytes, plain or under TLS.

use std::io;
use std::time::Duration;

use inferometer_clock::{Clock, Mono};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// How much is read at once.
const READ_SIZE: usize = 4 * 1024;

/// A client's connection.
pub(crate) struct Stream {
    clock: Clock,
    pipe: Pipe,
}

enum Pipe {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    pub(crate) fn plain(clock: &Clock, tcp: TcpStream) -> Self {
        Self { clock: clock.clone(), pipe: Pipe::Plain(tcp) }
    }

    pub(crate) fn tls(clock: &Clock, tls: TlsStream<TcpStream>) -> Self {
        Self { clock: clock.clone(), pipe: Pipe::Tls(Box::new(tls)) }
    }

    /// Appends what has come to `buffer`; 0 at the end. Safe to drop while it waits.
    pub(crate) async fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        buffer.reserve(READ_SIZE);
        match &mut self.pipe {
            Pipe::Plain(tcp) => tcp.read_buf(buffer).await,
            Pipe::Tls(tls) => tls.read_buf(buffer).await,
        }
    }

    /// Writes all of `bytes`; returns the instant just before the call that took the last of them.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<Mono> {
        match &mut self.pipe {
            Pipe::Plain(tcp) => write_plain(tcp, bytes, &self.clock).await,
            Pipe::Tls(tls) => {
                let at = self.clock.now();
                tls.write_all(bytes).await?;
                tls.flush().await?;
                Ok(at)
            }
        }
    }

    /// Makes the close of this connection a reset.
    pub(crate) fn reset_on_close(&self) {
        let tcp = match &self.pipe {
            Pipe::Plain(tcp) => tcp,
            Pipe::Tls(tls) => tls.get_ref().0,
        };
        // Where it fails, the close is an orderly one: the record still says what was meant.
        let _ = socket2::SockRef::from(tcp).set_linger(Some(Duration::ZERO));
    }

    /// Tells the client that nothing more comes.
    pub(crate) async fn close(&mut self) {
        // A client that has gone already needs no goodbye.
        let _ = match &mut self.pipe {
            Pipe::Plain(tcp) => tcp.shutdown().await,
            Pipe::Tls(tls) => tls.shutdown().await,
        };
    }
}

async fn write_plain(tcp: &TcpStream, mut bytes: &[u8], clock: &Clock) -> io::Result<Mono> {
    loop {
        let at = clock.now();
        match tcp.try_write(bytes) {
            Ok(written) if written >= bytes.len() => return Ok(at),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => tcp.writable().await?,
            Err(error) => return Err(error),
        }
    }
}
