//! Whom to trust, and which HTTP to agree on.

use std::path::Path;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::{Connections, Error, HttpVersion, Kind, Options};

/// The TLS side of `options`. The provider is named, never the process's default: two that disagree would panic.
pub(crate) fn config(options: &Options) -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|cause| {
            Error::new(Kind::Setup, format!("TLS cannot be set up: {cause}")).caused_by(cause)
        })?;
    let roots = roots(options)?;
    let mut config = if options.insecure {
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            .with_no_client_auth()
    } else {
        builder.with_root_certificates(roots).with_no_client_auth()
    };
    config.alpn_protocols = match options.version {
        HttpVersion::Http1 => vec![b"http/1.1".to_vec()],
        HttpVersion::Http2 => vec![b"h2".to_vec()],
    };
    if options.connections == Connections::Fresh {
        // A resumed session would make the second cold connection a warm one.
        config.resumption = Resumption::disabled();
    }
    Ok(config)
}

/// The platform's roots, or those that SSL_CERT_FILE and SSL_CERT_DIR name instead, and `--cacert`'s in addition.
fn roots(options: &Options) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = &options.cacert {
        add_pem(&mut roots, file, "--cacert")?;
    }
    if options.insecure {
        return Ok(roots);
    }
    let file = options.environment.get("SSL_CERT_FILE").map(Path::new);
    let dir = options.environment.get("SSL_CERT_DIR").map(Path::new);
    if let (Some(file), None) = (file, dir) {
        add_pem(&mut roots, file, "SSL_CERT_FILE")?;
        return Ok(roots);
    }
    let native = match (file, dir) {
        (None, None) => rustls_native_certs::load_native_certs(),
        _ => rustls_native_certs::load_certs_from_paths(file, dir),
    };
    // A platform without roots is not an error here: --cacert may be all that is wanted.
    roots.add_parsable_certificates(native.certs);
    Ok(roots)
}

/// Adds each certificate of the PEM file that `name` named.
fn add_pem(roots: &mut RootCertStore, file: &Path, name: &str) -> Result<(), Error> {
    let bad = |why: String| Error::new(Kind::Setup, format!("{name} {}: {why}", file.display()));
    let pem = std::fs::read(file).map_err(|cause| bad(cause.to_string()).caused_by(cause))?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<_, _>>()
        .map_err(|cause| bad(format!("is not PEM: {cause}")))?;
    if roots.add_parsable_certificates(certificates).0 == 0 {
        return Err(bad("holds no certificate; expected PEM, `-----BEGIN CERTIFICATE-----`".to_owned()));
    }
    Ok(())
}

/// A handshake with `peer` that failed, with the remedy.
pub(crate) fn handshake_error(peer: &str, cause: std::io::Error) -> Error {
    use rustls::AlertDescription;
    use rustls::Error::{AlertReceived, InvalidCertificate, InvalidMessage, NoApplicationProtocol};

    let tls = cause.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let remedy = match tls {
        Some(InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => "; the certificate is for another host: check the URL (--insecure switches verification off)",
        Some(InvalidCertificate(_)) => {
            "; name the authority that signed it with --cacert FILE or SSL_CERT_FILE (--insecure switches verification off)"
        }
        Some(InvalidMessage(_)) => {
            "; does the server speak plain HTTP there? Then the URL begins with http://"
        }
        Some(NoApplicationProtocol | AlertReceived(AlertDescription::NoApplicationProtocol)) => {
            "; the server does not offer this HTTP version: leave --http2 out"
        }
        _ => "",
    };
    Error::new(Kind::Tls, format!("TLS with {peer} failed: {cause}{remedy}")).caused_by(cause)
}

/// `--insecure`: any certificate for any name. Signatures are still checked, so that the handshake is a real one.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
