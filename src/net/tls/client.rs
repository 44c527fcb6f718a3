//! The client side: whose certificates the farm takes when it delivers and fetches.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// Whom the farm trusts when it connects out over TLS.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// PEM files of certificates to trust besides the system's (`--trust`).
    pub files: Vec<PathBuf>,
    /// Certificates to trust besides: the farm's own authorities, since its peers also speak with each other.
    pub certificates: Vec<CertificateDer<'static>>,
    /// Whether any certificate will do (`--insecure`).
    pub insecure: bool,
}

impl Trust {
    /// The configuration of a client that trusts so: TLS 1.2 and 1.3, `http/1.1`. System certificates that cannot be
    /// read are logged and left out: a machine without any still reaches what the files vouch for.
    ///
    /// # Errors
    /// When a file cannot be read or holds no certificate, also with `insecure`: what was typed must be right.
    pub fn client_config(&self) -> Result<Arc<ClientConfig>, TrustError> {
        let mut roots = RootCertStore::empty();
        for path in &self.files {
            add_file(&mut roots, path)?;
        }
        let (added, ignored) = roots.add_parsable_certificates(self.certificates.iter().cloned());
        tracing::debug!(added, ignored, "certificates of the farm's own authorities");
        let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()?;
        let mut config = if self.insecure {
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AcceptAnyCertificate))
                .with_no_client_auth()
        } else {
            add_system(&mut roots);
            builder.with_root_certificates(roots).with_no_client_auth()
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

/// Why the farm does not know whom to trust.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The TLS layer has no protocol to speak.
    #[error("cannot set up TLS")]
    Configure(#[from] rustls::Error),
    /// A file holds no certificate, or one that is none.
    #[error("`{}` holds no certificate that can be trusted: {problem}; `--trust` wants a PEM file of CA certificates", path.display())]
    NoCertificate {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A file cannot be read.
    #[error("cannot read `{}`, named by `--trust`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

fn add_file(roots: &mut RootCertStore, path: &Path) -> Result<(), TrustError> {
    let refused = |problem| TrustError::NoCertificate {
        path: path.to_owned(),
        problem,
    };
    let text = std::fs::read(path).map_err(|source| TrustError::Read {
        path: path.to_owned(),
        source,
    })?;
    let mut count = 0;
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|_| refused("it is no PEM"))?;
        roots
            .add(certificate)
            .map_err(|_| refused("a certificate in it cannot be read"))?;
        count += 1;
    }
    if count == 0 {
        return Err(refused("there is no `BEGIN CERTIFICATE` in it"));
    }
    Ok(())
}

fn add_system(roots: &mut RootCertStore) {
    let native = rustls_native_certs::load_native_certs();
    for error in &native.errors {
        tracing::warn!(%error, "system certificates");
    }
    let (added, ignored) = roots.add_parsable_certificates(native.certs);
    tracing::debug!(added, ignored, "system certificates");
}

/// Takes every certificate, even one that cannot be read: what `--insecure` says.
#[derive(Debug)]
struct AcceptAnyCertificate;

impl ServerCertVerifier for AcceptAnyCertificate {
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
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        aws_lc_rs::default_provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}
