use std::io;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::server::Acceptor;
use rustls::{ClientConfig, HandshakeKind, ProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_rustls::{LazyConfigAcceptor, TlsConnector, client, server};

use super::*;
use crate::clock::Timestamp;
use crate::ids::Host;
use crate::store::{Authorities, Store};

#[tokio::test]
async fn each_host_shows_its_own_certificate() {
    let farm = Farm::of(&["mastodon1.test", "lemmy1.test"]);
    let config = farm.trusting();
    for name in ["mastodon1.test", "lemmy1.test", "LEMMY1.test"] {
        let (client, server) = farm.shake(&config, name).await;
        let (host, _) = server.unwrap();
        assert_eq!(host.as_str(), name.to_lowercase());
        assert_eq!(
            client.unwrap().get_ref().1.protocol_version(),
            Some(ProtocolVersion::TLSv1_3)
        );
    }
    let chosen = |name| farm.tls.config(&host(name), Timestamp::now()).unwrap();
    assert!(Arc::ptr_eq(&chosen("lemmy1.test"), &chosen("lemmy1.test")));
    assert!(!Arc::ptr_eq(&chosen("lemmy1.test"), &chosen("mastodon1.test")));
}

#[tokio::test]
async fn http_2_is_taken_before_1_1_and_tls_1_2_still() {
    let farm = Farm::of(&["a.test"]);
    for (offered, agreed) in [
        (vec!["http/1.1", "h2"], Some("h2")),
        (vec!["http/1.1"], Some("http/1.1")),
        (vec![], None),
    ] {
        let mut config = (*farm.trusting()).clone();
        config.alpn_protocols = offered.iter().map(|name| name.as_bytes().to_vec()).collect();
        let (client, server) = farm.shake(&Arc::new(config), "a.test").await;
        client.unwrap();
        assert_eq!(
            server.unwrap().1.get_ref().1.alpn_protocol(),
            agreed.map(str::as_bytes)
        );
    }
    let (client, _) = farm
        .shake(&farm.trusting_with(&[&rustls::version::TLS12]), "a.test")
        .await;
    assert_eq!(
        client.unwrap().get_ref().1.protocol_version(),
        Some(ProtocolVersion::TLSv1_2)
    );
}

#[tokio::test]
async fn a_sender_resumes_its_session_and_only_under_the_same_name() {
    let farm = Farm::of(&["a.test", "b.test"]);
    for versions in [&[&rustls::version::TLS13], &[&rustls::version::TLS12]] {
        let config = farm.trusting_with(versions);
        let mut kinds = Vec::new();
        for name in ["a.test", "a.test", "b.test"] {
            let (client, server) = farm.shake(&config, name).await;
            let (mut client, (_, mut server)) = (client.unwrap(), server.unwrap());
            // The tickets of TLS 1.3 come with the first bytes.
            server.write_all(b"x").await.unwrap();
            server.flush().await.unwrap();
            client.read_u8().await.unwrap();
            kinds.push(client.get_ref().1.handshake_kind().unwrap());
        }
        assert_eq!(
            kinds,
            [HandshakeKind::Full, HandshakeKind::Resumed, HandshakeKind::Full]
        );
    }
}

#[tokio::test]
async fn a_name_of_nobody_is_refused_with_its_alert() {
    let farm = Farm::of(&["a.test"]);
    let (client, server) = farm.shake(&farm.trusting(), "b.test").await;
    assert_eq!(server.unwrap_err(), "unrecognized_name");
    assert_eq!(tls_failure_label(&client.unwrap_err()), "unrecognized_name");
}

#[tokio::test]
async fn a_client_that_names_no_host_is_refused_with_its_alert() {
    let farm = Farm::of(&["a.test"]);
    let mut nameless = (*farm.trusting()).clone();
    nameless.enable_sni = false;
    for (config, name) in [(Arc::new(nameless), "a.test"), (farm.trusting(), "127.0.0.1")] {
        let (client, server) = farm.shake(&config, name).await;
        assert_eq!(server.unwrap_err(), "no_sni");
        let error = client.unwrap_err();
        assert!(error.to_string().contains("MissingExtension"), "{error}");
    }
}

#[tokio::test]
async fn failures_have_the_names_of_their_cause() {
    let farm = Farm::of(&["a.test"]);
    // Nobody vouches for the farm: the client says so, the server counts what it said.
    let stranger = Trust {
        files: vec![],
        certificates: vec![],
        insecure: false,
    }
    .client_config()
    .unwrap();
    let (client, server) = farm.shake(&stranger, "a.test").await;
    assert_eq!(tls_failure_label(&client.unwrap_err()), "unknown_ca");
    assert_eq!(server.unwrap_err(), "unknown_ca");

    for (sent, label) in [
        (&b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"[..], "not_tls"),
        (b"", "eof"),
        (b"\x16", "eof"),
    ] {
        let (mut client, server) = tokio::io::duplex(4_096);
        client.write_all(sent).await.unwrap();
        client.shutdown().await.unwrap();
        assert_eq!(farm.accept(server).await.unwrap_err(), label);
    }
    for (kind, label) in [
        (io::ErrorKind::TimedOut, "handshake_timeout"),
        (io::ErrorKind::ConnectionReset, "reset"),
        (io::ErrorKind::UnexpectedEof, "eof"),
        (io::ErrorKind::OutOfMemory, "io"),
    ] {
        assert_eq!(tls_failure_label(&kind.into()), label);
    }
}

#[tokio::test]
async fn insecure_takes_any_certificate_and_nothing_else_does() {
    let farm = Farm::of(&["a.test"]);
    let other = Farm::of(&["a.test"]);
    let insecure = Trust {
        insecure: true,
        ..Trust::default()
    }
    .client_config()
    .unwrap();
    assert_eq!(insecure.alpn_protocols, [b"http/1.1"]);
    farm.shake(&insecure, "a.test").await.0.unwrap();
    let (client, _) = farm.shake(&other.trusting(), "a.test").await;
    assert_eq!(tls_failure_label(&client.unwrap_err()), "unknown_ca");
}

#[tokio::test]
async fn a_trusted_file_vouches_for_the_farm() {
    let farm = Farm::of(&["a.test"]);
    let files = vec![farm.dir.path().join("ca.pem")];
    let config = Trust {
        files,
        ..Trust::default()
    }
    .client_config()
    .unwrap();
    farm.shake(&config, "a.test").await.0.unwrap();
}

#[test]
fn a_file_that_vouches_for_nobody_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("roots.pem");
    let complaint = || {
        let trust = Trust {
            files: vec![path.clone()],
            insecure: true,
            ..Trust::default()
        };
        trust.client_config().unwrap_err().to_string()
    };
    assert_eq!(
        complaint(),
        format!("cannot read `{}`, named by `--trust`", path.display())
    );
    for (text, problem) in [
        ("", "there is no `BEGIN CERTIFICATE` in it"),
        (
            "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
            "it is no PEM",
        ),
        (
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "a certificate in it cannot be read",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let start = format!(
            "`{}` holds no certificate that can be trusted: {problem}; ",
            path.display()
        );
        assert!(complaint().starts_with(&start), "{}", complaint());
    }
}

/// A state of its own and the server side over it.
struct Farm {
    dir: tempfile::TempDir,
    roots: Vec<rustls::pki_types::CertificateDer<'static>>,
    tls: ServerTls,
}

impl Farm {
    fn of(names: &[&str]) -> Farm {
        let dir = tempfile::tempdir().unwrap();
        let names: Vec<Host> = names.iter().map(|name| host(name)).collect();
        let store = Store::open(dir.path()).unwrap();
        let authorities: Authorities = store.authorities_for(&names, Timestamp::now()).unwrap();
        let roots = authorities
            .certificates()
            .iter()
            .map(|one| one.der().clone())
            .collect();
        Farm {
            dir,
            roots,
            tls: ServerTls::new(authorities),
        }
    }

    /// A client that trusts the farm alone.
    fn trusting(&self) -> Arc<ClientConfig> {
        self.trusting_with(rustls::ALL_VERSIONS)
    }

    fn trusting_with(&self, versions: &[&'static rustls::SupportedProtocolVersion]) -> Arc<ClientConfig> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add_parsable_certificates(self.roots.iter().cloned());
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap();
        Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
    }

    /// Both ends of a handshake.
    async fn shake(
        &self,
        config: &Arc<ClientConfig>,
        name: &str,
    ) -> (
        io::Result<client::TlsStream<DuplexStream>>,
        Result<Accepted, &'static str>,
    ) {
        let (near, far) = tokio::io::duplex(16_384);
        let name = ServerName::try_from(name.to_owned()).unwrap();
        tokio::join!(
            TlsConnector::from(Arc::clone(config)).connect(name, near),
            self.accept(far)
        )
    }

    /// The server's end, as the connection layer does it; the label of what failed.
    async fn accept(&self, socket: DuplexStream) -> Result<Accepted, &'static str> {
        let label = |error: io::Error| tls_failure_label(&error);
        let mut start = LazyConfigAcceptor::new(Acceptor::default(), socket)
            .await
            .map_err(label)?;
        match self.tls.choose(&start.client_hello(), Timestamp::now()) {
            Ok((host, config)) => Ok((host, start.into_stream(config).await.map_err(label)?)),
            Err(refusal) => {
                start.io.write_all(&refusal.alert()).await.unwrap();
                Err(refusal.label())
            }
        }
    }
}

type Accepted = (Host, server::TlsStream<DuplexStream>);

fn host(name: &str) -> Host {
    name.parse().unwrap()
}
