//! TLS towards the farm, by whoever trusts it or does not.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use peerfarm::Running;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::raw;

/// Trusts the farm's CA and nothing else, and offers these protocols.
pub fn trusting(farm: &Running, protocols: &[&str]) -> ClientConfig {
    trusting_file(farm.ca_file(), protocols)
}

/// Trusts the CAs of a PEM file and nothing else.
pub fn trusting_file(file: &Path, protocols: &[&str]) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).unwrap() {
        roots.add(certificate.unwrap()).unwrap();
    }
    config(roots, protocols)
}

/// Trusts nobody.
pub fn distrusting() -> ClientConfig {
    config(RootCertStore::empty(), &["h2", "http/1.1"])
}

/// Shakes hands with whom the farm has under that name. Where that fails, the farm has closed the connection too by
/// the time that this returns.
pub async fn connect(to: SocketAddr, name: &str, config: ClientConfig) -> io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(to).await.unwrap();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let shaken = TlsConnector::from(Arc::new(config)).connect(name, stream);
    match shaken.into_fallible().await {
        Ok(stream) => Ok(stream),
        Err((error, mut stream)) => {
            raw::ended(&mut stream).await;
            Err(error)
        }
    }
}

fn config(roots: RootCertStore, protocols: &[&str]) -> ClientConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider);
    let mut config = builder
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    config
}
