//! What signing writes, and what it refuses.

use crate::signature::fixture::*;
use crate::signature::key::{Algorithm, KeyError, SigningKey};
use crate::signature::rfc9421::tests::{INPUT, components, delivery};
use crate::signature::rfc9421::{Component, Message, SignError, Signing, sign};
use crate::signature::{Outcome, base64};

fn signing(components: &[Component]) -> Signing<'_> {
    Signing {
        label: "sig1",
        components,
        key_id: KEY_ID,
        algorithm: Algorithm::RsaV15Sha256,
        names_algorithm: false,
        created: Some(1_700_000_000),
        expires: None,
        nonce: None,
        tag: None,
    }
}

const NAMES: [&str; 3] = ["@method", "@target-uri", "content-digest"];

#[test]
fn the_fields_are_those_of_mastodon_and_verify() {
    let components = components(&NAMES);
    let sent = delivery();
    let signed = sign(&signing(&components), &Message::Request(&sent.request()), &rsa()).unwrap();
    assert_eq!(signed.input, format!("sig1={INPUT}"));
    let sent = sent
        .with("signature-input", signed.input.to_str().unwrap())
        .with("signature", signed.signature.to_str().unwrap());
    let verdict = sent.verdict();
    assert_eq!((verdict.result, verdict.detail), (Outcome::Valid, None));
}

#[test]
fn every_parameter_has_its_place() {
    let components = components(&["@method", "x;sf"]);
    let signing = Signing {
        key_id: r#"a "b" \c"#,
        names_algorithm: true,
        expires: Some(1_700_000_300),
        nonce: Some("n"),
        tag: Some("t"),
        ..signing(&components)
    };
    let sent = delivery().with("x", "a;b");
    let signed = sign(&signing, &Message::Request(&sent.request()), &rsa()).unwrap();
    assert_eq!(
        signed.input,
        r#"sig1=("@method" "x";sf);created=1700000000;keyid="a \"b\" \\c";alg="rsa-v1_5-sha256";expires=1700000300;nonce="n";tag="t""#
    );
    let bare = Signing {
        components: &[],
        created: None,
        key_id: "",
        ..self::signing(&[])
    };
    let signed = sign(&bare, &Message::Request(&sent.request()), &rsa()).unwrap();
    assert_eq!(signed.input, "sig1=();keyid=\"\"");
}

#[test]
fn what_is_signed_is_the_base_and_nothing_else() {
    let components = components(&NAMES);
    let sent = delivery();
    let key = ed25519();
    let signing = Signing {
        algorithm: Algorithm::Ed25519,
        ..signing(&components)
    };
    let signed = sign(&signing, &Message::Request(&sent.request()), &key).unwrap();
    let base = format!(
        "{}\n\"@signature-params\": {INPUT}",
        crate::signature::rfc9421::tests::LINES
    );
    let signature = base64::encode(key.sign(Algorithm::Ed25519, base.as_bytes()).unwrap());
    assert_eq!(signed.signature, format!("sig1=:{signature}:"));
}

#[test]
fn what_cannot_be_signed_says_why() {
    let sent = delivery();
    let request = sent.request();
    let fault = |change: &dyn Fn(&mut Signing<'_>), names: &[&str]| {
        let components = components(names);
        let mut signing = Signing {
            label: "sig1",
            components: &[],
            ..signing(&[])
        };
        change(&mut signing);
        let signing = Signing {
            components: &components,
            ..signing
        };
        sign(&signing, &Message::Request(&request), &rsa()).unwrap_err()
    };
    let nothing = |_: &mut Signing<'_>| {};
    assert_eq!(
        fault(&nothing, &["@method", "x-gone"]).to_string(),
        "`x-gone` is to be signed, but it is not there"
    );
    assert!(matches!(
        fault(&nothing, &["@status"]),
        SignError::Component { .. }
    ));
    assert_eq!(
        fault(&nothing, &["date", "@method", "date"]),
        SignError::Repeated("date".to_owned())
    );
    assert_eq!(
        fault(&|signing| signing.label = "Sig 1", &[]),
        SignError::Label("Sig 1".to_owned())
    );
    for (parameter, change) in [
        (
            "keyid",
            &(|signing: &mut Signing<'_>| signing.key_id = "é") as &dyn Fn(&mut Signing<'_>),
        ),
        ("nonce", &|signing| signing.nonce = Some("a\nb")),
        ("tag", &|signing| signing.tag = Some("\u{7f}")),
        ("created", &|signing| signing.created = Some(i64::MAX)),
        ("expires", &|signing| signing.expires = Some(i64::MIN)),
    ] {
        let SignError::Parameter { parameter: found, .. } = fault(change, &[]) else {
            panic!("{parameter}");
        };
        assert_eq!(found, parameter);
    }
    assert!(matches!(
        fault(&|signing| signing.algorithm = Algorithm::Ed25519, &[]),
        SignError::Key(KeyError::Unfit { .. })
    ));
}

#[test]
fn a_secret_signs_what_a_webhook_sends() {
    let key = SigningKey::from_secret(b"secret");
    let components = components(&NAMES);
    let signing = Signing {
        algorithm: Algorithm::HmacSha256,
        names_algorithm: true,
        ..signing(&components)
    };
    let sent = delivery();
    let signed = sign(&signing, &Message::Request(&sent.request()), &key).unwrap();
    let sent = sent
        .with("signature-input", signed.input.to_str().unwrap())
        .with("signature", signed.signature.to_str().unwrap());
    assert_eq!(
        sent.verdict_by(key.public_key(), HOUR, NOW).result,
        Outcome::Valid
    );
    let other = SigningKey::from_secret(b"other");
    assert_eq!(
        sent.verdict_by(other.public_key(), HOUR, NOW).result,
        Outcome::Invalid
    );
    // A public key is no secret, whatever the signature says of it.
    assert_eq!(sent.verdict().result, Outcome::Invalid);
}
