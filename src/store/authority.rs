//! One certificate authority: a throw-away test CA that can sign for the names it was made for, and for nothing else.

use std::collections::BTreeSet;
use std::time::Duration;

use pem_rfc7468::LineEnding;
use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    GeneralSubtree, IsCa, Issuer, KeyPair, KeyUsagePurpose, NameConstraints, PKCS_ECDSA_P256_SHA256,
    PublicKeyData, SanType,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use time::OffsetDateTime;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::clock::Timestamp;
use crate::ids::Host;

/// An authority: its certificate and the key that signs.
pub struct Authority {
    certificate: AuthorityCertificate,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// Makes an authority for just these hosts (ECDSA P-256), valid from a day before `now` for ten years.
    ///
    /// # Errors
    /// When a name is none a certificate can carry, or the system gives no random bytes.
    pub fn make(hosts: &[Host], now: Timestamp) -> Result<Authority, rcgen::Error> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let mut params = CertificateParams::default();
        let key_id = short_key_id(&params.key_identifier(&key));
        params.distinguished_name = distinguished_name(&format!("peerfarm CA {key_id}"));
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        params.name_constraints = Some(constraints(hosts));
        let (from, until) = (now.minus(SKEW), now.plus(AUTHORITY_LIFE));
        (params.not_before, params.not_after) = (moment(from), moment(until));
        let der = params.self_signed(&key)?.der().clone();
        let certificate = AuthorityCertificate {
            der,
            key_id,
            names: hosts.iter().map(|host| host.as_str().to_owned()).collect(),
            not_before: Timestamp::from_unix(from.unix()),
            not_after: Timestamp::from_unix(until.unix()),
        };
        Ok(Authority {
            certificate,
            issuer: Issuer::new(params, key),
        })
    }

    /// Reads what [`Authority::private_pem`] wrote; the error says what is wrong with it.
    pub fn from_pem(text: &str) -> Result<Authority, &'static str> {
        let mut certificates = AuthorityCertificate::bundle_from_pem(text)?;
        let certificate = match (certificates.pop(), certificates.pop()) {
            (Some(one), None) => one,
            (None, _) => return Err("there is no certificate"),
            (Some(_), Some(_)) => return Err("there is more than one certificate"),
        };
        let key = PrivatePkcs8KeyDer::from_pem_slice(text.as_bytes())
            .map_err(|_| "there is no PKCS#8 private key")?;
        let key = KeyPair::from_pkcs8_der_and_sign_algo(&key, &PKCS_ECDSA_P256_SHA256)
            .map_err(|_| "the private key is no ECDSA P-256 key")?;
        let (_, parsed) = X509Certificate::from_der(&certificate.der).map_err(|_| UNREADABLE)?;
        if parsed.public_key().raw != key.subject_public_key_info() {
            return Err("the private key is not the certificate's");
        }
        let issuer = Issuer::from_ca_cert_der(&certificate.der, key).map_err(|_| UNREADABLE)?;
        Ok(Authority { certificate, issuer })
    }

    /// The certificate, what others trust.
    pub fn certificate(&self) -> &AuthorityCertificate {
        &self.certificate
    }

    /// Certificate and private key as PEM, for the state directory.
    pub fn private_pem(&self) -> String {
        self.certificate.pem() + &self.issuer.key().serialize_pem()
    }

    /// A certificate for this host alone (ECDSA P-256, a key of its own), valid from a day before `now` for 397 days
    /// in all, or as long as the authority is.
    ///
    /// # Errors
    /// When the system gives no random bytes. A host the authority may not sign for is signed all the same: no
    /// verifier takes it.
    pub fn leaf(&self, host: &Host, now: Timestamp) -> Result<Leaf, rcgen::Error> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let mut params = CertificateParams::default();
        // A common name has at most 64 characters (RFC 5280 appendix A.1); clients read the alternative name anyway.
        let subject = if host.as_str().len() <= 64 {
            host.as_str()
        } else {
            "peerfarm peer"
        };
        params.distinguished_name = distinguished_name(subject);
        params.subject_alt_names = vec![SanType::DnsName(host.as_str().try_into()?)];
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        params.not_before = moment(now.minus(SKEW).max(self.certificate.not_before));
        params.not_after = moment(now.plus(LEAF_LIFE).min(self.certificate.not_after));
        let certificate = params.signed_by(&key, &self.issuer)?.der().clone();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        Ok(Leaf { certificate, key })
    }
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Authority")
            .field(&self.certificate.key_id)
            .finish()
    }
}

/// An authority's certificate, with what it says.
#[derive(Clone, Debug)]
pub struct AuthorityCertificate {
    der: CertificateDer<'static>,
    key_id: String,
    names: BTreeSet<String>,
    not_before: Timestamp,
    not_after: Timestamp,
}

impl AuthorityCertificate {
    /// Reads every certificate of a PEM text; the error says what is wrong with one of them.
    pub fn bundle_from_pem(text: &str) -> Result<Vec<AuthorityCertificate>, &'static str> {
        CertificateDer::pem_slice_iter(text.as_bytes())
            .map(|der| AuthorityCertificate::from_der(der.map_err(|_| "it is no PEM")?))
            .collect()
    }

    fn from_der(der: CertificateDer<'static>) -> Result<AuthorityCertificate, &'static str> {
        let (rest, parsed) = X509Certificate::from_der(&der).map_err(|_| UNREADABLE)?;
        if !rest.is_empty() {
            return Err(UNREADABLE);
        }
        if !parsed.is_ca() {
            return Err("the certificate is no authority's");
        }
        // Whoever trusts the farm trusts it for these names alone, so an authority without them is none of the farm's.
        let constraints = match parsed.name_constraints() {
            Ok(Some(extension)) if extension.critical => extension.value,
            _ => return Err("the certificate has no critical name constraints"),
        };
        let names = constraints
            .permitted_subtrees
            .iter()
            .flatten()
            .filter_map(|tree| match tree.base {
                GeneralName::DNSName(name) => Some(name.to_ascii_lowercase()),
                _ => None,
            });
        let key_id = parsed
            .iter_extensions()
            .find_map(|extension| match extension.parsed_extension() {
                x509_parser::extensions::ParsedExtension::SubjectKeyIdentifier(id) => {
                    Some(short_key_id(id.0))
                }
                _ => None,
            });
        Ok(AuthorityCertificate {
            names: names.collect(),
            key_id: key_id.ok_or("the certificate has no key identifier")?,
            not_before: Timestamp::from_unix(parsed.validity().not_before.timestamp()),
            not_after: Timestamp::from_unix(parsed.validity().not_after.timestamp()),
            der,
        })
    }

    /// The certificate's bytes.
    pub fn der(&self) -> &CertificateDer<'static> {
        &self.der
    }

    /// The certificate as PEM.
    pub fn pem(&self) -> String {
        // Encoding fails only where the length of the text overflows.
        pem_rfc7468::encode_string("CERTIFICATE", LineEnding::LF, &self.der).unwrap_or_default()
    }

    /// The first eight hex digits of its key identifier, part of its name `peerfarm CA <key id>`.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The names it may sign for; each stands for the names below it too (RFC 5280 section 4.2.1.10).
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The end of its validity.
    pub fn not_after(&self) -> Timestamp {
        self.not_after
    }

    /// Whether it may sign for this host at this moment.
    pub fn permits(&self, host: &Host, now: Timestamp) -> bool {
        let valid = self.not_before <= now && now < self.not_after;
        let mut suffixes = std::iter::successors(Some(host.as_str()), |name| Some(name.split_once('.')?.1));
        valid && suffixes.any(|suffix| self.names.contains(suffix))
    }
}

/// A peer's certificate and its key.
#[derive(Debug)]
pub struct Leaf {
    /// The certificate; it is the whole chain, its issuer being the root itself.
    pub certificate: CertificateDer<'static>,
    /// The key, as PKCS#8.
    pub key: PrivateKeyDer<'static>,
}

/// These names and no address. Names of other kinds are left open: a server certificate has none.
fn constraints(hosts: &[Host]) -> NameConstraints {
    NameConstraints {
        permitted_subtrees: hosts
            .iter()
            .map(|host| GeneralSubtree::DnsName(host.to_string()))
            .collect(),
        excluded_subtrees: vec![
            GeneralSubtree::IpAddress(CidrSubnet::V4([0; 4], [0; 4])),
            GeneralSubtree::IpAddress(CidrSubnet::V6([0; 16], [0; 16])),
        ],
    }
}

fn distinguished_name(common: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    name.push(DnType::OrganizationName, "peerfarm throw-away test CA");
    name
}

fn short_key_id(key_id: &[u8]) -> String {
    key_id.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

fn moment(at: Timestamp) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(at.unix()).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

const UNREADABLE: &str = "the certificate cannot be read";

const DAY: Duration = Duration::from_secs(86_400);

/// How far a certificate reaches back, for clients whose clock is behind.
const SKEW: Duration = DAY;

const AUTHORITY_LIFE: Duration = DAY.saturating_mul(3_652);

/// With the day before, 397 (CA/Browser Forum Baseline Requirements section 6.3.2, as clients enforce it since 2020).
const LEAF_LIFE: Duration = DAY.saturating_mul(396);

#[cfg(test)]
mod tests;
