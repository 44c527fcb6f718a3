//! `httpsig`, an implementation of the standard that shares nothing with ours but the keys: what one signs, the other
//! takes. It writes the parameters in an order of its own before it verifies (created, expires, nonce, alg, keyid,
//! tag), so what it is to take has no more than `created` and `keyid`.

use httpsig::prelude::message_component::{HttpMessageComponent, HttpMessageComponentId};
use httpsig::prelude::{
    AlgorithmName, HttpSignatureBase, HttpSignatureHeaders, HttpSignatureParams, PublicKey, SecretKey,
    SharedKey, VerifyingKey as TheirKey,
};

use crate::signature::Outcome;
use crate::signature::fixture::*;
use crate::signature::key::{Algorithm, SigningKey};
use crate::signature::rfc9421::tests::{CONTENT_DIGEST, components, delivery};
use crate::signature::rfc9421::{Message, Signing, sign};

const P256: &str = include_str!("../../../../tests/fixtures/signature/ecdsa-p256.pem");
const P384: &str = include_str!("../../../../tests/fixtures/signature/ecdsa-p384.pem");
const ED25519: &str = include_str!("../../../../tests/fixtures/signature/ed25519.pem");
const RSA: &str = include_str!("../../../../tests/fixtures/signature/rsa2048.pem");
/// `secret` in base64.
const SECRET: &str = "c2VjcmV0";

/// What is covered, with the values a third party would find in the delivery.
const COVERED: [(&str, &str); 9] = [
    ("\"@method\"", "POST"),
    ("\"@target-uri\"", "https://b.test:8443/users/bob/inbox?x=%7E"),
    ("\"@authority\"", "b.test:8443"),
    ("\"@scheme\"", "https"),
    ("\"@path\"", "/users/bob/inbox"),
    ("\"@query\"", "?x=%7E"),
    ("\"content-digest\"", CONTENT_DIGEST),
    ("\"x-dict\";key=\"b\"", "a=1, b=2;x"),
    ("\"x-empty\"", ""),
];

fn sent() -> Sent {
    delivery().with("x-dict", "a=1,  b=2; x").with("x-empty", "")
}

fn ids() -> Vec<HttpMessageComponentId> {
    let ids = COVERED.iter();
    ids.map(|(id, _)| HttpMessageComponentId::try_from(*id).unwrap())
        .collect()
}

/// The lines as `httpsig` makes them of those values.
fn their_lines() -> Vec<HttpMessageComponent> {
    let values = COVERED.iter().map(|(_, value)| (*value).to_owned());
    ids()
        .iter()
        .zip(values)
        .map(|(id, value)| HttpMessageComponent::try_from((id, [value].as_slice())).unwrap())
        .collect()
}

/// Signs with ours and verifies with theirs, and the other way round.
fn both_ways<Theirs: httpsig::prelude::SigningKey>(
    ours: &SigningKey,
    algorithm: Algorithm,
    signer: &Theirs,
    verifier: &impl TheirKey,
) {
    let names: Vec<&str> = COVERED.iter().map(|(id, _)| *id).collect();
    let signing = Signing {
        label: "sig1",
        components: &components(&names),
        key_id: KEY_ID,
        algorithm,
        names_algorithm: false,
        created: Some(1_700_000_000),
        expires: None,
        nonce: None,
        tag: None,
    };
    let request = sent();
    let signed = sign(&signing, &Message::Request(&request.request()), ours).unwrap();
    let read =
        HttpSignatureHeaders::try_parse(signed.signature.to_str().unwrap(), signed.input.to_str().unwrap())
            .unwrap();
    let headers = &read["sig1"];
    let base = HttpSignatureBase::try_new(&their_lines(), headers.signature_params()).unwrap();
    base.verify_signature_headers(verifier, headers).unwrap();

    let mut params = HttpSignatureParams::try_new(&ids()).unwrap();
    let name = signer.alg();
    params
        .set_created(1_700_000_000)
        .set_expires(1_700_000_300)
        .set_nonce("n")
        .set_alg(&name)
        .set_keyid(KEY_ID)
        .set_tag("t");
    let base = HttpSignatureBase::try_new(&their_lines(), &params).unwrap();
    let made = base.build_signature_headers(signer, Some("theirs")).unwrap();
    let received = sent()
        .with("signature-input", &made.signature_input_header_value())
        .with("signature", &made.signature_header_value());
    let verdict = received.verdict_by(ours.public_key(), HOUR, NOW);
    assert_eq!((verdict.result, verdict.detail), (Outcome::Valid, None));
    assert_eq!(verdict.algorithm, Some(algorithm));
    let spoilt = received.without("x-empty").with("x-empty", "no");
    assert_eq!(
        spoilt.verdict_by(ours.public_key(), HOUR, NOW).result,
        Outcome::Invalid
    );
}

#[test]
fn httpsig_takes_what_we_sign_and_we_take_what_it_signs() {
    for (pem, algorithm, name) in [
        (ED25519, Algorithm::Ed25519, AlgorithmName::Ed25519),
        (P256, Algorithm::EcdsaP256Sha256, AlgorithmName::EcdsaP256Sha256),
        (P384, Algorithm::EcdsaP384Sha384, AlgorithmName::EcdsaP384Sha384),
        (RSA, Algorithm::RsaV15Sha256, AlgorithmName::RsaV1_5Sha256),
        (RSA, Algorithm::RsaPssSha512, AlgorithmName::RsaPssSha512),
    ] {
        let ours = SigningKey::from_pem(pem).unwrap();
        let theirs = SecretKey::from_pem(&name, pem).unwrap();
        let public = PublicKey::from_pem(&name, &ours.public_pem().unwrap()).unwrap();
        both_ways(&ours, algorithm, &theirs, &public);
    }
    let secret = SharedKey::from_base64(&AlgorithmName::HmacSha256, SECRET).unwrap();
    let ours = SigningKey::from_secret(b"secret");
    both_ways(&ours, Algorithm::HmacSha256, &secret, &secret);
}
