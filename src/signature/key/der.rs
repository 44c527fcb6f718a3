//! Algorithm identifiers (RFC 5280 section 4.1.1.2): what a key's DER says it is for.

use pkcs1::RsaPssParamsOwned;
use pkcs8::der::asn1::{BitStringRef, OctetStringRef};
use pkcs8::der::{Decode, Encode};
use pkcs8::{AlgorithmIdentifierRef, ObjectIdentifier, PrivateKeyInfoRef, SubjectPublicKeyInfoRef};

use crate::signature::key::KeyError;

/// What an algorithm identifier names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Ed25519,
    P256,
    P384,
    Rsa,
    RsaPss,
}

impl Family {
    /// Reads an identifier.
    ///
    /// # Errors
    /// Where it names what no key of the farm computes.
    pub(super) fn of(identifier: AlgorithmIdentifierRef) -> Result<Family, KeyError> {
        match identifier.oid {
            ID_ED25519 => Ok(Family::Ed25519),
            ID_EC_PUBLIC_KEY => match identifier.parameters_oid() {
                Ok(P_256) => Ok(Family::P256),
                Ok(P_384) => Ok(Family::P384),
                Ok(curve) => Err(KeyError::Algorithm(format!("ECDSA on the curve {curve}"))),
                Err(_) => Err(KeyError::Algorithm("ECDSA on an unnamed curve".to_owned())),
            },
            RSA_ENCRYPTION => Ok(Family::Rsa),
            ID_RSASSA_PSS => match identifier.parameters {
                None => Ok(Family::RsaPss),
                Some(parameters) => {
                    let restricted: RsaPssParamsOwned =
                        parameters.decode_as().map_err(|_| KeyError::Rejected)?;
                    match restricted.hash.oid {
                        ID_SHA512 => Ok(Family::RsaPss),
                        hash => Err(KeyError::Pss(hash.to_string())),
                    }
                }
            },
            other => Err(KeyError::Algorithm(other.to_string())),
        }
    }
}

/// The family of an SPKI and the key in it; `None` where it is no SPKI.
pub(super) fn public(der: &[u8]) -> Option<(Result<Family, KeyError>, &[u8])> {
    let info = SubjectPublicKeyInfoRef::from_der(der).ok()?;
    Some((Family::of(info.algorithm), info.subject_public_key.as_bytes()?))
}

/// The family of a PKCS#8 private key and the key in it; `None` where it is none.
pub(super) fn private(der: &[u8]) -> Option<(Result<Family, KeyError>, &[u8])> {
    let info = PrivateKeyInfoRef::from_der(der).ok()?;
    Some((Family::of(info.algorithm), info.private_key.as_bytes()))
}

/// The SPKI of an RSA key that is restricted to RSASSA-PSS; `pkcs1` is its public key.
pub(super) fn pss_public(pkcs1: &[u8]) -> Result<Vec<u8>, KeyError> {
    let key = BitStringRef::from_bytes(pkcs1).map_err(|_| KeyError::Operation("encode"))?;
    let info = SubjectPublicKeyInfoRef {
        algorithm: PSS,
        subject_public_key: key,
    };
    info.to_der().map_err(|_| KeyError::Operation("encode"))
}

/// The PKCS#8 of such a key, from the PKCS#8 of the unrestricted one.
pub(super) fn pss_private(unrestricted: &[u8]) -> Result<Vec<u8>, KeyError> {
    let (_, key) = private(unrestricted).ok_or(KeyError::Operation("encode"))?;
    let key = OctetStringRef::new(key).map_err(|_| KeyError::Operation("encode"))?;
    let der = PrivateKeyInfoRef::new(PSS, key).to_der();
    der.map_err(|_| KeyError::Operation("encode"))
}

const PSS: AlgorithmIdentifierRef<'static> = AlgorithmIdentifierRef {
    oid: ID_RSASSA_PSS,
    parameters: None,
};

/// RFC 8410 section 3.
const ID_ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
/// RFC 5480 section 2.1.1.
const ID_EC_PUBLIC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P_256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P_384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
/// RFC 8017 appendix C.
const RSA_ENCRYPTION: ObjectIdentifier = pkcs1::ALGORITHM_OID;
const ID_RSASSA_PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
const ID_SHA512: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.3");
