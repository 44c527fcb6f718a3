//! The dialect against the standard's own examples, an independent implementation, cases from the field and chance.

mod accept;
mod base;
mod guess;
mod header;
mod oracle;
mod properties;
mod sign;
mod vectors;
mod verify;

use crate::signature::base64;
use crate::signature::fixture::*;
use crate::signature::key::{Algorithm, SigningKey};
use crate::signature::rfc9421::{Component, Message, base::Base};

/// The digest of [`BODY`], which is OpenSSL's.
const CONTENT_DIGEST: &str = "sha-256=:JeE18werLvQnEoHViKDam+ZK1D8E27TBC2kIISI7pIY=:";

/// Components and parameters of a delivery as Mastodon signs it.
const INPUT: &str = r#"("@method" "@target-uri" "content-digest");created=1700000000;keyid="https://a.test/users/alice#main-key""#;

/// The base of [`delivery`] under [`INPUT`], without its last line.
const LINES: &str = "\"@method\": POST\n\
    \"@target-uri\": https://b.test:8443/users/bob/inbox?x=%7E\n\
    \"content-digest\": sha-256=:JeE18werLvQnEoHViKDam+ZK1D8E27TBC2kIISI7pIY=:";

/// A delivery that Bob's inbox gets at [`NOW`], as yet unsigned.
fn delivery() -> Sent {
    Sent::post("/users/bob/inbox?x=%7E")
        .without("digest")
        .with("content-digest", CONTENT_DIGEST)
}

impl Sent {
    /// Signs, with the RSA key, `lines` and a last line of `input`, both as the test spells them out.
    fn signed_9421(self, input: &str, lines: &str) -> Sent {
        let base = format!("{lines}\n\"@signature-params\": {input}");
        self.with_signature(input, &base)
    }

    /// The same over a base that may be anything.
    fn with_signature(self, input: &str, base: &str) -> Sent {
        let signature = rsa().sign(Algorithm::RsaV15Sha256, base.as_bytes()).unwrap();
        self.with("signature-input", &format!("sig1={input}"))
            .with("signature", &format!("sig1=:{}:", base64::encode(signature)))
    }
}

fn components(names: &[&str]) -> Vec<Component> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

/// The lines of the base for these components, or the first fault.
fn lines(names: &[&str], message: &Message) -> Result<String, String> {
    let base = Base::build(&components(names), message);
    if let Some(fault) = base.faults.first() {
        return Err(format!("`{}`: {}", fault.component, fault.why));
    }
    let text = String::from_utf8(base.bytes("")).unwrap();
    Ok(text
        .strip_suffix("\"@signature-params\": ")
        .unwrap()
        .trim_end_matches('\n')
        .to_owned())
}

/// The keys of the standard's appendix B.1, by their ids.
fn standard_key(id: &str) -> SigningKey {
    let pem = match id {
        "test-key-rsa" => include_str!("../../../../tests/fixtures/signature/rfc9421/test-key-rsa.pem"),
        "test-key-ecc-p256" => {
            include_str!("../../../../tests/fixtures/signature/rfc9421/test-key-ecc-p256.pem")
        }
        "test-key-ed25519" => {
            include_str!("../../../../tests/fixtures/signature/rfc9421/test-key-ed25519.pem")
        }
        "test-key-rsa-pss" => return rsa_pss(),
        "test-shared-secret" => return secret(),
        other => panic!("no key {other}"),
    };
    SigningKey::from_pem(pem).unwrap()
}
