//! Keys, and requests to sign and to spoil, for the tests of signatures.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::clock::Timestamp;
use crate::signature::key::{Algorithm, SigningKey, VerifyingKey};
use crate::signature::{self, Hs2019, Parsed, Request, SignatureHeader, Terms, Verdict, Window, base64};

/// A delivery that Bob's inbox gets at [`NOW`], as yet unsigned. Its digest is OpenSSL's.
pub(crate) struct Sent {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) authority: Option<String>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Sent {
    pub(crate) fn post(target: &str) -> Sent {
        Sent {
            method: "POST".to_owned(),
            target: target.to_owned(),
            authority: None,
            headers: HeaderMap::new(),
            body: BODY.as_bytes().to_vec(),
        }
        .with("host", "b.test:8443")
        .with("date", DATE)
        .with("digest", DIGEST)
    }

    pub(crate) fn get(target: &str) -> Sent {
        let sent = Sent::post(target).without("digest");
        Sent {
            method: "GET".to_owned(),
            body: Vec::new(),
            ..sent
        }
    }

    /// One more line of a header.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Sent {
        let name: HeaderName = name.parse().unwrap();
        self.headers
            .append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Sent {
        self.headers.remove(name);
        self
    }

    /// Signs `base`, as the test spells it out, with the RSA key; `parameters` go between key id and signature.
    pub(crate) fn signed(self, parameters: &str, base: &str) -> Sent {
        let signature = base64::encode(rsa().sign(Algorithm::RsaV15Sha256, base.as_bytes()).unwrap());
        self.with(
            "signature",
            &format!(r#"keyId="{KEY_ID}",{parameters},signature="{signature}""#),
        )
    }

    pub(crate) fn request(&self) -> Request<'_> {
        Request {
            method: &self.method,
            target: &self.target,
            scheme: "https",
            headers: &self.headers,
            authority: self.authority.as_deref(),
            body: &self.body,
        }
    }

    pub(crate) fn header(&self) -> SignatureHeader {
        match signature::parse(&self.request()) {
            Parsed::Signed(mut headers) => headers.swap_remove(0),
            other => panic!("not signed: {other:?}"),
        }
    }

    /// The verdict with the RSA key, at [`NOW`], in a window of an hour each way.
    pub(crate) fn verdict(&self) -> Verdict {
        self.verdict_by(rsa().public_key(), HOUR, NOW)
    }

    pub(crate) fn verdict_by(&self, key: &VerifyingKey, window: Window, now: Timestamp) -> Verdict {
        match signature::parse(&self.request()) {
            Parsed::Signed(headers) => headers[0].verify(&self.request(), key, terms(window, now)),
            Parsed::Invalid(verdict) => verdict,
            Parsed::Unsigned => Verdict::unsigned(),
        }
    }
}

pub(crate) fn terms(window: Window, now: Timestamp) -> Terms {
    Terms {
        window,
        hs2019: Hs2019::Sha256,
        now,
    }
}

pub(crate) fn rsa() -> SigningKey {
    SigningKey::from_pem(include_str!("../../tests/fixtures/signature/rsa2048.pem")).unwrap()
}

pub(crate) fn ed25519() -> SigningKey {
    SigningKey::from_pem(include_str!("../../tests/fixtures/signature/ed25519.pem")).unwrap()
}

pub(crate) fn p256() -> SigningKey {
    SigningKey::from_pem(include_str!("../../tests/fixtures/signature/ecdsa-p256.pem")).unwrap()
}

pub(crate) fn p384() -> SigningKey {
    SigningKey::from_pem(include_str!("../../tests/fixtures/signature/ecdsa-p384.pem")).unwrap()
}

/// Restricted to RSASSA-PSS.
pub(crate) fn rsa_pss() -> SigningKey {
    let pem = include_str!("../../tests/fixtures/signature/rfc9421/test-key-rsa-pss.pem");
    SigningKey::from_pem(pem).unwrap()
}

pub(crate) fn secret() -> SigningKey {
    let text = include_str!("../../tests/fixtures/signature/rfc9421/test-shared-secret.base64");
    SigningKey::from_secret(&base64::decode(text.trim_end()).bytes.unwrap())
}

pub(crate) const KEY_ID: &str = "https://a.test/users/alice#main-key";
pub(crate) const NOW: Timestamp = Timestamp::from_unix(1_700_000_000);
pub(crate) const DATE: &str = "Tue, 14 Nov 2023 22:13:20 GMT";
pub(crate) const BODY: &str = r#"{"type":"Create"}"#;
pub(crate) const DIGEST: &str = "SHA-256=JeE18werLvQnEoHViKDam+ZK1D8E27TBC2kIISI7pIY=";
pub(crate) const HOUR: Window = Window {
    past: Duration::from_secs(3_600),
    future: Duration::from_secs(3_600),
};

/// The base of `Sent::post("/users/bob/inbox?x=%7E")` and what OpenSSL signs it to.
pub(crate) const BASE: &str = "(request-target): post /users/bob/inbox?x=%7E\n\
    host: b.test:8443\n\
    date: Tue, 14 Nov 2023 22:13:20 GMT\n\
    digest: SHA-256=JeE18werLvQnEoHViKDam+ZK1D8E27TBC2kIISI7pIY=";
pub(crate) const BASE_BY_RSA: &str = "Ce0KtLalGhuzQnoGAawVs7kiXu5eV/yYKKQITnCssOXSx4xLdFKxSEiodxCOGSD0\
    D0XgFXDJgw2jY9spRYgz3zshtDy8zqIqcAQ2UiJ+N28C43hb2HimvTAu0h2pYmWLq4ykzrfZCKPMtJtltYuk8tvaipIxG5qDH+32ketlP14h\
    WdmKKTaBpSqKA8LtW+tJECkG+kzewBoKbegRi4L7QZG5jgeAqyMuDNWh72YCt4Wahe+4UuUbX22J1wGrZe8qZ3UEd1GgPVJoO66bTH+y0yC6\
    AMCFfuq57vU6YMpxmWGCjg9gscfsXwwFiLwX8nIoMKmrHp/RaLYJBYDEbc1/Hg==";
pub(crate) const BASE_BY_ED25519: &str =
    "yZFVMHYzVVTschyGCRVT8vOdEGlV4MGe5bShnfcDuNPEOtifgKEVU35Ra8YY0vnlDYAunlkGSdKCKPVbQtjSAw==";
pub(crate) const BASE_BY_RSA_SHA512: &str = "na1BYaf3p0dRc0mcUmxu1f0ndrO38CJ/0cI5ynqZgBrbloMHv/AfG7t3vcvMy9aFxFe5lCfhXIFzRJAbn1tk25UE8BBk\
    0MSrtjzwAoMYnuDBI/ZyrJVy4lFM9Yh1YJkFzq2ax3a4bJ6tpVSYjBhF2pI6SBvyGmqimbC0+K+vj+9D1dz9z1EIFZbBVvuNVnsrCOdpA+xBc8mP\
    Gwi4eZxxsBhGGe5DaL4Qmo6eF8T6ViUo+i97bBleOrv+tCROkVwWeAFTUrimazOnXWfCbbchmM87ggMuYLjYOVtL5ZXiAXwv/qTxsRjSz2AwaIkE\
    2gHta3KhKf1cdOTs2jpOOG4TAg==";
pub(crate) const BASE_BY_RSA_PSS: &str = "BRpkEwsLGilZHIc1RH1WO98AiQkJgCpEqx3TshG/4I7cBhyycTENHnOjDfGSvXWTJgPswBYBcAMqYNb9AJKePiG3Ni7TZs8W\
    4NucOA9Mh/wgR1MeFuH1d0qQ7ke5ACKkHP0J+FumYlXQmtyh2J5yshXlwNiSKbfeINCGE9hvdNQk2KSpxHzi278Vr+jmtkyka3TQ0jJk1kXYowGo\
    jAsAFe/zbNv7A0qkSESckUwQAWnVXho9D3jHnBwUh1X2IIB00aO9OGqxxDg6m1FcJy+ayC6cxa6LRJlvcDSMOpDIi4H5RkO8IySEn0us0l39L+Sq\
    nVdoNaYOyjbQxGU3hGzQig==";
pub(crate) const BASE_BY_P256: &str =
    "nk0t9KszJZAemjLMCrG6fDJawwRkDY2XZ4hKNHevOHhaLxQ+yYMVR8bfDHou0afc5pAcxCCCfYGukx9rlwf2bw==";
pub(crate) const BASE_BY_P256_DER: &str = "MEUCIQCeTS30qzMlkB6aMswKsbp8MlrDBGQNjZdniEo0d684eAIgWi8UPsmDFUfG3wx6LtGn3OaQHMQggn2BrpMfa5cH\
    9m8=";
pub(crate) const BASE_BY_P384: &str = "GhUhjV4QgU3Pbw+JavlWsz1a2ts/H5gClqzSvIR7B/RSCDG6of05foILs0SX2AhNRvPQxzFXfAGAyNZ3mF7nDEPZ1qyHVWlH\
    vITIitM9m6iUCt/a8wChoI+vjP9qUcar";
pub(crate) const BASE_BY_P384_DER: &str = "MGQCMBoVIY1eEIFNz28PiWr5VrM9WtrbPx+YApas0ryEewf0UggxuqH9OX6CC7NEl9gITQIwRvPQxzFXfAGAyNZ3mF7n\
    DEPZ1qyHVWlHvITIitM9m6iUCt/a8wChoI+vjP9qUcar";
/// By the shared secret of RFC 9421 appendix B.1.5.
pub(crate) const BASE_BY_SECRET: &str = "XjRmfPZCqRrUzPDBlwJNd6LegMUZP6tFSrignudOLm4=";
