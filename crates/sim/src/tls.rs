//! TLS with a given certificate (C38).

use std::io;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::config::Tls;

/// An acceptor with the certificate chain and key that `tls` names.
pub(crate) fn acceptor(tls: &Tls) -> io::Result<TlsAcceptor> {
    let chain: Vec<_> = CertificateDer::pem_file_iter(&tls.cert)
        .and_then(Iterator::collect)
        .map_err(|error| named(&tls.cert, &error))?;
    let key = PrivateKeyDer::from_pem_file(&tls.key).map_err(|error| named(&tls.key, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| named(&tls.cert, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn named(path: &std::path::Path, error: &dyn std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{}: {error}", path.display()))
}
