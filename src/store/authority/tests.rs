use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::Command;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{ServerName, UnixTime};
use rustls::{CertificateError, RootCertStore};

use super::*;

#[test]
fn openssl_reads_what_the_certificates_should_say() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::make(&hosts(&["mastodon1.test", "hooks.test"]), NOW).unwrap();
    let text = openssl_text(dir.path(), &authority.certificate.pem());
    let key_id = authority.certificate.key_id();
    for line in [
        format!("Subject: CN = peerfarm CA {key_id}, O = peerfarm throw-away test CA"),
        "Public Key Algorithm: id-ecPublicKey".to_owned(),
        "X509v3 Basic Constraints: critical CA:TRUE, pathlen:0".to_owned(),
        "X509v3 Key Usage: critical Certificate Sign, CRL Sign".to_owned(),
        "X509v3 Extended Key Usage: TLS Web Server Authentication".to_owned(),
        "X509v3 Name Constraints: critical Permitted: DNS:mastodon1.test DNS:hooks.test Excluded: \
         IP:0.0.0.0/0.0.0.0 IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0"
            .to_owned(),
        // 2027-01-15 less a day, and ten years on.
        "Not Before: Jan 14 08:00:00 2027 GMT Not After : Jan 14 08:00:00 2037 GMT".to_owned(),
    ] {
        assert!(text.contains(&line), "`{line}` in {text}");
    }
    let subject_key = after(&text, "X509v3 Subject Key Identifier: ");
    assert!(
        subject_key.replace(':', "").to_lowercase().starts_with(key_id),
        "{subject_key} {key_id}"
    );

    let leaf = authority.leaf(&host("mastodon1.test"), NOW).unwrap();
    let text = openssl_text(dir.path(), &pem(&leaf));
    for line in [
        "X509v3 Basic Constraints: critical CA:FALSE",
        "X509v3 Key Usage: critical Digital Signature",
        "X509v3 Subject Alternative Name: DNS:mastodon1.test X509v3",
        // 397 days.
        "Not Before: Jan 14 08:00:00 2027 GMT Not After : Feb 15 08:00:00 2028 GMT",
    ] {
        assert!(text.contains(line), "`{line}` in {text}");
    }
    assert_eq!(after(&text, "X509v3 Authority Key Identifier: "), subject_key);
}

#[test]
fn an_authority_of_a_thousand_hosts_vouches_for_each() {
    let names: Vec<String> = (1..=1_000).map(|n| format!("flood{n}.test")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let authority = Authority::make(&hosts(&names), NOW).unwrap();
    for name in ["flood1.test", "flood1000.test"] {
        let leaf = authority.leaf(&host(name), NOW).unwrap();
        rustls_verifies(&authority, &leaf, name).unwrap();
        openssl_verifies(&authority, &leaf, name).unwrap();
    }
    refused_by_both(&authority, "flood1001.test");
}

#[test]
fn an_authority_vouches_for_no_other_name() {
    let authority = Authority::make(&hosts(&["mastodon1.test", "a_b.test"]), NOW).unwrap();
    for name in [
        "sut.test",
        "test",
        "notmastodon1.test",
        "mastodon1.test.example",
        "example.com",
    ] {
        refused_by_both(&authority, name);
    }
    // RFC 5280 section 4.2.1.10: a constraint stands for the names below it too.
    for name in ["mastodon1.test", "media.mastodon1.test", "a_b.test"] {
        let leaf = authority.leaf(&host(name), NOW).unwrap();
        rustls_verifies(&authority, &leaf, name).unwrap();
        openssl_verifies(&authority, &leaf, name).unwrap();
    }
}

#[test]
fn an_authority_vouches_for_no_address() {
    let authority = Authority::make(&hosts(&["mastodon1.test"]), NOW).unwrap();
    for address in [IpAddr::from(Ipv4Addr::LOCALHOST), "::1".parse().unwrap()] {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.subject_alt_names = vec![SanType::IpAddress(address)];
        (params.not_before, params.not_after) = (moment(NOW.minus(DAY)), moment(NOW.plus(DAY)));
        let certificate = params.signed_by(&key, &authority.issuer).unwrap().der().clone();
        let leaf = Leaf {
            certificate,
            key: PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        };
        assert_eq!(
            rustls_verifies(&authority, &leaf, &address.to_string()),
            Err(constraint_violation())
        );
        let complaint = openssl_verifies(&authority, &leaf, &address.to_string()).unwrap_err();
        assert!(complaint.contains("excluded subtree violation"), "{complaint}");
    }
}

#[test]
fn an_authority_read_back_signs_as_before() {
    let made = Authority::make(&hosts(&["mastodon1.test", "Lemmy1.test"]), NOW).unwrap();
    let read = Authority::from_pem(&made.private_pem()).unwrap();
    assert_eq!(read.certificate.der, made.certificate.der);
    assert_eq!(read.certificate.key_id, made.certificate.key_id);
    assert_eq!(
        read.certificate.names().collect::<Vec<_>>(),
        ["lemmy1.test", "mastodon1.test"]
    );
    assert_eq!(read.certificate.not_before, made.certificate.not_before);
    assert_eq!(read.certificate.not_after, made.certificate.not_after);
    let leaf = read.leaf(&host("lemmy1.test"), NOW).unwrap();
    rustls_verifies(&made, &leaf, "lemmy1.test").unwrap();
    openssl_verifies(&made, &leaf, "lemmy1.test").unwrap();
}

#[test]
fn a_name_is_permitted_while_the_authority_is_valid() {
    let authority = Authority::make(&hosts(&["mastodon1.test"]), NOW).unwrap();
    let permits = |name, at| authority.certificate.permits(&host(name), at);
    assert!(permits("mastodon1.test", NOW));
    assert!(permits("media.mastodon1.test", NOW));
    assert!(!permits("xmastodon1.test", NOW));
    assert!(!permits("test", NOW));
    assert!(!permits("mastodon1.test", NOW.minus(DAY * 2)));
    assert!(!permits("mastodon1.test", NOW.plus(DAY * 3_653)));
}

#[test]
fn a_certificate_does_not_outlive_its_authority() {
    let authority = Authority::make(&hosts(&["mastodon1.test"]), NOW).unwrap();
    let late = NOW.plus(DAY * 3_651);
    let leaf = authority.leaf(&host("mastodon1.test"), late).unwrap();
    let (_, parsed) = X509Certificate::from_der(&leaf.certificate).unwrap();
    assert_eq!(
        parsed.validity().not_after.timestamp(),
        authority.certificate.not_after.unix()
    );
}

#[test]
fn what_is_no_authority_is_refused_with_its_reason() {
    let one = Authority::make(&hosts(&["a.test"]), NOW).unwrap();
    let other = Authority::make(&hosts(&["b.test"]), NOW).unwrap();
    let (certificate, key) = (one.certificate.pem(), one.issuer.key().serialize_pem());
    let mut unconstrained = CertificateParams::default();
    unconstrained.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let unconstrained = unconstrained.self_signed(one.issuer.key()).unwrap().pem();
    let leaf = pem(&one.leaf(&host("a.test"), NOW).unwrap());
    for (text, problem) in [
        (String::new(), "there is no certificate"),
        (certificate.clone(), "there is no PKCS#8 private key"),
        (key.clone(), "there is no certificate"),
        (
            other.certificate.pem() + &key,
            "the private key is not the certificate's",
        ),
        (
            format!("{certificate}{certificate}{key}"),
            "there is more than one certificate",
        ),
        (
            unconstrained + &key,
            "the certificate has no critical name constraints",
        ),
        (leaf + &key, "the certificate is no authority's"),
        (certificate.replace("MII", "MI!") + &key, "it is no PEM"),
        (
            certificate[..200].to_owned() + "\n" + &key,
            "there is no certificate",
        ),
    ] {
        assert_eq!(Authority::from_pem(&text).unwrap_err(), problem, "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn no_file_makes_the_reader_panic(at in 0usize..1_200, byte in proptest::prelude::any::<u8>()) {
        let mut text = Authority::make(&hosts(&["a.test"]), NOW).unwrap().private_pem().into_bytes();
        let at = at % text.len();
        text[at] = byte;
        let _ = Authority::from_pem(&String::from_utf8_lossy(&text));
    }

    #[test]
    fn no_certificate_makes_the_reader_panic(at in 0usize..600, byte in proptest::prelude::any::<u8>()) {
        let mut der = Authority::make(&hosts(&["a.test"]), NOW).unwrap().certificate.der.to_vec();
        let at = at % der.len();
        der[at] = byte;
        let _ = AuthorityCertificate::from_der(der.into());
    }
}

/// Signs for a name the authority may not sign for, and has both verifiers refuse it for that reason.
fn refused_by_both(authority: &Authority, name: &str) {
    let leaf = authority.leaf(&host(name), NOW).unwrap();
    assert_eq!(
        rustls_verifies(authority, &leaf, name),
        Err(constraint_violation()),
        "{name}"
    );
    let complaint = openssl_verifies(authority, &leaf, name).unwrap_err();
    assert!(
        complaint.contains("permitted subtree violation"),
        "{name}: {complaint}"
    );
}

fn rustls_verifies(authority: &Authority, leaf: &Leaf, name: &str) -> Result<(), String> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.certificate.der.clone()).unwrap();
    let provider = aws_lc_rs::default_provider().into();
    let verifier = WebPkiServerVerifier::builder_with_provider(roots.into(), provider)
        .build()
        .unwrap();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let now = UnixTime::since_unix_epoch(Duration::from_secs(NOW.unix() as u64));
    match verifier.verify_server_cert(&leaf.certificate, &[], &name, &[], now) {
        Ok(_) => Ok(()),
        Err(rustls::Error::InvalidCertificate(CertificateError::Other(error))) => Err(error.0.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn constraint_violation() -> String {
    "NameConstraintViolation".to_owned()
}

fn openssl_verifies(authority: &Authority, leaf: &Leaf, name: &str) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("ca.pem"), authority.certificate.pem()).unwrap();
    std::fs::write(dir.path().join("leaf.pem"), pem(leaf)).unwrap();
    let about = if name.parse::<IpAddr>().is_ok() {
        "-verify_ip"
    } else {
        "-verify_hostname"
    };
    let now = NOW.unix().to_string();
    let output = Command::new("openssl")
        .current_dir(dir.path())
        .args(["verify", "-x509_strict", "-purpose", "sslserver", "-attime", &now])
        .args(["-CAfile", "ca.pem", "-no-CApath", about, name, "leaf.pem"])
        .output()
        .unwrap();
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8(output.stderr).unwrap()),
    }
}

/// `openssl x509 -text` with every run of white space as one blank.
fn openssl_text(dir: &Path, pem: &str) -> String {
    let path = dir.join("certificate.pem");
    std::fs::write(&path, pem).unwrap();
    let output = Command::new("openssl")
        .args(["x509", "-noout", "-text", "-in"])
        .arg(path)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The word after `label`.
fn after(text: &str, label: &str) -> String {
    let (_, rest) = text.split_once(label).unwrap();
    rest.split(' ').next().unwrap().to_owned()
}

fn pem(leaf: &Leaf) -> String {
    pem_rfc7468::encode_string("CERTIFICATE", LineEnding::LF, &leaf.certificate).unwrap()
}

fn hosts(names: &[&str]) -> Vec<Host> {
    names.iter().map(|name| host(name)).collect()
}

fn host(name: &str) -> Host {
    name.parse().unwrap()
}

/// 2027-01-15T08:00:00Z.
const NOW: Timestamp = Timestamp::from_unix(1_800_000_000);
