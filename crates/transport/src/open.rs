//! From nothing to a stream that HTTP can run on: connect, tunnel, TLS, each stamped.

use std::sync::Arc;

use inferometer_clock::Clock;
use tokio_rustls::TlsConnector;

use crate::proxy::{self, Route};
use crate::stamped::{StampedIo, Stamps};
use crate::stream::Stream;
use crate::{Connect, Error, HttpVersion, Kind, Target, Trace, tls};

/// Opens a connection to `target`.
pub(crate) async fn open<C: Connect>(
    connect: &C,
    target: &Target,
    clock: &Clock,
    trace: &Trace,
) -> Result<Stream, Error> {
    let pipe = dial(connect, target, trace).await?;
    trace.set_connect(clock.now());
    let stamps = Stamps::new();
    let io = StampedIo::new(pipe, clock, &stamps);
    let Some((config, name)) = target.tls() else { return Ok(Stream::plain(io, stamps)) };
    let connected = TlsConnector::from(Arc::clone(config)).connect(name.clone(), io).await;
    let tls = connected.map_err(|cause| tls::handshake_error(target.peer(), cause))?;
    trace.set_tls(clock.now());
    if target.version() == HttpVersion::Http2 && tls.get_ref().1.alpn_protocol() != Some(b"h2") {
        let peer = target.peer();
        return Err(Error::new(
            Kind::Protocol,
            format!("{peer} does not offer HTTP/2 (ALPN): leave --http2 out"),
        ));
    }
    Ok(Stream::tls(tls, stamps))
}

/// The byte stream to the origin, through the proxy's tunnel where there is one.
async fn dial<C: Connect>(connect: &C, target: &Target, trace: &Trace) -> Result<C::Io, Error> {
    let Some(proxy) = target.route().proxy() else {
        return connect.connect(target.origin().host(), target.origin().port(), trace).await;
    };
    let mut pipe =
        connect.connect(&proxy.host, proxy.port, trace).await.map_err(|error| match error.kind() {
            Kind::ClientLimit => error,
            _ => Error::new(Kind::Proxy, format!("through the proxy: {error}")).caused_by(error),
        })?;
    if let Route::Tunnel(proxy) = target.route() {
        proxy::tunnel(&mut pipe, proxy, target.peer()).await?;
    }
    Ok(pipe)
}
